"""What the press says on a page: outcome and times at the top, provenance at the foot, the table of all runs."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from torchbook_press.chapters import Chapter, ChapterError, chapters
from torchbook_press.recordings import FOLDER, Recording, of_chapter, readable
from torchbook_press.run import lacks_of, run_metadata
from torchbook_press.site.tables import cell, table

_log = logging.getLogger(__name__)
_WORDS_A_MINUTE = 200
NEEDS = {
    "cpu": "CPU",
    "gpu": "GPU",
    "processes": "several processes",
    "compiler": "C++ compiler",
    "network": "internet",
}


def reading_minutes(text: str) -> int:
    """Minutes to read a page's prose and code, at 200 words a minute, at least one."""
    body = text.partition("\n---\n")[2] if text.startswith("---\n") else text
    return max(1, math.ceil(len(re.findall(r"\w+", body)) / _WORDS_A_MINUTE))


def running_time(seconds: float) -> str:
    """Seconds as a reader says them."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _chapter(app: Sphinx, docname: str) -> Chapter | None:
    chapter = Chapter(Path(app.srcdir), docname)
    return chapter if chapter.path.is_file() and chapter.runs else None


def stamp(app: Sphinx, doctree: nodes.document) -> None:
    """Add header, stand-in notice and footer to a page that ran."""
    docname = app.env.docname
    try:
        chapter = _chapter(app, docname)
        if chapter is None:
            return
        contract, record = chapter.contract, run_metadata(chapter)
    except ChapterError as error:
        _log.warning(str(error), location=docname, type="executed", subtype="contract")
        return
    title = next(iter(doctree.findall(nodes.title)), None)
    if title is None or not isinstance(title.parent, nodes.section):
        return
    top = title.parent
    notices = [source["note"] for source in record.get("data", {}).values() if not source["real"]]
    lacks = lacks_of(chapter)
    if lacks:
        notices.append(f"This chapter was not run in this build, so its outputs are missing: {lacks}.")
    elif not record:
        notices.append(f"This page was not run, so its outputs are missing. torchbook run {contract.id} makes them.")
    for part in reversed([_header(chapter, contract.outcome, record), *map(_notice, notices)]):
        top.insert(1, part)
    if record:
        top.append(_footer(record, recordings_of(chapter)))


def _header(chapter: Chapter, outcome: str, record: dict[str, Any]) -> nodes.Node:
    facts = [f"{reading_minutes(chapter.text)} min to read"]
    if record:
        facts.append(f"{running_time(record['seconds'])} to run")
    facts.append("needs: " + ", ".join(NEEDS[need] for need in chapter.contract.needs))
    facts.append(f"{chapter.contract.memory_gb:g} GB of memory")
    box = nodes.container(classes=["chapter-head"])
    box += nodes.paragraph("", outcome, classes=["chapter-outcome"])
    box += nodes.paragraph("", " · ".join(facts), classes=["chapter-facts"])
    return box


def _notice(text: str) -> nodes.Node:
    return nodes.warning("", nodes.paragraph("", text))


def recordings_of(chapter: Chapter) -> list[Recording]:
    """The recordings of a chapter that its page can show."""
    return [recording for recording in readable(of_chapter(chapter.root / FOLDER, chapter)) if recording.notebook.cells]


def origins(record: dict[str, Any], recordings: list[Recording]) -> list[str]:
    """Where a page's outputs come from, a sentence a run."""
    subject = "Every output on this page that was not recorded" if recordings else "Every output on this page"
    return [
        f"{subject} comes from one run: {_facts(record)}.",
        *(f"What was recorded on {one.name} comes from another: {_facts(one.run)}." for one in recordings),
    ]


def _footer(record: dict[str, Any], recordings: list[Recording]) -> nodes.Node:
    paragraphs = (nodes.paragraph("", text) for text in origins(record, recordings))
    return nodes.container("", *paragraphs, classes=["provenance"])


def _facts(record: dict[str, Any]) -> str:
    return f"{versions(record)}, {_device(record)}, {_circumstances(record)}"


def versions(record: dict[str, Any]) -> str:
    """On which versions a run was: "torch 2.15.0, Python 3.12.3"."""
    gpu = record.get("gpu") or {}
    found = {"torch": record["versions"]["torch"], "Python": record["versions"]["python"]}
    if gpu:
        found |= {"CUDA": gpu["cuda"], "driver": gpu["driver"], "Triton": record["versions"].get("triton", "")}
    return ", ".join(f"{name} {version}" for name, version in found.items() if version)


def _device(record: dict[str, Any]) -> str:
    return f"{record['device']} ({_lane(record)} lane, {_count(record['threads'], 'thread')})"


def _lane(record: dict[str, Any]) -> str:
    return str(record["lane"]).upper() if record["lane"] in ("cpu", "gpu") else str(record["lane"])


def _circumstances(record: dict[str, Any]) -> str:
    parameters = record["parameters"]
    commit = f"commit {record['commit']}, " if record.get("commit") else ""
    on_device = f", on the device {record['peak_device_gb']:.1f} GB" if "peak_device_gb" in record else ""
    return (
        f"{commit}{record['date']}, {running_time(record['seconds'])}, "
        f"peak memory {record['peak_gb']:.1f} GB{on_device}, "
        f"seed {parameters['SEED']}{', small sizes (FAST)' if parameters['FAST'] else ''}"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


class Provenance(SphinxDirective):
    """`{provenance}`: a table of every chapter's runs, on the CPU and where it was recorded."""

    def run(self) -> list[nodes.Node]:
        rows = []
        for chapter in chapters(Path(self.env.srcdir)):
            self.env.note_dependency(str(chapter.executed))
            rows.append((chapter, run_metadata(chapter)))
            for recording in readable(of_chapter(chapter.root / FOLDER, chapter)):
                self.env.note_dependency(str(recording.path))
                rows.append((chapter, recording.run))
        docname = self.env.docname
        return [table(_COLUMNS, [[link(chapter, docname), *map(cell, _values(record))] for chapter, record in rows])]


_COLUMNS = (
    "Chapter",
    "Lane",
    "Device",
    "torch",
    "Commit",
    "Date",
    "Time",
    "Memory",
    "On the device",
    "Seed",
    "Data",
    "Run key",
)


def link(chapter: Chapter, docname: str) -> nodes.Node:
    """The chapter's title, linked from the page `docname`."""
    target = pending_xref(
        "",
        nodes.inline("", chapter.title),
        refdoc=docname,
        refdomain="std",
        reftype="doc",
        reftarget=f"/{chapter.docname}",
        refexplicit=True,
        refwarn=True,
    )
    return nodes.paragraph("", "", target)


def _values(record: dict[str, Any]) -> list[str]:
    if not record:
        return ["never run", *[""] * (len(_COLUMNS) - 2)]
    kinds = {"real" if source["real"] else "stand-in" for source in record["data"].values()}
    return [
        _lane(record),
        record["device"],
        record["versions"]["torch"],
        record["commit"],
        record["date"],
        running_time(record["seconds"]),
        f"{record['peak_gb']:.1f} GB",
        f"{record['peak_device_gb']:.1f} GB" if "peak_device_gb" in record else "",
        str(record["parameters"]["SEED"]),
        ", ".join(sorted(kinds)) or "none",
        record["key"][:12],
    ]


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", stamp)
    app.add_directive("provenance", Provenance)
