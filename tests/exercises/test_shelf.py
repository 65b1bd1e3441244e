"""Every exercise of the book can be read, and so can every wrong answer to it."""

from __future__ import annotations

from pathlib import Path

from torchbook.practice import shelf


def test_every_exercise_of_the_book_can_be_read(repo: Path) -> None:
    exercises = shelf.shelf()
    assert {exercise.folder for exercise in exercises.values()} == {
        page.parent for page in (repo / "exercises").glob("*/*/exercise.md")
    }


def test_every_wrong_answer_of_the_book_is_python() -> None:
    answers = [answer for exercise in shelf.shelf().values() for answer in exercise.wrong]
    answers += [
        answer
        for exercise in shelf.shelf().values()
        for name in exercise.variants
        for answer in exercise.variant(name).wrong
    ]
    assert all(answer.source.strip() for answer in answers)
    assert all(answer.source != answer.reference for answer in answers)
