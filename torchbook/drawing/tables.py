"""Drawings of small tables of numbers: what an index picks, where an element goes, what is summed, what is repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from torchbook.drawing.canvas import WIDTH, Drawing, text_width

_CELL = (26.0, 24.0)
_BETWEEN = 18.0  # from one table to the next
_MONO = 8.4  # a character of code


def picked(table: Tensor, choices: Mapping[str, Any]) -> Drawing:
    """What an index picks from a table: the table once for each, with the cells that the result holds in colour.

    Args:
        table: of shape (rows, columns).
        choices: how an index is written, to the index itself; torch decides what it picks.

    Raises:
        ValueError: the table has not two dimensions.
    """
    _two_dimensional(table)
    places = torch.arange(table.numel()).view(table.shape)
    found = {name: set(places[index].flatten().tolist()) for name, index in choices.items()}
    shapes = {name: tuple(table[index].shape) for name, index in choices.items()}
    said = [
        f"{name} picks {_list([f'{table.flatten()[place]:g}' for place in sorted(found[name])])}, shape {shapes[name]}"
        for name in choices
    ]
    drawing = Drawing("What an index picks", "; ".join(said) + ".")
    widths = [
        max(table.shape[1] * _CELL[0], _MONO * len(name), text_width(f"shape {shapes[name]}")) for name in choices
    ]
    for name, (x, y) in zip(choices, _flow(widths, 24 + _CELL[1] * len(table) + 44), strict=True):
        drawing.text(x, y, name, mono=True)

        def look(r: int, c: int, mine: set[int] = found[name]) -> str:
            return "read" if int(places[r, c]) in mine else ""

        _grid(drawing, x, y + 14, table, look)
        drawing.text(x, y + 14 + _CELL[1] * len(table) + 12, f"shape {shapes[name]}")
    return drawing


def moved(tables: Mapping[str, Tensor], value: float) -> Drawing:
    """The same elements in several arrangements, with one of them in colour, so that it can be found again.

    Args:
        tables: how an arrangement is written, to the tensor; of one or two dimensions.
        value: the element in colour.

    Raises:
        ValueError: an arrangement has no or more than two dimensions.
    """
    for table in tables.values():
        if table.dim() not in (1, 2):
            raise ValueError(f"a table has one or two dimensions, not {table.dim()}")
    rows = {name: table.reshape(1, -1) if table.dim() == 1 else table for name, table in tables.items()}
    said = [
        f"{name}, shape {tuple(tables[name].shape)}, has {value:g} at "
        + _list([f"row {r} column {c}" for r, c in (grid == value).nonzero().tolist()])
        for name, grid in rows.items()
    ]
    drawing = Drawing("The same elements, arranged anew", "; ".join(said) + ".")
    widths = [
        max(grid.shape[1] * _CELL[0], _MONO * len(name), text_width(f"shape {tuple(tables[name].shape)}"))
        for name, grid in rows.items()
    ]
    tall = max(len(grid) for grid in rows.values())
    for (name, grid), (x, y) in zip(rows.items(), _flow(widths, 24 + _CELL[1] * tall + 44), strict=True):
        drawing.text(x, y, name, mono=True)

        def look(r: int, c: int, grid: Tensor = grid) -> str:
            return "read" if float(grid[r, c]) == value else ""

        _grid(drawing, x, y + 14, grid, look)
        drawing.text(x, y + 14 + _CELL[1] * len(grid) + 12, f"shape {tuple(tables[name].shape)}")
    return drawing


def summed(table: Tensor) -> Drawing:
    """A table with the sums over either dimension: below it over the rows, beside it over the columns.

    Args:
        table: of shape (rows, columns).

    Raises:
        ValueError: the table has not two dimensions.
    """
    _two_dimensional(table)
    below, beside = table.sum(0), table.sum(1)
    drawing = Drawing(
        "Which dimension a sum removes",
        f"The sum over dim 0 adds down each column and gives {_list([f'{v:g}' for v in below.tolist()])}; "
        f"the sum over dim 1 adds along each row and gives {_list([f'{v:g}' for v in beside.tolist()])}.",
    )
    cells = _grid(drawing, 0, 0, table)
    bottom, right = _CELL[1] * len(table), _CELL[0] * table.shape[1]
    down = _grid(drawing, 0, bottom + 30, below.unsqueeze(0), lambda r, c: "write")[0]
    along = _grid(drawing, right + 34, 0, beside.unsqueeze(1), lambda r, c: "kept")
    for top, end in zip(cells[-1], down, strict=True):
        drawing.arrow(top, end, "write")
    for row, end in zip(cells, along, strict=True):
        drawing.arrow(row[-1], end[0], "kept")
    drawing.text(right + 34 + _CELL[0] + 10, bottom / 2 - 9, f"sum(dim=1)\nshape {tuple(beside.shape)}")
    drawing.text(right + 14, bottom + 34, f"sum(dim=0)\nshape {tuple(below.shape)}")
    return drawing


def named(
    title: str,
    table: Tensor,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    spec: str = ".2f",
    roles: Mapping[str, Tensor] | None = None,
    legend: Mapping[str, str] | None = None,
) -> Drawing:
    """A table of numbers whose rows and columns have names, with some of its cells in colour.

    Args:
        title: what the numbers are.
        table: of shape (rows, columns).
        rows, columns: their names.
        spec: how a number is written.
        roles: a colour to the cells that have it, a boolean tensor of the table's shape; the first one counts.
        legend: what the colours mean.

    Raises:
        ValueError: the table has not two dimensions, or the names are not as many as its rows and columns.
    """
    _two_dimensional(table)
    if table.shape != (len(rows), len(columns)):
        raise ValueError(f"a table of shape {tuple(table.shape)} has not {len(rows)} rows and {len(columns)} columns")
    written = [[format(value, spec) for value in row] for row in table.tolist()]
    said = [
        f"{name}: {', '.join(f'{column} {value}' for column, value in zip(columns, row, strict=True))}"
        for name, row in zip(rows, written, strict=True)
    ]
    drawing = Drawing(title, "; ".join(said) + ".")
    width = max(text_width(word) for word in [*columns, *(value for row in written for value in row)]) + 12
    left = max(text_width(name) for name in rows) + 10
    for c, column in enumerate(columns):
        drawing.text(left + width * (c + 0.5) - 1, 0, column, "middle")
    for r, name in enumerate(rows):
        drawing.text(left - 8, 14 + _CELL[1] * (r + 0.5), name, "end")

    def look(r: int, c: int) -> str:
        return next((role for role, where in (roles or {}).items() if where[r, c]), "")

    drawing.grid(left, 14, written, look, cell=(width, _CELL[1]))
    drawing.legend(0, 14 + _CELL[1] * len(rows) + 14, legend or {})
    return drawing


def stretched(a: Tensor, b: Tensor, sign: str, operation: Callable[[Tensor, Tensor], Tensor]) -> Drawing:
    """Two tables that are broadcast, and the result: what is repeated, and only there in thought, is dashed.

    Args:
        a, b: of at most two dimensions.
        sign: how the operation is written.
        operation: what makes the result.

    Raises:
        ValueError: the result has not two dimensions, or is too wide for a phone.
    """
    result = operation(a, b)
    _two_dimensional(result)
    drawing = Drawing(
        "What broadcasting repeats",
        f"{_repeated('The left one', a, result)}, {_repeated('the right one', b, result)}; "
        f"the result has shape {tuple(result.shape)}.",
    )
    x = 0.0
    for mark, one in (("", a), (sign, b), ("=", result)):
        if mark:
            drawing.text(x - _BETWEEN / 2 - 1, _CELL[1] * len(result) / 2, mark, "middle")
        full = one.expand(result.shape)
        steps = [
            size == 1 and into > 1 for size, into in zip((1,) * (2 - one.dim()) + one.shape, result.shape, strict=True)
        ]

        def look(r: int, c: int, steps: list[bool] = steps, last: bool = mark == "=") -> str:
            if last:
                return ""
            return "absent" if (steps[0] and r) or (steps[1] and c) else "read"

        _grid(drawing, x, 0, full, look)
        drawing.text(x, _CELL[1] * len(result) + 12, str(tuple(one.shape)))
        x += _CELL[0] * result.shape[1] + _BETWEEN
    drawing.legend(0, _CELL[1] * len(result) + 38, {"read": "in memory", "absent": "repeated, not copied"})
    return drawing


def _repeated(name: str, one: Tensor, result: Tensor) -> str:
    if one.shape == result.shape:
        return f"{name} fills the shape as it is"
    return f"{name}, of shape {tuple(one.shape)}, is repeated to {tuple(result.shape)}"


def _two_dimensional(table: Tensor) -> None:
    if table.dim() != 2:
        raise ValueError(f"a table has two dimensions, not {table.dim()}")


def _grid(
    drawing: Drawing, x: float, y: float, table: Tensor, role: Callable[[int, int], str] = lambda r, c: ""
) -> list[list[Any]]:
    return drawing.grid(x, y, [[f"{value:g}" for value in row] for row in table.tolist()], role, cell=_CELL)


def _flow(widths: list[float], height: float) -> Iterator[tuple[float, float]]:
    """Left upper corners of blocks of these widths, in rows as wide as a phone."""
    x = y = 0.0
    for width in widths:
        if x and x + width > WIDTH - 8:
            x, y = 0.0, y + height
        yield x, y
        x += width + _BETWEEN


def _list(items: list[str]) -> str:
    return ", ".join(items) or "nothing"
