"""Matrices: what is seen in the box of an exercise's answers, what counts as a fault, what grading shows again."""

from __future__ import annotations

import pytest

from tests.course.boxed import BOX, CHECKS, NAMES, PASSED, matrix, needs_box
from torchbook.practice.harness import Outcome
from torchbook_course import matrices
from torchbook_course.matrices import Matrix, Purpose, Shown
from torchbook_course.sandbox import SandboxError


def rows(seen: Matrix) -> dict[str, dict[str, str]]:
    return {shown.answer: {o.name: o.state for o in shown.outcomes} for shown in seen.of("row")}


@needs_box
def test_the_matrix_says_which_check_refuses_which_answer() -> None:
    seen = matrix()
    assert rows(seen)["adds"] == PASSED | dict.fromkeys(NAMES[1:], "refused")
    assert rows(seen)["squares"] == PASSED | dict.fromkeys(NAMES[2:], "refused")
    expected = matrices.expected(seen)
    assert expected["reference"] == PASSED
    assert expected["unwatched"] == ["test_double"]
    assert sorted(check for replay in expected["replay"] for check in replay["checks"]) == sorted(NAMES[1:])
    assert [fault.text for fault in matrices.faults(seen, BOX.patience)] == [
        "x-x1: test_double refuses no wrong answer"
    ]


@needs_box
def test_a_slow_check_is_not_watched() -> None:
    slow = CHECKS + "\ndef test_slow(double):\n    import time\n    time.sleep(0.7)\n    assert double(3) == 6\n"
    assert "test_slow" in matrices.expected(matrix(slow))["unwatched"]


@needs_box
def test_nothing_is_shown_again_to_checks_that_start_processes() -> None:
    expected = matrices.expected(matrix(processes=True))
    assert (expected["replay"], expected["unwatched"]) == ([], NAMES)


@needs_box
def test_a_reference_that_its_checks_refuse_is_seen() -> None:
    seen = matrix(reference="def double(x):\n    return x\n")
    expected = matrices.expected(seen)
    assert expected["reference"]["test_double"] == "refused"
    assert expected["messages"]["test_double"] == "twice 2 is 4"
    assert "x-x1: the reference, seed 7: test_double → refused (twice 2 is 4), not passed" in texts(seen)


@needs_box
def test_checks_that_do_not_run_are_a_fault() -> None:
    seen = matrix(CHECKS.replace("import random", "import os, random\nos._exit(3)"))
    (fault,) = matrices.faults(seen)
    assert fault.kind == "box"
    assert "exit status 3" in fault.text
    with pytest.raises(SandboxError, match="exit status 3"):
        matrices.expected(seen)


def test_a_check_is_watched_with_the_answer_that_fewest_checks_refuse() -> None:
    seen = {
        "adds": {"test_two": outcome("test_two", "refused", 0.1), "test_all": outcome("test_all", "refused", 0.01)},
        "stops": {"test_two": outcome("test_two", "passed", 0.1), "test_all": outcome("test_all", "refused", 0.2)},
    }
    replay, unwatched = matrices._replay(seen, ["test_two", "test_all"], budget=1.0)
    assert replay == [{"wrong": "adds", "checks": ["test_two"]}, {"wrong": "stops", "checks": ["test_all"]}]
    assert unwatched == []


# Faults.


def outcome(name: str, state: str, seconds: float = 0.1, message: str = "") -> Outcome:
    return Outcome(name, state, message, seconds)  # type: ignore[arg-type]


def shown(purpose: Purpose, answer: str, *outcomes: Outcome) -> Shown:
    return Shown(purpose=purpose, answer=answer, seed=0, outcomes=outcomes)


GOOD = Matrix(
    exercise="x-x1",
    checks=("test_a",),
    named={"w": "test_a"},
    limit=1.0,
    refuses={"test_a": "w"},
    shown=(
        shown("reference", "", outcome("test_a", "passed")),
        shown("stub", "<stub>", outcome("test_a", "unsolved")),
        shown("nothing", "<nothing>", outcome("test_a", "missing")),
        shown("public", "<stub>", outcome("test_a", "unsolved")),
        shown("wrong", "w", outcome("test_a", "refused", message="too small")),
        shown("again", "w", outcome("test_a", "refused", message="too small")),
        shown("published", "<published>", outcome("test_a", "refused", message="other task")),
    ),
)


def texts(seen: Matrix) -> list[str]:
    return [fault.text for fault in matrices.faults(seen)]


def test_a_good_matrix_has_no_fault() -> None:
    assert texts(GOOD) == []


@pytest.mark.parametrize(
    ("purpose", "seen", "fault"),
    [
        ("reference", outcome("test_a", "refused", message="no"), "the reference, seed 0: test_a → refused (no)"),
        ("reference", outcome("test_a", "passed", 0.6), "the reference takes 0.6 s, more than half of the limit, 1 s"),
        ("stub", outcome("test_a", "passed"), "the stub, seed 0: test_a → passed, not unsolved"),
        ("nothing", outcome("test_a", "error"), "an empty answer, seed 0: test_a → error, not missing"),
        (
            "public",
            outcome("test_a", "error", message="m"),
            "without the hidden checks, the stub, seed 0: test_a → err",
        ),
        ("wrong", outcome("test_a", "passed"), "wrong answer w, seed 0: test_a → passed, not refused by test_a"),
        ("wrong", outcome("test_b", "refused"), "wrong answer w, seed 0: test_b → refused, not refused by test_a"),
        ("wrong", outcome("test_a", "refused", message=matrices.MUTE), "w, seed 0: test_a says nothing of the misco"),
        ("again", outcome("test_a", "refused", message="b"), "test_a says first 'too small', then 'b'"),
        ("published", outcome("test_a", "passed"), "the variant accepts the published solution"),
    ],
)
def test_what_must_not_be_is_a_fault_that_names_it(purpose: Purpose, seen: Outcome, fault: str) -> None:
    changed = tuple(
        each.model_copy(update={"outcomes": (seen,)}) if each.purpose == purpose else each for each in GOOD.shown
    )
    complaints = texts(GOOD.model_copy(update={"shown": changed}))
    assert any(fault in text and text.startswith("x-x1: ") for text in complaints), complaints


def test_a_wrong_answer_that_was_not_shown_is_a_fault() -> None:
    assert texts(GOOD.model_copy(update={"named": {"w": "test_a", "v": "test_a"}})) == [
        "x-x1: wrong answer v was not shown"
    ]


def test_a_check_that_refuses_nothing_is_a_fault() -> None:
    idle = GOOD.model_copy(update={"refuses": {"test_a": ""}})
    assert texts(idle) == ["x-x1: test_a refuses no wrong answer"]
