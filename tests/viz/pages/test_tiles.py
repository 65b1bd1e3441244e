"""TileExplorer on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from torchbook.viz import TileExplorer

from ..conftest import Show
from ..pressing import copied, press, tab_into, words


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
    page.locator("[data-at='1,0']").click()
    expect(words(page)).to_have_text(TileExplorer(step=4).words)
    other = show(TileExplorer(preset="causal"))
    other.locator("[data-at='3,1']").click()
    expect(words(other)).to_have_text(TileExplorer(preset="causal", step=7).words)


def test_sizes_start_again(show: Show) -> None:
    page = show(TileExplorer(step=5))
    page.get_by_label("M, rows of A").fill("10")
    expect(words(page)).to_have_text(TileExplorer(m=10).words)
    page.get_by_label("M, rows of A").fill("99")
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
