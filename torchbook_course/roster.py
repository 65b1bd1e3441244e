"""The class as a learning platform knows it: a Canvas gradebook, a Moodle grading worksheet, or any CSV with students.

The columns of the file are kept, for what is exported must be taken back by the platform that it came from.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
_ID_COLUMNS = ("ID", "SIS Login ID", "SIS User ID", "Identifier", "Email address", "student", "id", "login", "email")
_NAME_COLUMNS = ("Student", "Full name", "name")
_PARTICIPANT = "Participant "


class RosterError(Exception):
    """A roster cannot be used; the message names file, line and remedy."""


@dataclass(frozen=True)
class Roster:
    """Rows of a roster; `kind` is the platform that it came from."""

    kind: Literal["canvas", "moodle", "plain"]
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]

    def row(self, student: str) -> Mapping[str, str] | None:
        """The row of a student, by any of its ids or by the id at the end, as in the names that collecting gives."""
        tail = student.rpartition("_")[2]
        for row in self.rows:
            ids = _ids(row)
            if student.casefold() in ids or tail.casefold() in ids:
                return row
        return None

    def name(self, student: str) -> str:
        """The student's name, as the roster has it, or nothing."""
        row = self.row(student) or {}
        return next((row[column] for column in _NAME_COLUMNS if row.get(column)), "")

    def absent(self, students: set[str]) -> list[str]:
        """Those of the roster of whom there is no submission, by their first id."""
        present = {id(row) for row in (self.row(student) for student in students) if row is not None}
        return [_first_id(row) for row in self.rows if id(row) not in present]


def _ids(row: Mapping[str, str]) -> set[str]:
    ids = {row[column].removeprefix(_PARTICIPANT).strip().casefold() for column in _ID_COLUMNS if row.get(column)}
    return ids - {""}


def _first_id(row: Mapping[str, str]) -> str:
    return next(row[c].removeprefix(_PARTICIPANT).strip() for c in ("SIS Login ID", *_ID_COLUMNS) if row.get(c))


def load(path: Path) -> Roster:
    """Read a roster.

    Raises:
        RosterError: it is missing, no CSV, or has no column that tells students apart.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise RosterError(f"{path}:1: no such roster; correct the path") from None
    except UnicodeDecodeError:
        raise RosterError(f"{path}:1: not UTF-8; save the CSV as UTF-8") from None
    separator = ";" if text.partition("\n")[0].count(";") > text.partition("\n")[0].count(",") else ","
    reader = csv.DictReader(io.StringIO(text), delimiter=separator)
    columns = tuple(column.strip() for column in reader.fieldnames or ())
    if not set(columns) & set(_ID_COLUMNS):
        raise RosterError(
            f"{path}:1: no column that tells students apart; take the CSV that Canvas or Moodle exports, "
            "or write one with a column `student`"
        )
    rows = [{(key or "").strip(): value or "" for key, value in row.items() if key is not None} for row in reader]
    kind: Literal["canvas", "moodle", "plain"] = (
        "canvas" if {"Student", "ID"} <= set(columns) else "moodle" if "Identifier" in columns else "plain"
    )
    return Roster(kind, columns, tuple(row for row in rows if _ids(row)))
