"""Grades as files for other programs: a CSV with a column for each exercise, and what Canvas and Moodle import."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from torchbook_course.results import Student, Summary, number
from torchbook_course.roster import CANVAS, Roster
from torchbook_course.show import printable

_BEGINS = re.compile(r"(^|;)(\s*[=+\-@\t\r])")  # a cell that would be a formula


def tables(summary: Summary, roster: Roster) -> dict[str, str]:
    """All tables by their files' names; those of a platform only with what it needs."""
    texts = {"gradebook.csv": gradebook(summary), "flags.csv": flags(summary), "moodle.csv": moodle(summary, roster)}
    if roster.kind == "canvas":
        texts["canvas.csv"] = canvas(summary, roster)
    return texts


def gradebook(summary: Summary) -> str:
    """One row a student: total, maximum, what lateness took, and of each exercise public, hidden and all points."""
    columns = [f"{exercise.id} {what}" for exercise in summary.exercises for what in ("public", "hidden", "points")]
    header = ["student", "name", "total", "max", "late", "submitted", *columns, "flags", "note"]
    rows = []
    for student in summary.students:
        by_id = {part.exercise: part for part in student.parts}
        parts = [by_id.get(exercise.id) for exercise in summary.exercises]
        points = [
            number(value)
            for part in parts
            for value in ((part.public, part.hidden, part.points) if part else (0, 0, 0))
        ]
        note = student.problem or "; ".join(f"{p.exercise}: {p.state}" for p in student.parts if p.state != "ok")
        submitted = student.submitted.isoformat(timespec="seconds") if student.submitted else ""
        total, late = number(student.total), number(student.late)
        row = [_text(student.student), _text(student.name), total, number(summary.maximum), late, submitted]
        rows.append([*row, *points, str(len(student.flags)), _text(note)])
    return _csv(header, rows)


def flags(summary: Summary) -> str:
    """One row for each thing that a person should look at."""
    rows = [
        [_text(student.student), flag.exercise, str(flag.line or ""), _text(flag.what), _text(flag.why)]
        for student in summary.students
        for flag in student.flags
    ]
    return _csv(["student", "exercise", "line", "construct", "why"], rows)


def canvas(summary: Summary, roster: Roster) -> str:
    """The Canvas gradebook's own rows, with the assignment as one more column, or filled in where it is one already."""
    column = next((name for name in roster.columns if re.sub(r" \(\d+\)$", "", name) == summary.title), summary.title)
    columns = [name for name in roster.columns if name in CANVAS]
    header = [*columns, column]
    rows = [["    Points Possible" if name == "Student" else "" for name in columns] + [number(summary.maximum)]]
    totals = {roster.places[s.student]: number(s.total) for s in summary.students if s.student in roster.places}
    rows += [
        [*(row.get(name, "") for name in columns), totals.get(place, "")]
        for place, row in enumerate(roster.rows)
        if row.get("ID")
    ]
    return _csv(header, rows)


_WORKSHEET = ("Identifier", "Full name", "Email address", "Grade", "Maximum Grade")


def moodle(summary: Summary, roster: Roster) -> str:
    """Moodle's grading worksheet with the grades filled in; without one, the columns that Moodle's import asks for."""
    places = roster.places if roster.kind == "moodle" else {}
    header = roster.columns if roster.kind == "moodle" else _WORKSHEET
    rows = []
    for student in summary.students:
        row = dict(roster.rows[places[student.student]] if student.student in places else _participant(student))
        row |= {"Grade": number(student.total), "Maximum Grade": number(summary.maximum)}
        rows.append([row.get(name, "") for name in header])
    return _csv(header, rows)


def _participant(student: Student) -> dict[str, str]:
    name, _, tail = student.student.rpartition("_")
    participant = f"Participant {tail}" if name and tail.isdigit() else student.student
    email = student.student if "@" in student.student else ""
    return {
        "Identifier": _text(participant),
        "Full name": _text(student.name or (name if tail.isdigit() else "")),
        "Email address": _text(email),
    }


def _text(value: str) -> str:
    """Text that no spreadsheet takes for a formula, nor reads from the right; also not one that parts cells at ;."""
    quoted = _BEGINS.sub(r"\1'\2", value)
    return printable(quoted)


def _csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return file.getvalue()
