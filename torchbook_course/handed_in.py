"""Finds what was handed in: one notebook a student, in any of the layouts that come from nbgrader, an LMS or none."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from dateutil import parser as dates

TIMESTAMP = "timestamp.txt"
_NEVER = {"__MACOSX", "__pycache__"}
_MAY_ANSWER = {".py", ".zip", ".7z", ".rar", ".gz", ".tar"}  # files that are not graded, and may hold an answer
_UNSAFE = re.compile(r"[/\\\[\]*?{}\x00-\x1f\x7f]")


class HandedInError(Exception):
    """The submissions cannot be found; the message says what to do."""


@dataclass(frozen=True)
class HandedIn:
    """One student's submission. `path` is None where there is none, and `problem` says why.

    `at` is when it came, from nbgrader's or our `timestamp.txt`, else the file's own time. `beside` names
    other notebooks, programs and archives that were handed in with it and are not graded.
    """

    student: str
    path: Path | None
    at: datetime | None
    problem: str = ""
    note: str = ""
    beside: tuple[str, ...] = ()


def find(submissions: Path, name: str) -> list[HandedIn]:
    """What each student handed in of the assignment `name`, in the order of their names.

    A student is a folder (with `<name>.ipynb` in it or in a folder `<name>`, as nbgrader has it), or a notebook that
    bears the student's name.

    Raises:
        HandedInError: there is no such folder, or nothing in it.
    """
    if submissions.suffix == ".zip":
        raise HandedInError(
            f"{submissions}: unpack it with `torchbook course collect {submissions.name} --from …` first"
        )
    if not submissions.is_dir():
        raise HandedInError(f"{submissions}: no such folder of submissions")
    entries = sorted(_students(submissions, name), key=lambda entry: entry.student)
    if not entries:
        raise HandedInError(
            f"{submissions}: no submissions; expected <student>/{name}.ipynb, <student>/{name}/{name}.ipynb or "
            "<student>.ipynb; for downloads of an LMS see `torchbook course collect --help`"
        )
    return _told_apart(entries)


def _students(submissions: Path, name: str) -> Iterator[HandedIn]:
    for path in submissions.iterdir():
        if path.name.startswith(".") or path.name in _NEVER:
            continue
        if path.is_symlink():
            yield HandedIn(path.stem, None, None, f"{path.name} is a link, which is not followed")
        elif path.is_dir():
            yield _of_folder(path, name)
        elif path.suffix == ".ipynb":
            yield HandedIn(path.stem, path, _when(path))


def _of_folder(folder: Path, name: str) -> HandedIn:
    subfolder = folder / name
    holder = subfolder if subfolder.is_dir() and not subfolder.is_symlink() else folder
    exact = holder / f"{name}.ipynb"
    others = sorted(path for path in holder.glob("*.ipynb") if path != exact and not path.name.startswith("."))
    answers = tuple(path.name for path in sorted(holder.iterdir()) if path.suffix.lower() in _MAY_ANSWER)
    if exact.is_symlink() or exact.exists():
        return HandedIn(folder.name, exact, _when(exact), beside=(*(path.name for path in others), *answers))
    if len(others) == 1:
        note = f"handed in as {others[0].name}"
        return HandedIn(folder.name, others[0], _when(others[0]), note=note, beside=answers)
    names = ", ".join(path.name for path in others) or "no notebook"
    return HandedIn(folder.name, None, None, f"{names} instead of {name}.ipynb; keep one notebook of that name")


def _when(path: Path) -> datetime | None:
    """When a submission came: the folder's timestamp.txt, else the file's own time."""
    timestamp = path.parent / TIMESTAMP
    try:
        if stat.S_ISREG(timestamp.lstat().st_mode):
            text = timestamp.read_text(encoding="utf-8")[:100].strip()
            at = dates.parse(text)
            return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (OSError, ValueError, OverflowError):
        pass
    try:
        return datetime.fromtimestamp(path.lstat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return None


def _told_apart(entries: list[HandedIn]) -> list[HandedIn]:
    """Students' names as every tool can use them; a name that becomes another's gets a number."""
    taken: set[str] = set()
    renamed = []
    for entry in entries:
        plain = plain_name(entry.student)
        student, number = plain, 2
        while student.casefold() in taken:
            student, number = f"{plain} ({number})", number + 1
        taken.add(student.casefold())
        renamed.append(replace(entry, student=student))
    return renamed


def plain_name(student: str) -> str:
    """Without what paths, patterns and terminals take for their own, and short enough for a file's name."""
    text = _UNSAFE.sub("-", student.encode("utf-8", "replace").decode("utf-8"))
    return text.encode("utf-8")[:200].decode("utf-8", "ignore").strip().lstrip(".") or "student"
