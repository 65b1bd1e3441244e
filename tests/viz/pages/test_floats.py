"""FloatExplorer on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from torchbook.viz import FloatExplorer
from torchbook.viz.floats import FORMATS, setup

from ..conftest import Show, gallery, mounted, start_all
from ..pressing import PHONE, SCREENS, active, draw_across, heights, moving, press, small, tab_to, words


def bit(page: Page, n: int) -> Locator:
    """The n-th bit from the left, 0 is the sign."""
    return page.locator(f'[data-bit="{n}"]')


def pattern(page: Page) -> str:
    return "".join(page.locator("[data-bit]").all_inner_texts())


def fact(page: Page, name: str) -> Locator:
    """The value beside a name such as "next up"."""
    return page.locator(".fx-facts > div", has=page.get_by_text(name, exact=True)).locator(".fx-fact")


def row(page: Page, name: str) -> list[str]:
    """What the table says of a format: becomes, error, relative error, what happened."""
    button = page.get_by_role("button", name=name, exact=True)
    return page.locator(".fx-table tbody tr", has=button).locator("td").all_inner_texts()


def test_presets_show_their_bits(show: Show) -> None:
    widgets = [FloatExplorer(preset=preset) for preset in setup()["presets"]]
    for widget, figure in zip(widgets, gallery(show, widgets), strict=True):
        assert int("".join(figure.locator("[data-bit]").all_inner_texts()), 2) == widget.bits


def test_bits_are_flipped_by_mouse(show: Show) -> None:
    page = show(FloatExplorer(preset="e4m3-largest"))
    bit(page, 7).click()
    expect(fact(page, "class")).to_have_text("nan, not a number")
    expect(page.locator(".fx-formula")).to_have_text(
        "nan: all ones, the only pattern but for the sign that is no number"
    )
    expect(page.get_by_label("number", exact=True)).to_have_value("nan")
    bit(page, 7).click()
    bit(page, 0).click()
    expect(page.locator(".fx-formula")).to_have_text("−1 × 28 × 1.75 = −448")
    expect(fact(page, "next down")).to_have_text("none")
    expect(fact(page, "next up")).to_have_text("−416")
    assert pattern(page) == "11111110"


def test_fields_and_formula_of_a_subnormal(show: Show) -> None:
    page = show(FloatExplorer(bits=0x8003, dtype=torch.float16))
    meanings = ["(−1)1 = −1", "field 0 counts as 1: 21−15 = 2−14", "0 + 3/210 = 0.0029296875"]
    expect(page.locator(".fx-meaning")).to_have_text(meanings)
    expect(page.locator(".fx-formula")).to_have_text("−1 × 2−14 × 0.0029296875 = −1.78813934326171875e−07")
    expect(fact(page, "class")).to_have_text("subnormal: no leading 1")


def test_a_typed_number_is_compared(show: Show) -> None:
    page = show(FloatExplorer(0.1))
    number = page.get_by_label("number", exact=True)
    number.fill("60000 + 10000")
    assert row(page, "float32") == ["70000", "0", "0", "= exact"]
    assert row(page, "float16") == ["inf", "–", "–", "! overflow to inf"]
    assert row(page, "bfloat16") == ["70144", "144", "0.002057", "↑ rounded up"]
    stops = FloatExplorer().saturates
    assert row(page, "float8_e4m3fn")[::3] == (
        ["448", "! too large: stops here"] if stops else ["nan", "! too large: no inf"]
    )
    number.fill("1e-7")
    assert row(page, "float16")[::3] == ["1.1920928955078125e−07", "↑ rounded up, subnormal"]
    assert row(page, "float8_e5m2") == ["0", "1e−07", "1", "! underflow to zero"]
    number.fill("1/0")
    expect(page.get_by_role("alert")).to_have_text("division by zero")
    assert row(page, "float32")[0] == "1.0000000116860974e−07"
    number.blur()
    expect(number).to_have_value("1e-7")


@pytest.mark.parametrize("width", [1280, 390])
def test_numbers_of_the_table_are_broken_only_before_their_exponent(show: Show, width: int) -> None:
    page = show(FloatExplorer("6e-8"), width=width)
    broken = """() => [...document.querySelectorAll('.fx-table td:not(:last-child)')]
        .flatMap((td) => [...td.childNodes])
        .filter((node) => {
            const range = document.createRange();
            range.selectNodeContents(node);
            return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1;
        }).map((node) => node.textContent)"""
    for number in ("6e-8", "0.1", "1e-5", "1/3", "-1e-30"):
        page.get_by_label("number", exact=True).fill(number)
        assert page.evaluate(broken) == [], number


def test_a_format_is_chosen_in_the_table_or_the_list(show: Show) -> None:
    page = show(FloatExplorer("1/3"))
    press(page, "float8_e5m2")
    assert pattern(page) == "00110101"
    expect(fact(page, "largest finite")).to_have_text("57344")
    page.get_by_label("format", exact=True).select_option("bfloat16")
    assert pattern(page) == f"{0x3EAB:016b}"
    expect(page.locator(".fx-pick[aria-pressed=true]")).to_have_text("bfloat16")


def on_line(ends: str, brain: int, single: int, half: int) -> str:
    """What the number line says of itself around 256."""
    return (
        f"Number line from {ends}. Numbers of each format on it: bfloat16 {brain}, float32 {single}, "
        f"float16 {half}, float8_e4m3fn 1, float8_e5m2 1."
    )


def test_number_line_shows_neighbours_and_picks_them(show: Show) -> None:
    page = show(FloatExplorer(preset="bf16-count"))
    line = page.locator("svg.fx-line")
    expect(line).to_have_attribute("aria-label", on_line("251 to 263", 9, 557057, 69))
    expect(line.locator('[data-lane="bfloat16"] .fx-tick')).to_have_count(9)
    line.locator('[data-lane="bfloat16"] .fx-hit', has_text="258").click()
    expect(page.get_by_label("number", exact=True)).to_have_value("258.0")
    press(page, "Next down")
    press(page, "Next down")
    expect(words(page)).to_contain_text("255.0 in bfloat16 is 255")
    press(page, "Wider")
    expect(line).to_have_attribute("aria-label", on_line("249 to 261", 10, 622593, 77))


@pytest.mark.parametrize(("number", "text"), [("1e30", "1e30 →"), ("-inf", "← −inf"), ("65519", "65519")])
def test_number_line_at_the_end_of_the_range(show: Show, number: str, text: str) -> None:
    page = show(FloatExplorer(number, torch.float16))
    expect(page.locator(".fx-at")).to_have_text(text)
    sign = "−" if "-" in number else ""
    expect(page.locator(".fx-line")).to_contain_text(f"from here on {sign}inf")


def test_copied_code_runs_in_torch(show: Show) -> None:
    page = show(FloatExplorer(0.1, torch.bfloat16), permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    expect(page.locator(".tbviz-status").filter(has_text="Copied")).to_be_visible()
    scope: dict[str, Any] = {}
    exec(page.evaluate("navigator.clipboard.readText()"), scope)
    assert scope["y"].dtype == torch.bfloat16
    assert scope["y"].item() == 0.10009765625


def test_every_action_by_keyboard_alone(show: Show) -> None:
    page = show(FloatExplorer(1.0, torch.float8_e4m3fn), permissions=["clipboard-read"])
    keys = page.keyboard
    tab_to(page, "256 + 1")
    keys.press("Enter")
    expect(words(page)).to_contain_text("256 + 1 in bfloat16 is 256")
    tab_to(page, "number")
    keys.press("Control+a")
    keys.type("1")
    tab_to(page, "format")
    keys.type("float8_e4")
    expect(words(page)).to_contain_text("1 in float8_e4m3fn is 1,")
    tab_to(page, "Copy as PyTorch")
    keys.press("Enter")
    expect(page.locator(".tbviz-status").filter(has_text="Copied")).to_be_visible()
    tab_to(page, "Copy link")
    tab_to(page, "sign bit 7, minus if 1, is 0")
    keys.press("Space")
    assert active(page) == "sign bit 7, minus if 1, is 1"
    last = "fraction bit 0, worth 2 to the minus 3, is"
    for key, name in [
        ("ArrowRight", "exponent bit 6, worth 8, is 0"),
        ("End", f"{last} 0"),
        ("ArrowUp", f"{last} 1"),
        ("Home", "sign bit 7, minus if 1, is 1"),
    ]:
        keys.press(key)
        assert active(page) == name
    expect(words(page)).to_contain_text("−0.9375, a normal number")
    keys.type("01111110")
    assert pattern(page) == "01111110"
    tab_to(page, "float16")
    keys.press("Enter")
    expect(words(page)).to_contain_text("448.0 in float16 is 448")
    tab_to(page, "Next up")
    keys.press("Enter")
    expect(words(page)).to_contain_text("is 448.25")
    tab_to(page, "Closer")
    keys.press("Enter")
    expect(page.get_by_role("img", name="Number line from 447.875 to 448.625.")).to_be_visible()


def test_nothing_lies_beyond_the_figure(show: Show) -> None:
    numbers = ("0.1", "-inf", "nan", "1e-45")
    page = show(*(FloatExplorer(number, dtype) for dtype in FORMATS for number in numbers))
    start_all(page)
    beyond = """() => [...document.querySelectorAll('.tbviz')].flatMap((figure) => [...figure.querySelectorAll('*')]
        .filter((e) => !e.closest('thead') && e.getBoundingClientRect().right > figure.getBoundingClientRect().right)
        .map((e) => e.outerHTML.slice(0, 99)))"""
    for width in (800, 360):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(beyond) == [], width


def test_lanes_of_the_number_line_do_not_overlap_on_a_phone(show: Show) -> None:
    page = show(FloatExplorer(0.1), width=360)
    ends = page.evaluate("""() => [...document.querySelectorAll('[data-lane]')].map((lane) => [
        lane.querySelector('.fx-name').getBoundingClientRect().right,
        lane.querySelector('.fx-count').getBoundingClientRect().left])""")
    assert [pair for pair in ends if pair[0] > pair[1]] == []


def test_inside_details(show: Show) -> None:
    page = show(f"<details><summary>More</summary>{mounted(FloatExplorer(0.1))}</details>", ready=False)
    page.get_by_text("More").click()
    page.locator(".viz-mount[data-ready] .tbviz").wait_for()
    expect(page.locator('.fx-line [data-lane="float32"] .fx-tick')).to_have_count(6)
    assert page.locator(".fx-line").bounding_box()["width"] > 500  # type: ignore[index]


@pytest.mark.parametrize("width", SCREENS)
def test_it_fits_a_screen_with_any_preset_and_keeps_its_height(show: Show, width: int) -> None:
    seen = heights(show(FloatExplorer(0.1, torch.bfloat16), width=width))
    assert max(seen.values()) <= SCREENS[width], seen
    assert max(seen.values()) - min(seen.values()) <= 8, seen


@pytest.mark.parametrize("dtype", FORMATS)
def test_bits_are_large_enough_for_a_finger(show: Show, dtype: str) -> None:
    page = show(FloatExplorer(0.1, dtype), **PHONE)
    assert small(page) == []
    before = pattern(page)
    box = bit(page, 3).bounding_box()
    assert box
    # Bits are no targets of their own: the nearest to the finger is flipped.
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert [n for n, (x, y) in enumerate(zip(before, pattern(page), strict=True)) if x != y] == [3]


def typed(page: Page) -> float:
    return float(page.get_by_label("number", exact=True).input_value())


@pytest.mark.parametrize("touch", [False, True])
def test_the_number_is_dragged_along_the_line(show: Show, touch: bool) -> None:
    page = show(FloatExplorer(preset="bf16-count"), **(PHONE if touch else {}))
    line = page.locator("svg.fx-line")
    ticks = line.locator('[data-lane="bfloat16"] .fx-tick')
    if touch:
        draw_across(page, page.locator(".fx-typed"), ticks.nth(7))
    else:
        for step, mark in enumerate([page.locator(".fx-typed"), ticks.nth(6), ticks.nth(7)]):
            box = mark.bounding_box()
            assert box
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            if not step:
                page.mouse.down()
        name = line.get_attribute("aria-label") or ""
        assert name.startswith("Number line from 251 to 263."), "the line stays while the number moves"
        page.mouse.up()
    assert 259 < typed(page) < 261, "from 257"
    assert line.get_attribute("aria-label") != on_line("251 to 263", 9, 557057, 69)
    assert pattern(page) == f"{FORMATS['bfloat16'].cast(typed(page))[0]:016b}"


def test_bits_turn_and_the_line_moves_to_the_number(show: Show) -> None:
    page = show(FloatExplorer(preset="bf16-count"), motion=True)
    bit(page, 15).click()
    assert moving(page, ".fx-bit") == 1
    line = page.locator("svg.fx-line")
    seen = {line.get_attribute("aria-label") for _ in range(40)}
    assert len(seen) > 2
    expect(line).to_have_attribute("aria-label", re.compile("^Number line from 252 to 264"))
    still = show(FloatExplorer(preset="bf16-count"))
    bit(still, 15).click()
    assert moving(still, "*") == 0


def test_bits_are_one_picture_and_one_target(show: Show) -> None:
    page = show(FloatExplorer(), **PHONE)
    before = pattern(page)
    assert page.get_by_role("figure", name="The bits of the number").is_visible()
    assert bit(page, 2).evaluate("(one) => getComputedStyle(one).pointerEvents") == "none"
    bit(page, 2).focus()
    page.keyboard.press("Space")
    expect(page.locator(".fx-own")).to_have_text(before[:2] + str(1 - int(before[2])) + before[3:])
