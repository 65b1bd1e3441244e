"""What a grading changed against the one before: for whom, in which exercise, from how many points to how many."""

from __future__ import annotations

from collections.abc import Iterator

from torchbook_course.results import Student, Summary, number
from torchbook_course.show import printable


def changes(before: Summary, now: Summary) -> list[str]:
    """A line for each student who was graded before and has other points now, after one for points that can be reached.

    Args:
        before: the results of the grading before.
        now: those of this one.
    """
    earlier = {student.student: student for student in before.present}
    lines = [] if before.maximum == now.maximum else [f"points in all: {_from(before.maximum, now.maximum)}"]
    for student in now.present:
        parts = list(_parts(earlier[student.student], student)) if student.student in earlier else []
        if parts:
            total = _from(earlier[student.student].total, student.total)
            lines.append(f"{printable(student.student)}: {total} ({', '.join(parts)})")
    return lines


def _parts(before: Student, now: Student) -> Iterator[str]:
    points = {part.exercise: part.points for part in before.parts}
    for part in now.parts:
        if points.get(part.exercise, 0.0) != part.points:
            yield f"{part.exercise} {_from(points.get(part.exercise, 0.0), part.points)}"
    if before.late != now.late:
        yield f"lateness takes {_from(before.late, now.late)}"


def _from(before: float, now: float) -> str:
    return f"{number(before)} → {number(now)}"
