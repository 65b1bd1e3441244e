"""What no student may see of any exercise of the book is in no notebook that a class gets."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.course.assigned import assignment, exercises, make
from torchbook.practice import shelf
from torchbook.practice.exercise import HIDDEN, Exercise
from torchbook_course.assignment import resolve
from torchbook_course.notebooks import source_notebook

_LINE = 12  # characters from which a line of code is told from any other


def secrets(exercise: Exercise) -> set[str]:
    """Names of hidden checks, and lines of reference and wrong answers, that no page shows to students."""
    shown = f"{exercise.stub}\n{exercise.public_checks}\n{exercise.statement}\n"
    shown += "\n".join(f"{hint.symptom}\n{hint.text}" for hint in exercise.hints)
    shown += "\n".join(f"{question.ask}{question.options}" for question in exercise.contract.questions)
    hidden = f"{exercise.reference}\n{exercise.checks}\n" + "\n".join(wrong.source for wrong in exercise.wrong)
    lines = {line.strip() for line in hidden.splitlines()}
    revealing = {line for line in lines if len(line) >= _LINE and line not in shown}
    return revealing | {name for name in exercise.check_names if name.startswith(HIDDEN)}


@pytest.mark.parametrize("seed", [1, 2])
def test_students_see_nothing_that_is_hidden(tmp_path: Path, seed: int) -> None:
    made = make(tmp_path / "course", *shelf.folders(), seed=seed)
    release = (tmp_path / "course" / "release" / "hw1" / "hw1.ipynb").read_text(encoding="utf-8")
    cells = nbformat.reads(release, as_version=4).cells
    seen = {
        exercise.id: "\n".join(c.source for c in cells if c.id.startswith(f"{exercise.id}-"))
        for exercise in resolve(made)
    }
    leaks = {
        (exercise.id, line) for exercise in resolve(made) for line in secrets(exercise) if line in seen[exercise.id]
    }
    assert not leaks
    assert "HIDDEN TESTS" not in release


def test_secrets_are_in_the_source() -> None:
    source = source_notebook(assignment(), exercises())
    text = "\n".join(cell.source for cell in source.cells)
    for exercise in exercises():
        assert secrets(exercise)
        assert exercise.reference.strip().splitlines()[-1] in text
