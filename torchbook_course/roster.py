"""The class as a learning platform knows it: a Canvas gradebook, a Moodle grading worksheet, or any CSV with students.

The columns of the file are kept, for what is exported must be taken back by the platform that it came from.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
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
    """The rows of a class's roster, and whose they are; without a file there are none.

    Attributes:
        kind: the platform that it came from.
        columns: of the file, in its order.
        rows: by column.
        places: by student the number of the row; of one who handed nothing in by the row's first id.
        names: by student, where the roster has them.
        absent: those of the roster who handed nothing in.
    """

    kind: Literal["canvas", "moodle", "plain", "none"] = "none"
    columns: tuple[str, ...] = ()
    rows: tuple[Mapping[str, str], ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()


def matched(roster: Roster, students: Iterable[str]) -> Roster:
    """A roster that knows which row is whose.

    A student's row is found by any of its ids, or by the id at the end of the student's name, as in the names that
    collecting gives.
    """
    owners: dict[str, int] = {}
    for number, row in enumerate(roster.rows):
        for name in _ids(row):
            owners.setdefault(name, number)
    places = {}
    for student in students:
        candidates = {student.casefold(), student.rpartition("_")[2].casefold()} & owners.keys()
        if candidates:
            places[student] = min(owners[name] for name in candidates)
    present = set(places.values())
    absent = tuple(_first_id(row) for number, row in enumerate(roster.rows) if number not in present)
    places = {_first_id(row): number for number, row in reversed(list(enumerate(roster.rows)))} | places
    names = {student: _name(roster.rows[number]) for student, number in places.items()}
    return replace(roster, places=places, names=names, absent=absent)


def _ids(row: Mapping[str, str]) -> set[str]:
    ids = {row[column].removeprefix(_PARTICIPANT).strip().casefold() for column in _ID_COLUMNS if row.get(column)}
    return ids - {""}


def _first_id(row: Mapping[str, str]) -> str:
    return next(row[c].removeprefix(_PARTICIPANT).strip() for c in ("SIS Login ID", *_ID_COLUMNS) if row.get(c))


def _name(row: Mapping[str, str]) -> str:
    return next((row[column] for column in _NAME_COLUMNS if row.get(column)), "")


def load(path: Path, students: Iterable[str]) -> Roster:
    """Read a roster.

    Args:
        path: of the CSV.
        students: those who handed something in.

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
    return matched(Roster(kind, columns, tuple(row for row in rows if _ids(row))), students)
