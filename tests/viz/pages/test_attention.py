"""AttentionExplorer on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

from playwright.sync_api import expect

from torchbook.viz.attention import find, setup

from ..conftest import Show
from ..models.test_attention import TEXT, attention_explorer
from ..pressing import copied, press, tab_into, words

PRESETS = sorted(setup()["presets"])


def test_presets_by_link_and_keyboard(show: Show) -> None:
    page = show(attention_explorer(), hash="#tbviz-attention-1:broad")

    def is_at(name: str) -> None:
        layer, head = divmod(find(attention_explorer().rows, name), 4)
        expect(words(page)).to_have_text(attention_explorer(layer=layer, head=head).words)
        expect(page.locator(".at-note")).to_contain_text(setup()["presets"][name]["note"])
        expect(page.locator(".at-head[aria-pressed=true]")).to_have_text(f"{layer}.{head}")

    is_at("broad")
    tab_into(page, "Presets")
    page.keyboard.press("Enter")
    for name in list(setup()["presets"])[1:]:
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        is_at(name)


def test_heads_and_queries_by_arrow_keys(show: Show) -> None:
    page = show(attention_explorer(query=5))
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
    expect(words(page)).to_have_text(attention_explorer(layer=2, head=3, query=5).words)
    page.locator(".at-token").nth(7).click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".at-token[aria-pressed=true]")).to_be_focused()
    expect(words(page)).to_have_text(attention_explorer(layer=2, head=3, query=9).words)


def test_row_and_table_hold_the_numbers(show: Show) -> None:
    widget = attention_explorer(layer=1, head=2, query=9)
    page = show(widget)
    row = widget.rows[6][9]
    shown = page.locator(".at-token small").all_inner_texts()
    for i, (x, text) in enumerate(zip(row, shown, strict=True)):
        assert text == ("–" if i > 9 else f"{x / 255:.2f}" if x else "0")
    cells = page.locator(".at-table tr.on td").all_inner_texts()
    of = widget.numbers[1][2]
    assert cells == [f"{x:.2f}" for x in (of.entropy, of.previous, of.first, of.itself)]
    other = show(attention_explorer(causal=False, query=3))
    expect(other.get_by_text("masked: later than the query")).to_have_count(0)
    assert "–" not in other.locator(".at-token small").all_inner_texts()


def test_a_click_on_the_map_chooses_a_query(show: Show) -> None:
    page = show(attention_explorer())
    box = page.locator(".at-svg").bounding_box()
    assert box
    down = (20 + 6.5 * 300 / len(TEXT)) / 324  # of the map's height, above which its axis is named
    page.locator(".at-svg").click(position={"x": box["width"] / 2, "y": box["height"] * down})
    expect(words(page)).to_have_text(attention_explorer(query=6).words)


def test_copied_code_holds_the_state(show: Show) -> None:
    page = show(attention_explorer(layer=2, head=1, query=4), permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    code = copied(page)
    assert "LAYER, HEAD, QUERY = 2, 1, 4" in code
    compile(code, "copied", "exec")
