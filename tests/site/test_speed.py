"""What pages cost their readers, measured in Chromium and held to the budgets, and against stock Jupyter Book.

Compared are three pages: one with visualizers and without plotly, one with formulas, one of prose. Long tasks are
looked for there and on the three largest pages. The weight of every page is in `test_self_contained`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser

from tests.conftest import SLACK
from tests.site.conftest import Site
from torchbook.press.ship.speed import BUDGET, DESKTOP, PHONE, Book, How, Measured, books, broken, measure
from torchbook.press.ship.stock import NoComparisonError

pytestmark = pytest.mark.alone

COMPARED = (
    "book/phases/p01-tensors.html",
    "book/foundations/s05-reinforcement-learning.html",
    "book/appendix/errata.html",
)
ONCE = How(loads=1)
MOST_LOADS = 12  # whatever else a machine does can only add to a time, so the least of some loads counts


@pytest.fixture(scope="module")
def served(site: Site) -> Iterator[Book]:
    with books(site.root.parents[1]) as (ours, _):
        yield ours


def largest(site: Site) -> list[str]:
    """The three longest pages of the book."""
    return sorted(site.pages, key=lambda page: (site.root / page).stat().st_size)[-3:]


def least(browser: Browser, book: Book, page: str) -> Measured:
    """Opened until its times keep the budget, or often enough to say that they do not."""
    found = measure(browser, book, page, ONCE)
    for _ in range(MOST_LOADS - 1):
        if not broken(found):
            break
        again = measure(browser, book, page, ONCE)
        times = {"task_ms": min(found.task_ms, again.task_ms)}
        if found.interaction_ms is not None and again.interaction_ms is not None:
            times["interaction_ms"] = min(found.interaction_ms, again.interaction_ms)
        found = replace(found, **times)
    print(found)
    return found


@pytest.fixture(scope="module")
def measured(site: Site, browser: Browser, served: Book) -> list[Measured]:
    pages = dict.fromkeys([*COMPARED, *largest(site)])
    return [least(browser, served, page) for page in pages]


def test_no_task_is_long_while_a_page_loads(measured: list[Measured]) -> None:
    assert {one.page: one.task_ms for one in measured if one.task_ms > BUDGET.task_ms * SLACK} == {}


def test_pages_make_few_requests(measured: list[Measured]) -> None:
    assert {one.page: one.requests for one in measured if one.requests > BUDGET.requests} == {}


def test_a_visualizer_soon_answers(measured: list[Measured]) -> None:
    times = {one.page: one.interaction_ms for one in measured if one.interaction_ms is not None}
    assert "book/phases/p01-tensors.html" in times
    assert {page: time for page, time in times.items() if time > BUDGET.interaction_ms * SLACK} == {}


def jumping(found: list[Measured]) -> dict[str, float]:
    print({one.page: one.shift for one in found})
    return {one.page: one.shift for one in found if one.shift > BUDGET.shift}


def test_nothing_jumps(measured: list[Measured]) -> None:
    assert jumping(measured) == {}


@pytest.mark.parametrize(("size", "cached"), [(DESKTOP, True), (PHONE, False), (PHONE, True)])
def test_nothing_jumps_elsewhere(browser: Browser, served: Book, size: tuple[int, int], cached: bool) -> None:
    """On a phone, and when all comes at once from the cache."""
    how = How(size, 1, 1, cached)
    assert jumping([measure(browser, served, page, how, use=False) for page in COMPARED[:2]]) == {}


def test_pages_are_a_third_of_stock_jupyter_books(site: Site, browser: Browser, measured: list[Measured]) -> None:
    try:
        with books(site.root.parents[1], COMPARED) as (_, stock):
            others = {page: measure(browser, stock, page, ONCE) for page in COMPARED}
    except NoComparisonError as error:
        if os.environ.get("TORCHBOOK_REQUIRE_NPM") == "1":
            pytest.fail(str(error))
        pytest.skip(reason=str(error))
    times = {one.page: others[one.page].kb / one.kb for one in measured if one.page in others}
    print({page: f"{other.kb} kB, {times[page]:.1f} times" for page, other in others.items()})
    assert {page: ratio for page, ratio in times.items() if ratio < BUDGET.times_less} == {}
    # The stock page was whole: its visualizer answered too.
    assert [others[page].interaction_ms is not None for page in COMPARED] == [True, False, False]
