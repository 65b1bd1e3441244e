"""TileExplorer on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.axe import violations
from torchbook.viz import TileExplorer
from torchbook.viz.tiles import setup

from .conftest import Show, mounted, overflow

PRESETS = sorted(setup()["presets"])


def words(page: Page) -> Locator:
    return page.locator(".tbviz-words")


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def copied(page: Page) -> str:
    expect(page.locator(".tbviz-status").filter(has_text="Copied")).to_be_visible()
    return str(page.evaluate("navigator.clipboard.readText()"))


@pytest.mark.parametrize("preset", PRESETS)
def test_page_says_what_python_says(show: Show, preset: str) -> None:
    widget = TileExplorer(preset=preset)
    page = show(TileExplorer(m=5), hash=f"#tbviz-tiles-1:{preset}")
    expect(words(page)).to_have_text(widget.words)
    pressed = page.get_by_role("toolbar", name="Presets").get_by_role("button", pressed=True)
    expect(pressed).to_have_text([setup()["presets"][preset]["label"]])


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
    one = widget.state.rows[2]  # type: ignore[union-attr]
    line = page.locator(".ti-lines tr", has=page.get_by_role("rowheader", name="l", exact=True))
    expect(line.locator(".ti-value")).to_have_text(f"= {one.total:.4f}")
    expect(page.get_by_role("button", name="Causal mask")).to_have_attribute("aria-pressed", "false")
    press(page, "Causal mask")
    expect(words(page)).to_contain_text("tiles skipped")


def test_copied_code_runs(show: Show) -> None:
    page = show(TileExplorer(preset="causal"), permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    exec(compile(copied(page), "copied", "exec"), {})


def test_any_state_by_link(show: Show) -> None:
    widget = TileExplorer(m=9, n=5, k=7, block_k=3, step=6, seed=4, link="mine")
    page = show(widget, permissions=["clipboard-read"])
    press(page, "Copy link")
    other = show(TileExplorer(link="mine"), hash="#" + copied(page).split("#")[1])
    expect(words(other)).to_have_text(widget.words)


@pytest.mark.parametrize("rest", [":nothing", "=e30x", "=%", "=eyJtIjowfQ", "=eyJzdGVwIjo5OX0"])
def test_a_broken_link_changes_nothing(show: Show, rest: str) -> None:
    widget = TileExplorer(m=5)
    expect(words(show(widget, hash=f"#tbviz-tiles-1{rest}"))).to_have_text(widget.words)


def test_presets_by_keyboard(show: Show) -> None:
    page = show(TileExplorer())
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(TileExplorer(preset="no-reuse").words)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 800])
@pytest.mark.parametrize("preset", ["grouped", "ragged", "causal", "large"])
def test_accessible_and_inside_the_page(show: Show, preset: str, theme: str, width: int) -> None:
    page = show(TileExplorer(preset=preset), theme=theme, width=width)
    assert violations(page) == []
    assert overflow(page) == 0
    small = page.evaluate("""() => [...document.querySelectorAll('.tbviz :is(button, input, select, [tabindex])')]
        .map((e) => [e.getBoundingClientRect(), e.outerHTML.slice(0, 80)])
        .filter(([box]) => box.width && (box.width < 24 || box.height < 24)).map(([, html]) => html)""")
    assert small == []


@pytest.mark.parametrize("preset", ["ragged", "causal"])
def test_without_scripts_picture_and_words_are_there(show: Show, preset: str) -> None:
    widget = TileExplorer(preset=preset)
    page = show(widget, java_script_enabled=False, ready=False, width=360)
    expect(page.get_by_role("img", name=widget.words)).to_be_visible()
    expect(page.locator(".viz-words")).to_have_text(widget.words)
    assert overflow(page) == 0


def test_two_views_show_one_state(show: Show) -> None:
    widget = TileExplorer()
    page = show(mounted(widget, model="m1"), mounted(widget, model="m1"))
    page.locator(".tbviz").nth(1).wait_for()
    page.get_by_role("button", name="One step on").nth(0).click()
    expect(words(page).nth(1)).to_have_text(TileExplorer(step=1).words)
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
