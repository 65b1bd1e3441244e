"""Listings: less HTML than Pygments', and highlighted once."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from pygments.token import Keyword
from sphinx.highlighting import PygmentsBridge

from torchbook_press import build
from torchbook_press.site.listings import Cells
from torchbook_press.success import Stamp

from .conftest import Book, small_book


@pytest.fixture
def built(tmp_path: Path, repo: Path) -> Book:
    """A book with two pages of listings, built."""
    book = small_book(tmp_path, repo)
    book.page("one", "# One\n\nProse.\n\n```python\nfirst = 1  # a number\n```\n\n```python\nsecond = first\n```\n")
    book.page("two", "# Two\n\n```python\nfirst = 1  # a number\n```\n")
    assert build.html(book.root) == 0
    return book


@pytest.fixture
def highlighted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The listings that Pygments highlights from now on."""
    sources: list[str] = []
    highlight = PygmentsBridge.highlight_block

    def noted(self: PygmentsBridge, source: str, *args: object, **kwargs: object) -> str:
        sources.append(source)
        return str(highlight(self, source, *args, **kwargs))

    monkeypatch.setattr(PygmentsBridge, "highlight_block", noted)
    return sources


def rewrite(book: Book, old: str, new: str) -> str:
    """Change page one, build, and give its HTML."""
    path = book.root / "book/one.md"
    path.write_text(path.read_text().replace(old, new))
    assert build.html(book.root) == 0
    return (book.root / "_build/html/book/one.html").read_text()


def test_only_what_changed_is_highlighted(built: Book, highlighted: list[str]) -> None:
    html = rewrite(built, "Prose.", "Other prose.")
    assert highlighted == []
    # Marked is only what differs from plain text, now as in the first build.
    assert '<span class="c1"># a number</span>' in html
    assert '<span class="n">' not in html
    html = rewrite(built, "second = first", "third = first")
    assert highlighted == ["third = first\n"]
    assert "third" in html
    assert "second" not in html
    rewrite(built, "third = first", "second = first")  # what is on no page is forgotten
    assert highlighted == ["third = first\n", "second = first\n"]


def test_listings_that_another_version_kept_are_not_taken(built: Book, highlighted: list[str]) -> None:
    work = build.Work(built.root)
    path = work.doctrees / "listings.pickle"
    kept = pickle.loads(path.read_bytes())
    path.write_bytes(pickle.dumps({**kept, "salt": "another"}))
    stamp = Stamp.load(work.stamp)
    assert stamp is not None
    replace(stamp, work=work.state()).save(work.stamp)  # so that the build goes on from there
    assert "a number" in rewrite(built, "Prose.", "Other prose.")
    assert highlighted == ["first = 1  # a number\n", "second = first\n"]


def test_a_cell_of_ranks_is_highlighted_as_the_python_that_it_is() -> None:
    tokens = list(Cells().get_tokens("%%ranks 4 --name sums\nimport torch\n"))
    assert (Keyword.Namespace, "import") in tokens
    assert (Keyword, "ranks") in tokens
