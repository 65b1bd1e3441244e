"""The errata, the advice and the pitfalls: an address for every entry, and what it rests on, followed and looked at."""

from __future__ import annotations

import copy
import posixpath
import re
from collections import Counter
from collections.abc import Iterator

import pytest
from bs4 import Tag

from tests.site.built import Site

ERRATA, ADVICE = "book/appendix/errata.html", "book/appendix/advice.html"
# How many there are of each series, numbered from 1; x are contradictions.
SERIES = {"e-000": 38, "e-001": 51, "e-002": 59, "e-003": 31, "e-004": 44, "x": 11}
LISTS = {"advice": 10, "pitfall": 10}
_ADDRESS = re.compile(r"(?:e-\d{3}|x|advice|pitfall)-\d+")
_DATED = re.compile(r"\b20\d\d\b")
_QUOTED = re.compile(r"[\"“”]([^\"“”]*)[\"“”]")
# Words that torch itself says, and a cell compares with what it says.
_QUOTATIONS = {"Cannot re-initialize CUDA in forked subprocess"}
_CELL, _SECTION = '<div class="cell ', "<section"
_ASSERTS = re.compile(r"^\s*assert\b|\b(?:assert_close|holds)\(", re.MULTILINE)


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


def _errata(site: Site) -> Iterator[tuple[list[str], Tag, Tag]]:
    """Addresses, entry and badge of each claim."""
    for addresses, item in _entries(site, ERRATA):
        if not addresses[0].startswith("x-"):
            (badge,) = item.select(".claim")
            yield addresses, item, badge


def _cells(site: Site, href: str) -> list[str]:
    """The cells that a link from the errata leads to: one that is its target, or those of a section."""
    name, _, anchor = href.partition("#")
    html = site.file(posixpath.normpath(posixpath.join(posixpath.dirname(ERRATA), name))).read_text(encoding="utf-8")
    at = html.index(f'id="{anchor}"')
    opening = html[html.rindex("<", 0, at) : at]
    if opening.startswith(_CELL):
        return [opening + html[at:].split(_CELL, 1)[0]]
    start, depth = html.rindex(_SECTION, 0, at), 0
    for tag in re.finditer(r"</?section\b", html[start:]):
        depth += 1 if tag[0] == _SECTION else -1
        if not depth:
            return [_CELL + cell for cell in html[start : start + tag.start()].split(_CELL)[1:]]
    raise AssertionError(f"{href}: the section has no end")


def _shows(cell: str) -> bool:
    """Whether a cell asserts, or raises what it is to raise."""
    source = (
        cell.partition("cell_input")[2].partition("cell_output")[0].replace("</summary>", "\n")
    )  # checks are folded
    code = re.sub(r"<[^>]+>", "", source)
    return "tag_raises-exception" in cell.partition(">")[0] or _ASSERTS.search(code) is not None


def test_a_verdict_that_rests_on_a_cell_leads_to_one_that_asserts_or_raises(site: Site) -> None:
    followed = 0
    for addresses, _, badge in _errata(site):
        if badge.get_text() in ("refuted", "in part"):
            (link,) = badge.select("a")
            assert any(_shows(cell) for cell in _cells(site, link["href"])), addresses
            followed += 1
    assert followed > 150


def test_what_is_cited_names_its_source_and_date(site: Site) -> None:
    for addresses, item, badge in _errata(site):
        if badge.get_text() == "cited":
            assert item.select("a.external"), addresses
            assert _DATED.search(item.get_text()), addresses


def test_the_legend_counts_the_entries(site: Site) -> None:
    counted = Counter(badge.get_text() for _, _, badge in _errata(site))
    items = (item for item in site.soup(ERRATA).select("article li") if not _addresses(item))
    legend = [item.get_text().split(":")[0].rsplit(" ", 1) for item in items if item.select(".claim")]
    assert {word: int(count) for word, count in legend} == counted


def test_quotation_marks_stand_around_quotations_only(site: Site) -> None:
    for addresses, item, _ in _errata(site):
        prose = copy.copy(item)
        for code in prose.select("code"):
            code.extract()
        assert set(_QUOTED.findall(prose.get_text())) <= _QUOTATIONS, addresses


def test_addresses_stand_in_anchors_alone(site: Site) -> None:
    assert not _ADDRESS.findall(site.soup(ERRATA).select_one("article").get_text(" "))


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
