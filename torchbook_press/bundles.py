"""Figures' scripts in notebooks: a run is kept without them, and what is printed takes them as they are now.

A visualizer's ES module passes through the kernel unread: Python sends the text of its bundle with the widget's state,
and nothing that it computes depends on it. So a kept run names the bundle instead, and a change of a figure's script or
style runs no chapter again. All else of the state, the words and the picture among it, is Python's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

import torchbook
from torchbook_press.normal import widget_models

_MODULE = "_esm"  # anywidget's name of the trait
_CLASS = "_anywidget_id"  # and of the one that holds the class's module and name
_PACKAGE = "torchbook.viz"
_NAMED = "torchbook:bundle:"
_NAME = re.compile(rf'"{_MODULE}": "{_NAMED}(\w+)"')
_FOLDER = Path(torchbook.__file__).resolve().parent / "viz" / "static"  # without the package's import, which is slow


def leave_out(nb: NotebookNode) -> NotebookNode:
    """The notebook, with the name of a bundle where its text was."""
    texts = _texts()
    for state in _states(nb):
        # By its class first: the bundle may have been made anew since the kernel read it.
        name = _figure(state) or texts.get(state.get(_MODULE, ""))
        if name:
            state[_MODULE] = _NAMED + name
    return nb


def put_back(nb: NotebookNode) -> NotebookNode:
    """The notebook, with the text of each bundle as it is now.

    Raises:
        FileNotFoundError: a bundle is not there; the message says how it is made.
    """
    for state in _states(nb):
        name = _name(state)
        if name:
            state[_MODULE] = _path(name).read_text(encoding="utf-8")
    return nb


def named(path: Path) -> list[Path]:
    """The bundles that an executed notebook names: its page is to be printed again when one of them changes."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return sorted({_path(name) for name in _NAME.findall(text)})


def _states(nb: NotebookNode) -> Iterator[dict[str, Any]]:
    return (model["state"] for model in widget_models(nb).values() if "state" in model)


def _figure(state: dict[str, Any]) -> str:
    """The figure's module, if the widget's class is one of `torchbook.viz` and has a bundle."""
    package, _, figure = str(state.get(_CLASS, "")).rpartition(".")[0].rpartition(".")
    return figure if package == _PACKAGE and (_FOLDER / f"{figure}.js").is_file() else ""


def _name(state: dict[str, Any]) -> str:
    text = state.get(_MODULE)
    return text.removeprefix(_NAMED) if isinstance(text, str) and text.startswith(_NAMED) else ""


def _path(name: str) -> Path:
    path = _FOLDER / f"{name}.js"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: `make viz` bundles it from torchbook/viz/src")
    return path


def _texts() -> dict[str, str]:
    """Names of the bundles by their text."""
    return {_read(path, path.stat().st_mtime_ns): path.stem for path in _FOLDER.glob("*.js")}


@cache
def _read(path: Path, stamp: int) -> str:
    return path.read_text(encoding="utf-8")
