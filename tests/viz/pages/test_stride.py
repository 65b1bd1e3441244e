"""StrideExplorer on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from tests.conftest import SLACK
from torchbook.viz import StrideExplorer
from torchbook.viz.stride import setup

from ..conftest import Show, gallery, mounted
from ..pressing import PHONE, SCREENS, active, draw_across, heights, moving, press, small, tab_to


def fact(page: Page | Locator, name: str) -> str:
    """The value beside a name such as "stride"."""
    root = page.page if isinstance(page, Locator) else page
    named = root.locator(".sx-name", has_text=re.compile(f"^{re.escape(name)}$"))
    value = page.locator(".sx-fact", has=named)
    return value.locator(".sx-value").first.inner_text()


def facts(page: Page | Locator) -> tuple[str, str, str, str]:
    return fact(page, "shape"), fact(page, "stride"), fact(page, "storage_offset"), fact(page, "storage")


def element(page: Page, *at: int) -> Locator:
    return page.locator(f'[data-at="{",".join(map(str, at))}"]')


LINE = ".sx-wires path:not(.halo)"

# What lies under the pixels of a line, but for its two ends.
CROSSED = """() => [...document.querySelectorAll('.sx-wires path:not(.halo)')].flatMap((path) => {
  const { left, top } = path.ownerSVGElement.getBoundingClientRect();
  const crossed = new Set();
  for (let at = 2; at < path.getTotalLength() - 2; at += 1) {
    const { x, y } = path.getPointAtLength(at);
    const cell = document.elementFromPoint(left + x, top + y)?.closest('.sx-cell');
    if (cell && !cell.matches('.on, .also')) crossed.add(cell.getAttribute('aria-label'));
  }
  return [...crossed];
})"""


# How near a line comes to the cells that it does not join, in pixels.
BESIDE = """() => {
  const path = document.querySelector('.sx-wires path:not(.halo)');
  const { left, top } = path.ownerSVGElement.getBoundingClientRect();
  const boxes = [...document.querySelectorAll('.sx-cell:not(.on)')].map((one) => one.getBoundingClientRect());
  const points = Array.from({ length: Math.floor(path.getTotalLength()) }, (_, at) => path.getPointAtLength(at));
  return Math.min(...points.flatMap(({ x, y }) => boxes.map((box) => Math.hypot(
    Math.max(box.left - left - x, 0, left + x - box.right), Math.max(box.top - top - y, 0, top + y - box.bottom)))));
}"""


@pytest.mark.parametrize("width", [390, 800])
@pytest.mark.parametrize("preset", ["transpose", "row-major"])
def test_a_line_runs_along_no_border(show: Show, width: int, preset: str) -> None:
    page = show(StrideExplorer(preset=preset), width=width)
    element(page, 0, 0).click()
    expect(page.locator(LINE)).to_have_count(1)
    page.wait_for_function(f"({BESIDE})() >= 2", timeout=5000)  # once the cells have come to rest


def test_presets_show_shape_and_stride(show: Show) -> None:
    widgets = [StrideExplorer(preset=preset) for preset in setup()["presets"]]
    for widget, figure in zip(widgets, gallery(show, widgets), strict=True):
        assert facts(figure)[:2] == (str(tuple(widget.size)), str(tuple(widget.stride)))


def test_hover_works_out_the_place_in_storage(show: Show) -> None:
    page = show(StrideExplorer((2, 3), ["t"]))
    element(page, 2, 1).hover()
    expect(page.locator(".sx-sum .big")).to_have_text("x[2, 1] = storage[0 + 2×1 + 1×3] = storage[5] = 5")
    assert page.locator('[data-place="5"].on').count() == 1
    page.locator('[data-place="3"]').hover()
    expect(page.locator(".sx-sum .small")).to_have_text("read by x[0, 1]")
    expect(page.locator(LINE)).to_have_count(1)


@pytest.mark.parametrize(
    ("shape", "at"), [((3, 4), (0, 1)), ((8, 16), (2, 14)), ((2, 3, 4), (0, 1, 1)), ((6, 6), (1, 0))]
)
@pytest.mark.parametrize("width", SCREENS)
def test_a_line_leads_to_the_storage_and_crosses_no_number(
    show: Show, shape: tuple[int, ...], at: tuple[int, ...], width: int
) -> None:
    page = show(StrideExplorer(shape, selected=at), width=width)
    expect(page.locator(LINE)).to_have_count(1)
    assert page.evaluate(CROSSED) == []
    ends = """(path) => {
      const from = path.getPointAtLength(0), to = path.getPointAtLength(path.getTotalLength());
      const origin = path.ownerSVGElement.getBoundingClientRect();
      const gap = ({ x, y }, mark, ...edges) => {
        const box = document.querySelector(mark).getBoundingClientRect();
        const [u, v] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
        const { left, right, top, bottom } = box;
        const at = { left: [left, v], right: [right, v], top: [u, top], bottom: [u, bottom] };
        const far = ([p, q]) => Math.hypot(origin.left + x - p, origin.top + y - q);
        return Math.min(...edges.map((edge) => far(at[edge])));
      };
      return [gap(from, "[data-at].on", "bottom", "right"), gap(to, "[data-place].on", "top", "left")];
    }"""
    assert max(page.locator(LINE).evaluate(ends)) < 2


def test_operations_chain_and_undo(show: Show) -> None:
    page = show(StrideExplorer((2, 3)))
    press(page, "transpose")
    expect(page.locator(".sx-preview")).to_have_text(
        "gives shape (3, 2), stride (1, 3), storage_offset 0; shares the storage"
    )
    press(page, "Apply")
    assert facts(page) == ("(3, 2)", "(1, 3)", "0", "shared")
    press(page, "contiguous")
    press(page, "Apply")
    assert facts(page) == ("(3, 2)", "(2, 1)", "0", "copied")
    lines = ["x = torch.arange(6, dtype=torch.float32).reshape(2, 3)", "x = x.transpose(0, 1)", "x = x.contiguous()"]
    expect(page.locator(".sx-program code")).to_have_text(lines)
    press(page, "Undo")
    press(page, "Undo")
    assert facts(page) == ("(2, 3)", "(3, 1)", "0", "its own")


def test_copied_code_runs_in_torch(show: Show) -> None:
    page = show(StrideExplorer((3, 4), ["t", ("slice", 0, 1, None, 2)]), permissions=["clipboard-read"])
    press(page, "Copy code")
    expect(page.locator(".tbviz-status").filter(has_text="Copied")).to_be_visible()
    scope: dict[str, Any] = {"torch": torch}
    exec(page.evaluate("navigator.clipboard.readText()"), scope)
    assert (str(tuple(scope["x"].shape)), str(scope["x"].stride())) == facts(page)[:2]


def test_refused_view_shows_the_words_of_torch(show: Show) -> None:
    page = show(StrideExplorer((2, 3), ["t"]))
    press(page, "view")
    page.get_by_label("shape (one may be -1)").fill("-1")
    press(page, "Apply")
    with pytest.raises(RuntimeError) as refusal:
        torch.zeros(2, 3).t().view(-1)
    alert = page.get_by_role("alert").filter(has_text="torch refuses")
    expect(alert.locator("code").nth(1)).to_have_text(f"RuntimeError: {refusal.value}")
    expect(alert).to_contain_text("Dimensions 0 and 1 cannot be merged")
    press(page, "reshape")
    page.get_by_label("shape (one may be -1)").fill("-1")
    press(page, "Apply")
    assert page.get_by_role("alert").filter(has_text="torch refuses").count() == 0
    assert facts(page) == ("(6,)", "(1,)", "0", "copied")


def test_sliders_reach_no_illegal_view(show: Show) -> None:
    page = show(StrideExplorer((3, 4)))
    press(page, "as_strided")
    sliders = page.locator(".sx-strided input")
    assert sliders.count() == 5
    ends = ["max", "min", "max"]
    for end, i in itertools.product(ends, [4, 1, 3, 0, 2]):
        set_to = "(el, end) => { el.value = el[end]; el.dispatchEvent(new Event('input', {bubbles: true})) }"
        sliders.nth(i).evaluate(set_to, end)
        seen = [tuple(map(int, re.findall(r"\d+", text))) for text in facts(page)[:3]]
        torch.arange(12.0).as_strided(seen[0], seen[1], *seen[2])  # torch raises where a view would be illegal
        assert page.locator(".sx-refusal").count() == 0
    press(page, "Add a dimension")
    assert sliders.count() == 7
    assert len(page.locator(".sx-program li").all()) == 2, "a drag is one step of the program"


def test_a_write_shows_on_every_element_that_shares_the_place(show: Show) -> None:
    page = show(StrideExplorer((3, 1), [("expand", 3, 4)], selected=(1, 2)))
    press(page, "Write to an element")
    page.get_by_label("value").fill("7")
    press(page, "Write")
    assert page.locator("[data-at].wrote").all_inner_texts() == ["7"] * 4
    text = "storage[1] is now 7. 4 elements of x read it: [1, 0], [1, 1], [1, 2], [1, 3]."
    expect(page.get_by_role("status").filter(has_text="is now")).to_contain_text(f"{text} The first tensor sees it too")
    press(page, "Undo")
    expect(element(page, 1, 2)).to_have_text("1")


def test_walk_counts_cache_lines(show: Show) -> None:
    page = show(StrideExplorer((8, 16)))
    press(page, "Walk through memory")
    counts = page.locator(".sx-table td")
    expect(counts).to_have_text(["128", "8", "128", "128"])
    page.get_by_label("lines the cache holds").select_option("8")
    expect(counts).to_have_text(["128", "8", "128", "8"])
    press(page, "Walk column by column")
    expect(page.get_by_role("status").filter(has_text="loaded")).to_have_text(
        "Column by column: 128 elements, 8 lines loaded."
    )


def test_walk_moves_unless_the_reader_wants_less_motion(show: Show) -> None:
    page = show(StrideExplorer((8, 16)), motion=True)
    press(page, "Walk through memory")
    press(page, "Walk row by row")
    moving = "() => { const n = document.querySelectorAll('[data-at].walked').length; return n > 1 && n < 100 }"
    page.wait_for_function(moving)
    press(page, "Stop")
    assert page.locator(".walked").count() == 0
    still = show(StrideExplorer((8, 16)))
    press(still, "Walk through memory")
    press(still, "Walk row by row")
    assert still.locator("[data-at].walked").count() == 128


def test_every_action_by_keyboard_alone(show: Show) -> None:
    page = show(StrideExplorer((2, 3, 4)))
    keys = page.keyboard
    tab_to(page, "[1, 1, 1] holds 17, storage 17")
    for key, name in [("ArrowRight", "[1, 1, 2] holds 18, storage 18"), ("ArrowUp", "[1, 0, 2] holds 14, storage 14"),
                      ("PageUp", "[0, 0, 2] holds 2, storage 2"), ("End", "[0, 0, 3] holds 3, storage 3"),
                      ("Control+End", "[1, 2, 3] holds 23, storage 23")]:  # fmt: skip
        keys.press(key)
        assert active(page) == name
    expect(page.locator(".sx-sum .big")).to_contain_text("storage[23]")
    keys.press("Tab")
    keys.press("ArrowRight")
    assert active(page) == "storage 1 holds 1, read by [0, 0, 1]"
    expect(page.locator(".sx-sum .small")).to_have_text("read by x[0, 0, 1]")
    tab_to(page, "permute")
    keys.press("Enter")
    assert active(page) == "dims"
    keys.press("Control+a")
    keys.type("1, 0, 2")
    keys.press("Enter")
    assert fact(page, "stride") == "(4, 12, 1)"
    keys.press("Escape")
    assert active(page) == "permute"
    tab_to(page, "as_strided")
    keys.press("Enter")
    assert active(page) == "dim 0 size"
    keys.press("ArrowLeft")
    assert fact(page, "shape") == "(2, 2, 4)"
    keys.press("Escape")
    tab_to(page, "Undo")
    keys.press("Space")
    assert fact(page, "shape") == "(3, 2, 4)"
    tab_to(page, "Copy code")
    keys.press("Enter")
    expect(page.locator(".tbviz-status").filter(has_text="Copied")).to_be_visible()
    tab_to(page, "Copy link")
    tab_to(page, "shape of the first tensor")
    keys.press("Control+a")
    keys.type("4,4")
    assert fact(page, "shape") == "(4, 4)"
    tab_to(page, "dtype")
    keys.type("int8")
    expect(page.locator(".sx-program code").first).to_contain_text("torch.int8")
    tab_to(page, "Write to an element")
    keys.press("Space")
    tab_to(page, "Write")
    keys.press("Enter")
    expect(element(page, 1, 1)).to_have_text("99")
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    tab_to(page, "Walk through memory")
    keys.press("Space")
    tab_to(page, "Walk row by row")
    keys.press("Enter")
    expect(page.get_by_role("status").filter(has_text="loaded")).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    tab_to(page, "diagonal")
    keys.press("Enter")


def test_two_views_show_one_state(show: Show) -> None:
    widget = StrideExplorer((2, 3))
    page = show(mounted(widget, model="m1"), mounted(widget, model="m1"))
    views = page.locator(".tbviz")
    views.nth(1).wait_for()
    views.nth(0).get_by_role("button", name="t", exact=True).click()
    expect(views.nth(1).locator(".sx-facts")).to_contain_text("(1, 3)")
    views.nth(1).locator('[data-at="2,0"]').click()
    expect(views.nth(0).locator(".sx-sum")).to_contain_text("x[2, 0]")


def test_inside_details(show: Show) -> None:
    page = show(f"<details><summary>More</summary>{mounted(StrideExplorer((2, 3)))}</details>", ready=False)
    page.get_by_text("More").click()
    page.locator(".viz-mount[data-ready] .tbviz").wait_for()
    element(page, 1, 2).click()
    expect(page.locator(".sx-sum .big")).to_contain_text("storage[5]")
    expect(page.locator(LINE)).to_have_count(1)


@pytest.mark.parametrize("width", SCREENS)
def test_it_fits_a_screen_with_any_preset_and_keeps_its_height(show: Show, width: int) -> None:
    for widget in (StrideExplorer((2, 3)), StrideExplorer((8, 16))):
        page = show(widget, width=width)
        seen = heights(page)
        assert max(seen.values()) <= SCREENS[width], seen
        del seen["at first"]
        assert max(seen.values()) - min(seen.values()) <= 8, seen


@pytest.mark.parametrize("width", SCREENS)
def test_of_sixteen_columns_none_is_cut_off(show: Show, width: int) -> None:
    page = show(StrideExplorer((8, 16)), width=width)
    cut = """() => ['.sx-grid', '.sx-store'].flatMap((name) => {
      const box = document.querySelector(name).getBoundingClientRect();
      return [...document.querySelectorAll(`${name} .sx-cell`)].map((cell) => cell.getBoundingClientRect())
        .filter(({ left, right, top, bottom }) =>
          left < box.left || right > box.right || top < box.top || bottom > box.bottom);
    })"""
    assert page.evaluate(cut) == []


def test_a_finger_picks_the_element_nearest_to_it(show: Show) -> None:
    page = show(StrideExplorer((8, 16)), **PHONE)
    assert small(page) == []
    box = element(page, 3, 9).bounding_box()
    assert box
    assert box["width"] < 24
    page.touchscreen.tap(box["x"] + 1, box["y"] + box["height"] + 0.5)
    expect(page.locator(".sx-sum .big")).to_contain_text("x[3, 9]")
    box = page.locator('[data-place="70"]').bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + 3, box["y"] + 3)
    expect(page.locator(".sx-sum .small")).to_have_text("read by x[4, 6]")
    draw_across(page, element(page, 3, 9), element(page, 3, 14))
    expect(page.locator(".sx-sum .big")).to_contain_text("x[3, 14]")


def test_a_view_moves_the_elements_and_a_copy_moves_the_memory(show: Show) -> None:
    page = show(StrideExplorer((2, 3)), motion=True)
    press(page, "x.mT")
    assert moving(page, "[data-at]") == 6, "the grid is narrower, and in the middle"
    assert moving(page, "[data-place]") == 0
    assert moving(page, ".sx-facts [data-dim]") == 4, "sizes and strides trade places"
    press(page, "x.contiguous()")
    page.wait_for_function("document.getAnimations().length === 0")
    press(page, "Undo")
    page.wait_for_function("document.getAnimations().length === 0")
    press(page, "x.contiguous()")
    assert moving(page, "[data-at]") == 0
    assert moving(page, "[data-place]") == 4
    assert facts(page) == ("(3, 2)", "(2, 1)", "0", "copied")
    still = show(StrideExplorer((2, 3)))
    press(still, "x.mT")
    assert moving(still, "*") == 0


def test_what_is_refused_shakes_and_says_why(show: Show) -> None:
    page = show(StrideExplorer((6,)), motion=True)
    press(page, "x.mT")
    assert moving(page, ".sx-grid") == 1
    with pytest.raises(RuntimeError) as refusal:
        torch.zeros(6).mT  # noqa: B018
    alert = page.get_by_role("alert").filter(has_text="torch refuses")
    expect(alert.locator("code").nth(1)).to_have_text(f"RuntimeError: {refusal.value}")
    assert facts(page)[0] == "(6,)"


@pytest.mark.parametrize(
    ("label", "typed", "said"), [("value", "", "a number"), ("start", "1.5", "start: a whole number")]
)
def test_a_wrong_entry_says_so_and_changes_nothing(show: Show, label: str, typed: str, said: str) -> None:
    page = show(StrideExplorer((2, 3)))
    press(page, "Write to an element" if label == "value" else "narrow")
    page.get_by_label(label, exact=True).fill(typed)
    button = page.get_by_role("button", name="Write" if label == "value" else "Apply", exact=True)
    expect(button).to_have_attribute("aria-disabled", "true")
    page.get_by_label(label, exact=True).press("Enter")
    expect(page.locator(".sx-box:not([hidden]) .bad").filter(has_text=said)).to_be_visible()
    assert facts(page) == ("(2, 3)", "(3, 1)", "0", "its own")


TIMED = """async () => {
  const figure = document.querySelector('.viz-mount');
  const seen = new Promise((done) => new IntersectionObserver((all, watch) => {
    if (all[0].isIntersecting) { watch.disconnect(); done(performance.now()) }
  }).observe(figure));
  figure.scrollIntoView();
  const start = await seen;
  while (!figure.dataset.ready) await new Promise(requestAnimationFrame);
  const button = [...figure.querySelectorAll('button')].find((b) => b.textContent === 't');
  button.click();
  while (!figure.querySelector('.sx-facts').textContent.includes('(1, 3)')) await Promise.resolve();
  figure.getBoundingClientRect();
  return performance.now() - start;
}"""


MOST = 20  # whatever else a machine does can only add to a time, so the least of some counts


@pytest.mark.alone
def test_first_interaction_within_100_ms(show: Show, record_property: Any) -> None:
    far = '<div style="height:4000px"></div>'
    times: list[float] = []
    while len(times) < MOST and min(times, default=1000) > 100 * SLACK:
        times.append(show(far, StrideExplorer((2, 3)), ready=False).evaluate(TIMED))
    record_property("milliseconds", times)
    print("first interaction, ms:", [round(t, 1) for t in times])
    assert min(times) <= 100 * SLACK
