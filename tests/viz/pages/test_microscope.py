"""StepMicroscope on the static page: by mouse, by keyboard, by touch, in any order."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from torchbook.viz import StepMicroscope

from ..conftest import Show
from ..pressing import PHONE, SCREENS, copied, heights, press, small, tab_to, words

LINES = ["forward", "loss", "zero", "backward", "step"]


def test_the_five_lines_twice(show: Show) -> None:
    page = show(StepMicroscope(ran=[]))
    for number in range(1, 11):
        press(page, "Next line")
        expect(words(page)).to_have_text(StepMicroscope(ran=(LINES * 2)[:number]).words)
    press(page, "Back")
    expect(words(page)).to_have_text(StepMicroscope(ran=(LINES * 2)[:9]).words)


def test_a_line_runs_when_it_is_pressed(show: Show) -> None:
    page = show(StepMicroscope(ran=[]))
    press(page, "optimizer.step()")
    expect(words(page)).to_have_text(StepMicroscope(ran=["step"]).words)
    press(page, "pred = model(x)")
    press(page, "optimizer.zero_grad()")
    expect(words(page)).to_have_text(StepMicroscope(ran=["step", "forward", "zero"]).words)


@pytest.mark.parametrize("motion", [True, False])
def test_a_second_backward_is_refused_and_shaken(show: Show, motion: bool) -> None:
    page = show(StepMicroscope(), motion=motion)
    page.evaluate("() => { window.shaken = 0; Element.prototype.animate = () => { window.shaken += 1; }; }")
    press(page, "loss.backward()")
    press(page, "loss.backward()")
    refused = StepMicroscope(ran=["forward", "loss", "zero", "backward", "backward"])
    expect(words(page)).to_have_text(refused.words)
    expect(page.locator(".mi-head")).to_contain_text("Trying to backward through the graph a second time")
    assert page.evaluate("shaken") == (2 if motion else 0)
    press(page, "Next line")
    expect(words(page)).to_have_text(StepMicroscope(ran=[*refused.ran, "step"]).words)


def test_what_changed_glows_and_what_did_not_is_grey(show: Show) -> None:
    page = show(StepMicroscope())
    expect(page.locator(".mi-grid .new")).to_have_text(["None−22", "None−10"])
    expect(page.locator(".mi-grid .absent")).to_have_count(2)  # no momentum, no buffer
    press(page, "Next line")
    expect(page.locator(".mi-grid .new")).to_have_text(["13.2", "01"])
    expect(page.locator(".mi-grid .read")).to_have_text(["−22", "−10"])


def test_the_line_moves_only_with_step(show: Show) -> None:
    page = show(StepMicroscope(ran=[]))
    line = page.locator(".mi-fitted:not(.old)")
    way = line.get_attribute("d")
    for _ in range(4):
        press(page, "Next line")
        assert line.get_attribute("d") == way
    press(page, "Next line")
    expect(line).not_to_have_attribute("d", str(way))


def test_a_line_is_left_out(show: Show) -> None:
    page = show(StepMicroscope())
    page.get_by_label("leave out").select_option("backward")
    expect(words(page)).to_have_text(StepMicroscope(without="backward", ran=[]).words)
    for _ in range(4):
        press(page, "Next line")
    expect(words(page)).to_have_text(StepMicroscope(preset="no-backward").words)
    expect(page.get_by_role("button", name="loss.backward(), left out")).to_be_visible()


def test_keys_run_and_take_back(show: Show) -> None:
    page = show(StepMicroscope())
    tab_to(page, "optimizer.step()")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(StepMicroscope(ran=LINES).words)
    page.keyboard.press("n")
    expect(words(page)).to_have_text(StepMicroscope(ran=[*LINES, "forward"]).words)
    page.keyboard.press("b")
    page.keyboard.press("b")
    expect(words(page)).to_have_text(StepMicroscope().words)


def test_settings_run_the_same_lines_again(show: Show) -> None:
    page = show(StepMicroscope(ran=LINES))
    page.get_by_label("learning rate", exact=True).fill("0.2")
    page.get_by_label("momentum", exact=True).fill("0.9")
    expect(words(page)).to_have_text(StepMicroscope(ran=LINES, lr=0.2, momentum=0.9).words)


def test_forty_lines_are_the_end(show: Show) -> None:
    page = show(StepMicroscope(ran=LINES * 8))
    for name in ("Next line", "optimizer.zero_grad()"):
        expect(page.get_by_role("button", name=name)).to_have_attribute("aria-disabled", "true")
    page.locator(".tbviz").press("n")
    press(page, "Back")
    expect(words(page)).to_have_text(StepMicroscope(ran=(LINES * 8)[:39]).words)


def test_copied_code_runs(show: Show) -> None:
    page = show(StepMicroscope(preset="momentum"), permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    exec(compile(copied(page), "copied", "exec"), {})


@pytest.mark.parametrize("width", SCREENS)
def test_it_fits_a_screen_whatever_runs(show: Show, width: int) -> None:
    options: dict[str, Any] = PHONE if width == PHONE["width"] else {"width": width}
    page = show(StepMicroscope(), **options)
    high = heights(page)
    for setting in ([], ["forward", "loss", "backward", "backward"], [*LINES, "forward", "loss", "backward"]):
        high[str(setting)] = heights(show(StepMicroscope(ran=setting, momentum=0.9), **options))["at first"]
    assert max(high.values()) <= {1280: 900, 390: 760}[width]
    assert max(high.values()) - min(high.values()) <= 8
    if width == PHONE["width"]:
        assert small(page) == []


CUT = """() => [...document.querySelectorAll(".mi-cell")]
  .map((cell) => [cell, [...cell.querySelectorAll("b, s")]])
  .filter(([cell, texts]) => texts.some((text) => {
    const range = document.createRange();
    range.selectNodeContents(text);
    const [inner, outer] = [range.getBoundingClientRect(), cell.getBoundingClientRect()];
    return inner.left < outer.left || inner.right > outer.right;
  })).map(([cell]) => cell.textContent)"""


@pytest.mark.parametrize("width", [390, 690, 720, 1280])
@pytest.mark.parametrize("ran", [LINES * 8, (LINES * 8)[:37]])
def test_numbers_that_explode_stay_in_their_cells(show: Show, width: int, ran: list[str]) -> None:
    page = show(StepMicroscope(lr=0.5, momentum=0.95, ran=ran), width=width)
    assert page.evaluate(CUT) == []
