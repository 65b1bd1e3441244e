"""What the tour of the pages leans on: axe sees what cannot be read. And what no record can show: the focus."""

from __future__ import annotations

import pytest

from tests.axe import look
from tests.browser import settled
from tests.site.built import Site
from tests.site.conftest import Open


@pytest.mark.parametrize("first", [True, False])
def test_axe_sees_a_colour_that_cannot_be_read(site: Site, open_page: Open, first: bool) -> None:
    page = open_page(site.address("book/appendix/advice.html", "http"))
    settled(page)
    faint = "(text) => { text.style.color = '#ddd'; text.style.background = '#fff' }"
    page.locator("main li p" if first else "main li p >> nth=-1").first.evaluate(faint)
    known: set[str] = set()
    assert len(look(page, known).colours) == 1
    assert known == set(), "looks of a page that cannot be read are taken for good ones on the next"


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


@pytest.mark.parametrize("width", [360, 390, 1280])
def test_fingers_meet_the_buttons_above_a_page(site: Site, open_page: Open, width: int) -> None:
    page = open_page(site.address("book/appendix/advice.html", "http"), width=width, has_touch=True)
    settled(page)
    buttons = [button for button in page.locator(".bd-header-article .btn").all() if button.is_visible()]
    sizes = {
        button.get_attribute("aria-label") or button.get_attribute("title"): button.bounding_box() for button in buttons
    }
    assert len(sizes) >= 5
    assert {name: box for name, box in sizes.items() if not box or min(box["width"], box["height"]) < 40} == {}
    assert page.evaluate("document.documentElement.scrollWidth") == width
