"""`torchbook course collect`, `grade` and `report`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from torchbook import terminal
from torchbook_course.show import printable

if TYPE_CHECKING:
    from torchbook_course.results import Summary

console = Console()
errors = Console(stderr=True)

GRADED, LOOK, FAILED = 0, 1, 2  # exit statuses
_LISTED = 30

Submissions = Annotated[
    Path,
    typer.Argument(help="Folder with <student>/<assignment>.ipynb, with <student>.ipynb, or nbgrader's submitted/."),
]
Out = Annotated[Path, typer.Option(help="Folder for gradebook, feedback, report; called again it goes on there.")]
Course = Annotated[Path | None, typer.Option(help="The course's folder, made by `course new`; else the one here.")]
Name = Annotated[str, typer.Option(help="The assignment; if the course has only one, that.")]
Jobs = Annotated[int, typer.Option(min=0, help="Submissions side by side; 0: one a core.")]
Scheduler = Annotated[str, typer.Option(help="Address of a Dask scheduler, e.g. tcp://host:8786.")]
Unsafe = Annotated[bool, typer.Option("--unsafe", help="Run students' code without a sandbox, as yourself.")]
Force = Annotated[bool, typer.Option("--force", help="Grade anew what was graded before.")]
Students = Annotated[
    list[str] | None, typer.Option("--student", help="Grade this one alone, or several; the others' results stay.")
]
RosterFile = Annotated[
    Path | None,
    typer.Option("--roster", help="CSV of the class: Canvas's gradebook, Moodle's grading worksheet, or any."),
]
Patience = Annotated[float, typer.Option(min=0.1, help="Multiplies every time limit; for slow machines.")]
Results = Annotated[Path, typer.Argument(help="The folder that grading wrote.")]
ResultsOption = Annotated[Path, typer.Option("--results", help="The folder that grading wrote.")]
Downloads = Annotated[list[Path], typer.Argument(help="Downloads: zips, folders or notebooks.")]
Platform = Annotated[str, typer.Option("--from", help="moodle, canvas, or folder: files named after students.")]
CollectOut = Annotated[Path, typer.Option(help="Folder for the submissions.")]


def add(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (collect, grade, report, points, explain):
        app.command()(command)


@contextmanager
def _errors_as_lines() -> Iterator[None]:
    """Errors that people can mend become a line and the status 2."""
    from torchbook.practice.exercise import ExerciseError
    from torchbook_course.assignment import AssignmentError
    from torchbook_course.collect import CollectError
    from torchbook_course.engine import EngineError
    from torchbook_course.evaluations import GradeError
    from torchbook_course.explain import ExplainError
    from torchbook_course.generate import GenerateError
    from torchbook_course.gradebook import GradebookError
    from torchbook_course.handed_in import HandedInError
    from torchbook_course.results import ResultsError
    from torchbook_course.roster import RosterError
    from torchbook_course.sandbox import SandboxError

    mendable = (AssignmentError, GradebookError, CollectError, EngineError, ExerciseError, GradeError, HandedInError)
    others = (ExplainError, GenerateError, ResultsError, RosterError, SandboxError)
    try:
        yield
    except (*mendable, *others) as error:
        terminal.error(printable(str(error)))
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        errors.print("stopped; what was evaluated is kept: the same command again goes on there", highlight=False)
        raise typer.Exit(FAILED) from None


def _plain(text: str) -> str:
    return printable(text).replace("[", "\\[")


def grade(
    submissions: Submissions,
    out: Out = Path("results"),
    course: Course = None,
    assignment: Name = "",
    jobs: Jobs = 0,
    scheduler: Scheduler = "",
    unsafe: Unsafe = False,
    force: Force = False,
    roster: RosterFile = None,
    patience: Patience = 1.0,
    student: Students = None,
) -> None:
    """Grade what a class handed in, each submission in a sandbox; nbgrader keeps the books.

    Status 0: all graded; 1: graded, and some need a person; 2: not graded.
    """
    with _errors_as_lines():
        from torchbook_course import grade as grading

        options = grading.Options(
            submissions, out, course, assignment, jobs, scheduler, unsafe, force, roster, patience, tuple(student or ())
        )
        summary = grading.grade(options, console)
        raise typer.Exit(_show(summary, out))


def report(
    results: Results = Path("results"),
    roster: RosterFile = None,
    course: Course = None,
) -> None:
    """Write tables, feedback and report again from what was graded, for instance with a roster.

    With --course, points that were changed by hand in the course's gradebook since the last grading are taken over.
    """
    with _errors_as_lines():
        from torchbook_course import publish
        from torchbook_course import results as kept
        from torchbook_course import roster as rosters

        summary = kept.Summary.load(results)
        if course:
            summary = _from_the_books(summary, course, results)
        present = [student.student for student in summary.present]
        known = rosters.load(roster, present) if roster else rosters.Roster()
        publish.publish(summary, results, known)
        raise typer.Exit(_show(summary, results))


def _from_the_books(summary: Summary, course: Path, results: Path) -> Summary:
    from torchbook_course import config, gradebook, publish
    from torchbook_course.assignment import find_assignment

    folder, assignment = find_assignment(course, results, summary.assignment)
    config.quiet()
    now = publish.with_points(summary, gradebook.entered(folder, assignment))
    now.save(results)
    return now


def points(
    assignment: Annotated[str, typer.Argument(help="The assignment, for instance hw1.")],
    worth: Annotated[list[str], typer.Argument(help="p01-x3=3, shared as now; p01-x3=1+2: for public, hidden checks.")],
    course: Course = None,
) -> None:
    """Change the points of exercises in an assignment, also after it was graded; grading again enters them.

    No student's code runs again for it, and grading says whose points changed.
    """
    with _errors_as_lines():
        from torchbook_course import points as changing

        for line in changing.change(assignment, worth, course):
            console.print(line, markup=False, highlight=False, soft_wrap=True)


def explain(
    student: Annotated[str, typer.Argument(help="As in gradebook.csv.")],
    exercise: Annotated[str, typer.Argument(help="For instance p01-x3.")],
    results: ResultsOption = Path("results"),
    course: Course = None,
    assignment: Name = "",
    unsafe: Unsafe = False,
) -> None:
    """Show why an answer got its points: the answer, each check, the case that fails, what the reference gives there.

    For you alone: it shows what hidden checks say. The answer runs again, in its box.
    """
    with _errors_as_lines():
        from torchbook_course import explain as explaining

        asked = explaining.Asked(student, exercise, results, course, assignment, unsafe)
        for line in explaining.explained(asked):
            console.print(_plain(line), highlight=False, soft_wrap=True)


def _show(summary: Summary, out: Path) -> int:
    from torchbook_course.results import number

    totals = [student.total for student in summary.present]
    mean = sum(totals) / len(totals) if totals else 0.0
    absent = len(summary.students) - len(totals)
    console.print(
        f"{len(totals)} graded, {absent} absent, mean {number(mean)} of {number(summary.maximum)} points: "
        f"{out / 'gradebook.csv'}, {out / 'report.html'}, {out / 'feedback'}",
        highlight=False,
        soft_wrap=True,
    )
    people = [student for student in summary.present if student.needs_person]
    if not people:
        return GRADED
    table = Table("student", "needs a person because", box=None)
    for student in people[:_LISTED]:
        table.add_row(_plain(student.student), _plain(student.reason))
    console.print(table)
    if len(people) > _LISTED:
        console.print(f"and {len(people) - _LISTED} more, all in {out / 'flags.csv'} and {out / 'report.html'}")
    return LOOK


def collect(
    downloads: Downloads,
    platform: Platform = "folder",
    out: CollectOut = Path("submissions"),
    assignment: Name = "",
    course: Course = None,
) -> None:
    """Sort downloads of a learning platform into one folder a student, as `grade` takes them."""
    if platform not in ("moodle", "canvas", "folder"):
        raise typer.BadParameter(f"{platform!r}; it is moodle, canvas or folder", param_hint="--from")
    with _errors_as_lines():
        from torchbook_course import collect as collecting
        from torchbook_course.assignment import find_assignment

        found = find_assignment(course, downloads[0], assignment)[1]
        collected = collecting.collect(downloads, platform, found.name, out, found.late_from)  # type: ignore[arg-type]
        console.print(f"{collected.students} submissions: {out}", highlight=False, soft_wrap=True)
        for what in collected.skipped:
            console.print(f"left out: {_plain(what)}", highlight=False, soft_wrap=True)
        raise typer.Exit(LOOK if collected.skipped else GRADED)
