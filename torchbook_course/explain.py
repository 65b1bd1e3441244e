"""Why an answer got its points, for its instructor: `torchbook course explain s22 p01-x3`.

What was found when it was graded is taken from the results; the answer runs once more in its box, with checks that tell
the case which they refuse.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from torchbook.practice.exercise import Exercise
from torchbook_course import cases, evaluate, evaluations, reading, sandbox
from torchbook_course.assignment import Assignment, find_assignment, resolve
from torchbook_course.handed_in import HandedIn
from torchbook_course.results import Part, Student, Summary, number
from torchbook_course.submission import Answer

_NO_CASE = "ran again, this check passed: it depends on time, or on what ran before it"


class ExplainError(Exception):
    """There is nothing to explain; the message says why and what to do."""


@dataclass(frozen=True)
class Asked:
    """What the command line says; see `torchbook course explain --help`."""

    student: str
    exercise: str
    results: Path
    course: Path | None = None
    assignment: str = ""
    unsafe: bool = False


def explained(asked: Asked) -> Iterator[str]:
    """Lines: the points, the answer, each check with what it said, the case that it refuses, what the reference gives.

    Raises:
        ExplainError: there is no such student or exercise in the results, or no answer.
        AssignmentError, ResultsError, SandboxError: as in grading.
    """
    summary = Summary.load(asked.results)
    course, assignment = find_assignment(asked.course, asked.results, asked.assignment or summary.assignment)
    student, part = _found(summary, asked)
    exercise = next(e for e in resolve(assignment) if e.contract.id == asked.exercise)
    worth = next(rubric for rubric in summary.exercises if rubric.id == asked.exercise)
    yield (
        f"{student.student}, {worth.id} {worth.title}: {number(part.points)} of {number(worth.points)} points "
        f"(public {number(part.public)} of {number(worth.public)}, hidden {number(part.hidden)} of "
        f"{number(worth.hidden)})"
    )
    if part.state != "ok":
        yield f"state: {part.state}{f': {part.detail}' if part.detail else ''}"
    answer = _answer(course, assignment, student, exercise)
    yield "the answer:"
    yield from (f"    {line}" for line in answer.source.splitlines())
    kept = _kept(asked.results, student.student, exercise.contract.id)
    told = _told(exercise, assignment.seed, answer, asked.unsafe) if _refused(kept) else {}
    for name in exercise.check_names:
        yield from _check_lines(name, kept.get(name), told)
    yield f"the reference: {exercise.folder / 'solution.py'}" + (
        f", variant {exercise.variant_name}" if exercise.variant_name else ""
    )


def _found(summary: Summary, asked: Asked) -> tuple[Student, Part]:
    by_name = {student.student: student for student in summary.present}
    if asked.student not in by_name:
        close = difflib.get_close_matches(asked.student, by_name, 3) or sorted(by_name)[:3]
        raise ExplainError(f"{asked.student}: not graded in {asked.results}; there are {', '.join(close)}, …")
    student = by_name[asked.student]
    part = next((part for part in student.parts if part.exercise == asked.exercise), None)
    if part is None:
        there = ", ".join(rubric.id for rubric in summary.exercises)
        raise ExplainError(f"{asked.exercise}: not in {summary.assignment}; there are {there}")
    return student, part


def _answer(course: Path, assignment: Assignment, student: Student, exercise: Exercise) -> Answer:
    """The answer, from the copy of what was handed in that grading left in the course."""
    name = assignment.name
    path = course / "submitted" / student.student / name / f"{name}.ipynb"
    if not path.is_file():
        raise ExplainError(f"{student.student}: {student.problem or 'nothing was handed in'}")
    release = nbformat.read(course / "release" / name / f"{name}.ipynb", 4)
    (submission,) = reading.read_all([HandedIn(student.student, path, None)], [exercise], release)
    answer = submission.extracted.answers.get(exercise.contract.id)
    if answer is None:
        why = submission.problem or "the cell of the answer is gone from the notebook"
        raise ExplainError(f"{student.student}, {exercise.contract.id}: {why}")
    return answer


def _kept(results: Path, student: str, exercise: str) -> dict[str, Mapping[str, Any]]:
    """What each check said when it was graded, as it said it."""
    try:
        record = json.loads((results / evaluations.FOLDER / f"{student}.json").read_text(encoding="utf-8"))
        return {str(outcome["name"]): outcome for outcome in record["results"][exercise]["outcomes"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _refused(kept: Mapping[str, Mapping[str, Any]]) -> bool:
    return any(outcome["state"] in ("refused", "error") for outcome in kept.values())


def _told(exercise: Exercise, seed: int, answer: Answer, unsafe: bool) -> dict[str, str]:
    """By check, the case that it refuses."""
    box = sandbox.Box(unsafe=unsafe)
    why_not = None if unsafe else sandbox.available(box)
    if why_not:
        raise ExplainError(f"no sandbox, in which the answer would run again: {why_not}; or --unsafe")
    job = evaluate.tests_of(exercise, seed) | {
        "checks": cases.telling(exercise.checks),
        "code": answer.code,
        "context": answer.context,
        "expected": {"replay": []},
    }
    outcomes = evaluate.evaluate({"exercises": [job]}, box)[exercise.contract.id]["outcomes"]
    cut = {str(one["name"]): str(one["message"]).partition(cases.MARK)[2] for one in outcomes}
    return {str(one["name"]): cut[str(one["name"])] for one in outcomes if one["state"] != "passed"}


def _check_lines(name: str, outcome: Mapping[str, Any] | None, told: Mapping[str, str]) -> Iterator[str]:
    if outcome is None:
        yield f"{name}: did not run"
        return
    message = f": {outcome['message']}" if outcome["message"] else ""
    yield f"{name}: {outcome['state']}{message}"
    if outcome["state"] in ("refused", "error"):
        yield from (f"    {line}" for line in told.get(name, _NO_CASE).splitlines())
