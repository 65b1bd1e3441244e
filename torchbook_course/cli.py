"""`torchbook course …`: make an assignment, link to it, collect it, grade it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from torchbook import findings, terminal
from torchbook.runtime import Finding
from torchbook_course import mutants_cli
from torchbook_course.grade_cli import add as add_grade

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_show_locals=False)
console = Console()

Folders = Annotated[
    list[Path] | None,
    typer.Option("--folder", help="Folder of exercises of your own, beside the book's; may be given several times."),
]


@app.callback()
def main() -> None:
    """For instructors: assignments from exercises, submissions graded in a sandbox."""
    missing = _missing()
    if missing:
        terminal.error(f"{', '.join(missing)} missing here; it works in a clone of the book after `make setup`")
        raise typer.Exit(2)


def _missing() -> list[str]:
    return [name for name in ("nbgrader", "jinja2", "psutil") if importlib.util.find_spec(name) is None]


def _findings() -> Iterator[Finding]:
    """What the doctor says of grading: its packages, and the box in which students' code runs."""
    missing = _missing()
    if missing:
        yield Finding("grading", "note", f"{', '.join(missing)} missing", "only courses need it: `make setup`")
        return
    from torchbook_course import sandbox

    yield Finding("grading", "ok", f"nbgrader {importlib.metadata.version('nbgrader')}")
    why_not = sandbox.available()
    if why_not:
        yield Finding("box for grading", "note", "none", f"only grading needs it: {why_not}")
    else:
        yield Finding("box for grading", "ok", f"bubblewrap, {shutil.which('bwrap')}")


@app.command()
def new(
    what: Annotated[
        list[str] | None,
        typer.Argument(help="YAML file of the assignment, in place of the options; or more exercises."),
    ] = None,
    title: Annotated[str, typer.Option(help="Title of the assignment.")] = "",
    exercises: Annotated[
        list[str] | None, typer.Option(help="Exercises by id, separated by commas or given several times.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The class's seed: chooses variants and hidden cases. Keep it to yourself.")
    ] = None,
    due: Annotated[str, typer.Option(help="Due time with its offset from UTC, e.g. 2026-12-05T23:59+01:00.")] = "",
    name: Annotated[str, typer.Option(help="Short name, of files too; else made from the title, or the file's.")] = "",
    out: Annotated[Path, typer.Option(help="Folder of the course; made if it is not there.")] = Path("course"),
    folder: Folders = None,
    link: Annotated[str, typer.Option(help="Address that opens the notebook, for the description.")] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Replace an assignment of that name although its exercises were others.")
    ] = False,
) -> None:
    """Make an assignment: notebooks for students, instructor, nbgrader, Otter and Gradescope, and its description."""
    from torchbook.practice.exercise import ExerciseError
    from torchbook_course.assignment import Assignment, AssignmentError
    from torchbook_course.generate import GenerateError, make

    file, ids = _sorted_out(what or [])
    options = {"title": title, "exercises": _ids([*(exercises or []), *ids]), "seed": seed, "due": due}
    _complain_about_mixing(file, options)
    roots = tuple(folder or ())
    try:
        if file:
            assignment = Assignment.load(file, roots)
            assignment = assignment.model_copy(update={"name": name}) if name else assignment
        else:
            assignment = Assignment.of_options(name=name, **options)
        bundle = make(assignment, out, force=force, extra_roots=roots, link=link)
    except (AssignmentError, ExerciseError, GenerateError) as error:
        terminal.error(error)
        raise typer.Exit(2) from None
    for note in (*bundle.notes, *_advice(bundle.assignment, roots)):
        terminal.note(note)
    _report(bundle, out)


def _sorted_out(arguments: list[str]) -> tuple[Path | None, list[str]]:
    """A file and ids of exercises: `--exercises p01-x3 p02-x1` leaves the second id without an option."""
    files = [argument for argument in arguments if argument.endswith((".yml", ".yaml"))]
    if len(files) > 1:
        raise typer.BadParameter(f"{' and '.join(files)}: one assignment at a time")
    return (Path(files[0]) if files else None), [argument for argument in arguments if argument not in files]


def _ids(values: list[str]) -> list[str]:
    return [name for value in values for name in value.replace(",", " ").split()]


def _complain_about_mixing(file: Path | None, options: dict[str, Any]) -> None:
    flags = [f"--{key}" for key, value in options.items() if value not in (None, "", [])]
    if file and flags:
        raise typer.BadParameter(f"{file} says that already; leave out {', '.join(flags)}, or the file")
    if not file:
        missing = [f"--{key}" for key in ("title", "exercises", "seed") if f"--{key}" not in flags]
        if missing:
            raise typer.BadParameter(f"missing: {', '.join(missing)}; or name a YAML file that says it")


def _advice(assignment: Any, roots: tuple[Path, ...]) -> Iterator[str]:
    """What trying out the exercises in the box says; grading then finds it kept."""
    from torchbook_course import matrices, sandbox
    from torchbook_course.assignment import resolve
    from torchbook_proofs import Store

    with console.status("trying out the exercises in the box"):
        yield from matrices.advice(resolve(assignment, roots), assignment.seed, sandbox.Box(), Store.default())


def _report(bundle: Any, out: Path) -> None:
    assignment = bundle.assignment
    variants = ", ".join(f"{item.id} ({item.variant})" for item in assignment.exercises)
    console.print(f"{assignment.name}: {assignment.title}; {variants}; seed {assignment.seed}", highlight=False)
    for path in bundle.files:
        console.print(f"  {out / path}", highlight=False, soft_wrap=True)


@app.command()
def link(
    hub: Annotated[str, typer.Option(help="Address of the JupyterHub.")],
    repo: Annotated[str, typer.Option(help="Address of a git repository that holds the released notebook.")],
    path: Annotated[str, typer.Option(help="Path of the notebook in the repository.")],
    branch: Annotated[str, typer.Option(help="Branch of the repository.")] = "main",
) -> None:
    """Print a link with which nbgitpuller opens a notebook on a JupyterHub."""
    from torchbook_course.generate import GenerateError, nbgitpuller_link

    try:
        typer.echo(nbgitpuller_link(hub, repo, branch, path))
    except GenerateError as error:
        terminal.error(error)
        raise typer.Exit(2) from None


add_grade(app)


def add(to: typer.Typer) -> None:
    """Add `torchbook course` and `exercises mutants`: an entry point of the group `torchbook.commands`."""
    to.add_typer(app, name="course")
    findings.more.append(_findings)
    mutants_cli.add(to)
