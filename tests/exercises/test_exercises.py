"""Every exercise of the book, in every variant: its checks accept what is right and refuse what is wrong, in the box.

What is asserted here was seen in a box, by `torchbook_course.matrices`, now or when nothing of it was different.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.exercises.cases import BROKEN, CASES, PATIENCE, SEEDS, Run, emptied
from torchbook.practice import harness, shelf
from torchbook.practice.exercise import HIDDEN
from torchbook_course import matrices, sandbox
from torchbook_course.matrices import Matrix

pytestmark = pytest.mark.skipif(sandbox.available() is not None, reason=f"no sandbox: {sandbox.available()}")


@pytest.mark.parametrize("exercise", shelf.folders())
def test_its_files_can_be_read(exercise: str) -> None:
    if exercise in BROKEN:
        pytest.fail(BROKEN[exercise], pytrace=False)


@pytest.fixture(params=CASES)
def name(request: pytest.FixtureRequest) -> str:
    """An exercise, a variant of it, or the form that a class gets."""
    return str(request.param)


@pytest.fixture
def matrix(name: str, run: Run) -> Matrix:
    """How its checks take its answers."""
    return run.matrix(name)


def faults(matrix: Matrix, *kinds: str) -> list[str]:
    """What a matrix has of some kinds of faults, or why there is no matrix."""
    return [fault.text for fault in matrices.faults(matrix, PATIENCE) if fault.kind in ("box", *kinds)]


def test_reference_is_accepted_under_each_seed_without_a_warning(matrix: Matrix) -> None:
    assert faults(matrix, "reference") == []


def test_reference_takes_half_of_the_limit_at_most(matrix: Matrix) -> None:
    assert faults(matrix, "time") == []


def test_stub_is_unsolved_and_nothing_at_all_is_missing(matrix: Matrix) -> None:
    assert faults(matrix, "stub", "nothing") == []


def test_each_wrong_answer_is_refused_by_its_check_with_its_words(matrix: Matrix) -> None:
    assert faults(matrix, "wrong", "words") == []


def test_every_check_refuses_a_wrong_answer(matrix: Matrix) -> None:
    assert faults(matrix, "idle") == []


def test_public_checks_run_alone(name: str, matrix: Matrix) -> None:
    exercise = CASES[name].exercise
    public = exercise.public_checks
    assert HIDDEN not in public
    assert not any(isinstance(node, ast.Name) and node.id == "reference" for node in ast.walk(ast.parse(public)))
    names = {name for name in exercise.check_names if not name.startswith(HIDDEN)}
    assert {check.name for check in harness.checks_of(public)} == names
    assert {outcome.name for shown in matrix.of("public") for outcome in shown.outcomes} == names
    assert faults(matrix, "public") == [], "without the hidden part, a name is missing"


VARIANTS = [name for name, case in CASES.items() if case.published]


@pytest.mark.parametrize("name", VARIANTS, indirect=False)
def test_published_solution_is_refused_by_the_variant(name: str, run: Run) -> None:
    matrix = run.matrix(name)
    assert len(list(matrix.of("published"))) == 1
    assert faults(matrix, "published") == []


def test_a_matrix_shows_all_that_there_is(name: str, matrix: Matrix) -> None:
    """Each check the reference, each wrong answer to its check, under every seed that is due."""
    case = CASES[name]
    first = {o.name for shown in matrix.of("reference") if shown.seed == SEEDS[0] for o in shown.outcomes}
    assert first == set(case.exercise.check_names)
    assert {shown.seed for shown in matrix.of("reference")} == set(SEEDS[:2] if case.slow else SEEDS)
    asked = [
        (wrong.name, wrong.check, seed) for wrong in case.exercise.wrong for seed in SEEDS[: 1 if case.slow else 3]
    ]
    assert [(shown.answer, shown.outcomes[0].name, shown.seed) for shown in matrix.of("wrong")] == asked


def test_every_exercise_of_the_book_is_a_case(repo: Path) -> None:
    pages = [path for path in repo.glob("exercises/**/exercise.md") if "variants" not in path.parts]
    assert len({case.exercise.contract.id for case in CASES.values()}) == len(pages)


def test_a_check_that_checks_nothing_is_named() -> None:
    mutant = matrices.Case(emptied(shelf.find("p01-x3"), "test_offset"), SEEDS)
    (matrix,) = matrices.of([mutant], sandbox.Box(patience=PATIENCE), None)
    idle, wrong = faults(matrix, "idle"), faults(matrix, "wrong")
    assert idle == ["p01-x3: test_offset refuses no wrong answer"]
    assert len(wrong) >= 3
    assert all("test_offset → passed" in text for text in wrong)


def test_a_message_that_says_nothing_is_named() -> None:
    exercise = shelf.find("p01-x3")
    mute = ast.parse(exercise.checks)
    for node in ast.walk(mute):
        if isinstance(node, ast.Assert):
            node.msg = None
    case = matrices.Case(matrices.replace(exercise, checks=ast.unparse(mute)), SEEDS[:1])
    (matrix,) = matrices.of([case], sandbox.Box(patience=PATIENCE), None)
    assert any("says nothing of the misconception" in text for text in faults(matrix, "wrong"))
