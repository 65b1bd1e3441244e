"""How the checks of an exercise take the answers to it: its matrix, found in a box and kept as a proof.

The reference must pass all checks, the stub must be unsolved, and each wrong answer must be refused by the check that
it names, in words of that check's own. Whether that is so depends on the exercise, on what its code imports and on
this machine; while none of these changes, a matrix in which all of it was seen stands, and one in which it was not is
found anew. Three readers share it: the tests of the exercises, `torchbook course new`, and grading, which shows
students' code some wrong answers again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pydantic

from torchbook import data
from torchbook.practice import harness
from torchbook.practice.exercise import HIDDEN, Exercise
from torchbook.practice.harness import Outcome
from torchbook_course import evaluate, sandbox
from torchbook_course.sandbox import Box, SandboxError
from torchbook_proofs import Key, Store, digest, installed, processor
from torchbook_proofs.imports import closure, mentioned

KIND = "matrix"  # of the proofs
REFERENCE, STUB, NOTHING, PUBLISHED = "", "<stub>", "<nothing>", "<the published solution>"
MUTE = "the check does not hold"  # what a check says of itself whose assertion says nothing
SLOW = 90.0  # seconds from which a limit says that checks cost something
_PROGRAM = ("matrices.py", "evaluate.py", "sandbox.py", "syscalls.py", *sandbox.RUNNER)
_DERIVING = "torchbook.practice.exercise"  # the module that reads an exercise from its folder
_HARNESS = "torchbook.practice.harness"
HEADERS_MB = 2000  # what parsed C++ headers may need

Purpose = Literal["reference", "stub", "nothing", "public", "wrong", "again", "row", "published"]


@dataclass(frozen=True)
class Case:
    """An exercise as a learner or a class gets it, and how much is shown to its checks.

    Attributes:
        exercise: in its variant.
        seeds: under which the reference and the wrong answers are checked; of those after the first fewer count where
            checks are slow.
        published: the solution that everyone can read, if this is a variant of that exercise.
        grading: whether it is for a class: each wrong answer is also shown to all checks, of which grading chooses
            some, and a warning is no fault of the reference.
    """

    exercise: Exercise
    seeds: tuple[int, ...]
    published: str = ""
    grading: bool = False

    @property
    def slow(self) -> bool:
        """Whether a check costs a training, processes, or as much by the limit that it is given."""
        contract = self.exercise.contract
        return bool(contract.data) or "processes" in contract.needs or contract.seconds >= SLOW

    @property
    def seeds_of_reference(self) -> tuple[int, ...]:
        """Seeds under which the reference is checked."""
        return self.seeds[:2] if self.slow else self.seeds

    @property
    def seeds_of_wrong(self) -> tuple[int, ...]:
        """Seeds under which each wrong answer is checked by the check that it names."""
        return self.seeds[:1] if self.slow else self.seeds

    @property
    def processes(self) -> bool:
        """Whether checks start processes."""
        return "processes" in self.exercise.contract.needs


class _Kept(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)


class Shown(_Kept):
    """An answer that was shown to checks under a seed, and how each took it."""

    purpose: Purpose
    answer: str
    seed: int
    outcomes: tuple[Outcome, ...]


class Matrix(_Kept):
    """What was seen. `named` has by name of a wrong answer the check that must refuse it, `refuses` by check an answer
    that it refuses, "" if none; `limit` is the exercise's own, in seconds; `processes`, whether checks start some.
    `problem` says why nothing was seen.
    """

    exercise: str
    checks: tuple[str, ...]
    named: dict[str, str]
    limit: float
    processes: bool = False
    shown: tuple[Shown, ...] = ()
    refuses: dict[str, str] = {}
    problem: str = ""

    def of(self, purpose: Purpose) -> Iterator[Shown]:
        """What was shown for a purpose, in the order of seeds and answers."""
        return (shown for shown in self.shown if shown.purpose == purpose)


class Fault(_Kept):
    """Something in a matrix that must not be; `text` names exercise, answer, check, seed and message."""

    kind: Literal["box", "reference", "time", "stub", "nothing", "public", "wrong", "words", "idle", "published"]
    text: str


def of(cases: Iterable[Case], box: Box, store: Store | None = None) -> list[Matrix]:
    """The matrices of cases: kept ones, and the others found in boxes that they share.

    Args:
        cases: those that share a box import torch once.
        box: the limits; its patience multiplies time limits.
        store: where good matrices are kept; nowhere by default.

    Raises:
        SandboxError: there is no sandbox.
    """
    listed = list(cases)
    keys = [key(case, box) if store else None for case in listed]
    values = [store.get(case_key) if store and case_key else None for case_key in keys]
    matrices = [None if value is None else Matrix.model_validate(value) for value in values]
    missing = [number for number, matrix in enumerate(matrices) if matrix is None]
    for number, matrix in zip(missing, _seen([listed[number] for number in missing], box), strict=True):
        matrices[number] = matrix
        case_key = keys[number]
        if store and case_key and case_key == key(listed[number], box) and not any(faults(matrix, box.patience)):
            store.put(case_key, matrix.model_dump(mode="json"))
    return [matrix for matrix in matrices if matrix is not None]


# What a matrix depends on.


def key(case: Case, box: Box) -> Key:
    """What a matrix is of, and all that it depends on.

    A matrix is kept only if its key is the same before and after it was found: files may be edited meanwhile.
    """
    exercise, contract = case.exercise, case.exercise.contract
    limits = {name: value for name, value in asdict(box).items() if name not in ("patience", "python")}
    form = [exercise.variant_name, *([exercise.solution, exercise.checks] if contract.kind == "quiz" else [])]
    parts = {
        "exercise": digest(exercise.folder),
        "form": hashlib.sha256("\0".join(form).encode()).hexdigest(),
        "shown": json.dumps([case.seeds, case.grading, case.published]),
        "program": f"{_program()} {_IMPORTED}",
        "modules": digest(*_modules(exercise.folder), root=sandbox.LEARNERS),
        "data": json.dumps([_fingerprint(name) for name in contract.data]),
        "tools": _tools() if "compiler" in contract.needs else "",
        "versions": installed() if box.python == sys.executable else box.python,
        "processor": processor(),
        "box": json.dumps(limits, sort_keys=True),
    }
    return Key(KIND, "-".join(filter(None, (contract.id, exercise.variant_name))), parts)


def _modules(folder: Path) -> tuple[Path, ...]:
    """Files of what learners have that the exercise's code imports, that runs its checks, and that reads it."""
    files = [path for path in folder.rglob("*") if path.suffix in (".py", ".md")]
    names = {name for path in files for name in mentioned(path.read_text(encoding="utf-8"), "torchbook")}
    imported = closure(sandbox.LEARNERS, names - {"torchbook"})
    deriving = closure(sandbox.LEARNERS, (_DERIVING, _HARNESS), parents=False)
    return tuple(sorted({*imported, *deriving}))


def _fingerprint(name: str) -> str:
    """Of the data that are here: the real ones or the stand-in."""
    return data.prepare(name, download=False).fingerprint


def _program() -> str:
    return digest(*(Path(__file__).with_name(name) for name in _PROGRAM))


_IMPORTED = _program()  # as this process has it, which may have been edited since


@cache
def _tools() -> str:
    """The version of the C++ compiler."""
    compiler = shutil.which("g++")
    return subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout if compiler else ""


# What is shown.


@dataclass(frozen=True)
class _Round:
    """An answer to be shown to some checks, or to all, as the runner's `_Show.shown` has it."""

    purpose: Purpose
    answer: str
    seed: int
    only: tuple[str, ...] | None = None
    public: bool = False
    cold: bool = False
    strict: bool = False


def _rounds(case: Case) -> Iterator[_Round]:
    first, exercise = case.seeds[0], case.exercise
    yield from _reference(case)
    yield _Round("stub", STUB, first)
    yield _Round("nothing", NOTHING, first)
    if exercise.public_checks:
        yield _Round("public", STUB, first, public=True)
    for wrong in exercise.wrong:
        for seed in case.seeds_of_wrong:
            yield _Round("wrong", wrong.name, seed, (wrong.check,))
    for place, seed in enumerate(case.seeds_of_wrong):
        wrong = exercise.wrong[place % len(exercise.wrong)]
        yield _Round("again", wrong.name, seed, (wrong.check,))
    if case.published:
        yield _Round("published", PUBLISHED, first)


def _rows(case: Case) -> list[_Round]:
    """Wrong answers for all checks."""
    has_rows = case.grading and not case.processes
    return [_Round("row", wrong.name, case.seeds[0]) for wrong in case.exercise.wrong] if has_rows else []


def _reference(case: Case) -> Iterator[_Round]:
    """The reference: under the first seed as learners run it, without anything kept warm.

    Of exercises that start processes this holds for the public checks only.
    """
    for seed in case.seeds_of_reference:
        first = seed == case.seeds[0]
        checks = harness.checks_of(case.exercise.checks)
        names = [check.name for check in checks if first or not case.slow or "seed" in check.parameters]
        warm_names = [name for name in names if case.processes and name.startswith(HIDDEN)] if first else names
        cold_names = [name for name in names if name not in warm_names]
        strict = not case.grading
        if cold_names:
            yield _Round("reference", REFERENCE, seed, tuple(cold_names), cold=True, strict=strict)
        if warm_names:
            yield _Round("reference", REFERENCE, seed, tuple(warm_names), strict=strict)


def _searches(case: Case) -> dict[str, dict[str, Any]]:
    """For each check that no wrong answer names, the answers in which to look for one that it refuses.

    First come those meant for checks of the same functions.
    """
    checks = harness.checks_of(case.exercise.checks)
    functions = {check.name: set(check.parameters) - set(harness.FIXTURES) for check in checks}
    named = {wrong.check for wrong in case.exercise.wrong}
    searches = {}
    for check in functions.keys() - named:
        likely = sorted(case.exercise.wrong, key=lambda wrong: -len(functions[wrong.check] & functions[check]))
        searches[check] = {"answers": [wrong.name for wrong in likely], "seed": case.seeds[0]}
    return searches


def _asked(case: Case, rounds: Sequence[_Round]) -> dict[str, Any]:
    """What the runner needs."""
    exercise, contract = case.exercise, case.exercise.contract
    answers = {wrong.name: wrong.source for wrong in exercise.wrong}
    answers |= {REFERENCE: exercise.reference, STUB: exercise.stub, NOTHING: "", PUBLISHED: case.published}
    return {
        "id": contract.id,
        "task": "matrix",
        "checks": exercise.checks,
        "public": exercise.public_checks,
        "reference": exercise.reference,
        "prelude": exercise.prelude,
        "answers": answers,
        "rounds": [{name: value for name, value in asdict(request).items() if name != "purpose"} for request in rounds],
        "searches": _searches(case),
        "rows": [{"answer": request.answer, "seed": request.seed} for request in _rows(case)],
        "budget": evaluate.BUDGET,
        "processes": case.processes,
        "compiler": "compiler" in contract.needs,
        "seconds": contract.seconds,
        "data": list(contract.data),
    }


# In the box.


def _seen(cases: Sequence[Case], box: Box) -> Iterator[Matrix]:
    """Matrices of cases, all in one box unless that ends; those with a C++ compiler have a larger one of their own."""
    shared = [case for case in cases if "compiler" not in case.exercise.contract.needs]
    matrices = {id(case): matrix for case, matrix in zip(shared, _together(shared, box), strict=True)}
    for case in cases:
        if id(case) in matrices:
            yield matrices[id(case)]
        else:
            yield from _together([case], replace(box, file_mb=HEADERS_MB, disk_mb=2 * HEADERS_MB))


def _together(cases: Sequence[Case], box: Box) -> Iterator[Matrix]:
    rounds = [list(_rounds(case)) for case in cases]
    pending = [_asked(*pair) for pair in zip(cases, rounds, strict=True)]
    while pending:
        messages, ended = evaluate.run(pending, box)
        if len(messages) < len(pending):  # the box ended during the next one
            messages = [*messages, evaluate.lost(ended)]
        for message in messages:
            yield _matrix(cases[len(cases) - len(pending)], rounds[len(cases) - len(pending)], message)
            pending = pending[1:]


def _matrix(case: Case, rounds: Sequence[_Round], message: Mapping[str, Any]) -> Matrix:
    exercise = case.exercise
    named = {wrong.name: wrong.check for wrong in exercise.wrong}
    matrix = Matrix(
        exercise=exercise.contract.id,
        checks=exercise.check_names,
        named=named,
        limit=exercise.contract.seconds,
        processes=case.processes,
    )
    if message["state"] != "ok":
        return matrix.model_copy(update={"problem": f"{message['state']}: {message['detail']}"})
    shown = [
        Shown(purpose=request.purpose, answer=request.answer, seed=request.seed, outcomes=_outcomes(request, outcomes))
        for request, outcomes in zip([*rounds, *_rows(case)], [*message["rounds"], *message["rows"]], strict=True)
    ]
    refuses = dict.fromkeys(exercise.check_names, "") | message["searched"]
    for entry in shown:
        if entry.purpose == "wrong" and entry.outcomes[0].state == "refused":
            refuses[entry.outcomes[0].name] = refuses.get(entry.outcomes[0].name) or entry.answer
    return matrix.model_copy(update={"shown": tuple(shown), "refuses": refuses})


def _outcomes(request: _Round, raw: Sequence[tuple[str, Any, str, float]]) -> tuple[Outcome, ...]:
    """Outcomes as they came; of whole rows only states and seconds are looked at."""
    brief = request.purpose == "row"
    return tuple(Outcome(name, state, "" if brief else message, seconds) for name, state, message, seconds in raw)


# Whether it is good.


def faults(matrix: Matrix, patience: float = 1.0) -> Iterator[Fault]:
    """All that must not be; a matrix without faults is good.

    Args:
        matrix: of any exercise.
        patience: by which the machine may be slower than one of one's own.
    """
    if matrix.problem:
        yield Fault(kind="box", text=f"{matrix.exercise}: its checks do not run in the box ({matrix.problem})")
        return
    for shown in matrix.of("reference"):
        yield from _unless(matrix, shown, "reference", "passed", "the reference")
    spent = sum(outcome.seconds for outcome in _at_first_seed(matrix))
    if spent > matrix.limit / 2 * patience:
        text = f"{matrix.exercise}: the reference takes {spent:.1f} s, more than half of the limit, {matrix.limit:g} s"
        yield Fault(kind="time", text=text)
    for shown in matrix.of("stub"):
        yield from _unless(matrix, shown, "stub", "unsolved", "the stub")
    for shown in matrix.of("nothing"):
        yield from _unless(matrix, shown, "nothing", "missing", "an empty answer")
    for shown in matrix.of("public"):
        yield from _unless(matrix, shown, "public", "unsolved", "alone, without the hidden checks, the stub")
    yield from _faults_of_wrong(matrix)
    for check in matrix.checks:
        if not matrix.refuses.get(check):
            yield Fault(kind="idle", text=f"{matrix.exercise}: {check} refuses no wrong answer")
    for shown in matrix.of("published"):
        if {outcome.state for outcome in shown.outcomes} == {"passed"}:
            yield Fault(kind="published", text=f"{matrix.exercise}: the variant accepts the published solution")


def _at_first_seed(matrix: Matrix) -> Iterator[Outcome]:
    references = list(matrix.of("reference"))
    return (outcome for shown in references if shown.seed == references[0].seed for outcome in shown.outcomes)


def _unless(matrix: Matrix, shown: Shown, kind: Any, state: str, what: str) -> Iterator[Fault]:
    """Faults of an answer that all checks must take alike."""
    if not shown.outcomes:
        yield Fault(kind=kind, text=f"{matrix.exercise}: {what}, seed {shown.seed}: no check was run")
    for outcome in shown.outcomes:
        if outcome.state != state or (state == "passed" and outcome.message):
            yield Fault(kind=kind, text=f"{matrix.exercise}: {what}, seed {shown.seed}: {_words(outcome)}, not {state}")


def _faults_of_wrong(matrix: Matrix) -> Iterator[Fault]:
    messages = {}
    for shown in matrix.of("wrong"):
        (outcome,) = shown.outcomes
        messages[shown.answer, shown.seed] = outcome.message
        subject = f"{matrix.exercise}: wrong answer {shown.answer}, seed {shown.seed}"
        if (outcome.name, outcome.state) != (matrix.named[shown.answer], "refused"):
            yield Fault(kind="wrong", text=f"{subject}: {_words(outcome)}, not refused by {matrix.named[shown.answer]}")
        elif outcome.message == MUTE:
            yield Fault(kind="wrong", text=f"{subject}: {outcome.name} says nothing of the misconception")
    for answer in matrix.named.keys() - {answer for answer, _ in messages}:
        yield Fault(kind="wrong", text=f"{matrix.exercise}: wrong answer {answer} was not shown")
    for shown in matrix.of("again"):
        (outcome,) = shown.outcomes
        if outcome.message != messages[shown.answer, shown.seed]:
            text = f"wrong answer {shown.answer}, seed {shown.seed}: {outcome.name} says first "
            text += f"{messages[shown.answer, shown.seed]!r}, then {outcome.message!r}"
            yield Fault(kind="words", text=f"{matrix.exercise}: {text}")


def _words(outcome: Outcome) -> str:
    return f"{outcome.name or 'its own code'} → {outcome.state}{f' ({outcome.message})' if outcome.message else ''}"


def advice(exercises: Sequence[Exercise], seed: int, box: Box, store: Store | None) -> Iterator[str]:
    """What an instructor should know of exercises for a class before students have them, in sentences."""
    why_not = sandbox.available(box)
    if why_not:
        yield f"the exercises were not tried out: {why_not}"
        return
    for matrix in of([Case(exercise, (seed,), grading=True) for exercise in exercises], box, store):
        problems = list(faults(matrix, box.patience))
        yield from (f"does not hold here: {fault.text}" for fault in problems)
        unwatched = [] if matrix.problem else expected(matrix, box.patience)["unwatched"]
        if unwatched and len(unwatched) < len(matrix.checks):  # all, where checks start processes
            subject = f"{matrix.exercise}: {', '.join(unwatched)}"
            yield f"{subject} will not be tried again after students' code ran, as that takes too long"


# For grading.


def expected(matrix: Matrix, patience: float = 1.0) -> dict[str, Any]:
    """What a job has of a matrix (`torchbook_course.evaluate`).

    Returns:
        "reference" and "messages": the state of each check for the reference, and the words of those not passed.
        "replay": the wrong answers that `evaluate` shows to the checks again after a student's code ran; together
        they are refused by every check, except those in "unwatched", for which all this would take too long.

    Raises:
        SandboxError: the checks do not run in the box, so there is no matrix.
    """
    if matrix.problem:
        remedy = "raise its `seconds`, or the box's memory"
        raise SandboxError(f"{matrix.exercise}: its checks do not run in the box ({matrix.problem}); {remedy}")
    reference = {outcome.name: outcome for outcome in _at_first_seed(matrix)}
    rows = {shown.answer: {outcome.name: outcome for outcome in shown.outcomes} for shown in _to_choose(matrix)}
    replay, unwatched = _replay(rows, matrix.checks, evaluate.BUDGET * patience)
    return {
        "reference": {check: outcome.state for check, outcome in reference.items()},
        "messages": {check: outcome.message for check, outcome in reference.items() if outcome.state != "passed"},
        "replay": replay,
        "unwatched": unwatched,
    }


def _to_choose(matrix: Matrix) -> Iterator[Shown]:
    """What of a matrix says which checks refuse an answer, and how soon: rows, else each answer's own check.

    Processes are started once for all checks of an answer, so what one takes of them is not known: nothing is chosen.
    """
    if not matrix.processes:
        rows = list(matrix.of("row"))
        yield from rows or (shown for shown in matrix.of("wrong") if shown.outcomes[0].name)


def _replay(
    rows: Mapping[str, Mapping[str, Outcome]], checks: Sequence[str], budget: float
) -> tuple[list[dict[str, Any]], list[str]]:
    """For each check the wrong answer that fewest checks refuse, the soonest first, as long as the budget lasts.

    An answer that only this check refuses needs all of what the check looks at, so that a change of the check, or of
    what it draws, shows.
    """
    refusals = {name: sum(outcome.state == "refused" for outcome in row.values()) for name, row in rows.items()}
    candidates = []
    for check in checks:
        refusing = [
            (refusals[name], name) for name, row in rows.items() if check in row and row[check].state == "refused"
        ]
        if refusing:
            name = min(refusing)[1]
            candidates.append((rows[name][check].seconds, name, check))
    chosen: dict[str, list[str]] = {}
    remaining = budget
    for seconds, name, check in sorted(candidates):
        remaining -= seconds
        if remaining >= 0:
            chosen.setdefault(name, []).append(check)
    watched = {check for names in chosen.values() for check in names}
    return [{"wrong": name, "checks": names} for name, names in chosen.items()], [c for c in checks if c not in watched]
