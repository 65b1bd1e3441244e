"""Drawings of when things happen: what each line of a training step changes, running at once and building first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from torchbook.drawing.canvas import WIDTH, Drawing, Part, text_width

_ROW = 28.0


def changes(states: Mapping[str, Sequence[object]], columns: Sequence[str]) -> Drawing:
    """What each line of a program changes: a row for a line, a column for a value, marked where it is new.

    Args:
        states: a line to the values after it, in order; the first is the state before all lines.
        columns: what the values are called.

    Raises:
        ValueError: there are fewer than two states, or one has not as many values as there are columns.
    """
    if len(states) < 2 or any(len(values) != len(columns) for values in states.values()):
        raise ValueError("changes needs two states or more, each with a value for every column")
    names, rows = list(states), [[str(value) for value in values] for values in states.values()]
    new = [[False] * len(columns)] + [
        [one != two for one, two in zip(before, after, strict=True)] for before, after in pairwise(rows)
    ]
    said = []
    for name, row, marks in zip(names[1:], rows[1:], new[1:], strict=True):
        found = [f"{column} becomes {value}" for column, value, mark in zip(columns, row, marks, strict=True) if mark]
        said.append(f"{name}: {' and '.join(found) or 'nothing changes'}")
    drawing = Drawing("What each line changes", "; ".join(said) + ".")
    left = max(map(text_width, names)) + 8
    each = (WIDTH - 8 - left) / len(columns)
    for number, column in enumerate(columns):
        drawing.text(left + each * (number + 0.5), 0, column, "middle", bold=True)
    for number, name in enumerate(names):
        drawing.text(0, 14 + _ROW * (number + 0.5), name, mono=number > 0)
    drawing.grid(left, 14, rows, lambda r, c: "write" if new[r][c] else "", cell=(each, _ROW))
    drawing.legend(0, 14 + _ROW * len(rows) + 12, {"write": "changed by this line"})
    return drawing


def run_or_build(lines: int, calls: int) -> Drawing:
    """When Python and the kernels work: line by line as they are run, and with the graph built before it is run.

    Args:
        lines: of the program.
        calls: how often it is called.

    Raises:
        ValueError: there are none, or more than a phone shows.
    """
    if lines < 1 or calls < 1 or lines * calls > 6:
        raise ValueError(f"{lines} lines called {calls} times: 6 in all at most can be read on a phone")
    drawing = Drawing(
        "Run at once, and built before it is run",
        f"A program of {lines} lines, called {calls} times. Run at once, each line of Python is followed by its "
        "kernel, in every call. Built first, Python passes through the lines once and makes a graph; each call then "
        "runs the kernels one after another, without Python.",
    )
    both = lines * calls
    at_once = {
        "Python": [Part(1, "line", "read", start=2.0 * i) for i in range(both)],
        "kernels": [Part(1, "run", "kept", start=2.0 * i + 1) for i in range(both)],
    }
    built = {
        "Python": [Part(1, "line", "read", start=float(i)) for i in range(lines)],
        "kernels": [Part(1, "run", "kept", start=float(lines + i)) for i in range(both)],
    }
    for y, name, rows in ((0.0, "run at once", at_once), (104.0, "built, then run", built)):
        drawing.text(0, y, name, bold=True)
        lanes = drawing.lanes(0, y + 14, rows, w=WIDTH - 10, longest=2.0 * both)
        busy = lanes["kernels"]
        for call in range(calls):
            mine = busy[call * lines : (call + 1) * lines]
            start = lanes["Python"][call * lines].x if y == 0 else mine[0].x
            drawing.brace((start, y + 76), (mine[-1].x + mine[-1].w, y + 76))
    drawing.text(WIDTH - 10, 0, "a brace is one call", "end")
    return drawing
