"""Cells that run in the page, with a real kernel: what they give stands beside the print and is compared with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import axe
from tests.browser import page_width
from tests.server.conftest import Book, Printed, Visit, live, make_site, run_all, status

pytestmark = pytest.mark.browser
HTML = "<b>bold</b><img src=x onerror='document.title = 1'><script>document.title = 2</script>"
CELLS = (
    Printed('print("sum", 1 + 2 + SEED)', "sum 3\n"),
    Printed("print(object())", "<object object at 0x7f0000000000>\n"),
    Printed("import time\nprint(time.time())", "1.5\n", tags=("varies",)),
    Printed(
        "1 / 0",
        html='<div class="output traceback"><pre>…\nZeroDivisionError: division by zero</pre></div>',
        tags=("raises-exception",),
    ),
    Printed(
        f"from IPython.display import HTML\nHTML({HTML!r})",
        html='<div class="output text_html"><b>bold</b></div>',
    ),
    Printed('print(FAST, DEVICE)\nopen("left.txt", "w").close()', "True cpu\n"),
)


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Book]:
    folder = tmp_path_factory.mktemp("live")
    with live(make_site(folder / "site", *CELLS), folder) as served:
        yield served


@pytest.fixture
def page(book: Book, visit: Visit) -> Page:
    return visit(book)


def test_every_output_is_compared_with_the_print(page: Page) -> None:
    run_all(page)
    said = [status(page, number) for number in range(1, 8)]
    same = "same as in the book"
    assert said == [
        "has run; no output, as in the book",
        same,
        same,
        "timing, differs every time",
        same,
        same,
        same,
    ]
    expect(page.locator(".live-summary")).to_have_text(
        "7 of 7 cells run · 6 same as in the book · 1 with times that differ every time"
    )
    assert page.title() == "One", "a script in an output has run"


def test_another_seed_shows_both_values(page: Page) -> None:
    page.get_by_label("SEED").fill("7")
    run_all(page)
    assert status(page, 2) == "differs: 10, the book has 3"
    expect(page.locator(".live-summary a")).to_have_text("cell 2 differs")


def test_a_cell_offers_to_run_those_above(page: Page) -> None:
    page.get_by_role("button", name="Run: Cell 2", exact=True).click()
    offer = page.locator("div.cell").nth(1).locator(".live-offer")
    expect(offer).to_contain_text("The cells above have not run yet, 30 s in the book's run.")
    offer.get_by_role("button", name="Run 1 cell above first").click()
    expect(page.locator("div.cell").nth(1).locator(".live-status")).to_have_text("same as in the book")


def test_keyboard_alone_edits_and_runs_a_cell(page: Page) -> None:
    page.get_by_role("button", name="Run: Cell 1", exact=True).press("Enter")
    expect(page.locator("div.cell").first.locator(".live-status")).to_contain_text("has run")
    page.get_by_role("button", name="Edit: Cell 2").press("Enter")
    editor = page.get_by_role("textbox", name="Cell 2. Shift and Enter runs it, Escape leaves the editor.")
    expect(editor).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type('print("sum", 4)')
    page.keyboard.press("Shift+Enter")
    expect(page.locator("div.cell").nth(1).locator(".live-status")).to_have_text(
        "your text; differs: 4, the book has 3"
    )
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Run: Cell 2", exact=True)).to_be_focused()


def test_an_edit_is_kept_until_it_is_reset(page: Page) -> None:
    page.get_by_role("button", name="Edit: Cell 2").click()
    expect(page.get_by_role("textbox", name="Cell 2.")).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("print(5)")
    page.reload()
    page.wait_for_selector("html[data-live=ready]")
    assert status(page, 2) == "your text"
    expect(page.locator("div.cell").nth(1).locator(".cm-content")).to_have_text("print(5)")
    page.get_by_role("button", name="Reset to the book's text: Cell 2").click()
    page.reload()
    page.wait_for_selector("html[data-live=ready]")
    assert status(page, 2) == ""


def test_an_edit_of_a_cell_that_has_changed_since_is_marked(page: Page) -> None:
    key = "torchbook:live:/torchbook/book/one"
    page.evaluate(
        "key => localStorage.setItem(key, JSON.stringify([{ id: 'cell-1', hash: 'older', text: 'print(6)' }]))", key
    )
    page.reload()
    page.wait_for_selector("html[data-live=ready]")
    assert status(page, 2) == "your text; the book's cell has changed since: Reset shows the new one"


def test_python_can_be_restarted(page: Page) -> None:
    run_all(page)
    page.get_by_role("button", name="Restart Python").click()
    expect(page.locator(".live-bar .live-status")).to_contain_text("Python is ready")
    page.get_by_role("button", name="Run: Cell 2", exact=True).click()
    expect(page.locator("div.cell").nth(1).locator(".live-offer")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(book: Book, visit: Visit, theme: str) -> None:
    page = visit(book, theme=theme)
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    page.get_by_role("button", name="Edit: Cell 2").click()
    page.get_by_role("button", name="Run: Cell 3", exact=True).click()
    assert [one for one in axe.violations(page) if "live" in one or "cm-" in one] == []


def test_a_phone_shows_all_of_it(book: Book, visit: Visit) -> None:
    page = visit(book, width=360)
    page.get_by_role("button", name="Edit: Cell 2").click()
    run_all(page)
    assert page_width(page) == 360
    heights = page.eval_on_selector_all(".live button", "all => all.map((one) => one.getBoundingClientRect().height)")
    assert min(height for height in heights if height) >= 40


def test_the_kernel_leaves_nothing_behind(book: Book, page: Page, tmp_path_factory: pytest.TempPathFactory) -> None:
    run_all(page)
    assert list(Path.cwd().glob("left.txt")) == []
