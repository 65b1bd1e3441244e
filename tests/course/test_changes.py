"""What a grading says of the one before: whose points are others now, and from what to what."""

from __future__ import annotations

from tests.course.results import ANNA, BERT, CLASS, DORA, FIRST, part
from torchbook_course.changes import changes


def test_nothing_changed_nothing_said() -> None:
    assert changes(CLASS, CLASS) == []


def test_a_student_with_other_points_is_a_line_with_the_exercise() -> None:
    other = ANNA.model_copy(update={"parts": (part(FIRST, 1, 1.5), *ANNA.parts[1:])})
    now = CLASS.model_copy(update={"students": (other, BERT, DORA)})
    assert changes(CLASS, now) == ["Anna Schmidt_48213: 4 → 3.5 (p01-x3 3 → 2.5)"]


def test_what_lateness_takes_is_said() -> None:
    now = CLASS.model_copy(update={"students": (BERT.model_copy(update={"late": 0.0}),)})
    assert changes(CLASS, now) == ["bert@example.org: 0.25 → 0.5 (lateness takes 0.25 → 0)"]


def test_other_points_to_reach_come_first() -> None:
    now = CLASS.model_copy(update={"exercises": (FIRST.model_copy(update={"public": 2.0}), *CLASS.exercises[1:])})
    assert changes(CLASS, now) == ["points in all: 4 → 5"]


def test_who_was_not_graded_before_has_no_change() -> None:
    before = CLASS.model_copy(update={"students": (BERT,)})
    assert changes(before, CLASS) == []
