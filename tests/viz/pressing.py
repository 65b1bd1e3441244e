"""A reader's hands, for the tests of all figures: press a button, walk by keyboard, touch, copy."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect


def words(page: Page) -> Locator:
    """The state in words; one for each figure of the page."""
    return page.locator(".tbviz-words")


def press(page: Page | Locator, name: str) -> None:
    """Click the last button of that name: forms that open stand below the button that opened them."""
    page.get_by_role("button", name=name, exact=True).last.click()


def copied(page: Page) -> str:
    """What the clipboard holds, once the page says that it copied."""
    expect(page.locator(".tbviz-status").filter(has_text="Copied").first).to_be_visible()
    return str(page.evaluate("navigator.clipboard.readText()"))


def active(page: Page) -> str:
    """What a screen reader would call the focused element."""
    script = """() => { const e = document.activeElement;
        return e.getAttribute('aria-label') || (e.labels && e.labels[0] ? e.labels[0].textContent : e.textContent) }"""
    return str(page.evaluate(script))


def tab_into(page: Page, toolbar: str) -> None:
    """Walk with the Tab key until the focus is in the toolbar of that name."""
    inside = "document.activeElement.closest('[role=toolbar]')?.ariaLabel"
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(inside) == toolbar:
            return
    raise AssertionError(f"Tab does not reach {toolbar}")


def tab_to(page: Page, name: str) -> None:
    """Walk there with the Tab key, and inside a toolbar with the arrow keys."""
    inside = "document.activeElement.closest('[role=toolbar]') !== null"
    for _ in range(60):
        page.keyboard.press("Tab")
        for _ in range(24 if page.evaluate(inside) else 1):
            if active(page) == name:
                return
            if page.evaluate(inside):
                page.keyboard.press("ArrowRight")
    pytest.fail(f"{name!r} cannot be reached by keyboard")


PHONE = {"width": 390, "has_touch": True, "is_mobile": True}  # options of a page that is shown on a phone
SCREENS = {1280: 900, 390: 844}  # width and height of the screens on which a figure must fit


_HEIGHTS = """async (place) => {
  for (const drawer of place.querySelectorAll(".tbviz-drawer")) drawer.open = false;
  const figure = place.querySelector(".tbviz");
  const heights = { "at first": figure.offsetHeight };
  for (const preset of figure.querySelectorAll('[role=toolbar][aria-label*="resets"] button')) {
    preset.click();
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)));
    heights[preset.textContent] = figure.offsetHeight;
  }
  return heights;
}"""


def heights(place: Page | Locator) -> dict[str, int]:
    """Pixels that a place's figure is high at first and with each of its presets, its drawer closed."""
    return dict(_whole(place).evaluate(_HEIGHTS))


def _whole(place: Page | Locator) -> Locator:
    return place.locator("html") if isinstance(place, Page) else place


_SMALL = """(place) => {
  const hands = ["pointer", "grab", "ew-resize"];
  const own = (one) => hands.includes(getComputedStyle(one).cursor)
    && getComputedStyle(one).cursor !== getComputedStyle(one.parentElement).cursor;
  return [...place.querySelectorAll(".tbviz *")]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.matches("style, label, label *, option"))
    .filter((one) => getComputedStyle(one).pointerEvents !== "none")
    .filter((one) => one.matches("button, select, input, summary, a[href], [role=gridcell]") || own(one))
    .map((one) => [one.getBoundingClientRect(), one.outerHTML.slice(0, 90)])
    .filter(([box]) => box.width && box.height && Math.min(box.width, box.height) < 39.5).map(([, html]) => html);
}"""


def small(place: Page | Locator) -> list[str]:
    """What is to be touched and is less than 40 pixels wide or high."""
    return list(_whole(place).evaluate(_SMALL))


def moving(page: Page, what: str) -> int:
    """How many of the elements that a selector finds are in motion."""
    script = "(what) => document.getAnimations().filter((one) => one.effect.target.matches(what)).length"
    return int(page.evaluate(script, what))


def draw_across(page: Page, first: Locator, last: Locator) -> None:
    """A finger comes down on one element and is drawn to another."""
    boxes = [one.bounding_box() for one in (first, last)]
    spots = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes if box]
    (x, y), (to_x, to_y) = spots
    cdp = page.context.new_cdp_session(page)
    touch = "Input.dispatchTouchEvent"
    cdp.send(touch, {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 11):
        point = {"x": x + (to_x - x) * step / 10, "y": y + (to_y - y) * step / 10}
        cdp.send(touch, {"type": "touchMove", "touchPoints": [point]})
    cdp.send(touch, {"type": "touchEnd", "touchPoints": []})
