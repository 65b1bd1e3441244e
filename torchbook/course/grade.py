"""Grades what a class handed in: each submission in a sandbox, points into nbgrader's books, pages and tables out.

What is found out about a submission is kept in `<out>/evaluations/<student>.json` at once, under a key of all that it
depends on. So grading can be stopped, or killed, at any moment: called again it goes on, and ends with the same grades.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import filelock
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from torchbook.course import engine, evaluate, exports, marking, report, sandbox
from torchbook.course.assignment import Assignment, resolve
from torchbook.course.books import Books, BooksError, Kept
from torchbook.course.flags import flags
from torchbook.course.handed_in import HandedIn, find
from torchbook.course.results import Flag, Part, ResultsError, Student, Summary, write
from torchbook.course.roster import Roster
from torchbook.course.roster import load as load_roster
from torchbook.course.submission import Cell, Extracted, SubmissionError, extract, read, repaired
from torchbook.practice.exercise import Exercise

EVALUATIONS = "evaluations"
LOG = "nbgrader.log"
OTHERS = "other cells"  # in place of an exercise's id
NOT_PYTHON = "not Python"
_ENTERED = ".entered"


class GradeError(Exception):
    """Nothing can be graded; the message says what to do."""


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


@dataclass
class _Work:
    """One submission on its way."""

    handed: HandedIn
    cells: tuple[Cell, ...] = ()
    extracted: Extracted = field(default_factory=lambda: Extracted({}, ()))
    problem: str = ""
    job: dict[str, Any] = field(default_factory=dict)
    key: str = ""
    results: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def student(self) -> str:
        return self.handed.student


def grade(options: Options, console: Console) -> Summary:
    """Grade a class; what was graded before and has not changed is taken as it is.

    Raises:
        GradeError, AssignmentError, HandedInError, BooksError, EngineError, RosterError, ResultsError, SandboxError:
            nothing, or nothing more, can be graded; the message says what to do.
    """
    course, assignment = find_assignment(options.course, options.submissions, options.assignment)
    exercises = resolve(assignment)
    for warning in assignment.changed():
        console.print(f"[yellow]note[/yellow] {warning}", highlight=False, soft_wrap=True)
    roster = load_roster(options.roster) if options.roster else None
    handed = find(options.submissions.resolve(), assignment.name)
    box = sandbox.Box(unsafe=options.unsafe, patience=options.patience)
    why_not = None if options.unsafe else sandbox.available(box)
    if why_not:
        raise GradeError(
            f"no sandbox, so nothing is graded: {why_not}; or grade without one with --unsafe, "
            "and any student can then read and change what you can"
        )
    out = options.out.resolve()
    _belongs(out, assignment)
    out.mkdir(parents=True, exist_ok=True)
    with _alone(course):
        grading = _Grading(course, assignment, exercises, out, roster, box, options, console)
        return grading.run(handed)


def find_assignment(course: Path | None, submissions: Path, name: str) -> tuple[Path, Assignment]:
    """The course's folder and the assignment.

    Raises:
        GradeError: there is none, or several and none was named.
    """
    near = [Path(), *list(submissions.resolve().parents)[:2]]
    places = [course] if course else [place / inner for place in near for inner in ("", "course")]
    found = next((place.resolve() for place in places if (place / "assignments").is_dir()), None)
    if found is None:
        where = f"{course} is no course" if course else "no course here, nor beside the submissions"
        raise GradeError(f"{where}; name the folder that `torchbook course new` made with --course")
    paths = {path.stem: path for path in sorted((found / "assignments").glob("*.yml"))}
    if name and name not in paths:
        raise GradeError(f"{found}: no assignment {name!r}; there are: {', '.join(paths) or 'none'}")
    if not name and len(paths) != 1:
        raise GradeError(f"{found}: choose with --assignment; there are: {', '.join(paths) or 'none'}")
    return found, Assignment.load(paths[name] if name else next(iter(paths.values())))


def _belongs(out: Path, assignment: Assignment) -> None:
    try:
        earlier = Summary.load(out)
    except ResultsError:
        return
    if earlier.assignment != assignment.name:
        raise GradeError(f"{out}: holds the results of {earlier.assignment}; give {assignment.name} another --out")


@contextmanager
def _alone(course: Path) -> Iterator[None]:
    try:
        with filelock.FileLock(course / ".grading.lock", timeout=0):
            yield
    except filelock.Timeout:
        raise GradeError(f"{course}: another grading of this course is running; wait for it") from None


class _Grading:
    def __init__(
        self,
        course: Path,
        assignment: Assignment,
        exercises: Sequence[Exercise],
        out: Path,
        roster: Roster | None,
        box: sandbox.Box,
        options: Options,
        console: Console,
    ) -> None:
        self.course, self.assignment, self.exercises, self.out = course, assignment, exercises, out
        self.roster, self.options, self.console = roster, options, console
        self.box = box
        self.books = Books(course, assignment, out / LOG)
        points = [assignment.points(item) for item in assignment.exercises]
        self.asked = tuple(marking.asked(*pair) for pair in zip(exercises, points, strict=True))
        self.usual = {one.id: {flag.construct for flag in flags(one.reference)} for one in exercises}
        self.setting = _setting(assignment, exercises, box)

    def run(self, handed: Sequence[HandedIn]) -> Summary:
        works = [self._read(one) for one in handed]
        self.books.enter_students({work.student: self._name(work.student) for work in works})
        waiting = [work for work in works if not self._recall(work)]
        entered = self.books.entered()
        for work in works:
            if work not in waiting:
                self._enter(work, entered)
        self._evaluate(waiting, entered)
        summary = self._summary(works, self.books.entered())
        self._publish(summary)
        return summary

    # Reading.

    def _read(self, handed: HandedIn) -> _Work:
        work = _Work(handed, problem=handed.problem)
        stubs = {exercise.id: "" for exercise in self.exercises}
        ours = []
        for cell in self.books.release.cells:
            ours.append(cell.source)
            exercise = cell.metadata.get("nbgrader", {}).get("grade_id", "").removesuffix("-solution")
            if exercise in stubs:
                stubs[exercise] = cell.source
        if handed.path:
            try:
                work.cells = read(handed.path)
                work.extracted = extract(work.cells, stubs, ours)
            except SubmissionError as error:
                work.problem = str(error)
            except Exception as error:  # one submission must not cost another
                work.problem = f"{handed.path.name}: cannot be read ({type(error).__name__})"
        answers = work.extracted.answers
        work.job = {
            "exercises": [
                {"id": exercise.id, "code": answers[exercise.id].code, "context": answers[exercise.id].context}
                for exercise in self.exercises
                if exercise.id in answers
            ]
        }
        work.key = hashlib.sha256(json.dumps([work.job, self.setting], sort_keys=True).encode()).hexdigest()
        return work

    def _name(self, student: str) -> str:
        return self.roster.name(student) if self.roster else ""

    # Evaluations.

    def _path(self, work: _Work) -> Path:
        return self.out / EVALUATIONS / f"{work.student}.json"

    def _recall(self, work: _Work) -> bool:
        """Whether there is nothing to run, or it was run before."""
        if not work.job["exercises"]:
            return True
        if self.options.force:
            return False
        try:
            kept = json.loads(self._path(work).read_text(encoding="utf-8"))
            if kept["key"] != work.key:
                return False
            work.results, work.seconds = kept["results"], kept["seconds"]
        except (OSError, ValueError, KeyError, TypeError):
            return False
        return True

    def _evaluate(self, works: Sequence[_Work], entered: Mapping[str, Kept]) -> None:
        if not works:
            return
        tests = self._tests()
        calls = {}
        for work in works:
            for one in work.job["exercises"]:
                one |= tests[one["id"]]
            calls[work.student] = (work.job, self.box)
        by_student = {work.student: work for work in works}
        failed: list[BaseException] = []
        with _progress(self.console) as progress:
            task = progress.add_task("grading", total=len(works))
            mapped = engine.mapped(_timed, calls, jobs=self.options.jobs, scheduler=self.options.scheduler)
            for student, found in mapped:
                work = by_student[student]
                if isinstance(found, BaseException):
                    failed.append(found)
                    work.problem = f"could not be graded ({type(found).__name__}: {found}); grade again"
                else:
                    work.results, work.seconds, where = found
                    kept = {"key": work.key, "seconds": work.seconds, "where": where, "results": work.results}
                    write(self._path(work), json.dumps(kept, indent=1))
                self._enter(work, entered)
                progress.update(task, advance=1, description=student)
        if len(failed) == len(works):
            raise GradeError(f"no submission could be graded: {type(failed[0]).__name__}: {failed[0]}")

    def _tests(self) -> dict[str, dict[str, Any]]:
        """What the sandbox needs of each exercise, with the matrix of which check refuses which wrong answer."""
        given = {exercise.id: evaluate.tests_of(exercise, self.assignment.seed) for exercise in self.exercises}
        calls = {name: (test, self.box) for name, test in given.items()}
        for name, found in engine.mapped(evaluate.matrix, calls, jobs=self.options.jobs):
            if isinstance(found, BaseException):
                raise GradeError(f"{name}: its own checks do not run in the sandbox: {found}")
            refused = [check for check, state in found["reference"].items() if state != "passed"]
            if refused:
                said = found["messages"][refused[0]]
                raise GradeError(f"{name}: {refused[0]} refuses the reference itself in the sandbox ({said}); mend it")
            given[name]["expected"] = found
        return given

    # Books.

    def _enter(self, work: _Work, entered: Mapping[str, Kept]) -> None:
        """Enter a submission into the books, unless exactly this is there."""
        parts = self._parts(work)
        verdicts = marking.verdicts(self.asked, parts)
        at = work.handed.at
        late = [self.assignment.due, self.assignment.late.model_dump()]
        content: list[Any] = [
            work.key,
            work.problem,
            {name: [v.points, v.lines] for name, v in verdicts.items()},
            at,
            late,
        ]
        content.append([cell.source for cell in work.cells])
        key = hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()
        mark = self.course / _ENTERED / self.assignment.name / work.student
        there = work.student in entered and self.books.graded(work.student).is_file() and mark.is_file()
        if there and not self.options.force and mark.read_text() == key:
            return
        notebook = repaired(work.cells, work.extracted, self.books.release)
        try:
            self.books.enter(work.student, notebook, verdicts, at, work.handed.path if work.cells else None)
        except BooksError as error:
            work.problem = work.problem or str(error)
        else:
            write(mark, key)

    def _parts(self, work: _Work) -> dict[str, Part]:
        answers = work.extracted.answers
        return {
            wanted.id: marking.part(exercise, wanted, answers.get(wanted.id), work.results.get(wanted.id))
            for exercise, wanted in zip(self.exercises, self.asked, strict=True)
        }

    # Results.

    def _summary(self, works: Iterable[_Work], entered: Mapping[str, Kept]) -> Summary:
        students = [self._student(work, entered.get(work.student)) for work in works]
        present = {student.student for student in students}
        absent = self.roster.absent(present) if self.roster else []
        students += [
            Student(student=name, name=self._name(name), absent=True, problem="nothing was handed in")
            for name in absent
        ]
        due, name, title = self.assignment.due, self.assignment.name, self.assignment.title
        ordered = tuple(sorted(students, key=lambda student: student.student))
        return Summary(assignment=name, title=title, due=due, exercises=self.asked, students=ordered)

    def _student(self, work: _Work, kept: Kept | None) -> Student:
        points = kept.points if kept else {}
        parts = [
            part.model_copy(
                update={
                    "public": points.get(f"{name}-public", 0.0),
                    "hidden": points.get(f"{name}-hidden", 0.0),
                }
            )
            for name, part in self._parts(work).items()
        ]
        notes = [work.handed.note] if work.handed.note else []
        repairs = work.extracted.repairs if work.cells else ()
        return Student(
            student=work.student,
            name=self._name(work.student),
            problem=work.problem,
            submitted=work.handed.at,
            seconds_late=kept.seconds_late if kept else 0.0,
            late=kept.late if kept else 0.0,
            parts=tuple(parts),
            flags=tuple(self._flags(work)),
            repairs=(*notes, *(f"{r.exercise}: {r.what}" if r.exercise else r.what for r in repairs)),
            seconds=work.seconds,
        )

    def _flags(self, work: _Work) -> Iterable[Flag]:
        """What a person should look at; not what the reference has too, and of other cells each construct once."""
        for repair in (repair for repair in work.extracted.repairs if work.cells and repair.look):
            yield Flag(exercise=repair.exercise, line=0, what="notebook", why=repair.what)
        seen = set()
        for exercise in self.exercises:
            answer = work.extracted.answers.get(exercise.id)
            for flag in flags(answer.code) if answer else ():
                if flag.construct not in self.usual[exercise.id] | {NOT_PYTHON}:
                    seen.add(flag.construct)
                    yield Flag(exercise=exercise.id, line=flag.line, what=flag.construct, why=flag.why)
        usual = {construct for constructs in self.usual.values() for construct in constructs}
        widest = max((answer.context for answer in work.extracted.answers.values()), key=len, default="")
        for flag in flags(widest):
            if flag.construct not in seen | usual:
                seen.add(flag.construct)
                yield Flag(exercise=OTHERS, line=0, what=flag.construct, why=flag.why)

    def _publish(self, summary: Summary) -> None:
        for student in summary.present:
            report.write_feedback(summary, student, self.out)
        exports.export(summary, self.out, self.roster)
        report.write_report(summary, self.out)
        summary.save(self.out)


def _setting(assignment: Assignment, exercises: Sequence[Exercise], box: sandbox.Box) -> list[Any]:
    """What an evaluation depends on besides the student's code."""
    course = Path(__file__).parent
    modules = [course / f"{name}.py" for name in ("evaluate", "runner", "sandbox", "syscalls")]
    modules += [course.parent / "practice" / f"{name}.py" for name in ("harness", "ranks", "ward")]
    sources = [path.read_bytes() for path in modules]
    limits = {name: value for name, value in asdict(box).items() if name != "python"}
    digests = {exercise.id: exercise.digest for exercise in exercises}
    return [digests, assignment.seed, hashlib.sha256(b"\0".join(sources)).hexdigest(), limits, _version("torch")]


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _timed(job: dict[str, Any], box: sandbox.Box) -> tuple[dict[str, Any], float, str]:
    """Results, the seconds that they took, and host and process that got them."""
    start = time.monotonic()
    found = evaluate.evaluate(job, box)
    return found, round(time.monotonic() - start, 2), f"{platform.node()}:{os.getpid()}"


def _progress(console: Console) -> Progress:
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    return Progress(*columns, TextColumn("{task.description}", markup=False), console=console, transient=True)
