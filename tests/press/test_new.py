"""A chapter that was laid out runs as it is, has its place in the contents, and says what is to be done."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from torchbook_press import run as press
from torchbook_press.chapters import chapters

from .conftest import Book


@pytest.fixture
def filled(book: Book) -> Book:
    """A book with a part that has a chapter."""
    (book.root / "book/phases").mkdir()
    book.chapter("phases/p01-first")
    page = book.root / "book/phases/p01-first.md"
    page.write_text(page.read_text().replace("id: phases/p01-first", "id: p01"))
    return book


def new(book: Book, *words: str) -> tuple[int, str]:
    done = book.torchbook("new", "chapter", *words)
    return done.exit_code, done.output + done.stderr


def test_a_new_chapter_runs_as_it_is(filled: Book) -> None:
    code, said = new(filled, "phases", "p02", "What, now?")
    assert (code, "book/phases/p02-what-now.md, named in _toc.yml" in said) == (0, True)
    chosen = chapters(filled.root, ("p02",))
    report = press.run(chosen, press.Options(backend="threading"), Console(quiet=True))
    assert (list(report.ran), report.failed) == (["book/phases/p02-what-now"], [])
    assert "# What, now?\n" in chosen[0].text


def test_its_place_is_behind_the_last_chapter_of_its_part(filled: Book) -> None:
    new(filled, "phases", "p02", "Second")
    docnames = [chapter.docname for chapter in chapters(filled.root)]
    assert docnames == ["book/phases/p01-first", "book/phases/p02-second"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("phase", "p02", "Second"), "no chapters in book/phase; there are those of: phases"),
        (("phases", "P 2", "Second"), "'P 2' is no id of a chapter"),
        (("phases", "p01", "Second"), "p01 is there already: book/phases/p01-first.md"),
        (("phases", "p02", "?"), "no file can be named after the title '?'"),
    ],
)
def test_what_cannot_be_laid_out_is_said_and_nothing_written(filled: Book, words: tuple[str, ...], said: str) -> None:
    before = (filled.root / "_toc.yml").read_text()
    code, output = new(filled, *words)
    assert (code, said in output) == (2, True)
    assert (filled.root / "_toc.yml").read_text() == before
    assert len(list(Path(filled.root / "book/phases").iterdir())) == 1
