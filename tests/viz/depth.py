"""How many random examples a comparison of Python, page and torch takes: many when something changed, else a few.

The quick depth is always run. The deep one is due while there is no kept proof that the test passed at that depth with
these very sources, versions and processor. `TORCHBOOK_VIZ_EXAMPLES` asks for a number of one's own.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections.abc import Generator, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from torchbook_proofs import Key, Store, digest, installed, processor

from .asking import node

KIND = "parity"
OVERRIDE = "TORCHBOOK_VIZ_EXAMPLES"
ROOT = Path(__file__).resolve().parents[2]
PASSED = pytest.StashKey[bool]()
_FIGURES = Path("torchbook/viz")


class Depth:
    """The number of examples of one test, and the proof of its deep run."""

    def __init__(self, store: Store, key: Key, quick: int, deep: int) -> None:
        self._store, self._key, self._deep = store, key, deep
        asked = os.environ.get(OVERRIDE)
        if asked:
            self.examples = int(asked)
        else:
            self.examples = quick if store.get(key) is not None else deep

    def passed(self) -> None:
        """The test passed: a deep run is a proof."""
        if self.examples >= self._deep:
            self._store.put(self._key, {"examples": self.examples})


def key_of(test: Path, name: str, root: Path = ROOT) -> Key:
    """The key of a test function's deep run."""
    return Key(KIND, f"{test.stem}::{name}", parts(test, root))


def parts(test: Path, root: Path = ROOT) -> Mapping[str, str]:
    """What a comparison depends on: the test and all that it imports, the figures' JavaScript, versions, processor."""
    python = python_sources(test, root)
    figures = {path.stem for path in python if path.parent == root / _FIGURES}
    scripts = script_folders({root / _FIGURES / "src" / name for name in figures | {"core"}})
    test_side = sorted(path for path in python if path.is_relative_to(root / "tests"))
    harnesses = sorted((root / "tests/viz/models").glob("*.mjs"))
    return {
        "python": digest(*sorted(python - set(test_side)), root=root),
        "javascript": digest(*sorted(scripts), root=root),
        "test": digest(*test_side, *harnesses, root=root),
        "installed": installed(),
        "node": _node_version(),
        "processor": processor(),
    }


def python_sources(first: Path, root: Path = ROOT) -> set[Path]:
    """A file and all files of this repository that it imports, and that these import."""
    sources: set[Path] = set()
    waiting = [first]
    while waiting:
        path = waiting.pop()
        if path not in sources:
            sources.add(path)
            waiting += _imports(path, root)
    return sources


def script_folders(folders: set[Path]) -> set[Path]:
    """Folders of JavaScript, and those from which their modules import."""
    every: set[Path] = set()
    waiting = [folder for folder in sorted(folders) if folder.is_dir()]
    while waiting:
        folder = waiting.pop()
        if folder not in every:
            every.add(folder)
            texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.js"))]
            names = {name for text in texts for name in re.findall(r'\bfrom\s*"\.\./(\w+)/', text)}
            waiting += [folder.with_name(name) for name in sorted(names)]
    return every


def _imports(path: Path, root: Path) -> Iterator[Path]:
    package = path.parent
    for statement in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                yield from _module(root, alias.name.split("."))
        elif isinstance(statement, ast.ImportFrom):
            base = package
            for _ in range(statement.level - 1):
                base = base.parent
            names = (statement.module or "").split(".") if statement.module else []
            for alias in statement.names:
                yield from _named(base if statement.level else root, names, alias.name, root)


def _module(base: Path, names: list[str]) -> list[Path]:
    """The file of a module, if it is one of this repository."""
    path = base.joinpath(*names)
    return [file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()][:1]


def _named(base: Path, names: list[str], name: str, root: Path) -> list[Path]:
    """Where `from names import name` finds it. A package only passes on what lies in its modules."""
    module = _module(base, [*names, name])
    if module:
        return module
    module = _module(base, names)
    if not module or module[0].name != "__init__.py":
        return module
    for statement in ast.parse(module[0].read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ImportFrom) and name in {alias.asname or alias.name for alias in statement.names}:
            return _module(root, (statement.module or "").split(".")) or module
    return module


@cache
def _node_version() -> str:
    return subprocess.run([node(), "--version"], capture_output=True, text=True, check=True).stdout.strip()


# Fixtures and a hook, which conftest.py takes in


@pytest.fixture(scope="session")
def repository_root() -> Path:
    """Whose sources the keys are made of."""
    return ROOT


@pytest.fixture(scope="session")
def proofs() -> Store:
    """Where deep runs are kept."""
    return Store.default()


@pytest.fixture
def examples(request: pytest.FixtureRequest, proofs: Store, repository_root: Path) -> Iterator[int]:
    """How many random examples the test takes: `DEEP` of its module when they are due, else `QUICK`."""
    quick, deep = getattr(request.module, "QUICK", 400), getattr(request.module, "DEEP", 2000)
    depth = Depth(proofs, key_of(Path(request.module.__file__), request.node.name, repository_root), quick, deep)
    yield depth.examples
    if request.node.stash.get(PASSED, False):
        depth.passed()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Notes on a test whether it passed, before its fixtures end."""
    report = yield
    if report.when == "call":
        item.stash[PASSED] = report.passed
    return report
