"""Bug hunts on a page: folded, each with one right choice, answered with the keyboard and kept, in no search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page, expect

from tests.axe import violations
from torchbook.practice.hunts import Hunt, hunts
from torchbook_press import build

from .conftest import small_book


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Path:
    """A book with all hunts, and the exercises that they are of."""
    book = small_book(tmp_path_factory.mktemp("hunts"), repo)
    exercises = {one.exercise.id: one.exercise.contract.chapter for one in hunts()}
    shown = "\n\n".join(f":::{{exercise}} {name}\n:::" for name in exercises)
    played = "\n\n".join(f":::{{hunts}} {chapter}\n:::" for chapter in dict.fromkeys(exercises.values()))
    (book.root / "book" / "index.md").write_text(f"# Hunts\n\n## Exercises\n\n{shown}\n\n## Bug hunts\n\n{played}\n")
    assert build.html(book.root) == 0
    return book.root / "_build" / "html"


@pytest.fixture(scope="module")
def found() -> tuple[Hunt, ...]:
    return hunts()


@pytest.fixture
def page(browser: Browser, site: Path) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 390, "height": 800}, reduced_motion="reduce")
    page = context.new_page()
    page.goto((site / "book" / "index.html").as_uri())
    yield page
    context.close()


def test_each_hunt_has_its_choices_and_one_of_them_is_right(site: Path, found: tuple[Hunt, ...]) -> None:
    soup = BeautifulSoup((site / "book" / "index.html").read_text(), "html.parser")
    boxes = soup.select(".hunts .hunt fieldset")
    rights = [[label.get_text() for label in box.select("label:has([data-right])")] for box in boxes]
    assert rights == [[one.spoken[one.choices.index(one.check)].replace("`", "")] for one in found]
    assert [len(box.select("label")) for box in boxes] == [len(one.choices) for one in found]
    assert not soup.select(".hunts[open]")
    tasks = [task.get_text() for task in soup.select(".hunts .hunt-task")]
    assert [task.startswith("The task: ") and task.endswith(".") for task in tasks] == [True] * len(found)


def test_no_search_comes_upon_a_program_or_its_explanation(site: Path, found: tuple[Hunt, ...]) -> None:
    texts = "".join(path.read_text() for path in (site / "_static" / "search").iterdir())
    assert "Write " in texts
    assert "of these checks refuses this program" not in texts
    assert [one.id for one in found if one.thought in texts or one.why in texts] == []


def test_it_is_played_with_the_keyboard_and_kept(page: Page, found: tuple[Hunt, ...]) -> None:
    fold = page.locator("details.hunts").first
    fold.locator(":scope > summary").focus()
    page.keyboard.press("Enter")
    first = fold.locator(".hunt").first
    first.locator("input").first.focus()
    for _ in range(found[0].choices.index(found[0].check)):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(first.locator(".verdict")).to_have_text("Right.")
    expect(first.get_by_text(found[0].thought)).to_be_visible()
    page.reload()
    expect(fold.locator(".hunt .verdict").first).to_have_text("Right.")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_and_width_of_a_phone(page: Page, theme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=theme)
    page.locator("details.hunts > summary").first.click()
    page.locator(".hunt label").first.click()
    assert violations(page) == []
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    heights = page.locator("details.hunts > summary").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().height)"
    )
    assert min(heights) >= 40
