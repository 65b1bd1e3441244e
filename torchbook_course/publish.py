"""Hands out what grading found: the summary of a class, feedback, tables and the report. The last step of the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from torchbook_course import exports, feedback
from torchbook_course.assignment import Assignment
from torchbook_course.gradebook import Kept
from torchbook_course.marking import Marked
from torchbook_course.results import Asked, Part, Student, Summary, write
from torchbook_course.roster import Roster


def summarised(
    assignment: Assignment,
    rubrics: Sequence[Asked],
    marks: Iterable[Marked],
    entered: Mapping[str, Kept],
    roster: Roster,
) -> Summary:
    """The class, with points as the gradebook has them, where people may have changed some by hand."""
    students = [_student(marked, entered.get(marked.student), roster.names.get(marked.student, "")) for marked in marks]
    students += [
        Student(student=name, name=roster.names[name], absent=True, problem="nothing was handed in")
        for name in roster.absent
    ]
    ordered = tuple(sorted(students, key=lambda student: student.student))
    due, name, title = assignment.due, assignment.name, assignment.title
    return Summary(assignment=name, title=title, due=due, exercises=tuple(rubrics), students=ordered)


def _student(marked: Marked, record: Kept | None, name: str) -> Student:
    parts = tuple(_worth(part, record.points if record else {}) for part in marked.parts.values())
    submission = marked.submission
    notes = [submission.handed.note] if submission.handed.note else []
    repairs = submission.extracted.repairs if submission.cells else ()
    return Student(
        student=marked.student,
        name=name,
        problem=marked.problem,
        submitted=submission.handed.at,
        seconds_late=record.seconds_late if record else 0.0,
        late=record.late if record else 0.0,
        parts=parts,
        flags=marked.flags,
        repairs=(*notes, *(f"{r.exercise}: {r.what}" if r.exercise else r.what for r in repairs)),
        seconds=marked.evaluation.seconds,
    )


def _worth(part: Part, points: Mapping[str, float]) -> Part:
    """A part with the points that the gradebook has for its cells."""
    public, hidden = (points.get(f"{part.exercise}-{kind}", 0.0) for kind in ("public", "hidden"))
    return part.model_copy(update={"public": public, "hidden": hidden})


def with_points(summary: Summary, kept: Mapping[str, Kept]) -> Summary:
    """A class with the points that the gradebook has now, where it has some of a student."""
    students = []
    for student in summary.students:
        record = kept.get(student.student)
        parts = tuple(_worth(part, record.points) for part in student.parts) if record else student.parts
        students.append(student.model_copy(update={"parts": parts, "late": record.late if record else student.late}))
    return summary.model_copy(update={"students": tuple(students)})


def publish(summary: Summary, out: Path, roster: Roster) -> None:
    """Write feedback for each student, the report for instructors, and tables for learning platforms."""
    for name, text in (feedback.pages(summary) | exports.tables(summary, roster)).items():
        write(out / name, text)
