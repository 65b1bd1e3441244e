"""Grades what a class handed in: each submission in a sandbox, points into nbgrader's books, pages and tables out.

A submission is read (`reading`), evaluated in its box (`evaluations`), marked (`marking`), entered into the books
(`gradebook`) and published (`publish`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import filelock
from rich.console import Console

from torchbook import terminal
from torchbook_course import config, evaluations, handed_in, marking, publish, reading, roster, sandbox
from torchbook_course.assignment import Assignment, find_assignment, resolve
from torchbook_course.evaluations import GradeError, Setting
from torchbook_course.gradebook import Gradebook
from torchbook_course.results import ResultsError, Summary

LOG = "nbgrader.log"


@dataclass(frozen=True)
class Options:
    """What the command line says; see `torchbook course grade --help`."""

    submissions: Path
    out: Path
    course: Path | None = None
    assignment: str = ""
    jobs: int = 0
    scheduler: str = ""
    unsafe: bool = False
    force: bool = False
    roster: Path | None = None
    patience: float = 1.0


def grade(options: Options, console: Console) -> Summary:
    """Grade a class; what was graded before and has not changed is taken as it is.

    Raises:
        AssignmentError, EngineError, GradebookError, GradeError, HandedInError, ResultsError, RosterError,
            SandboxError: nothing, or nothing more, can be graded; the message says what to do.
    """
    course, assignment = find_assignment(options.course, options.submissions, options.assignment)
    exercises = resolve(assignment)
    for warning in assignment.changed():
        terminal.note(warning, console=console)
    handed = handed_in.find(options.submissions.resolve(), assignment.name)
    students = [entry.student for entry in handed]
    known = roster.load(options.roster, students) if options.roster else roster.Roster()
    box = _box(options)
    out = _results(options.out, assignment)
    rubrics = [marking.asked(*pair) for pair in zip(exercises, assignment.worth(), strict=True)]
    setting = Setting(
        exercises, assignment.seed, box, out / evaluations.FOLDER, options.force, options.jobs, options.scheduler
    )
    with _alone(course):
        config.quiet(out / LOG)
        books = Gradebook(course, assignment, {student: known.names.get(student, "") for student in students})
        submissions = reading.read_all(handed, exercises, books.release)
        evaluated = evaluations.evaluated(submissions, setting, console)
        marks = (marking.mark(exercises, rubrics, *pair) for pair in evaluated)
        entered, kept = books.enter(marks, anew=options.force)
        summary = publish.summarised(assignment, rubrics, entered, kept, known)
        publish.publish(summary, out, known)
        summary.save(out)
        return summary


def _box(options: Options) -> sandbox.Box:
    box = sandbox.Box(unsafe=options.unsafe, patience=options.patience)
    why_not = None if options.unsafe else sandbox.available(box)
    if why_not:
        raise GradeError(
            f"no sandbox, so nothing is graded: {why_not}; or grade without one with --unsafe, "
            "and any student can then read and change what you can"
        )
    return box


def _results(folder: Path, assignment: Assignment) -> Path:
    """The folder of results, which holds those of no other assignment."""
    out = folder.resolve()
    try:
        earlier = Summary.load(out)
    except ResultsError:
        earlier = None
    if earlier and earlier.assignment != assignment.name:
        raise GradeError(f"{out}: holds the results of {earlier.assignment}; give {assignment.name} another --out")
    out.mkdir(parents=True, exist_ok=True)
    return out


@contextmanager
def _alone(course: Path) -> Iterator[None]:
    try:
        with filelock.FileLock(course / ".grading.lock", timeout=0):
            yield
    except filelock.Timeout:
        raise GradeError(f"{course}: another grading of this course is running; wait for it") from None
