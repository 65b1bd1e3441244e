"""`{recordings}`: where the recordings come from, what CPU and GPU agree on, and the kernels' times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from torchbook.press.chapters import Chapter, chapters
from torchbook.press.recordings import (
    FOLDER,
    KERNELS,
    Agreement,
    Recording,
    agreements,
    kernels_digest,
    kernels_table,
    lanes,
    of_chapter,
    readable,
)
from torchbook.press.run import REHEARSAL
from torchbook.press.site.stamp import link, running_time
from torchbook.press.site.tables import cell, table

NOTHING = "Nothing in this edition was recorded on a GPU yet: every output on every page comes from the CPU."


class Machines(SphinxDirective):
    """Says that there is no recording, or a table of the machines and those that go with it."""

    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir)
        known = chapters(root)
        found = {chapter: readable(of_chapter(root / FOLDER, chapter)) for chapter in known}
        for recording in (one for some in found.values() for one in some):
            self.env.note_dependency(str(recording.path))
        devices = lanes(root / FOLDER)
        if not any(found.values()):
            return [nodes.paragraph("", NOTHING)]
        made = [table(_COLUMNS, [_machine(device, found) for device in devices])]
        made += self._agreements([one for chapter in known for one in agreements(chapter, found[chapter])])
        for device in devices:
            made += self._kernels(device)
        return made

    def _agreements(self, compared: Sequence[Agreement]) -> list[nodes.Node]:
        if not compared:
            return []
        here = self.env.docname
        rows = [[link(one.chapter, here), *map(cell, _values(one))] for one in compared]
        said = "Numbers on which both lanes must agree, and how far apart they may be:"
        return [nodes.paragraph("", said), table(_AGREEMENT, rows)]

    def _kernels(self, device: Path) -> list[nodes.Node]:
        results = kernels_table(device)
        if not results:
            return []
        self.env.note_dependency(str(device / KERNELS))
        right = sum(one["error"] <= one["allowed"] for one in results["checked"])
        how = "in Triton's interpreter" if not results["measured"] else "compiled, and measured beside the library"
        said = (
            f"The kernels on {results['name']} ({results['date']}, torch {results['torch']}, Triton "
            f"{results['triton']}), {how}: {right} of {len(results['checked'])} checks against float64 right."
        )
        if results.get("digest") != kernels_digest():
            said += " This is stale: the kernels have changed since."
        rows = [[*map(cell, _race(one))] for one in results["measured"]]
        return [nodes.paragraph("", said), *([table(_RACES, rows)] if rows else [])]


_COLUMNS = ("Device", "Lane", "Driver", "CUDA", "torch", "Triton", "Python", "Chapters", "Recorded", "Time in all")
_AGREEMENT = ("Chapter", "Number", "CPU", "Device", "There", "Tolerance", "Verdict")
_RACES = ("Kernel", "Time", "Library", "Speed", "Rate", "Target")


def _machine(device: Path, found: dict[Chapter, list[Recording]]) -> list[nodes.Node]:
    here = [recording for some in found.values() for recording in some if recording.lane == device.name]
    runs = [recording.run for recording in here]

    def of_all(*path: str) -> str:
        values = {str(_inside(run, path)) for run in runs}
        return ", ".join(sorted(values - {""}))

    lane = "rehearsal on a CPU, no GPU" if of_all("lane") == REHEARSAL else of_all("lane").upper()
    dates = sorted(run["date"] for run in runs)
    values = [
        ", ".join(sorted({recording.name for recording in here})),
        lane,
        of_all("gpu", "driver"),
        of_all("gpu", "cuda"),
        of_all("versions", "torch"),
        of_all("versions", "triton"),
        of_all("versions", "python"),
        f"{len(here)} of {len(found)}",
        " to ".join(dict.fromkeys([*dates[:1], *dates[-1:]])),
        running_time(sum(run["seconds"] for run in runs)),
    ]
    return [*map(cell, values)]


def _inside(run: dict[str, Any], path: Sequence[str]) -> Any:
    value: Any = run
    for name in path:
        value = value.get(name, "") if isinstance(value, dict) else ""
    return value


def _values(one: Agreement) -> list[str]:
    verdict = "agree" if one.holds else "DIFFER"
    return [one.name, f"{one.cpu:g}", one.device, f"{one.recorded:g}", f"{one.tolerance:g}", verdict]


def _race(one: dict[str, Any]) -> list[str]:
    speed, target = one["library"] / one["milliseconds"], one["target"]
    reached = "" if target is None else f"{target:g}×: {'reached' if speed >= target else 'missed'}"
    times = f"{one['milliseconds']:.3f} ms", f"{one['library']:.3f} ms", f"{speed:.2f}×"
    return [one["name"], *times, one["rate"], reached]


def setup(app: Sphinx) -> None:
    app.add_directive("recordings", Machines)
