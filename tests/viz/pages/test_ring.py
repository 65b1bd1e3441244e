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
