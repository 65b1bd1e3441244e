"""Which assertions of the chapters could fail: `torchbook claims --shake`.

A chapter runs at small sizes, in its kernel's world. Each comparison of an assertion is tried on other values than
those that it read (see `instrument` and `perturb`); one that none of them breaks guards nothing, and is mended, or
stands in the baseline with the reason why it may stay. Besides, each name that a cell sets is changed and the rest of
its cell run: a change that no assertion notices is counted, and listed where an assertion depends on the name.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from torchbook_press.chapters import Chapter
from torchbook_press.errors import GPU_ONLY, TAG
from torchbook_press.execute import Watch, kernel_of
from torchbook_press.files import write
from torchbook_press.run import Options, job_of

FILE = "book/claims/unbroken.yml"
_LONGER = 4  # times what a chapter's contract says of minutes and memory: children run its cells again
_SHOWN = 160  # characters of an assertion
_HEAD = """\
# Comparisons in assertions that no other value breaks, found by `torchbook claims --shake`, and why each may stay.
# `torchbook claims --shake --update` takes out those that are mended; nothing is added but by hand.
"""


class ShakeError(Exception):
    """The baseline cannot be read; the message names file and remedy."""


@dataclass(frozen=True)
class Place:
    """A comparison, or a name, in a chapter's source."""

    page: str
    line: int
    text: str

    def __str__(self) -> str:
        text = " ".join(self.text.split())
        return f"{self.page}.md:{self.line}: {text if len(text) <= _SHOWN else text[: _SHOWN - 1] + '…'}"


@dataclass
class Counts:
    """Mutants, by what came of them."""

    failed: int = 0
    error: int = 0
    survived: int = 0

    @property
    def run(self) -> int:
        return self.failed + self.error + self.survived

    def add(self, counts: dict[str, int]) -> None:
        self.failed += counts.get("failed", 0)
        self.error += counts.get("error", 0)
        self.survived += counts.get("survived", 0)


@dataclass
class Shaken:
    """What came of a chapter.

    Attributes:
        page: its docname.
        assertions: how many there are in its cells, outside of functions.
        comparisons: how many they hold.
        values: mutants of what the comparisons read.
        names: mutants of the names that cells set, one for each.
        unbroken: comparisons that no other value breaks.
        wide: bounds that only a change of sign breaks.
        unreached: assertions that did not run, for a branch or because only a GPU runs their cell.
        unnoticed: names whose change no assertion notices, although one depends on them.
        unread: names that no assertion of the cell depends on, and why; by reason.
        unforked: cells whose names could not be changed.
        problems: why cells failed without any change.
        seconds: for all of it.
        cells_seconds: for the cells as they are.
    """

    page: str
    assertions: int = 0
    comparisons: int = 0
    values: Counts = field(default_factory=Counts)
    names: Counts = field(default_factory=Counts)
    unbroken: list[Place] = field(default_factory=list)
    wide: list[Place] = field(default_factory=list)
    unreached: list[Place] = field(default_factory=list)
    unnoticed: list[Place] = field(default_factory=list)
    unread: dict[str, list[Place]] = field(default_factory=dict)
    unforked: list[Place] = field(default_factory=list)
    problems: list[Place] = field(default_factory=list)
    seconds: float = 0.0
    cells_seconds: float = 0.0


def shake(chapter: Chapter, options: Options, *, names: bool = True) -> Shaken:
    """Run a chapter, and try its assertions on other values; with `names` also change the names that its cells set."""
    job = job_of(chapter, options, Path())
    job = replace(job, seconds=_LONGER * job.seconds, memory_gb=_LONGER * job.memory_gb)
    asked = {
        "parameters": options.parameters,
        "names": names,
        "cells": [
            {"source": cell.source, "skip": options.lane == "cpu" and GPU_ONLY in cell.metadata.get("tags", [])}
            for cell in chapter.code_cells
        ],
    }
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="torchbook-", ignore_cleanup_errors=True) as folder,
        tempfile.TemporaryDirectory(prefix="torchbook-press-") as own,
    ):
        asking, out = Path(folder, "asked.json"), Path(folder, "shaken.json")
        asking.write_text(json.dumps(asked), encoding="utf-8")
        kernel = kernel_of(job, Path(folder), Path(own))
        assert kernel.world is not None
        # A pool of compiling processes does not live on in a forked child, which would wait for it.
        variables = kernel.variables | {"TORCHINDUCTOR_COMPILE_THREADS": "1"}
        watch = Watch(job, lambda _: None, kernel)
        command = [*kernel.box, sys.executable, "-m", "torchbook_press.claims.inside", str(asking), str(out)]
        with kernel.stderr.open("wb") as stderr:
            process = subprocess.Popen(
                command,
                cwd=kernel.work,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
            )
            watch.attach(process.pid)
            status = process.wait()
        watch.stop()
        kernel.world.end()
        rows = json.loads(out.read_text(encoding="utf-8")) if out.is_file() else []
        last = kernel.stderr.read_text(errors="replace").strip().splitlines()[-1:]
    shaken = _summed(chapter, rows)
    shaken.seconds = time.monotonic() - began
    if status:
        reason = watch.verdict or " ".join(last) or f"it ended with {status}"
        shaken.problems.append(Place(chapter.docname, chapter.line_of(len(rows)), reason))
    return shaken


def _summed(chapter: Chapter, rows: Iterable[dict[str, Any]]) -> Shaken:
    shaken = Shaken(chapter.docname)
    for row in rows:
        first = _first_line(chapter, row["cell"])
        cell = Place(chapter.docname, first, "")
        shaken.cells_seconds += row.get("seconds", 0.0)
        if row.get("error") and TAG not in chapter.code_cells[row["cell"]].metadata.get("tags", []):
            shaken.problems.append(replace(cell, text=row["error"]))
        if row.get("unforked"):
            shaken.unforked.append(replace(cell, text=row["unforked"]))
        for assertion in row["assertions"]:
            _add_assertion(shaken, replace(cell, line=first + assertion["line"] - 1), assertion)
        for name in row.get("names", []):
            _add_name(shaken, replace(cell, text=name["name"]), name)
    return shaken


def _add_assertion(shaken: Shaken, place: Place, assertion: dict[str, Any]) -> None:
    shaken.assertions += 1
    shaken.comparisons += len(assertion["units"])
    if not assertion["runs"]:
        where = shaken.unreached if assertion["branch"] else shaken.unbroken
        where.append(replace(place, text=assertion["text"]))
        return
    for unit in assertion["units"]:
        shaken.values.add(unit)
        if not unit["failed"] and not unit["error"]:
            shaken.unbroken.append(replace(place, text=unit["text"]))
        elif unit["wide"]:
            shaken.wide.append(replace(place, text=unit["text"]))


def _add_name(shaken: Shaken, place: Place, name: dict[str, Any]) -> None:
    results = [row["result"] for row in name["results"]]
    shaken.names.add({results[0]: 1})
    if results[0] != "survived":
        return
    if name["reaches"] and not {"failed", "error"} & set(results):
        shaken.unnoticed.append(place)
    elif not name["reaches"]:
        shaken.unread.setdefault(name["why"], []).append(place)


def _first_line(chapter: Chapter, cell: int) -> int:
    """Line of the source in which a cell's own text begins."""
    source, lines = chapter.code[cell].splitlines(), chapter.text.splitlines()
    fence = chapter.line_of(cell)
    for begin in range(fence, min(fence + 20, len(lines))):
        if [line.rstrip() for line in lines[begin : begin + len(source)]] == [line.rstrip() for line in source]:
            return begin + 1
    return fence


# The baseline.


@dataclass(frozen=True)
class Entry:
    """A comparison that may stay although nothing breaks it, with the reason."""

    page: str
    text: str
    why: str


def load(root: Path) -> list[Entry]:
    """The baseline; empty where there is none.

    Raises:
        ShakeError: it is malformed.
    """
    path = root / FILE
    try:
        pages = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        return [Entry(page, row["assertion"], row["why"]) for page, rows in pages.items() for row in rows]
    except FileNotFoundError:
        return []
    except (yaml.YAMLError, AttributeError, KeyError, TypeError) as error:
        line, what = 1, repr(error)
        if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
            line, what = error.problem_mark.line + 1, str(error.problem)
        raise ShakeError(f"{FILE}:{line}: {what}; each page lists entries of `assertion` and `why`") from None


def save(root: Path, entries: Iterable[Entry]) -> None:
    """Write the baseline, by page."""
    pages: dict[str, list[dict[str, str]]] = {}
    for entry in entries:
        pages.setdefault(entry.page, []).append({"assertion": entry.text, "why": entry.why})
    text = yaml.safe_dump(pages, allow_unicode=True, sort_keys=False, width=110) if pages else ""
    (root / FILE).parent.mkdir(parents=True, exist_ok=True)
    write(root / FILE, _HEAD + text)


def broken(entries: Iterable[Entry], pages: Sequence[Shaken]) -> list[Entry]:
    """Entries of the pages whose comparison can be broken now, or is gone."""
    left = {(place.page, place.text) for shaken in pages for place in shaken.unbroken}
    shaken_pages = {shaken.page for shaken in pages if not shaken.problems}
    return [entry for entry in entries if entry.page in shaken_pages and (entry.page, entry.text) not in left]


def problems(entries: Sequence[Entry], pages: Sequence[Shaken]) -> Iterator[str]:
    """What differs from the baseline, each with its remedy."""
    known = {(entry.page, entry.text) for entry in entries}
    for shaken in pages:
        for place in shaken.problems:
            yield f"{place}: the cell fails at small sizes, unchanged"
        for place in shaken.unbroken:
            if (place.page, place.text) not in known:
                yield f"{place}: no other value breaks it; make it stricter, or say in {FILE} why it may stay"
    for entry in broken(entries, pages):
        yield f"{FILE}: {entry.page}: {entry.text}: it can be broken now, or is gone; take it out (--update does)"
    for entry in entries:
        if not str(entry.why).strip():
            yield f"{FILE}: {entry.page}: {entry.text}: say why it may stay"


# The report.


def table(pages: Sequence[Shaken]) -> str:
    """A line for each page: mutants of values, then of names, by what came of them."""
    width = max((len(shaken.page) for shaken in pages), default=0)
    kinds = f"{'mutants':>8} {'failed':>6} {'error':>6} {'survived':>8}"
    head = f"{'page':{width}} {'assertions':>10} {'compare':>7} |{kinds} {'unbroken':>8} {'wide':>5} |{kinds}"
    lines = [f"{head} {'unnoticed':>9} | {'cells s':>8} {'all s':>6}"]
    for shaken in pages:
        lines.append(
            f"{shaken.page:{width}} {shaken.assertions:10} {shaken.comparisons:7} |{_counts(shaken.values)} "
            f"{len(shaken.unbroken):8} {len(shaken.wide):5} |{_counts(shaken.names)} {len(shaken.unnoticed):9} | "
            f"{shaken.cells_seconds:8.1f} {shaken.seconds:6.1f}"
        )
    return "\n".join(lines)


def _counts(counts: Counts) -> str:
    return f"{counts.run:8} {counts.failed:6} {counts.error:6} {counts.survived:8}"


def details(shaken: Shaken) -> Iterator[str]:
    """All that was found in a page, by kind."""
    kinds = {
        "no other value breaks": shaken.unbroken,
        "only a change of sign breaks": shaken.wide,
        "did not run at small sizes on a CPU": shaken.unreached,
        "an assertion depends on it, and notices no change of": shaken.unnoticed,
        **{f"a change that no assertion could notice, {why}": places for why, places in shaken.unread.items()},
        "its names could not be changed": shaken.unforked,
        "failed unchanged": shaken.problems,
    }
    for kind, places in kinds.items():
        if places:
            yield f"{kind} ({len(places)}):"
            yield from (f"  {place}" for place in places)


def run(chapters: Sequence[Chapter], options: Options, *, names: bool = True) -> Iterator[Shaken]:
    """What came of each chapter as it ends, `options.jobs` side by side."""
    import joblib

    parallel = joblib.Parallel(n_jobs=options.jobs or 1, prefer="threads", return_as="generator_unordered")
    yield from parallel(joblib.delayed(shake)(chapter, options, names=names) for chapter in chapters)
