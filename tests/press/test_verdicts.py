"""Badges of claims: each that rests on a cell leads to one that asserts or raises, or the build fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag

from tests.press.conftest import Book, cell, small_book

CHAPTER = (
    "(asserts)=",
    cell("assert 1"),
    "(raises)=",
    cell("1 / 0", raises="ZeroDivisionError"),
    "(section)=\n## A section",
    cell("2"),
    cell("for i in 1, 2:\n    assert i"),
    "(silent)=",
    cell("3  # assert"),
    "(words)=\n## Words alone\n\nAssert nothing.",
)
PAGE = """# Claims

- {verdicts}`refuted`, {verdicts}`in part`, {verdicts}`cited`, {verdicts}`judgement`.

- {verdict}`refuted <asserts>` One.
- {verdict}`refuted <raises>` Two.
- {verdict}`in part <section>` Three.
- {verdict}`cited` Four.
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Book:
    """A chapter that ran, and a page of claims about it, built."""
    made = small_book(tmp_path_factory.mktemp("verdicts"), repo)
    made.chapter("cells", *CHAPTER)
    made.page("claims", PAGE)
    done = made.torchbook("book")
    assert done.exit_code == 0, done.output
    return made


@pytest.fixture(scope="module")
def badges(book: Book) -> list[Tag]:
    """The badges of the page, those of its legend first."""
    return BeautifulSoup(book.html("claims"), "html.parser").select("article .claim")


def test_a_badge_is_words_that_lead_to_its_cell(badges: list[Tag]) -> None:
    links = [(badge.get_text(), link["href"]) for badge in badges for link in badge.select("a")]
    assert [word for word, _ in links] == ["refuted", "refuted", "in part"]
    assert [place for _, place in links] == ["cells.html#asserts", "cells.html#raises", "cells.html#section"]
    assert badges[-1].get_text() == "cited"


def test_a_legend_counts_the_entries(badges: list[Tag]) -> None:
    assert badges[0].parent is not None
    assert badges[0].parent.get_text() == "refuted 2, in part 1, cited 1, judgement 0."


@contextmanager
def with_entry(book: Book, entry: str) -> Iterator[None]:
    page = book.page("claims", f"{PAGE}- {entry}\n")
    yield
    page.write_text(PAGE, encoding="utf-8")


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ("{verdict}`refuted <silent>`", "a badge leads to 'silent', where no cell asserts or raises"),
        ("{verdict}`in part <words>`", "a badge leads to 'words', where no cell asserts or raises"),
        ("{verdict}`refuted <nowhere>`", "undefined label: 'nowhere'"),
        ("{verdict}`refuted`", "refuted and in part lead to a cell, the others to none"),
        ("{verdict}`cited <asserts>`", "refuted and in part lead to a cell, the others to none"),
        ("{verdict}`wrong`", "a verdict is one of refuted, in part, cited, judgement"),
        ("{verdicts}`wrong`", "a verdict is one of refuted, in part, cited, judgement"),
    ],
)
def test_a_badge_without_its_ground_fails_the_build(book: Book, entry: str, complaint: str) -> None:
    with with_entry(book, entry):
        done = book.printed()
    assert done.returncode != 0
    assert complaint in done.stdout + done.stderr
    assert "book/claims.md:9" in done.stdout + done.stderr


def test_a_badge_fails_when_its_cell_asserts_no_longer(book: Book) -> None:
    chapter = book.root / "book" / "cells.md"
    before = chapter.read_text()
    chapter.write_text(before.replace("assert 1", "1"), encoding="utf-8")
    try:
        assert book.torchbook("run").exit_code == 0
        done = book.printed()
    finally:
        chapter.write_text(before, encoding="utf-8")
    assert "a badge leads to 'asserts', where no cell asserts or raises" in done.stdout + done.stderr
