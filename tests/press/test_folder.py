"""A chapter that is a folder on the site: its pages in the side bar, its notebooks, its exercises, its old address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page, expect

from tests.browser import context
from torchbook_press import build

from .conftest import Book, cell, small_book, write_exercises

FIGURE = "from torchbook.viz import StrideExplorer\nStrideExplorer((2, 3), link='steps')"
OLD = "book/t01"


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Iterator[Book]:
    """A book with a chapter of two pages, which was one page, t01, before; and a page after it."""
    book = small_book(tmp_path_factory.mktemp("folder"), repo)
    write_exercises(exercises := tmp_path_factory.mktemp("exercises"))
    second = "(beta)=\n## What is beta?\n\nText.\n" + cell(FIGURE) + "\n## Exercises\n\n:::{exercise} t01-x1\n:::\n"
    index = book.folder("t01-pages", first="(alpha)=\n## What is alpha?\n\nText.\n", second=second)
    index.write_text(f"---\nformerly: {OLD}\n---\n\n{index.read_text()}\n(gamma)=\n## What is gamma?\n\nSo.\n")
    book.page("after", "# After\n\n{ref}`alpha`, {ref}`ex-t01-x1`\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCHBOOK_EXERCISES", str(exercises))
        done = book.torchbook("book")
        assert done.exit_code == 0, done.output
        yield book


def soup(book: Book, name: str) -> BeautifulSoup:
    return BeautifulSoup(book.html(name), "html.parser")


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with context(browser) as opened:
        yield opened.new_page()


def address(book: Book, name: str, rest: str = "") -> str:
    return (book.root / "_build/html" / f"{name}.html").as_uri() + rest


def test_the_side_bar_has_the_pages_below_their_chapter(book: Book) -> None:
    (below,) = soup(book, "after").select(".bd-sidebar-primary li:has(> a[href='t01-pages/index.html']) > details")
    assert [link["href"] for link in below.select("a")] == ["t01-pages/first.html", "t01-pages/second.html"]


@pytest.mark.parametrize(("name", "unfolded"), [("after", False), ("t01-pages/index", True), ("t01-pages/first", True)])
def test_the_side_bar_unfolds_the_chapter_that_is_read(book: Book, name: str, unfolded: bool) -> None:
    (below,) = soup(book, name).select(".bd-sidebar-primary li.has-children > details")
    assert below.has_attr("open") == unfolded


def test_what_unfolds_a_chapter_says_its_name(book: Book) -> None:
    (summary,) = soup(book, "after").select(".bd-sidebar-primary li.has-children summary")
    assert summary["aria-label"] == "Pages of T01-pages"


_READ = """([read]) => {
  const root = new URL(document.documentElement.dataset.content_root, location.href);
  const entry = (page, seen) => [`book/t01-pages/${page}`, { seen: Array(seen).fill("s"), of: 2, at: "s" }];
  const pages = Object.fromEntries(Object.entries(read).map(([page, seen]) => entry(page, seen)));
  localStorage.setItem(`torchbook:reading:${root.pathname}`, JSON.stringify({ pages }));
}"""


@pytest.mark.browser
@pytest.mark.parametrize(
    ("read", "told"),
    [
        ({}, ""),
        ({"first": 1}, " (begun, 0 of 2 pages read)"),
        ({"first": 2}, " (begun, 1 of 2 pages read)"),
        ({"first": 2, "second": 2}, " (read)"),
    ],
)
def test_a_chapter_is_read_when_its_pages_are(book: Book, page: Page, read: dict[str, int], told: str) -> None:
    page.goto(address(book, "book/after"))
    page.evaluate(_READ, [read])
    page.reload()
    link = page.locator(".bd-sidebar-primary li.has-children > a")
    expect(link).to_have_text(f"T01-pages{told}")


def test_pages_follow_one_another_as_they_are_read(book: Book) -> None:
    order = ["t01-pages/index", "t01-pages/first", "t01-pages/second", "after"]
    links = [soup(book, name).select_one("a.right-next") for name in order[:-1]]
    assert [Path(str(link["href"])).stem for link in links if link] == ["first", "second", "after"]


def test_each_page_has_a_notebook_and_prose_has_none(book: Book) -> None:
    folder = book.root / "_build/html/notebooks/book/t01-pages"
    assert sorted(path.name for path in folder.iterdir()) == ["first.ipynb", "second.ipynb"]


def test_an_exercise_is_in_the_notebook_of_the_page_that_shows_it(book: Book) -> None:
    folder = book.root / "_build/html/notebooks/book/t01-pages"
    shown = {path.stem for path in folder.iterdir() if "t01-x1-stub" in path.read_text(encoding="utf-8")}
    assert shown == {"second"}


# The old address.


def test_the_old_notebook_names_the_new_ones(book: Book) -> None:
    (only,) = nbformat.read(book.root / f"_build/html/notebooks/{OLD}.ipynb", as_version=4).cells
    assert re.findall(r"^- \[(.+)\]\(.+/book/t01-pages/\w+\.html\): `(.+)`$", only.source, re.MULTILINE) == [
        ("First", "t01-pages/first.ipynb"),
        ("Second", "t01-pages/second.ipynb"),
    ]


@pytest.mark.browser
@pytest.mark.parametrize(
    ("rest", "target"),
    [
        ("", "index"),
        ("#alpha", "first"),
        ("#what-is-alpha", "first"),
        ("#beta", "second"),
        ("#ex-t01-x1", "second"),
        ("#ex-t01-x1-solution", "second"),
        ("#gamma", "index"),
        ("#tbviz-steps:transpose", "second"),
        ("?find=text#beta", "second"),
        ("#gone", "index"),
        ("#%", "index"),
    ],
)
def test_an_old_address_leads_to_the_page_that_has_the_place_now(
    book: Book, page: Page, rest: str, target: str
) -> None:
    page.goto(address(book, OLD, rest))
    kept = rest.replace("?find=text", "")  # the page takes these words out of its address when it has marked them
    expect(page).to_have_url(address(book, f"book/t01-pages/{target}", kept))


@pytest.mark.browser
def test_going_back_from_a_page_does_not_lead_to_its_old_address(book: Book, page: Page) -> None:
    page.goto(address(book, "book/after"))
    page.goto(address(book, OLD, "#beta"))
    expect(page).to_have_url(address(book, "book/t01-pages/second", "#beta"))
    page.go_back()
    expect(page).to_have_url(address(book, "book/after"))


@pytest.mark.browser
def test_without_javascript_an_old_address_leads_to_the_index(book: Book, browser: Browser) -> None:
    with context(browser, java_script_enabled=False) as opened:
        page = opened.new_page()
        page.goto(address(book, OLD, "#beta"))
        expect(page).to_have_url(address(book, "book/t01-pages/index"))


def test_an_old_address_is_found_by_no_search(book: Book) -> None:
    assert f'"{OLD}"' not in (book.root / "_build/html/searchindex.js").read_text(encoding="utf-8")


def test_an_old_address_that_is_one_no_more_is_taken_out_of_the_site(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = small_book(tmp_path, repo)
    path = book.page("new", "---\nformerly: book/old\n---\n\n# New\n")
    assert build.html(book.root) == 0
    old = book.root / "_build/html/book/old.html"
    assert old.is_file()
    path.write_text("# New\n")
    assert build.html(book.root) == 0
    assert not old.exists()


def test_an_old_address_belongs_to_one_page(tmp_path: Path, repo: Path) -> None:
    book = small_book(tmp_path, repo)
    book.page("first", "---\nformerly: book/old\n---\n\n# First\n")
    book.page("second", "---\nformerly: [book/older, book/old, book/index]\n---\n\n# Second\n")
    done = book.printed()
    said = re.findall(r"book/(\w+)\.md: WARNING: formerly: ([\w/ ]+)", done.stdout + done.stderr)
    assert said == [
        ("second", "book/old is the address of book/first"),
        ("second", "book/index is the address of book/index"),
    ]
    assert done.returncode == 1
