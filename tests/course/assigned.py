"""A small course for tests: an exercise with variants, and a quiz."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import nbformat

from torchbook.practice.exercise import Exercise
from torchbook_course import generate
from torchbook_course.assignment import Assignment, resolve

IDS = ("p01-x3", "s04-x1")
SEED = 7


def assignment(*ids: str, **fields: object) -> Assignment:
    """Homework 1 with these exercises."""
    wanted = [{"id": name} for name in ids or IDS]
    return Assignment.model_validate({"name": "hw1", "title": "Homework 1", "seed": SEED, "exercises": wanted} | fields)


def make(course: Path, *ids: str, **fields: object) -> Assignment:
    """Homework 1 made in a course's folder."""
    return generate.make(assignment(*ids, **fields), course).assignment


def exercises(*ids: str) -> list[Exercise]:
    """The exercises of homework 1 as the class gets them."""
    return resolve(assignment(*ids))


def solved(notebook: Path, answers: Mapping[str, str]) -> nbformat.NotebookNode:
    """A student's notebook with answers in the cells of the exercises."""
    filled = nbformat.read(notebook, as_version=4)
    for cell in filled.cells:
        exercise = cell.metadata.get("nbgrader", {}).get("grade_id", "").removesuffix("-solution")
        if exercise in answers and cell.metadata.nbgrader.solution:
            cell.source = f"{cell.source.splitlines()[0]}\n{answers[exercise]}"
    return filled


def python(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run this interpreter on one thread."""
    quiet = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, env=os.environ | quiet | environment, capture_output=True, text=True
    )
