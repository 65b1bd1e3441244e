"""`torchbook drift`, `shipped`, `bundle`, `speed` and `rooms`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from torchbook import terminal

if TYPE_CHECKING:
    from torchbook_press.chapters import Chapter

console = Console()

Names = Annotated[list[str] | None, typer.Argument(help="Chapters by id or path; all when left out.")]
Root = Annotated[Path, typer.Option(help="The book's folder, with _toc.yml.")]
Jobs = Annotated[int, typer.Option(min=0, help="Chapters side by side; 0: what cores and memory allow.")]
Patience = Annotated[
    float, typer.Option(min=0.1, help="Multiplies every time limit; for slow machines.", envvar="TORCHBOOK_PATIENCE")
]
Keep = Annotated[bool, typer.Option("--keep", help="Leave the environments in .cache/environments, to be looked at.")]
_HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


def drift(
    names: Names = None,
    root: Root = Path("."),
    torch: Annotated[str, typer.Option(help="Version of PyTorch, e.g. 2.11; the newest when left out.")] = "",
    nightly_index: Annotated[str, typer.Option(help="Take PyTorch's nightly build, from this package index.")] = "",
    python: Annotated[str, typer.Option(help="Version of Python.")] = _HERE,
    jupyter_only: Annotated[
        bool, typer.Option("--jupyter-only", help="Only Jupyter's packages newest, all else as locked.")
    ] = False,
    printed: Annotated[
        bool, typer.Option("--press", help="Print what ran, with the newest Sphinx and without Jupyter Book.")
    ] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Small sizes, same cells.", envvar="TORCHBOOK_FAST")] = False,
    jobs: Jobs = 0,
    patience: Patience = 3.0,
    keep: Keep = False,
) -> None:
    """Run the chapters on other versions, in an environment of their own; deprecations in cells count as failures."""
    from torchbook_press.ship import comparison
    from torchbook_press.ship import drift as press

    with _complaining():
        target = press.Wanted(torch, nightly_index, python, jupyter_only, printed)
        how = press.How(fast, jobs, patience, keep)
        if printed:
            from torchbook_press.ship.plain import drift as column
        else:
            column = press.drift
        report = column(root.resolve(), _chapters(root, names), target, how, console)
    folder = root.resolve() / press.FOLDER
    paths = sorted(folder.glob(f"*/{press.REPORT}"))
    raise typer.Exit(_show(report, folder / "drift.md", comparison.load(paths)))


def shipped(
    names: Names = None,
    root: Root = Path("."),
    mode: Annotated[str, typer.Option(help="empty: PyTorch and pip alone; binder: as environment.yml says.")] = "empty",
    twice: Annotated[bool, typer.Option("--twice", help="All cells a second time in the same kernel.")] = False,
    patience: Patience = 3.0,
    keep: Keep = False,
) -> None:
    """Run the published notebooks as a learner does, from their first cell, in a fresh environment."""
    from torchbook_press.ship import comparison
    from torchbook_press.ship import launches as press

    if mode not in press.MODES:
        raise typer.BadParameter(f"{mode!r}; it is {' or '.join(press.MODES)}", param_hint="--mode")
    with _complaining():
        how = press.How(mode, twice, patience, keep)
        report = press.shipped(root.resolve(), _chapters(root, names), how, console)
    folder = root.resolve() / press.FOLDER
    raise typer.Exit(_show(report, folder / "shipped.md", comparison.load(press.reports(root.resolve()))))


def bundle(
    root: Root = Path("."),
    out: Annotated[Path | None, typer.Option(help="The zip; else _build/<name of the book>.zip.")] = None,
) -> None:
    """Pack the built site, the notebooks and the package into one zip that needs no network."""
    from torchbook_press.build import hindrance
    from torchbook_press.ship import bundle as press
    from torchbook_press.ship.environment import SOURCE, ShipError

    with _complaining():
        folder = root.resolve()
        complaint = hindrance(folder)
        if complaint:
            raise ShipError(complaint)
        archive = press.bundle(folder, SOURCE, out or folder / "_build" / f"{press.name_of(folder)}.zip")
    console.print(f"{archive}: {archive.stat().st_size / 1e6:.1f} MB", highlight=False, soft_wrap=True)


def speed(
    pages: Annotated[list[str] | None, typer.Argument(help="Pages by path, chapters by id; all when left out.")] = None,
    root: Root = Path("."),
    stock: Annotated[bool, typer.Option("--stock", help="Beside it the same pages as stock Jupyter Book.")] = False,
    phone: Annotated[bool, typer.Option("--phone", help="On 360 pixels, with a processor four times slower.")] = False,
    again: Annotated[bool, typer.Option("--again", help="A second visit: what may be kept is in the cache.")] = False,
    loads: Annotated[int, typer.Option(min=1, help="How often each page is opened.")] = 3,
) -> None:
    """Measure in Chromium what opening a page costs, and hold it to the budgets."""
    from torchbook_press.ship import speed as press

    how = press.How(press.PHONE if phone else press.DESKTOP, loads, 4 if phone else 1, again)
    pairs: list[press.Pair] = []
    with _complaining():
        for pair in press.compared(root.resolve(), press.pages(root.resolve(), pages or ()), how, stock=stock):
            pairs.append(pair)
            console.print(press.table([pair]).splitlines()[-1], markup=False, highlight=False, soft_wrap=True)
    press.write(root.resolve(), pairs, how)
    # A phone's times are for information: the budgets are for a computer.
    violations = [] if phone else [violation for ours, theirs in pairs for violation in press.broken(ours, theirs)]
    for violation in violations:
        terminal.error(violation)
    console.print(f"{len(pairs)} pages, {len(violations)} over budget; the table: {root / press.TABLE}", soft_wrap=True)
    raise typer.Exit(1 if violations else 0)


def rooms(root: Root = Path(".")) -> None:
    """Measure in Chromium how high the live figures of the built site are; pages keep that room for them."""
    from torchbook_press.ship import rooms as press
    from torchbook_press.site.rooms import write

    with _complaining():
        pages = press.measured(root.resolve())
    path = write(root, pages)
    count = sum(map(len, pages.values()))
    console.print(f"{path}: {count} figures on {len(pages)} pages; build the book again", soft_wrap=True)


def _show(report: dict[str, Any], path: Path, columns: list[dict[str, Any]]) -> int:
    """Write the table of all reports, say what failed in this one; the exit status."""
    from torchbook_press.ship import comparison

    path.write_text(comparison.table(columns), encoding="utf-8")
    for row in report["chapters"]:
        if row["status"] == comparison.FAILED:
            terminal.error(comparison.place(row))
    if report.get("error"):
        terminal.error(report["error"])
    statuses = [row["status"] for row in report["chapters"]]
    counts = ", ".join(f"{statuses.count(status)} {status}" for status in dict.fromkeys(statuses)) or "nothing ran"
    console.print(f"{report['label']}: {counts}; the table: {path}", highlight=False, soft_wrap=True)
    return 1 if comparison.failed([report]) else 0


def _chapters(root: Path, names: list[str] | None) -> list[Chapter]:
    from torchbook_press.chapters import chapters

    return chapters(root.resolve(), tuple(names or ()))


@contextmanager
def _complaining() -> Iterator[None]:
    """What cannot be done at all is said in one line, and ends with 2."""
    from torchbook_press.chapters import ChapterError
    from torchbook_press.ship.environment import ShipError

    try:
        yield
    except (ChapterError, ShipError) as error:
        terminal.error(error)
        raise typer.Exit(2) from None


def add(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    for command in (drift, shipped, bundle, speed, rooms):
        app.command()(command)
