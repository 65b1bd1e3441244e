"""The kept proof of a deep comparison: all that it depends on makes the deep run due again, and only a pass is kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.viz import depth
from torchbook_proofs import Store

QUICK, DEEP = 10, 1000

# A repository with two figures. The first takes numbers' words from a module that its package passes on, and an axis
# from the second.
FILES = {
    "torchbook/viz/__init__.py": "from torchbook.viz.near import Near\nfrom torchbook.viz.far import Far\n",
    "torchbook/viz/near.py": "from torchbook.viz.units import amount\n\nclass Near: ...\n",
    "torchbook/viz/units.py": "def amount(): ...\n",
    "torchbook/viz/far.py": "class Far: ...\n",
    "torchbook/viz/src/core/index.js": "export const h = 1;\n",
    "torchbook/viz/src/near/model.js": 'import { axis } from "../axes/axis.js";\n',
    "torchbook/viz/src/near/setup.json": "{}",
    "torchbook/viz/src/axes/axis.js": "export const axis = 1;\n",
    "torchbook/viz/src/far/model.js": "export const far = 1;\n",
    "tests/viz/asking.py": "def ask(): ...\n",
    "tests/viz/models/harness_near.mjs": "",
    "tests/viz/models/cases.py": "CASES = 1\n",
    "tests/viz/models/test_near.py": (
        "from torchbook.viz import Near\nfrom ..asking import ask\nfrom .cases import CASES\n"
    ),
}
PARTS = [path for path in FILES if "far" not in path and path != "torchbook/viz/__init__.py"]


CONFTEST = """
import pathlib, pytest

@pytest.fixture(scope="session")
def repository_root():
    return pathlib.Path(__file__).parent
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.delenv(depth.OVERRIDE, raising=False)
    return Store(tmp_path / "proofs")


def due(store: Store, root: Path, name: str = "test_all") -> depth.Depth:
    """The depth of a test of that repository, now."""
    key = depth.key_of(root / "tests/viz/models/test_near.py", name, root)
    return depth.Depth(store, key, QUICK, DEEP)


def test_a_deep_run_that_passed_is_kept(store: Store, repository: Path) -> None:
    first = due(store, repository)
    assert first.examples == DEEP
    first.passed()
    assert due(store, repository).examples == QUICK
    assert due(store, repository, "test_another").examples == DEEP


@pytest.mark.parametrize("path", PARTS)
def test_a_changed_file_makes_it_due(store: Store, repository: Path, path: str) -> None:
    due(store, repository).passed()
    (repository / path).write_text(FILES[path] + "\n")
    assert due(store, repository).examples == DEEP


@pytest.mark.parametrize("version", ["installed", "processor", "_node_version"])
def test_another_version_makes_it_due(
    store: Store, repository: Path, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    due(store, repository).passed()
    monkeypatch.setattr(depth, version, lambda: "another")
    assert due(store, repository).examples == DEEP


@pytest.mark.parametrize("path", ["torchbook/viz/far.py", "torchbook/viz/src/far/model.js"])
def test_another_figure_changes_nothing(store: Store, repository: Path, path: str) -> None:
    due(store, repository).passed()
    (repository / path).write_text(FILES[path] + "\n")
    assert due(store, repository).examples == QUICK


def test_a_quick_run_is_no_proof(store: Store, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(depth.OVERRIDE, str(DEEP - 1))
    asked = due(store, repository)
    assert asked.examples == DEEP - 1
    asked.passed()
    monkeypatch.delenv(depth.OVERRIDE)
    assert due(store, repository).examples == DEEP


def test_a_fresh_run_keeps_none_from_before(store: Store, repository: Path, tmp_path: Path) -> None:
    due(store, repository).passed()
    assert due(Store(tmp_path / "proofs", fresh_since=float("inf")), repository).examples == DEEP


@pytest.mark.parametrize(("ending", "kept"), [("True", 1), ("False", 0)])
def test_only_a_pass_is_stored(repo: Path, tmp_path: Path, ending: str, kept: int) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    test = tmp_path / "test_it.py"
    test.write_text(f"DEEP = 7\n\ndef test_it(examples):\n    assert examples == 7\n    assert {ending}\n")
    environment = {**os.environ, "PYTHONPATH": str(repo), "TORCHBOOK_PROOFS": str(tmp_path / "proofs")}
    environment.pop(depth.OVERRIDE, None)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.viz.depth", "-p", "no:cacheprovider", str(test)]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert ("1 passed" if kept else "1 failed") in ran.stdout
    assert len([*(tmp_path / "proofs").rglob("*.json")]) == kept
