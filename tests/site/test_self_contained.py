"""Every page over http, some as files: alone in the world, without errors, light, and drawn only when seen.

As files, and without a network, `test_offline` opens every page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.site.conftest import PLOTLY, Site, listen, scroll_through, settled
from torchbook.press.ship.speed import BUDGET

AS_FILES = 2  # pages with plotly's figures


@dataclass(frozen=True)
class Visit:
    """What one page did while it was opened and read to its end."""

    page: str
    foreign: list[str]
    missing: list[str]
    errors: list[str]
    gzipped: int
    figures: int
    undrawn: int
    far: bool
    plotly_before: bool
    plotly_after: bool

    @property
    def complaints(self) -> list[str]:
        return [*self.foreign, *self.missing, *self.errors]


def visit(site: Site, context: BrowserContext, name: str, scheme: str) -> Visit:
    page = context.new_page()
    log = listen(page)
    page.goto(site.address(name, scheme))
    settled(page)
    tops = page.locator(".viz-mount[data-kind=plotly]").evaluate_all(
        "figures => figures.map((figure) => figure.getBoundingClientRect()).map((box) => box.width ? box.top : 1e9)"
    )
    before = log.asked_for(PLOTLY)
    scroll_through(page)
    undrawn = page.locator(".viz-mount[data-kind=plotly]:visible:not(:has(svg.main-svg))").count()
    found = Visit(
        page=f"{scheme} {name}",
        foreign=log.foreign,
        missing=log.missing,
        errors=log.errors,
        gzipped=log.gzipped(site) if scheme == "http" else 0,
        figures=len(tops),
        undrawn=undrawn,
        far=all(top > 2000 for top in tops),
        plotly_before=before,
        plotly_after=log.asked_for(PLOTLY),
    )
    page.close()
    return found


@pytest.fixture(scope="module")
def visits(site: Site, browser: Browser) -> list[Visit]:
    with browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce") as context:
        drawn = [name for name in site.pages if site.soup(name).select_one(".viz-mount[data-kind=plotly]")]
        both = [*(("http", name) for name in site.pages), *(("file", name) for name in drawn[:AS_FILES])]
        return [visit(site, context, name, scheme) for scheme, name in both]


def said(visits: list[Visit], what: Callable[[Visit], object]) -> list[str]:
    return [f"{one.page}: {found}" for one in visits if (found := what(one))]


def test_no_page_asks_another_host(visits: list[Visit]) -> None:
    assert not said(visits, lambda one: one.foreign)


def test_no_page_misses_a_file_or_reports_an_error(visits: list[Visit]) -> None:
    assert not said(visits, lambda one: one.complaints)


def test_figures_are_drawn_when_they_are_reached(visits: list[Visit]) -> None:
    assert not said(visits, lambda one: one.undrawn and f"{one.undrawn} of {one.figures} figures not drawn")


def test_plotly_is_loaded_only_where_and_when_a_figure_is_near(visits: list[Visit]) -> None:
    assert not said(visits, lambda one: not one.figures and one.plotly_after and "plotly without a figure")
    assert not said(visits, lambda one: one.far and one.plotly_before and "plotly before its figures are near")


def test_pages_are_light(visits: list[Visit], site: Site) -> None:
    def too_heavy(one: Visit) -> str:
        scheme, name = one.page.split(" ")
        math = scheme == "http" and site.soup(name).select_one(".math") is not None
        budget = 1000 * BUDGET.most_kb(name, math=math)
        return f"{one.gzipped / 1000:.0f} kB gzipped, {budget / 1000:.0f} allowed" if one.gzipped > budget else ""

    assert not said(visits, too_heavy)
