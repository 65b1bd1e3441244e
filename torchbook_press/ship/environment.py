"""Environments to try the book in: made by uv in a folder, thrown away afterwards."""

from __future__ import annotations

import hashlib
import importlib.metadata
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

SOURCE = Path(__file__).resolve().parents[2]  # the clone that this package is of
CACHE = Path(".cache/environments")  # in the book's folder; git ignores it
_LONGEST_ERROR = 1500


class ShipError(Exception):
    """What is wanted cannot be made; the message says why and what to do."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def packages(self) -> Path:
        """Its site-packages."""
        return next(iter(sorted((self.folder / "lib").glob("python*/site-packages"))))

    def distributions(self) -> Iterator[importlib.metadata.Distribution]:
        return iter(importlib.metadata.distributions(path=[str(self.packages)]))

    def versions(self) -> dict[str, str]:
        """What is installed, and Python itself."""
        versions = {
            canonicalize_name(distribution.metadata["Name"]): distribution.version
            for distribution in self.distributions()
        }
        return {"python": self.packages.parent.name.removeprefix("python"), **dict(sorted(versions.items()))}

    def install(self, *arguments: str) -> None:
        """`uv pip install` into it."""
        uv("pip", "install", "--quiet", "--python", str(self.python), *arguments)


def uv(*arguments: str, stdin: str = "") -> str:
    """Run uv; what it printed.

    Raises:
        ShipError: it failed; with its own words.
    """
    completed = subprocess.run([sys.executable, "-m", "uv", *arguments], input=stdin, capture_output=True, text=True)
    if completed.returncode:
        message = " ".join((completed.stderr or completed.stdout).split())[:_LONGEST_ERROR]
        raise ShipError(f"uv {' '.join(arguments[:2])}: {message}")
    return completed.stdout


def make(folder: Path, python: str, *, pip: bool = False) -> Environment:
    """A new environment, instead of what was in the folder.

    Args:
        folder: where.
        python: version, or path of an interpreter.
        pip: whether it has pip.
    """
    uv("venv", "--quiet", "--clear", *(["--seed"] if pip else []), "--python", python, str(folder))
    return Environment(folder)


@contextmanager
def thrown_away(folder: Path, *, keep: bool = False) -> Iterator[Path]:
    """Removes the folder at the end, unless it is to be kept."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def constraints(lock: Path, target: Path, free: Iterable[str] = ()) -> Path:
    """Write the lock, without the packages that are free, as constraints."""
    left_out = set(free)
    lines = lock.read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#") and _name(line) not in left_out]
    target.write_text("\n".join(pins) + "\n", encoding="utf-8")
    return target


def _name(requirement: str) -> str:
    return canonicalize_name(requirement.partition("==")[0])


def fingerprints(environment: Environment, names: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """Of each distribution that is there: its version, a hash of its RECORD, and one of its files' sizes and dates."""
    by_name: dict[str, tuple[str, str, str]] = {}
    for distribution in environment.distributions():
        name = canonicalize_name(distribution.metadata["Name"])
        if name in names:
            record = hashlib.sha256((distribution.read_text("RECORD") or "").encode()).hexdigest()
            by_name[name] = (distribution.version, record, _stamps(environment.packages, distribution))
    return by_name


def _stamps(packages: Path, distribution: importlib.metadata.Distribution) -> str:
    total = hashlib.sha256()
    for file in distribution.files or []:
        path = packages / file
        state = path.stat() if path.is_file() else None
        total.update(f"{file}\0{(state.st_size, state.st_mtime_ns) if state else None}\0".encode())
    return total.hexdigest()


def touched(before: dict[str, tuple[str, str, str]], after: dict[str, tuple[str, str, str]]) -> list[str]:
    """What is no longer as it was, in words; what was not there before may be added."""
    changes = []
    for name, was in before.items():
        now = after.get(name)
        if now is None:
            changes.append(f"{name} {was[0]} is gone")
        elif now[0] != was[0]:
            changes.append(f"{name} was {was[0]}, is {now[0]}")
        elif now != was:
            changes.append(f"files of {name} {was[0]} were changed")
    return changes
