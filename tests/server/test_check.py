"""Check beside an exercise: it says what a notebook says, and keeps the same progress."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import context
from tests.server.conftest import Book, Visit, live, make_site
from torchbook.practice import shelf

pytestmark = pytest.mark.browser
NAME = "p02-x1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("live")


@pytest.fixture
def open_tab(browser: Browser) -> Iterator[Page]:
    with context(browser) as tab:
        yield tab.new_page()


@pytest.fixture(scope="module")
def book(folder: Path) -> Iterator[Book]:
    stubs = {NAME: shelf.find(NAME).stub.rstrip()}
    with live(make_site(folder / "site", stubs=stubs), folder, "--check", NAME) as served:
        yield served


def answer(page: Page, text: str) -> str:
    """Write an answer into the exercise and check it; what is said of it."""
    page.get_by_role("button", name=f"Edit: Exercise {NAME}").click()
    expect(page.get_by_role("textbox", name=f"Exercise {NAME}.")).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)
    page.keyboard.press("Shift+Enter")
    page.wait_for_function("() => document.querySelector('.exercise .live-status').dataset.state === 'running'")
    page.wait_for_function("() => document.querySelector('.exercise .live-status').dataset.state !== 'running'")
    return page.locator(".exercise .live-status").inner_text()


def test_the_command_opens_at_the_exercise(book: Book, open_tab: Page) -> None:
    open_tab.goto(book.url)
    assert open_tab.url == f"{book.origin}/torchbook/book/one.html#ex-{NAME}"


def test_wrong_half_right_and_right(book: Book, visit: Visit, folder: Path) -> None:
    page = visit(book)
    exercise = shelf.find(NAME)
    wrong = next(iter(exercise.wrong)).source
    assert "syntax" not in answer(page, exercise.stub)
    assert "of" in answer(page, wrong)
    expect(page.locator(".exercise .live-output")).to_contain_text("refused")
    expect(page.locator(".live-progress")).to_have_text(" · tried")
    hint = page.locator(".live-hint")
    if hint.count():
        hint.click()
        expect(page.locator(f"#ex-{NAME}-hint-1")).to_have_attribute("open", "")
    assert "solved" in answer(page, exercise.solution).lower()
    expect(page.locator(".live-progress")).to_have_text(" · solved")
    kept = json.loads((folder / "progress.json").read_text())[NAME]
    assert kept["tries"] == 2
    assert kept["solved"]


def test_what_was_solved_in_the_page_is_solved_in_the_terminal_and_in_a_notebook(
    book: Book, visit: Visit, folder: Path
) -> None:
    page = visit(book)
    assert "solved" in answer(page, shelf.find(NAME).solution).lower()
    environment = {**os.environ, "TORCHBOOK_PROGRESS": str(folder / "progress.json")}
    notebook = "from torchbook.practice import exercises; exercises('p02')"
    for command in (("-m", "torchbook", "exercises", "--chapter", "p02"), ("-c", notebook)):
        listed = subprocess.run(
            [sys.executable, *command], env=environment, capture_output=True, text=True, check=True
        ).stdout
        [row] = [line for line in listed.splitlines() if f"{NAME} " in line]
        assert "solved" in row, command


def test_an_opened_hint_is_kept(book: Book, visit: Visit, folder: Path) -> None:
    page = visit(book)
    with page.expect_response("**/progress") as told:
        page.locator(f"#ex-{NAME}-hint-1 summary").click()
    assert told.value.ok
    assert 1 in json.loads((folder / "progress.json").read_text())[NAME]["hints"]
