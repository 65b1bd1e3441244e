"""Tables that directives make; a wide one scrolls in its own box."""

from __future__ import annotations

from collections.abc import Sequence

from docutils import nodes


def table(columns: Sequence[str], rows: Sequence[Sequence[nodes.Node]]) -> nodes.Node:
    """A wide table: its columns' names, and a node for each entry."""
    group = nodes.tgroup(cols=len(columns))
    group += [nodes.colspec(colwidth=1) for _ in columns]
    group += nodes.thead("", _row([cell(name) for name in columns]))
    group += nodes.tbody("", *map(_row, rows))
    return nodes.container("", nodes.table("", group), classes=["wide-table"])


def cell(text: str) -> nodes.Node:
    """An entry of text alone."""
    return nodes.paragraph("", text)


def _row(entries: Sequence[nodes.Node]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", entry) for entry in entries))
