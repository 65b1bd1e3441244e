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

import nbformat
from nbformat import NotebookNode
from rich.console import Console

from torchbook import runtime
from torchbook._holds import KEY
from torchbook_press import bundles, seal
from torchbook_press import run as press
from torchbook_press.chapters import Chapter
from torchbook_press.execute import versions as installed_versions
from torchbook_press.files import write
from torchbook_press.key import declared
from torchbook_press.normal import WIDGET_STATE, WIDGET_VIEW, own_cells, widget_models
from torchbook_press.recordings import (
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
    marked_evidence,
    marked_numbers,
)
from torchbook_press.run import REHEARSAL, RUN, Options, RunError

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
    gpu = runtime.gpu()
    if not gpu:
        raise RunError(
            "this machine has no CUDA device: record on one that has, or try everything with --lane rehearsal"
        )
    if not slug(name or gpu["name"]):
        raise RunError(f"--name {name!r} makes no folder name; use letters or digits")
    return name or str(gpu["name"])


def record(chapters: list[Chapter], options: Options, folder: Path, name: str, console: Console) -> Recorded:
    """Bring the recordings of the chapters on this machine's GPU up to date.

    A chapter that fails leaves its former recording as it is; finished runs are kept under `executed/_lanes`, so that a
    killed run goes on where it was.
    """
    lane = folder / slug(name)
    report = Recorded()
    candidates = [replace(chapter, kept=f"executed/_lanes/{lane.name}") for chapter in chapters]
    due = [chapter for chapter in candidates if options.force or not _up_to_date(chapter, lane, options)]
    report.kept = [chapter.docname for chapter in candidates if chapter not in due]
    together, alone = [c for c in due if not measures(c)], [c for c in due if measures(c)]
    jobs = min(options.jobs or MOST_AT_ONCE, MOST_AT_ONCE)
    for group, at_once in ((together, jobs), (alone, 1)):
        outcomes = press.run(group, replace(options, jobs=at_once), console)
        report.problems += [str(failure) for failure in outcomes.failed]
        report.problems += [f"{docname}.md:1: not recorded: {why}" for docname, why in outcomes.lacking.items()]
        finished = {*outcomes.ran, *outcomes.kept}
        for chapter in group:
            if chapter.docname in finished:
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
    if not press.up_to_date(run, declared(chapter, options.parameters, options.lane)):
        return False
    numbers = [number for number, cell in enumerate(chapter.code_cells) if is_recorded(cell)]
    return set(recording.match(chapter.code, numbers)) == set(numbers)


def _write(chapter: Chapter, folder: Path, lane: Path, name: str, report: Recorded) -> None:
    executed = seal.read(chapter.executed)
    nb = distil(chapter, executed, name)
    path = lane / f"{chapter.contract.id}.ipynb"
    text = seal.sealed(nb) + "\n"
    try:
        check_size(folder, path, text, nb)
    except RecordingError as error:
        report.problems.append(str(error))
        return
    write(path, text)
    report.written[chapter.docname] = executed.metadata[RUN]["seconds"]
    report.notes += [f"{chapter.shown}: {note}" for note in silenced(executed)]


def distil(chapter: Chapter, executed: NotebookNode, name: str) -> NotebookNode:
    """What a recording keeps of a run: the cells whose outputs depend on the device, and where they come from."""
    # A recording outlives changes of the figures: it holds the scripts that fit its states.
    executed = bundles.put_back(nbformat.from_dict(executed))
    sources = chapter.code
    cells = []
    for number, (cell, outputs) in enumerate(
        zip(chapter.code_cells, (cell.outputs for cell in own_cells(executed)), strict=True)
    ):
        if is_recorded(cell):
            marks = {"code": code_hash(cell.source), "above": code_hash(*sources[:number])}
            kept = [output for output in outputs if _is_shown(output, cell)]
            new = nbformat.v4.new_code_cell(cell.source, outputs=kept, id=f"cell-{number}")
            new.metadata |= {"tags": cell.metadata["tags"], MARK: marks}
            cells.append(new)
    nb = nbformat.v4.new_notebook(cells=cells)
    nb.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nb.metadata[RUN] = executed.metadata[RUN]
    nb.metadata[MARK] = {"name": name, "chapter": chapter.docname, "agree": marked_numbers(executed)}
    nb.metadata[MARK]["holds"] = marked_evidence(executed)
    _carry_widgets(nb, executed, slug(name))
    return nb


def _is_shown(output: NotebookNode, cell: NotebookNode) -> bool:
    """Not: what was handed to the prose, which has the CPU's numbers, and warnings that the page does not expect."""
    if {"scrapbook", KEY} & set(output.get("metadata", {})):
        return False
    return output.get("name") != "stderr" or _says_stderr(cell)


def _says_stderr(cell: NotebookNode) -> bool:
    return bool({"stderr", "raises-exception"} & set(cell.metadata.get("tags", [])))


def silenced(executed: NotebookNode) -> list[str]:
    """First lines of what recorded cells wrote to stderr without being tagged so; a recording leaves it out."""
    lines = []
    for cell in executed.cells:
        for output in cell.get("outputs", []):
            if is_recorded(cell) and output.get("name") == "stderr" and not _says_stderr(cell):
                lines.append(f"left out of the recording: {output.text.strip().partition(chr(10))[0]}")
    return lines


def _carry_widgets(nb: NotebookNode, executed: NotebookNode, prefix: str) -> None:
    """The state of the widgets that are shown, under ids that the page's own run has not."""
    models = widget_models(executed)
    views = (output.get("data", {}).get(WIDGET_VIEW) for cell in nb.cells for output in cell.outputs)
    model_ids = [view["model_id"] for view in views if view]
    for model in model_ids:
        state = json.dumps(models.get(model, {}).get("state", {}))
        model_ids += [name for name in _MODEL.findall(state) if name in models and name not in model_ids]
    if not model_ids:
        return
    shown_models = {model: models[model] for model in model_ids if model in models}
    nb.metadata["widgets"] = {WIDGET_STATE: {"version_major": 2, "version_minor": 0, "state": shown_models}}
    text = nbformat.writes(nb)
    for model in shown_models:
        text = re.sub(rf"(?<![A-Za-z0-9]){model}\b", f"{prefix}-{model}", text)
    nb.update(nbformat.reads(text, as_version=4))


def check_size(folder: Path, path: Path, text: str, nb: NotebookNode) -> None:
    """Refuse what would make the repository heavy.

    Raises:
        RecordingError: the file, or the folder with it, is too large; the message names the heaviest cell.
    """
    size = len(text.encode())
    name = f"recordings/{path.parent.name}/{path.name}"
    heaviest = max(nb.cells, key=lambda cell: len(json.dumps(cell.outputs)), default=None)
    hint = f"; the heaviest is {heaviest.id.replace('-', ' ')}" if heaviest else ""
    remedy = "draw fewer points, or untag a cell; the former recording is kept"
    if size > LARGEST_FILE:
        raise RecordingError(
            f"{name}:1: {size / 1e6:.1f} MB, more than the {LARGEST_FILE / 1e6:g} of one{hint}: {remedy}"
        )
    others = sum(other.stat().st_size for other in folder.rglob("*") if other.is_file() and other != path)
    if others + size > LARGEST_FOLDER:
        limit = f"more than the {LARGEST_FOLDER / 1e6:g} of all recordings"
        raise RecordingError(f"{name}:1: with it {(others + size) / 1e6:.1f} MB, {limit}{hint}: {remedy}")


def record_kernels(root: Path, folder: Path, lane: Path, name: str, options: Options) -> list[str]:
    """Check, tune and measure the kernels in a process of their own; what went wrong."""
    former = kernels_table(lane)
    versions = installed_versions()
    unchanged = former.get("digest") == kernels_digest() and former.get("versions") == versions
    if unchanged and not options.force:
        return []
    with tempfile.TemporaryDirectory(prefix="torchbook-kernels-") as work:
        results = Path(work, "kernels.json")
        selection = [_REHEARSED_KERNELS] if options.lane == REHEARSAL else []
        command = [sys.executable, "-m", "torchbook.kernels.bench", *selection, "--json", str(results)]
        limit = _KERNELS_SECONDS * options.patience
        try:
            completed = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return [f"torchbook.kernels.bench: ran longer than {limit / 60:g} minutes; the former table is kept"]
        if completed.returncode:
            message = (completed.stderr.strip() or completed.stdout.strip() or "no word").splitlines()[-1]
            return [f"torchbook.kernels.bench: {message}; the former table is kept"]
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
    write(lane / KERNELS, json.dumps(table, indent=1) + "\n")
    return []
