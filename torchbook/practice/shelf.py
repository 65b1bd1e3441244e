"""Where exercises are found: folders named by the user, the clone's `exercises/`, or the edition inside the wheel."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from torchbook.practice.exercise import Exercise, ExerciseError, load

ROOTS = "TORCHBOOK_EXERCISES"
_PACKAGE = Path(__file__).resolve().parent
_CLONE = _PACKAGE.parents[1] / "exercises"
EDITION = _PACKAGE / "edition"


def roots(extra: tuple[Path, ...] = ()) -> tuple[Path, ...]:
    """Folders of exercises, in the order in which they are searched: `extra`, the environment's, the book's own."""
    named = [Path(part) for part in os.environ.get(ROOTS, "").split(os.pathsep) if part]
    book = EDITION if EDITION.is_dir() or not _CLONE.is_dir() else _CLONE  # only a wheel has an edition
    return (*extra, *named, book)


def folders(extra: tuple[Path, ...] = ()) -> dict[str, Path]:
    """Every exercise's folder by its id, read from the folders' names; the first root that has an id wins.

    Raises:
        ExerciseError: a root is not a folder.
    """
    found: dict[str, Path] = {}
    for root in roots(extra):
        if root != EDITION and not root.is_dir():
            raise ExerciseError(f"{root}: no such folder of exercises; correct the path or {ROOTS}")
        for page in sorted(root.glob("*/exercise.md")):
            found.setdefault("-".join(page.parent.name.split("-")[:2]), page.parent)
    return found


def shelf(extra: tuple[Path, ...] = ()) -> dict[str, Exercise]:
    """Every exercise, by its id.

    Raises:
        ExerciseError: one of them is malformed.
    """
    return {name: load(folder) for name, folder in folders(extra).items()}


def find(exercise_id: str, extra: tuple[Path, ...] = ()) -> Exercise:
    """One exercise.

    Raises:
        ExerciseError: there is none of that id (the message names those that are near), or it is malformed.
    """
    known = folders(extra)
    if exercise_id not in known:
        import difflib

        near = difflib.get_close_matches(exercise_id, known, 3, 0.4)
        meant = f"; did you mean {' or '.join(near)}?" if near else f"; there are: {', '.join(known) or 'none'}"
        raise ExerciseError(f"no exercise {exercise_id!r}{meant}")
    return _load(known[exercise_id])


@cache
def _cached(folder: Path, stamp: int) -> Exercise:
    return load(folder)


def _load(folder: Path) -> Exercise:
    stamp = max(path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file())
    return _cached(folder, stamp)
