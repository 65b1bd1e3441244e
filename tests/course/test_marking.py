"""What a part of a student's work says of each check."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from torchbook.practice import shelf
from torchbook.practice.exercise import Hint
from torchbook_course import marking
from torchbook_course.evaluations import Evaluation
from torchbook_course.handed_in import HandedIn
from torchbook_course.reading import Submission
from torchbook_course.results import Check
from torchbook_course.submission import Answer


def taken(state: str, message: str) -> Check:
    """How the first check of an exercise, with a hint for whatever it says and one for "too small", went."""
    exercise = shelf.find("p01-x3")
    name = exercise.check_names[0]
    hints = (
        Hint(symptom="It is refused", text="", checks=(name,), said=()),
        Hint(symptom="Every place is too small", text="", checks=(), said=((name, "too small"),)),
    )
    exercise = replace(exercise, hints=hints)
    outcome = {"name": name, "state": state, "message": message}
    rubric = marking.asked(exercise, exercise.contract.points)
    part = marking.part(exercise, rubric, Answer("", "", ""), {"state": "ok", "outcomes": [outcome]})
    (check,) = part.checks
    return check


@pytest.mark.parametrize(
    ("state", "message", "hint"),
    [
        ("refused", "8 is too small", "Every place is too small"),
        ("refused", "8 is wrong", "It is refused"),
        ("error", "IndexError", "It is refused"),
        ("passed", "", ""),
        ("unsolved", "", ""),
    ],
)
def test_a_hint_is_for_what_the_check_said(state: str, message: str, hint: str) -> None:
    assert taken(state, message).hint == hint


def test_a_notebook_that_was_not_graded_is_for_a_person(tmp_path: Path) -> None:
    handed = HandedIn("ada", tmp_path / "hw1.ipynb", None, beside=("hw1 (1).ipynb",))
    marked = marking.mark((), (), Submission(handed), Evaluation({}))
    assert [(flag.exercise, flag.what) for flag in marked.flags] == [("another file", "hw1 (1).ipynb")]


@pytest.mark.parametrize(("whole", "points"), [(False, (0.0, 2.0)), (True, (0.0, 0.0))])
def test_without_partial_credit_one_refusal_takes_all_points(whole: bool, points: tuple[float, float]) -> None:
    exercise = shelf.find("p01-x3")
    rubric = marking.asked(exercise, exercise.contract.points, whole=whole)
    states = {name: "passed" if name.startswith("test_hidden_") else "refused" for name in exercise.check_names}
    outcomes = [{"name": name, "state": state, "message": ""} for name, state in states.items()]
    part = marking.part(exercise, rubric, Answer("", "", ""), {"state": "ok", "outcomes": outcomes})
    assert (part.public, part.hidden) == points


def test_without_partial_credit_all_checks_give_all_points() -> None:
    exercise = shelf.find("p01-x3")
    rubric = marking.asked(exercise, exercise.contract.points, whole=True)
    outcomes = [{"name": name, "state": "passed", "message": ""} for name in exercise.check_names]
    part = marking.part(exercise, rubric, Answer("", "", ""), {"state": "ok", "outcomes": outcomes})
    assert part.points == exercise.contract.points.total
