"""What pages cost their readers, measured in Chromium and held to the budgets.

Looked at are a page of each kind, and the three largest. The weight of every page is in `test_pages`; beside that of
stock Jupyter Book's, which needs no quiet machine, in `test_stock`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser import SLACK
from tests.site.built import KINDS_OF_PAGES, SITE, Site, first_page, pages_in
from tests.site.conftest import proofs
from tests.site.keeping import tools
from torchbook_press.ship import speed
from torchbook_press.ship.speed import BUDGET, DESKTOP, PHONE, Book, How, Measured, books, broken, measure
from torchbook_proofs import Key, digest, processor

pytestmark = pytest.mark.alone

ONCE = How(loads=1)
MOST_LOADS = 12  # whatever else a machine does can only add to a time, so the least of some loads counts


def _largest() -> list[str]:
    """The three longest pages of the book."""
    return sorted(pages_in(SITE), key=lambda page: (SITE / page).stat().st_size)[-3:]


PAGES = list(dict.fromkeys([*KINDS_OF_PAGES, *_largest()]))
Measure = Callable[[str], Measured]


@pytest.fixture(scope="module")
def served(site: Site) -> Iterator[Book]:
    with books(site.folder.parents[1]) as (ours, _):
        yield ours


def least(browser: Browser, book: Book, page: str) -> Measured:
    """Opened until its times keep the budget, or often enough to say that they do not."""
    best = measure(browser, book, page, ONCE)
    for _ in range(MOST_LOADS - 1):
        if not broken(best):
            break
        again = measure(browser, book, page, ONCE)
        times = {"task_ms": min(best.task_ms, again.task_ms)}
        if best.interaction_ms is not None and again.interaction_ms is not None:
            times["interaction_ms"] = min(best.interaction_ms, again.interaction_ms)
        best = replace(best, **times)
    print(best)
    return best


def _key(page: str) -> Key:
    """A page's speed depends on its own bytes and on all that pages share; the index of the search is no part of it."""
    shared = [path for path in sorted((SITE / "_static").iterdir()) if path.name != "search"]
    sources = [Path(__file__), Path(speed.__file__)]
    parts = {"html": digest(SITE / page), "shared": digest(*shared), "processor": processor(), **tools()}
    return Key("speed", page, parts | {"measured by": digest(*sources)})


@pytest.fixture(scope="module")
def of(served: Book, request: pytest.FixtureRequest) -> Measure:
    """What a page costs: kept, if it has kept the budget with the same bytes on such a processor, or measured once."""

    @functools.cache
    def measured(page: str) -> Measured:
        kept = proofs().get(_key(page))
        if kept is not None:
            return Measured(**kept)
        best = least(request.getfixturevalue("browser"), served, page)
        if not broken(best):
            proofs().put(_key(page), asdict(best))
        return best

    return measured


@pytest.mark.parametrize("page", PAGES)
def test_no_task_is_long_while_a_page_loads(of: Measure, page: str) -> None:
    assert of(page).task_ms <= BUDGET.task_ms * SLACK


@pytest.mark.parametrize("page", PAGES)
def test_pages_make_few_requests(of: Measure, page: str) -> None:
    assert of(page).requests <= BUDGET.requests


@pytest.mark.parametrize("page", PAGES)
def test_a_visualizer_soon_answers(of: Measure, site: Site, page: str) -> None:
    time = of(page).interaction_ms
    assert (time is None) == (site.soup(page).select_one("[data-kind=anywidget]") is None)
    assert time is None or time <= BUDGET.interaction_ms * SLACK


def test_a_page_with_visualizers_is_measured(of: Measure) -> None:
    assert of(first_page("p01")).interaction_ms is not None


@pytest.mark.parametrize("page", PAGES)
def test_nothing_jumps(of: Measure, page: str) -> None:
    assert of(page).shift <= BUDGET.shift


def jumping(measured: list[Measured]) -> dict[str, float]:
    print({page.page: page.shift for page in measured})
    return {page.page: page.shift for page in measured if page.shift > BUDGET.shift}


@pytest.mark.parametrize(("size", "cached"), [(DESKTOP, True), (PHONE, False), (PHONE, True)])
def test_nothing_jumps_elsewhere(browser: Browser, served: Book, size: tuple[int, int], cached: bool) -> None:
    """On a phone, and when all comes at once from the cache."""
    how = How(size, 1, 1, cached)
    assert jumping([measure(browser, served, page, how, use=False) for page in KINDS_OF_PAGES[:2]]) == {}
