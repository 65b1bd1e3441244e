"""Why chapters run: in words, what changed since their last runs; and how long those took."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

import nbformat

from torchbook_press import reads
from torchbook_press.chapters import Chapter
from torchbook_press.key import changed

_FEW = 3  # reasons that are named; of more, the others are counted
# Parts whose names say too little, or whose values say nothing to a reader.
_WORDS = {
    "left out": "which cells the CPU leaves out",
    "press": "the part of the press that runs notebooks",
    "running": "a version of what runs notebooks (papermill, nbclient, nbformat, jupyter-client)",
    "run": "no run is kept",
    reads.ALL: "a file of the package",
}
_SHORT = 40  # characters of a value that are worth showing


def reasons(
    chapter: Chapter,
    run: Mapping[str, Any],
    declared: Mapping[str, str],
    state_of: Callable[[str], str] = reads.now,
) -> list[str]:
    """What a chapter's run has that would be other now, in words; nothing if it holds.

    Args:
        chapter: as it is now.
        run: metadata of its last run.
        declared: the parts of its key that are known before a run, as they are now.
        state_of: says what a part is now.
    """
    before = {**run.get("declared", {}), **run.get("observed", {})}
    found: list[str] = []
    for name in changed(run, declared, state_of):
        if name == "cells":
            found += _cells(chapter)
        elif name == "parameters":
            found += _parameters(before.get(name, "{}"), declared[name])
        else:
            now = declared[name] if name in declared else state_of(name) if name in before else ""
            found.append(_worded(name, before.get(name, ""), now))
    return found


def line(chapter: Chapter, found: Iterable[str]) -> str:
    """One line on a chapter and the first few reasons why it runs."""
    named = list(found)
    more = [f"and {len(named) - _FEW} more"] if len(named) > _FEW else []
    return f"{chapter.docname}: {'; '.join([*named[:_FEW], *more])}"


def head(seconds: Iterable[float | None]) -> str:
    """How many chapters run, and how long their last runs took; None stands for one that never ran."""
    known = list(seconds)
    total = sum(one for one in known if one is not None)
    never = known.count(None)
    chapters = "1 chapter runs" if len(known) == 1 else f"{len(known)} chapters run"
    lasted = f"; their last runs took {_lasted(total)} in all" if never < len(known) else ""
    first = f"; {never} for the first time" if never else ""
    return f"{chapters}{lasted}{first}"


def _lasted(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _cells(chapter: Chapter) -> Iterator[str]:
    """The first cell that is other than in the last run, and how many more are."""
    code = chapter.code
    others = [index for index, (a, b) in enumerate(zip_longest(code, _ran(chapter.executed))) if a != b]
    if not others:
        yield "cells"
        return
    place = f"the cell at line {chapter.line_of(others[0])}" if others[0] < len(code) else "a cell at the end"
    more = f" and {len(others) - 1} after it" if len(others) > 1 else ""
    yield f"{place}{more} changed"


def _ran(executed: Path) -> list[str]:
    """The code of a run's notebook, without the cell that papermill adds."""
    if not executed.is_file():
        return []
    cells = nbformat.read(executed, as_version=4).cells
    added = "injected-parameters"
    return [cell.source for cell in cells if cell.cell_type == "code" and added not in cell.metadata.get("tags", [])]


def _parameters(before: str, now: str) -> Iterator[str]:
    old, new = json.loads(before), json.loads(now)
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            yield f"{name} is {new.get(name)!r}, was {old.get(name)!r}"


def _worded(name: str, before: str, now: str) -> str:
    kind, _, what = name.partition(" ")
    if name in _WORDS:
        return _WORDS[name]
    if kind == "file":
        return f"torchbook/{what} changed"
    if kind == "exercise":
        return f"exercise {what} changed"
    if kind == "outside":
        return f"{what} changed"
    if kind == "data":
        return f"another state of the data set {what}"
    if kind == "module":
        return f"module {what} is {now}, was {before}"
    shown = f" is {now}, was {before}" if before and now and max(len(before), len(now)) <= _SHORT else " changed"
    return (what if kind == "package" else name) + shown
