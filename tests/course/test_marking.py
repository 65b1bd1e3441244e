"""What a part of a student's work says of each check."""

from __future__ import annotations

from dataclasses import replace

import pytest

from torchbook.practice import shelf
from torchbook.practice.exercise import Hint
from torchbook_course import marking
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
