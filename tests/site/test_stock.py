"""What pages weigh, beside the same pages as stock Jupyter Book prints them.

Bytes are the same however busy a machine is, so that this runs beside other tests, unlike the times in `test_speed`.
"""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import Browser

from tests.site.built import KINDS_OF_PAGES, Site
from torchbook_press.ship.speed import BUDGET, How, books, measure
from torchbook_press.ship.stock import NoComparisonError

ONCE = How(loads=1)


def test_pages_are_a_third_of_stock_jupyter_books(site: Site, browser: Browser) -> None:
    try:
        with books(site.folder.parents[1], KINDS_OF_PAGES) as (ours, stock):
            own = {page: measure(browser, ours, page, ONCE, use=False) for page in KINDS_OF_PAGES}
            others = {page: measure(browser, stock, page, ONCE) for page in KINDS_OF_PAGES}
    except NoComparisonError as error:
        if os.environ.get("TORCHBOOK_REQUIRE_NPM") == "1":
            pytest.fail(str(error))
        pytest.skip(reason=str(error))
    times = {page: others[page].kb / own[page].kb for page in KINDS_OF_PAGES}
    print({page: f"{other.kb} kB, {times[page]:.1f} times" for page, other in others.items()})
    assert {page: ratio for page, ratio in times.items() if ratio < BUDGET.times_less} == {}
    # The stock page was whole: its visualizer answered too.
    assert [others[page].interaction_ms is not None for page in KINDS_OF_PAGES] == [True, False, False]
