"""PipelineTimeline and BottleneckTool on the static page: by mouse, keyboard, link, in the dark and on a phone."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.axe import violations
from torchbook.viz import BottleneckTool, PipelineTimeline
from torchbook.viz import bottleneck as neck
from torchbook.viz import pipeline as pipe

from .conftest import Show, mounted, overflow

PIPE_PRESETS = sorted(pipe.setup()["presets"])
NECK_PRESETS = sorted(neck.setup()["presets"])
EMPTY = {name: one["value"] for name, one in pipe.setup()["fields"].items()} | {"transfer": "wait"}


def a_run() -> pipe.PipelineRun:
    setting = {**EMPTY, "workers": 2, "load_ms": 30.0, "batches": 13}
    return pipe.PipelineRun(tuple(pipe.simulate(setting)), 2, 2, "wait")


def words(page: Page) -> Locator:
    return page.locator(".tbviz-words")


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def copied(page: Page) -> str:
    expect(page.locator(".tbviz-status").filter(has_text="Copied")).to_be_visible()
    return str(page.evaluate("navigator.clipboard.readText()"))


def small_targets(page: Page) -> list[str]:
    return list(
        page.evaluate("""() => [...document.querySelectorAll('.tbviz :is(button, input, select, [tabindex])')]
        .map((e) => [e.getBoundingClientRect(), e.outerHTML.slice(0, 80)])
        .filter(([box]) => box.width && (box.width < 24 || box.height < 24)).map(([, html]) => html)""")
    )


# The timeline


@pytest.mark.parametrize("preset", PIPE_PRESETS)
def test_timeline_says_what_python_says(show: Show, preset: str) -> None:
    widget = PipelineTimeline(preset=preset)
    page = show(widget)
    expect(words(page)).to_have_text(widget.words)
    pressed = page.get_by_role("toolbar", name="Presets").get_by_role("button", pressed=True)
    expect(pressed).to_have_text([pipe.setup()["presets"][preset]["label"]])


@pytest.mark.parametrize("preset", PIPE_PRESETS)
def test_preset_by_link(show: Show, preset: str) -> None:
    page = show(PipelineTimeline(workers=3), hash=f"#tbviz-pipeline-1:{preset}")
    expect(words(page)).to_have_text(PipelineTimeline(preset=preset).words)


def test_sliders_change_the_model(show: Show) -> None:
    page = show(PipelineTimeline())
    page.get_by_label("workers", exact=True).fill("1")
    expect(page.locator(".pl-head")).to_have_text("Model: 40.0 ms a batch, set by loading")
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
    run = a_run()
    widget = PipelineTimeline(run)
    page = show(widget)
    expect(words(page)).to_have_text(widget.words)
    expect(page.locator(".pl-head")).to_have_text("Recorded: 15.0 ms a batch")
    press(page, "model")
    expect(words(page)).to_have_text(PipelineTimeline(run, source="model").words)
    press(page, "recorded run")
    expect(words(page)).to_have_text(widget.words)
    page.get_by_label("workers", exact=True).fill("4")
    expect(page.locator(".pl-head")).to_contain_text("Model: ")
    expect(page.get_by_role("button", name="model", exact=True)).to_have_attribute("aria-pressed", "true")


def test_a_batch_is_followed_by_slider_and_by_click(show: Show) -> None:
    page = show(PipelineTimeline())
    way = page.locator(".pl-way")
    expect(way).to_contain_text("Batch 0: worker 0 loads it")
    page.get_by_label("follow batch").focus()
    page.keyboard.press("ArrowRight")
    expect(way).to_contain_text("Batch 1: worker 1 loads it")
    page.locator(".pl-step[data-batch='7']").click()
    expect(way).to_contain_text("Batch 7: worker 3 loads it")
    expect(page.get_by_label("follow batch")).to_have_value("7")


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


def test_any_model_by_link(show: Show) -> None:
    widget = PipelineTimeline(workers=7, load_ms=33.3, transfer="same", link="mine")
    page = show(widget, permissions=["clipboard-read"])
    press(page, "Copy link")
    address = copied(page)
    other = show(PipelineTimeline(link="mine"), hash="#" + address.split("#")[1])
    expect(words(other)).to_have_text(widget.words)


@pytest.mark.parametrize("rest", [":nothing", "=e30x", "=%", "=eyJ3b3JrZXJzIjo5OX0", ":recorded"])
def test_a_broken_link_changes_nothing(show: Show, rest: str) -> None:
    widget = PipelineTimeline(workers=5)
    expect(words(show(widget, hash=f"#tbviz-pipeline-1{rest}"))).to_have_text(widget.words)


# The diagnosis


@pytest.mark.parametrize("preset", NECK_PRESETS)
def test_diagnosis_says_what_python_says(show: Show, preset: str) -> None:
    widget = BottleneckTool(preset=preset)
    page = show(BottleneckTool(), hash=f"#tbviz-bottleneck-1:{preset}")
    expect(words(page)).to_have_text(widget.words)
    expect(page.locator(".bn-cause")).to_have_text(widget.diagnosis.title)
    expect(page.locator(".bn-path li")).to_have_count(len(widget.diagnosis.path))
    expect(page.locator(".bn-verdict li")).to_have_text(list(widget.diagnosis.remedies))


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


def test_the_cpu_changes_the_remedies(show: Show) -> None:
    page = show(BottleneckTool())
    expect(page.locator(".bn-verdict li").first).to_contain_text("Look at the CPU")
    page.get_by_label("CPU while the loader runs alone", exact=True).select_option("idle")
    expect(page.locator(".bn-verdict li").first).to_contain_text("wait for storage")


def test_diagnosis_by_keyboard(show: Show) -> None:
    page = show(BottleneckTool())
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(BottleneckTool(preset="disk").words)
    page.keyboard.press("Tab")
    assert "step on a batch" in page.evaluate("document.activeElement.labels[0].textContent")


def test_copied_code_and_link_of_a_diagnosis(show: Show) -> None:
    widget = BottleneckTool(step_ms=3.5, loader_ms=8.0, full_ms=12.0, workers=0, link="mine")
    page = show(widget, permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    compile(copied(page), "copied", "exec")
    page.wait_for_timeout(2600)
    press(page, "Copy link")
    other = show(BottleneckTool(link="mine"), hash="#" + copied(page).split("#")[1])
    expect(words(other)).to_have_text(widget.words)


# Both


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 800])
def test_accessible_and_inside_the_page(show: Show, theme: str, width: int) -> None:
    page = show(
        PipelineTimeline(a_run()), PipelineTimeline(preset="uneven"), BottleneckTool(), theme=theme, width=width
    )
    page.locator(".tbviz").nth(2).scroll_into_view_if_needed()
    page.get_by_label("the full run, for").fill("0")
    assert violations(page) == []
    assert overflow(page) == 0
    assert small_targets(page) == []


@pytest.mark.parametrize("widget", [lambda: PipelineTimeline(a_run()), lambda: BottleneckTool()])
def test_without_scripts_picture_and_words_are_there(show: Show, widget: Any) -> None:
    one = widget()
    page = show(one, java_script_enabled=False, ready=False, width=360)
    expect(page.get_by_role("img", name=one.words)).to_be_visible()
    expect(page.locator(".viz-words")).to_have_text(one.words)
    assert overflow(page) == 0


def test_two_views_show_one_state(show: Show) -> None:
    widget = PipelineTimeline()
    page = show(mounted(widget, model="m1"), mounted(widget, model="m1"))
    page.locator(".tbviz").nth(1).wait_for()
    page.get_by_label("workers", exact=True).nth(0).fill("2")
    expect(words(page).nth(1)).to_have_text(PipelineTimeline(workers=2).words)
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
