"""The seal of a notebook that ran: a digest of all that is in it, looked at by whatever reads it.

A run's key says of what the outputs are; the seal says that they are the ones that came of it. A notebook that was
edited by hand, merged, cut off or written by another chapter is not what ran, and is not shown: it runs again. Whoever
means to deceive can seal what he forged; against that only a run from nothing helps, which CI makes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from torchbook_press import files

SEAL = "torchbook_seal"  # its key in a notebook's metadata


class SealError(ValueError):
    """A notebook is not what papermill wrote; the message says so."""


def of(nb: Mapping[str, Any]) -> str:
    """sha256 of a notebook as JSON, its seal aside: cells, outputs, widgets, glued numbers, provenance."""
    metadata = {name: value for name, value in nb["metadata"].items() if name != SEAL}
    text = json.dumps({**nb, "metadata": metadata}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def sealed(nb: NotebookNode) -> str:
    """The notebook's text, with its seal."""
    plain = json.loads(nbformat.writes(nb))
    plain["metadata"][SEAL] = of(plain)
    return nbformat.writes(nbformat.from_dict(plain))


def write(path: Path, nb: NotebookNode) -> None:
    """Seal a notebook and write it: whole or not at all."""
    files.write(path, sealed(nb))


def metadata(path: Path) -> dict[str, Any]:
    """The metadata of a sealed notebook; nothing of one that is not there, cannot be read, or was changed.

    nbformat's look at all of its cells is left aside: it takes longer than all else.
    """
    try:
        nb = json.loads(path.read_text(encoding="utf-8"))
        return dict(nb["metadata"]) if nb["metadata"].get(SEAL) == of(nb) else {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def read(path: Path) -> NotebookNode:
    """A sealed notebook.

    Raises:
        FileNotFoundError: it is not there.
        SealError: it was changed since papermill wrote it.
        ValueError: it is no notebook.
    """
    text = path.read_text(encoding="utf-8")
    nb = nbformat.reads(text, as_version=4)
    plain = json.loads(text)
    if plain["metadata"].get(SEAL) != of(plain):
        raise SealError("changed since papermill wrote it")
    return nb
