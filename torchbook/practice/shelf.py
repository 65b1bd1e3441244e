"""Where exercises are found: folders named by the user, the clone's `exercises/`, or the edition inside the wheel."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from torchbook.practice.errors import ExerciseError
from torchbook.practice.exercise import PAGES, Exercise, id_of, load

ROOTS = "TORCHBOOK_EXERCISES"
_PACKAGE = Path(__file__).resolve().parent
_CLONE = _PACKAGE.parents[1] / "exercises"
EDITION = _PACKAGE / "edition"


def roots(extra: tuple[Path, ...] = ()) -> tuple[Path, ...]:
    """Folders of exercises, in the order in which they are searched: `extra`, the environment's, the book's own."""
    configured = [Path(entry) for entry in os.environ.get(ROOTS, "").split(os.pathsep) if entry]
    book = EDITION if EDITION.is_dir() or not _CLONE.is_dir() else _CLONE  # only a wheel has an edition
    return (*extra, *configured, book)


def clone() -> Path:
    """The clone's own folder of exercises.

    Raises:
        ExerciseError: this is an installed package, beside which there is none.
    """
    if EDITION.is_dir() or not _CLONE.is_dir():
        raise ExerciseError("an installed package has no folder for new exercises; name one, or work in a clone")
    return _CLONE


def folders(extra: tuple[Path, ...] = ()) -> dict[str, Path]:
    """Every exercise's folder by its id, read from the folders' names; the first root that has an id wins.

    Raises:
        ExerciseError: a root is not a folder, or an exercise in it lies where none does.
    """
    by_id: dict[str, Path] = {}
    for root in roots(extra):
        if root != EDITION and not root.is_dir():
            raise ExerciseError(f"{root}: no such folder of exercises; correct the path or {ROOTS}")
        for page in root.glob("*/exercise.md"):
            target = page.parent.name.replace("-", "/", 1)
            raise ExerciseError(
                f"{page.parent}: an exercise lies in a folder <chapter>/x<n>-<slug>; move it to {target}"
            )
        for page in sorted(root.glob(PAGES)):
            by_id.setdefault(id_of(page.parent), page.parent)
    return by_id


def shelf(extra: tuple[Path, ...] = ()) -> dict[str, Exercise]:
    """Every exercise, by its id.

    Raises:
        ExerciseError: one of them is malformed.
    """
    return {name: _load(folder) for name, folder in folders(extra).items()}


def sound(extra: tuple[Path, ...] = ()) -> tuple[dict[str, Exercise], list[str]]:
    """Every exercise that can be read, by its id, and a line for each that is malformed."""
    read: dict[str, Exercise] = {}
    malformed = []
    for name, folder in folders(extra).items():
        try:
            read[name] = _load(folder)
        except ExerciseError as error:
            malformed.append(str(error))
    return read, malformed


def find(exercise_id: str, extra: tuple[Path, ...] = ()) -> Exercise:
    """One exercise.

    Raises:
        ExerciseError: there is none of that id (the message names those that are near), or it is malformed.
    """
    by_id = folders(extra)
    if exercise_id not in by_id:
        import difflib

        matches = difflib.get_close_matches(exercise_id, by_id, 3, 0.4)
        suggestion = (
            f"; did you mean {' or '.join(matches)}?" if matches else f"; there are: {', '.join(by_id) or 'none'}"
        )
        raise ExerciseError(f"no exercise {exercise_id!r}{suggestion}")
    return _load(by_id[exercise_id])


@cache
def _cached(folder: Path, files: tuple[tuple[str, int, int], ...]) -> Exercise:
    return load(folder)


def _load(folder: Path) -> Exercise:
    """The exercise, read again when one of its files came, went or changed."""
    return _cached(folder, tuple(_stamps(folder)))


def _stamps(folder: Path) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir():
                yield from _stamps(Path(entry.path))
            else:
                status = entry.stat()
                yield entry.path, status.st_mtime_ns, status.st_size
