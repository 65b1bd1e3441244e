"""Checks that tell the case: they refuse what they refused, and say where, on what, and what the reference gives."""

from __future__ import annotations

import pytest

from tests.course.boxed import CHECKS, NAMES, REFERENCE, WRONG, alone, exercise, needs_box
from torchbook.practice import harness
from torchbook_course import cases


def outcomes(code: str, checks: str = CHECKS) -> dict[str, harness.Outcome]:
    namespace: dict[str, object] = {}
    exec(code, namespace)
    run = harness.run(cases.telling(checks), namespace, reference=REFERENCE, seed=7, source=code, seconds=5)
    return {outcome.name: outcome for outcome in run}


def test_the_reference_passes_them() -> None:
    assert {name: one.state for name, one in outcomes(REFERENCE).items()} == dict.fromkeys(NAMES, "passed")


def test_the_case_of_a_hidden_check() -> None:
    message, _, case = outcomes(WRONG["squares"])["test_hidden_random"].message.partition(cases.MARK)
    lines = case.splitlines()
    assert message == "differs from the reference"
    assert lines[0] == "the check's line: assert double(x) == reference.double(x)"
    assert "there: x = 42" in lines
    assert lines[-2:] == ["double(42) gave 1764", "the reference gives 84"]


def test_an_answer_that_raises_is_a_case_too() -> None:
    said = outcomes("def double(x):\n    return x.twice\n")["test_zero"]
    assert said.state == "refused"
    assert "AttributeError: 'int' object has no attribute 'twice'" in said.message
    assert "double(0) gave nothing: it did not return\nthe reference gives 0" in said.message


def test_an_error_that_a_check_asks_for_is_none() -> None:
    checks = "def test_raises(double):\n    try:\n        double(None)\n    except TypeError:\n        return\n"
    assert outcomes(REFERENCE, checks)["test_raises"].state == "passed"


def test_what_is_not_written_yet_stays_so() -> None:
    assert outcomes("def double(x):\n    raise NotImplementedError\n")["test_zero"].state == "unsolved"


@needs_box
def test_the_box_lets_them_tell() -> None:
    part = exercise(checks=cases.telling(CHECKS)) | {"public": CHECKS}
    result = alone(part, WRONG["adds"])
    said = {one["name"]: one["message"] for one in result["outcomes"]}
    assert result["state"] == "ok"
    assert said["test_zero"].endswith("double(0) gave 2\nthe reference gives 0")


def test_what_is_not_python_is_not_made_to_tell() -> None:
    with pytest.raises(SyntaxError):
        cases.telling("def test_(:")
