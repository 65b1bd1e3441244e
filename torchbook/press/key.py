"""The run key: one hash of everything that a chapter's outputs depend on."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import re
from functools import cache
from pathlib import Path
from typing import Any

from torchbook import data
from torchbook.practice import shelf
from torchbook.practice.exercise import ExerciseError
from torchbook.press.chapters import Chapter, ChapterError

PACKAGE = Path(__file__).resolve().parents[1]
# These rooms of the package never touch an output: command line, grading, and what is done with outputs and book.
# Practice does, but only where a cell names it: such a chapter has its files and its exercises in the key.
_NOT_IN_KEY = (
    "cli.py",
    "course/",
    "practice/",
    "press/site/",
    "press/build.py",
    "press/pack.py",
    "press/pack.sh",
    "press/record.py",
    "press/recordings.py",
    "press/paper/",
    "press/ship/",
)
_PRACTICE = re.compile(r"\btorchbook\b.*\bpractice\b")
_EXERCISE = re.compile(r"""["']([a-z][a-z0-9]*-x\d+)["']""")
_VERSIONS = ("torch", "torchvision", "triton", "transformers", "numpy", "plotly")


@cache
def package_digest(package: Path = PACKAGE) -> str:
    """sha256 of the package's files that a chapter, or the running of it, can read."""
    return _digest(package, _NOT_IN_KEY)


def _digest(folder: Path, left_out: tuple[str, ...]) -> str:
    """sha256 of a folder's files, without those whose names begin in one of these ways."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or "__pycache__" in path.parts or name.startswith(left_out):
            continue
        total.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _practice(code: list[str], package: Path) -> dict[str, str]:
    """Digests of what cells use that import `torchbook.practice`: its files, and the exercises they name."""
    if not any(_PRACTICE.search(source) for source in code):
        return {}
    try:
        known = shelf.folders()
    except ExerciseError as error:
        raise ChapterError(str(error)) from None
    named = {name for source in code for name in _EXERCISE.findall(source) if name in known}
    # Neither `reference` nor `check` looks at wrong answers, or at a class's variants.
    exercises = {name: _digest(known[name], ("wrong/", "variants/")) for name in sorted(named)}
    # An edition is made of the exercises; those that count are named above.
    return {"package": _digest(package / "practice", ("edition/",)), **exercises}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "missing"


def environment() -> dict[str, str]:
    """Versions that the outputs depend on, as installed here."""
    return {"python": ".".join(platform.python_version_tuple()[:2]), **{name: _version(name) for name in _VERSIONS}}


def run_key(chapter: Chapter, parameters: dict[str, Any], lane: str, package: Path = PACKAGE) -> str:
    """sha256 of: code cells, parameters, lane, threads, package, lock, versions, machine, data, exercises in cells.

    Prose, tags and limits are left out on purpose: changing them changes no output. Which cells the CPU leaves out is
    in it.
    """
    lock = chapter.root / "requirements.txt"
    parts = {
        "code": chapter.code,
        "parameters": parameters,
        "lane": lane,
        "threads": chapter.contract.threads,
        "package": package_digest(package),
        "practice": _practice(chapter.code, package),
        "lock": hashlib.sha256(lock.read_bytes()).hexdigest() if lock.is_file() else "",
        "environment": environment(),
        "machine": platform.machine(),
        "data": {name: data.prepare(name).fingerprint for name in chapter.contract.data},
    }
    if lane == "cpu" and chapter.gpu_only:
        parts["left out"] = chapter.gpu_only
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
