"""Every page, light and dark, wide and on a phone: axe-core finds nothing, and nothing leaves the screen."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.site.conftest import SITE, Open, Site, colours, pages_in, scroll_through, settled, structure

WIDE, PHONE = 1280, 360
PAGES = [name for name in pages_in(SITE) if name != "index.html"]  # which leads on to another page at once


# Light and dark differ in colours alone, wide and narrow in everything else.
LOOKS: dict[str, dict[int, tuple[Callable[[Page], list[str]], ...]]] = {
    "light": {WIDE: (structure, colours), PHONE: (structure,)},
    "dark": {PHONE: (colours,)},
}


def _narrow(page: Page, width: int) -> None:
    """Change the width, and let the theme see which blocks scroll now; what it forgets axe will tell."""
    page.set_viewport_size({"width": width, "height": 800})
    reachable = "[...document.querySelectorAll('pre')].every((b) => b.scrollWidth <= b.clientWidth || b.tabIndex >= 0)"
    with contextlib.suppress(PlaywrightTimeout):
        page.wait_for_function(reachable, timeout=10_000)


def _complaints(page: Page, looks: dict[int, tuple[Callable[[Page], list[str]], ...]]) -> list[str]:
    found = []
    for width, looked in looks.items():
        _narrow(page, width)
        found += [f"at {width}: {one}" for look in looked for one in look(page)]
        seen = page.evaluate("document.scrollingElement.scrollWidth")
        if seen > width:
            found.append(f"at {width}: the page is {seen} wide")
    return found


@pytest.mark.parametrize("theme", LOOKS)
@pytest.mark.parametrize("name", PAGES or ["index.html"])  # without a site that one fails
def test_axe_and_width(site: Site, open_page: Open, name: str, theme: str) -> None:
    page = open_page(site.address(name, "http"), width=WIDE, theme=theme)
    settled(page)
    scroll_through(page)
    assert page.locator("html").get_attribute("data-theme") == theme
    wrong = _complaints(page, LOOKS[theme])
    assert not wrong, "\n".join(wrong)


def test_focus_is_visible(site: Site, open_page: Open) -> None:
    page = open_page(site.address("index.html", "http"))
    page.wait_for_url("**/book/index.html")
    page.keyboard.press("Tab")
    style = "getComputedStyle(document.activeElement)"
    assert page.evaluate("document.activeElement.matches('.skip-link a')")
    for _ in range(6):
        page.keyboard.press("Tab")
        width = page.evaluate(f"parseFloat({style}.outlineWidth) * ({style}.outlineStyle !== 'none')")
        shadow = page.evaluate(f"{style}.boxShadow")
        what = page.evaluate("document.activeElement.outerHTML.slice(0, 120)")
        assert width >= 2 or shadow != "none", f"focus cannot be seen on {what}"
