"""RingAllReduce on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from torchbook.viz import RingAllReduce

from ..conftest import Show
from ..pressing import copied, press, tab_into, words


def test_steps_by_buttons(show: Show) -> None:
    page = show(RingAllReduce())
    expect(page.get_by_role("button", name="One step back")).to_have_attribute("aria-disabled", "true")
    press(page, "One step on")
    expect(words(page)).to_have_text(RingAllReduce(step=1).words)
    press(page, "Next phase")
    expect(words(page)).to_have_text(RingAllReduce(step=3).words)
    press(page, "One step on")
    press(page, "Phase before")
    expect(words(page)).to_have_text(RingAllReduce(step=3).words)
    press(page, "Next phase")
    expect(words(page)).to_have_text(RingAllReduce(step=6).words)
    expect(page.get_by_role("button", name="One step on")).to_have_attribute("aria-disabled", "true")


def test_steps_by_keyboard(show: Show) -> None:
    page = show(RingAllReduce(preset="uneven"))
    page.get_by_label("step", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(words(page)).to_have_text(RingAllReduce(preset="uneven", step=2).words)
    page.keyboard.press("End")
    expect(words(page)).to_have_text(RingAllReduce(preset="uneven", step=6).words)
    page.keyboard.press("Home")
    expect(words(page)).to_have_text(RingAllReduce(preset="uneven").words)


def test_presets_by_keyboard(show: Show) -> None:
    page = show(RingAllReduce())
    tab_into(page, "Presets")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(RingAllReduce(preset="two").words)


@pytest.mark.parametrize("motion", [True, False])
def test_playing_walks_to_the_end(show: Show, motion: bool) -> None:
    page = show(RingAllReduce(ranks=2), motion=motion)
    press(page, "Play")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(words(page)).to_have_text(RingAllReduce(ranks=2, step=2).words)


def test_chunks_fill_as_sums_come_in(show: Show) -> None:
    widget = RingAllReduce(ranks=3, elements=6, step=2)
    page = show(widget)
    slices = page.locator(".ri-slice")
    held = [len(parts) for rank in widget.steps[2].parts for parts in rank]
    expect(slices).to_have_count(9)
    scales = slices.evaluate_all("(all) => all.map((one) => Number(/scale\\((.*)\\)/.exec(one.style.transform)[1]))")
    assert scales == [pytest.approx((count / 3) ** 0.5, abs=1e-3) for count in held]
    expect(page.locator(".ri-slice.all")).to_have_count(held.count(3))
    expect(page.locator(".ri-big")).to_have_text("67 %")
    page.get_by_label("step", exact=True).press("End")
    expect(page.locator(".ri-slice.all")).to_have_count(9)
    expect(page.locator(".ri-parcel")).to_have_count(0)


@pytest.mark.parametrize("touch", [False, True])
def test_a_chunk_is_dragged_to_the_next_rank(show: Show, touch: bool) -> None:
    page = show(RingAllReduce(), width=390 if touch else 800, has_touch=touch)
    hand = page.locator(".ri-parcel .tbviz-reach")
    boxes = [box for box in (one.bounding_box() for one in hand.all()) if box]
    assert min(min(box["width"], box["height"]) for box in boxes) > 43.99
    ring = page.locator(".ri-svg").bounding_box()
    assert ring
    x, y = ring["x"] + ring["width"] / 2, ring["y"] + ring["height"] / 2
    start = (boxes[0]["x"] + 22, boxes[0]["y"] + 22)  # of rank 0, at the top; rank 1 is at the right, rank 2 below
    way = [start, (x + ring["width"] / 4, y - ring["height"] / 4), (ring["x"] + ring["width"] - 40, y), (x, y + 120)]
    if touch:
        finger = page.context.new_cdp_session(page)
        for kind, places in (("touchStart", way[:1]), *(("touchMove", [place]) for place in way[1:]), ("touchEnd", [])):
            points = [{"x": a, "y": b} for a, b in places]
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    else:
        page.mouse.move(*start)
        page.mouse.down()
        for place in way[1:]:
            page.mouse.move(*place, steps=3)
        page.mouse.up()
    expect(words(page)).to_have_text(RingAllReduce(step=2).words)


def test_a_chunk_that_is_pressed_goes_on(show: Show) -> None:
    page = show(RingAllReduce())
    page.locator(".ri-parcel").first.click()
    expect(words(page)).to_have_text(RingAllReduce(step=1).words)


def test_table_shows_every_chunk_and_whose_numbers_it_holds(show: Show) -> None:
    widget = RingAllReduce(preset="few", step=5)
    page = show(widget)
    state = widget.steps[5]
    for rank, row in enumerate(page.locator(".ri-grid tbody tr").all()):
        cells = row.locator("td")
        expect(cells).to_have_count(5)
        shown = " ".join(cells.locator(".ri-nums").all_inner_texts()).replace("–", "").split()
        assert [int(x) for x in shown] == list(state.vectors[rank])
        for chunk, held in enumerate(state.parts[rank]):
            expect(cells.nth(chunk)).to_have_attribute("title", f"ranks {', '.join(str(x) for x in held)}")
            got = any((message.target, message.chunk) == (rank, chunk) for message in state.messages)
            assert ("got" in (cells.nth(chunk).get_attribute("class") or "").split()) == got
    assert page.locator(".ri-parcel").count() == 5


def test_formula_stands_beside_what_is_counted(show: Show) -> None:
    page = show(RingAllReduce(preset="uneven", step=6))
    expect(page.locator(".ri-formula").nth(0)).to_have_text("counted: 60 ÷ 4 links ÷ 10 elements = 1.5")
    expect(page.locator(".ri-formula").nth(1)).to_have_text("formula: 2(K−1)/K = 2·3/4 = 1.5")
    expect(page.locator(".ri-links b").nth(0)).to_have_text("15 of 15")


def test_sliders_change_ranks_and_times(show: Show) -> None:
    page = show(RingAllReduce(step=4))
    page.get_by_label("ranks, K").fill("6")
    expect(words(page)).to_have_text(RingAllReduce(ranks=6).words)
    slider = page.get_by_label("latency, α")
    expect(slider).to_have_attribute("aria-valuetext", "10.0 µs")
    slider.fill("0")
    expect(words(page)).to_have_text(RingAllReduce(ranks=6, latency_us=0.0).words)
    seen = set()
    slider = page.get_by_label("they stand for, N")
    for _ in range(4):
        slider.press("ArrowRight")
        seen.add(slider.get_attribute("aria-valuetext"))
    assert len(seen) == 4
    press(page, "Other numbers")
    expect(page.locator(".ri-grid tbody tr")).to_have_count(6)


def test_given_vectors_stay_until_the_ring_changes(show: Show) -> None:
    widget = RingAllReduce(values=[[1, 2, 3], [10, 20, 30], [100, 200, 300]], step=4)
    page = show(widget)
    expect(words(page)).to_have_text(widget.words)
    expect(words(page)).to_contain_text("All ranks hold the sum 111 222 333.")
    page.get_by_label("ranks, K").fill("2")
    expect(words(page)).to_have_text(RingAllReduce(ranks=2, elements=3).words)


def test_copied_code_is_a_ring(show: Show) -> None:
    page = show(RingAllReduce(), permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    code = copied(page)
    assert "dist.isend" in code
    compile(code, "copied", "exec")


def test_goal_and_chunks_are_explained(show: Show) -> None:
    page = show(RingAllReduce(step=2))
    expect(page.locator(".ri-goal")).to_contain_text("A disc is a rank (a process); its chunks count the ranks added")
    expect(page.locator(".ri-big")).to_have_text("50 %")
    expect(page.locator(".ri-mid")).to_have_text(["", "each rank sent", "2 × 1/4 of its data;", "150 % at the end"])
    expect(page.locator(".tbviz")).not_to_contain_text("slice")
    press(page, "Next phase")
    press(page, "Next phase")
    expect(page.locator(".ri-big")).to_have_text("150 %")
    expect(page.locator(".ri-mid")).to_have_text(["", "each rank sent", "6 × 1/4 of its data", ""])


# Of the words in the ring those that lie on a disc, a chunk on its way or other words.
TOUCHING = """() => {
  const boxes = (selector) => [...document.querySelectorAll(selector)].map((one) => [one, one.getBoundingClientRect()]);
  const texts = boxes(".ri-svg :is(.ri-mid, .ri-big)").filter(([one]) => one.textContent);
  const round = boxes(".ri-node").map(([, box]) => [box.left + box.width / 2, box.top + box.height / 2, box.width / 2]);
  const onDisc = ({ left, right, top, bottom }) => round.some(([x, y, r]) =>
    Math.hypot(x - Math.min(Math.max(x, left), right), y - Math.min(Math.max(y, top), bottom)) < r + 3);
  const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 2 || b.bottom <= a.top + 2;
  return texts
    .filter(([one, box]) => onDisc(box) || texts.some(([other, theirs]) => other !== one && !apart(box, theirs)))
    .map(([one]) => one.textContent);
}"""


@pytest.mark.parametrize("width", [360, 390, 800])
@pytest.mark.parametrize("preset", ["four", "two", "sixteen", "uneven", "few", "slow"])
def test_words_in_the_ring_touch_nothing(show: Show, preset: str, width: int) -> None:
    page = show(RingAllReduce(preset=preset, step=1), width=width)
    assert page.evaluate(TOUCHING) == []
