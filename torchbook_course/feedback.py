"""Pages made of results: feedback for each student, and a report on the class. They ask no other host for anything."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import jinja2

from torchbook_course.results import LOOK, Asked, Check, Part, Student, Summary, number
from torchbook_course.show import printable

BARS = 10
LISTED = 12
_STATES = {
    "died": "The process ended while this exercise ran, so it could not be graded to its end.",
    "time": "The time limit was reached; what was not finished by then counts as not passed.",
    "memory": "More memory was asked for than there is, so it could not be graded to its end.",
    "processes": "More processes were started than are allowed, so it could not be graded to its end.",
    "tampered": "The checks were changed by the code, so nothing of this exercise counts.",
    "syntax": "The cell is not valid Python.",
    "lost": "The result was lost; ask for it to be graded again.",
    "gone": "The cell of the answer was not in the notebook.",
}


def _escaped(value: object) -> object:
    """Text in which nothing is invisible or turns the direction of writing; markup is escaped already."""
    return printable(value) if type(value) is str else value


@cache
def _templates() -> jinja2.Environment:
    loader = jinja2.PackageLoader("torchbook_course", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["number"] = number
    environment.finalize = _escaped
    return environment


# Feedback.


@dataclass(frozen=True)
class _CheckRow:
    words: str
    state: str
    passed: bool
    message: str
    hint: str


def feedback(summary: Summary, student: Student) -> str:
    """A student's page: each visible check with its message and hint, of hidden ones only whether they passed."""
    by_id = {part.exercise: part for part in student.parts}
    parts = [_shown(exercise, by_id[exercise.id]) for exercise in summary.exercises if exercise.id in by_id]
    return _templates().get_template("feedback.html").render(summary=summary, student=student, parts=parts)


def _shown(exercise: Asked, part: Part) -> dict[str, Any]:
    by_name = {check.name: check for check in part.checks}
    public = [_check_row(name, by_name.get(name)) for name in exercise.checks if not _is_hidden(name)]
    hidden = [name in by_name and by_name[name].state == "passed" for name in exercise.checks if _is_hidden(name)]
    detail = "" if part.state == "tampered" else part.detail
    state = " ".join(filter(None, [_STATES.get(part.state, ""), detail]))
    fields = {
        "id": exercise.id,
        "title": exercise.title,
        "points": part.points,
        "most": exercise.points,
        "state": state,
    }
    return {**fields, "public": public, "hidden": [] if part.state == "gone" else hidden}


def _check_row(name: str, check: Check | None) -> _CheckRow:
    state = check.state if check else "not run"
    words = name.removeprefix("test_").replace("_", " ").capitalize()
    labels = {"refused": "not passed", "error": "not passed", "missing": "not passed", "time": "out of time"}
    message, hint = (check.message, check.hint) if check else ("", "")
    return _CheckRow(words, labels.get(state, state), state == "passed", message, hint)


def _is_hidden(name: str) -> bool:
    return name.startswith("test_hidden_")


# The class.


def report(summary: Summary) -> str:
    """The report on a class, for instructors."""
    totals = [student.total for student in summary.present]
    seconds = [student.seconds for student in summary.present]
    return (
        _templates()
        .get_template("report.html")
        .render(
            summary=summary,
            looked=LOOK,
            mean=statistics.fmean(totals) if totals else 0.0,
            median=statistics.median(totals) if totals else 0.0,
            bars=_bars(totals, summary.maximum),
            people=[student for student in summary.students if student.needs_person],
            exercises=[_of_exercise(exercise, summary.present) for exercise in summary.exercises],
            checks=_hardest(summary)[:LISTED],
            misconceptions=_misconceptions(summary)[:LISTED],
            seconds=sum(seconds),
            typical=statistics.median(seconds) if seconds else 0.0,
            slowest=max(seconds, default=0.0),
        )
    )


def _bars(totals: Sequence[float], maximum: float) -> list[dict[str, float]]:
    width = maximum / BARS or 1.0
    counts = [0] * BARS
    for total in totals:
        counts[min(BARS - 1, int(total / width))] += 1
    highest = max(counts) or 1
    return [
        {"low": width * i, "high": width * (i + 1), "count": n, "height": round(150 * n / highest, 1)}
        for i, n in enumerate(counts)
    ]


def _of_exercise(exercise: Asked, students: Sequence[Student]) -> dict[str, Any]:
    parts = [part for student in students for part in student.parts if part.exercise == exercise.id]
    points = [part.points for part in parts]
    states = Counter(sorted(part.state for part in parts if part.state not in ("ok", "gone")))
    return {
        "id": exercise.id,
        "title": exercise.title,
        "points": exercise.points,
        "mean": statistics.fmean(points) if points else 0.0,
        "full": sum(value >= exercise.points for value in points),
        "unsolved": sum(not _tried(part) for part in parts),
        "states": ", ".join(f"{count} × {state}" for state, count in states.most_common()),
    }


def _tried(part: Part) -> bool:
    unsolved = bool(part.checks) and all(check.state in ("unsolved", "missing") for check in part.checks)
    return part.state != "gone" and not unsolved


def _hardest(summary: Summary) -> list[dict[str, Any]]:
    rows = []
    for exercise in summary.exercises:
        tried = [p for s in summary.present for p in s.parts if p.exercise == exercise.id and _tried(p)]
        for name in exercise.checks:
            passed = sum(any(c.name == name and c.state == "passed" for c in part.checks) for part in tried)
            if passed < len(tried):
                failed = len(tried) - passed
                rows.append({"check": name, "exercise": exercise.id, "failed": failed, "tried": len(tried)})
    return sorted(rows, key=lambda row: (-row["failed"] / row["tried"], -row["failed"]))


def _misconceptions(summary: Summary) -> list[dict[str, Any]]:
    words = {
        (rubric.id, check): misconceptions
        for rubric in summary.exercises
        for check, misconceptions in rubric.misconceptions.items()
    }
    refused = Counter(
        sorted(
            (part.exercise, check.name)
            for student in summary.present
            for part in student.parts
            for check in part.checks
            if check.state == "refused"
        )
    )
    rows = []
    for (exercise, check), count in refused.most_common():
        rows.append({"exercise": exercise, "check": check, "count": count, "words": words.get((exercise, check), ())})
    return rows


# Files.


def pages(summary: Summary) -> dict[str, str]:
    """All pages by their files' names: `feedback/<student>/<assignment>.html` and `report.html`."""
    names = {student: f"feedback/{student.student}/{summary.assignment}.html" for student in summary.present}
    return {name: feedback(summary, student) for student, name in names.items()} | {"report.html": report(summary)}
