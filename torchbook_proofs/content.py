"""Digests of what proofs depend on: files and folders, installed packages, the processor."""

from __future__ import annotations

import hashlib
import platform
import site
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_MADE = {"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}


def digest(*paths: Path, root: Path | None = None) -> str:
    """sha256 of files, and of all files in folders: their names and bytes, whatever their dates.

    Args:
        paths: files or folders; one that does not exist counts as such, so that it matters when it appears.
        root: the folder that names are relative to; else each path's own parent.
    """
    hasher = hashlib.sha256()
    for path in paths:
        base = root or path.parent
        if not path.exists():
            hasher.update(f"{path.relative_to(base).as_posix()}\0missing".encode())
        for file in _files(path):
            name = file.relative_to(base).as_posix()
            hasher.update(f"{name}\0".encode() + _of_file(file, _stamp(file)))
    return hasher.hexdigest()


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir():
        for child in sorted(path.iterdir()):
            if child.name not in _MADE:
                yield from _files(child)


def _stamp(file: Path) -> tuple[int, int, int]:
    status = file.stat()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size


@cache
def _of_file(file: Path, stamp: tuple[int, int, int]) -> bytes:
    """sha256 of one file; within a process, read again only when its dates or its size changed."""
    return hashlib.sha256(file.read_bytes()).digest()


@cache
def installed() -> str:
    """sha256 of the names and versions of all installed packages, and of Python's own version.

    Both are in the names of the folders that installers lay out (`torch-2.9.0.dist-info`). `sys.path` is not asked:
    setuptools, once imported, adds a folder of packages of its own.
    """
    own = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    folders = dict.fromkeys([*site.getsitepackages(), *own])
    packages = {path.name for folder in folders for path in Path(folder).glob("*.*-info")}
    lines = [sys.version, sys.platform, *sorted(packages)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@cache
def processor() -> str:
    """What of the processor changes bits or speed: its architecture and, on Linux, its model and instructions."""
    lines = [platform.machine()]
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        names = ("model name", "flags", "Features", "CPU part")
        lines += sorted({line for line in cpuinfo.read_text().splitlines() if line.startswith(names)})
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
