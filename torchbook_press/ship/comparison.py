"""Tables of what ran where, in Markdown; `python tables.py FILE.json …` needs nothing but Python.

It prints the table of the given files, and ends with 1 when anything in them failed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FAILED, PASSED, SKIPPED, LACKING = "failed", "passed", "skipped", "lacking"
_LONGEST, _LONGEST_NOTE = 160, 1000

# A column is {"label": ..., "chapters": [row, ...]}, and, as far as there are any, environment, date, commit and error,
# which concern all of it. A row says chapter and status; of a run also seconds, first_seconds (what all cells took
# once), peak_gb, file, line, cell, error, note.
Column = dict[str, Any]


def table(columns: Sequence[Column]) -> str:
    """Chapters by columns, and below it what concerns a column as a whole."""
    names = list(dict.fromkeys(row["chapter"] for column in columns for row in column["chapters"]))
    heads = ["chapter", *(column["label"] for column in columns)]
    lines = [_line(heads), _line(["---"] * len(heads))]
    by_name = [{row["chapter"]: row for row in column["chapters"]} for column in columns]
    lines += [_line([name, *(_cell(rows.get(name)) for rows in by_name)]) for name in names]
    notes = [f"**{column['label']}**: {note}" for column in columns if (note := _note(column))]
    return "\n\n".join(["\n".join(lines), *notes]) + "\n"


def failed(columns: Sequence[Column]) -> bool:
    """Whether anything in them failed."""
    return any(column.get("error") or any(row["status"] == FAILED for row in column["chapters"]) for column in columns)


def place(row: dict[str, Any]) -> str:
    """Where a row failed and why, as errors are written."""
    location = row.get("file", row["chapter"])
    if row.get("line"):
        location += f":{row['line']}"
    return ": ".join([location, *([f"cell {row['cell']}"] if row.get("cell") else []), row.get("error", "")])


def _note(column: Column) -> str:
    text = "; ".join(column[key] for key in ("environment", "date", "commit", "error") if column.get(key))
    return _plain(text, _LONGEST_NOTE)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    if row["status"] == PASSED and "seconds" not in row:
        return PASSED
    if row["status"] == PASSED:
        took = f"{row['seconds']:.0f} s, {row['peak_gb']:.2f} GB"
        if row.get("first_seconds") is not None:
            took = f"first {row['first_seconds']:.0f} s, in all {took}"
        return _plain(f"{took}; {row['note']}" if row.get("note") else took)
    if row["status"] == FAILED:
        return f"**fails**: {_plain(place(row))}"
    return _plain(f"{row['status'].replace(LACKING, 'not run')}: {row.get('note', '')}")


def _plain(text: str, longest: int = _LONGEST) -> str:
    """On one line, short, and nothing in it that ends a cell or begins a tag."""
    text = " ".join(text.split())
    text = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return text.replace("|", "\\|").replace("<", "&lt;")


def load(paths: Sequence[Path]) -> list[Column]:
    """The columns kept in files, in the order of their labels."""
    return sorted((json.loads(path.read_text(encoding="utf-8")) for path in paths), key=lambda column: column["label"])


if __name__ == "__main__":
    read = load([Path(name) for name in sys.argv[1:]])
    sys.stdout.write(table(read))
    raise SystemExit(1 if failed(read) else 0)
