"""Record the chapters on a GPU: run them there, and keep what their device cells gave under `recordings/`."""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from rich.console import Console

from torchbook import runtime
from torchbook.press import run as press
from torchbook.press.chapters import Chapter
from torchbook.press.key import environment, run_key
from torchbook.press.normal import WIDGET_STATE, WIDGET_VIEW
from torchbook.press.recordings import (
    KERNELS,
    LARGEST_FILE,
    LARGEST_FOLDER,
    MARK,
    Recording,
    RecordingError,
    code_hash,
    is_recorded,
    kernels_digest,
    kernels_table,
    marked_numbers,
)
from torchbook.press.run import REHEARSAL, RUN, Options, RunError

# More chapters at once on one GPU, and their kernels wait for each other. Those that measure have it to themselves.
MOST_AT_ONCE = 2
_NAMES_KERNELS = re.compile(r"\btorchbook\b.*\bkernels\b")
_REHEARSED_KERNELS = "add"  # in Triton's interpreter, where all of them take minutes
_KERNELS_SECONDS = 1800
_MODEL = re.compile(r"(?<![A-Za-z0-9])model\d{3,}\b")


@dataclass
class Recorded:
    """Which chapters were up to date, which were recorded (seconds), and what went wrong."""

    kept: list[str] = field(default_factory=list)
    written: dict[str, float] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def slug(name: str) -> str:
    """A device's name as that of a folder."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def device(lane: str, name: str = "") -> str:
    """What the recording is called: the GPU's own name unless another is given.

    Raises:
        RunError: there is no GPU to record on, or a rehearsal goes by the name of nothing.
    """
    if lane == REHEARSAL:
        return name or "CPU rehearsal"
    found = runtime.gpu()
    if not found:
        raise RunError(
            "this machine has no CUDA device: record on one that has, or try everything with --lane rehearsal"
        )
    if not slug(name or found["name"]):
        raise RunError(f"--name {name!r} makes no folder name; use letters or digits")
    return name or str(found["name"])


def record(chapters: list[Chapter], options: Options, folder: Path, name: str, console: Console) -> Recorded:
    """Bring the recordings of the chapters on this machine's GPU up to date.

    A chapter that fails leaves its former recording as it is; finished runs are kept under `executed/_lanes`, so that a
    killed run goes on where it was.
    """
    lane = folder / slug(name)
    report = Recorded()
    here = [replace(chapter, kept=f"executed/_lanes/{lane.name}") for chapter in chapters]
    due = [chapter for chapter in here if options.force or not _up_to_date(chapter, lane, options)]
    report.kept = [chapter.docname for chapter in here if chapter not in due]
    together, alone = [c for c in due if not measures(c)], [c for c in due if measures(c)]
    jobs = min(options.jobs or MOST_AT_ONCE, MOST_AT_ONCE)
    for group, at_once in ((together, jobs), (alone, 1)):
        ran = press.run(group, replace(options, jobs=at_once), console)
        report.problems += [str(failure) for failure in ran.failed]
        report.problems += [f"{docname}.md:1: not recorded: {why}" for docname, why in ran.lacking.items()]
        done = {*ran.ran, *ran.kept}
        for chapter in group:
            if chapter.docname in done:
                _write(chapter, folder, lane, name, report)
    if any(_NAMES_KERNELS.search(source) for chapter in chapters for source in chapter.code):
        report.problems += record_kernels(chapters[0].root, folder, lane, name, options)
    return report


def measures(chapter: Chapter) -> bool:
    """Whether a recorded cell's outputs vary from run to run: it takes times, and nothing may run beside it."""
    return any(is_recorded(cell) and "varies" in cell.metadata.get("tags", []) for cell in chapter.code_cells)


def _up_to_date(chapter: Chapter, lane: Path, options: Options) -> bool:
    recording = Recording(lane / f"{chapter.contract.id}.ipynb")
    try:
        run = recording.run if recording.path.is_file() else {}
    except RecordingError:
        return False
    if run.get("key") != run_key(chapter, options.parameters, options.lane):
        return False
    wanted = [number for number, cell in enumerate(chapter.code_cells) if is_recorded(cell)]
    return set(recording.match(chapter.code, wanted)) == set(wanted)


def _write(chapter: Chapter, folder: Path, lane: Path, name: str, report: Recorded) -> None:
    done = nbformat.read(chapter.executed, as_version=4)
    nb = distil(chapter, done, name)
    path = lane / f"{chapter.contract.id}.ipynb"
    text = nbformat.writes(nb) + "\n"
    try:
        check_size(folder, path, text, nb)
    except RecordingError as error:
        report.problems.append(str(error))
        return
    press.write(path, text)
    report.written[chapter.docname] = done.metadata[RUN]["seconds"]
    report.notes += [f"{chapter.shown}: {note}" for note in silenced(done)]


def distil(chapter: Chapter, done: NotebookNode, name: str) -> NotebookNode:
    """What a recording keeps of a run: the cells whose outputs depend on the device, and where they come from."""
    ran = [cell for cell in done.cells if cell.cell_type == "code"]
    ran = [cell for cell in ran if "injected-parameters" not in cell.metadata.get("tags", [])]
    sources = chapter.code
    cells = []
    for number, (cell, outputs) in enumerate(zip(chapter.code_cells, (cell.outputs for cell in ran), strict=True)):
        if is_recorded(cell):
            marks = {"code": code_hash(cell.source), "above": code_hash(*sources[:number])}
            kept = [output for output in outputs if _is_shown(output, cell)]
            new = nbformat.v4.new_code_cell(cell.source, outputs=kept, id=f"cell-{number}")
            new.metadata |= {"tags": cell.metadata["tags"], MARK: marks}
            cells.append(new)
    nb = nbformat.v4.new_notebook(cells=cells)
    nb.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nb.metadata[RUN] = done.metadata[RUN]
    nb.metadata[MARK] = {"name": name, "chapter": chapter.docname, "agree": marked_numbers(done)}
    _carry_widgets(nb, done, slug(name))
    return nb


def _is_shown(output: NotebookNode, cell: NotebookNode) -> bool:
    """Not: what was handed to the prose, which has the CPU's numbers, and warnings that the page does not expect."""
    if "scrapbook" in output.get("metadata", {}):
        return False
    return output.get("name") != "stderr" or _says_stderr(cell)


def _says_stderr(cell: NotebookNode) -> bool:
    return bool({"stderr", "raises-exception"} & set(cell.metadata.get("tags", [])))


def silenced(done: NotebookNode) -> list[str]:
    """First lines of what recorded cells wrote to stderr without being tagged so; a recording leaves it out."""
    found = []
    for cell in done.cells:
        for output in cell.get("outputs", []):
            if is_recorded(cell) and output.get("name") == "stderr" and not _says_stderr(cell):
                found.append(f"left out of the recording: {output.text.strip().partition(chr(10))[0]}")
    return found


def _carry_widgets(nb: NotebookNode, done: NotebookNode, prefix: str) -> None:
    """The state of the widgets that are shown, under ids that the page's own run has not."""
    models: dict[str, Any] = done.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    views = (output.get("data", {}).get(WIDGET_VIEW) for cell in nb.cells for output in cell.outputs)
    wanted = [view["model_id"] for view in views if view]
    for model in wanted:
        state = json.dumps(models.get(model, {}).get("state", {}))
        wanted += [name for name in _MODEL.findall(state) if name in models and name not in wanted]
    if not wanted:
        return
    shown = {model: models[model] for model in wanted if model in models}
    nb.metadata["widgets"] = {WIDGET_STATE: {"version_major": 2, "version_minor": 0, "state": shown}}
    text = nbformat.writes(nb)
    for model in shown:
        text = re.sub(rf"(?<![A-Za-z0-9]){model}\b", f"{prefix}-{model}", text)
    nb.update(nbformat.reads(text, as_version=4))


def check_size(folder: Path, path: Path, text: str, nb: NotebookNode) -> None:
    """Refuse what would make the repository heavy.

    Raises:
        RecordingError: the file, or the folder with it, is too large; the message names the heaviest cell.
    """
    size = len(text.encode())
    shown = f"recordings/{path.parent.name}/{path.name}"
    heaviest = max(nb.cells, key=lambda cell: len(json.dumps(cell.outputs)), default=None)
    which = f"; the heaviest is {heaviest.id.replace('-', ' ')}" if heaviest else ""
    remedy = "draw fewer points, or untag a cell; the former recording is kept"
    if size > LARGEST_FILE:
        raise RecordingError(
            f"{shown}:1: {size / 1e6:.1f} MB, more than the {LARGEST_FILE / 1e6:g} of one{which}: {remedy}"
        )
    others = sum(one.stat().st_size for one in folder.rglob("*") if one.is_file() and one != path)
    if others + size > LARGEST_FOLDER:
        limit = f"more than the {LARGEST_FOLDER / 1e6:g} of all recordings"
        raise RecordingError(f"{shown}:1: with it {(others + size) / 1e6:.1f} MB, {limit}{which}: {remedy}")


def record_kernels(root: Path, folder: Path, lane: Path, name: str, options: Options) -> list[str]:
    """Check, tune and measure the kernels in a process of their own; what went wrong."""
    former = kernels_table(lane)
    versions = environment()
    same = former.get("digest") == kernels_digest() and former.get("versions") == versions
    if same and not options.force:
        return []
    with tempfile.TemporaryDirectory(prefix="torchbook-kernels-") as work:
        results = Path(work, "kernels.json")
        some = [_REHEARSED_KERNELS] if options.lane == REHEARSAL else []
        command = [sys.executable, "-m", "torchbook.kernels.bench", *some, "--json", str(results)]
        limit = _KERNELS_SECONDS * options.patience
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return [f"torchbook.kernels.bench: ran longer than {limit / 60:g} minutes; the former table is kept"]
        if done.returncode:
            last = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1]
            return [f"torchbook.kernels.bench: {last}; the former table is kept"]
        table = json.loads(results.read_text(encoding="utf-8"))
    table |= {
        "name": name,
        "lane": options.lane,
        "digest": kernels_digest(),
        "versions": versions,
        "commit": press.commit(root),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "gpu": runtime.gpu(),
    }
    press.write(lane / KERNELS, json.dumps(table, indent=1) + "\n")
    return []
