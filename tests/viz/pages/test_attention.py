"""AttentionExplorer on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import re

import pytest
import torch
from playwright.sync_api import Page, Position, expect

from torchbook.viz import AttentionExplorer
from torchbook.viz.attention import fixed, setup
from torchbook.viz.units import two

from ..conftest import Show
from ..models.test_attention import OTHER, TEXT, at_home, attention_explorer
from ..pressing import copied, press, tab_into, words

PRESETS = list(setup()["presets"])


def expect_head(page: Page, layer: int, head: int) -> None:
    """One head is chosen, this one."""
    expect(page.locator(".at-head[aria-selected=true]")).to_have_count(1)
    label = re.compile(rf"^layer {layer}, head {head};")
    expect(page.locator(".at-head[aria-selected=true]")).to_have_attribute("aria-label", label)


def test_presets_by_link_and_keyboard(show: Show) -> None:
    page = show(attention_explorer(), hash="#tbviz-attention-1:broad")

    def is_at(name: str) -> None:
        at, query = at_home(attention_explorer().rows, name)
        layer, head = divmod(at, 4)
        expect(words(page)).to_have_text(attention_explorer(layer=layer, head=head, query=query).words)
        expect(page.locator(".at-note")).to_contain_text(setup()["presets"][name]["note"])
        expect_head(page, layer, head)

    is_at("broad")
    for toolbar, names in (("Presets", PRESETS[:3]), ("More presets", PRESETS[3:])):
        tab_into(page, toolbar)
        page.keyboard.press("Home")
        for name in names:
            page.keyboard.press("Enter")
            is_at(name)
            page.keyboard.press("ArrowRight")


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
        expect_head(page, layer, head)
    expect(page.get_by_role("listbox", name="Heads")).to_be_focused()
    expect(words(page)).to_have_text(attention_explorer(layer=2, head=3, query=5).words)
    page.locator(".at-token").nth(7).click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    strip = page.get_by_role("slider", name="Query")
    expect(strip).to_be_focused()
    expect(strip).to_have_attribute("aria-valuenow", "9")
    expect(strip).to_have_attribute("aria-valuetext", re.compile(r"^9 “.*”: 0\.\d\d to \d+ “"))
    expect(words(page)).to_have_text(attention_explorer(layer=2, head=3, query=9).words)
    for key, query in (("PageUp", 17), ("End", len(TEXT) - 1), ("ArrowRight", len(TEXT) - 1), ("Home", 0)):
        page.keyboard.press(key)
        expect(strip).to_have_attribute("aria-valuenow", str(query))


def test_row_and_table_hold_the_numbers(show: Show) -> None:
    widget = attention_explorer(layer=1, head=2, query=9)
    page = show(widget)
    row = widget.rows[6][9]
    shown = page.locator(".at-weights small").all_inner_texts()
    for i, (x, text) in enumerate(zip(row, shown, strict=True)):
        assert text == ("–" if i > 9 else f"{x / 255:.2f}" if x else "0")
    cells = page.locator(".at-table tr.on td").all_inner_texts()
    of = widget.numbers[1][2]
    assert cells == [f"{x:.2f}" for x in (of.entropy, of.previous, of.first, of.itself)]
    other = show(attention_explorer(causal=False, query=3))
    expect(page.get_by_text("masked: later than the query")).to_have_count(1)
    expect(other.get_by_text("masked: later than the query")).to_have_count(0)
    assert "–" not in other.locator(".at-weights small").all_inner_texts()


def test_an_arc_is_as_thick_as_its_weight(show: Show) -> None:
    widget = attention_explorer(layer=1, head=2, query=9)
    page = show(widget)
    drawn = page.locator(".at-arc").evaluate_all(
        "(all) => all.map((arc) => [arc.style.strokeWidth, arc.style.strokeOpacity])"
    )
    for weight, (thick, opacity) in zip(widget.rows[6][9], drawn, strict=True):
        assert float(thick.removesuffix("px")) == pytest.approx(max(0.4, 9 * weight / 255), abs=0.01)
        assert (float(opacity) > 0) == (weight > 0)


@pytest.mark.parametrize("motion", [True, False])
def test_arcs_move_to_another_query_unless_motion_is_unwanted(show: Show, motion: bool) -> None:
    page = show(attention_explorer(query=4), motion=motion)
    first = "() => document.querySelector('.at-drop').getAttribute('d')"
    page.evaluate("() => { window.seen = []; }")
    page.evaluate(
        """() => { const drop = document.querySelector('.at-drop');
        new MutationObserver(() => seen.push(drop.getAttribute('d'))).observe(drop, { attributes: true }); }"""
    )
    before = page.evaluate(first)
    page.get_by_role("slider", name="Query").press("End")
    page.wait_for_function("(before) => document.querySelector('.at-drop').getAttribute('d') !== before", arg=before)
    page.wait_for_timeout(600)
    places = len(set(page.evaluate("seen")))
    assert places > 3 if motion else places == 1


def test_a_finger_taps_the_nearest_token(show: Show) -> None:
    page = show(attention_explorer(query=1), width=390, has_touch=True)
    box = page.locator(".at-token").nth(12).bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] - 60)
    expect(words(page)).to_have_text(attention_explorer(query=12).words)


def in_map(page: Page, query: int, key: int) -> Position:
    """The place of a cell in the large map."""
    box = page.locator(".at-svg").bounding_box()
    assert box
    return {"x": box["width"] * (key + 0.5) / len(TEXT), "y": box["height"] * (query + 0.5) / len(TEXT)}


def test_a_click_on_the_map_chooses_a_cell(show: Show) -> None:
    page = show(attention_explorer())
    page.locator(".at-svg").click(position=in_map(page, 6, 3))
    expect(words(page)).to_have_text(attention_explorer(query=6, key=3).words)


def test_cells_by_arrow_keys(show: Show) -> None:
    page = show(attention_explorer(query=6, key=3))
    large = page.get_by_role("slider", name="Key")
    for key, query, found in (("ArrowRight", 6, 4), ("ArrowUp", 5, 4), ("End", 5, len(TEXT) - 1), ("Home", 5, 0)):
        large.press(key)
        expect(words(page)).to_have_text(attention_explorer(query=query, key=found).words)
        expect(large).to_have_attribute("aria-valuenow", str(found))


def test_the_pressed_weight_is_computed_below(show: Show) -> None:
    widget = attention_explorer(layer=1, head=2, query=9, key=4)
    page = show(widget)
    scores = widget.seen[0].scores
    assert scores
    numbers = [
        fixed(scores.product(6, 9, 4), 2),
        fixed(scores.scaled(6, 9, 4), 2),
        f"w = {two(widget.rows[6][9][4] / 255)}",
    ]
    expect(page.locator(".at-chain b")).to_have_text(numbers)
    expect(page.locator(".at-chain .at-title")).to_have_text(["q · k", "÷ √8", "softmax: weight w", "sum of w × v"])
    expect(page.locator(".at-bars i")).to_have_count(len(TEXT))
    expect(page.locator(".at-bars i.later")).to_have_count(len(TEXT) - 10)
    bars = page.locator(".at-bars").bounding_box()
    assert bars
    page.locator(".at-bars").click(position={"x": bars["width"] * 7.5 / len(TEXT), "y": 10})
    expect(words(page)).to_have_text(attention_explorer(layer=1, head=2, query=9, key=7).words)


def test_a_masked_weight_says_so(show: Show) -> None:
    page = show(attention_explorer(query=4, key=9))
    expect(page.locator(".at-scaled")).to_have_text("later: masked−∞")
    expect(page.locator(".at-softmax b")).to_have_text("w = 0.00")


def test_what_may_come_next_is_that_of_the_query(show: Show) -> None:
    page = show(attention_explorer(query=4))
    expect(page.locator(".at-guess")).to_have_text(["e", "b", "␣"])
    expect(page.locator(".at-chance")).to_have_text(["0.50", "0.25", "0.13"])


def test_a_reader_takes_another_text(show: Show) -> None:
    page = show(attention_explorer(query=20))
    page.get_by_label("text", exact=True).select_option("1")
    expect(words(page)).to_have_text(attention_explorer(text=1, query=len(OTHER) - 1).words)
    expect(page.locator(".at-token")).to_have_text([token.replace(" ", "␣") for token in OTHER])
    page.locator(".at-token").nth(3).click()
    expect(words(page)).to_have_text(attention_explorer(text=1, query=3).words)


def test_pointing_at_a_token_lights_its_row_and_its_column(show: Show) -> None:
    page = show(attention_explorer(query=20))
    page.locator(".at-token").nth(5).hover()
    lit = page.locator(".at-band.tbviz-lit")
    assert sorted(lit.evaluate_all("(all) => all.map((one) => one.dataset.part)")) == ["c5", "r5"]
    page.locator(".at-svg").hover(position=in_map(page, 7, 2))
    assert sorted(lit.evaluate_all("(all) => all.map((one) => one.dataset.part)")) == ["c2", "r7"]
    tokens = page.locator(".at-token.tbviz-lit").evaluate_all("(all) => all.map((one) => one.dataset.part)")
    assert tokens == ["t2", "t7"]


def test_weights_alone_have_no_computation_below(show: Show) -> None:
    page = show(AttentionExplorer(list("abc"), torch.eye(3)[None, None], query=1))
    expect(page.locator(".at-chain")).to_have_count(0)
    expect(page.locator(".at-next")).to_have_count(0)
    page.locator(".at-svg").click(position={"x": 3, "y": 3})
    expect(words(page)).to_contain_text("query 0 “a”")


def test_copied_code_holds_the_state(show: Show) -> None:
    page = show(attention_explorer(layer=2, head=1, query=4), permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    code = copied(page)
    assert "LAYER, HEAD, QUERY = 2, 1, 4" in code
    compile(code, "copied", "exec")


def test_a_weight_stands_once_and_strips_have_a_key(show: Show) -> None:
    page = show(attention_explorer(layer=1, head=2, query=9, key=4))
    weight = page.locator(".at-softmax b").inner_text().removeprefix("w = ")
    expect(page.locator(".at-told")).not_to_contain_text(weight)
    expect(page.locator(".at-key")).to_have_text("A box is one of this head’s 8 channels:above 0below 0")
