"""Tabs of a page with recordings, in a real browser: mouse, keyboard, memory, paper, no script, small and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.axe import violations
from tests.browser import reachable
from torchbook_press import build, record, seal
from torchbook_press.chapters import Chapter, chapters

from .conftest import as_if_it_ran, cell, small_book

NAME = "Fake GPU 1"


def run(chapter: Chapter, word: str) -> nbformat.NotebookNode:
    """What papermill would have made of a chapter whose cells say one word."""
    output = nbformat.v4.new_output("stream", text=f"{word} " * 30)
    nb = nbformat.v4.new_notebook(cells=[])
    for code_cell in chapter.code_cells:
        nb.cells.append(nbformat.v4.new_code_cell(code_cell.source, metadata=code_cell.metadata, outputs=[output]))
    return nb


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Path:
    """Two pages with two device cells each, recorded with other outputs than the CPU's."""
    book = small_book(tmp_path_factory.mktemp("lanes"), repo)
    for name in ("one", "two"):
        book.chapter(name, cell("print('here ' * 30)", "device"), "Text.\n" * 60, cell("'here too'", "device"))
    for chapter in chapters(book.root):
        as_if_it_ran(chapter, run(chapter, "there"), lane="gpu", device="one")
        path = book.root / "recordings" / record.slug(NAME) / f"{chapter.contract.id}.ipynb"
        seal.write(path, record.distil(chapter, seal.read(chapter.executed), NAME))
        as_if_it_ran(chapter, run(chapter, "here"), device="one")
    assert build.html(book.root) == 0
    return book.root / "_build" / "html" / "book"


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(reduced_motion="reduce")
    yield made
    made.close()


def opened(context: BrowserContext, pages: Path, name: str = "one") -> Page:
    page = context.new_page()
    page.goto((pages / f"{name}.html").as_uri())
    return page


def shown(page: Page) -> list[str]:
    return [lane.get_attribute("data-lane") or "" for lane in page.locator(".lane").all() if lane.is_visible()]


def test_one_lane_is_shown_and_all_cells_turn_together(context: BrowserContext, pages: Path) -> None:
    page = opened(context, pages)
    assert shown(page) == ["cpu", "cpu"]
    tab = page.get_by_role("tab").nth(3)
    tab.scroll_into_view_if_needed()
    before = tab.bounding_box()
    tab.click()
    assert shown(page) == ["fake-gpu-1", "fake-gpu-1"]
    assert tab.bounding_box() == before


def test_the_choice_is_remembered_on_other_pages(context: BrowserContext, pages: Path) -> None:
    opened(context, pages).get_by_role("tab").nth(1).click()
    assert shown(opened(context, pages, "two")) == ["fake-gpu-1", "fake-gpu-1"]


def test_the_keyboard_moves_among_tabs(context: BrowserContext, pages: Path) -> None:
    page = opened(context, pages)
    page.get_by_role("tab").first.focus()
    for key, index in (("ArrowRight", 1), ("ArrowRight", 0), ("End", 1), ("Home", 0), ("ArrowLeft", 1)):
        page.keyboard.press(key)
        expect(page.get_by_role("tab").nth(index)).to_be_focused()
        expect(page.get_by_role("tab").nth(index)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Tab")
    expect(page.get_by_role("tabpanel").first).to_be_focused()


def test_without_scripts_both_are_shown_with_their_names(browser: Browser, pages: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = opened(context, pages)
    assert shown(page) == ["cpu", "fake-gpu-1"] * 2
    assert all(name.is_visible() for name in page.locator(".lane-name").all())
    context.close()


def test_on_paper_both_are_shown_with_their_names(context: BrowserContext, pages: Path) -> None:
    page = opened(context, pages)
    page.emulate_media(media="print")
    assert shown(page) == ["cpu", "fake-gpu-1"] * 2
    assert all(name.is_visible() for name in page.locator(".lane-name").all())
    assert not page.get_by_role("tablist").first.is_visible()


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 360)])
def test_axe_and_width(context: BrowserContext, pages: Path, theme: str, width: int) -> None:
    page = opened(context, pages)
    page.emulate_media(color_scheme=theme)
    expect(page.locator("html")).to_have_attribute("data-theme", theme)
    page.set_viewport_size({"width": width, "height": 800})
    page.get_by_role("tab").nth(1).click()
    reachable(page)
    assert violations(page) == []
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width


def test_pages_without_recordings_load_no_script_for_them(pages: Path) -> None:
    assert "lanes.js" in (pages / "one.html").read_text()
    assert "lanes.js" not in (pages / "index.html").read_text()
