"""Every exercise is graded in the box as a student's work is: its reference, its stub and a wrong answer."""

from __future__ import annotations

import pytest

from tests.exercises.cases import ANSWERS, CASES, Run, ungraded
from torchbook_course import sandbox

pytestmark = pytest.mark.skipif(sandbox.available() is not None, reason=f"no sandbox: {sandbox.available()}")


# From the last one on: a process that finds matrices begins with the first, and where they meet, one waits.
@pytest.mark.parametrize("name", [*reversed(CASES)])
def test_reference_stub_and_wrong_answer_are_graded(name: str, run: Run) -> None:
    results = run.graded(name)
    assert tuple(results) == ANSWERS
    assert list(ungraded(name, results)) == []
