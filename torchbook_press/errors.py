"""Which cells raise, and what: `:tags: [raises-exception]` says that a cell does, `:raises:` names the error.

`:raises: RuntimeError` asks for exactly that; `:raises: "RuntimeError: size of tensor"` also for these words in its
message, for where the prose quotes them.
"""

from __future__ import annotations

import re

from nbformat import NotebookNode

GPU_ONLY = "gpu-only"  # tag of a cell that the CPU lane leaves out
TAG, RAISES = "raises-exception", "raises"


def unnamed(cell: NotebookNode) -> str:
    """Why a cell's source does not say what it raises; "" where it does, or raises nothing."""
    tagged, named = TAG in cell.metadata.get("tags", []), cell.metadata.get(RAISES)
    if tagged and not (isinstance(named, str) and named.strip()):
        return f"tagged {TAG} without saying what it raises: add `:{RAISES}: RuntimeError`, or what it is"
    if named and not tagged:
        return f"`:{RAISES}:` needs the tag {TAG}, with which Jupyter goes on after the error"
    return ""


_IN_CELL = re.compile(r"Cell In\[\d+\], line (\d+)")  # the frames of an IPython traceback, the cell's own first
_IN_FILE = re.compile(r" \(\d+\.py, line \d+\)$")  # of a syntax error, a file that no reader sees
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def line_in(ran: NotebookNode) -> int:
    """The line of a cell, from 1, at which it raised; 0 where it did not, or where that is not known."""
    for output in ran.get("outputs", []):
        if output.output_type == "error":
            found = _IN_CELL.search(_ANSI.sub("", "\n".join(output.get("traceback", []))))
            return int(found[1]) if found else 0
    return 0


def complaint(cell: NotebookNode, ran: NotebookNode) -> str:
    """How a cell ended otherwise than its source says; "" where it did so.

    Args:
        cell: as the source has it, with its tags and `raises`.
        ran: the same cell, with outputs.
    """
    errors = [output for output in ran.get("outputs", []) if output.output_type == "error"]
    tags = cell.metadata.get("tags", [])
    if TAG not in tags:
        return _IN_FILE.sub("", " ".join(f"{errors[0].ename}: {errors[0].evalue}".split())) if errors else ""
    if not errors and RAISES not in cell.metadata:
        return ""  # of a published notebook, whose exercises may be solved by now
    if not errors:
        skipped = GPU_ONLY in tags and ran.get("execution_count") is None
        return "" if skipped else f"raised nothing, and is tagged {TAG}"
    name, _, words = str(cell.metadata.get(RAISES, errors[0].ename)).partition(":")
    if errors[0].ename != name.strip():
        return f"raised {errors[0].ename}, not {name.strip()}: {errors[0].evalue}"
    if words.strip() not in errors[0].evalue:
        return f"raised {name.strip()} without the words {words.strip()!r}: {errors[0].evalue}"
    return ""
