"""`torchbook exercises mutants …`, for authors, beside `exercises wrong` and `exercises new`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from torchbook import terminal

console = Console()


def mutants(
    ids: Annotated[
        list[str] | None, typer.Argument(help="For instance p01-x3, or p01 for a chapter; else all exercises.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Try every mutant, not a choice of them.")] = False,
    folder: Annotated[Path | None, typer.Option(help="A folder of exercises of your own; else the book's.")] = None,
    record: Annotated[
        Path | None, typer.Option(dir_okay=False, help="A JSON file for those of which none survives.")
    ] = None,
    patience: Annotated[
        float, typer.Option(min=0.1, help="Multiplies every time limit.", envvar="TORCHBOOK_PATIENCE")
    ] = 1.0,
) -> None:
    """Change references one small thing at a time, and list the changes that no check of theirs refuses."""
    from torchbook.practice import shelf
    from torchbook.practice.errors import ExerciseError
    from torchbook_course import mutants as engine
    from torchbook_course.sandbox import Box, SandboxError
    from torchbook_proofs import Store

    good = True
    try:
        by_id = shelf.shelf((folder,) if folder else ())
        asked = _asked(ids or [], list(by_id))
        exercises = [by_id[name] for name in asked if by_id[name].contract.kind == "code"]
        most = len(max((e.solution for e in exercises), key=len, default="")) ** 2 if every else engine.MOST
        table = Table("exercise", "mutants", "tried", "refused", "equivalent", "survivors", "seconds", box=None)
        survivors: list[str] = []
        surveys: list[engine.Survey] = []
        with console.status("trying mutants in the box"):
            for seen in engine.survey(exercises, Box(patience=patience), Store.default(), most):
                table.add_row(*_row(seen))
                surveys.append(seen)
                survivors += seen.faults
                survivors += [
                    f"{seen.exercise}, {m.operator}:\n{engine.diff(by_id[seen.exercise], m)}" for m in seen.survivors
                ]
                good = good and seen.good
        if record:
            engine.record(surveys, exercises, record)
    except (ExerciseError, SandboxError) as error:
        terminal.error(error)
        raise typer.Exit(2) from None
    console.print(table)
    for text in survivors:
        typer.echo(f"\n{text}")
    raise typer.Exit(0 if good else 1)


def _row(seen: Any) -> tuple[str, ...]:
    time = "kept" if seen.kept else f"{seen.seconds:.1f}"
    counts = (seen.made, len(seen.seen), seen.refused, seen.equivalent, len(seen.survivors))
    return (seen.exercise, *map(str, counts), time)


def _asked(ids: list[str], known: list[str]) -> list[str]:
    """The exercises that are meant by ids and by chapters."""
    from torchbook.practice.errors import ExerciseError

    if not ids:
        return known
    matches = {name: [each for each in known if each == name or each.partition("-")[0] == name] for name in ids}
    missing = [name for name, found in matches.items() if not found]
    if missing:
        raise ExerciseError(f"no exercise and no chapter: {', '.join(missing)}; `torchbook exercises` lists them")
    return list(dict.fromkeys(each for found in matches.values() for each in found))


def add(to: typer.Typer) -> None:
    """Add the command to `torchbook exercises`."""
    group = next(group.typer_instance for group in to.registered_groups if group.name == "exercises")
    if group is not None:
        group.command()(mutants)
