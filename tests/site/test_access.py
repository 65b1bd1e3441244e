"""Every page, light and dark, wide and on a phone: axe-core finds nothing, and nothing leaves the screen."""

from __future__ import annotations

import contextlib

import pytest
from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.axe import colours, structure
from tests.site.conftest import SITE, Open, Site, pages_in, scroll_through, settled

WIDE, PHONE = 1280, 360
PAGES = [name for name in pages_in(SITE) if name != "index.html"]  # which leads on to another page at once


def _narrow(page: Page, width: int) -> None:
    """Change the width, and let the theme see which blocks scroll now; what it forgets axe will tell."""
    page.set_viewport_size({"width": width, "height": 800})
    reachable = "[...document.querySelectorAll('pre')].every((b) => b.scrollWidth <= b.clientWidth || b.tabIndex >= 0)"
    with contextlib.suppress(PlaywrightTimeout):
        page.wait_for_function(reachable, timeout=10_000)


@pytest.fixture(scope="module")
def known() -> dict[str, set[str]]:
    """By theme, what texts look like on the pages before: a look is looked at once."""
    return {"light": set(), "dark": set()}


# Light and dark differ in colours alone. Wide there are side bars, on a phone there are none.
@pytest.mark.parametrize("name", PAGES or ["index.html"])  # without a site that one fails
def test_axe_and_width(site: Site, open_page: Open, known: dict[str, set[str]], name: str) -> None:
    page = open_page(site.address(name, "http"), width=WIDE, theme="light")
    settled(page)
    scroll_through(page)
    wrong = [f"light, at {WIDE}: {one}" for one in colours(page, known["light"])]
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    _narrow(page, PHONE)
    wrong += [f"dark, at {PHONE}: {one}" for one in colours(page, known["dark"])]
    for width in (PHONE, WIDE):
        _narrow(page, width)
        wrong += [f"at {width}: {one}" for one in structure(page)]
        seen = page.evaluate("document.scrollingElement.scrollWidth")
        wrong += [f"at {width}: the page is {seen} wide"] * (seen > width)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("first", [True, False])
def test_axe_sees_a_colour_that_cannot_be_read(site: Site, open_page: Open, first: bool) -> None:
    page = open_page(site.address("book/appendix/advice.html", "http"))
    settled(page)
    faint = "(one) => { one.style.color = '#ddd'; one.style.background = '#fff' }"
    page.locator("main li p" if first else "main li p >> nth=-1").first.evaluate(faint)
    assert len(colours(page)) == 1


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
