"""What of a notebook must be the same in the next run."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode


def stable_outputs(nb: NotebookNode) -> list[Any]:
    """Outputs of every code cell that must be the same in the next run, i.e. of those not tagged `varies`."""
    return [
        [] if "varies" in cell.metadata.get("tags", []) else cell.outputs
        for cell in nb.cells
        if cell.cell_type == "code"
    ]
