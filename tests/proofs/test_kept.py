"""Tests that passed are left out while their inputs are the same: one drill for each input."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import kept
from torchbook_proofs.store import FOLDER, FRESH

FILES = {
    "tests/__init__.py": "",
    "tests/conftest.py": 'pytest_plugins = ["tests.kept"]\n',
    "tests/axe.py": "",
    "tests/budgets.toml": '[seconds]\n"*" = 60\n',
    "tests/data/__init__.py": "",
    "tests/data/helper.py": "",
    "tests/data/test_it.py": "from pathlib import Path\n\n"
    "def test_passes(): pass\n\ndef test_fails(): assert Path('allow').exists()\n",
    "torchbook/data/__init__.py": "",
    "torchbook_press/__init__.py": "",
    "book/index.md": "",
    "pyproject.toml": '[tool.pytest.ini_options]\nmarkers = ["browser"]\n',
}


@pytest.fixture
def tree(tmp_path: Path, repo: Path) -> Path:
    """A small repository with the plugin."""
    root = tmp_path / "tree"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for name in ("inputs.py", "kept.py"):
        shutil.copy(repo / "tests" / name, root / "tests")
    return root


def run(tree: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """pytest, which keeps proofs beside the tree."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--kept", "-q", "tests", *arguments]
    environment = os.environ | {FOLDER: str(tree.parent / "proofs"), FRESH: "", "PYTHONPATH": f"{tree}:{kept.ROOT}"}
    return subprocess.run(command, cwd=tree, env=environment | variables, capture_output=True, text=True)


def test_a_pass_is_kept_and_a_failure_is_found_anew(tree: Path) -> None:
    assert "1 failed, 1 passed" in run(tree).stdout
    again = run(tree).stdout
    assert "1 failed, 1 deselected" in again
    assert "tests: 1 kept, 0 made" in again
    assert run(tree, "--deselect", "tests/data/test_it.py::test_fails").returncode == 0, "all that is left is kept"
    assert "1 failed, 1 passed" in run(tree, **{FRESH: "1"}).stdout


def test_a_test_that_reads_outside_of_its_inputs_fails(tree: Path) -> None:
    text = "from pathlib import Path\n\ndef test_reads():\n    Path('book/index.md').read_text()\n"
    (tree / "tests/data/test_it.py").write_text(text)
    printed = run(tree).stdout
    assert "1 passed, 1 error" in printed
    assert "it read book/index.md, outside of the inputs of its folder" in printed
    assert "deselected" not in run(tree).stdout


LISTS = """
from pathlib import Path

def test_asks_for_names(): assert list(Path("exercises").glob("*/*"))

def test_looks_into_one(): assert list(Path("exercises/p02/x1-micrograd").iterdir())
"""


def exercise_in(tree: Path) -> Path:
    """The page of an exercise of which tests of `course` know the name."""
    page = tree / "exercises/p02/x1-micrograd/exercise.md"
    page.parent.mkdir(parents=True)
    page.write_text("Build it.")
    return page


def test_a_test_that_knows_names_may_list_them_and_no_more(tree: Path) -> None:
    exercise_in(tree)
    (tree / "tests/course").mkdir()
    (tree / "tests/course/test_it.py").write_text(LISTS)
    printed = run(tree).stdout
    assert "1 failed, 3 passed, 1 error" in printed
    assert "it read exercises/p02/x1-micrograd, outside of the inputs" in printed


CHANGES: dict[str, Callable[[Path], object]] = {
    "the test itself": lambda root: (root / "tests/data/test_it.py").write_text("def test_passes(): pass\n"),
    "what is beside it": lambda root: (root / "tests/data/helper.py").write_text("x = 1\n"),
    "the room": lambda root: (root / "torchbook/data/__init__.py").write_text("x = 1\n"),
    "a new file in the room": lambda root: (root / "torchbook/new.py").touch(),
    "what all tests share": lambda root: (root / "tests/conftest.py").write_text("x = 1\n"),
    "the project": lambda root: (root / "pyproject.toml").write_text("x = 1\n"),
}


@pytest.fixture
def in_tree(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept, "ROOT", tree)
    kept._digest.cache_clear()
    monkeypatch.setattr(kept, "_digest", kept._digest.__wrapped__)
    return tree


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_an_input_changes_the_key(in_tree: Path, change: Callable[[Path], object]) -> None:
    before = kept.key_of("tests/data/test_it.py")
    change(in_tree)
    assert kept.key_of("tests/data/test_it.py") != before


@pytest.mark.parametrize("name", ["book/index.md", "torchbook_press/__init__.py"])
def test_a_change_elsewhere_does_not(in_tree: Path, name: str) -> None:
    before = kept.key_of("tests/data/test_it.py")
    (in_tree / name).write_text("x = 1\n")
    assert kept.key_of("tests/data/test_it.py") == before


def test_an_entry_counts_for_its_own_tests_and_the_table_for_none(
    in_tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [kept.key_of(f"tests/{folder}/test_it.py") for folder in ("data", "llm")]
    (in_tree / "tests/inputs.py").write_text("x = 1\n")
    assert [kept.key_of(f"tests/{folder}/test_it.py") for folder in ("data", "llm")] == before
    monkeypatch.setitem(kept.INPUTS, "tests/data", (*kept.INPUTS["tests/data"], "book"))
    assert kept.key_of("tests/data/test_it.py") != before[0]
    assert kept.key_of("tests/llm/test_it.py") == before[1]


def test_of_what_a_pattern_fits_only_the_names_count(in_tree: Path) -> None:
    page = exercise_in(in_tree)
    before = kept.key_of("tests/course/test_it.py")
    page.write_text("Build another.")
    assert kept.key_of("tests/course/test_it.py") == before
    page.parent.rename(page.parent.with_name("x2-micrograd"))
    assert kept.key_of("tests/course/test_it.py") != before


@pytest.mark.parametrize(
    "function", ["installed", "processor", "_data", "find_chromium"], ids=["packages", "processor", "data", "browser"]
)
def test_a_change_of_the_machine_changes_the_key(in_tree: Path, function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_machine", kept._machine.__wrapped__)
    before = kept.key_of("tests/data/test_it.py")
    monkeypatch.setattr(kept, function, lambda: "another")
    assert kept.key_of("tests/data/test_it.py") != before


def test_a_file_that_no_entry_covers_depends_on_everything() -> None:
    assert kept.inputs_of("tests/test_new.py") == kept.EVERYTHING


def test_a_file_that_took_too_long_is_named() -> None:
    (line,) = kept.over_budget({"tests/a.py": 700.0, "tests/b.py": 1.0}, {"*": 60})
    assert line.startswith("tests/a.py took 700 s")
