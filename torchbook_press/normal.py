"""Make an executed notebook the same bytes whenever the same code gave the same results."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

import torchbook

WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
BANNER_TAG = "papermill-error-cell-tag"
_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}(?=>)")
# As long as paths are: data that are written as text have a slash in every 64 characters and no end in sight.
_FOLDERS = r"[^\s\"'<>:\\]{0,400}"
_KERNEL_FILE = re.compile(rf"(?:/{_FOLDERS})?/ipykernel_\d+/\d+\.py")
_INSTALLED = re.compile(rf"(?:~|/){_FOLDERS}/(?=site-packages/|python3\.\d+/)")
_OURS = str(Path(torchbook.__file__).resolve().parents[1])  # where the package is
_MODEL = re.compile(r"IPY_MODEL_(\w+)")
_LIBRARY_FRAME = re.compile(r"^(?:\x1b\[[\d;]*m)*File (?:\x1b\[[\d;]*m)*(?:site-packages/|python3\.\d+/)")


def normalise(nb: NotebookNode) -> NotebookNode:
    """A copy without run-to-run noise: timings, random ids, addresses, this machine's paths, papermill's banners."""
    nb = nbformat.from_dict(json.loads(nbformat.writes(nb)))
    nb.cells = [cell for cell in nb.cells if BANNER_TAG not in cell.metadata.get("tags", [])]
    nb.metadata.pop("papermill", None)
    for index, cell in enumerate(nb.cells):
        cell.id = f"cell-{index}"
        for noise in ("papermill", "execution"):
            cell.metadata.pop(noise, None)
    text = _ADDRESS.sub("", nbformat.writes(nb))
    text = _INSTALLED.sub("", _KERNEL_FILE.sub("<cell>", text)).replace(f"{_OURS}/torchbook/", "torchbook/")
    for number, model in enumerate(_model_order(nb)):
        text = text.replace(model, f"model{number:03d}")
    nb = nbformat.reads(text, as_version=4)
    for output in (output for cell in nb.cells for output in cell.get("outputs", []) if output.output_type == "error"):
        output.traceback = _without_library_frames(output.traceback)
    return nb


def own_cells(nb: NotebookNode) -> list[NotebookNode]:
    """The code cells that a chapter has itself, without those that papermill put in."""
    cells = (cell for cell in nb.cells if cell.cell_type == "code")
    return [cell for cell in cells if "injected-parameters" not in cell.metadata.get("tags", [])]


def _without_library_frames(traceback: list[str]) -> list[str]:
    """The traceback with one line for each run of frames inside libraries: the message is what a reader looks for."""
    entries: list[str] = []
    inside = 0
    for entry in [*traceback, ""]:
        if _LIBRARY_FRAME.match(entry):
            inside += 1
            continue
        if inside:
            entries.append(f"({inside} {'frame' if inside == 1 else 'frames'} inside libraries)\n")
        inside = 0
        entries.append(entry)
    return entries[:-1]


def widget_models(nb: NotebookNode) -> dict[str, Any]:
    """The widgets of a run by their ids, each with its `state`."""
    return dict(nb.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {}))


def _model_order(nb: NotebookNode) -> list[str]:
    """Ids of the widget models: those reached from the views first, in page order, then the rest by content."""
    models = widget_models(nb)
    views = (output.get("data", {}).get(WIDGET_VIEW) for cell in nb.cells for output in cell.get("outputs", []))
    queue = [view["model_id"] for view in views if view]
    order: list[str] = []
    while queue:
        model = queue.pop(0)
        if model in models and model not in order:
            order.append(model)
            queue += _MODEL.findall(json.dumps(models[model]["state"], sort_keys=True))

    def content(model: str) -> str:
        state = json.dumps(models[model]["state"], sort_keys=True)
        return _MODEL.sub(lambda match: str(order.index(match[1])) if match[1] in order else "", state)

    return order + sorted((model for model in models if model not in order), key=content)
