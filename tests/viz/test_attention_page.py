"""AttentionExplorer on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from tests.axe import violations
from torchbook.viz import AttentionExplorer
from torchbook.viz.attention import find, setup

from .conftest import Show, mounted, overflow

PRESETS = sorted(setup()["presets"])
TEXT = "To be or\nnot to be, that"


def made(layers: int = 3, heads: int = 4, causal: bool = True, **more: object) -> AttentionExplorer:
    size = len(TEXT)
    scores = 2 * torch.randn(layers, heads, size, size, generator=torch.Generator().manual_seed(3))
    if causal:
        scores.masked_fill_(~torch.ones(size, size).tril().bool(), -torch.inf)
    return AttentionExplorer(list(TEXT), scores.softmax(-1), **more)


def words(page: Page) -> Locator:
    return page.locator(".tbviz-words")


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_presets_by_link_and_keyboard(show: Show) -> None:
    page = show(made(), hash="#tbviz-attention-1:broad")

    def is_at(name: str) -> None:
        layer, head = divmod(find(made().rows, name), 4)
        expect(words(page)).to_have_text(made(layer=layer, head=head).words)
        expect(page.locator(".at-note")).to_contain_text(setup()["presets"][name]["note"])
        expect(page.locator(".at-head[aria-pressed=true]")).to_have_text(f"{layer}.{head}")

    is_at("broad")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for name in list(setup()["presets"])[1:]:
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        is_at(name)


def test_heads_and_queries_by_arrow_keys(show: Show) -> None:
    page = show(made(query=5))
    page.locator(".at-head").first.click()
    for key, layer, head in (
        ("ArrowDown", 1, 0),
        ("ArrowRight", 1, 1),
        ("ArrowUp", 0, 1),
        ("ArrowUp", 0, 1),
        ("End", 2, 3),
    ):
        page.keyboard.press(key)
        expect(page.locator(".at-head[aria-pressed=true]")).to_have_text(f"{layer}.{head}")
    expect(page.locator(".at-head[aria-pressed=true]")).to_be_focused()
    expect(words(page)).to_have_text(made(layer=2, head=3, query=5).words)
    page.locator(".at-token").nth(7).click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".at-token[aria-pressed=true]")).to_be_focused()
    expect(words(page)).to_have_text(made(layer=2, head=3, query=9).words)


def test_row_and_table_hold_the_numbers(show: Show) -> None:
    widget = made(layer=1, head=2, query=9)
    page = show(widget)
    row = widget.rows[6][9]
    shown = page.locator(".at-token small").all_inner_texts()
    for i, (x, text) in enumerate(zip(row, shown, strict=True)):
        assert text == ("–" if i > 9 else f"{x / 255:.2f}" if x else "0")
    cells = page.locator(".at-table tr.on td").all_inner_texts()
    of = widget.numbers[1][2]
    assert cells == [f"{x:.2f}" for x in (of.entropy, of.previous, of.first, of.itself)]
    other = show(made(causal=False, query=3))
    expect(other.get_by_text("masked: later than the query")).to_have_count(0)
    assert "–" not in other.locator(".at-token small").all_inner_texts()


def test_a_click_on_the_map_chooses_a_query(show: Show) -> None:
    page = show(made())
    box = page.locator(".at-svg").bounding_box()
    assert box
    down = (20 + 6.5 * 300 / len(TEXT)) / 324  # of the map's height, above which its axis is named
    page.locator(".at-svg").click(position={"x": box["width"] / 2, "y": box["height"] * down})
    expect(words(page)).to_have_text(made(query=6).words)


def test_code_and_link_hold_the_state(show: Show) -> None:
    widget = made(layer=2, head=1, query=4, link="mine")
    page = show(widget, permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    page.wait_for_function(
        "navigator.clipboard.readText().then((text) => text.includes('LAYER, HEAD, QUERY = 2, 1, 4'))"
    )
    compile(str(page.evaluate("navigator.clipboard.readText()")), "copied", "exec")
    press(page, "Copy link")
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.includes('#tbviz'))")
    address = str(page.evaluate("navigator.clipboard.readText()"))
    other = show(made(link="mine"), hash="#" + address.split("#")[1])
    expect(words(other)).to_have_text(widget.words)
    expect(words(show(made(), hash="#tbviz-attention-1=eyJsYXllciI6OX0"))).to_have_text(made().words)  # layer 9


@pytest.mark.parametrize(("theme", "width", "heads"), [("light", 800, 4), ("dark", 360, 12)])
def test_accessible_and_inside_the_page(show: Show, theme: str, width: int, heads: int) -> None:
    page = show(made(heads=heads, query=4), theme=theme, width=width)
    assert violations(page) == []
    assert overflow(page) == 0
    small = page.evaluate("""() => [...document.querySelectorAll('.tbviz :is(button, input, select)')]
        .map((e) => [e.getBoundingClientRect(), e.outerHTML.slice(0, 80)])
        .filter(([box]) => box.width && (box.width < 24 || box.height < 24)).map(([, html]) => html)""")
    assert small == []


def test_without_scripts_picture_and_words_are_there(show: Show) -> None:
    widget = made(layer=1)
    page = show(widget, java_script_enabled=False, ready=False, width=360)
    expect(page.get_by_role("img", name=widget.words)).to_be_visible()
    expect(page.locator(".viz-words")).to_have_text(widget.words)
    assert overflow(page) == 0


def test_two_views_show_one_state(show: Show) -> None:
    widget = made()
    page = show(mounted(widget, model="m1"), mounted(widget, model="m1"))
    page.locator(".tbviz").nth(1).wait_for()
    page.locator(".at-token").nth(2).click()
    expect(words(page).nth(1)).to_have_text(made(query=2).words)
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
