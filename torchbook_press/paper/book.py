"""What the paper editions print: the pages of the built site in their order, and what stands on the title page."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml
from sphinx_external_toc.parsing import MalformedError, parse_toc_yaml

from torchbook import __version__
from torchbook_press.chapters import Chapter
from torchbook_press.run import commit, run_metadata

_CONFIG = "_config.yml"
_TOC = "_toc.yml"


class PaperError(Exception):
    """An edition cannot be made; the message says why, naming file or page, and what to do."""


@dataclass(frozen=True)
class Part:
    """Pages below one caption, by their docnames; the opening page has none. `inner` are those of chapters that are
    folders, each below the last page before it that is none of them."""

    caption: str
    docnames: tuple[str, ...]
    inner: frozenset[str] = frozenset()

    @property
    def chapters(self) -> list[list[str]]:
        """The pages chapter by chapter."""
        groups: list[list[str]] = []
        for docname in self.docnames:
            if docname in self.inner and groups:
                groups[-1].append(docname)
            else:
                groups.append([docname])
        return groups


@dataclass(frozen=True)
class Book:
    """The built site as a book. `date` is that of the commit, or of the newest run where there is no git."""

    root: Path
    title: str
    author: str
    language: str
    url: str
    version: str
    commit: str
    date: str
    parts: tuple[Part, ...]

    @property
    def site(self) -> Path:
        return self.root / "_build" / "html"

    @property
    def docnames(self) -> tuple[str, ...]:
        return tuple(docname for part in self.parts for docname in part.docnames)

    @property
    def edition(self) -> str:
        """Version, date and commit in a line."""
        facts = (f"Version {self.version}", self.date, f"commit {self.commit}" if self.commit else "")
        return " · ".join(fact for fact in facts if fact)

    def path(self, docname: str) -> Path:
        return self.site / f"{docname}.html"

    def online(self, docname: str) -> str:
        """Address of a page on the published site."""
        return f"{self.url}/{quote(docname)}.html"


def load(root: Path) -> Book:
    """The book whose site is built in `root`.

    Raises:
        PaperError: configuration or table of contents are not there or malformed, or a page is not built.
    """
    config = _config(root)
    parts = tuple(_parts(root))
    book = Book(
        root=root,
        title=str(config["title"]),
        author=str(config.get("author", "")),
        language=str(config.get("sphinx", {}).get("config", {}).get("language", "en")),
        url=str(config.get("html", {}).get("baseurl", "")).rstrip("/"),
        version=__version__,
        commit=commit(root),
        date=_date(root, parts),
        parts=parts,
    )
    for docname in book.docnames:
        if not book.path(docname).is_file():
            raise PaperError(f"_build/html/{docname}.html:1: missing; build the book first: make book")
    return book


def _config(root: Path) -> dict[str, Any]:
    try:
        config = yaml.safe_load((root / _CONFIG).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PaperError(f"{_CONFIG}:1: missing; run from the root of the book") from None
    except yaml.YAMLError as error:
        raise PaperError(f"{_CONFIG}:1: {error}") from None
    if not isinstance(config, dict) or "title" not in config:
        raise PaperError(f"{_CONFIG}:1: no title; it is what the book is called")
    return config


def _parts(root: Path) -> Iterator[Part]:
    try:
        toc = parse_toc_yaml(root / _TOC)
    except FileNotFoundError:
        raise PaperError(f"{_TOC}:1: missing; run from the root of the book") from None
    except (MalformedError, yaml.YAMLError) as error:
        raise PaperError(f"{_TOC}:1: {error}") from None
    yield Part("", (toc.root.docname,))

    def below(docname: str) -> Iterator[str]:
        yield docname
        for tree in toc[docname].subtrees:
            for item in tree.items:
                if item in toc:
                    yield from below(str(item))

    for tree in toc.root.subtrees:
        chapters = [tuple(below(str(item))) for item in tree.items if item in toc]
        inner = frozenset(name for _, *pages in chapters for name in pages)
        yield Part(tree.caption or "", tuple(name for pages in chapters for name in pages), inner)


def _date(root: Path, parts: tuple[Part, ...]) -> str:

    try:
        completed = subprocess.run(
            ["git", "show", "-s", "--format=%cs"], cwd=root, capture_output=True, text=True, check=True
        )
        return completed.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        chapters = (Chapter(root, docname) for part in parts for docname in part.docnames)
        dates = (run_metadata(chapter).get("date", "") for chapter in chapters if chapter.executed.is_file())
        return max(dates, default="")
