"""What a reader does: search, turn pages, predict, tick off; with mouse, with keyboard, without JavaScript."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.site.conftest import Open, Site, settled


def test_search_finds_a_word_of_a_chapter(site: Site, open_page: Open) -> None:
    page = open_page(site.address("search.html?q=provenance", "http"))
    expect(page.locator("#search-results li a[href*='provenance']").first).to_be_visible()


def test_slash_opens_the_search(site: Site, open_page: Open) -> None:
    page = open_page(site.address("book/index.html", "http"))
    settled(page)
    page.keyboard.press("/")
    field = page.locator("#pst-search-dialog input[name=q]")
    expect(field).to_be_focused()
    page.keyboard.type("n provenance")
    expect(field).to_have_value("n provenance")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"search\.html\?q=n(\+|%20)provenance"))


def test_n_and_p_turn_the_page(site: Site, open_page: Open) -> None:
    first = site.having("link[rel=next]")
    page = open_page(site.address(first, "http"))
    settled(page)
    second = page.locator("head link[rel=next]").evaluate("link => link.href")
    page.keyboard.press("n")
    page.wait_for_url(second)
    page.wait_for_load_state("load")
    page.keyboard.press("p")
    page.wait_for_url(f"**/{first}")


def test_keys_can_be_turned_off(site: Site, open_page: Open) -> None:
    page = open_page(site.address(site.having("link[rel=next]"), "http"))
    page.locator(".keys button").click()
    page.reload()
    expect(page.locator(".keys")).to_contain_text("Keys are off.")
    page.locator("h1:visible").click()
    page.keyboard.press("/")
    expect(page.locator("#pst-search-dialog")).to_be_hidden()


@pytest.fixture
def predicting(site: Site, open_page: Open) -> Page:
    page = open_page(site.address(site.having(".prediction"), "http"))
    settled(page)
    return page


def _question(page: Page) -> Locator:
    return page.locator(".prediction fieldset").first


def test_a_prediction_is_judged_and_kept(predicting: Page) -> None:
    question = _question(predicting)
    wrong = question.locator("label").filter(has=predicting.locator("input:not([data-right])")).first
    right = question.locator("label").filter(has=predicting.locator("input[data-right]"))
    expect(question.locator("details")).not_to_have_attribute("open", "")
    wrong.click()
    expect(question.get_by_role("status")).to_contain_text("Not this one")
    expect(question.locator("details")).to_have_attribute("open", "")
    right.click()
    expect(question.get_by_role("status")).to_have_text("Right.")
    predicting.reload()
    expect(right.locator("input")).to_be_checked()
    expect(question.get_by_role("status")).to_have_text("Right.")


def test_a_prediction_by_keyboard(predicting: Page) -> None:
    question = _question(predicting)
    radios = question.get_by_role("radio")
    radios.first.focus()
    predicting.keyboard.press("ArrowDown")
    expect(radios.nth(1)).to_be_focused()
    expect(question.get_by_role("status")).to_be_empty()
    predicting.keyboard.press("ArrowUp")
    predicting.keyboard.press("ArrowUp")
    expect(radios.last).to_be_focused()
    predicting.keyboard.press("Space")
    expect(radios.last).to_be_checked()
    expect(question.get_by_role("status")).not_to_be_empty()
    predicting.keyboard.press("Tab")
    expect(question.locator("summary")).to_be_focused()


def test_ticks_are_counted_and_kept(site: Site, open_page: Open) -> None:
    page = open_page(site.address(site.having(".checklist"), "http"))
    settled(page)
    boxes = page.locator(".checklist").first.get_by_role("checkbox")
    count = page.locator(".checklist").first.get_by_role("status")
    total = boxes.count()
    expect(count).to_have_text(f"0 of {total} done")
    page.locator(".checklist label").first.click()
    expect(count).to_have_text(f"1 of {total} done")
    boxes.last.focus()
    page.keyboard.press("Space")
    expect(count).to_have_text(f"{min(2, total)} of {total} done")
    page.reload()
    expect(boxes.first).to_be_checked()
    expect(boxes.last).to_be_checked()
    boxes.first.uncheck()
    page.reload()
    expect(count).to_have_text(f"1 of {total} done")


def test_a_browser_that_keeps_nothing_is_no_error(site: Site, open_page: Open) -> None:
    page = open_page("about:blank")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    # The theme itself reads its mode without asking whether it may; the book's own entries are refused.
    page.add_init_script(
        """for (const name of ['getItem', 'setItem']) {
          const real = Storage.prototype[name];
          Storage.prototype[name] = function (key, ...rest) {
            if (key.startsWith('torchbook')) throw new DOMException('refused', 'SecurityError');
            return real.call(this, key, ...rest);
          };
        }"""
    )
    page.goto(site.address(site.having(".prediction"), "http"))
    _question(page).locator("label").first.click()
    expect(_question(page).get_by_role("status")).not_to_be_empty()
    assert not errors


def test_without_javascript_answers_and_lists_are_there(site: Site, open_page: Open) -> None:
    page = open_page(site.address(site.having(".prediction"), "http"), java_script_enabled=False)
    question = _question(page)
    answer = question.locator("details > :last-child")
    expect(answer).to_be_hidden()
    question.locator("summary").click()
    expect(answer).to_be_visible()
    page = open_page(site.address(site.having(".checklist"), "http"), java_script_enabled=False)
    expect(page.locator(".checklist li").first).to_be_visible()


def test_paper_is_light(site: Site, open_page: Open) -> None:
    page = open_page(site.address(site.having(".chapter-head"), "http"), theme="dark")
    settled(page)
    page.emulate_media(media="print")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
    expect(page.locator("#pst-primary-sidebar")).to_be_hidden()
    page.emulate_media(media="screen")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
