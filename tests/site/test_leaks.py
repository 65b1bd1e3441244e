"""Nothing that is kept for grading is on the site: not on its pages, nor in search index, sources or notebooks."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from html import escape
from pathlib import Path

import pytest

from tests.press.conftest import Book, small_book, write_exercises
from tests.site.built import Site
from tests.site.leaks import leaks, secrets, texts
from torchbook.practice import shelf
from torchbook.practice.exercise import PAGES, Exercise, load
from torchbook.practice.hunts import hunts
from torchbook_press.build import html

HIDDEN_LINE = "for kangaroo in range(seed, seed + 20):"
WRONG_LINE = "three_is_always_right = 3"
PRIVATE_TITLE = "A secret platypus exercise"


def test_the_site_has_no_hidden_check_no_wrong_answer_and_nothing_of_instructors(site: Site, repo: Path) -> None:
    chapters = "\n".join(path.read_text(encoding="utf-8") for path in (repo / "book").rglob("*.md"))
    hunted = "\n".join(f"{one.thought}\n{one.shown}\n{one.diff}\n" for one in hunts())  # shown on purpose
    wanted = secrets(shelf.shelf().values(), f"{chapters}\n{hunted}")
    read = list(texts(site.root))
    names = {name for name, _ in read}
    assert {"searchindex.js", "objects.inv"} < names
    assert any(name.startswith("_sources/") for name in names)
    assert any(name.startswith("notebooks/") for name in names)
    assert len(wanted) > 100
    assert leaks(read, wanted) == []


# That the search would find them.


@pytest.fixture
def own(tmp_path: Path) -> list[Exercise]:
    write_exercises(tmp_path / "own")
    return [load(page.parent) for page in sorted((tmp_path / "own").glob(PAGES))]


def _page(secret: str) -> bytes:
    code = "".join(f'<span class="n">{escape(word)}</span> ' for word in secret.split(" "))
    return f"<html><body><p>Text.</p><pre>x = 1\n    {code}\n</pre></body></html>".encode()


def _notebook(secret: str) -> bytes:
    return json.dumps({"cells": [{"source": ["a = 1\n", f"    {secret}\n", "b = 2"]}]}).encode()


def _inventory(secret: str) -> bytes:
    return b"# 1\n# 2\n# 3\n# 4\n" + zlib.compress(f"ex std:label -1 page.html# {secret}\n".encode())


@pytest.mark.parametrize("secret", [HIDDEN_LINE, WRONG_LINE, PRIVATE_TITLE, "t01-x9", "def test_hidden_many(add)"])
@pytest.mark.parametrize(
    ("file", "written"),
    [
        ("book/page.html", _page),
        ("notebooks/page.ipynb", _notebook),
        ("_sources/page.md", str.encode),
        ("searchindex.js", lambda secret: f'Search.setIndex({{"titles":["{secret}"]}})'.encode()),
        ("objects.inv", _inventory),
    ],
    ids=["page", "notebook", "source", "search", "inventory"],
)
def test_a_planted_secret_is_found(
    own: list[Exercise], tmp_path: Path, secret: str, file: str, written: Callable[[str], bytes]
) -> None:
    path = tmp_path / "site" / file
    path.parent.mkdir(parents=True)
    path.write_bytes(written(secret))
    assert [leak for leak in leaks(texts(tmp_path / "site"), secrets(own)) if leak.startswith(f"{file}: ")]


@pytest.mark.parametrize("text", ["def add(a: int, b: int) -> int:", "t01-x90", "one and two are three", "add(1, 2)"])
def test_what_is_public_is_no_leak(own: list[Exercise], text: str) -> None:
    assert leaks([("page", text)], secrets(own)) == []


@pytest.fixture(scope="module")
def leaky(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Book:
    """A book that knows a private exercise; one of its pages shows what it may, one what it may not."""
    root = tmp_path_factory.mktemp("leaky")
    write_exercises(root / "own")
    book = small_book(root, repo)
    book.page("careful", "# Careful\n\n:::{exercise} t01-x1\n:::\n\n:::{exercise} t01-x2\n:::\n")
    book.page("all", "# All\n\n:::{exercise-list}\n:::\n")
    book.page("careless", f"# Careless\n\n## {PRIVATE_TITLE}\n\n```python\n{HIDDEN_LINE}\n```\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(shelf.ROOTS, str(root / "own"))
        assert html(book.root) == 0
    return book


def test_a_built_book_leaks_only_what_a_page_has_pasted(leaky: Book) -> None:
    wanted = secrets(load(page.parent) for page in (leaky.root / "own").glob(PAGES))
    leaked = leaks(texts(leaky.root / "_build" / "html"), wanted)
    assert f"book/careless.html: t01-x1: a hidden check: {HIDDEN_LINE}" in leaked
    assert f"searchindex.js: t01-x9: for instructors: {PRIVATE_TITLE}" in leaked
    assert {entry.partition(": ")[0] for entry in leaked} == {
        *("book/careless.html", "book/careless.md", "_sources/book/careless.md"),
        *("searchindex.js", "_static/search/book.careless.js"),
    }
