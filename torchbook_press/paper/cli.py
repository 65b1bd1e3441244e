"""`torchbook pdf` and `torchbook epub`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from torchbook import terminal

console = Console()

Root = Annotated[Path, typer.Option(help="The book's folder, with _toc.yml.")]
Patience = Annotated[
    float, typer.Option(min=0.1, help="Multiplies every time limit; for slow machines.", envvar="TORCHBOOK_PATIENCE")
]


def pdf(
    root: Root = Path("."),
    out: Annotated[Path | None, typer.Option(help="The PDF; else _build/<name of the book>.pdf.")] = None,
    paper: Annotated[str, typer.Option(help="A4 or Letter.")] = "A4",
    patience: Patience = 1.0,
) -> None:
    """Print the built site as one PDF, with contents, outline and links within it."""
    if paper not in ("A4", "Letter"):
        raise typer.BadParameter(f"{paper!r}; it is A4 or Letter", param_hint="--paper")
    with _complaining():
        _demand_a_site(root)
        from torchbook_press.paper import pdf as press
        from torchbook_press.paper.book import load
        from torchbook_press.paper.browser import started

        start = time.perf_counter()
        path = out or _name(root, "pdf")
        size: press.Size = "Letter" if paper == "Letter" else "A4"
        with console.status("") as status, started(load(root.resolve()), patience) as browser:
            sheets = press.make(browser, path, size, lambda page: status.update(f"{page}.html"))
    _say(path, f"{sheets} pages", start)


def epub(
    root: Root = Path("."),
    out: Annotated[Path | None, typer.Option(help="The EPUB; else _build/<name of the book>.epub.")] = None,
    patience: Patience = 1.0,
) -> None:
    """Pack the built site as an EPUB for e-readers."""
    with _complaining():
        _demand_a_site(root)
        from torchbook_press.paper import epub as press
        from torchbook_press.paper.book import load
        from torchbook_press.paper.browser import started

        start = time.perf_counter()
        path = out or _name(root, "epub")
        with console.status("") as status, started(load(root.resolve()), patience) as browser:
            files = press.make(browser, path, lambda page: status.update(f"{page}.html"))
    _say(path, f"{files} files", start)


def _name(root: Path, suffix: str) -> Path:
    from torchbook_press.ship.bundle import name_of

    return root.resolve() / "_build" / f"{name_of(root.resolve())}.{suffix}"


def _demand_a_site(root: Path) -> None:
    from torchbook_press.build import hindrance
    from torchbook_press.paper.book import PaperError

    complaint = hindrance(root.resolve())
    if complaint:
        raise PaperError(complaint)


def _say(path: Path, count: str, start: float) -> None:
    size, seconds = path.stat().st_size / 1e6, time.perf_counter() - start
    console.print(f"{path}: {count}, {size:.1f} MB, {seconds:.0f} s", highlight=False, soft_wrap=True)


@contextmanager
def _complaining() -> Iterator[None]:
    """What cannot be done is said in one line, and ends with 2."""
    from torchbook_press.paper.book import PaperError
    from torchbook_press.ship.environment import ShipError

    try:
        yield
    except (PaperError, ShipError) as error:
        terminal.error(error)
        raise typer.Exit(2) from None


def add(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    for command in (pdf, epub):
        app.command()(command)
