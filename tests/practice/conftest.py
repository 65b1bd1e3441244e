"""Shared by the tests of practice: progress of their own, and a small exercise to write and bend."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from torchbook.practice import learner, shelf

PAGE = """---
id: p09-x1
title: A sum
chapter: own
stars: 1
minutes: 5
importance: 2
points: {public: 1, hidden: 2}
seconds: 5
---
Write `add(a, b)`.

## Hint: The sum is a difference {test_sum, test_hidden_random}

Look at the sign.

## Hint: Nothing helps

Sleep over it.
"""
SOLUTION = """import math

LIMIT = 3


def add(a: float, b: float) -> float:
    \"\"\"The sum.\"\"\"
    ### BEGIN SOLUTION
    return a + b
    ### END SOLUTION
"""
CHECKS = """import random


def _cases(seed):
    draw = random.Random(seed)
    return [(draw.random(), draw.random()) for _ in range(5)]


def test_sum(add):
    assert add(1, 2) == 3, "a sum is the number of both together"


def test_zero(add):
    assert add(0, 0) == 0, "nothing and nothing is nothing"


def test_hidden_random(add, reference, seed):
    for a, b in _cases(seed):
        assert add(a, b) == reference.add(a, b), "differs from the reference"
"""
WRONG = """# Wrong answers

## minus {test_sum}

takes a sum for a difference

```diff
-    return a + b
+    return a - b
```

## one {test_zero}

adds one

```diff
-    return a + b
+    return a + b + 1
```
"""
FILES = {
    "exercise.md": PAGE,
    "solution.py": SOLUTION,
    "checks.py": CHECKS,
    "wrong.md": WRONG,
}
QUIZ = """---
id: p09-x2
title: A quiz
chapter: own
kind: quiz
stars: 1
minutes: 5
importance: 2
points: {public: 1, hidden: 1}
seconds: 5
questions:
- name: planet
  ask: Where are we?
  options:
  - {text: Mars, why: It only looks red.}
  - {text: Earth, right: true, why: There is water.}
- name: word
  ask: Which method moves a tensor?
  accept: ['(\\.)?to(\\(.*\\))?']
  example: to
  why: It moves and casts.
  tempting:
  - {match: '.*cuda.*', example: x.cuda(), why: It knows one device only.}
---
Answer both.
"""
SELF_TEST = (
    QUIZ.replace("- name: planet\n", "- name: planet\n  topic: sky\n")
    .replace("- name: word\n", "- name: word\n  topic: torch\n")
    .replace(
        "questions:\n",
        """topics:
- name: sky
  title: The sky
  read:
  - {title: A page, page: book/sky, section: the-stars}
  - {title: A site, url: 'https://example.org/sky'}
- name: torch
  title: Some PyTorch
  read: [{title: Another page, page: book/torch}]
questions:
""",
    )
)

Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def progress_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the progress of this test is kept."""
    file = tmp_path / "data" / "progress.json"
    monkeypatch.setenv("TORCHBOOK_PROGRESS", str(file))
    monkeypatch.delenv(shelf.ROOTS, raising=False)
    monkeypatch.setattr(learner, "_shown_notes", type(learner._shown_notes)())
    return file


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes the exercise p09-x1, with some files changed (None: left out), onto a shelf of this test."""
    root = tmp_path / "exercises"

    def write(changed: dict[str, str | None] | None = None, name: str = "p09/x1-a-sum", *, bare: bool = False) -> Path:
        files = {**({} if bare else FILES), **(changed or {})}
        for file, text in files.items():
            if text is not None:
                (root / name / file).parent.mkdir(parents=True, exist_ok=True)
                (root / name / file).write_text(text, encoding="utf-8")
        monkeypatch.setenv(shelf.ROOTS, str(root))
        return root / name

    return write


@pytest.fixture
def quiz(write: Write) -> Path:
    """The quiz p09-x2 on the shelf."""
    return write({"exercise.md": QUIZ}, "p09/x2-a-quiz", bare=True)
