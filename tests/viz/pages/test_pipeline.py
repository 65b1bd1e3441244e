"""PipelineTimeline and BottleneckTool on the static page: by mouse, keyboard, link, in the dark and on a phone."""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.sync_api import expect

from torchbook.viz import BottleneckTool, PipelineTimeline
from torchbook.viz import bottleneck as neck

from ..conftest import Show, gallery
from ..models.test_pipeline import timeline_of_a_run
from ..pressing import copied, press, tab_into, words

# The timeline


def test_sliders_change_the_model(show: Show) -> None:
    page = show(PipelineTimeline())
    page.get_by_label("workers", exact=True).fill("1")
    expect(page.locator(".pl-head")).to_have_text("Simulated: 40.0 ms a batch, set by loading")
    expect(words(page)).to_have_text(PipelineTimeline(workers=1).words)
    page.get_by_label("workers", exact=True).focus()
    page.keyboard.press("ArrowLeft")
    expect(words(page)).to_have_text(PipelineTimeline(workers=0).words)
    expect(page.get_by_label("prefetch factor", exact=True)).to_be_disabled()
    page.get_by_label("copy", exact=True).select_option("side")
    expect(words(page)).to_have_text(PipelineTimeline(workers=0, transfer="side").words)


def test_time_sliders_move_by_a_key_and_say_the_time(show: Show) -> None:
    page = show(PipelineTimeline())
    slider = page.get_by_label("load a batch", exact=True)
    expect(slider).to_have_attribute("aria-valuetext", "40.0 ms")
    slider.focus()
    seen = set()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
        seen.add(slider.get_attribute("aria-valuetext"))
    assert len(seen) == 5
    assert all(float(text.split()[0]) > 40 for text in seen if text)
    slider.fill("120")
    expect(slider).to_have_attribute("aria-valuetext", "1.00 s")
    page.get_by_label("copy to device", exact=True).fill("0")
    expect(page.get_by_label("copy to device", exact=True)).to_have_attribute("aria-valuetext", "0 ms")


def test_run_and_model_are_switched(show: Show) -> None:
    widget = timeline_of_a_run()
    page = show(widget)
    expect(words(page)).to_have_text(widget.words)
    expect(page.locator(".pl-head")).to_have_text("Recorded: 15.0 ms a batch, set by loading")
    press(page, "simulated model")
    expect(words(page)).to_have_text(timeline_of_a_run(source="model").words)
    press(page, "recorded run")
    expect(words(page)).to_have_text(widget.words)
    page.get_by_label("workers", exact=True).fill("4")
    expect(page.locator(".pl-head")).to_contain_text("Simulated: ")
    expect(page.get_by_role("button", name="simulated model", exact=True)).to_have_attribute("aria-pressed", "true")


def test_a_batch_is_followed_by_slider_and_by_click(show: Show) -> None:
    page = show(PipelineTimeline())
    way = page.locator(".pl-way")
    expect(way).to_contain_text("Batch 0: worker 0 loads it")
    page.get_by_label("follow batch").focus()
    page.keyboard.press("ArrowRight")
    expect(way).to_contain_text("Batch 1: worker 1 loads it")
    page.locator(".pl-step[data-batch='7']").click()
    expect(way).to_contain_text("Batch 7: worker 3 loads it")
    lanes = page.get_by_role("slider", name="follow batch")
    expect(lanes).to_have_attribute("aria-valuenow", "7")
    expect(page.locator(".pl-brief")).to_contain_text("batch 7: the step ")
    box, step = lanes.bounding_box(), page.locator(".pl-step[data-batch='9']").bounding_box()
    assert box
    assert step
    lanes.click(position={"x": step["x"] - box["x"] + 2, "y": box["height"] - 6})  # under the lanes, nearest to a step
    expect(way).to_contain_text("Batch 9: worker 1 loads it")
    lanes.press("End")
    expect(way).to_contain_text("Batch 15: ")
    lanes.press("ArrowRight")
    expect(way).to_contain_text("Batch 15: ")


def test_lanes_are_to_scale(show: Show) -> None:
    page = show(PipelineTimeline(preset="one", batches=6))
    rows = PipelineTimeline(preset="one", batches=6).rows
    load, step = (page.locator(f".pl-{name}[data-batch='3']").bounding_box() for name in ("load", "step"))
    assert load
    assert step
    assert load["width"] / step["width"] == pytest.approx(4, rel=0.1)
    expect(page.locator("[data-batch].pl-load")).to_have_count(len(rows))


def test_start_up_can_be_left_out(show: Show) -> None:
    page = show(PipelineTimeline(preset="start-up"))
    first = page.locator(".pl-step[data-batch='0']")
    before = first.bounding_box()
    press(page, "Without start-up")
    after = first.bounding_box()
    assert before
    assert after
    assert after["width"] > 3 * before["width"]


def test_copied_code_is_a_loader(show: Show) -> None:
    page = show(PipelineTimeline(preset="four"), permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    code = copied(page)
    assert "num_workers=4, prefetch_factor=2" in code
    compile(code, "copied", "exec")


# The diagnosis


def test_every_diagnosis_is_written_out(show: Show) -> None:
    widgets = [BottleneckTool(preset=preset) for preset in neck.setup()["presets"]]
    for widget, figure in zip(widgets, gallery(show, widgets), strict=True):
        expect(figure.locator(".bn-cause")).to_have_text(widget.diagnosis.title)
        expect(figure.locator(".bn-path li")).to_have_count(len(widget.diagnosis.path))
        expect(figure.locator(".bn-verdict li")).to_have_text(list(widget.diagnosis.remedies))


def test_measurements_are_typed(show: Show) -> None:
    page = show(BottleneckTool())
    page.get_by_label("the full run, for").fill("41")
    expect(page.locator(".bn-cause")).to_have_text("The measurements do not fit together")
    page.get_by_label("the loader alone, for").fill("12")
    expect(page.locator(".bn-cause")).to_have_text("The step sets the pace")
    page.get_by_label("GPU utilisation").fill("30")
    expect(page.locator(".bn-cause")).to_have_text("The host cannot start kernels fast enough")
    page.get_by_label("GPU utilisation").fill("")
    expect(page.locator(".bn-cause")).to_have_text("The step sets the pace")
    expect(words(page)).to_have_text(BottleneckTool(full_ms=41.0, loader_ms=12.0).words)


def test_a_wrong_measurement_is_named_and_changes_nothing(show: Show) -> None:
    page = show(BottleneckTool())
    field = page.get_by_label("the full run, for")
    for typed in ("0", "-3", "x", ""):
        field.fill(typed)
        expect(page.get_by_role("alert").filter(has_text="a number")).to_have_text("a number from 0.001 to 1000000")
        expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".bn-cause")).to_have_text("The loader sets the pace")
    field.blur()
    expect(field).to_have_value("98")
    expect(field).not_to_have_attribute("aria-invalid", "true")


@pytest.mark.parametrize("touch", [False, True])
def test_the_end_of_a_block_is_dragged(show: Show, touch: bool) -> None:
    page = show(BottleneckTool(), has_touch=touch)
    grip = page.get_by_role("slider", name="loader alone")
    box = grip.bounding_box()
    assert box
    assert min(box["width"], box["height"]) > 43.9
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y, steps=4)
    held = grip.bounding_box()
    assert held
    assert held["x"] - box["x"] == pytest.approx(-60, abs=8)  # it stays under the hand
    page.mouse.up()
    loader = float(grip.get_attribute("aria-valuenow") or 0)
    assert 5 < loader < 95
    expect(page.get_by_label("the loader alone, for")).to_have_value(f"{loader:g}")
    full = float(f"{98 * max(loader, 40) / 95:.4g}")  # the run follows the longer of the two
    expect(words(page)).to_have_text(BottleneckTool(loader_ms=loader, full_ms=full).words)


def test_a_loader_that_keeps_up_leaves_no_wait(show: Show) -> None:
    page = show(BottleneckTool())
    grip = page.get_by_role("slider", name="loader alone")
    for _ in range(6):
        grip.press("Shift+ArrowLeft")
    expect(grip).to_have_attribute("aria-valuenow", "35")
    expect(page.locator(".bn-cause")).to_have_text("The step sets the pace")
    assert float(page.get_by_role("slider", name="full run").get_attribute("aria-valuenow") or 0) < 1.1 * 40


def test_measurements_are_changed_by_keys(show: Show) -> None:
    page = show(BottleneckTool())
    expect(page.get_by_role("slider", name="copy")).to_have_attribute("aria-valuetext", "not measured")
    for name, keys in (("full run", ["ArrowLeft", "Shift+ArrowLeft"]), ("copy", ["ArrowRight"]), ("step", ["ArrowUp"])):
        for key in keys:
            page.get_by_role("slider", name=name).press(key)
    expect(words(page)).to_have_text(BottleneckTool(full_ms=87.0, copy_ms=1.0, step_ms=41.0).words)
    for _ in range(2):
        page.get_by_role("slider", name="copy").press("Shift+ArrowLeft")
    expect(page.get_by_role("slider", name="copy")).to_have_attribute("aria-valuenow", "0")


def test_lanes_show_what_waits_and_what_cannot_be(show: Show) -> None:
    marks = {"starved": ".bn-wait", "impossible": ".bn-clash", "serial": ".bn-wait", "launch": ".bn-idle"}
    figures = gallery(show, [BottleneckTool(preset=preset) for preset in marks])
    for figure, mark in zip(figures, marks.values(), strict=True):
        expect(figure.locator(f"{mark}:not([width='0'])").first).to_be_visible()
    expect(figures[0].locator(".bn-clash")).to_have_count(0)
    more = gallery(show, [BottleneckTool(full_ms=200.0)])[0]
    expect(more.locator(".bn-gap")).to_have_count(2)


def test_the_cpu_changes_the_remedies(show: Show) -> None:
    page = show(BottleneckTool())
    expect(page.locator(".bn-verdict li").first).to_contain_text("Look at the CPU")
    page.get_by_label("CPU while the loader runs alone", exact=True).select_option("idle")
    expect(page.locator(".bn-verdict li").first).to_contain_text("wait for storage")


def test_diagnosis_by_keyboard(show: Show) -> None:
    page = show(BottleneckTool())
    tab_into(page, "Presets")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(BottleneckTool(preset="disk").words)
    page.keyboard.press("Tab")  # the drawer
    page.keyboard.press("Tab")  # the presets in it
    page.keyboard.press("Tab")
    assert "step on a batch" in page.evaluate("document.activeElement.labels[0].textContent")


def test_copied_code_of_a_diagnosis_compiles(show: Show) -> None:
    page = show(BottleneckTool(step_ms=3.5, loader_ms=8.0, full_ms=12.0, workers=0), permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    compile(copied(page), "copied", "exec")


# Of each lane of loading: its batches, in their order, and of the numbers in it the number, left and right edge.
NUMBERED = """() => {
  const bars = [...document.querySelectorAll(".pl-svg .pl-load")].map((bar) => [bar, bar.getBoundingClientRect()]);
  const all = new Map();
  for (const [bar, box] of bars) {
    const key = Math.round(box.top);
    if (!all.has(key)) all.set(key, { batches: [], numbers: [], box });
    all.get(key).batches.push(Number(bar.dataset.batch));
  }
  for (const text of document.querySelectorAll(".pl-svg text[text-anchor=middle]:not(.pl-tick)")) {
    const { left, right, top, bottom } = text.getBoundingClientRect();
    for (const own of all.values())
      if (own.box.top < bottom && top < own.box.bottom) own.numbers.push([Number(text.textContent), left, right]);
  }
  return [...all.values()].map(({ batches, numbers }) =>
    [batches.sort((a, b) => a - b), numbers.sort((a, b) => a[1] - b[1])]);
}"""


@pytest.mark.parametrize("width", [390, 560, 800, 1200])
@pytest.mark.parametrize("preset", ["none", "four", "uneven"])
def test_batches_are_numbered_at_regular_intervals(show: Show, width: int, preset: str) -> None:
    page = show(PipelineTimeline(preset=preset), width=width)
    lanes = page.evaluate(NUMBERED)
    assert lanes
    for batches, numbers in lanes:
        assert all(a[2] <= b[1] + 1 for a, b in pairwise(numbers)), "two numbers touch"
        told = [number for number, _, _ in numbers]
        first = batches if preset == "none" else [n for n in batches if n < 2 * max(2, len(lanes))]
        regular = [[n for n in first if n % every == 0] for every in (1, 5, 10, 20, 50)]
        assert told in [*regular, [0], []], (batches, told)


@pytest.mark.parametrize("width", [390, 800])
def test_who_waits_and_for_what_is_written_in_the_lanes(show: Show, width: int) -> None:
    page = show(PipelineTimeline(preset="overlap"), width=width)
    expect(page.locator(".pl-lane")).to_have_text([*(f"worker {k}" for k in range(4)), "main process", "copy", "step"])
    said = page.locator(".pl-said")
    expect(said).to_have_text(["waits for batch 0" if width == 800 else "waits for 0"] * 2)
    bars = [page.locator(f".pl-wait[data-batch='0'] >> nth={k}").bounding_box() for k in (0, 1)]
    for text, bar in zip([one.bounding_box() for one in said.all()], bars, strict=True):
        assert text
        assert bar
        assert bar["x"] <= text["x"]
        assert text["x"] + text["width"] <= bar["x"] + bar["width"]


@pytest.mark.parametrize(("workers", "copy_ms", "hidden"), [(4, 4.0, 0), (4, 0.0, 1), (0, 0.0, 2)])
def test_the_key_names_what_is_drawn_and_nothing_else(show: Show, workers: int, copy_ms: float, hidden: int) -> None:
    page = show(PipelineTimeline(workers=workers, copy_ms=copy_ms))
    key = page.locator(".pl-key > span")
    expect(key.filter(has_text="the chosen batch’s way")).to_be_visible()
    assert key.evaluate_all("(all) => all.filter((one) => one.style.visibility === 'hidden').length") == hidden
    for text, drawn in (("copies it", ".pl-copy"), ("it is ready", ".pl-ready")):
        there = page.locator(f".pl-svg {drawn}").count() > 0
        expect(key.filter(has_text=text)).to_be_visible(visible=there)


def test_a_recording_says_that_sliders_leave_it(show: Show) -> None:
    page = show(timeline_of_a_run())
    expect(page.locator(".pl-brief")).to_contain_text("Move a slider to simulate it.")
    page.get_by_label("workers", exact=True).fill("3")
    expect(page.locator(".pl-head")).to_contain_text("Simulated")
    expect(page.locator(".pl-brief")).not_to_contain_text("Move a slider")


# The lanes of the diagnosis


@pytest.mark.parametrize("width", [390, 800])
def test_lanes_have_an_axis_and_say_what_was_not_measured(show: Show, width: int) -> None:
    page = show(BottleneckTool(step_ms=5.1, loader_ms=21.8, full_ms=25.0), width=width)
    ticks = page.locator(".bn-tick").all_text_contents()
    assert ticks[0] == "0"
    assert ticks[-1].endswith(" ms")
    expect(page.locator(".bn-none")).to_contain_text("not measured")
    right = page.locator(".bn-svg").evaluate("(svg) => svg.getBoundingClientRect().right")
    ends = page.locator(".bn-svg text").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().right)")
    assert max(ends) <= right
