"""Hands out what grading found: the summary of a class, feedback, tables and the report. The last step of the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from torchbook_course import exports, feedback
from torchbook_course.assignment import Assignment
from torchbook_course.gradebook import Kept
from torchbook_course.marking import Marked
from torchbook_course.results import Asked, Student, Summary
from torchbook_course.roster import Roster


def summarised(
    assignment: Assignment,
    rubrics: Sequence[Asked],
    marks: Iterable[Marked],
    entered: Mapping[str, Kept],
    roster: Roster | None,
) -> Summary:
    """The class, with points as the gradebook has them, where people may have changed some by hand."""
    students = [_student(marked, entered.get(marked.student), roster) for marked in marks]
    present = {student.student for student in students}
    students += [
        Student(student=name, name=_name(name, roster), absent=True, problem="nothing was handed in")
        for name in (roster.absent(present) if roster else ())
    ]
    ordered = tuple(sorted(students, key=lambda student: student.student))
    due, name, title = assignment.due, assignment.name, assignment.title
    return Summary(assignment=name, title=title, due=due, exercises=tuple(rubrics), students=ordered)


def _student(marked: Marked, record: Kept | None, roster: Roster | None) -> Student:
    points = record.points if record else {}
    parts = tuple(
        part.model_copy(
            update={"public": points.get(f"{name}-public", 0.0), "hidden": points.get(f"{name}-hidden", 0.0)}
        )
        for name, part in marked.parts.items()
    )
    submission = marked.submission
    notes = [submission.handed.note] if submission.handed.note else []
    repairs = submission.extracted.repairs if submission.cells else ()
    return Student(
        student=marked.student,
        name=_name(marked.student, roster),
        problem=marked.problem,
        submitted=submission.handed.at,
        seconds_late=record.seconds_late if record else 0.0,
        late=record.late if record else 0.0,
        parts=parts,
        flags=marked.flags,
        repairs=(*notes, *(f"{r.exercise}: {r.what}" if r.exercise else r.what for r in repairs)),
        seconds=marked.evaluation.seconds,
    )


def _name(student: str, roster: Roster | None) -> str:
    return roster.name(student) if roster else ""


def publish(summary: Summary, out: Path, roster: Roster | None) -> None:
    """Write feedback for each student, tables for learning platforms, and the report for instructors."""
    for student in summary.present:
        feedback.write_feedback(summary, student, out)
    exports.export(summary, out, roster)
    feedback.write_report(summary, out)
