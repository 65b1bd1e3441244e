"""An exercise whose checks need no torch, and answers to it run in real boxes."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from torchbook.practice.exercise import BEGIN, END, load
from torchbook_course import evaluate, matrices, sandbox
from torchbook_course.matrices import Matrix
from torchbook_course.sandbox import Box

CHECKS = """
import random

def test_double(double):
    assert double(2) == 4, "twice 2 is 4"

def test_zero(double):
    assert double(0) == 0, "twice nothing is nothing"

def test_every(double):
    assert all([double(1) == 2, double(5) == 10]), "some number is not doubled"

def test_hidden_random(double, reference, seed):
    draw = random.Random(seed)
    for _ in range(5):
        x = draw.randint(1, 100)
        assert double(x) == reference.double(x), "differs from the reference"
"""
REFERENCE = "def double(x):\n    return 2 * x\n"
WRONG = {"squares": "def double(x):\n    return x * x\n", "adds": "def double(x):\n    return x + 2\n"}
MEANT = {"squares": "test_every", "adds": "test_zero"}  # the check that refuses each
NAMES = ["test_double", "test_zero", "test_every", "test_hidden_random"]
BOX = Box()
_PAGE = """---
id: x-x1
title: Double
chapter: x
stars: 1
minutes: 1
importance: 1
points: {{public: 1, hidden: 1}}
needs: {needs}
seconds: {seconds}
---
`double(x)` is twice x.
"""
PASSED = dict.fromkeys(NAMES, "passed")

_why_not = sandbox.available()
if _why_not and os.environ.get("TORCHBOOK_REQUIRE_SANDBOX"):
    raise RuntimeError(_why_not)
needs_box = pytest.mark.skipif(_why_not is not None, reason=str(_why_not))


def exercise(
    checks: str = CHECKS, reference: str = REFERENCE, wrong: dict[str, str] | None = None, **more: Any
) -> dict[str, Any]:
    """An exercise as jobs have it, without the student's part and the matrix."""
    listed = [{"name": name, "source": source} for name, source in (WRONG if wrong is None else wrong).items()]
    public = checks.partition("def test_hidden_")[0]
    base = {"id": "x-x1", "checks": checks, "public": public, "reference": reference, "wrong": listed}
    return base | {"seed": 7, "seconds": 3.0, "data": []} | more


@cache
def _expected() -> dict[str, Any]:
    return matrices.expected(matrix(), BOX.patience)


def matrix(
    checks: str = CHECKS,
    reference: str = REFERENCE,
    wrong: Mapping[str, str] | None = None,
    *,
    meant: Mapping[str, str] | None = None,
    processes: bool = False,
    seconds: float = 3.0,
    box: Box = BOX,
) -> Matrix:
    """The matrix of an exercise like that of this module, for a class of seed 7; `meant` names checks of `wrong`."""
    needs = "[cpu, processes]" if processes else "[cpu]"
    head, mark, body = re.split(r"(?<=:)(\n)", reference, maxsplit=1)
    files = {
        "exercise.md": _PAGE.format(needs=needs, seconds=seconds),
        "solution.py": f"{head}{mark}    {BEGIN}\n{body}    {END}\n",
        "checks.py": checks,
        **{f"wrong/{name}.py": f"# {(meant or MEANT)[name]}: so\n{text}" for name, text in (wrong or WRONG).items()},
    }
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "x" / "x1-double"
        (folder / "wrong").mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        (result,) = matrices.of([matrices.Case(load(folder), (7,), grading=True)], box, None)
    return result


def job(*answers: str, **more: Any) -> dict[str, Any]:
    """A job with one exercise for each answer: "0", "1", …"""
    parts = [exercise(**more) | {"id": str(n), "code": code, "context": ""} for n, code in enumerate(answers)]
    return {"exercises": [part | {"expected": _expected()} for part in parts]}


def states(result: dict[str, Any]) -> dict[str, str]:
    """The state of each check of one result."""
    return {outcome["name"]: outcome["state"] for outcome in result["outcomes"]}


def graded(code: str, box: Box = BOX, **more: Any) -> dict[str, Any]:
    """The result of one answer; right ones before and behind it must not suffer from it."""
    results = evaluate.evaluate(job(REFERENCE, code, REFERENCE, **more), box)
    assert list(results) == ["0", "1", "2"]
    assert states(results["0"]) == states(results["2"]) == PASSED
    return results["1"]


def alone(part: dict[str, Any], code: str, box: Box = BOX, context: str = "") -> dict[str, Any]:
    """The result of an answer to an exercise that is not the one of this module."""
    expected = part.get("expected") or {"replay": []}
    done = evaluate.evaluate({"exercises": [part | {"code": code, "context": context, "expected": expected}]}, box)
    return done[part["id"]]
