"""The run key: one hash of everything that a chapter's outputs depend on."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
from functools import cache
from pathlib import Path
from typing import Any

from torchbook import data
from torchbook.press.chapters import Chapter

PACKAGE = Path(__file__).resolve().parents[1]
# These rooms of the package never touch an output: the command line, grading, and what Sphinx does with the outputs.
_NOT_IN_KEY = ("cli.py", "course/", "press/site/", "press/build.py")
_VERSIONS = ("torch", "torchvision", "triton", "transformers", "numpy", "plotly")


@cache
def package_digest(package: Path = PACKAGE) -> str:
    """sha256 of the package's files that a chapter, or the running of it, can read."""
    total = hashlib.sha256()
    for path in sorted(package.rglob("*")):
        name = path.relative_to(package).as_posix()
        if not path.is_file() or "__pycache__" in path.parts or name.startswith(_NOT_IN_KEY):
            continue
        total.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "missing"


def environment() -> dict[str, str]:
    """Versions that the outputs depend on, as installed here."""
    return {"python": ".".join(platform.python_version_tuple()[:2]), **{name: _version(name) for name in _VERSIONS}}


def run_key(chapter: Chapter, parameters: dict[str, Any], lane: str, package: Path = PACKAGE) -> str:
    """sha256 of: code cells, parameters, lane, threads, package, lock file, installed versions, machine and data.

    Prose, tags and limits are left out on purpose: changing them changes no output.
    """
    lock = chapter.root / "requirements.txt"
    parts = {
        "code": chapter.code,
        "parameters": parameters,
        "lane": lane,
        "threads": chapter.contract.threads,
        "package": package_digest(package),
        "lock": hashlib.sha256(lock.read_bytes()).hexdigest() if lock.is_file() else "",
        "environment": environment(),
        "machine": platform.machine(),
        "data": {name: data.prepare(name).fingerprint for name in chapter.contract.data},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
