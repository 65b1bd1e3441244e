"""Small tables of results, as HTML on the page and as text where there is no browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Table:
    """Rows of text under a head; the first column names the row. As the last line of a cell it shows itself."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.head)
        body = "".join(
            f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(one)}</td>" for one in rest)}</tr>'
            for first, *rest in self.rows
        )
        caption = f"<caption>{escape(self.caption)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __repr__(self) -> str:
        lines = [self.head, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.head))]
        text = ["  ".join(one.ljust(w) for one, w in zip(line, widths, strict=True)).rstrip() for line in lines]
        return "\n".join([self.caption, *text])


def table(rows: Sequence[Mapping[str, object]], caption: str) -> Table:
    """A table of dicts with the same keys, which become its head.

    Args:
        rows: one dict a row; the value of the first key names the row.
        caption: what the table shows, and in which units.

    Raises:
        ValueError: no rows, or rows with other keys than the first.
    """
    if not rows:
        raise ValueError("a table needs at least one row")
    head = tuple(rows[0])
    for number, row in enumerate(rows):
        if tuple(row) != head:
            raise ValueError(f"row {number} has the columns {tuple(row)}, the first row has {head}")
    return Table(head, tuple(tuple(str(value) for value in row.values()) for row in rows), caption)
