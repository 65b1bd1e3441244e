"""BroadcastExplorer on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from torchbook.viz import BroadcastExplorer
from torchbook.viz.broadcast import setup

from ..conftest import Show, gallery, mounted
from ..pressing import PHONE, SCREENS, active, draw_across, heights, moving, press, small, tab_to


def size(page: Page, name: str, dim: int) -> Locator:
    return page.locator(f'select[data-key="{name}:{dim}"]')


def cell(page: Page, name: str, *at: int) -> Locator:
    return page.locator(f'.bx-block.bx-{name} [data-at="{",".join(map(str, at))}"]')


def marked(page: Page, how: str) -> list[str]:
    """The elements that carry a mark, each with the grid in which it lies."""
    script = "(all) => all.map((e) => `${e.closest('.bx-block').classList[1].slice(3)} ${e.dataset.at}`)"
    return list(page.locator(f".bx-cell.{how}").evaluate_all(script))


def result(page: Page) -> str:
    return page.locator(".bx-verdict code b").inner_text()


def test_presets_show_their_result_or_the_error(show: Show) -> None:
    widgets = [BroadcastExplorer(preset=preset) for preset in setup()["presets"]]
    for widget, figure in zip(widgets, gallery(show, widgets), strict=True):
        if widget.error:
            expect(figure.locator(".bx-error")).to_have_text(f"RuntimeError: {widget.error}")
        else:
            expect(figure.locator(".bx-verdict code b")).to_have_text(str(tuple(widget.result or ())))


def test_page_and_python_say_the_same_of_random_shapes(show: Show) -> None:
    draw = random.Random(5)

    def shape() -> list[int]:
        return draw.choices([1, 1, 1, 2, 2, 3, 0], k=draw.randint(0, 5))

    widgets = [BroadcastExplorer(shape(), shape(), c=shape() if i % 3 == 0 else None) for i in range(24)]
    for i, widget in enumerate(widgets):
        widget.op = widget.op if i % 3 == 0 else ["+", "-=", "*", "+="][i % 4]
    page = show(*(mounted(widget, model=f"m{i}") for i, widget in enumerate(widgets)))
    for i, widget in enumerate(widgets):
        figure = page.locator("figure").nth(i)
        figure.scroll_into_view_if_needed()
        expect(figure.locator(".tbviz-words")).to_have_text(widget.words)


def test_hover_shows_the_elements_that_meet(show: Show) -> None:
    page = show(BroadcastExplorer((4, 1), (3,)))
    cell(page, "result", 2, 1).hover()
    expect(page.locator(".bx-sum .big")).to_have_text("result[2, 1] = a[2, 0] + b[1]")
    expect(page.locator(".bx-sum .small")).to_have_text("= 20 + 1 = 21")
    assert marked(page, "on") == ["a 2,0", "b 0,1", "result 2,1"]
    assert marked(page, "also") == ["a 2,1", "b 2,1"]


def test_hover_on_an_operand_shows_where_it_is_used(show: Show) -> None:
    page = show(BroadcastExplorer((4, 1), (3,)))
    cell(page, "b", 3, 2).hover()
    expect(page.locator(".bx-sum .big")).to_have_text("b[2] = 2")
    text = "is used by 4 results: result[0, 2], result[1, 2], result[2, 2], result[3, 2]"
    expect(page.locator(".bx-sum .small")).to_have_text(text)
    assert marked(page, "on") == ["b 0,2"]
    assert marked(page, "also") == [*(f"b {i},2" for i in (1, 2, 3)), *(f"result {i},2" for i in range(4))]


def test_sizes_are_changed_by_mouse(show: Show) -> None:
    page = show(BroadcastExplorer((4, 1), (3,)))
    size(page, "a", 1).select_option("2")
    expect(page.locator(".bx-error")).to_contain_text("The size of tensor a (2) must match the size of tensor b (3)")
    assert page.locator(".bx-happens").all_inner_texts() == ["b: – → 4", "✗ 2 ≠ 3"]
    assert page.locator(".bx-grid").count() == 0
    size(page, "b", 0).select_option("2")
    assert result(page) == "(4, 2)"
    assert page.locator(".bx-happens").all_inner_texts() == ["b: – → 4", "equal"]
    page.get_by_role("button", name="Add a dimension to b at the end").click()
    expect(page.locator(".bx-error")).to_contain_text(
        "(4) must match the size of tensor b (2) at non-singleton dimension 0"
    )
    size(page, "b", 0).select_option("remove")
    page.get_by_role("button", name="Add a dimension to a in front").click()
    assert result(page) == "(1, 4, 2)"
    assert page.locator(".bx-happens").all_inner_texts() == ["b: – → 1", "b: – → 4", "b: 1 → 2"]


def test_in_place_a_is_never_stretched(show: Show) -> None:
    page = show(BroadcastExplorer((3,), (3, 1)))
    assert result(page) == "(3, 3)"
    press(page, "a += b")
    with pytest.raises(RuntimeError) as refusal:
        torch.zeros(3).add_(torch.zeros(3, 1))
    expect(page.locator(".bx-error")).to_have_text(f"RuntimeError: {refusal.value}")
    assert page.locator(".bx-happens").first.inner_text() == "a: – → 3\n✗ a stays"
    page.get_by_role("button", name="Add a dimension to a in front").click()
    size(page, "a", 0).select_option("3")
    expect(page.locator(".bx-mem.bx-result")).to_contain_text("0 bytes new: written into a")
    press(page, "times")
    expect(page.locator(".bx-sum")).to_contain_text("a[1, 1] = a[1, 1] × b[1, 0]")


def test_where_has_three_operands(show: Show) -> None:
    page = show(BroadcastExplorer((2, 3), (3,)))
    press(page, "where(c, a, b)")
    page.get_by_role("button", name="Add a dimension to c in front").click()
    page.get_by_role("button", name="Add a dimension to c in front").click()
    size(page, "c", 0).select_option("2")
    cell(page, "result", 1, 2).hover()
    expect(page.locator(".bx-sum .big")).to_have_text("result[1, 2] = where(c[1, 0], a[1, 2], b[2])")
    expect(page.locator(".bx-sum .small")).to_have_text("= where(False, 50, 2) = 2")
    press(page, "a + b")
    assert page.locator("tr.bx-c").count() == 0


def test_memory_that_is_not_made(show: Show) -> None:
    page = show(BroadcastExplorer(preset="mask"))
    lines = ["c4 bytes, 4 not copied", "a32 bytes", "b4 bytes, 28 not copied", "result32 bytes new"]
    expect(page.locator(".bx-mem")).to_have_text(lines)


@pytest.mark.parametrize("preset", ["loss", "mask", "in-place", "empty"])
def test_copied_code_runs_in_torch(show: Show, preset: str) -> None:
    widget = BroadcastExplorer(preset=preset)
    page = show(widget, permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    expect(page.locator(".tbviz-status").filter(has_text="Copied")).to_be_visible()
    scope: dict[str, Any] = {}
    exec(page.evaluate("navigator.clipboard.readText()"), scope)
    assert widget.error or list(scope["result"].shape) == widget.result


def test_every_action_by_keyboard_alone(show: Show) -> None:
    page = show(BroadcastExplorer((4, 1), (3,)))
    keys = page.keyboard
    tab_to(page, "bias (3, 1)")
    keys.press("Enter")
    assert result(page) == "(3, 3)"
    tab_to(page, "Size of dimension 0 of b, under dimension 0 of the result: equal")
    keys.type("1")
    assert active(page) == "Size of dimension 0 of b, under dimension 0 of the result: repeated 3 times"
    keys.press("Delete")
    assert active(page) == "Size of dimension 0 of b, under dimension 1 of the result: repeated 3 times"
    keys.press("Delete")
    assert active(page) == "Add a dimension to b in front"
    keys.press("Enter")
    keys.press("Enter")
    expect(page.locator(".bx-verdict code")).to_have_text("(3, 3) + (1, 1) → (3, 3)")
    tab_to(page, "a[0, 0] is 0")
    keys.press("ArrowRight")
    assert active(page) == "a[0, 1] is 10"
    expect(page.locator(".bx-sum .small")).to_have_text("is used by one result: result[0, 1]")
    tab_to(page, "result[1, 1] = a[1, 1] + b[0, 0] = 40 + 0 = 40")
    keys.press("ArrowDown")
    expect(page.locator(".bx-sum .big")).to_have_text("result[2, 1] = a[2, 1] + b[0, 0]")
    keys.press("Control+Home")
    expect(page.locator(".bx-sum .big")).to_have_text("result[0, 0] = a[0, 0] + b[0, 0]")
    tab_to(page, "Copy as PyTorch")
    keys.press("Enter")
    expect(page.locator(".tbviz-status").filter(has_text="Copied")).to_be_visible()
    tab_to(page, "Copy link")


def test_the_operation_by_keyboard(show: Show) -> None:
    page = show(BroadcastExplorer((3, 3), (3,)))
    tab_to(page, "a += b")
    page.keyboard.press("Space")
    assert active(page) == "a += b"
    tab_to(page, "times")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="a ×= b")).to_have_attribute("aria-pressed", "true")


def test_more_than_can_be_drawn_is_chosen_by_index(show: Show) -> None:
    page = show(BroadcastExplorer((5, 1, 3, 1, 2), (2, 3, 1, 1)))
    page.get_by_label("Index in dimension 0 of the result").select_option("4")
    expect(page.locator(".bx-sum .big")).to_have_text("result[4, 1, 1, 0, 1] = a[4, 0, 1, 0, 1] + b[1, 1, 0, 0]")


def test_five_dimensions_fit_on_a_phone(show: Show) -> None:
    page = show(BroadcastExplorer((5, 5, 5, 5, 5), (5, 1), c=(1, 1, 1, 1, 1)), width=360)
    hidden = page.locator(".bx-scroll").evaluate("(e) => e.scrollWidth - e.clientWidth")
    assert hidden == 0


@pytest.mark.parametrize("width", SCREENS)
def test_it_fits_a_screen_with_any_preset_and_keeps_its_height(show: Show, width: int) -> None:
    for widget in (BroadcastExplorer((4, 1), (3,)), BroadcastExplorer((2, 3, 2), (3, 1))):
        seen = heights(show(widget, width=width))
        assert max(seen.values()) <= SCREENS[width], seen
        assert max(seen.values()) - min(seen.values()) <= 8, seen


def test_a_finger_picks_the_element_nearest_to_it(show: Show) -> None:
    page = show(BroadcastExplorer((3, 3), (3,)), **PHONE)
    assert small(page) == []
    box = cell(page, "result", 2, 0).bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + 3, box["y"] + 3)
    expect(page.locator(".bx-sum .big")).to_have_text("result[2, 0] = a[2, 0] + b[0]")
    draw_across(page, cell(page, "result", 2, 0), cell(page, "result", 2, 2))
    expect(page.locator(".bx-sum .big")).to_have_text("result[2, 2] = a[2, 2] + b[2]")


def test_repetitions_come_out_of_the_element_that_they_repeat(show: Show) -> None:
    page = show(BroadcastExplorer((4, 1), (3,)), motion=True)
    press(page, "bias (3, 1)")
    assert moving(page, ".bx-block.bx-b .bx-cell.copy") == 6
    where = """() => { for (const one of document.getAnimations()) one.pause(), one.currentTime = 0;
      const box = (at) => document.querySelector(`.bx-block.bx-b [data-at="${at}"]`).getBoundingClientRect();
      return [box("1,2").left - box("1,0").left, box("2,1").top - box("2,0").top].map(Math.abs); }"""
    assert max(page.evaluate(where)) < 60, "from where b was before, all repetitions of an element from one place"
    still = show(BroadcastExplorer((4, 1), (3,)))
    press(still, "bias (3, 1)")
    assert moving(still, "*") == 0


def test_elements_meet_where_one_clicks(show: Show) -> None:
    page = show(BroadcastExplorer((4, 1), (3,)), motion=True)
    cell(page, "result", 3, 2).click()
    assert page.locator(".bx-ghost").all_inner_texts() == ["30", "2"]
    page.wait_for_function("document.querySelectorAll('.bx-ghost').length === 0")


def test_shapes_that_do_not_fit_are_shown_and_shake(show: Show) -> None:
    page = show(BroadcastExplorer((4, 1), (3,)), motion=True)
    size(page, "b", 0).select_option("2")
    size(page, "a", 1).select_option("3")
    assert moving(page, ".bx-picture") == 1
    assert page.locator(".bx-step.bad").all_inner_texts() == ["3", "2"]
    assert page.locator(".bx-step.missing").count() == 1
    size(page, "a", 1).select_option("2")
    assert result(page) == "(4, 2)"
    assert page.locator(".bx-step").count() == 0
