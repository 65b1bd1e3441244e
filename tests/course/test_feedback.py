"""Pages for students and instructors: what they say, what they keep to themselves, and that they stand alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser

from tests.course.results import ANNA, BERT, CARL, CLASS
from torchbook_course import feedback, publish
from torchbook_course.results import Student
from torchbook_course.roster import Roster


def page(student: Student) -> BeautifulSoup:
    return BeautifulSoup(feedback.feedback(CLASS, student), "html.parser")


def words(student: Student) -> str:
    return " ".join(page(student).get_text(" ").split())


def test_feedback_says_points_message_and_hint() -> None:
    text = words(BERT)
    assert "0.25 of 4 points , after 0.25 taken off for lateness" in text
    assert "Offset: not passed the offset <b>is</b> missing Hint to open: Every place is too small" in text
    assert "Negative: passed" in text


def test_feedback_gives_of_hidden_checks_the_number_alone() -> None:
    text = words(BERT)
    assert "Hidden check 1: not passed" in text
    assert "secret of a hidden check" not in text
    assert "views" not in text


def test_feedback_does_not_show_what_people_should_look_at() -> None:
    assert "looks at its callers" not in words(BERT)


def test_feedback_says_how_an_exercise_ended() -> None:
    assert "The process ended while this exercise ran" in words(BERT)


def test_feedback_says_what_was_wrong_with_the_notebook() -> None:
    assert "hw1.ipynb: the file is empty" in words(CARL)


def test_a_students_text_is_no_markup() -> None:
    assert page(BERT).find("b") is None


def test_the_report_shows_the_distribution_in_words_too() -> None:
    document = BeautifulSoup(feedback.report(CLASS), "html.parser")
    described = document.find(id="scores-text")
    assert described is not None
    assert "0 to 0.4 points: 2 students" in described.get_text()


def test_the_report_names_hard_checks_and_misconceptions() -> None:
    text = " ".join(BeautifulSoup(feedback.report(CLASS), "html.parser").get_text(" ").split())
    assert "test_offset p01-x3 1 2" in text
    assert "1 × test_hidden_views (p01-x3) counts <one> only b" in text


def test_the_report_lists_who_needs_a_person() -> None:
    section = BeautifulSoup(feedback.report(CLASS), "html.parser").find(id="person")
    assert section is not None
    listed = section.find_next("ul")
    assert listed is not None
    assert [tag.get_text() for tag in listed.find_all("strong")] == [BERT.student, CARL.student]


def test_an_empty_class_has_a_report() -> None:
    empty = CLASS.model_copy(update={"students": ()})
    assert "0 submissions" in feedback.report(empty)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("pages")
    publish.publish(CLASS, folder, Roster())
    return [folder / "feedback" / BERT.student / "hw1.html", folder / "report.html"]


def test_pages_name_no_other_host(pages: list[Path]) -> None:
    assert [
        reference
        for path in pages
        for reference in re.findall(r"(?:src|href)=|https?://|@import|url\(", path.read_text())
    ] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_can_be_read_by_everyone(browser: Browser, pages: list[Path], scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    violations = []
    for path in pages:
        context = browser.new_context(color_scheme=scheme, viewport={"width": 360, "height": 740}, bypass_csp=True)  # type: ignore[arg-type]
        shown = context.new_page()
        shown.goto(path.as_uri())
        assert shown.evaluate("document.documentElement.scrollWidth") <= 360
        violations += [violation["id"] for violation in Axe().run(shown).response["violations"]]
        context.close()
    assert violations == []


def test_each_present_student_has_a_page_in_a_folder_of_its_own() -> None:
    pages = {f"feedback/{student.student}/hw1.html" for student in CLASS.present}
    assert feedback.pages(CLASS).keys() == pages | {"report.html"}
    assert feedback.pages(CLASS)[f"feedback/{ANNA.student}/hw1.html"] == feedback.feedback(CLASS, ANNA)


def test_what_a_browser_would_obey_is_written_out() -> None:
    template = feedback._templates().from_string("{{ text }}")
    assert template.render(text="\x1b[31m\u202e<b>\n") == "\\x1b[31m\\u202e&lt;b&gt;\n"
