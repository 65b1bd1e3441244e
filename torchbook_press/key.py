"""The run key: everything that a chapter's outputs depend on, part by part.

Some parts are known before a run: its code, the parameters, the data. The others are what the run really read, which
the run itself has noted (`reads`): files of the package, exercises, distributions. A run holds while each of its parts
is what it was: had any of the code that ran, or anything that it read, been other, a part would differ.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from torchbook import data
from torchbook.practice.exercise import ExerciseError
from torchbook_press import reads
from torchbook_press.chapters import Chapter, ChapterError
from torchbook_proofs import digest

_PRESS = Path(__file__).resolve().parent
# What of the press touches an output: it starts the kernel, and changes the notebook that comes of it. The rest of what
# `execute` imports says what is to run (`chapters`, whose cells are a part) or what was read (`reads`).
RUNNER = (
    *("box.py", "bundles.py", "errors.py", "execute.py", "hook/shell.py", "hook/sitecustomize.py"),
    *("normal.py", "world.py"),
)
# What runs the kernel from this side. What is on the kernel's own side, the run has noted.
_RUNS = ("jupyter-client", "nbclient", "nbformat", "papermill")


def declared(chapter: Chapter, parameters: Mapping[str, Any], lane: str) -> dict[str, str]:
    """The parts of a run's key that are known before it.

    Prose, tags and limits are left out on purpose: changing them changes no output. Which cells the CPU leaves out is
    in it. Of the machine only its architecture is: a page says on which processor its outputs came to be.
    """
    left_out = chapter.gpu_only if lane == "cpu" else []
    return {
        "cells": _sha(chapter.code),
        "left out": _sha(left_out),
        "parameters": json.dumps(parameters, sort_keys=True),
        "lane": lane,
        "threads": str(chapter.contract.threads),
        "machine": f"{sys.platform} {platform.machine()}",
        "python": sys.version,
        "warnings": os.environ.get("PYTHONWARNINGS", ""),
        "press": digest(*(_PRESS / name for name in RUNNER), root=_PRESS),
        "running": _running(),
        **{f"data {name}": data.prepare(name).fingerprint for name in chapter.contract.data},
    }


@cache
def _running() -> str:
    return _sha([f"{name} {reads.version(name)}" for name in sorted(reads.closure(_RUNS))])


def _sha(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def observed(
    names: Iterable[str], since: float | None = None, state_of: Callable[[str], str] = reads.now
) -> dict[str, str]:
    """What the parts that a run has noted are now.

    Args:
        names: of the parts.
        state_of: says what a part is now; one that remembers serves who asks for many runs at once.
        since: when the run began, for parts that it has just read; what was written after that may be other than what
            it read, and holds no longer.

    Raises:
        ChapterError: the exercises cannot be read.
    """
    try:
        return {name: _during(name, since) or state_of(name) for name in names}
    except ExerciseError as error:
        raise ChapterError(str(error)) from None


def _during(name: str, since: float | None) -> str:
    return "changed during the run" if since is not None and reads.modified(name) >= since else ""


def run_key(parts: Mapping[str, str]) -> str:
    """sha256 of all parts."""
    return hashlib.sha256(json.dumps(dict(parts), sort_keys=True).encode()).hexdigest()


def changed(
    run: Mapping[str, Any], declared_parts: Mapping[str, str], state_of: Callable[[str], str] = reads.now
) -> tuple[str, ...]:
    """The parts in which a run is not what it would be now; ("run",) where there was none.

    Args:
        run: metadata of a run.
        declared_parts: those of the chapter, as it is now.
        state_of: as for `observed`.
    """
    if not {"declared", "observed"} <= run.keys():
        return ("run",)
    before = {**run["declared"], **run["observed"]}
    now = {**declared_parts, **observed(run["observed"], state_of=state_of)}
    return tuple(name for name in sorted(before.keys() | now.keys()) if before.get(name) != now.get(name))
