"""An exercise whose checks need no torch, and answers to it run in real boxes."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import pytest

from torchbook.course import evaluate, sandbox
from torchbook.course.sandbox import Box

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
NAMES = ["test_double", "test_zero", "test_every", "test_hidden_random"]
BOX = Box()
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
    base = {"id": "x-x1", "checks": checks, "reference": reference, "wrong": listed}
    return base | {"seed": 7, "seconds": 3.0, "data": []} | more


@cache
def _expected() -> dict[str, Any]:
    return evaluate.matrix(exercise(), BOX)


def job(*answers: str, **more: Any) -> dict[str, Any]:
    """A job with one exercise for each answer: "0", "1", …"""
    parts = [exercise(**more) | {"id": str(n), "code": code, "context": ""} for n, code in enumerate(answers)]
    return {"exercises": [part | {"expected": _expected()} for part in parts]}


def states(result: dict[str, Any]) -> dict[str, str]:
    """The state of each check of one result."""
    return {outcome["name"]: outcome["state"] for outcome in result["outcomes"]}


def graded(code: str, box: Box = BOX, **more: Any) -> dict[str, Any]:
    """The result of one answer; right ones before and behind it must not suffer from it."""
    found = evaluate.evaluate(job(REFERENCE, code, REFERENCE, **more), box)
    assert list(found) == ["0", "1", "2"]
    assert states(found["0"]) == states(found["2"]) == PASSED
    return found["1"]


def alone(part: dict[str, Any], code: str, box: Box = BOX, context: str = "") -> dict[str, Any]:
    """The result of an answer to an exercise that is not the one of this module."""
    expected = part.get("expected") or {"replay": []}
    done = evaluate.evaluate({"exercises": [part | {"code": code, "context": context, "expected": expected}]}, box)
    return done[part["id"]]
