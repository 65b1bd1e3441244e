"""Grades what a class handed in: each submission in a sandbox, points into nbgrader's books, pages and tables out.

A submission is read (`reading`), evaluated in a box (`evaluations`), marked (`marking`), entered into the books
(`gradebook`) and published (`publish`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import filelock
from rich.console import Console

from torchbook import terminal
from torchbook_course import (
    changes,
    config,
    evaluations,
    generate,
    handed_in,
    marking,
    publish,
    reading,
    roster,
    sandbox,
)
from torchbook_course.assignment import Assignment, find_assignment, resolve
from torchbook_course.evaluations import GradeError, Setting
from torchbook_course.gradebook import Gradebook
from torchbook_course.handed_in import HandedIn
from torchbook_course.results import ResultsError, Student, Summary, write

LOG = "nbgrader.log"
CHANGES = "changes.txt"  # of the last grading against the one before
_LISTED = 30  # students whose changes are printed


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
    students: tuple[str, ...] = ()  # none: all


def grade(options: Options, console: Console) -> Summary:
    """Grade a class; what was graded before and has not changed is taken as it is.

    Raises:
        AssignmentError, EngineError, GenerateError, GradebookError, GradeError, HandedInError, ResultsError,
            RosterError, SandboxError: nothing, or nothing more, can be graded; the message says what to do.
    """
    course, assignment = find_assignment(options.course, options.submissions, options.assignment)
    exercises = resolve(assignment)
    for warning in assignment.changed():
        terminal.note(warning, console=console)
    everyone = handed_in.find(options.submissions.resolve(), assignment.name)
    handed = _chosen(everyone, options)
    students = [entry.student for entry in handed]
    box = _box(options)
    out, earlier, others = _results(options.out, assignment, students)
    present = dict.fromkeys([*(entry.student for entry in everyone), *(one.student for one in others)])
    known = roster.load(options.roster, list(present)) if options.roster else roster.Roster()
    rubrics = marking.all_asked(assignment, exercises, assignment.worth())
    setting = Setting(
        exercises, assignment.seed, box, out / evaluations.FOLDER, options.force, options.jobs, options.scheduler
    )
    with alone(course):
        _note_points(assignment, course, console)
        config.quiet(out / LOG)
        books = Gradebook(course, assignment, {student: known.names.get(student, "") for student in students})
        submissions = reading.read_all(handed, exercises, books.release)
        evaluated = evaluations.evaluated(submissions, setting, console)
        marks = (marking.mark(exercises, rubrics, *pair) for pair in evaluated)
        entered, kept = books.enter(marks, anew=options.force)
        summary = publish.summarised(assignment, rubrics, entered, kept, known).beside(others)
        _note_missing({*present, *books.booked} - {entry.student for entry in everyone}, options, console)
        publish.publish(summary, out, known)
        summary.save(out)
        _note_changes(earlier, summary, out, console)
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


def _chosen(everyone: list[HandedIn], options: Options) -> list[HandedIn]:
    """The submissions to grade: all, or those of the students that were named."""
    there = {entry.student for entry in everyone}
    for name in options.students:
        if name not in there:
            close = difflib.get_close_matches(name, there, 3) or sorted(there)[:3]
            raise GradeError(f"{name}: no such student in {options.submissions}; there are {', '.join(close)}, …")
    return [entry for entry in everyone if not options.students or entry.student in options.students]


def _note_missing(missing: set[str], options: Options, console: Console) -> None:
    """Say whose results of before are kept though their submissions are not there."""
    if missing:
        some = ", ".join(sorted(missing)[:3]) + (", …" if len(missing) > 3 else "")
        text = f"not in {options.submissions}, graded before: {len(missing)} ({some}); their results stay"
        terminal.note(f"{text}; for a class without them give another --out", console=console)


def _note_points(assignment: Assignment, course: Path, console: Console) -> None:
    """Make the assignment again where its file has other points than its notebook and its gradebook."""
    made, wanted = generate.points_made(assignment, course), generate.points_wanted(assignment)
    if made and made != wanted:
        config.quiet()
        generate.make_again(assignment, course)
        terminal.note(
            f"{assignment.name}: its file has other points now; its notebooks were made again", console=console
        )


def _note_changes(earlier: Summary | None, now: Summary, out: Path, console: Console) -> None:
    """Say who has other points than before, and keep it."""
    found = changes.changes(earlier, now) if earlier else []
    write(out / CHANGES, "".join(f"{line}\n" for line in found))
    if found:
        console.print(f"changed since the last grading ({len(found)} lines, all in {out / CHANGES}):", highlight=False)
    for line in found[:_LISTED]:
        console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)


def _results(
    folder: Path, assignment: Assignment, students: list[str]
) -> tuple[Path, Summary | None, tuple[Student, ...]]:
    """The folder of results, which holds those of no other assignment; what it holds; and of whom but these."""
    out = folder.resolve()
    try:
        earlier = Summary.load(out)
    except ResultsError:
        earlier = None
    if earlier and earlier.assignment != assignment.name:
        raise GradeError(f"{out}: holds the results of {earlier.assignment}; give {assignment.name} another --out")
    of_others = tuple(student for student in earlier.present if student.student not in students) if earlier else ()
    exercises = [exercise.id for exercise in earlier.exercises] if earlier else []
    if of_others and exercises != [item.id for item in assignment.exercises]:
        raise GradeError(
            f"{out}: {of_others[0].student} was graded there with other exercises; grade the whole class, "
            "or give another --out"
        )
    out.mkdir(parents=True, exist_ok=True)
    return out, earlier, of_others


@contextmanager
def alone(course: Path) -> Iterator[None]:
    """Keep others from the books of a course.

    Raises:
        GradeError: they are being written.
    """
    try:
        with filelock.FileLock(course / ".grading.lock", timeout=0):
            yield
    except filelock.Timeout:
        raise GradeError(f"{course}: another grading of this course is running; wait for it") from None
