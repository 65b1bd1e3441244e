"""Changes the points of exercises in an assignment that was made: `torchbook course points hw1 p01-x3=3`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from torchbook.practice.exercise import Points
from torchbook_course import config, generate
from torchbook_course.assignment import Assignment, AssignmentError, find_assignment
from torchbook_course.grade import alone
from torchbook_course.results import number

_WISH = re.compile(r"(?P<id>[^=]+)=(?P<first>\d+(?:\.\d+)?)(?:\+(?P<hidden>\d+(?:\.\d+)?))?")


def change(name: str, wishes: Sequence[str], course: Path | None) -> Iterator[str]:
    """Change points in the assignment's file, and make its notebooks and its cells in the gradebook again.

    Args:
        name: of the assignment.
        wishes: `p01-x3=3` shares three points between public and hidden checks as before; `p01-x3=1+2` says both.
        course: its folder; else the one here.

    Returns:
        lines that say what changed, and how to go on.

    Raises:
        AssignmentError: there is no such course, assignment or exercise, or a wish cannot be read; nothing changed.
        GenerateError: nbgrader refuses; nothing changed.
        GradeError: the course is being graded; nothing changed.
    """
    folder, before = find_assignment(course, Path(), name)
    now = changed(before, wishes)
    if generate.points_wanted(now) == generate.points_wanted(before):
        yield f"{name}: these are its points already"
        return
    config.quiet()
    with alone(folder):
        generate.make_again(now, folder)
    for old, new, item in zip(before.worth(), now.worth(), now.exercises, strict=True):
        if old != new:
            yield f"{item.id}: {_in_words(old)} → {_in_words(new)}"
    totals = [number(sum(points.total for points in assignment.worth())) for assignment in (before, now)]
    yield f"{name}: {' → '.join(totals)} points in {folder / 'assignments' / f'{name}.yml'}"
    yield "grade again as before: no student's code runs again, and it says whose points changed"


def changed(assignment: Assignment, wishes: Sequence[str]) -> Assignment:
    """The assignment with other points.

    Raises:
        AssignmentError: a wish cannot be read, or is for an exercise that is not in the assignment.
    """
    worth = dict(zip((item.id for item in assignment.exercises), assignment.worth(), strict=True))
    for wish in wishes:
        read = _WISH.fullmatch(wish)
        if not read:
            raise AssignmentError(f"{wish!r}: write p01-x3=3, or p01-x3=1+2 for public and hidden checks")
        exercise = read["id"]
        if exercise not in worth:
            raise AssignmentError(f"{exercise}: not in {assignment.name}; there are: {', '.join(worth)}")
        worth[exercise] = _shared(float(read["first"]), read["hidden"], worth[exercise])
    items = tuple(item.model_copy(update={"points": worth[item.id]}) for item in assignment.exercises)
    return assignment.model_copy(update={"exercises": items})


def _shared(first: float, hidden: str | None, before: Points) -> Points:
    if hidden is not None:
        return Points(public=first, hidden=float(hidden))
    part = before.public / before.total if before.total else 1.0
    public = round(first * part, 2)
    return Points(public=public, hidden=round(first - public, 2))


def _in_words(points: Points) -> str:
    return f"{number(points.total)} (public {number(points.public)}, hidden {number(points.hidden)})"
