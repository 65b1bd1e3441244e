"""The exercises of the book as learners and classes get them, and their matrices, found once by all test processes."""

from __future__ import annotations

import ast
import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import filelock
import pydantic

from torchbook.practice import shelf
from torchbook.practice.exercise import Exercise, ExerciseError
from torchbook_course import evaluate, matrices
from torchbook_course.matrices import Case, Matrix
from torchbook_course.sandbox import Box
from torchbook_proofs import Store

SEEDS = (0, 1, 2)
PATIENCE = max(1.0, float(os.environ.get("TORCHBOOK_PATIENCE", "1")))
BOX = Box(patience=PATIENCE)
Graded = dict[str, dict[str, Any]]  # what `evaluate` says, by answer
_LISTED = pydantic.TypeAdapter(list[Matrix])


def cases_of(base: Exercise) -> dict[str, Case]:
    """The exercise itself, its variants, and for a quiz the form that a class gets, by name."""
    name = base.contract.id
    cases = {name: Case(base, SEEDS)}
    cases |= {f"{name}-{v}": Case(base.variant(v), SEEDS, published=base.reference) for v in base.variants}
    if base.contract.kind == "quiz":
        cases[f"{name}-class"] = Case(base.in_class(random.Random(1)), SEEDS)
    return cases


def _read() -> tuple[dict[str, Case], dict[str, str]]:
    """All cases by name, and by id what is wrong with exercises that cannot be read, which stop no other."""
    found: dict[str, Case] = {}
    broken: dict[str, str] = {}
    for name in shelf.folders():
        try:
            found |= cases_of(shelf.find(name))
        except ExerciseError as error:
            broken[name] = str(error)
    return found, broken


CASES, BROKEN = _read()


def group_of(name: str) -> str:
    """What shares a box with a case, so that torch is imported once: the slower its checks, the fewer others."""
    contract, case = CASES[name].exercise.contract, CASES[name]
    if {"processes", "compiler"} & set(contract.needs):
        return name
    return contract.chapter if case.slow else f"all-{contract.chapter[0]}"


@dataclass(frozen=True)
class Run:
    """What the processes of one run of the tests share, so that no matrix is found twice in it, a bad one neither."""

    folder: Path
    names: frozenset[str]  # of the cases that some test of this run asks for; of the others nothing is found

    def matrix(self, name: str) -> Matrix:
        """The matrix of a case."""
        return _matrices(self, group_of(name))[name]

    def graded(self, name: str) -> Graded:
        """What grading says of an exercise's reference, its stub and its first wrong answer."""
        return _graded(self, group_of(name))[name]

    def group(self, group: str) -> list[str]:
        """The cases of this run that share a box, in the order of the book."""
        return [name for name in CASES if name in self.names and group_of(name) == group]


@cache
def _matrices(run: Run, group: str) -> dict[str, Matrix]:
    names = run.group(group)

    def content() -> bytes:
        return _LISTED.dump_json(matrices.of([CASES[name] for name in names], BOX, Store.default()))

    listed = _LISTED.validate_json(once(run.folder / f"matrices-{group}.json", content))
    return dict(zip(names, listed, strict=True))


def once(file: Path, content: Callable[[], bytes]) -> bytes:
    """The content of a file that the first process which asks for it writes, while others wait."""
    with filelock.FileLock(file.with_suffix(".lock")):
        if not file.exists():
            part = file.with_suffix(".part")
            part.write_bytes(content())
            part.replace(file)
        return file.read_bytes()


# Graded like a student's.

KIND = "graded"  # of the proofs


@cache
def _graded(run: Run, group: str) -> dict[str, Graded]:
    names = run.group(group)
    keys = {name: replace(matrices.key(CASES[name], BOX), kind=KIND) for name in names}
    store = Store.default()

    def content() -> bytes:
        kept = {name: store.get(keys[name]) for name in names}
        missing = [name for name in names if kept[name] is None]
        fresh = _evaluated({name: run.matrix(name) for name in missing})
        for name, results in fresh.items():
            if keys[name].parts == matrices.key(CASES[name], BOX).parts and not list(ungraded(name, results)):
                store.put(keys[name], results)
        return json.dumps({name: fresh.get(name, kept[name]) for name in names}).encode()

    return dict(json.loads(once(run.folder / f"graded-{group}.json", content)))


def _evaluated(seen: dict[str, Matrix]) -> dict[str, Graded]:
    """Answers to several exercises, as one submission in one box, with the tripwire of a grader who is not patient."""
    parts = []
    for name, matrix in seen.items():
        exercise = CASES[name].exercise
        tests = evaluate.tests_of(exercise, SEEDS[0]) | {"expected": matrices.expected(matrix)}
        for answer, code in answers_to(exercise).items():
            parts.append(tests | {"id": f"{name} {answer}", "code": code, "context": ""})
    results = evaluate.evaluate({"exercises": parts}, BOX) if parts else {}
    return {name: {answer: results[f"{name} {answer}"] for answer in ANSWERS} for name in seen}


ANSWERS = ("reference", "stub", "wrong")


def answers_to(exercise: Exercise) -> dict[str, str]:
    """What three students hand in."""
    return dict(zip(ANSWERS, (exercise.reference, exercise.stub, exercise.wrong[0].source), strict=True))


def ungraded(name: str, results: Graded) -> Iterator[str]:
    """What grading should have said otherwise."""
    exercise = CASES[name].exercise
    for answer, result in results.items():
        states = {outcome["name"]: outcome["state"] for outcome in result["outcomes"]}
        if result["state"] != "ok" or states.keys() != set(exercise.check_names):
            yield f"{name}: the {answer} could not be graded: {result}"
        elif answer != "wrong" and set(states.values()) != {"passed" if answer == "reference" else "unsolved"}:
            yield f"{name}: the {answer}: {result}"
        elif answer == "wrong" and states[exercise.wrong[0].check] == "passed":
            yield f"{name}: the wrong answer {exercise.wrong[0].name}: {exercise.wrong[0].check} passes: {result}"


def emptied(exercise: Exercise, check: str) -> Exercise:
    """An exercise one of whose checks checks nothing."""
    tree = ast.parse(exercise.checks)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == check:
            node.body = [ast.Pass()]
    return replace(exercise, checks=ast.unparse(tree))


def undetected(exercise: str) -> list[str]:
    """Checks of an exercise each of which could be empty without a fault that names it; there should be none.

    `python -c "from tests.exercises.cases import undetected; print(undetected('p01-x3'))"` tries them.
    """
    base = shelf.find(exercise)
    mutants = [Case(emptied(base, check), SEEDS[:1]) for check in base.check_names]
    mutant_matrices = matrices.of(mutants, BOX, None)
    return [
        check
        for check, matrix in zip(base.check_names, mutant_matrices, strict=True)
        if not any(check in fault.text for fault in matrices.faults(matrix, PATIENCE))
    ]
