"""What sentences of a page rest on: the records that `torchbook.holds` left in a run, and errors that cells name.

A cell that raises can be evidence too: `:evidence: view-refuses` beside its tag `raises-exception` gives what it raised
that name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode

from torchbook._holds import KEY
from torchbook_press import errors

NAME = "evidence"  # the option of a code cell
_TIMES = {2: "in the second measurement", 3: "in the third measurement"}
_LONGEST = 120  # characters of an error's message


@dataclass(frozen=True)
class Evidence:
    """What a name stands for: in which code cell it was found, what was, and whether it is so.

    Attributes:
        name: as sentences use it.
        cell: number of the code cell, from 0.
        said: what was measured against what, in a line: "1.83× > 1.2×".
        held: False for a time that was not so in this run.
        numbers: the measured number and its bound, where they are numbers.
        notes: what must be said beside it, e.g. "stand-in data".
    """

    name: str
    cell: int
    said: str
    held: bool = True
    numbers: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()


def of_cell(cell: NotebookNode, outputs: Sequence[NotebookNode], number: int) -> Iterator[Evidence]:
    """What one code cell gives evidence of.

    Args:
        cell: as the source has it, with its tags and options.
        outputs: of its run.
        number: its number among the code cells.
    """
    for output in outputs:
        record = record_of(output)
        if record:
            yield _measured(record, number)
    name = cell.metadata.get(NAME)
    if name:
        raised = [f"{output.ename}: {output.evalue}" for output in outputs if output.output_type == "error"]
        yield Evidence(str(name), number, _shortened(raised[0]) if raised else "", bool(raised))


def record_of(output: NotebookNode) -> dict[str, Any]:
    """What `holds` recorded as this output; nothing of any other output."""
    return dict(output.get("metadata", {}).get(KEY, {}))


def _measured(record: dict[str, Any], number: int) -> Evidence:
    notes = [_TIMES[record["tries"]]] if record["tries"] in _TIMES and record["held"] else []
    return Evidence(
        record["name"],
        number,
        f"{record['value']} {_SIGNS.get(record['relation'], record['relation'])} {record['bound']}",
        record["held"],
        tuple(record.get("numbers", ())),
        (*notes, *record["notices"]),
    )


_SIGNS = {"==": "=", "!=": "≠", "<=": "≤", ">=": "≥", "~": "≈"}


def _shortened(message: str) -> str:
    text = " ".join(message.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def misplaced(cell: NotebookNode) -> str:
    """Why a cell's source cannot be evidence as it says; "" where it can, or says nothing."""
    if NAME in cell.metadata and errors.TAG not in cell.metadata.get("tags", []):
        return f"`:{NAME}:` names what a cell raises, and needs the tag {errors.TAG}; for a value call holds(...)"
    return ""


def unheld(notebook: str) -> list[str]:
    """What did not hold in a run, given as the text of its notebook: times on a busy machine."""
    if f'"{KEY}"' not in notebook:
        return []
    outputs = (output for cell in json.loads(notebook)["cells"] for output in cell.get("outputs", []))
    records = (output.get("metadata", {}).get(KEY, {}) for output in outputs)
    return [
        f"{record['name']}: {record['value']} {record['relation']} {record['bound']}"
        for record in records
        if record and not record["held"]
    ]
