"""TraceExplorer on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Position, expect

from torchbook.viz import TraceExplorer

from ..conftest import Show, mounted
from ..models.profiles import from_rows, gpu_events, recorded_steps
from ..pressing import press, words


def trace_explorer(**traits: Any) -> TraceExplorer:
    """A recorded profile, so that every time and width is known; live ones are in the test of all figures."""
    return TraceExplorer(recorded_steps(), **traits)


@pytest.fixture
def shown() -> TraceExplorer:
    return trace_explorer()


def chart(page: Page) -> Locator:
    return page.locator(".tr-chart")


def cells(page: Page, name: str) -> list[str]:
    row = page.locator(".tr-table tbody tr", has=page.get_by_role("button", name=name, exact=True))
    return row.locator("td").all_inner_texts()


def first(widget: TraceExplorer, name: str) -> Any:
    return next(node for node in widget._profile.nodes if node.name == name)


def at(page: Page, widget: TraceExplorer, node: Any, depth: int) -> Position:
    """Where the middle of an event is, with the whole profile in view."""
    width = chart(page).locator("svg").last.bounding_box()["width"]  # type: ignore[index]
    middle = (node.start + node.end) / 2 * 10 / widget.trace["end"]
    return {"x": middle * width, "y": 62 + 21 * depth + 10}


def test_table_is_sorted_and_filtered(show: Show, shown: TraceExplorer) -> None:
    page = show(shown)
    names = page.locator(".tr-table tbody .tr-op")
    expect(names.first).to_have_text(shown.table[0]["name"])
    press(page, "calls")
    expect(names.first).to_have_text(max(shown.table, key=lambda row: row["calls"])["name"])
    expect(page.locator("th[aria-sort]")).to_have_text("calls ▼")
    press(page, "operator")
    expect(names.first).to_have_text(min(row["name"] for row in shown.table))
    press(page, f"All {len(shown.table)} operators")
    expect(names).to_have_count(len(shown.table))
    page.locator(".tr-key").get_by_role("button", name="optimizer").click()
    expect(page.get_by_role("button", name="aten::addmm", exact=True)).to_have_count(0)
    assert cells(page, "Optimizer.step#AdamW.step")[0] == "3"


def test_a_row_singles_out_its_events(show: Show, shown: TraceExplorer) -> None:
    page = show(shown, width=1200)
    press(page, f"All {len(shown.table)} operators")
    press(page, "aten::addmm")
    expect(page.get_by_label("find operators by name")).to_have_value("aten::addmm")
    expect(page.locator(".tr-found")).to_contain_text("6 calls of 1 operator")
    assert page.locator(".tr-hit").count() + page.locator(".tr-thin:not(.tr-dim)").count() > 0
    assert page.locator(".tr-dim").count() > 10
    press(page, "aten::addmm")
    expect(page.locator(".tr-dim")).to_have_count(0)


def test_search_by_part_of_a_name(show: Show, shown: TraceExplorer) -> None:
    page = show(shown)
    page.get_by_label("find operators by name").fill("MM")
    calls = sum(row["calls"] for row in shown.table if "mm" in row["name"].lower())
    expect(page.locator(".tr-found")).to_contain_text(f"{calls} calls of ")
    page.get_by_label("find operators by name").fill("xyz")
    expect(page.locator(".tr-found")).to_have_text("No operator has that in its name.")


def test_click_chooses_and_zooms(show: Show, shown: TraceExplorer) -> None:
    page = show(shown, width=1200)
    step = max((n for n in shown._profile.nodes if n.name.startswith("Optimizer.step#")), key=lambda n: n.total)
    chart(page).click(position=at(page, shown, step, 0))
    expect(words(page)).to_contain_text("Optimizer.step#AdamW.step (CPU thread 1, optimizer, step ")
    chart(page).click(position=at(page, shown, step, 0))
    expect(chart(page).locator(".tr-name").first).to_have_text("Optimizer.step#AdamW.step")
    expect(chart(page).locator(".tr-lane").first).to_have_text(re.compile(r"busy (9\d|100) %$"))
    page.get_by_label("count in").select_option("event")
    assert cells(page, "Optimizer.step#AdamW.step")[0] == "1"
    press(page, "Show the whole profile")
    expect(chart(page)).to_have_attribute("aria-label", chart_says(shown))


def chart_says(widget: TraceExplorer) -> str:
    whole = next(text for text in widget.words.split(", ")[1:]).split(":")[0]
    return f"Flame chart, all {whole} in view. Arrow keys choose an event, Enter zooms to it, plus, minus and 0 zoom."


def test_everything_by_keyboard(show: Show, shown: TraceExplorer) -> None:
    page = show(shown)
    chart(page).focus()
    roots = shown._profile.lanes[0].roots
    for node in roots[: roots.index(first(shown, "aten::linear")) + 1]:
        page.keyboard.press("ArrowRight")
        expect(words(page)).to_contain_text(f"{node.name} (CPU thread 1")
    expect(words(page)).to_contain_text("aten::linear (CPU thread 1, forward, step 1)")
    page.keyboard.press("ArrowDown")
    expect(words(page)).to_contain_text("of its parent aten::linear.")
    expect(words(page)).to_contain_text("Its backward: TBackward0")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(chart(page).locator(".tr-name").first).to_have_text("linear")
    label = chart(page).get_attribute("aria-label")
    page.keyboard.press("+")
    page.wait_for_function("(old) => document.querySelector('.tr-chart').getAttribute('aria-label') !== old", arg=label)
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("-")
    page.keyboard.press("0")
    expect(chart(page)).to_have_attribute("aria-label", chart_says(shown))
    page.keyboard.press("Escape")
    expect(words(page)).to_have_text(shown.words)


def test_every_control_is_reached_by_tab(show: Show, shown: TraceExplorer) -> None:
    page = show(shown)
    seen = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.add(
            page.evaluate("""() => { const e = document.activeElement;
            return e.closest('[role=toolbar]')?.getAttribute('aria-label') || e.getAttribute('aria-roledescription')
                || e.labels?.[0]?.textContent || e.textContent }""")
        )
    wanted = {
        "Presets",
        "More presets",
        "Phases",
        "flame chart",
        "Zoom",
        "Move",
        "find operators by name",
        "count in",
        "self ▼",
        "Copy link",
    }
    assert wanted <= seen


def test_forward_and_backward_lead_to_each_other(show: Show, shown: TraceExplorer) -> None:
    addmm = first(shown, "aten::addmm")
    page = show(TraceExplorer(shown._profile.events, view="step", selected=addmm.number))
    press(page, "Its backward")
    expect(words(page)).to_contain_text("AddmmBackward0 (CPU thread 1, backward, step 1)")
    expect(words(page)).to_contain_text("Backward of: aten::addmm")
    press(page, "Its forward")
    expect(words(page)).to_contain_text("aten::addmm (CPU thread 1, forward, step 1)")


def test_views_by_button(show: Show) -> None:
    widget = trace_explorer(link="steps")
    page = show(widget)
    views = {entry["key"]: entry for entry in widget.trace["views"]}
    assert {"step", "data", "forward", "backward", "optimizer", "top"} <= set(views)
    for name, view in views.items():
        page.get_by_role("toolbar", name="presets").get_by_role("button", name=view["label"], exact=True).click()
        expect(page.locator(".tr-note")).to_have_text(view["note"])
        if name != "whole":  # which it shows already
            page.wait_for_url(f"**#tbviz-steps:{name}")
        press(page, "whole profile")
        expect(page.locator(".tr-note")).to_be_hidden()


def test_a_view_by_link_shows_its_note(show: Show) -> None:
    widget = trace_explorer(link="steps")
    page = show(widget, hash="#tbviz-steps:optimizer")
    expect(page.locator(".tr-note")).to_have_text(
        next(v["note"] for v in widget.trace["views"] if v["key"] == "optimizer")
    )


def test_any_state_by_link(show: Show) -> None:
    widget = trace_explorer(link="steps")
    addmm = first(widget, "aten::addmm")
    page = show(widget, permissions=["clipboard-read"], width=1200)
    page.get_by_label("find operators by name").fill("addmm")
    press(page, "calls")
    press(page, "Zoom in")
    press(page, "Copy link")
    expect(page.locator(".tbviz-status").filter(has_text="Copied")).to_be_visible()
    address = page.evaluate("navigator.clipboard.readText()")
    other = show(trace_explorer(link="steps"), hash="#" + address.split("#")[1])
    expect(other.get_by_label("find operators by name")).to_have_value("addmm")
    expect(other.locator("th[aria-sort]")).to_have_text("calls ▼")
    expect(chart(other)).to_have_attribute("aria-label", str(chart(page).get_attribute("aria-label")))
    assert addmm.calls == 1


def test_a_link_to_times_before_the_start_shows_the_whole_profile(show: Show, shown: TraceExplorer) -> None:
    page = show(shown, hash="#tbviz-trace-1=eyJzdGFydCI6LTUsInNlbGVjdGVkIjo5OTk5OTl9")  # start -5, event 999999
    expect(chart(page)).to_have_attribute("aria-label", chart_says(shown))


def test_wheel_drag_and_strip(show: Show, shown: TraceExplorer) -> None:
    page = show(shown, width=1000)
    box = chart(page).bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 100)
    page.mouse.wheel(0, 300)
    expect(chart(page)).to_have_attribute("aria-label", chart_says(shown))  # without Ctrl the page scrolls
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.down("Control")
    for _ in range(4):
        page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    expect(chart(page)).not_to_have_attribute("aria-label", chart_says(shown))
    zoomed = chart(page).get_attribute("aria-label")
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 120, box["y"] + 100, steps=4)
    page.mouse.up()
    expect(chart(page)).not_to_have_attribute("aria-label", str(zoomed))
    expect(words(page)).to_have_text(shown.words)  # a drag chooses nothing
    moved = chart(page).get_attribute("aria-label")
    chart(page).click(position={"x": box["width"] - 20, "y": 8})
    expect(chart(page)).not_to_have_attribute("aria-label", str(moved))


def test_two_fingers_zoom(show: Show, shown: TraceExplorer) -> None:
    page = show(shown)
    page.evaluate("""() => { const chart = document.querySelector('.tr-chart');
        const box = chart.getBoundingClientRect();
        const send = (type, id, x) => chart.dispatchEvent(new PointerEvent(type, { pointerId: id, clientX: box.left + x,
            clientY: box.top + 90, bubbles: true, pointerType: 'touch' }));
        send('pointerdown', 1, 300); send('pointerdown', 2, 340);
        send('pointermove', 1, 200); send('pointermove', 2, 440);
        send('pointerup', 1, 200); send('pointerup', 2, 440); }""")
    expect(chart(page)).not_to_have_attribute("aria-label", chart_says(shown))
    expect(words(page)).to_have_text(shown.words)


def test_gpu_lanes_gap_and_kernels(show: Show) -> None:
    widget = TraceExplorer(gpu_events())
    page = show(widget, width=1000)
    lanes = page.locator(".tr-lane").all_text_contents()
    assert [lane.split(":")[0] for lane in lanes] == [entry["name"] for entry in widget.trace["lanes"]]
    press(page, "longest GPU gap")
    expect(page.locator(".tr-note")).to_contain_text("waits 110 µs")
    press(page, "whole profile")
    press(page, "on GPU")
    expect(page.locator(".tr-table tbody .tr-op").first).to_have_text("aten::mm")
    assert cells(page, "gemm_kernel (GPU)")[0] == "2"
    kernel = next(n for n in widget._profile.nodes if n.name == "gemm_kernel")
    other = show(TraceExplorer(gpu_events(), selected=kernel.number), width=1000)
    expect(words(other)).to_contain_text("Started by: aten::mm")
    expect(other.locator(".tr-linked")).to_have_count(1)


def deep_profile() -> TraceExplorer:
    """A profile whose lanes are higher than the chart."""
    rows = [[f"level{depth}", depth, 10_000 - depth, 1, -1, 0, 0, False, []] for depth in range(40)]
    return TraceExplorer(from_rows(rows))


def test_a_chart_that_is_too_high_scrolls_to_the_chosen_event(show: Show) -> None:
    widget = deep_profile()
    page = show(widget, width=1000)
    box = chart(page).bounding_box()
    assert box
    assert box["height"] <= 420
    chart(page).focus()
    page.keyboard.press("ArrowRight")
    for _ in range(len(widget._profile.nodes) - 1):
        page.keyboard.press("ArrowDown")
    expect(words(page)).to_contain_text("level39")
    frame = page.locator(".tr-on").bounding_box()
    assert frame
    assert box["y"] <= frame["y"] and frame["y"] + frame["height"] <= box["y"] + box["height"]  # noqa: PT018
    head = page.locator(".tr-head").bounding_box()
    assert head
    assert head["y"] == pytest.approx(box["y"], abs=2)  # the axis stays


def test_a_finger_may_miss_by_a_little(show: Show, shown: TraceExplorer) -> None:
    page = show(shown, width=1000, has_touch=True)
    step = max((n for n in shown._profile.nodes if n.name.startswith("Optimizer.step#")), key=lambda n: n.total)
    where = at(page, shown, step, 0)
    box = chart(page).bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + where["x"], box["y"] + 62 - 9)  # on the name of the lane, above its first row
    expect(words(page)).to_contain_text("(CPU thread 1")


@pytest.mark.parametrize(("width", "most"), [(1280, 760), (390, 760)])
def test_its_height_stays_and_fits_a_screen(show: Show, shown: TraceExplorer, width: int, most: int) -> None:
    page = show(shown, width=width)
    page.evaluate("document.querySelector('.tbviz-drawer').open = false")
    height = "document.querySelector('.tbviz').offsetHeight"
    heights = {page.evaluate(height)}
    for view in shown.trace["views"]:
        page.get_by_role("button", name=view["label"], exact=True, include_hidden=True).evaluate("(one) => one.click()")
        heights.add(page.evaluate(height))
    chart(page).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    heights.add(page.evaluate(height))
    assert len(heights) == 1
    assert heights.pop() <= most


# True once nothing was said of the view for a while.
STILL = """() => {
  const { size } = window.seen, at = performance.now();
  if (window.last?.size !== size) window.last = { size, at };
  return at - window.last.at > 300;
}"""


def test_moves_only_where_motion_is_wanted(show: Show, shown: TraceExplorer) -> None:
    for motion in (False, True):
        page = show(shown, motion=motion)
        page.evaluate("""() => { window.seen = new Set(); new MutationObserver(() => window.seen.add(
            document.querySelector('.tr-chart').getAttribute('aria-label'))).observe(document.querySelector('.tr-chart'),
            { attributes: true, attributeFilter: ['aria-label'] }); }""")
        press(page, "one step")
        expect(page.locator(".tr-note")).to_be_visible()
        page.wait_for_function(STILL)
        assert (page.evaluate("window.seen.size") > 1) is motion


def test_two_views_show_one_state(show: Show, shown: TraceExplorer) -> None:
    page = show(mounted(shown, model="m1"), mounted(shown, model="m1"))
    page.locator(".tbviz").nth(1).wait_for()
    page.get_by_role("button", name="optimizer", exact=True).nth(0).click()
    expect(page.locator(".tr-note").nth(1)).to_be_visible()
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))


def test_inside_details(show: Show, shown: TraceExplorer) -> None:
    page = show(f"<details><summary>More</summary>{mounted(shown)}</details>", ready=False)
    page.get_by_text("More", exact=True).click()
    page.locator(".viz-mount[data-ready] .tbviz").wait_for()
    assert chart(page).locator("svg").last.bounding_box()["width"] > 500  # type: ignore[index]


@pytest.mark.parametrize("width", [390, 800])
def test_lanes_say_what_stands_in_their_rows(show: Show, width: int) -> None:
    page = show(TraceExplorer(gpu_events()), width=width)
    assert all(re.search(r": busy [\d.]+ %$", text) for text in page.locator(".tr-lane").all_text_contents())
    kinds = page.locator(".tr-kind").all_text_contents()
    assert "kernels and copies" in kinds
    assert any(text.startswith("record_function") for text in kinds)
    assert any("what it calls" in text for text in kinds)
    touching = page.evaluate("""() => [...document.querySelectorAll(".tr-kind")].filter((kind) =>
      kind.previousElementSibling.getBoundingClientRect().right > kind.getBoundingClientRect().left - 4).length""")
    assert touching == 0


def test_a_chosen_event_adds_no_control_outside_the_drawer(show: Show, shown: TraceExplorer) -> None:
    page = show(shown)
    seen = page.locator(".tbviz :is(button, input, select):visible:not(.tbviz-drawer *)")
    before = seen.count()
    chart(page).press("ArrowRight")
    expect(page.get_by_role("button", name="Zoom to it")).to_be_visible()
    assert seen.count() == before <= 8
