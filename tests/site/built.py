"""The built site, on the disk and on a local server."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from tests.browser import Log
from torchbook_press.chapters import chapters
from torchbook_press.site.moved import is_moved

SITE = Path(__file__).resolve().parents[2] / "_build" / "html"


def first_page(chapter: str) -> str:
    """The first page of a chapter that runs, relative to the site's root."""
    return f"{chapters(SITE.parents[1], (chapter,))[0].docname}.html"


# One page with visualizers and without plotly, one with formulas, one of prose.
KINDS_OF_PAGES = (
    first_page("p01"),
    "book/foundations/s05-reinforcement-learning.html",
    "book/appendix/errata.html",
)


def pages_in(root: Path) -> list[str]:
    """Every page of a built site, relative to its root; none where nothing is built. Old addresses are no pages."""
    names = {path.relative_to(root).as_posix(): path for path in root.rglob("*.html")}
    return sorted(name for name, path in names.items() if not (name.startswith("_static/") or _is_moved(path)))


def _is_moved(path: Path) -> bool:
    with path.open(encoding="utf-8") as page:
        return is_moved(page.read(1000))


@dataclass(frozen=True)
class Tag:
    """A tag that opens an element."""

    name: str
    attributes: dict[str, str]

    def has_class(self, name: str) -> bool:
        """Whether the element is of this class."""
        return name in self.attributes.get("class", "").split()


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[Tag] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(Tag(tag, {name: value or "" for name, value in attrs}))


@functools.cache
def _tags(path: Path) -> list[Tag]:
    parser = _Tags()
    parser.feed(path.read_text(encoding="utf-8"))
    parser.close()
    return parser.tags


@dataclass
class Notes:
    """What a test has read of the site, and of exercises, so that its proof is made again when that changes."""

    files: set[str] = field(default_factory=set)
    choices: dict[str, str] = field(default_factory=dict)  # selector -> the page that was chosen for it
    pages: bool = False  # it has asked which pages there are
    whole: bool = False  # it may have read anything
    exercises: set[str] = field(default_factory=set)  # folders of those that it has looked into

    def clear(self) -> None:
        """Begin anew, for the next test."""
        self.files, self.choices, self.pages, self.whole, self.exercises = set(), {}, False, False, set()


@dataclass(frozen=True)
class Site:
    """The site on disk and on a local server; it notes what is read of it."""

    folder: Path
    http: str
    notes: Notes = field(default_factory=Notes, compare=False)

    @property
    def root(self) -> Path:
        """Where the site is, for a test that may read any of it."""
        self.notes.whole = True
        return self.folder

    @property
    def pages(self) -> list[str]:
        """Every page, relative to the root."""
        self.notes.pages = True
        return pages_in(self.folder)

    def file(self, name: str) -> Path:
        """One file."""
        self.notes.files.add(name)
        return self.folder / name

    def soup(self, page: str) -> BeautifulSoup:
        """A page as it is written, parsed once a process."""
        return _soup(self.file(page))

    def tags(self, page: str) -> list[Tag]:
        """The tags of a page as they are written, in their order: much quicker than to parse it."""
        return _tags(self.file(page))

    def before_article(self, page: str) -> BeautifulSoup:
        """What stands on a page before its article: the head, the side bar and the buttons."""
        return BeautifulSoup(self.file(page).read_text(encoding="utf-8").partition("<article")[0], "html.parser")

    def having(self, selector: str) -> str:
        """The shortest page with such an element; no such page is a failure."""
        shortest = _having(self.folder, selector)
        if shortest is None:
            pytest.fail(f"no page of the book has {selector}")
        self.notes.choices[selector] = shortest
        return shortest

    def address(self, page: str, scheme: str) -> str:
        """Where a page is, by http or as a file."""
        return f"{self.http}/{page}" if scheme == "http" else (self.folder / page).as_uri()

    def asked(self, log: Log) -> None:
        """Note the files that a browser asked for."""
        self.notes.files |= log.files(self.http, self.folder.as_uri())


@functools.cache
def _having(folder: Path, selector: str) -> str | None:
    by_length = sorted(pages_in(folder), key=lambda page: (folder / page).stat().st_size)
    classes = _classes_needed(selector)
    likely = (page for page in by_length if _has_classes((folder / page).read_text(encoding="utf-8"), classes))
    return next((page for page in likely if _soup(folder / page).select_one(selector)), None)


def _classes_needed(selector: str) -> list[str]:
    """Classes without which nothing of a page is selected: that they are missing is seen quicker than parsed."""
    if "," in selector:
        return []
    without_negations = re.sub(r":not\((?:[^()]|\([^()]*\))*\)", "", selector)
    return re.findall(r"\.([\w-]+)", re.sub(r"\[[^]]*\]", "", without_negations))


def _has_classes(html: str, classes: list[str]) -> bool:
    return all(re.search(rf'class="(?:[^"]*\s)?{re.escape(name)}[\s"]', html) for name in classes)


def is_chosen(folder: Path, selector: str, page: str) -> bool:
    """Whether a page is still the shortest one with such an element."""
    return _having(folder, selector) == page


@functools.cache
def _soup(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
