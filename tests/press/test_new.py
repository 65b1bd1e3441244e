"""A chapter that was laid out runs as it is and has its place in the contents; so has a figure its parts."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from rich.console import Console

from torchbook_press import new as authors
from torchbook_press import run as press
from torchbook_press.chapters import ChapterError, chapters

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


@pytest.fixture
def clone(tmp_path: Path, repo: Path) -> Path:
    """As much of a clone as a new figure needs."""
    index = tmp_path / "torchbook/viz/__init__.py"
    index.parent.mkdir(parents=True)
    index.write_text((repo / "torchbook/viz/__init__.py").read_text())
    return tmp_path


def test_a_new_figure_has_its_parts_and_its_name_in_the_package(clone: Path) -> None:
    written = authors.lay_out_figure(clone, "echo", "An echo")
    assert all((clone / path).is_file() for path in written)
    assert json.loads((clone / "torchbook/viz/src/echo/setup.json").read_text())["title"] == "An echo"
    lines = (clone / "torchbook/viz/__init__.py").read_text().splitlines()
    at = lines.index("    from torchbook.viz.echo import EchoFigure")
    assert lines[at - 1] < lines[at] < lines[at + 1]


def test_its_python_and_its_module_have_no_field_left_open(clone: Path) -> None:
    written = authors.lay_out_figure(clone, "echo", "An echo")
    texts = {path.suffix: (clone / path).read_text() for path in written}
    ast.parse(texts[".py"])
    assert 'kind: "echo"' in texts[".js"]
    assert "`${count} square${count === 1 ? " in texts[".js"]


@pytest.mark.parametrize(
    ("name", "title", "said"),
    [("Echo", "An echo", "'Echo' is no name"), ("echo", 'An "echo"', "is no title"), ("viz", "Twice", "there already")],
)
def test_a_figure_that_cannot_be_is_said(clone: Path, name: str, title: str, said: str) -> None:
    (clone / "torchbook/viz/viz.py").touch()
    with pytest.raises(ChapterError, match=said):
        authors.lay_out_figure(clone, name, title)
