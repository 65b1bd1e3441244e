"""The ward's patients: each has one disease of the list, and says nowhere which.

That the healthy script passes, and that the sick one and a wrong diagnosis are refused, is held by `test_exercises`,
of the wrong answers `untreated` and `misdiagnosed`; here these are held to be what they are called.
"""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.exercises.cases import CASES
from torchbook.practice import harness
from torchbook.practice.ward import DISEASES, digest
from torchbook.practice.wrong import Wrong
from torchbook_course.matrices import Case

PATIENTS = [case for name, case in CASES.items() if re.fullmatch(r"ward-x\d+", name)]
EVERY = pytest.mark.parametrize("case", PATIENTS, ids=lambda case: case.exercise.contract.id)


@cache
def disease_of(source: str) -> str:
    """What `diagnosis()` returns, read from the source."""
    (returned,) = (node for node in ast.walk(_defined(source)["diagnosis"]) if isinstance(node, ast.Return))
    assert isinstance(returned.value, ast.Constant)
    return str(returned.value.value)


@cache
def _defined(source: str) -> dict[str, ast.AST]:
    return {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def body(source: str) -> dict[str, str]:
    """The definitions of a script but its diagnosis, whatever their comments and layout."""
    return {name: ast.dump(node) for name, node in _defined(source).items() if name not in ("diagnosis", "main")}


def wrong(case: Case, name: str) -> Wrong:
    return next(answer for answer in case.exercise.wrong if answer.name == name)


def test_patients_are_numbered_and_no_disease_is_in_two() -> None:
    assert {case.exercise.contract.id for case in PATIENTS} == {f"ward-x{n}" for n in range(1, 15)}
    diseases = [disease_of(case.exercise.reference) for case in PATIENTS]
    assert len(set(diseases)) == len(diseases)


@EVERY
def test_the_digest_is_of_the_one_disease_that_the_reference_names(case: Case) -> None:
    constants = [
        node.value for node in ast.walk(ast.parse(case.exercise.public_checks)) if isinstance(node, ast.Constant)
    ]
    digests = [text for text in constants if isinstance(text, str) and re.fullmatch(r"[0-9a-f]{16}", text)]
    assert len(set(digests)) == 1
    fitting = [name for name in DISEASES if digest(case.exercise.contract.id, name) == digests[0]]
    assert fitting == [disease_of(case.exercise.reference)]


@EVERY
def test_nothing_that_learners_see_names_the_disease(case: Case) -> None:
    shown = case.exercise
    hints = "\n".join(f"{hint.symptom}\n{hint.text}" for hint in shown.hints)
    text = "\n".join([shown.contract.title, shown.slug, shown.statement, hints, shown.stub, shown.public_checks])
    name = re.sub("-", r"[-_\\s]+", disease_of(shown.reference))
    assert not re.search(rf"\b{name}\b", text, re.IGNORECASE)


@EVERY
def test_the_sick_script_and_a_wrong_name_are_among_the_wrong_answers(case: Case) -> None:
    right = disease_of(case.exercise.reference)
    untreated, misdiagnosed = wrong(case, "untreated"), wrong(case, "misdiagnosed")
    assert body(untreated.source) == body(case.exercise.stub) != body(case.exercise.reference)
    assert disease_of(untreated.source) == right
    assert untreated.check != "test_diagnosis"
    assert body(misdiagnosed.source) == body(case.exercise.reference)
    assert disease_of(misdiagnosed.source) in DISEASES.keys() - {right}
    assert misdiagnosed.check == "test_diagnosis"


@EVERY
def test_every_other_diagnosis_is_refused_without_the_right_one(case: Case) -> None:
    right = disease_of(case.exercise.reference)
    bench = harness.Bench(case.exercise.checks, case.exercise.reference)
    for name in DISEASES:
        learner = vars(harness.load("", "learner")) | {"diagnosis": lambda name=name: name}
        (outcome,) = bench.run(learner, seed=0, source="", only=("test_diagnosis",), seconds=5)
        assert outcome.state == ("passed" if name == right else "refused")
        assert right not in outcome.message or right in name


@EVERY
def test_each_check_asks_for_the_diagnosis_first(case: Case) -> None:
    for node in ast.parse(case.exercise.checks).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            assert node.args.args[0].arg == "diagnosis"
            first = node.body[0]
            assert isinstance(first, ast.Expr)
            assert isinstance(first.value, ast.Call)
            assert ast.unparse(first.value).startswith(("diagnosis()", "ward.confirm(diagnosis, "))


@EVERY
def test_the_stub_is_a_script_that_trains_when_it_is_run(case: Case) -> None:
    stub = case.exercise.stub
    assert stub.count("raise NotImplementedError") == 1, (
        "only the diagnosis is to be written; the rest is to be repaired"
    )
    assert "if __name__ == " in stub
    assert len(stub.splitlines()) < 90
    assert case.exercise.contract.chapter == "ward"
