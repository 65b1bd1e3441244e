"""The keys of matrices and of students' evaluations: each input counts, and what is no input does not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from torchbook.practice.exercise import load
from torchbook_course import evaluations, matrices, sandbox
from torchbook_course.evaluations import Setting
from torchbook_course.matrices import Case, Matrix, Shown
from torchbook_course.sandbox import Box
from torchbook_proofs import Key, Store

IMPORTS_LLM = "l5/x1-kv-cache"


@pytest.fixture
def tree(tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what learners have, which boxes then take, and of an exercise that imports `torchbook.llm`."""
    ignored = shutil.ignore_patterns("__pycache__", "static", "node_modules")
    shutil.copytree(repo / "torchbook", tmp_path / "torchbook", ignore=ignored)
    shutil.copytree(repo / "exercises" / IMPORTS_LLM, tmp_path / "exercises" / IMPORTS_LLM)
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "index.md").write_text("a page")
    monkeypatch.setattr(sandbox, "LEARNERS", tmp_path / "torchbook")
    return tmp_path


def case_in(tree: Path) -> Case:
    return Case(load(tree / "exercises" / IMPORTS_LLM), (0,))


def key_in(tree: Path, box: Box = Box()) -> Key:  # noqa: B008
    return matrices.key(case_in(tree), box)


def edited(path: Path) -> None:
    path.write_text(f"{path.read_text()}\n# a change\n")


@pytest.mark.parametrize(
    ("file", "part"),
    [
        (f"exercises/{IMPORTS_LLM}/checks.py", "exercise"),
        (f"exercises/{IMPORTS_LLM}/wrong.md", "exercise"),
        (f"exercises/{IMPORTS_LLM}/solution.py", "exercise"),
        ("torchbook/llm/model.py", "modules"),
        ("torchbook/llm/__init__.py", "modules"),
        ("torchbook/__init__.py", "modules"),
        ("torchbook/practice/harness.py", "modules"),
        ("torchbook/practice/exercise.py", "modules"),
    ],
)
def test_a_matrix_is_found_anew_when_a_file_of_its_changes(tree: Path, file: str, part: str) -> None:
    before = key_in(tree)
    edited(tree / file)
    assert differing(before, key_in(tree)) == [part]


def differing(first: Key, second: Key) -> list[str]:
    return [name for name in first.parts if first.parts[name] != second.parts[name]]


@pytest.mark.parametrize("file", ["book/index.md", "torchbook/viz/ring.py", "torchbook/kernels/flash.py"])
def test_a_matrix_is_kept_when_another_file_changes(tree: Path, file: str) -> None:
    before = key_in(tree)
    edited(tree / file)
    assert key_in(tree) == before


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("installed", "versions"),
        ("processor", "processor"),
        ("_program", "program"),
    ],
)
def test_versions_processor_and_program_count(
    tree: Path, monkeypatch: pytest.MonkeyPatch, name: str, part: str
) -> None:
    before = key_in(tree)
    monkeypatch.setattr(matrices, name, lambda: "another")
    assert differing(before, key_in(tree)) == [part]


def test_the_program_is_all_that_runs_in_the_box(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    digests: list[tuple[Path, ...]] = []
    monkeypatch.setattr(matrices, "digest", lambda *paths: str(digests.append(paths)))
    matrices._program()
    names = {path.name for path in digests[0]}
    assert {"runner.py", "warm.py", "sandbox.py", "syscalls.py", "evaluate.py", "matrices.py"} <= names
    assert all(path.is_file() for path in digests[0])


@pytest.mark.parametrize("limit", ["memory_gb", "processes", "file_mb", "unsafe"])
def test_limits_of_the_box_count(tree: Path, limit: str) -> None:
    assert differing(key_in(tree), key_in(tree, replace(Box(), **{limit: 7}))) == ["box"]


def test_patience_does_not_count(tree: Path) -> None:
    assert key_in(tree, Box(patience=3)) == key_in(tree)


def test_the_data_that_are_here_count(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(load(repo / "exercises/lab/x3-cnn"), (0,))
    before = matrices.key(case, Box())
    monkeypatch.setattr(matrices, "_fingerprint", lambda name: f"another {name}")
    assert differing(before, matrices.key(case, Box())) == ["data"]


@pytest.mark.parametrize(
    "other",
    [
        lambda case: replace(case, seeds=(0, 1)),
        lambda case: replace(case, grading=True),
        lambda case: replace(case, published="x = 1"),
    ],
)
def test_what_is_shown_counts(tree: Path, other: Callable[[Case], Case]) -> None:
    case = case_in(tree)
    assert differing(matrices.key(case, Box()), matrices.key(other(case), Box())) == ["shown"]


# What is stored.


def seen(tree: Path, monkeypatch: pytest.MonkeyPatch, matrix: Matrix) -> tuple[Store, list[Case]]:
    """A store after a matrix was asked for twice, and how often it was found."""
    evaluated: list[Case] = []

    def finds(cases: list[Case], box: Box) -> list[Matrix]:
        evaluated.extend(cases)
        return [matrix] * len(cases)

    monkeypatch.setattr(matrices, "_seen", finds)
    store = Store(tree / "proofs")
    for _ in range(2):
        assert matrices.of([case_in(tree)], Box(), store) == [matrix]
    return store, evaluated


def test_a_good_matrix_is_found_once(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = Matrix(exercise="l5-x1", checks=(), named={}, limit=1.0, refuses={})
    store, evaluated = seen(tree, monkeypatch, good)
    assert len(evaluated) == 1
    assert store.counts == {(matrices.KIND, "made"): 1, (matrices.KIND, "kept"): 1}


def test_a_matrix_with_a_fault_is_found_each_time(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = {"name": "test_a", "state": "refused", "message": "no", "seconds": 0.1}
    refused = Shown.model_validate({"purpose": "reference", "answer": "", "seed": 0, "outcomes": [outcome]})
    bad = Matrix(exercise="l5-x1", checks=(), named={}, limit=1.0, shown=(refused,), refuses={})
    store, evaluated = seen(tree, monkeypatch, bad)
    assert len(evaluated) == 2
    assert not store.counts


def test_a_matrix_is_not_kept_when_a_file_changed_while_it_was_found(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = Matrix(exercise="l5-x1", checks=(), named={}, limit=1.0, refuses={})

    def finds(cases: list[Case], box: Box) -> list[Matrix]:
        if cases:
            edited(tree / "torchbook/llm/model.py")
        return [good] * len(cases)

    monkeypatch.setattr(matrices, "_seen", finds)
    store = Store(tree / "proofs")
    matrices.of([case_in(tree)], Box(), store)
    assert not store.counts


# Evaluations of students' code.


def setting_in(tree: Path, **more: object) -> Setting:
    exercises = [load(tree / "exercises" / IMPORTS_LLM)]
    return replace(Setting(exercises, 7, Box(), tree / "evaluations"), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "file",
    [
        "torchbook/llm/model.py",
        "torchbook/kernels/flash.py",
        "torchbook/data/cache.py",
        "torchbook/viz/ring.py",
        "torchbook/practice/exercise.py",
        "torchbook/practice/harness.py",
        f"exercises/{IMPORTS_LLM}/checks.py",
    ],
)
def test_a_submission_is_evaluated_anew_when_what_it_runs_on_changes(tree: Path, file: str) -> None:
    before = evaluations.depends_on(setting_in(tree))
    edited(tree / file)
    assert evaluations.depends_on(setting_in(tree)) != before


def test_an_evaluation_is_kept_when_a_page_changes(tree: Path) -> None:
    before = evaluations.depends_on(setting_in(tree))
    edited(tree / "book/index.md")
    assert evaluations.depends_on(setting_in(tree)) == before


@pytest.mark.parametrize("more", [{"seed": 8}, {"box": Box(memory_gb=1)}])
def test_seed_and_limits_of_an_evaluation_count(tree: Path, more: dict[str, object]) -> None:
    assert evaluations.depends_on(setting_in(tree, **more)) != evaluations.depends_on(setting_in(tree))


def test_versions_of_an_evaluation_count(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = evaluations.depends_on(setting_in(tree))
    monkeypatch.setattr(evaluations, "installed", lambda: "another")
    assert evaluations.depends_on(setting_in(tree)) != before
