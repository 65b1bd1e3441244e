"""A reader's hands, for the tests of all figures: press a button, walk by keyboard, copy."""

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
