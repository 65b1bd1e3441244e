"""Outputs of both lanes under one cell: the CPU's from this build, and those that were recorded on a GPU."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx

from torchbook_press import recordings
from torchbook_press.chapters import GPU_ONLY, Chapter
from torchbook_press.normal import WIDGET_STATE
from torchbook_press.recordings import Recording, above_changed, is_recorded
from torchbook_press.site.mount import Page, static_output

_OPEN = "<!--lane "
CPU = "cpu"
THIS_BUILD = "CPU (this build)"


@dataclass(frozen=True)
class Lane:
    """One tab: a key that the reader's browser keeps, its title, and the outputs in it."""

    key: str
    title: str
    outputs: list[NotebookNode]


class Recordings:
    """What the recordings of one page say of its cells."""

    def __init__(self, page_recordings: Sequence[Recording], cells: Sequence[NotebookNode], page: Page) -> None:
        self.sources = [cell.source for cell in cells]
        self.page = page
        numbers = [number for number, cell in enumerate(cells) if is_recorded(cell)]
        self.found = [(recording, recording.match(self.sources, numbers)) for recording in page_recordings]
        for recording in page_recordings:
            widgets = recording.notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {})
            page.models.update(widgets.get("state", {}))

    def beside(self, number: int, cell: NotebookNode, cpu: list[NotebookNode]) -> list[NotebookNode]:
        """The outputs of a cell that depends on the device: the CPU's, then those recorded, each below its mark."""
        lanes, notes = [], []
        for recording, cells in self.found:
            changed = self._changed(cells, number)
            if changed:
                notes.append(f"The recording on {_of(recording)} is stale: {changed} has changed since.")
            else:
                lanes.append(self._lane(recording, cells[number]))
        gpu_only = GPU_ONLY in cell.metadata.get("tags", [])
        if gpu_only and not self.found:
            notes.append("This cell needs a GPU, and nothing was recorded on one yet.")
        elif gpu_only and not lanes:
            notes.append("This cell needs a GPU, so it did not run in this build.")
        cpu_lanes = [] if gpu_only or not cpu else [Lane(CPU, THIS_BUILD, cpu)]
        tabs = [output for lane in [*cpu_lanes, *lanes] for output in [_mark(lane.key, lane.title), *lane.outputs]]
        return [*([*tabs, _mark()] if lanes else cpu), *map(_note, notes)]

    def _changed(self, cells: Mapping[int, NotebookNode], number: int) -> str:
        """Which code of a cell's recording is no longer as it was, in words; "" where all of it is."""
        if number not in cells:
            return "the code of this cell"
        return "code above this cell" if above_changed(cells[number], self.sources, number) else ""

    def _lane(self, recording: Recording, cell: NotebookNode) -> Lane:
        outputs = [static_output(output, self.page, lambda _: None) for output in cell.outputs]
        if not outputs:
            outputs.append(_note("It shows nothing there."))
        verb = "recorded" if recording.run["lane"] == "gpu" else "rehearsed on a CPU"
        return Lane(recording.lane, f"{recording.name} ({verb} {recording.run['date']})", outputs)


def _of(recording: Recording) -> str:
    return f"{recording.name} of {recording.run['date']}"


def of_page(app: Sphinx, chapter: Chapter, warn: Callable[[str, str, int], None]) -> list[Recording]:
    """The recordings that a page shows; the page is read again when one of them changes."""
    page_recordings = recordings.of_chapter(Path(app.srcdir, recordings.FOLDER), chapter)
    for recording in page_recordings:
        app.env.note_dependency(str(recording.path))
        if recording.problem:
            warn("recording", recording.problem, 1)
    return recordings.readable(page_recordings)


def _html(text: str) -> NotebookNode:
    return nbformat.v4.new_output("display_data", data={"text/html": text})


def _note(text: str) -> NotebookNode:
    return _html(f'<p class="lane-note">{escape(text)}</p>')


def _mark(*lane: str) -> NotebookNode:
    """Opens a lane, by its key and title; without them it ends the last one."""
    return _html(f"{_OPEN}{json.dumps(lane).replace('>', chr(92) + 'u003e')}-->")


def _marked(bundle: nodes.Node) -> list[str] | None:
    """Key and title, or nothing of the two, where a node of a cell's outputs is a mark."""
    raw = next((raw.astext() for raw in bundle.findall(nodes.raw) if raw.astext().startswith(_OPEN)), None)
    return None if raw is None else list(json.loads(raw.removeprefix(_OPEN).removesuffix("-->")))


def gather(app: Sphinx, doctree: nodes.document) -> None:
    """Put what stands below each mark into a box of its own; `lanes.js` makes tabs of the boxes."""
    for box in list(doctree.findall(nodes.container)):
        if "cell_output" in box["classes"] and any(_marked(child) for child in box.children):
            children = [*_boxed(list(box.children))]
            box.clear()
            box += children


def _boxed(children: list[nodes.Node]) -> Iterator[nodes.Node]:
    started = False
    for child in children:
        mark = _marked(child)
        if mark is None:
            yield child
        elif mark:
            key, title = mark
            opened = f'<div class="lane" data-lane="{escape(key)}"><p class="lane-name">{escape(title)}</p>'
            yield _raw("</div>" + opened if started else '<div class="lanes">' + opened)
            started = True
        else:
            yield _raw("</div></div>")


def _raw(html: str) -> nodes.raw:
    return nodes.raw("", html, format="html")


def setup(app: Sphinx) -> None:
    def seen(app: Sphinx, config: Any) -> None:
        # A page notes the recordings that it shows; of a new one it must hear.
        folder = Path(app.srcdir, recordings.FOLDER)
        config.torchbook_recordings = sorted(path.relative_to(folder).as_posix() for path in folder.glob("*/*"))

    app.add_config_value("torchbook_recordings", [], "env", [list])
    app.connect("config-inited", seen)
    app.connect("doctree-read", gather)
    app.add_js_file("lanes.js", defer="defer")
