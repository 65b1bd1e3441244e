"""TileExplorer on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from torchbook.viz import TileExplorer

from ..conftest import Show
from ..pressing import copied, press, tab_into, words


def press_tile(page: Page, row: int, column: int, of: int) -> None:
    """Press a tile of C, or of the scores, of which there are `of` in a row and in a column."""
    box = page.locator(".ti-field").bounding_box()
    assert box
    page.mouse.click(box["x"] + (column + 0.5) / of * box["width"], box["y"] + (row + 0.4) / of * box["height"])


def test_steps_by_buttons(show: Show) -> None:
    page = show(TileExplorer())
    expect(page.get_by_role("button", name="One step back")).to_have_attribute("aria-disabled", "true")
    press(page, "One step on")
    expect(words(page)).to_have_text(TileExplorer(step=1).words)
    press(page, "Next program")
    expect(words(page)).to_have_text(TileExplorer(step=2).words)
    press(page, "One step on")
    press(page, "Program before")
    expect(words(page)).to_have_text(TileExplorer(step=0).words)
    for _ in range(4):
        press(page, "Next program")
    expect(words(page)).to_have_text(TileExplorer(step=7).words)
    expect(page.get_by_role("button", name="One step on")).to_have_attribute("aria-disabled", "true")


def test_steps_by_keyboard(show: Show) -> None:
    page = show(TileExplorer(preset="causal"))
    page.get_by_label("step", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(words(page)).to_have_text(TileExplorer(preset="causal", step=5).words)
    page.keyboard.press("Home")
    expect(words(page)).to_have_text(TileExplorer(preset="causal", step=0).words)
    page.keyboard.press("End")
    expect(words(page)).to_have_text(TileExplorer(preset="causal", step=9).words)


def test_playing_walks_to_the_end(show: Show) -> None:
    page = show(TileExplorer(k=4, step=2), motion=True)
    press(page, "Play")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(words(page)).to_have_text(TileExplorer(k=4, step=3).words)


def test_a_click_goes_to_a_tile(show: Show) -> None:
    page = show(TileExplorer(preset="matmul"))
    press_tile(page, 1, 0, of=2)
    expect(words(page)).to_have_text(TileExplorer(step=4).words)
    other = show(TileExplorer(preset="causal"))
    press_tile(other, 3, 1, of=4)
    expect(words(other)).to_have_text(TileExplorer(preset="causal", step=7).words)
    press_tile(other, 7, 2, of=8)  # in that tile, the second query
    expect(words(other)).to_have_text(TileExplorer(preset="causal", step=7, row=1).words)


def test_a_skipped_tile_says_why_and_changes_nothing(show: Show) -> None:
    page = show(TileExplorer(preset="causal"))
    press_tile(page, 0, 2, of=4)
    expect(page.locator(".ti-head")).to_have_text("This tile is skipped: all of its keys are later than its queries.")
    expect(words(page)).to_have_text(TileExplorer(preset="causal").words)


def test_a_finger_takes_the_nearest_of_many_tiles(show: Show) -> None:
    page = show(TileExplorer(preset="grouped"), width=390, has_touch=True)
    box = page.locator(".ti-field").bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + 4.5 / 9 * box["width"], box["y"] + 0.5 / 9 * box["height"])
    # the rows of tiles go in groups of three: tile (0, 4) is program 12, and each program takes 9 steps
    expect(words(page)).to_have_text(TileExplorer(preset="grouped", step=108).words)


@pytest.mark.parametrize("motion", [True, False])
def test_loaded_tiles_fly_to_the_chip(show: Show, motion: bool) -> None:
    page = show(TileExplorer(), motion=motion)
    press(page, "One step on")
    expect(words(page)).to_have_text(TileExplorer(step=1).words)
    page.evaluate("() => { window.moved = 0; Element.prototype.animate = () => { window.moved += 1; }; }")
    press(page, "One step on")
    expect(words(page)).to_have_text(TileExplorer(step=2).words)
    assert page.evaluate("moved") == (2 if motion else 0)
    press(page, "One step back")
    expect(words(page)).to_have_text(TileExplorer(step=1).words)
    assert page.evaluate("moved") == (2 if motion else 0)


def test_sizes_start_again(show: Show) -> None:
    page = show(TileExplorer(step=5))
    page.get_by_label("M, rows of A").fill("10")
    expect(words(page)).to_have_text(TileExplorer(m=10).words)
    for typed in ("99", "", "2.5", "x"):
        page.get_by_label("M, rows of A").fill(typed)
        expect(page.get_by_role("alert").filter(has_text="whole")).to_have_text("a whole number from 1 to 24")
    expect(words(page)).to_have_text(TileExplorer(m=10).words)
    page.get_by_label("M, rows of A").blur()
    expect(page.get_by_label("M, rows of A")).to_have_value("10")
    page.get_by_label("order of programs").select_option("grouped")
    expect(words(page)).to_have_text(TileExplorer(m=10, order="grouped").words)
    page.get_by_label("GROUP_M").fill("2")
    page.get_by_label("cache, tiles").fill("6")
    expect(words(page)).to_have_text(TileExplorer(m=10, order="grouped", group=2, cache=6).words)


def test_numbers_of_the_step_are_shown(show: Show) -> None:
    widget = TileExplorer(step=1)
    page = show(widget)
    tables = page.locator(".ti-product table")
    expect(tables).to_have_count(3)
    shown = [float(text.replace("−", "-")) for text in tables.nth(2).locator("td").all_inner_texts()]
    assert shown == pytest.approx([x for row in widget.state.accumulator for x in row], abs=1e-4)  # type: ignore[union-attr]


def test_a_row_of_attention_is_written_out(show: Show) -> None:
    page = show(TileExplorer(preset="attention"))
    page.get_by_label("row written out").select_option("2")
    widget = TileExplorer(preset="attention", row=2)
    expect(words(page)).to_have_text(widget.words)
    row = widget.state.rows[2]  # type: ignore[union-attr]
    line = page.locator(".ti-lines tr", has=page.get_by_role("rowheader", name="l", exact=True))
    expect(line.locator(".ti-value")).to_have_text(f"= {row.total:.4f}")
    expect(page.get_by_role("button", name="Causal mask")).to_have_attribute("aria-pressed", "false")
    press(page, "Causal mask")
    expect(words(page)).to_contain_text("tiles skipped")


def test_copied_code_runs(show: Show) -> None:
    page = show(TileExplorer(preset="causal"), permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    exec(compile(copied(page), "copied", "exec"), {})


def test_presets_by_keyboard(show: Show) -> None:
    page = show(TileExplorer())
    tab_into(page, "Presets")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(TileExplorer(preset="no-reuse").words)
