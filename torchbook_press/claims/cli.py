"""`torchbook claims`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from torchbook import terminal

if TYPE_CHECKING:
    from torchbook_press.chapters import Chapter
    from torchbook_press.claims.baseline import Claim, Comparison, Page

console = Console()

Names = Annotated[list[str] | None, typer.Argument(help="Pages by path, chapters by id; all when left out.")]
Root = Annotated[Path, typer.Option(help="The book's folder, with _toc.yml.")]


def claims(
    names: Names = None,
    root: Root = Path("."),
    check: Annotated[bool, typer.Option("--check", help="List what differs from the baseline; then exit 1.")] = False,
    update: Annotated[bool, typer.Option("--update", help="Take out of the baseline what is mended.")] = False,
    shake: Annotated[bool, typer.Option("--shake", help="Instead, the assertions that nothing could break.")] = False,
    upstream: Annotated[bool, typer.Option(help="With --shake: also change each name that a cell sets.")] = True,
    jobs: Annotated[int, typer.Option(min=1, help="With --shake: chapters side by side.")] = 1,
) -> None:
    """List the sentences that claim a number, a comparative or an absolute, and carry no evidence."""
    if shake:
        raise typer.Exit(_shake(root.resolve(), tuple(names or ()), check or update, update, upstream, jobs))
    from torchbook_press import sources
    from torchbook_press.chapters import ChapterError
    from torchbook_press.claims import baseline

    root = root.resolve()
    try:
        pages = [baseline.read(page) for page in _selected(root, names or ())]
        comparison = baseline.compare(pages, baseline.load(root), whole=not names)
        quotations = list(sources.outdated(root))
    except (ChapterError, baseline.BaselineError, sources.SourceError) as error:
        _complain([error])
        raise typer.Exit(2) from None
    if update:
        baseline.write(root, comparison.left)
        console.print(f"{baseline.FILE}: {len(comparison.gone)} entries taken out or moved", highlight=False)
        comparison.gone = []
    if check or update:
        _complain([*comparison.problems, *quotations])
    else:
        _list(claim for page in pages for claim in page.unbound)
        _list_counts(pages)
    _summarise(pages, comparison)
    raise typer.Exit(1 if (check or update) and (comparison.problems or quotations) else 0)


def _shake(root: Path, names: tuple[str, ...], check: bool, update: bool, upstream: bool, jobs: int) -> int:
    from torchbook_press import box
    from torchbook_press.chapters import ChapterError, chapters
    from torchbook_press.claims import shake
    from torchbook_press.run import Options

    try:
        selection, entries = chapters(root, names), shake.load(root)
    except (ChapterError, shake.ShakeError) as error:
        _complain([error])
        return 2
    if box.why_not():
        console.print(box.note(box.why_not()), markup=False, highlight=False, soft_wrap=True)
    pages = []
    for page in shake.run(selection, Options(fast=True, jobs=jobs, patience=3.0), names=upstream):
        pages.append(page)
        lines = [f"{page.page} in {page.seconds:.0f} s", *(() if check else shake.details(page))]
        console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)
    if update:
        gone = shake.broken(entries, pages)
        entries = [entry for entry in entries if entry not in gone]
        shake.save(root, entries)
    problems = list(shake.problems(entries, pages)) if check else []
    _complain(problems)
    console.print(shake.table(pages), markup=False, highlight=False, soft_wrap=True)
    return 1 if problems else 0


def _selected(root: Path, names: Sequence[str]) -> list[Chapter]:
    """The pages that are named, as `by_name` calls them; without names, all.

    Raises:
        ChapterError: there is no such page.
    """
    from torchbook_press.chapters import ChapterError, by_name, pages

    everything, named = pages(root), by_name(root)
    unknown = [name for name in names if name not in named]
    if unknown:
        raise ChapterError(f"no page {', '.join(unknown)}; pages are named as in _toc.yml, chapters also by their id")
    wanted = {page for name in names for page in named[name]}
    return [page for page in everything if not names or page in wanted]


def _list(found: Iterable[Claim]) -> None:
    for claim in found:
        console.print(str(claim), markup=False, highlight=False, soft_wrap=True)


def _list_counts(pages: Sequence[Page]) -> None:
    """A line for each page: how many sentences, and of these without evidence how many of each kind."""
    from torchbook_press.claims.kinds import KINDS

    width = max((len(page.name) for page in pages), default=0)
    head = f"{'page':{width}}  sentences  bound  " + "  ".join(KINDS) + "  not near"
    console.print(f"\n{head}", highlight=False, soft_wrap=True)
    for page in pages:
        kinds = Counter(claim.kind for claim in page.unbound)
        far = sum(not claim.near for claim in page.unbound)
        counts = "  ".join(f"{kinds[kind]:{len(kind)}}" for kind in KINDS)
        line = f"{page.name:{width}}  {page.sentences:9}  {page.bound:5}  {counts}  {far:8}"
        console.print(line, highlight=False, soft_wrap=True)


def _summarise(pages: Sequence[Page], comparison: Comparison) -> None:
    from torchbook_press.claims.kinds import KINDS

    unbound = [claim for page in pages for claim in page.unbound]
    kinds = Counter(claim.kind for claim in unbound)
    counts = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS)
    far = sum(not claim.near for claim in unbound)
    console.print(
        f"{sum(page.sentences for page in pages)} sentences, {sum(page.bound for page in pages)} with evidence; "
        f"{len(unbound)} claim without ({counts}), {far} of them with no assertion in a cell next to them; against the "
        f"baseline {len(comparison.new)} new, {len(comparison.unexplained)} unexplained, {len(comparison.gone)} gone",
        highlight=False,
        soft_wrap=True,
    )


def _complain(problems: Iterable[object]) -> None:
    for problem in problems:
        terminal.error(problem)


def add(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(claims)
