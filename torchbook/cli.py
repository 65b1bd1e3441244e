"""`torchbook …`: check exercises, run the chapters, print the book, look at the machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.table import Table

from torchbook.course.cli import app as course

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_show_locals=False)
app.add_typer(course, name="course")
console = Console()
errors = Console(stderr=True)

Names = Annotated[list[str] | None, typer.Argument(help="Chapters by id or path; all when left out.")]
Root = Annotated[Path, typer.Option(help="The book's folder, with _toc.yml.")]
Lane = Annotated[str, typer.Option(help="cpu or gpu.")]
Fast = Annotated[bool, typer.Option("--fast", help="Small sizes, same cells.", envvar="TORCHBOOK_FAST")]
Seed = Annotated[int, typer.Option(help="Seed of every chapter.")]
Force = Annotated[bool, typer.Option("--force", help="Run even what is up to date.")]
Jobs = Annotated[int, typer.Option(min=0, help="Chapters side by side; 0: what cores and memory allow.")]
Backend = Annotated[str, typer.Option(help="joblib backend: loky, or dask with --scheduler.")]
Scheduler = Annotated[str, typer.Option(help="Address of a Dask scheduler, e.g. tcp://host:8786.")]
Patience = Annotated[
    float, typer.Option(min=0.1, help="Multiplies every time limit; for slow machines.", envvar="TORCHBOOK_PATIENCE")
]
ExerciseId = Annotated[str, typer.Argument(help="For instance p01-x3.")]


@app.command()
def run(
    names: Names = None,
    root: Root = Path("."),
    lane: Lane = "cpu",
    fast: Fast = False,
    seed: Seed = 0,
    force: Force = False,
    jobs: Jobs = 0,
    backend: Backend = "loky",
    scheduler: Scheduler = "",
    patience: Patience = 1.0,
) -> None:
    """Run the chapters whose code, package, versions or data changed since their last run."""
    if lane not in ("cpu", "gpu"):
        raise typer.BadParameter(f"{lane!r}; it is cpu or gpu", param_hint="--lane")
    if backend not in ("loky", "dask") or (backend == "dask") != bool(scheduler):
        raise typer.BadParameter("loky, or dask together with --scheduler tcp://…", param_hint="--backend")
    from torchbook.press.run import Options

    options = Options(lane, fast, seed, force, jobs, backend, scheduler, patience)
    raise typer.Exit(_run(root, tuple(names or ()), options))


def _run(root: Path, names: tuple[str, ...], options: object) -> int:
    from torchbook.press import run as press
    from torchbook.press.chapters import ChapterError, chapters

    assert isinstance(options, press.Options)
    try:
        found = chapters(root.resolve(), names)
        report = press.run(found, options, console)
    except (ChapterError, press.RunError) as error:
        errors.print(f"[red]error[/red] {error}", highlight=False, soft_wrap=True)
        return 2
    for failure in report.failed:
        errors.print(f"[red]error[/red] {failure}", highlight=False, soft_wrap=True)
    console.print(f"{len(report.ran)} ran, {len(report.kept)} up to date, {len(report.failed)} failed")
    return 1 if report.failed else 0


@app.command()
def book(root: Root = Path("."), fast: Fast = False, jobs: Jobs = 0, patience: Patience = 1.0) -> None:
    """Run what changed on the CPU, then build the site into _build/html."""
    from torchbook.press import build
    from torchbook.press.run import Options

    code = _run(root, (), Options(fast=fast, jobs=jobs, patience=patience))
    if code == 0:
        code = build.html(root.resolve())
    if code == 0:
        console.print(f"the book: {root / '_build' / 'html' / 'index.html'}")
    raise typer.Exit(code)


@app.command()
def serve(root: Root = Path("."), port: Annotated[int, typer.Option(help="Port on this machine.")] = 8000) -> None:
    """Serve the book on this machine and refresh the page whenever its prose is saved."""
    from torchbook.press import build

    build.serve(root.resolve(), port)


@app.command()
def doctor() -> None:
    """Say which torch, device, data and tools are there, against what was tested, and what to do."""
    from torchbook import runtime

    table = Table("", "what", "found", "advice", box=None)
    marks = {"ok": "[green]ok[/green]", "note": "[yellow]note[/yellow]", "bad": "[red]bad[/red]"}
    findings = runtime.doctor()
    for finding in findings:
        table.add_row(marks[finding.state], finding.what, finding.found, finding.advice)
    console.print(table)
    raise typer.Exit(1 if any(finding.state == "bad" for finding in findings) else 0)


@app.command()
def check(
    exercise: ExerciseId,
    file: Annotated[Path, typer.Argument(help="Your answer: a Python file, or a notebook.")],
    patience: Patience = 1.0,
) -> None:
    """Check an answer to an exercise; the exit status is 0 when it is solved, 1 when not yet."""
    from torchbook.practice import terminal
    from torchbook.practice.exercise import ExerciseError

    try:
        result = terminal.check_file(exercise, file, patience=patience)
    except (ExerciseError, terminal.FileError) as error:
        raise typer.Exit(_complain(error)) from None
    console.print(str(result), markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(0 if result else 1)


@app.command()
def exercises(
    chapter: Annotated[str, typer.Option(help="Only of this chapter, for instance p01.")] = "",
    todo: Annotated[bool, typer.Option("--todo", help="Only what is not solved yet.")] = False,
) -> None:
    """List the exercises, and how far you are."""
    from torchbook.practice import learner
    from torchbook.practice.exercise import ExerciseError

    try:
        found, note = learner.listing(chapter, todo=todo)
    except ExerciseError as error:
        raise typer.Exit(_complain(error)) from None
    table = Table("exercise", "title", "difficulty", "minutes", "state", box=None)
    for one in found:
        table.add_row(one.id, one.title, f"{one.stars} of 5", str(one.minutes), one.state)
    console.print(table if found else "no exercise to show")
    if note:
        errors.print(note, markup=False, highlight=False, soft_wrap=True)


@app.command()
def hint(
    exercise: ExerciseId, number: Annotated[int | None, typer.Argument(help="Without: the list of symptoms.")] = None
) -> None:
    """Show a hint of an exercise, or the symptoms that there are hints for."""
    from torchbook.practice import learner

    _show(lambda: learner.hint_text(exercise, number, learner.in_terminal))


@app.command()
def solution(exercise: ExerciseId) -> None:
    """Show the reference of an exercise; your progress keeps that you have seen it."""
    from torchbook.practice import learner

    _show(lambda: learner.solution_text(exercise))


def _show(made: Callable[[], str]) -> None:
    from torchbook.practice.exercise import ExerciseError

    try:
        console.print(Markdown(made()))
    except ExerciseError as error:
        raise typer.Exit(_complain(error)) from None


def _complain(error: Exception) -> int:
    errors.print(f"[red]error[/red] {escape(str(error))}", highlight=False, soft_wrap=True)
    return 2
