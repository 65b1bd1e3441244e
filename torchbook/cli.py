"""`torchbook …`: check exercises, run the chapters, print the book, look at the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.table import Table

from torchbook.course.cli import app as course
from torchbook.press.paper.cli import add as add_paper
from torchbook.press.ship.cli import add as add_ship

# jsonschema, which nbformat brings, would compile a grammar of IRIs at each start, for seconds; no notebook has one.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_show_locals=False)
app.add_typer(course, name="course")
add_ship(app)
add_paper(app)
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
    for name, why in report.lacking.items():
        errors.print(f"[yellow]not run[/yellow] {name}.md: {why}", highlight=False, soft_wrap=True)
    console.print(f"{len(report.ran)} ran, {len(report.kept)} up to date, {len(report.failed)} failed")
    return 1 if report.failed else 0


@app.command()
def record(
    names: Names = None,
    root: Root = Path("."),
    lane: Annotated[str, typer.Option(help="gpu, or rehearsal: the same on a CPU, to try it.")] = "gpu",
    jobs: Annotated[int, typer.Option(min=0, help="Chapters side by side, at most 2 on one GPU.")] = 0,
    name: Annotated[str, typer.Option(help="What the recording is called; else the GPU's own name.")] = "",
    out: Annotated[Path, typer.Option(help="Folder of the recordings; a relative one is in the book's.")] = Path(
        "recordings"
    ),
    check: Annotated[bool, typer.Option("--check", help="Run nothing: list what is missing or stale.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="With --check: exit with 1 if anything is.")] = False,
    fast: Fast = False,
    seed: Seed = 0,
    force: Force = False,
    patience: Patience = 3.0,
) -> None:
    """Run the chapters on this machine's GPU and keep what their device cells gave, for the pages to show."""
    from torchbook.press.run import REHEARSAL, Options

    if lane not in ("gpu", REHEARSAL):
        raise typer.BadParameter(f"{lane!r}; it is gpu or {REHEARSAL}", param_hint="--lane")
    if strict and not check:
        raise typer.BadParameter("it goes with --check", param_hint="--strict")
    folder = root.resolve() / out
    if check:
        raise typer.Exit(_check_recordings(root, tuple(names or ()), folder, strict))
    options = Options(lane, fast, seed, force, jobs, patience=patience)
    raise typer.Exit(_record(root, tuple(names or ()), options, folder, name))


def _record(root: Path, names: tuple[str, ...], options: object, folder: Path, name: str) -> int:
    from torchbook.press import record as press
    from torchbook.press.chapters import ChapterError, chapters
    from torchbook.press.run import Options, RunError

    assert isinstance(options, Options)
    try:
        name = press.device(options.lane, name)
        report = press.record(chapters(root.resolve(), names), options, folder, name, console)
    except (ChapterError, RunError) as error:
        return _complain(error)
    for problem in report.problems:
        errors.print(f"[red]error[/red] {escape(problem)}", highlight=False, soft_wrap=True)
    _note(report.notes)
    counts = f"{len(report.written)} recorded, {len(report.kept)} up to date, {len(report.problems)} failed"
    console.print(f"{counts}: {folder / press.slug(name)}", soft_wrap=True)
    return 1 if report.problems else 0


def _check_recordings(root: Path, names: tuple[str, ...], folder: Path, strict: bool) -> int:
    from torchbook.press.chapters import ChapterError, chapters
    from torchbook.press.recordings import findings

    try:
        found = [*findings(folder, chapters(root.resolve(), names), chapters(root.resolve()))]
    except ChapterError as error:
        return _complain(error)
    _note(found)
    console.print(f"{len(found)} to mend" if found else "every recording is of the code as it is")
    return 1 if strict and found else 0


@app.command()
def pack(
    folder: Annotated[Path, typer.Argument(help="Where the pack goes; it is emptied first.")],
    names: Names = None,
    machine: Annotated[
        Path, typer.Option(help="What `python -m pip list --format=json` says on the machine, as a file.")
    ] = Path("machine.json"),
    python: Annotated[str, typer.Option(help="Its version of Python.")] = "3.12",
    platform: Annotated[
        list[str] | None, typer.Option(help="Tag of its platform, e.g. manylinux_2_28_x86_64; else as this machine.")
    ] = None,
    root: Root = Path("."),
) -> None:
    """Pack the wheels that a GPU machine without a network lacks, with a script that records the chapters there."""
    from torchbook.press import pack as press
    from torchbook.press.chapters import ChapterError, chapters

    try:
        found = chapters(root.resolve(), tuple(names or ()))
        carried = press.pack(folder, found, press.there(machine), python, platform or ())
    except (ChapterError, press.PackError) as error:
        raise typer.Exit(_complain(error)) from None
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    console.print(f"{len(carried)} packages, {size / 1e6:.0f} MB; from the book's folder there: sh {folder}/run.sh")


def _note(found: Iterable[object]) -> None:
    for one in found:
        errors.print(f"[yellow]note[/yellow] {escape(str(one))}", highlight=False, soft_wrap=True)


@app.command()
def book(root: Root = Path("."), fast: Fast = False, jobs: Jobs = 0, patience: Patience = 3.0) -> None:
    """Run what changed on the CPU, then build the site into _build/html."""
    from torchbook.press import build
    from torchbook.press.run import Options

    code = _run(root, (), Options(fast=fast, jobs=jobs, patience=patience))
    if code == 0:
        code = build.html(root.resolve())
        _note_recordings(root)
    if code == 0:
        console.print(f"the book: {root / '_build' / 'html' / 'index.html'}")
    raise typer.Exit(code)


def _note_recordings(root: Path) -> None:
    """Say what recordings no longer show on their pages; a book without any says so itself."""
    from torchbook.press.chapters import chapters
    from torchbook.press.recordings import FOLDER, findings, lanes

    folder = root.resolve() / FOLDER
    if lanes(folder):
        known = chapters(root.resolve())
        _note(findings(folder, known, known))


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
