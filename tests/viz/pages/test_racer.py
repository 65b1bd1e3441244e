"""OptimizerRacer on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from torchbook.viz import OptimizerRacer
from torchbook.viz.racer import setup, surfaces

from ..conftest import Show, gallery, mounted
from ..pressing import active, press, tab_to, words


def row(page: Page, name: str) -> list[str]:
    """What the table says of a racer: loss, distance, step length, effective rate."""
    line = page.locator(".rx-table tbody tr", has=page.get_by_role("rowheader", name=name, exact=True))
    return line.locator("td").all_inner_texts()


def racers(page: Page) -> list[str]:
    return page.locator(".rx-table tbody th").all_inner_texts()


def field(page: Page, racer: str, name: str) -> Locator:
    return page.get_by_role("group", name=racer, exact=True).get_by_label(name, exact=True)


def handle(page: Page) -> Locator:
    return page.get_by_role("slider", name="Start", exact=True)


def scrubber(page: Page) -> Locator:
    return page.get_by_role("slider", name="step", exact=True)


def on_map(page: Page, x: float, y: float, surface: str) -> tuple[float, float]:
    """Where a point lies on the screen."""
    left, right, bottom, top = surfaces()[surface]["view"]
    box = page.locator(".rx-svg").bounding_box()
    assert box
    return box["x"] + (x - left) / (right - left) * box["width"], box["y"] + (top - y) / (top - bottom) * box["height"]


def started(page: Page) -> tuple[float, float]:
    return tuple(float(page.get_by_label(f"start {axis}", exact=True).input_value()) for axis in "xy")  # type: ignore[return-value]


def test_presets_have_their_notes(show: Show) -> None:
    figures = gallery(show, [OptimizerRacer(preset=preset) for preset in setup()["presets"]])
    for figure, preset in zip(figures, setup()["presets"].values(), strict=True):
        expect(figure.locator(".rx-note")).to_have_text(preset["note"])


def test_every_surface_is_drawn(show: Show) -> None:
    page = show(OptimizerRacer("bowl"))
    for name, surface in surfaces().items():
        page.get_by_label("surface", exact=True).select_option(name)
        expect(words(page)).to_have_text(OptimizerRacer(name).words)
        expect(page.locator(".rx-contour")).to_have_count(surface["levels"][2])
        drawn = page.locator(".rx-contour").evaluate_all("(all) => all.map((e) => e.getAttribute('d').length > 20)")
        assert all(drawn), name
        expect(page.locator(".rx-minimum")).to_have_count(len(surface["minima"]))
        expect(page.locator(".rx-about")).to_have_text(surface["about"])
        assert started(page) == tuple(surface["start"])


def test_lines_differ_in_more_than_colour(show: Show) -> None:
    page = show(OptimizerRacer("bowl", ("sgd", "momentum", "nesterov", "adam", "adamw")))
    script = "(all) => all.map((e) => e.getAttribute('{}'))"
    dashes = page.locator(".rx-map .rx-path").evaluate_all(script.format("stroke-dasharray"))
    heads = page.locator(".rx-map .rx-head").evaluate_all(script.format("d"))
    assert len(set(dashes)) == len(set(heads)) == 5


def test_start_is_dragged_by_mouse(show: Show) -> None:
    page = show(OptimizerRacer("bowl", ("sgd",), (-2, 1)))
    page.mouse.move(*on_map(page, -2, 1, "bowl"))
    page.mouse.down()
    page.mouse.move(*on_map(page, 0, 0, "bowl"))
    page.mouse.move(*on_map(page, 1.5, -1, "bowl"), steps=4)
    page.mouse.up()
    assert math.dist(started(page), (1.5, -1)) < 0.02
    page.mouse.move(*on_map(page, 0, 0, "bowl"))
    assert math.dist(started(page), (1.5, -1)) < 0.02
    expect(handle(page)).to_be_focused()
    x, y = started(page)
    expect(words(page)).to_have_text(OptimizerRacer("bowl", ("sgd",), (x, y)).words)
    page.mouse.click(*on_map(page, -1, 0.5, "bowl"))
    assert math.dist(started(page), (-1, 0.5)) < 0.02


def test_start_stays_in_the_picture(show: Show) -> None:
    page = show(OptimizerRacer("bowl", ("sgd",), (-2, 1)))
    page.mouse.move(*on_map(page, -2, 1, "bowl"))
    page.mouse.down()
    page.mouse.move(*on_map(page, -9, 9, "bowl"))
    page.mouse.up()
    assert started(page) == (-3, 2)


def test_start_by_touch_and_a_touch_elsewhere_scrolls(show: Show) -> None:
    page = show(OptimizerRacer("bowl", ("sgd",), (-2, 1)), width=360, has_touch=True)
    page.locator(".rx-map").scroll_into_view_if_needed()
    page.touchscreen.tap(*on_map(page, 1, -1, "bowl"))
    assert math.dist(started(page), (1, -1)) < 0.05
    expect(page.locator(".rx-start")).to_have_css("touch-action", "none")
    expect(page.locator(".rx-svg")).to_have_css("touch-action", "auto")


def test_start_by_arrow_keys(show: Show) -> None:
    page = show(OptimizerRacer("bowl", ("sgd",), (-2, 1)))
    handle(page).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    assert started(page) == (-1.95, 1.05)
    page.keyboard.press("Shift+ArrowDown")
    assert started(page) == (-1.95, 0.8)
    expect(handle(page)).to_have_attribute("aria-valuetext", "x −1.95, y 0.8")
    expect(words(page)).to_contain_text("Bowl from (−1.95, 0.8)")


def test_start_is_typed(show: Show) -> None:
    page = show(OptimizerRacer("bowl", ("sgd",), (-2, 1)))
    x = page.get_by_label("start x", exact=True)
    x.fill("0.25")
    expect(words(page)).to_contain_text("Bowl from (0.25, 1)")
    x.fill("7")
    expect(page.get_by_role("alert").filter(has_text=re.compile("."))).to_have_text("from −3 to 3")
    x.blur()
    expect(x).to_have_value("0.25")


def test_rates_are_typed_nudged_and_slid(show: Show) -> None:
    page = show(OptimizerRacer("ravine", ("sgd", "adam")))
    lr = field(page, "SGD", "lr")
    lr.fill("0.041")
    expect(words(page)).to_have_text(OptimizerRacer("ravine", ("sgd", "adam"), sgd={"lr": 0.041}).words)
    lr.fill("-1")
    expect(page.get_by_role("alert").filter(has_text=re.compile("."))).to_have_text("above 0, up to 10")
    lr.press("Control+a")
    page.keyboard.type("0.02")
    lr.press("ArrowUp")
    expect(lr).to_have_value("0.022")
    slide = field(page, "SGD", "lr, slider")
    slide.focus()
    slide.press("ArrowRight")
    expect(lr).to_have_value("0.025")
    expect(slide).to_have_attribute("aria-valuetext", "0.025")
    field(page, "Adam", "beta2").fill("0.9")
    field(page, "Adam", "beta1").fill("0")
    field(page, "Adam", "weight decay").fill("0.5")
    expect(words(page)).to_contain_text("Adam (lr 0.1, betas 0 and 0.9, weight decay 0.5)")
    same = OptimizerRacer("ravine", ("sgd", "adam"), sgd={"lr": 0.025},
                          adam={"betas": (0, 0.9), "weight_decay": 0.5})  # fmt: skip
    expect(words(page)).to_have_text(same.words)


def test_momentum_is_nudged_towards_one(show: Show) -> None:
    page = show(OptimizerRacer("ravine", ("momentum",)))
    momentum = field(page, "SGD with momentum", "momentum")
    momentum.focus()
    for _ in range(3):
        momentum.press("ArrowUp")
    expect(momentum).to_have_value("0.9488")
    for _ in range(40):
        momentum.press("ArrowUp")
    assert float(momentum.input_value()) <= 0.999
    for _ in range(60):
        momentum.press("ArrowDown")
    expect(momentum).to_have_value("0")


def test_all_rates_move_together(show: Show) -> None:
    page = show(OptimizerRacer("ravine", ("sgd", "adam"), adam={"lr": 0.05}))
    before = {name: float(field(page, name, "lr").input_value()) for name in ("SGD", "Adam")}
    slide = page.get_by_role("slider", name="all learning rates", exact=True)
    slide.fill("-0.3")
    after = {name: float(field(page, name, "lr").input_value()) for name in ("SGD", "Adam")}
    assert after["SGD"] / before["SGD"] == pytest.approx(after["Adam"] / before["Adam"], rel=0.02)
    usual = surfaces()["ravine"]["rates"]["sgd"]
    assert after["SGD"] == pytest.approx(usual * 10**-0.3, rel=0.01)
    expect(slide).to_have_attribute("aria-valuetext", "× 0.5")
    expect(words(page)).to_have_text(
        OptimizerRacer("ravine", ("sgd", "adam"), sgd={"lr": after["SGD"]}, adam={"lr": after["Adam"]}).words
    )
    field(page, "SGD", "lr").fill(str(usual * 10))
    expect(slide).to_have_value("1")


def test_the_legend_tells_who_is_who_and_how_far(show: Show) -> None:
    page = show(OptimizerRacer(preset="diverge"))
    who = page.locator(".rx-legend .rx-who")
    expect(who).to_have_text(["SGDdiverged"])
    scrubber(page).fill("0")
    expect(who).to_have_text([f"SGD{OptimizerRacer(preset='diverge').runs['sgd'].losses[0]:.3g}"])
    page.get_by_role("toolbar", name="Racers").get_by_role("button", name="AdamW").click()
    expect(who).to_have_count(2)
    assert page.locator(".rx-legend .rx-head").evaluate_all(
        "(all) => all.map((e) => e.getAttribute('d'))"
    ) == page.locator(".rx-map .rx-head").evaluate_all("(all) => all.map((e) => e.getAttribute('d'))")


@pytest.mark.parametrize("motion", [True, False])
def test_ways_bend_from_preset_to_preset(show: Show, motion: bool) -> None:
    page = show(OptimizerRacer(preset="race"), motion=motion)
    page.evaluate("""() => { window.ways = new Set();
        const see = () => ways.add(document.querySelector('.rx-map .rx-path.rx-sgd')?.getAttribute('d'));
        new MutationObserver(see).observe(document.querySelector('.rx-map svg'), {childList: true, subtree: true}) }""")
    press(page, "SGD bounces")
    expect(words(page)).to_have_text(OptimizerRacer(preset="bounce").words)
    page.wait_for_timeout(600)
    assert (page.evaluate("ways.size") > 3) is motion


@pytest.mark.parametrize(("width", "most"), [(1280, 860), (390, 760)])
def test_its_height_stays_and_fits_a_screen(show: Show, width: int, most: int) -> None:
    page = show(OptimizerRacer("bowl"), width=width)
    page.evaluate("document.querySelector('.tbviz-drawer').open = false")
    height = "document.querySelector('.tbviz').offsetHeight"
    heights = {page.evaluate(height)}
    for preset in setup()["presets"].values():
        page.get_by_role("button", name=preset["label"], exact=True, include_hidden=True).evaluate(
            "(one) => one.click()"
        )
        heights.add(page.evaluate(height))
    assert len(heights) == 1
    assert heights.pop() <= most


def test_racers_come_and_go(show: Show) -> None:
    page = show(OptimizerRacer("bowl", ("sgd",)))
    tools = page.get_by_role("toolbar", name="Racers")
    tools.get_by_role("button", name="Nesterov").click()
    assert racers(page) == ["SGD", "Nesterov"]
    expect(page.get_by_role("group", name="SGD with Nesterov momentum")).to_be_visible()
    tools.get_by_role("button", name="SGD", exact=True).click()
    tools.get_by_role("button", name="Nesterov").click()
    assert racers(page) == []
    expect(page.locator(".rx-card:visible")).to_have_count(0)
    expect(words(page)).to_have_text("Bowl from (−2.4, 1.4), step 200 of 200.")


def test_scrubbing_and_the_table(show: Show) -> None:
    widget = OptimizerRacer("bowl", ("sgd", "adam"), (2, 0), 20, sgd={"lr": 0.5}, adam={"lr": 0.5})
    page = show(widget)
    scrubber(page).fill("1")
    assert row(page, "SGD") == ["0.5", "1", "1", "0.5"]
    assert row(page, "Adam") == ["1.13", "1.5", "0.5", "0.25"]
    expect(page.locator(".rx-table caption")).to_have_text("Step 1 of 20; lowest loss: SGD")
    expect(words(page)).to_contain_text("step 1 of 20")
    press(page, "One step back")
    assert row(page, "SGD") == ["2", "2", "–", "–"]
    expect(page.get_by_role("button", name="One step back")).to_have_attribute("aria-disabled", "true")
    press(page, "To the end")
    expect(scrubber(page)).to_have_value("20")
    assert row(page, "SGD")[0] == "<1e−9" if widget.runs["sgd"].losses[-1] < 1e-9 else True
    page.locator(".rx-chart").scroll_into_view_if_needed()
    box = page.locator(".rx-chart").bounding_box()
    assert box
    page.mouse.click(box["x"] + 46 + (box["width"] - 58) / 2, box["y"] + 40)
    expect(scrubber(page)).to_have_value("10")


def test_divergence_is_said(show: Show) -> None:
    page = show(OptimizerRacer(preset="diverge"))
    assert row(page, "SGD") == ["diverged at step 36"]
    scrubber(page).fill("20")
    assert "outside the picture" in row(page, "SGD")[0]
    scrubber(page).fill("36")
    assert row(page, "SGD") == ["diverged at step 36"]


# In the page: on a busy machine the film may be over before a word from outside arrives. What was said until then.
PAUSE_AFTER_5 = """() => new Promise((done) => {
  const player = document.querySelector('.rx-player');
  const watch = () => {
    if (player.querySelector('input[type=range]').value <= 5) return requestAnimationFrame(watch);
    const until = said;
    [...player.querySelectorAll('button')].find((one) => /Pause/.test(one.ariaLabel + one.textContent)).click();
    done(until);
  };
  watch();
})"""


def test_the_film_runs_pauses_and_speaks_only_at_the_end(show: Show) -> None:
    page = show(OptimizerRacer("bowl", ("sgd",), steps=60), motion=True)
    page.evaluate("""() => { window.said = 0;
        new MutationObserver(() => said++).observe(document.querySelector('.tbviz-words'), {childList: true}) }""")
    expect(scrubber(page)).to_have_value("60")
    press(page, "Play")
    assert page.evaluate(PAUSE_AFTER_5) == 0
    expect(words(page)).not_to_contain_text("step 60 of 60")
    at = int(scrubber(page).input_value())
    assert 5 < at < 60
    expect(words(page)).to_contain_text(f"step {at} of 60")
    assert page.evaluate("said") == 1
    page.get_by_label("speed", exact=True).select_option("fast")
    press(page, "Play")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(scrubber(page)).to_have_value("60")
    expect(words(page)).to_contain_text("step 60 of 60")


FRAMES = """async (count) => { for (let i = 0; i < count; i += 1) await new Promise(requestAnimationFrame); }"""


@pytest.mark.parametrize("motion", [True, False])
def test_nothing_moves_by_itself(show: Show, motion: bool) -> None:
    page = show(OptimizerRacer("bowl", ("sgd",)), motion=motion)
    page.evaluate("""() => { window.drawn = 0;
        const all = {childList: true, subtree: true, attributes: true};
        new MutationObserver(() => drawn++).observe(document.querySelector('.tbviz'), all) }""")
    page.evaluate(FRAMES, 24)
    assert page.evaluate("drawn") == 0


def test_with_reduced_motion_the_film_has_few_pictures(show: Show) -> None:
    page = show(OptimizerRacer("bowl", ("sgd",), steps=40))
    page.evaluate("""() => { window.steps = [];
        const value = () => document.querySelector('.rx-player output').textContent;
        new MutationObserver(() => steps.at(-1) !== value() && steps.push(value()))
            .observe(document.querySelector('.rx-player output'), {childList: true}) }""")
    press(page, "Play")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    assert len(page.evaluate("steps")) <= 9


def test_other_batches(show: Show) -> None:
    page = show(OptimizerRacer("bowl", ("sgd",)))
    expect(page.get_by_role("button", name="Other batches")).to_be_hidden()
    page.get_by_label("surface", exact=True).select_option("minibatch")
    press(page, "Other batches")
    expect(words(page)).to_have_text(OptimizerRacer("minibatch", ("sgd",), seed=1).words)
    expect(page.locator(".rx-point")).to_have_count(12)


def test_steps_are_set(show: Show) -> None:
    page = show(OptimizerRacer("bowl", ("sgd",)))
    page.get_by_label("steps", exact=True).fill("12")
    expect(words(page)).to_have_text(OptimizerRacer("bowl", ("sgd",), steps=12).words)
    for wrong in ("0", "", "7.5", "1001", "many"):
        page.get_by_label("steps", exact=True).fill(wrong)
        expect(page.get_by_role("alert").filter(has_text=re.compile("."))).to_have_text("a whole number from 1 to 1000")
        expect(words(page)).to_contain_text("step 12 of 12")
    page.get_by_label("steps", exact=True).blur()
    expect(page.get_by_label("steps", exact=True)).to_have_value("12")


@pytest.mark.parametrize("wrong", ["", " ", "x", "nan", "9"])
def test_a_wrong_start_is_said_and_changes_nothing(show: Show, wrong: str) -> None:
    page = show(OptimizerRacer("bowl", ("sgd",), (-2, 1)))
    before = words(page).inner_text()
    page.get_by_label("start y", exact=True).fill(wrong)
    expect(page.get_by_role("alert").filter(has_text=re.compile("."))).to_have_text("from −2 to 2")
    assert words(page).inner_text() == before


def test_copied_code_walks_the_path_that_is_shown(show: Show) -> None:
    widget = OptimizerRacer(preset="noise")
    page = show(widget, permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    expect(page.locator(".tbviz-status").filter(has_text="Copied")).to_be_visible()
    scope: dict[str, Any] = {"print": lambda *_: None}
    exec(page.evaluate("navigator.clipboard.readText()"), scope)
    assert list(scope["paths"]) == widget.optimizers
    for name, run in widget.runs.items():
        off = torch.tensor(scope["paths"][name]).double() - torch.tensor(run.points).double()
        assert off.abs().max() < 1e-6


def test_every_action_by_keyboard_alone(show: Show) -> None:
    page = show(OptimizerRacer("bowl", ("sgd", "adam")), permissions=["clipboard-read"])
    keys = page.keyboard
    tab_to(page, "SGD bounces")
    keys.press("Enter")
    expect(words(page)).to_contain_text("SGD (lr 0.039)")
    tab_to(page, "surface")
    keys.type("two")
    expect(words(page)).to_contain_text("Two valleys")
    for name in ("start x", "start y", "steps", "Copy as PyTorch"):
        tab_to(page, name)
    keys.press("Enter")
    expect(page.locator(".tbviz-status").filter(has_text="Copied")).to_be_visible()
    tab_to(page, "Copy link")
    tab_to(page, "Start")
    keys.press("ArrowLeft")
    expect(words(page)).to_contain_text("from (−1.84, 0.5)")
    tab_to(page, "To the start")
    keys.press("Enter")
    assert active(page) == "To the start"
    expect(words(page)).to_contain_text("step 0 of 200")
    tab_to(page, "step")
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    expect(words(page)).to_contain_text("step 2 of 200")
    tab_to(page, "speed")
    tab_to(page, "AdamW")
    keys.press("Space")
    expect(words(page)).to_contain_text("AdamW (lr 0.05)")
    tab_to(page, "lr, slider")
    keys.press("ArrowLeft")
    tab_to(page, "lr")
    keys.press("ArrowDown")
    tab_to(page, "weight decay")
    keys.press("ArrowUp")
    expect(words(page)).to_contain_text("weight decay 0.01")


def test_arrow_keys_do_not_scroll_the_page(show: Show) -> None:
    page = show(OptimizerRacer("bowl"))
    handle(page).focus()
    page.keyboard.press("ArrowDown")
    expect(words(page)).to_contain_text("1.35)")
    assert page.evaluate("scrollY") == 0


@pytest.mark.parametrize("preset", ["race", "diverge", "overshoot", "noise"])
def test_nothing_lies_beyond_the_figure(show: Show, preset: str) -> None:
    page = show(OptimizerRacer(preset=preset))
    drawing = page.locator(".rx-svg")
    beyond = """() => [...document.querySelectorAll('.tbviz *')]
        .filter((e) => !e.closest('.rx-svg, .tbviz-bar > .tbviz-toolbar'))  // the toolbar scrolls
        .filter((e) => e.getBoundingClientRect().right > document.querySelector('.tbviz').getBoundingClientRect().right)
        .map((e) => e.outerHTML.slice(0, 99))"""
    for width, drawn in ((800, r"^0 0 4\d\d "), (360, r"^0 0 2\d\d ")):
        page.set_viewport_size({"width": width, "height": 900})
        expect(drawing).to_have_attribute("viewBox", re.compile(drawn))  # it was drawn anew
        assert page.evaluate(beyond) == [], width


def test_inside_details(show: Show) -> None:
    page = show(f"<details><summary>More</summary>{mounted(OptimizerRacer('bowl'))}</details>", ready=False)
    page.get_by_text("More").click()
    page.locator(".viz-mount[data-ready] .tbviz").wait_for()
    expect(page.locator(".rx-svg")).to_have_attribute("viewBox", re.compile(r"^0 0 [45]\d\d 3\d\d$"))


def test_the_drawing_follows_the_width(show: Show) -> None:
    page = show(OptimizerRacer("bowl"), width=1200)
    page.set_viewport_size({"width": 400, "height": 800})
    expect(page.locator(".rx-svg")).to_have_attribute("viewBox", re.compile(r"^0 0 3\d\d 2\d\d$"))


@pytest.mark.parametrize("width", [390, 800])
@pytest.mark.parametrize("surface", surfaces())
def test_numbers_and_names_stand_beside_the_ways(show: Show, width: int, surface: str) -> None:
    page = show(OptimizerRacer(surface), width=width)
    ground = page.locator(".rx-svg").bounding_box()
    assert ground
    for text in page.locator(".rx-axes text").all():
        box = text.bounding_box()
        assert box
        assert box["x"] + box["width"] <= ground["x"] or box["y"] >= ground["y"] + ground["height"] - 1
    assert page.locator(".rx-svg text").count() == 0
    named = page.locator(".rx-chart text", has_text="loss above the minimum").bounding_box()
    grid = page.locator(".rx-grid").first.bounding_box()
    assert named
    assert grid
    assert named["y"] + named["height"] <= grid["y"] + 1
