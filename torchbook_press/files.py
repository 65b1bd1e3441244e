"""Writing files that others may read at the same time."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

_ROOM = 1_000_000  # bytes that must be free where something is to be written


def write(path: Path, text: str) -> None:
    """Write a file, and the folders that it is in: whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def unwritable(folder: Path) -> str:
    """Why nothing can be written in a folder, which is made where it is not, and what to do; "" where it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"0" * _ROOM)
    except OSError as error:
        return refused(folder, error)
    return ""


def refused(folder: Path, error: OSError) -> str:
    """What an error says of a folder in which something was to be written, and what to do."""
    remedy = "free some space there" if error.errno == errno.ENOSPC else "make the folder writable"
    return f"{folder}: nothing can be written there ({error.strerror}): {remedy}"
