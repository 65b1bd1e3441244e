"""The review deck: cards cut out of pages, asked when they are due, kept, taken out and brought in again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.axe import violations
from torchbook_press import build
from torchbook_press.site import deck

from .conftest import small_book

PREDICT = """# {title}

Text.

:::{{predict}} Which `{title}`?
- [ ] the left
- [x] the right

It is, see {{doc}}`/book/index`.
:::
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Path:
    """A book with two predictions, the exercises and hunts of a chapter, a quiz, and the deck."""
    book = small_book(tmp_path_factory.mktemp("deck"), repo)
    folder = book.root / "book"
    named = ("s03-x12", "p01-x1", "p01-x2", "p01-x4", "p01-x5", "p01-x20")
    shown = "\n\n".join(f":::{{exercise}} {name}\n:::" for name in named)
    pages = {
        "one": PREDICT.format(title="one"),
        "two": PREDICT.format(title="two"),
        "practice": f"# Practice\n\n{shown}\n",
        "hunts": "# Hunts\n\n:::{hunts} p01\n:::\n",
        "review": "# Review\n\n:::{deck}\n:::\n",
    }
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text)
    listed = "".join(f"- file: book/{name}\n" for name in pages)
    (book.root / "_toc.yml").write_text(f"format: jb-book\nroot: book/index\nchapters:\n{listed}")
    assert build.html(book.root) == 0
    return book.root / "_build" / "html"


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 390, "height": 800}, reduced_motion="reduce")
    yield made
    made.close()


def opened(context: BrowserContext, site: Path, *, met: str = "one", all_: bool = False) -> Page:
    """The deck of a reader who has begun one page, or who takes all."""
    page = context.new_page()
    page.goto((site / "book" / "review.html").as_uri())
    root = f"{site.as_uri().removeprefix('file://')}/"
    page.evaluate(
        "([root, met]) => localStorage.setItem('torchbook:reading:' + root, JSON.stringify("
        "{pages: {['book/' + met]: {seen: ['a'], of: 2}}}))",
        [root, met],
    )
    page.reload()
    if all_:
        page.get_by_role("checkbox").check()
    return page


def test_cards_have_addresses_from_the_root() -> None:
    html = '<a class="x" href="../index.html#a">a</a> <a href="#b">b</a> <a href="https://x.org/c">c</a>'
    assert deck.from_root("book/one.html", html) == (
        '<a class="x" href="index.html#a" data-from-root>a</a> <a href="book/one.html#b" data-from-root>b</a> '
        '<a href="https://x.org/c">c</a>'
    )


def test_the_same_question_keeps_its_name_wherever_it_stands() -> None:
    fieldset = '<fieldset class="predict" id="predict-{}"><legend><span>Why?</span></legend></fieldset>'
    pages = [
        f'<article><div class="prediction docutils container">{fieldset.format(n)}</div></article>' for n in (0, 7)
    ]
    (first,), (second,) = map(deck.cards_in, pages)
    assert first == second
    assert "id=" not in first.html


def test_only_pages_that_were_begun_are_asked_until_all_are_taken(context: BrowserContext, site: Path) -> None:
    page = opened(context, site)
    expect(page.locator(".deck-status")).to_have_text("0 due, 1 new, of 1 cards.")
    page.get_by_role("checkbox").check()
    expect(page.locator(".deck-status")).not_to_contain_text("of 1 cards")
    kinds = page.evaluate("Object.values(bookCards).flat().map(([, kind]) => kind)")
    assert set(kinds) == {"prediction", "question", "hunt"}
    told = page.evaluate("Object.values(bookCards).flat().filter(([, kind]) => kind == 'hunt').map((card) => card[2])")
    assert all('<p class="hunt-task">' in html for html in told)
    assert kinds.count("prediction") == 2


def test_a_card_is_answered_with_keys_and_waits_its_time(context: BrowserContext, site: Path) -> None:
    page = opened(context, site)
    page.get_by_role("button", name="Start").press("Enter")
    card = page.locator(".deck-card")
    expect(card.get_by_role("group", name="Which one?")).to_be_visible()
    page.keyboard.press("2")
    expect(card.locator(".verdict")).to_have_text("Right. How hard was it?")
    link = card.get_by_role("link", name="A small book")
    expect(link).to_have_attribute("href", (site / "book/index.html").as_uri())
    expect(card.get_by_role("button", name="3 Good")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".deck-status")).to_contain_text("0 due, 0 new, of 1 cards. The next is due")
    page.evaluate("Date.now = () => new Date().getTime() + 25 * 36e5")
    page.get_by_label("Chapter").dispatch_event("change")
    expect(page.locator(".deck-status")).to_have_text("1 due, 0 new, of 1 cards.")


def test_a_missed_card_comes_again_soon(context: BrowserContext, site: Path) -> None:
    page = opened(context, site)
    page.get_by_role("button", name="Start").click()
    page.locator(".deck-card label").first.click()
    page.get_by_role("button", name="1 Again").click()
    (kept,) = page.evaluate("Object.values(JSON.parse(Object.entries(localStorage)"
                            ".find(([key]) => key.startsWith('torchbook:deck'))[1]).cards)")  # fmt: skip
    assert kept["due"] - kept["seen"] == 600_000
    assert kept["times"] == 0


def test_progress_goes_from_one_browser_to_another(browser: Browser, context: BrowserContext, site: Path) -> None:
    page = opened(context, site)
    page.get_by_role("button", name="Start").click()
    page.locator(".deck-card label").nth(1).click()
    page.get_by_role("button", name="4 Easy").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save my progress").click()
    file = saved.value.path()
    assert json.loads(file.read_text())["format"] == "torchbook progress 1"
    other = browser.new_context()
    second = other.new_page()
    second.goto((site / "book" / "review.html").as_uri())
    expect(second.locator(".deck-status")).to_contain_text("No page of the book is begun")
    second.locator("input[type=file]").set_input_files(
        {"name": "a.json", "mimeType": "application/json", "buffer": file.read_bytes()}
    )
    expect(second.locator(".deck-status")).to_contain_text("0 due, 0 new, of 1 cards.")
    second.locator("input[type=file]").set_input_files(
        {"name": "b.json", "mimeType": "application/json", "buffer": b"{"}
    )
    expect(second.locator(".deck-status")).to_have_text(
        "b.json is no file of progress of this book; nothing was changed."
    )
    other.close()


def test_cards_for_anki_have_a_head_and_five_columns(context: BrowserContext, site: Path) -> None:
    page = opened(context, site, all_=True)
    expect(page.locator(".deck-status")).not_to_contain_text("of 1 cards")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Cards for Anki").click()
    lines = saved.value.path().read_text().splitlines()
    assert lines[:3] == ["#separator:tab", "#html:true", "#guid column:1"]
    notes = [line.split("\t") for line in lines if not line.startswith("#")]
    assert {len(note) for note in notes} == {5}
    assert {note[2] for note in notes} == {"prediction", "question", "hunt"}
    assert len({note[0] for note in notes}) == len(notes)
    assert all(note[3] and note[4] for note in notes)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_width_and_touch_targets(context: BrowserContext, site: Path, theme: Literal["light", "dark"]) -> None:
    page = opened(context, site, all_=True)
    page.emulate_media(color_scheme=theme)
    page.get_by_role("button", name="Start").click()
    page.locator(".deck-card label").nth(1).click()
    assert violations(page) == []
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    heights = page.locator(".deck button, .deck select").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().height)"
    )
    assert min(heights) >= 40


def test_only_the_page_of_the_deck_loads_it(site: Path) -> None:
    assert "deck/pages.js" in (site / "book" / "review.html").read_text()
    assert "deck/pages.js" not in (site / "book" / "one.html").read_text()
