"""What an exercise imports and this environment has not: said before a check, in one sentence with the remedy.

The package does not bring torch, so a check may be asked for where there is none. Sources are read, nothing is
imported: importing torch takes seconds, and a check does it anyway.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

from torchbook.practice.exercise import Exercise

_PACKAGE = __name__.partition(".")[0]
_BROUGHT_BY = {"functorch": "torch", "torchgen": "torch", "yaml": "pyyaml"}  # modules not called as what pip installs
_CALLED = {"torch": "PyTorch"}


class NotInstalledError(Exception):
    """A check needs a package that is not installed; the message says which, and how to install it."""


def require(exercise: Exercise) -> None:
    """See that all is installed that the checks and the reference of an exercise import.

    Raises:
        NotInstalledError: something is not.
    """
    sources = () if exercise.contract.kind == "quiz" else (exercise.public_checks, exercise.reference)
    missing = sorted({_BROUGHT_BY.get(name, name) for source in sources for name in _missing(source, set())})
    if missing:
        names = " and ".join(_CALLED.get(name, name) for name in missing)
        verb = "is" if len(missing) == 1 else "are"
        raise NotInstalledError(f"{names} {verb} not installed here: pip install {' '.join(missing)}")


def _missing(source: str, visited: set[str]) -> Iterator[str]:
    """Top-level modules that a source, or what it imports of this package, imports and that are not here."""
    for module in _imported(source):
        package = module.partition(".")[0]
        if package == _PACKAGE and module not in visited:
            visited.add(module)
            yield from _missing(_source_of(module), visited)
        elif package != _PACKAGE and not _is_here(package):
            yield package


def _imported(source: str) -> Iterator[str]:
    """Modules that a source imports as soon as it runs, by their whole names; none where it is not Python."""
    try:
        body = ast.parse(source).body
    except SyntaxError:  # which the check itself says
        return
    for node in body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            if node.module.partition(".")[0] == _PACKAGE:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_here(module: str) -> bool:
    try:
        return module in sys.modules or importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _source_of(module: str) -> str:
    """The source of a module of this package; "" where there is none of that name."""
    path = Path(__file__).parents[1].joinpath(*module.split(".")[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return file.read_text(encoding="utf-8") if file.is_file() else ""
