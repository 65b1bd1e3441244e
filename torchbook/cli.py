"""`torchbook …` for whoever installed the package: check an answer, list exercises, show a hint, look at the machine.

A clone has more commands: what is installed beside this package adds its own, through the entry points of the group
`torchbook.commands`.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table
from typer.core import TyperGroup

from torchbook import terminal

if TYPE_CHECKING:
    from torchbook.practice.hunts import Hunt

# jsonschema, which nbformat brings, would compile a grammar of IRIs at each start, for seconds; no notebook has one.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

COMMANDS = "torchbook.commands"  # group of entry points, functions that take the Typer application


class _Commands(TyperGroup):
    """The commands; where only the package is installed, one that it has not may be of a clone, and that is said."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As every group, but for the sentence about a command that is not there."""
        if args and self.get_command(ctx, args[0]) is None and not _all_tools_are_here():
            own = ", ".join(self.commands)
            ctx.fail(
                f"`torchbook {args[0]}` is not among the commands of the installed package: {own}. "
                "Those that run and print the book, and grade a course, come with a clone of its repository: "
                "`make setup` there."
            )
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=_Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_show_locals=False)
exercises_app = typer.Typer(invoke_without_command=True)
app.add_typer(exercises_app, name="exercises")
console = Console()
errors = Console(stderr=True)

Patience = Annotated[
    float, typer.Option(min=0.1, help="Multiplies every time limit; for slow machines.", envvar="TORCHBOOK_PATIENCE")
]
ExerciseId = Annotated[str, typer.Argument(help="For instance p01-x3.")]
Folder = Annotated[Path | None, typer.Option(help="A folder of exercises of your own; else the book's.")]


@app.callback()
def main() -> None:
    """PyTorch Inside Out: exercises to check, and in a clone the tools of the book."""


@app.command()
def check(
    exercise: ExerciseId,
    file: Annotated[Path, typer.Argument(help="Your answer: a Python file, or a notebook.")],
    patience: Patience = 1.0,
    watch: Annotated[
        bool, typer.Option("--watch", help="Check again whenever the file is saved, until Ctrl-C.")
    ] = False,
) -> None:
    """Check an answer to an exercise; the exit status is 0 when it is solved, 1 when not yet, 2 when it cannot be."""
    from torchbook.practice import terminal
    from torchbook.practice.errors import ExerciseError
    from torchbook.practice.packages import NotInstalledError

    try:
        if watch:
            _watch(exercise, file, patience)
        result = terminal.check_file(exercise, file, patience=patience)
    except (ExerciseError, NotInstalledError, terminal.FileError) as error:
        raise typer.Exit(_complain(error)) from None
    console.print(str(result), markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(0 if result else 1)


def _watch(exercise: str, file: Path, patience: float) -> NoReturn:
    from torchbook.practice import terminal

    try:
        for result in terminal.watch(exercise, file, patience=patience):
            console.print(str(result), markup=False, highlight=False, soft_wrap=True)
            console.print(
                f"-- {datetime.now():%H:%M:%S}: save {file} and it is checked again; Ctrl-C ends this --",
                highlight=False,
                markup=False,
                soft_wrap=True,
            )
    except KeyboardInterrupt:
        typer.echo(f"{file} is no longer watched.")  # the console would say its last line again, had that been cut off
    raise typer.Exit(0)


@exercises_app.callback()
def exercises(
    context: typer.Context,
    chapter: Annotated[str, typer.Option(help="Only of this chapter, for instance p01.")] = "",
    todo: Annotated[bool, typer.Option("--todo", help="Only what is not solved yet.")] = False,
) -> None:
    """List the exercises, and how far you are; for authors: wrong answers, and new exercises."""
    if context.invoked_subcommand is None:
        _list(chapter, todo)


def _list(chapter: str, todo: bool) -> None:
    from torchbook.practice import learner
    from torchbook.practice.errors import ExerciseError

    try:
        rows, note = learner.listing(chapter, todo=todo)
    except ExerciseError as error:
        raise typer.Exit(_complain(error)) from None
    table = Table("exercise", "title", "difficulty", "minutes", "state", box=None)
    for row in rows:
        table.add_row(row.id, row.title, f"{row.stars} of 5", str(row.minutes), row.state)
    console.print(table if rows else "no exercise to show")
    if note:
        errors.print(note, markup=False, highlight=False, soft_wrap=True)


@exercises_app.command()
def wrong(
    exercise: ExerciseId,
    name: Annotated[str, typer.Argument(help="Print this one as a whole program.")] = "",
    variant: Annotated[str, typer.Option(help="Of this variant.")] = "",
    folder: Folder = None,
) -> None:
    """List the wrong answers to an exercise: name, the check that refuses it, and what the learner thought."""
    from torchbook.practice import authors, shelf
    from torchbook.practice.errors import ExerciseError

    try:
        chosen = shelf.find(exercise, (folder,) if folder else ()).variant(variant)
        answers = (authors.wrong_answer(chosen, name),) if name else authors.wrong_answers(chosen)
    except ExerciseError as error:
        raise typer.Exit(_complain(error)) from None
    if name:
        typer.echo(answers[0].source, nl=False)
        return
    table = Table("name", "check", "misconception", box=None)
    for answer in answers:
        table.add_row(answer.name, answer.check, escape(answer.misconception))
    console.print(table)


@exercises_app.command()
def new(
    chapter: Annotated[str, typer.Argument(help="For instance p02.")],
    number: Annotated[str, typer.Argument(help="For instance x7.")],
    title: Annotated[str, typer.Argument(help="As headings show it.")],
    folder: Folder = None,
) -> None:
    """Lay out the folder of a new exercise, and say what to do next."""
    from torchbook.practice import authors
    from torchbook.practice.errors import ExerciseError

    try:
        exercise = authors.lay_out(chapter, number, title, folder)
    except ExerciseError as error:
        raise typer.Exit(_complain(error)) from None
    console.print(authors.next_steps(exercise), markup=False, highlight=False, soft_wrap=True)


@app.command()
def hint(
    exercise: ExerciseId, number: Annotated[int | None, typer.Argument(help="Without: the list of symptoms.")] = None
) -> None:
    """Show a hint of an exercise, or the symptoms that there are hints for."""
    from torchbook.practice import learner

    _show(lambda: learner.hint_text(exercise, number, learner.in_terminal))


@app.command()
def solution(exercise: ExerciseId) -> None:
    """Show the reference of an exercise, into a file as Python; your progress keeps that you have seen it."""
    from torchbook.practice import learner

    if console.is_terminal:
        _show(lambda: learner.solution_text(exercise))
    else:
        typer.echo(_made(lambda: learner.solution_code(exercise)), nl=False)


def _show(made: Callable[[], str]) -> None:
    console.print(Markdown(_made(made)))


def _made(made: Callable[[], str]) -> str:
    from torchbook.practice.errors import ExerciseError

    try:
        return made()
    except ExerciseError as error:
        raise typer.Exit(_complain(error)) from None


@app.command()
def hunt(
    chapter: Annotated[str, typer.Argument(help="Only of this chapter, for instance p01.")] = "",
    spoil: Annotated[bool, typer.Option("--spoil", help="Also of exercises that you have not solved.")] = False,
) -> None:
    """Bug hunts: a program that claims to solve an exercise; which of its checks refuses it, and why?"""
    from torchbook.practice import hunts, progress
    from torchbook.practice.errors import ExerciseError

    try:
        found = hunts.hunts(chapter)
    except ExerciseError as error:
        raise typer.Exit(_complain(error)) from None
    records, _ = progress.read()
    known = {name for name, record in records.items() if record.solved or record.opened}
    closed = list(dict.fromkeys(one.exercise.id for one in found if one.exercise.id not in known and not spoil))
    if closed:
        errors.print(
            f"A hunt shows most of a solution, so those of exercises that you have not solved are closed: "
            f"{_in_short(closed)}. `torchbook hunt {chapter or 'p01'} --spoil` opens "
            f"{'them' if chapter else 'those of p01'}.",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    _play([one for one in found if one.exercise.id not in closed])


def _in_short(exercises: Sequence[str], few: int = 8) -> str:
    """Ids of exercises, or of many how many each chapter has."""
    if len(exercises) <= few:
        return ", ".join(exercises)
    chapters = Counter(name.partition("-")[0] for name in exercises)
    return ", ".join(f"{count} of {chapter}" for chapter, count in chapters.items())


def _play(found: Sequence[Hunt]) -> None:
    right = asked = 0
    try:
        for one in found:
            answer = _asked(one)
            asked, right = asked + 1, right + (answer == one.check)
            _tell(one, answer)
    except (typer.Abort, EOFError, KeyboardInterrupt):
        console.print()
    if asked:
        console.print(f"{right} of {asked} right.")


def _asked(one: Hunt) -> str:
    """The check that the reader names."""
    console.rule(escape(f"{one.exercise.id} {one.exercise.title}"), align="left")
    console.print(f"The task: {one.task}", markup=False, highlight=False)
    console.print(
        Syntax(one.shown, "python", theme="ansi_dark", line_numbers=True, background_color="default", word_wrap=True)
    )
    for number, words in enumerate(one.spoken, 1):
        console.print(f"  {number}  {words}", markup=False, highlight=False)
    while True:
        chosen: int = typer.prompt("Which of these checks refuses it? Ctrl-C ends", type=int)
        if 1 <= chosen <= len(one.choices):
            return one.choices[chosen - 1]
        console.print(f"a number from 1 to {len(one.choices)}")


def _tell(one: Hunt, answer: str) -> None:
    from torchbook.practice.learner import spoken

    lead = "Right: " if answer == one.check else f"Not this one, which lets it pass. It is “{spoken(one.check)}”: "
    console.print(f"{lead}the program {one.thought}. {one.why}", markup=False, highlight=False, soft_wrap=True)
    console.print(Syntax(one.diff, "diff", theme="ansi_dark", background_color="default", word_wrap=True))
    console.print(f"Its checks on a file of yours: torchbook check {one.exercise.id} my.py", highlight=False)


@app.command()
def doctor() -> None:
    """Say which torch, device, data and tools are there, against what was tested, and what to do."""
    from torchbook import findings, runtime

    table = Table("", "what", "found", "advice", box=None)
    marks = {"ok": "[green]ok[/green]", "note": "[yellow]note[/yellow]", "bad": "[red]bad[/red]"}
    all_findings = [*runtime.doctor(), *(finding for look in findings.more for finding in look())]
    for finding in all_findings:
        table.add_row(marks[finding.state], finding.what, finding.found, finding.advice)
    console.print(table)
    raise typer.Exit(1 if any(finding.state == "bad" for finding in all_findings) else 0)


@app.command()
def live(
    site: Annotated[Path | None, typer.Option(help="The built site, an unpacked offline zip, or a clone.")] = None,
    check: Annotated[str, typer.Option(metavar="EXERCISE", help="Open at this exercise, for instance p01-x3.")] = "",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where it is taken, the next free one.")] = 8890,
    browser: Annotated[bool, typer.Option(help="Open it in the browser.")] = True,
    binder: Annotated[str, typer.Option(help="Also offer to run cells there, e.g. on https://mybinder.org.")] = "",
) -> None:
    """Open the book with cells that run in the page: edit them, run them, check exercises beside their text."""
    from torchbook.server import site as sites
    from torchbook.server import start

    try:
        start.require(torch=not binder)
        folder = sites.find(site, [Path.cwd(), *Path.cwd().parents, Path(__file__).resolve().parents[1]])
        start.start(folder, check, port=port, browser=browser, binder=binder)
    except (start.NotReadyError, sites.SiteError) as error:
        raise typer.Exit(_complain(error)) from None


def _complain(error: Exception) -> int:
    terminal.error(error)
    return 2


def _add_tools() -> None:
    """Add the commands of the tools beside this package, which a clone has and a wheel only names."""
    for point in importlib.metadata.entry_points(group=COMMANDS):
        if _is_here(point):
            point.load()(app)


def _is_here(tool: importlib.metadata.EntryPoint) -> bool:
    return importlib.util.find_spec(tool.module.partition(".")[0]) is not None


def _all_tools_are_here() -> bool:
    return all(map(_is_here, importlib.metadata.entry_points(group=COMMANDS)))


_add_tools()
