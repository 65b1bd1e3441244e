"""Recordings: what the cells that depend on the device gave on a GPU, a folder a device, and whether it still holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

import torchbook
from torchbook_press import evidence, seal
from torchbook_press.chapters import GPU_ONLY, Chapter
from torchbook_press.normal import own_cells
from torchbook_press.run import RUN

FOLDER = "recordings"
KERNELS = "kernels.json"
MARK = "torchbook_recording"  # the key of our block in a recording's metadata, and in that of its cells
RECORDED_TAGS = frozenset({"device", GPU_ONLY})
LARGEST_FILE = 1_000_000
LARGEST_FOLDER = 10_000_000
_KERNELS_SOURCE = Path(torchbook.__file__).resolve().parent / "kernels"


class RecordingError(Exception):
    """A recording cannot be read or must not be written; the message names it and the remedy."""


def code_hash(*sources: str) -> str:
    """Short sha256 of the code of some cells."""
    return hashlib.sha256("\0".join(source.strip() for source in sources).encode()).hexdigest()[:16]


def is_recorded(cell: NotebookNode) -> bool:
    """Whether a cell is one whose outputs a recording holds."""
    return bool(RECORDED_TAGS & set(cell.metadata.get("tags", [])))


@dataclass(frozen=True)
class Recording:
    """One chapter on one device."""

    path: Path

    @cached_property
    def notebook(self) -> NotebookNode:
        try:
            nb = seal.read(self.path)
            if {"name", "chapter", "agree"} <= nb.metadata.get(MARK, {}).keys() and RUN in nb.metadata:
                return nb
            problem = "it is no recording"
        except (OSError, ValueError, AttributeError, nbformat.ValidationError) as error:
            problem = str(error)
        raise RecordingError(f"{self.shown}:1: cannot be read ({problem}); delete it, or record the chapter again")

    @property
    def problem(self) -> str:
        """Why it cannot be read, and the remedy; "" where it can."""
        try:
            self.notebook  # noqa: B018
        except RecordingError as error:
            return str(error)
        return ""

    @property
    def shown(self) -> str:
        """The file as messages name it."""
        return f"{FOLDER}/{self.path.parent.name}/{self.path.name}"

    @property
    def lane(self) -> str:
        """The name of its folder, the device as a slug."""
        return self.path.parent.name

    @property
    def name(self) -> str:
        """The device in words."""
        return str(self.notebook.metadata[MARK]["name"])

    @property
    def run(self) -> dict[str, Any]:
        """The metadata of its run: as `run_metadata` gives those of the CPU's."""
        return dict(self.notebook.metadata[RUN])

    def match(self, sources: Sequence[str], numbers: Sequence[int]) -> dict[int, NotebookNode]:
        """The recorded cells that belong to the wanted ones of a page's code cells; one whose code changed has none."""
        by_code: dict[str, list[NotebookNode]] = {}
        for cell in self.notebook.cells:
            by_code.setdefault(cell.metadata[MARK]["code"], []).append(cell)
        matches = {}
        for number in numbers:
            cells = by_code.get(code_hash(sources[number]))
            if cells:
                matches[number] = cells.pop(0)
        return matches


def above_changed(cell: NotebookNode, sources: Sequence[str], number: int) -> bool:
    """Whether the code above a recorded cell is not what ran before it."""
    return bool(cell.metadata[MARK]["above"] != code_hash(*sources[:number]))


def lanes(folder: Path) -> list[Path]:
    """The devices that there are recordings of."""
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def of_chapter(folder: Path, chapter: Chapter) -> list[Recording]:
    """A chapter's recordings, by device."""
    names = (lane / f"{chapter.contract.id}.ipynb" for lane in lanes(folder))
    return [Recording(path) for path in names if path.is_file()]


def readable(recordings: Iterable[Recording]) -> list[Recording]:
    """Those of the recordings that can be read; of the others the page complains, and `torchbook record --check`."""
    return [recording for recording in recordings if not recording.problem]


# Numbers on which the lanes must agree.


@dataclass(frozen=True)
class Agreement:
    """A number that `glue(..., agree=...)` marked, as both lanes computed it."""

    chapter: Chapter
    name: str
    cpu: float
    device: str
    recorded: float
    tolerance: float

    @property
    def holds(self) -> bool:
        return abs(self.cpu - self.recorded) <= self.tolerance


def marked_numbers(nb: NotebookNode) -> dict[str, dict[str, Any]]:
    """The numbers of a run that must agree, by name: value, tolerance, and the hash of the code that gave them."""
    numbers = {}
    for cell in nb.cells:
        for output in cell.get("outputs", []):
            record = output.get("metadata", {}).get("scrapbook", {}) or evidence.record_of(output)
            if "agree" in record:
                numbers[record["name"]] = {
                    "value": record["measured" if "measured" in record else "value"],
                    "agree": record["agree"],
                    "code": code_hash(cell.source),
                }
    return numbers


def marked_evidence(nb: NotebookNode) -> dict[str, dict[str, str]]:
    """What sentences rest on in a run, by name: what was measured, and the hash of the code that did."""
    found = {}
    for number, cell in enumerate(own_cells(nb)):
        for each in evidence.of_cell(cell, cell.outputs, number):
            found[each.name] = {"said": each.said, "code": code_hash(cell.source)}
    return found


def agreements(chapter: Chapter, recordings: Sequence[Recording]) -> list[Agreement]:
    """What can be compared: the same code on the same data, at the same sizes, from the same seed."""
    try:
        executed = seal.read(chapter.executed)
    except (OSError, ValueError, nbformat.ValidationError):
        return []
    numbers = marked_numbers(executed)
    run = executed.metadata.get(RUN, {})
    comparisons = []
    for recording in recordings:
        gpu_numbers = recording.notebook.metadata[MARK]["agree"]
        if not _comparable(run, recording.run):
            continue
        for name, number in numbers.items():
            if gpu_numbers.get(name, {}).get("code") == number["code"]:
                values = number["value"], recording.name, gpu_numbers[name]["value"]
                comparisons.append(Agreement(chapter, name, *values, number["agree"]))
    return comparisons


def _comparable(run: dict[str, Any], other: dict[str, Any]) -> bool:
    def conditions(metadata: dict[str, Any]) -> Any:
        parameters = {name: value for name, value in metadata.get("parameters", {}).items() if name != "DEVICE"}
        return parameters, {name: source["fingerprint"] for name, source in metadata.get("data", {}).items()}

    return bool(conditions(run) == conditions(other))


# The kernels' table.


@cache
def kernels_digest(folder: Path = _KERNELS_SOURCE) -> str:
    """sha256 of the kernels and of what measures them."""
    return code_hash(*(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))))


def kernels_table(lane: Path) -> dict[str, Any]:
    """What the kernels' bench gave on a device; {} where it was not recorded."""
    try:
        return dict(json.loads((lane / KERNELS).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


# What no longer holds.


@dataclass(frozen=True)
class Finding:
    """Something that a fresh recording would mend: where, and what."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def findings(folder: Path, chapters: Sequence[Chapter], all_chapters: Sequence[Chapter]) -> Iterator[Finding]:
    """What is missing, stale, too large, or differs between the lanes.

    Args:
        folder: the recordings.
        chapters: what is asked about.
        all_chapters: those of the book, to tell recordings of none of them.
    """
    if not lanes(folder):
        yield Finding(f"{FOLDER}/", "nothing was recorded on a GPU yet: `torchbook record`, on a machine that has one")
        return
    for lane in lanes(folder):
        yield from _of_lane(lane, chapters, all_chapters)
    for chapter in chapters:
        yield from _differing(folder, chapter)
    yield from oversize(folder)


def _of_lane(lane: Path, chapters: Sequence[Chapter], all_chapters: Sequence[Chapter]) -> Iterator[Finding]:
    for chapter in chapters:
        recording = Recording(lane / f"{chapter.contract.id}.ipynb")
        if not recording.path.is_file():
            yield Finding(f"{chapter.shown}:1", f"not recorded in {FOLDER}/{lane.name}")
            continue
        try:
            yield from stale(chapter, recording)
        except RecordingError as error:
            yield Finding(*str(error).split(": ", 1))
    ids = {chapter.contract.id for chapter in all_chapters}
    for path in sorted(lane.glob("*.ipynb")):
        if path.stem not in ids:
            yield Finding(f"{FOLDER}/{lane.name}/{path.name}:1", "belongs to no chapter; delete it")
    kernels = kernels_table(lane)
    if kernels and kernels.get("digest") != kernels_digest():
        yield Finding(f"{FOLDER}/{lane.name}/{KERNELS}:1", "stale: the kernels have changed since")


def stale(chapter: Chapter, recording: Recording) -> Iterator[Finding]:
    """The cells of a chapter that its recording does not hold as they are now, or that stand below changed code."""
    sources, cells = chapter.code, chapter.code_cells
    numbers = [number for number, cell in enumerate(cells) if is_recorded(cell)]
    matches = recording.match(sources, numbers)
    origin = f"the recording on {recording.name} of {recording.run['date']}"
    for number in numbers:
        where = f"{chapter.shown}:{chapter.line_of(number)}"
        if number not in matches:
            yield Finding(where, f"cell {number + 1}: stale: {origin} is of other code")
    older = [number for number, cell in matches.items() if above_changed(cell, sources, number)]
    if older:
        where = f"{chapter.shown}:{chapter.line_of(older[0])}"
        yield Finding(where, f"cell {older[0] + 1}: code above it has changed since {origin}")


def _differing(folder: Path, chapter: Chapter) -> Iterator[Finding]:
    try:
        comparisons = agreements(chapter, of_chapter(folder, chapter))
    except RecordingError:
        return  # said already
    for agreement in comparisons:
        if not agreement.holds:
            values = f"{agreement.cpu:g} on the CPU, {agreement.recorded:g} on {agreement.device}"
            yield Finding(
                f"{chapter.shown}:1",
                f"{agreement.name} differs: {values}, more than {agreement.tolerance:g} apart; find out why",
            )


def oversize(folder: Path) -> Iterator[Finding]:
    """Files that are too large for a repository, and the folder if all of them together are."""
    sizes = {path: path.stat().st_size for path in sorted(folder.rglob("*")) if path.is_file()}
    remedy = "draw fewer points, or untag a cell"
    for path, size in sizes.items():
        if size > LARGEST_FILE:
            name = f"{FOLDER}/{path.relative_to(folder).as_posix()}"
            yield Finding(f"{name}:1", f"{size / 1e6:.1f} MB, more than {LARGEST_FILE / 1e6:g}: {remedy}")
    if sum(sizes.values()) > LARGEST_FOLDER:
        what = f"{sum(sizes.values()) / 1e6:.1f} MB in all, more than {LARGEST_FOLDER / 1e6:g}: {remedy}"
        yield Finding(f"{FOLDER}/", what)
