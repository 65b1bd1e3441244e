"""The commands of those who write and print the book: `torchbook run`, `book`, `record`, `pack` and `serve`."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from torchbook import terminal
from torchbook_press.claims.cli import add as add_claims
from torchbook_press.paper.cli import add as add_paper
from torchbook_press.ship.cli import add as add_ship

console = Console()
new_app = typer.Typer(no_args_is_help=True)
INTERRUPTED = 130  # exit status after Ctrl-C

Names = Annotated[list[str] | None, typer.Argument(help="Chapters by id or path; all when left out.")]
Root = Annotated[Path, typer.Option(help="The book's folder, with _toc.yml.")]
Lane = Annotated[str, typer.Option(help="cpu or gpu.")]
Fast = Annotated[bool, typer.Option("--fast", help="Small sizes, same cells.", envvar="TORCHBOOK_FAST")]
Seed = Annotated[int, typer.Option(help="Seed of every chapter.")]
Force = Annotated[bool, typer.Option("--force", help="Run even what is up to date.")]
Jobs = Annotated[int, typer.Option(min=0, help="Chapters side by side; 0: what cores and memory allow.")]
Backend = Annotated[str, typer.Option(help="joblib backend: loky, or dask with --scheduler.")]
Scheduler = Annotated[str, typer.Option(help="Address of a Dask scheduler, e.g. tcp://host:8786.")]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="A time that does not hold fails, and is not only said.", envvar="TORCHBOOK_STRICT"),
]
Patience = Annotated[
    float, typer.Option(min=0.1, help="Multiplies every time limit; for slow machines.", envvar="TORCHBOOK_PATIENCE")
]


def add(app: typer.Typer) -> None:
    """Add the commands to `torchbook`: an entry point of the group `torchbook.commands`."""
    for command in (run, record, pack, book, serve):
        app.command()(command)
    app.add_typer(new_app, name="new")
    add_claims(app)
    add_ship(app)
    add_paper(app)


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
    strict: Strict = False,
    twice: Annotated[bool, typer.Option("--twice", help="Then run them again: untagged cells give the same.")] = False,
    why: Annotated[bool, typer.Option("--why", help="Run nothing: say which chapters would run, and why.")] = False,
) -> None:
    """Run the chapters whose code, package, versions or data changed since their last run."""
    if lane not in ("cpu", "gpu"):
        raise typer.BadParameter(f"{lane!r}; it is cpu or gpu", param_hint="--lane")
    if backend not in ("loky", "dask") or (backend == "dask") != bool(scheduler):
        raise typer.BadParameter("loky, or dask together with --scheduler tcp://…", param_hint="--backend")
    from torchbook_press.run import Options

    options = Options(lane, fast, seed, force, jobs, backend, scheduler, patience, strict)
    if why:
        raise typer.Exit(_why(root, tuple(names or ()), options))
    with _alone(root):
        code = _run(root, tuple(names or ()), options)
        if twice and not code:
            code = _run_again(root, tuple(names or ()), options)
    raise typer.Exit(code)


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Wait for another run or build of the book; where none can be waited for, say why and end."""
    from torchbook_press import build
    from torchbook_press.chapters import TOC
    from torchbook_press.files import unwritable

    if not (root / TOC).is_file():  # no book; what looks for its pages says so
        yield
        return
    complaint = unwritable(root.resolve() / "_build")
    if complaint:
        raise typer.Exit(_complain(OSError(complaint)))
    with build.alone(root.resolve()):
        yield


def _why(root: Path, names: tuple[str, ...], options: object) -> int:
    from torchbook_press import run as press
    from torchbook_press.chapters import ChapterError, chapters

    assert isinstance(options, press.Options)
    try:
        sorted_out = press.sort_out(chapters(root.resolve(), names), options)
    except ChapterError as error:
        return _complain(error)
    for text in sorted_out.plan():
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    summary = f"{len(sorted_out.kept)} up to date, {len(sorted_out.reusable)} from kept runs"
    console.print(f"{summary}, {len(sorted_out.stale)} to run", highlight=False)
    return 0


def _run_again(root: Path, names: tuple[str, ...], options: object) -> int:
    from torchbook_press import twice
    from torchbook_press.chapters import ChapterError, chapters
    from torchbook_press.run import Options, RunError

    assert isinstance(options, Options)
    try:
        report, lines = twice.run(chapters(root.resolve(), names), options, console)
    except (ChapterError, RunError) as error:
        return _complain(error)
    for line in [*map(str, report.failed), *lines]:
        terminal.error(line)
    console.print(f"{len(report.ran)} ran twice, {len(lines)} cells differ, {len(report.failed)} failed")
    return 1 if lines or report.failed else 0


def _run(root: Path, names: tuple[str, ...], options: object) -> int:
    from torchbook_press import run as press
    from torchbook_press.chapters import ChapterError, chapters

    assert isinstance(options, press.Options)
    try:
        selection = chapters(root.resolve(), names)
        if not names:
            for path in press.drop_orphans(root.resolve(), selection):
                terminal.note(f"{path}: its chapter is gone, and so are these outputs now")
        report = press.run(selection, options, console)
    except (ChapterError, press.RunError) as error:
        return _complain(error)
    except KeyboardInterrupt:  # of which the run said what is kept
        return INTERRUPTED
    for failure in report.failed:
        terminal.error(failure)
    for name, why in report.lacking.items():
        terminal.note(f"{name}.md: {why}", "not run")
    summary = f"{len(report.kept)} up to date, {len(report.reused)} from kept runs"
    console.print(f"{summary}, {len(report.ran)} ran, {len(report.failed)} failed")
    return 1 if report.failed else 0


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
    from torchbook_press.run import REHEARSAL, Options

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
    from torchbook_press import record as press
    from torchbook_press.chapters import ChapterError, chapters
    from torchbook_press.run import Options, RunError

    assert isinstance(options, Options)
    try:
        name = press.device(options.lane, name)
        report = press.record(chapters(root.resolve(), names), options, folder, name, console)
    except (ChapterError, RunError) as error:
        return _complain(error)
    for problem in report.problems:
        terminal.error(problem)
    _note(report.notes)
    counts = f"{len(report.written)} recorded, {len(report.kept)} up to date, {len(report.problems)} failed"
    console.print(f"{counts}: {folder / press.slug(name)}", soft_wrap=True)
    return 1 if report.problems else 0


def _check_recordings(root: Path, names: tuple[str, ...], folder: Path, strict: bool) -> int:
    from torchbook_press.chapters import ChapterError, chapters
    from torchbook_press.recordings import findings

    try:
        issues = [*findings(folder, chapters(root.resolve(), names), chapters(root.resolve()))]
    except ChapterError as error:
        return _complain(error)
    _note(issues)
    console.print(f"{len(issues)} to mend" if issues else "every recording is of the code as it is")
    return 1 if strict and issues else 0


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
    from torchbook_press import pack as press
    from torchbook_press.chapters import ChapterError, chapters

    try:
        selection = chapters(root.resolve(), tuple(names or ()))
        packages = press.pack(folder, selection, press.there(machine), python, platform or ())
    except (ChapterError, press.PackError) as error:
        raise typer.Exit(_complain(error)) from None
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    console.print(f"{len(packages)} packages, {size / 1e6:.0f} MB; from the book's folder there: sh {folder}/run.sh")


def _note(messages: Iterable[object]) -> None:
    for message in messages:
        terminal.note(message)


def book(
    root: Root = Path("."), fast: Fast = False, jobs: Jobs = 0, patience: Patience = 3.0, strict: Strict = False
) -> None:
    """Run what changed on the CPU, then build the site into _build/html."""
    from torchbook_press.run import Options

    gc.disable()  # this process ends with the build
    with _alone(root):
        code = _run(root, (), Options(fast=fast, jobs=jobs, patience=patience, strict=strict))
        if code == 0:
            code = _build(root)
    if code == 0:
        console.print(f"the book: {root / '_build' / 'html' / 'index.html'}")
    raise typer.Exit(code)


def _build(root: Path) -> int:
    from torchbook_press import build

    try:
        code = build.html(root.resolve())
    except KeyboardInterrupt:
        console.print("stopped: the chapters' outputs and the last site stay; the same command builds the new one")
        return INTERRUPTED
    _note_recordings(root)
    _note_unheld(root)
    return code


def _note_recordings(root: Path) -> None:
    """Say what recordings no longer show on their pages; a book without any says so itself."""
    from torchbook_press.chapters import chapters
    from torchbook_press.recordings import FOLDER, findings, lanes

    folder = root.resolve() / FOLDER
    if lanes(folder):
        all_chapters = chapters(root.resolve())
        _note(findings(folder, all_chapters, all_chapters))


def _note_unheld(root: Path) -> None:
    """Say which times did not hold in this run, so that their sentences say so too."""
    from torchbook_press.chapters import chapters
    from torchbook_press.run import unheld

    found = [
        f"{chapter.shown}: did not hold in this run: {line}" for chapter in chapters(root) for line in unheld(chapter)
    ]
    _note(found)
    if found:
        console.print("a busy machine spoils times: torchbook book --strict runs these chapters again")


def serve(
    root: Root = Path("."),
    port: Annotated[int, typer.Option(help="Port on this machine.")] = 8000,
    only: Annotated[str, typer.Option(help="First run this chapter, at small sizes, where it has no outputs.")] = "",
) -> None:
    """Serve the book on this machine and refresh the page whenever its prose is saved."""
    from torchbook_press import build

    code = _run_small(root, only) if only else 0
    if code:
        raise typer.Exit(code)
    build.serve(root.resolve(), port)


def _run_small(root: Path, name: str) -> int:
    """Give a chapter outputs where it has none of its code: those of a kept run, else of one at small sizes."""
    from torchbook_press import run as press
    from torchbook_press.chapters import ChapterError, chapters

    small = press.Options(fast=True, patience=3.0)
    try:
        selection = chapters(root.resolve(), (name,))
        full, fast = (press.sort_out(selection, options) for options in (press.Options(), small))
    except ChapterError as error:
        return _complain(error)
    kept = tuple(chapter.contract.id for chapter, _ in full.reusable)
    stale = tuple(chapter.contract.id for chapter in full.stale if chapter not in fast.kept)
    with _alone(root):
        return (_run(root, kept, press.Options()) if kept else 0) or (_run(root, stale, small) if stale else 0)


@new_app.callback()
def new() -> None:
    """For authors: lay out a chapter or a figure that works as it is; for an exercise, `torchbook exercises new`."""


@new_app.command()
def chapter(
    part: Annotated[str, typer.Argument(help="Folder of book/, for instance phases.")],
    name: Annotated[str, typer.Argument(help="The chapter's id, for instance p11.")],
    title: Annotated[str, typer.Argument(help="As headings show it.")],
    root: Root = Path("."),
) -> None:
    """Write the page of a new chapter, name it in the table of contents, and say what to do next."""
    from torchbook_press import new as authors
    from torchbook_press.chapters import ChapterError

    try:
        made = authors.lay_out(root.resolve(), part, name, title)
    except ChapterError as error:
        raise typer.Exit(_complain(error)) from None
    console.print(authors.next_steps(made), markup=False, highlight=False, soft_wrap=True)


@new_app.command()
def figure(
    name: Annotated[str, typer.Argument(help="Of its module and its folder, for instance echo.")],
    title: Annotated[str, typer.Argument(help="Its spoken name.")],
    root: Annotated[Path, typer.Option(help="The clone's folder.")] = Path("."),
) -> None:
    """Write a figure's class, contract, module and test, name it in torchbook.viz, and say what to do next."""
    from torchbook_press import new as authors
    from torchbook_press.chapters import ChapterError

    try:
        written = authors.lay_out_figure(root.resolve(), name, title)
    except ChapterError as error:
        raise typer.Exit(_complain(error)) from None
    console.print(authors.next_steps_of_figure(written, name), markup=False, highlight=False, soft_wrap=True)


def _complain(error: Exception) -> int:
    terminal.error(error)
    return 2
