"""The errata, the advice and the pitfalls: an address for every entry, and a place that shows it or a word why not."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from bs4 import Tag

from tests.site.built import Site

ERRATA, ADVICE = "book/appendix/errata.html", "book/appendix/advice.html"
# How many there are of each series, numbered from 1; x are contradictions.
SERIES = {"e-000": 38, "e-001": 51, "e-002": 59, "e-003": 31, "e-004": 44, "x": 11}
LISTS = {"advice": 10, "pitfall": 10}
_ADDRESS = re.compile(r"(?:e-\d{3}|x|advice|pitfall)-\d+")
_MARK = re.compile(r"not run in this edition", re.IGNORECASE)


def _addresses(part: Tag) -> list[str]:
    return [tag["id"] for tag in part.select("[id]") if _ADDRESS.fullmatch(tag["id"])]


def _entries(site: Site, page: str) -> Iterator[tuple[list[str], Tag]]:
    for item in site.soup(page).select("article li"):
        if addresses := _addresses(item):
            yield addresses, item


def _leads_into_the_book(item: Tag) -> bool:
    return any(not link["href"].startswith("#") for link in item.select("a.reference.internal[href]"))


def test_every_erratum_has_its_address_once(site: Site) -> None:
    expected = [f"{series}-{n:02}" for series, count in SERIES.items() for n in range(1, count + 1)]
    assert sorted(_addresses(site.soup(ERRATA))) == sorted(expected)
    assert sorted(address for addresses, _ in _entries(site, ERRATA) for address in addresses) == sorted(expected)


def test_every_erratum_is_shown_or_says_why_not(site: Site) -> None:
    bare = [
        addresses
        for addresses, item in _entries(site, ERRATA)
        if not addresses[0].startswith("x-") and not _leads_into_the_book(item) and not _MARK.search(item.get_text(" "))
    ]
    assert not bare


def test_contradictions_lead_to_an_erratum(site: Site) -> None:
    for addresses, item in _entries(site, ERRATA):
        if addresses[0].startswith("x-"):
            assert [link["href"] for link in item.select("a[href^='#e-']")], addresses


@pytest.mark.parametrize("series", LISTS)
def test_advice_and_pitfalls_are_each_shown(site: Site, series: str) -> None:
    shown = [addresses for addresses, item in _entries(site, ADVICE) if _leads_into_the_book(item)]
    assert [address for addresses in shown for address in addresses if address.startswith(series)] == [
        f"{series}-{n}" for n in range(1, LISTS[series] + 1)
    ]
