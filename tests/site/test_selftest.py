"""The self-test on the built site: answered, kept, summed up by topic, begun again, and read without a script."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.axe import violations
from tests.browser import page_width, reachable, settled
from tests.site.built import Site
from tests.site.conftest import Open
from torchbook.practice import shelf
from torchbook.practice.quiz import accepted


@pytest.fixture
def address(site: Site) -> str:
    return site.address(site.having(".quiz .result"), "http")


@pytest.fixture
def page(address: str, open_page: Open) -> Page:
    opened = open_page(address)
    settled(opened)
    return opened


def _questions(page: Page) -> Locator:
    return page.locator(".quiz:has(.result) fieldset")


def _choice(page: Page) -> Locator:
    return page.locator(".quiz:has(.result) fieldset:has(input[type=radio])").first


def _typed(page: Page) -> Locator:
    return page.locator(".quiz:has(.result) fieldset:has(input[type=text])").first


def _topic(page: Page, question: Locator) -> Locator:
    return page.locator(f".result [data-topic={question.get_attribute('data-about')}]")


def _status(page: Page) -> Locator:
    return page.locator(".result > [role=status]")


def test_before_an_answer_nothing_is_recommended(page: Page) -> None:
    expect(_status(page)).to_contain_text("Nothing is answered yet.")
    expect(page.locator(".result .readings").locator("visible=true")).to_have_count(0)


def test_a_miss_is_counted_under_its_topic_and_says_what_to_read(page: Page) -> None:
    question = _choice(page)
    topic = _topic(page, question)
    question.locator("input:not([data-right])").first.click()
    expect(_status(page)).to_contain_text(f"1 of {_questions(page).count()} answered, 0 right.")
    expect(topic.locator(".known")).to_contain_text("0 of ")
    expect(topic.get_by_role("link").first).to_be_visible()
    question.locator("input[data-right]").click()
    expect(topic.locator(".known")).to_contain_text("1 of ")
    expect(topic.locator(".readings")).to_be_hidden()


def test_not_sure_shows_the_answer_and_what_to_read(page: Page) -> None:
    question = _choice(page)
    question.get_by_role("radio", name="Not sure").focus()
    page.keyboard.press("Space")
    status = question.get_by_role("status")
    expect(status).to_contain_text("Not sure yet.")
    expect(status).to_contain_text(question.locator("dt").first.text_content().strip())
    expect(status).not_to_contain_text("Not this one.")
    expect(_topic(page, question).get_by_role("link").first).to_be_visible()


def test_not_sure_of_a_short_answer(page: Page) -> None:
    question = _typed(page)
    question.get_by_role("button", name="Not sure").focus()
    page.keyboard.press("Enter")
    expect(question.get_by_role("status")).to_contain_text(question.locator("dt").first.text_content().strip())
    page.reload()
    expect(question).to_have_attribute("data-state", "unsure")
    expect(_topic(page, question).locator(".readings")).to_be_visible()


def test_answers_and_result_outlive_a_reload(page: Page) -> None:
    _choice(page).locator("input[data-right]").click()
    _typed(page).get_by_role("textbox").fill("no idea")
    page.keyboard.press("Enter")
    status_text = _status(page).text_content()
    page.reload()
    expect(_choice(page).locator("input[data-right]")).to_be_checked()
    expect(_status(page)).to_have_text(status_text)


def test_start_again_forgets_every_answer(page: Page) -> None:
    _choice(page).locator("input[data-right]").click()
    _typed(page).get_by_role("button", name="Not sure").click()
    page.get_by_role("button", name="Start again").focus()
    page.keyboard.press("Enter")
    expect(_status(page)).to_contain_text("Nothing is answered yet.")
    expect(_questions(page).first.locator("input").first).to_be_focused()
    expect(_typed(page).get_by_role("textbox")).to_have_value("")
    page.reload()
    expect(page.locator(".quiz:has(.result) [data-state]")).to_have_count(0)
    expect(page.locator(".quiz:has(.result) input:checked")).to_have_count(0)


def test_all_right_is_solved_and_nothing_to_read(page: Page) -> None:
    for question in _questions(page).all():
        if question.get_attribute("data-accept"):
            question.get_by_role("textbox").fill(question.locator("dt code").first.text_content())
            question.get_by_role("button", name="Check").click()
        else:
            question.locator("input[data-right]").click()
    number = _questions(page).count()
    expect(_status(page)).to_have_text(f"{number} of {number} answered, {number} right. Nothing to read up so far.")
    expect(page.locator("section.exercise:has(.result)").get_by_role("checkbox", name="Solved")).to_be_checked()


def test_browser_and_python_mark_the_short_answers_alike(page: Page) -> None:
    tried = 0
    for typed in page.locator(".quiz:has(.result) fieldset[data-accept]").all():
        exercise_id, name = typed.get_attribute("data-question").split(".")
        question = next(candidate for candidate in shelf.find(exercise_id).contract.questions if candidate.name == name)
        for answer in (question.example, *(tempting.example for tempting in question.tempting)):
            typed.get_by_role("textbox").fill(answer)
            typed.get_by_role("button", name="Check").click()
            expect(typed).to_have_attribute("data-state", "right" if accepted(question.accept, answer) else "wrong")
            tried += 1
    assert tried


def test_without_javascript_every_topic_says_what_to_read(address: str, open_page: Open) -> None:
    page = open_page(address, java_script_enabled=False)
    for readings in page.locator(".result .readings").all():
        expect(readings).to_be_visible()
    expect(page.get_by_role("button", name="Start again")).to_be_hidden()
    expect(page.locator(".quiz .not-sure").locator("visible=true")).to_have_count(0)


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (360, "dark")])
def test_axe_finds_nothing_in_a_result(address: str, open_page: Open, width: int, theme: str) -> None:
    page = open_page(address, width=width, theme=theme)
    settled(page)
    for index, question in enumerate(_questions(page).all()):
        if question.get_attribute("data-accept"):
            question.get_by_role("button", name="Not sure").click()
        else:
            question.get_by_role("radio").nth(index % 4 % question.get_by_role("radio").count()).click()
    page.evaluate("dispatchEvent(new Event('resize'))")
    reachable(page)
    assert violations(page) == []
    assert page_width(page) <= width
