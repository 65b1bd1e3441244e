"""PipelineSchedule on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from torchbook.viz import PipelineSchedule
from torchbook.viz.schedule import bubble, doing, drawn, held, moments, percent, rival, span

from ..conftest import Show, overflow
from ..pressing import copied, press, tab_into, words


def test_moments_by_buttons(show: Show) -> None:
    page = show(PipelineSchedule())
    expect(page.get_by_role("button", name="One moment back")).to_have_attribute("aria-disabled", "true")
    press(page, "One moment on")
    expect(words(page)).to_have_text(PipelineSchedule(cursor=1).words)
    page.get_by_label("moment", exact=True).press("End")
    expect(words(page)).to_have_text(PipelineSchedule(cursor=30).words)
    expect(page.get_by_role("button", name="One moment on")).to_have_attribute("aria-disabled", "true")
    page.get_by_label("moment", exact=True).press("Home")
    expect(words(page)).to_have_text(PipelineSchedule().words)


def test_moments_by_keyboard(show: Show) -> None:
    page = show(PipelineSchedule(preset="interleaved"))
    page.get_by_label("moment", exact=True).focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(words(page)).to_have_text(PipelineSchedule(preset="interleaved", cursor=3).words)
    page.keyboard.press("End")
    last = len(moments(PipelineSchedule(preset="interleaved").ops)) - 1
    expect(words(page)).to_have_text(PipelineSchedule(preset="interleaved", cursor=last).words)


def test_presets_and_kinds_by_keyboard(show: Show) -> None:
    page = show(PipelineSchedule())
    tab_into(page, "Presets")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(PipelineSchedule(preset="gpipe").words)
    tab_into(page, "Schedule")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(PipelineSchedule(kind="interleaved").words)


@pytest.mark.parametrize("motion", [True, False])
def test_playing_walks_to_the_end(show: Show, motion: bool) -> None:
    page = show(PipelineSchedule(cursor=28), motion=motion)
    press(page, "Play")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(words(page)).to_have_text(PipelineSchedule(cursor=30).words)


def test_a_click_on_the_lanes_goes_to_that_moment(show: Show) -> None:
    page = show(PipelineSchedule(whole=True))
    ops = PipelineSchedule().ops
    expect(page.locator("svg[role=img] rect[data-op]")).to_have_count(len(ops))
    op = next(
        i
        for i, candidate in enumerate(ops)
        if candidate.kind == "B" and candidate.rank == 0 and candidate.microbatch == 3
    )
    box = page.locator("rect[data-op='B3.0']").bounding_box()
    assert box
    page.mouse.click(box["x"] + 4, box["y"] + 3)
    at = moments(ops).index(ops[op].start)
    expect(words(page)).to_have_text(PipelineSchedule(cursor=at).words)


def test_boxes_move_from_one_schedule_to_the_other(show: Show) -> None:
    page = show(PipelineSchedule(), motion=True)
    box = page.locator("rect[data-op='B0.0']")
    before = box.evaluate("box => (window.box = box).getBoundingClientRect().left")
    press(page, "GPipe")
    between = page.evaluate("new Promise((done) => setTimeout(() => done(box.getBoundingClientRect().left), 120))")
    page.wait_for_timeout(600)
    after = page.evaluate("box.getBoundingClientRect().left")
    assert before < between < after
    assert page.evaluate("box.isConnected && box.dataset.op") == "B0.0"


def test_the_bubble_is_drawn_as_long_as_it_is(show: Show) -> None:
    for preset in ("gpipe", "1f1b", "interleaved", "sending"):
        widget = PipelineSchedule(preset=preset)
        page = show(widget)
        boxes = "boxes => boxes.reduce((sum, box) => sum + Number(box.getAttribute('width')), 0)"
        idle = page.locator(".sd-scroll .sd-bubble").evaluate_all(boxes)
        busy = page.locator("rect[data-op]").evaluate_all(boxes) + page.locator("rect[data-op]").count()
        assert idle / (idle + busy) == pytest.approx(bubble(widget.ops), abs=0.01)
        expect(page.locator(".sd-share")).to_have_text(percent(bubble(widget.ops)))


def test_lanes_are_to_scale_and_lettered(show: Show) -> None:
    widget = PipelineSchedule(preset="interleaved", backward=3.0, whole=False)
    page = show(widget, width=1000)
    forward, backward = (
        float(page.locator(f".sd-scroll rect.sd-{kind}").first.get_attribute("width") or 0) for kind in "fb"
    )
    assert (backward + 1) / (forward + 1) == pytest.approx(3, rel=0.02)
    texts = page.locator(".sd-scroll text").all_text_contents()
    assert {"0a", "7b", "B0b", "B7a"} <= set(texts)


def test_table_says_what_ranks_do_and_hold(show: Show) -> None:
    widget = PipelineSchedule(preset="gpipe", cursor=8)
    page = show(widget)
    ops = widget.ops
    now = doing(ops, moments(ops)[8])
    rows = page.locator(".sd-table").first.locator("tbody tr")
    expect(rows).to_have_count(4)
    for rank, state in enumerate(now):
        cells = rows.nth(rank).locator("td")
        assert cells.nth(1).inner_text() == str(state.held)
        assert cells.nth(2).inner_text() == str(held(ops)[rank])
        assert ("waits" in cells.nth(0).inner_text()) == (state.op is None)
    assert page.locator("rect.sd-on").count() == sum(state.op is not None for state in now)
    assert page.locator(".sd-scroll rect.sd-idle").count() == sum(state.op is None for state in now)


def test_counts_stand_beside_the_formula(show: Show) -> None:
    page = show(PipelineSchedule())
    expect(page.locator(".sd-formula").nth(0)).to_have_text("waiting 9 of 33 per rank = 27.3 %")
    expect(page.locator(".sd-formula").nth(1)).to_have_text("(p−1)/(m+p−1) = 3/11 = 27.3 %")
    page.get_by_label("sending ÷ forward").fill("0.5")
    expect(words(page)).to_have_text(PipelineSchedule(hop=0.5).words)
    expect(words(page)).to_contain_text("while (p−1)/(m+p−1) = 3/11 says 27.3 %")


def test_what_pytorch_refuses_cannot_be_chosen(show: Show) -> None:
    page = show(PipelineSchedule(kind="gpipe", microbatches=3))
    row = page.locator(".sd-table").nth(1).locator("tr", has_text="1F1B").first
    expect(row).to_contain_text("PyTorch refuses this m")
    press(page, "1F1B")
    expect(words(page)).to_have_text(PipelineSchedule(kind="1f1b", microbatches=4).words)
    page.get_by_label("ranks, p").fill("6")
    expect(words(page)).to_have_text(PipelineSchedule(stages=6, microbatches=6).words)
    slider = page.get_by_label("micro-batches, m")
    slider.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "6")
    slider.press("ArrowRight")
    expect(words(page)).to_have_text(PipelineSchedule(stages=6, microbatches=7).words)
    expect(page.get_by_label("stages per rank, v")).to_be_disabled()


def test_copied_code_names_the_schedule(show: Show) -> None:
    page = show(PipelineSchedule(preset="interleaved"), permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    code = copied(page)
    assert "ScheduleInterleaved1F1B(stages, n_microbatches=M" in code
    compile(code, "copied", "exec")


def test_many_ranks_fit_into_the_width(show: Show) -> None:
    page = show(PipelineSchedule("interleaved", 16, 32, 4, cursor=200), width=360)
    page.wait_for_function(
        "(({clientWidth, scrollWidth}) => scrollWidth - clientWidth <= 1)(document.querySelector('.sd-scroll'))"
    )
    assert overflow(page) == 0


def test_the_moment_is_scrolled_into_view(show: Show) -> None:
    page = show(PipelineSchedule(preset="more", whole=False), width=360)
    page.get_by_label("moment", exact=True).press("End")
    page.wait_for_function("document.querySelector('.sd-scroll').scrollLeft > 300")
    page.get_by_label("moment", exact=True).press("Home")
    page.wait_for_function("document.querySelector('.sd-scroll').scrollLeft === 0")


def test_first_rank_first_micro_batch_and_what_runs_are_numbered(show: Show) -> None:
    widget = PipelineSchedule(cursor=12)
    page = show(widget, width=1000)
    numbered = "(all) => all.filter((one) => one.textContent).map((one) => one.dataset.op)"
    shown = set(page.locator(".sd-svg g[data-op]").evaluate_all(numbered))
    running = {one.op for one in doing(widget.ops, moments(widget.ops)[12]) if one.op}
    wanted = [op for op in widget.ops if op.rank == 0 or op.microbatch == 0 or op in running]
    assert shown == {f"{op.kind}{op.microbatch}.{op.stage}" for op in wanted}


def _right(page: Page, boxes: str) -> float:
    return float(page.locator(boxes).evaluate_all("all => Math.max(...all.map(b => b.getBoundingClientRect().right))"))


def test_both_schedules_stand_on_one_time_axis(show: Show) -> None:
    widget = PipelineSchedule()
    page = show(widget, width=1000)
    left = page.locator("rect[data-op='F0.0']").evaluate("box => box.getBoundingClientRect().left")
    below = drawn(rival(widget.setting))
    expect(page.locator("rect[data-other]")).to_have_count(len(below))
    above, beside = (_right(page, f"rect[data-{name}]") - left for name in ("op", "other"))
    assert beside / above == pytest.approx(span(below) / span(widget.ops), abs=0.003)
    bracket = page.locator(".sd-bracket").evaluate("path => path.getBBox().width")
    assert bracket / above == pytest.approx(4.5 / 33, abs=0.003)
    expect(page.locator(".sd-less text")).to_have_text("4.5 shorter")
    press(page, "GPipe")
    expect(page.locator(".sd-same text")).to_have_text("equally long")
    kept = page.locator("path.sd-kept").evaluate_all("all => all.map(path => path.getBBox().height)")
    assert kept[0] / kept[1] == pytest.approx(8 / 4, rel=0.01)


def test_sending_can_reverse_the_gain(show: Show) -> None:
    page = show(PipelineSchedule(virtual=4, hop=0.5))
    expect(page.locator(".sd-more text")).to_have_text("4 longer")


def test_what_pytorch_refuses_is_drawn_empty_below(show: Show) -> None:
    page = show(PipelineSchedule(preset="one"))
    expect(page.locator("rect[data-other]")).to_have_count(0)
    expect(page.locator(".sd-no")).to_have_text("PyTorch refuses: m must be at least 4")
    press(page, "GPipe, 8")
    expect(page.locator(".sd-no")).to_have_count(0)
    page.get_by_label("micro-batches, m").fill("8")
    press(page, "1F1B")
    page.get_by_label("micro-batches, m").fill("5")
    expect(page.locator(".sd-no")).to_have_text("PyTorch refuses: m must be a multiple of 2")


def test_a_block_lights_what_it_waits_for_and_who_waits_for_it(show: Show) -> None:
    page = show(PipelineSchedule(), width=1000)
    page.locator("rect[data-op='B3.1']").hover()
    lit = set(page.locator("rect.tbviz-lit").evaluate_all("all => all.map(box => box.dataset.op)"))
    assert lit == {"B3.1", "F3.1", "B3.2", "B3.0"}
    page.mouse.move(1, 1)
    expect(page.locator(".tbviz-lit")).to_have_count(0)


def test_blocks_are_gone_through_by_keyboard(show: Show) -> None:
    page = show(PipelineSchedule(), width=1000)
    blocks = page.get_by_role("slider", name="block")
    blocks.press("ArrowRight")
    expect(blocks).to_have_attribute("aria-valuetext", "forward 1 on rank 0 waits for nothing")
    blocks.press("ArrowRight")
    expect(blocks).to_have_attribute("aria-valuetext", "forward 0 on rank 1 waits for forward 0 on rank 0")
    lit = set(page.locator("rect.tbviz-lit").evaluate_all("all => all.map(box => box.dataset.op)"))
    assert lit == {"F0.1", "F0.0", "F0.2", "B0.1"}


def test_the_moment_is_dragged_through_both_and_snaps_when_it_is_left(show: Show) -> None:
    widget = PipelineSchedule()
    page = show(widget, width=1000)
    knob = page.locator(".sd-other .tbviz-body")
    places = "all => all.map(one => Number(/translateX\\(([-\\d.]+)/.exec(one.style.transform)[1]))"
    box = knob.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 100, y, steps=3)
    assert page.locator(".sd-now").evaluate_all(places) == pytest.approx([100, 100], abs=1)
    page.mouse.up()
    snapped = page.locator(".sd-now").evaluate_all(places)
    assert snapped[0] == snapped[1] < 100
    end = _right(page, "rect[data-op]") - page.locator("rect[data-op='F0.0']").evaluate(
        "b => b.getBoundingClientRect().left"
    )
    at = max(i for i, time in enumerate(moments(widget.ops)) if time * end / 33 <= 100)
    expect(words(page)).to_have_text(PipelineSchedule(cursor=at).words)


@pytest.mark.parametrize("width", [390, 800])
def test_length_kept_and_ranks_have_names(show: Show, width: int) -> None:
    page = show(PipelineSchedule(), width=width)
    names = {
        800: [
            "1F1B (one forward, one backward): each rank waits 9 of 33 forwards",
            "To compare: Interleaved, 2 stages a rank (a, b): waits 4.5 of 28.5",
        ],
        390: ["1F1B: waits 9 of 33", "2 stages a rank: 28.5"],
    }
    expect(page.locator(".sd-name")).to_have_text(names[width])
    lanes = page.locator(".sd-lane").all_text_contents()[:5]
    assert lanes[:4] == ["rank 0", "1", "2", "3"] if width == 800 else lanes == ["0", "1", "2", "3", "rank"]
    expect(page.locator(".sd")).to_contain_text("up to 4 micro-batches")


@pytest.mark.parametrize("width", [390, 430, 800])
def test_texts_stay_inside_their_boxes(show: Show, width: int) -> None:
    page = show(PipelineSchedule(cursor=12), width=width)
    out = page.evaluate("""() => [...document.querySelectorAll(".sd-svg g[data-op] text")]
      .filter((text) => text.textContent).map((text) => [text, document.querySelector(
        `rect[data-op="${text.parentElement.dataset.op}"]`)]).map(([text, box]) =>
        [text.textContent, text.getBoundingClientRect(), box.getBoundingClientRect()])
      .filter(([, text, box]) => text.left < box.left || text.right > box.right).map(([text]) => text)""")
    assert out == []


@pytest.mark.parametrize("width", [360, 390, 430, 800])
def test_the_name_of_the_lower_schedule_keeps_off_the_difference(show: Show, width: int) -> None:
    page = show(PipelineSchedule(), width=width)
    name = page.locator(".sd-name").last.bounding_box()
    gained = page.locator(".sd-less text").bounding_box()
    assert name
    assert gained
    assert name["x"] + name["width"] < gained["x"]
    expect(page.locator(".sd-name").last).to_contain_text("2 stages a rank")
    expect(page.locator(".sd-head")).to_contain_text("(lower schedule: 5.5)")


@pytest.mark.parametrize("width", [390, 736, 990])
def test_labels_of_a_lane_have_air_between_them(show: Show, width: int) -> None:
    page = show(PipelineSchedule(), width=width)
    close = page.evaluate("""() => [...document.querySelectorAll(".sd-lanes")].flatMap((svg) => {
      const boxes = [...svg.querySelectorAll("[data-part] text")].filter((text) => text.textContent)
        .map((text) => text.getBoundingClientRect()).sort((a, b) => a.top - b.top || a.left - b.left);
      return boxes.slice(1).map((box, i) => [box.top - boxes[i].top, box.left - boxes[i].right])
        .filter(([down, gap]) => !down && gap < 2);
    })""")
    assert close == []


def test_the_kind_that_is_shown_stays_pressed(show: Show) -> None:
    page = show(PipelineSchedule())
    kinds = page.get_by_role("toolbar", name="Schedule", exact=True)
    press(kinds, "1F1B")
    expect(kinds.get_by_role("button", pressed=True)).to_have_text(["1F1B"])
