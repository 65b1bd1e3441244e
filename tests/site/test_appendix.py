"""The reference pages on the built site: terms and their previews, symptoms and their sections, the timeline's pace."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path

import pytest
from bs4 import Tag
from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.browser import settled
from tests.site.built import Site, first_page
from tests.site.built import Tag as WrittenTag
from tests.site.conftest import Open
from torchbook.viz import symptoms
from torchbook_press.chapters import units
from torchbook_press.site.course_map import week_of

SYMPTOMS = symptoms.setup()["symptoms"]
GLOSSARY = "book/appendix/glossary.html"
TIMELINE = "book/appendix/timeline.html"
CHECKLIST = "book/appendix/checklist.html"


@pytest.fixture
def page(site: Site, open_page: Open) -> Page:
    """A chapter with terms, opened as a file."""
    opened = open_page(site.address(first_page("p02"), "file"))
    settled(opened)
    return opened


def chapters_of(site: Site) -> list[str]:
    """The pages that are chapters which ran."""
    return [name for name in site.pages if any(tag.has_class("chapter-head") for tag in site.tags(name))]


def _is_term(tag: WrittenTag) -> bool:
    return tag.name == "a" and tag.has_class("gloss")


# The glossary.


def test_every_chapter_links_to_terms(site: Site) -> None:
    chapters = chapters_of(site)
    assert chapters
    assert [name for name in chapters if not any(_is_term(tag) for tag in site.tags(name))] == []


def test_meanings_are_short_enough_for_a_card(site: Site) -> None:
    items = site.soup(GLOSSARY).select("dl.glossary > dd > p:first-child")
    assert len(items) > 150
    assert [text for text in (item.get_text() for item in items) if not 10 <= len(text) <= 300] == []


def test_no_page_explains_a_term_twice(site: Site) -> None:
    for name in site.pages:
        meanings = [link["data-gloss"] for link in site.soup(name).select("article p > a.gloss")]
        assert len(meanings) == len(set(meanings)), name


def point_at(page: Page, link: Locator) -> Locator:
    """The card that shows while the pointer is on a link; a page that still moves may take it away again."""
    card = page.locator(".gloss-card:visible")
    for _ in range(5):
        page.mouse.move(0, 0)
        link.scroll_into_view_if_needed()
        link.hover()
        with contextlib.suppress(PlaywrightTimeout):
            card.wait_for(timeout=2000)
            return card
    pytest.fail("no card shows")


def test_a_card_shows_while_pointed_at(page: Page) -> None:
    link = page.locator("article a.gloss").first
    card = point_at(page, link)
    expect(card).to_have_attribute("role", "tooltip")
    assert card.inner_text().split() == (link.get_attribute("data-gloss") or "").replace(":", "", 1).split()
    page.mouse.move(0, 0)
    expect(card).to_have_count(0)


def test_a_card_shows_by_keyboard_and_escape_hides_it(page: Page) -> None:
    link = page.locator("article a.gloss").first
    link.evaluate("link => { link.tabIndex = 0; link.previousElementSibling?.focus?.() }")
    page.keyboard.press("Tab")
    link.focus()
    expect(page.locator(".gloss-card")).to_be_visible()
    expect(link).to_have_attribute("aria-describedby", "gloss-card")
    page.keyboard.press("Escape")
    expect(page.locator(".gloss-card")).to_be_hidden()


def test_a_card_stays_on_a_narrow_screen(site: Site, open_page: Open) -> None:
    opened = open_page(site.address(first_page("p02"), "file"), width=360)
    settled(opened)
    for link in opened.locator("article a.gloss").all()[:6]:
        box = point_at(opened, link).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360


# Symptoms.


def heading_at(site: Site, where: str) -> str:
    """The heading of the section that an address leads to, without its mark; empty where there is none."""
    page, _, anchor = where.partition("#")
    target = site.soup(f"{page}.html").find(id=anchor)
    section = (
        target if isinstance(target, Tag) and target.name == "section" else target and target.find_parent("section")
    )
    title = section.find(["h1", "h2", "h3", "h4"]) if isinstance(section, Tag) else None
    return title.get_text().removesuffix("#").strip() if isinstance(title, Tag) else ""


@pytest.mark.parametrize("symptom", SYMPTOMS, ids=[symptom["key"] for symptom in SYMPTOMS])
def test_a_symptoms_section_is_there_under_that_title(site: Site, symptom: symptoms.Symptom) -> None:
    assert heading_at(site, symptom["where"]) == symptom["section"]


# The timeline and the checklist.


def test_weeks_follow_the_readers_pace_and_it_is_kept(site: Site, open_page: Open) -> None:
    opened = open_page(site.address(TIMELINE, "http"))
    settled(opened)
    opened.get_by_label("Hours a week").fill("13")
    weeks = opened.locator("[data-hours]")
    shown_weeks = [(float(entry.get_attribute("data-hours") or 0), int(entry.inner_text())) for entry in weeks.all()]
    assert [week for _, week in shown_weeks] == [week_of(hours, 13) for hours, _ in shown_weeks]
    opened.reload()
    settled(opened)
    expect(opened.get_by_label("Hours a week")).to_have_value("13")


def test_a_phone_shows_the_weeks_without_scrolling(site: Site, open_page: Open) -> None:
    opened = open_page(site.address(TIMELINE, "http"), width=360)
    box = opened.locator(".timeline table").bounding_box()
    assert box
    assert box["x"] + box["width"] <= 360
    assert opened.locator("[data-hours]").first.is_visible()


def test_the_timeline_has_every_chapter(site: Site, repo: Path) -> None:
    rows = site.soup(TIMELINE).select(".timeline tbody tr")
    assert len(rows) == len(units(repo)) + 1
    last = rows[-1].select_one("[data-hours]")
    assert last is not None
    assert int(last.get_text()) == math.ceil(float(str(last["data-hours"])) / 6)


def test_every_item_of_the_checklist_names_an_exercise(site: Site) -> None:
    items = site.soup(CHECKLIST).select(".checklist > ul > li")
    assert len(items) == 13
    assert [item.get_text() for item in items if not item.select_one("a[href*='#ex-']")] == []
