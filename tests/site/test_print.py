"""A page on paper: all of it is there, nothing to press is, and it is no wider than the sheet."""

from __future__ import annotations

import io
import re
import unicodedata

import pytest
from playwright.sync_api import Page, expect
from pypdf import PdfReader

from tests.browser import scroll_through, settled
from tests.site.built import Site, first_page
from tests.site.conftest import Open
from tests.site.tour import A4_WIDTH, TOO_WIDE

CHAPTER = first_page("p01")
PLOTTED = 'figure[data-kind="plotly"]'


def squeezed(text: str) -> str:
    """Text without white space and ligatures: neither is the same on paper."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


@pytest.fixture
def chapter(site: Site, open_page: Open) -> Page:
    """A chapter whose visualizers are alive, as a reader has it who has read to the end."""
    page = open_page(site.address(CHAPTER, "http"))
    settled(page)
    scroll_through(page)
    return page


def on_paper(page: Page) -> list[str]:
    """The text of each sheet."""
    made = page.pdf(prefer_css_page_size=True, format="A4")
    return [squeezed(sheet.extract_text()) for sheet in PdfReader(io.BytesIO(made)).pages]


def test_title_code_words_and_answers_are_on_paper(chapter: Page) -> None:
    sheets = on_paper(chapter)
    text = "".join(sheets)
    assert squeezed(chapter.locator("h1").first.text_content() or "").rstrip("#") in text
    lines = chapter.evaluate(
        """() => [...document.querySelectorAll('article pre')].filter((pre) => !pre.closest('details:not([open])'))
          .flatMap((pre) => pre.textContent.split('\\n'))"""
    )
    assert [line for line in lines if squeezed(line) not in text] == []
    # A page number may stand in what goes on over a page's end, so sentences are looked for.
    texts = chapter.locator(".viz-words, .prediction details > p").all_text_contents()
    sentences = [sentence for text in texts for sentence in re.split(r"(?<=[.:;,]) ", text)]
    printed = [sentence for sentence in sentences if squeezed(sentence) in text]
    assert texts
    assert len(printed) > 0.95 * len(sentences)
    assert all(sheet.startswith(str(number)) or sheet.endswith(str(number)) for number, sheet in enumerate(sheets, 1))


def test_nothing_to_press_is_on_paper(chapter: Page) -> None:
    chapter.emulate_media(media="print")
    titles = ".prediction *, .evidence *"
    pressed = f"button, select, nav, summary:not({titles}), [role=tablist], .tbviz, .modebar, .keys, .exercise-solved"
    seen = chapter.locator(f":is({pressed}):visible").all_text_contents()
    assert seen == []
    expect(chapter.locator('input:not([type="radio"], [type="checkbox"], [type="text"]):visible')).to_have_count(0)
    expect(chapter.locator(".viz-mount > svg:visible")).to_have_count(chapter.locator(".viz-mount > svg").count())


def test_a_solution_is_on_paper_once_it_is_opened(chapter: Page) -> None:
    chapter.emulate_media(media="print")
    solutions = chapter.locator(".exercise > .fold:has(pre)")
    expect(solutions.first.locator("pre").first).to_be_hidden()
    solutions.first.evaluate("fold => fold.open = true")
    expect(solutions.first.locator("pre").first).to_be_visible()
    expect(solutions.nth(1)).to_be_hidden()


def test_formulas_and_plots_are_no_wider_than_paper(site: Site, open_page: Open) -> None:
    page = open_page(site.address(site.having(PLOTTED), "http"))
    settled(page)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": A4_WIDTH, "height": 1000})
    expect(page.locator(f"{PLOTTED}:visible .plot-area").first).to_be_visible()
    assert page.evaluate(TOO_WIDE) == []


def _colour(page: Page, selector: str, name: str = "color") -> str:
    colour: str = page.locator(selector).first.evaluate(f"one => getComputedStyle(one)['{name}']")
    return colour


def test_paper_is_light(site: Site, open_page: Open) -> None:
    """By style alone: whatever happens while it prints, the screen is dark again afterwards."""
    keyword = ".highlight .kn"
    light = open_page(site.address(CHAPTER, "http"))
    page = open_page(site.address(CHAPTER, "http"), theme="dark")
    settled(page)
    dark = _colour(page, keyword)
    page.emulate_media(media="print")
    assert _colour(page, "body", "backgroundColor") == "rgb(255, 255, 255)"
    assert _colour(page, "body") == "rgb(0, 0, 0)"
    assert _colour(page, keyword) == _colour(light, keyword) != dark
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.emulate_media(media="screen")
    assert _colour(page, keyword) == dark


def test_plots_are_light_drawings_on_paper(site: Site, open_page: Open) -> None:
    """Those that are alive on the screen too."""
    page = open_page(site.address(site.having(PLOTTED), "http"), theme="dark")
    settled(page)
    plot = page.locator(f"{PLOTTED}:visible").first
    plot.locator(".plot-field").focus()
    expect(plot.locator(".main-svg").first).to_be_visible()
    expect(plot.locator(".plot-area")).to_be_hidden()
    dark = _colour(page, ".plot-area", "fill")
    page.emulate_media(media="print")
    expect(plot.locator(".plot-area")).to_be_visible()
    expect(plot.locator(".main-svg").first).to_be_hidden()
    assert _colour(page, ".plot-area", "fill") != dark
