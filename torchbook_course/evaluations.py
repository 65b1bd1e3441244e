"""Runs submissions in boxes, and keeps what was found out: the second step of a submission's way to its grade.

An evaluation is kept in `<out>/evaluations/<student>.json` as soon as its box ends, under a key of all that it depends
on. So grading can be stopped, or killed, at any moment: called again it goes on, and ends with the same grades.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from torchbook.practice.exercise import Exercise
from torchbook_course import engine, evaluate, matrices, sandbox
from torchbook_course.reading import Submission
from torchbook_course.results import write
from torchbook_proofs import Store, digest, installed

FOLDER = "evaluations"
SHARE = 8  # submissions at most that share a box, one after the other: torch is imported once for all of them


class GradeError(Exception):
    """Nothing can be graded; the message says what to do."""


@dataclass(frozen=True)
class Evaluation:
    """What was found out about a submission: results by exercise, as `evaluate` says them, and how long it took.

    `key` is of all that this depends on; `problem` says why nothing was found out.
    """

    key: str
    results: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    problem: str = ""


@dataclass(frozen=True)
class Setting:
    """What submissions are evaluated with, and how.

    Attributes:
        exercises: of the assignment.
        seed: the class's.
        box: for each submission.
        folder: where evaluations are kept.
        force: whether kept ones do not count.
        jobs: submissions side by side; 0 for one a core.
        scheduler: address of a Dask scheduler, if not this machine runs them.
    """

    exercises: Sequence[Exercise]
    seed: int
    box: sandbox.Box
    folder: Path
    force: bool = False
    jobs: int = 0
    scheduler: str = ""


def evaluated(
    submissions: Sequence[Submission], setting: Setting, console: Console
) -> Iterator[tuple[Submission, Evaluation]]:
    """Each submission with its evaluation: those that are kept or hold no answer first, then others as they come.

    Raises:
        GradeError: the exercises' own checks do not run, or no submission could be evaluated.
        EngineError, SandboxError: nothing can be run.
    """
    dependencies = depends_on(setting)
    jobs = {submission.student: _job(submission, setting.exercises) for submission in submissions}
    keys = {student: _key(job, dependencies) for student, job in jobs.items()}
    waiting = []
    for submission in submissions:
        evaluation = _recalled(setting, submission, keys[submission.student], bool(jobs[submission.student]))
        if evaluation:
            yield submission, evaluation
        else:
            waiting.append(submission)
    if waiting:
        empty = sum(not job for job in jobs.values())
        kept = len(submissions) - len(waiting) - empty
        if kept > 0:
            console.print(f"{kept} are as they were evaluated before; {len(waiting)} to evaluate", highlight=False)
        pending = {submission.student: jobs[submission.student] for submission in waiting}
        by_student = {submission.student: submission for submission in waiting}
        for student, evaluation in _run(pending, keys, setting, console):
            yield by_student[student], evaluation


def depends_on(setting: Setting) -> list[Any]:
    """What an evaluation depends on besides the student's code."""
    program = digest(sandbox.LEARNERS, Path(__file__).parent)
    limits = {name: value for name, value in asdict(setting.box).items() if name != "python"}
    digests = {exercise.contract.id: exercise.digest for exercise in setting.exercises}
    versions = installed() if setting.box.python == sys.executable else setting.box.python
    return [digests, setting.seed, program, limits, versions]


def _job(submission: Submission, exercises: Sequence[Exercise]) -> list[dict[str, str]]:
    """The student's part of a job."""
    answers = submission.extracted.answers
    return [
        {"id": name, "code": answers[name].code, "context": answers[name].context}
        for name in (exercise.contract.id for exercise in exercises)
        if name in answers
    ]


def _key(job: list[dict[str, str]], dependencies: list[Any]) -> str:
    return hashlib.sha256(json.dumps([job, dependencies], sort_keys=True).encode()).hexdigest()


def _recalled(setting: Setting, submission: Submission, key: str, answered: bool) -> Evaluation | None:
    """The evaluation where there is nothing to run, or it was run before."""
    if not answered:
        return Evaluation(key)
    if setting.force:
        return None
    try:
        record = json.loads(_path(setting, submission.student).read_text(encoding="utf-8"))
        return Evaluation(key, record["results"], record["seconds"]) if record["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _path(setting: Setting, student: str) -> Path:
    return setting.folder / f"{student}.json"


def _run(
    jobs: Mapping[str, list[dict[str, str]]], keys: Mapping[str, str], setting: Setting, console: Console
) -> Iterator[tuple[str, Evaluation]]:
    tests = _tests(setting)
    asked = {student: {"exercises": [part | tests[part["id"]] for part in job]} for student, job in jobs.items()}
    shares = {share[0]: share for share in _shares(list(jobs), setting)}
    calls = {first: ({student: asked[student] for student in share}, setting.box) for first, share in shares.items()}
    failures: list[BaseException] = []
    with _progress(console) as progress:
        task = progress.add_task("grading", total=len(jobs))
        for first, outcome in engine.mapped(_evaluated, calls, jobs=setting.jobs, scheduler=setting.scheduler):
            if isinstance(outcome, BaseException):
                failures.append(outcome)
            for student in shares[first]:
                yield student, _kept(student, keys[student], outcome, setting)
                progress.update(task, advance=1, description=student)
    if len(failures) == len(calls):
        raise GradeError(f"no submission could be graded: {type(failures[0]).__name__}: {failures[0]}")


def _kept(student: str, key: str, outcome: Any, setting: Setting) -> Evaluation:
    """A student's part of what came out of a box, which is kept for the next time; or why nothing did."""
    if isinstance(outcome, BaseException):
        return Evaluation(key, problem=f"could not be graded ({type(outcome).__name__}: {outcome}); grade again")
    found, worker = outcome
    results, seconds = found[student]
    record = {"key": key, "seconds": seconds, "where": worker, "results": results}
    write(_path(setting, student), json.dumps(record, indent=1))
    return Evaluation(key, results, seconds)


def _tests(setting: Setting) -> dict[str, dict[str, Any]]:
    """What a job has of each exercise besides the student's part, by its id."""
    cases = {e.contract.id: matrices.Case(e, (setting.seed,), grading=True) for e in setting.exercises}
    calls = {name: (case, setting.box) for name, case in cases.items()}
    tests = {name: evaluate.tests_of(case.exercise, setting.seed) for name, case in cases.items()}
    for name, expected in engine.mapped(_expected, calls, jobs=setting.jobs):
        if isinstance(expected, BaseException):
            raise GradeError(f"{name}: its own checks do not run in the sandbox: {expected}")
        for check, message in expected["messages"].items():
            raise GradeError(f"{name}: {check} refuses the reference itself in the sandbox ({message}); mend it")
        tests[name]["expected"] = expected
    return tests


def _expected(case: matrices.Case, box: sandbox.Box) -> dict[str, Any]:
    (matrix,) = matrices.of([case], box, Store.default())
    return matrices.expected(matrix, box.patience)


def _shares(students: Sequence[str], setting: Setting) -> list[tuple[str, ...]]:
    """Who shares a box: as many as make work for all workers, `SHARE` at most; without a box nobody does."""
    workers = engine.jobs_of(setting.jobs)
    size = 1 if setting.box.unsafe else min(SHARE, max(1, len(students) // (2 * workers)))
    return [tuple(students[at : at + size]) for at in range(0, len(students), size)]


def _evaluated(
    jobs: dict[str, dict[str, Any]], box: sandbox.Box
) -> tuple[dict[str, tuple[dict[str, dict[str, Any]], float]], str]:
    """By student, results and the seconds that they took; and host and process that got them."""
    return evaluate.evaluate_all(jobs, box), f"{platform.node()}:{os.getpid()}"


def _progress(console: Console) -> Progress:
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    return Progress(*columns, TextColumn("{task.description}", markup=False), console=console, transient=True)
