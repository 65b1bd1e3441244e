"""`{recordings}`: where the recordings come from, what CPU and GPU agree on, and the kernels' times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from torchbook_press.chapters import Chapter, chapters
from torchbook_press.recordings import (
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
from torchbook_press.run import REHEARSAL
from torchbook_press.site.stamp import link, running_time
from torchbook_press.site.tables import cell, table

NOTHING = "Nothing in this edition was recorded on a GPU yet: every output on every page comes from the CPU."


class Machines(SphinxDirective):
    """Says that there is no recording, or a table of the machines and those that go with it."""

    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir)
        all_chapters = chapters(root)
        by_chapter = {chapter: readable(of_chapter(root / FOLDER, chapter)) for chapter in all_chapters}
        for recording in (record for group in by_chapter.values() for record in group):
            self.env.note_dependency(str(recording.path))
        devices = lanes(root / FOLDER)
        if not any(by_chapter.values()):
            return [nodes.paragraph("", NOTHING)]
        content = [table(_COLUMNS, [_machine(device, by_chapter) for device in devices])]
        content += self._agreements(
            [agreement for chapter in all_chapters for agreement in agreements(chapter, by_chapter[chapter])]
        )
        for device in devices:
            content += self._kernels(device)
        return content

    def _agreements(self, comparisons: Sequence[Agreement]) -> list[nodes.Node]:
        if not comparisons:
            return []
        docname = self.env.docname
        rows = [[link(agreement.chapter, docname), *map(cell, _values(agreement))] for agreement in comparisons]
        intro = "Numbers on which both lanes must agree, and how far apart they may be:"
        return [nodes.paragraph("", intro), table(_AGREEMENT, rows)]

    def _kernels(self, device: Path) -> list[nodes.Node]:
        results = kernels_table(device)
        if not results:
            return []
        self.env.note_dependency(str(device / KERNELS))
        right = sum(check["error"] <= check["allowed"] for check in results["checked"])
        mode = "in Triton's interpreter" if not results["measured"] else "compiled, and measured beside the library"
        summary = (
            f"The kernels on {results['name']} ({results['date']}, torch {results['torch']}, Triton "
            f"{results['triton']}), {mode}: {right} of {len(results['checked'])} checks against float64 right."
        )
        if results.get("digest") != kernels_digest():
            summary += " This is stale: the kernels have changed since."
        rows = [[*map(cell, _race(measurement))] for measurement in results["measured"]]
        return [nodes.paragraph("", summary), *([table(_RACES, rows)] if rows else [])]


_COLUMNS = ("Device", "Lane", "Driver", "CUDA", "torch", "Triton", "Python", "Chapters", "Recorded", "Time in all")
_AGREEMENT = ("Chapter", "Number", "CPU", "Device", "There", "Tolerance", "Verdict")
_RACES = ("Kernel", "Time", "Library", "Speed", "Rate", "Target")


def _machine(device: Path, by_chapter: dict[Chapter, list[Recording]]) -> list[nodes.Node]:
    recordings = [recording for group in by_chapter.values() for recording in group if recording.lane == device.name]
    runs = [recording.run for recording in recordings]

    def of_all(*path: str) -> str:
        values = {str(_inside(run, path)) for run in runs}
        return ", ".join(sorted(values - {""}))

    lane = "rehearsal on a CPU, no GPU" if of_all("lane") == REHEARSAL else of_all("lane").upper()
    dates = sorted(run["date"] for run in runs)
    values = [
        ", ".join(sorted({recording.name for recording in recordings})),
        lane,
        of_all("gpu", "driver"),
        of_all("gpu", "cuda"),
        of_all("versions", "torch"),
        of_all("versions", "triton"),
        of_all("versions", "python"),
        f"{len(recordings)} of {len(by_chapter)}",
        " to ".join(dict.fromkeys([*dates[:1], *dates[-1:]])),
        running_time(sum(run["seconds"] for run in runs)),
    ]
    return [*map(cell, values)]


def _inside(run: dict[str, Any], path: Sequence[str]) -> Any:
    value: Any = run
    for name in path:
        value = value.get(name, "") if isinstance(value, dict) else ""
    return value


def _values(agreement: Agreement) -> list[str]:
    verdict = "agree" if agreement.holds else "DIFFER"
    return [
        agreement.name,
        f"{agreement.cpu:g}",
        agreement.device,
        f"{agreement.recorded:g}",
        f"{agreement.tolerance:g}",
        verdict,
    ]


def _race(measurement: dict[str, Any]) -> list[str]:
    speed, target = measurement["library"] / measurement["milliseconds"], measurement["target"]
    verdict = "" if target is None else f"{target:g}×: {'reached' if speed >= target else 'missed'}"
    times = f"{measurement['milliseconds']:.3f} ms", f"{measurement['library']:.3f} ms", f"{speed:.2f}×"
    return [measurement["name"], *times, measurement["rate"], verdict]


def setup(app: Sphinx) -> None:
    app.add_directive("recordings", Machines)
