"""DispatchRoute on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from torchbook.viz import DispatchRoute
from torchbook.viz.dispatch import callees, lines, moments, presets, setup

from ..conftest import Show
from ..models.dispatch_probes import recorded
from ..models.test_dispatch import dispatch_route
from ..pressing import copied, press, tab_into, words

PRESETS = list(setup()["presets"])  # all of them are in the words that test_dispatch.py compares


def test_presets_say_what_python_says(show: Show) -> None:
    page = show(dispatch_route(preset="no-grad"))
    for name in PRESETS[::3]:
        widget = dispatch_route(preset=name)
        press(page, setup()["presets"][name]["label"])
        expect(words(page)).to_have_text(widget.words)
        pressed = page.get_by_role("toolbar", name="Presets").get_by_role("button", pressed=True)
        expect(pressed).to_have_text([setup()["presets"][name]["label"]])
        expect(page.locator(".dr-note")).to_have_text(setup()["presets"][name]["note"])
        page.wait_for_url(f"**#tbviz-dispatch-1:{name}")
        expect(page.get_by_role("toolbar", name="Stops").get_by_role("button")).to_have_count(len(widget.route))


def test_steps_by_buttons(show: Show) -> None:
    first = dispatch_route(preset="autocast", way=0)
    page = show(first)
    back, on = page.get_by_role("button", name="One step back"), page.get_by_role("button", name="One step on")
    expect(back).to_have_attribute("aria-disabled", "true")
    every = moments(first.recording, first.op, first.route)
    for step, way in every[1:]:
        on.click()
        expect(words(page)).to_have_text(dispatch_route(preset="autocast", step=step, way=way).words)
    expect(on).to_have_attribute("aria-disabled", "true")
    expect(on).to_be_focused()
    back.click()
    step, way = every[-2]
    expect(words(page)).to_have_text(dispatch_route(preset="autocast", step=step, way=way).words)


def test_keys_are_taken_off_one_after_the_other(show: Show) -> None:
    page = show(dispatch_route(way=0))
    off = page.locator(".dr-line :is(.dr-excluded, .dr-through) .dr-name")
    expect(page.locator(".dr-from code")).to_have_text("torch.ops.aten.add.Tensor(self, other)")
    for gone in (
        [],
        ["AutocastCPU"],
        ["AutocastCPU", "ADInplaceOrView"],
        ["AutocastCPU", "ADInplaceOrView", "BackendSelect"],
    ):
        expect(off).to_have_text(gone)
        press(page, "One step on")
    expect(page.locator(".dr-chosen .dr-name")).to_have_text("AutogradCPU")


def test_a_second_call_says_who_called(show: Show) -> None:
    page = show(dispatch_route(preset="autocast", step=1, way=0))
    expect(page.locator(".dr-from .dr-state")).to_have_text("again, from AutocastCPU")


def test_keys_say_why_they_are_there_by_arrow_keys(show: Show) -> None:
    page = show(dispatch_route(way=0))
    keys = page.get_by_role("listbox", name="Keys of the call, the highest first")
    keys.press("Home")
    expect(page.locator(".dr-said")).to_contain_text("AutocastCPU casts to a lower precision")
    expect(keys.get_by_role("option", selected=True)).to_contain_text("AutocastCPU")
    expect(words(page)).to_have_text(dispatch_route(way=0).words)
    keys.press("ArrowDown")
    expect(page.locator(".dr-said")).to_contain_text("AutogradCPU records the backward")
    expect(words(page)).to_have_text(dispatch_route().words)
    keys.press("End")
    expect(words(page)).to_have_text(dispatch_route(step=1).words)
    press(page, "One step back")
    expect(page.locator(".dr-said")).to_contain_text("AutogradCPU: It records")
    expect(keys.get_by_role("option", selected=True)).to_have_count(0)


def test_everything_by_keyboard(show: Show) -> None:
    page = show(dispatch_route())
    tab_into(page, "Presets")
    page.keyboard.press("End")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(dispatch_route(preset=PRESETS[1]).words)
    tab_into(page, "More presets")
    for _ in range(PRESETS.index("vmap") - 3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(dispatch_route(preset="vmap").words)
    page.get_by_role("toolbar", name="Stops").get_by_role("button").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(dispatch_route(preset="vmap", step=3).words)
    page.get_by_label("grad mode", exact=True).focus()
    page.keyboard.press("i")
    expect(words(page)).to_have_text(dispatch_route(preset="vmap", grad="inference").words)


def test_situations_by_their_lists(show: Show) -> None:
    page = show(dispatch_route())
    chosen = {"operator": ("op", "aten::view"), "arguments": ("args", "meta"), "requires_grad": ("requires", "yes"),
              "grad mode": ("grad", "inference"), "autocast": ("autocast", "on"),
              "torch.func": ("transform", "functionalize"), "dispatch mode": ("mode", "dispatch")}  # fmt: skip
    now: dict[str, Any] = {}
    for label, (trait, value) in chosen.items():
        page.get_by_label(label, exact=True).select_option(value)
        now[trait] = value
        expect(words(page)).to_have_text(dispatch_route(**now).words)


def test_line_shows_the_keys_in_order_and_says_what_they_are(show: Show) -> None:
    widget = dispatch_route(preset="vmap", step=1)
    page = show(widget)
    every = lines(widget.recording, widget.op, widget.route, 1)
    rows = page.locator(".dr-line > div")
    expect(rows).to_have_count(len(every))
    texts = {"chosen": "chosen", "later": "in the set, lower", "passed": "behind it", "through": "fallthrough",
             "excluded": "excluded", "absent": "not in this call"}  # fmt: skip
    for row, line in zip(rows.all(), every, strict=True):
        assert row.locator(".dr-name").inner_text() == line.slot
        assert row.locator(".dr-state").inner_text() == texts[line.state]
    expect(page.locator(".dr-line [aria-current=step]")).to_have_count(1)
    place, kind = widget.recording["entries"][widget.route[1].entry][:2]
    expect(page.locator(".dr-chosen")).to_contain_text(kind)
    expect(page.locator(".dr-box dl")).to_contain_text(f"[{kind}] {place}")


def test_a_key_of_the_route_is_chosen_and_another_says_why_not(show: Show) -> None:
    widget = dispatch_route(preset="vmap")
    page = show(widget)
    every = lines(widget.recording, widget.op, widget.route, 0)
    (missed,) = [number for number, line in enumerate(every) if line.slot == "AutocastCPU"]
    page.locator(".dr-line > div").nth(missed).click()
    expect(page.locator(".dr-said")).to_contain_text("The thread excludes it: taken off.")
    expect(words(page)).to_have_text(widget.words)
    page.get_by_role("toolbar", name="Stops").get_by_role("button").nth(1).click()
    at = dispatch_route(preset="vmap", step=1)
    expect(words(page)).to_have_text(at.words)
    first = next(n for n, stop in enumerate(at.route) if stop.call == at.route[1].call)
    place = [line.slot for line in lines(at.recording, at.op, at.route, 1)].index(at.route[first].key)
    page.locator(".dr-line > div").nth(place).click()
    expect(words(page)).to_have_text(dispatch_route(preset="vmap", step=first).words)


@pytest.mark.parametrize("motion", [True, False])
def test_the_call_falls_to_the_chosen_key(show: Show, motion: bool) -> None:
    page = show(dispatch_route(preset="view"), motion=motion)
    place = """() => [document.querySelector('.dr-ball').style.transform,
        `translateY(${document.querySelector('.dr-line').offsetTop
          + document.querySelector('.dr-line [aria-current]').offsetTop}px)`]"""
    first = page.evaluate(place)
    assert first[0] == first[1]
    press(page, "One step on")
    expect(words(page)).to_have_text(dispatch_route(preset="view", step=1).words)
    second = page.evaluate(place)
    assert second[0] == second[1] != first[1]
    seconds = page.locator(".dr-ball").evaluate("(ball) => getComputedStyle(ball).transitionDuration")
    assert (seconds != "0s") == motion


def test_playing_walks_to_the_end(show: Show) -> None:
    widget = dispatch_route(preset="view")
    page = show(widget)
    press(page, "Play")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(words(page)).to_have_text(dispatch_route(preset="view", step=len(widget.route) - 1).words)


def test_callees_have_their_routes_and_lead_on(show: Show) -> None:
    widget = dispatch_route(op="aten::linear")
    page = show(widget)
    (first, _), (second, way) = callees(widget.recording, widget.op, widget.route[-1])
    parts = page.locator(".dr-parts li")
    expect(parts).to_have_count(2)
    expect(parts.nth(0)).to_contain_text(first)
    expect(parts.nth(1)).to_contain_text(f"{second}{way[0].key}: composite, implicit")
    parts.nth(1).get_by_role("button").press("Enter")
    expect(words(page)).to_have_text(dispatch_route(op="aten::matmul").words)
    expect(page.get_by_label("operator", exact=True)).to_be_focused()


def test_what_cannot_be_made_is_said(show: Show) -> None:
    widget = dispatch_route(args="csr", transform="vmap")
    page = show(widget)
    expect(words(page)).to_have_text(widget.words)
    expect(page.locator(".dr-said")).to_contain_text("could not make such arguments")
    page.get_by_label("torch.func", exact=True).select_option("none")
    expect(words(page)).to_have_text(dispatch_route(args="csr").words)
    expect(page.locator(".dr-line")).to_be_visible()


def test_copied_code_asks_torch(show: Show) -> None:
    page = show(dispatch_route(preset="view"), permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    code = copied(page)
    assert 'assert found == ["AutogradCPU"]' in code
    exec(compile(code, "copied", "exec"), {"print": lambda *_: None})


def test_an_operator_without_a_kernel_says_so(show: Show) -> None:
    page = show(dispatch_route(preset="vmap", step=1))
    press(page, "no kernel")
    page.get_by_role("toolbar", name="Stops").get_by_role("button").last.click()
    expect(page.locator(".dr-missing")).to_contain_text("nothing registered in this build")


def test_recording_without_an_operator_of_its_own_has_no_such_preset(show: Show) -> None:
    recording = {**recorded(), "ops": {n: record for n, record in recorded()["ops"].items() if n.startswith("aten::")}}
    page = show(DispatchRoute(recording))
    names = page.get_by_role("toolbar", name="Presets").get_by_role("button")
    expect(names).to_have_count(len(presets(recording)))
    assert len(presets(recording)) == len(PRESETS) - 1


def test_order_and_numbers_are_explained_where_they_stand(show: Show) -> None:
    page = show(dispatch_route(way=0))
    expect(page.locator(".tbviz-stage .dr-order")).to_have_text(
        "Numbered: this layer’s code runs, in this order. Dashed: its key is taken off first."
    )
    expect(page.locator(".dr-line .dr-state").first).to_have_text("off: autocast is not in use")
    expect(page.locator(".dr-line .dr-what").first).to_have_text("casts to a lower precision inside autocast")
    press(page, "One step on")
    gone = page.locator(".dr-line .dr-excluded .dr-state").first
    assert gone.evaluate("(one) => getComputedStyle(one, '::before').content") == '"taken off: "'
