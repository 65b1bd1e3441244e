"""Mutants of an exercise's reference, shown to its checks in a box: each must be refused, or be as right as it.

A mutant that all checks accept survives. Either it is as good as the reference: then an entry `{equivalent}` of the
exercise's `wrong.md` has it, with the reason; or the checks miss something: then one is written, or made stronger, and
the mutant, or what a learner would have to think to write it, becomes a wrong answer. When nothing survives, that is
kept as a proof, until something changes that a matrix depends on, or the operators (`torchbook_course.mutation`).

Mutants are programs of ours, but a changed loop may have no end: each has a process and a time limit of its own.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from torchbook.practice.exercise import Exercise
from torchbook_course import evaluate, matrices, mutation
from torchbook_course.matrices import Case
from torchbook_course.mutation import Mutant
from torchbook_course.sandbox import Box, SandboxError
from torchbook_proofs import Key, Store, digest

KIND = "mutants"  # of the proofs
MOST = 60  # mutants of an exercise that are tried; each costs a process
SEED = 0
_OPERATORS = Path(mutation.__file__)
_LEAST, _TIMES = 3.0, 5.0  # seconds, and times the reference's own, after which a mutant counts as one without an end


@dataclass(frozen=True)
class Seen:
    """How a mutant was taken: by which check and how it was refused; both empty if it was accepted."""

    operator: str
    line: int
    check: str
    state: str


@dataclass(frozen=True)
class Survey:
    """What became of an exercise's mutants.

    `made` counts all that there are, `seen` those that were tried, `survivors` those that all checks accepted and
    nobody called equivalent. `faults` are sentences on entries of `wrong.md` that do not hold; `seconds` are a share
    of what it took to try them and others in one box; `kept`, whether all this was found earlier.
    """

    exercise: str
    made: int
    seen: tuple[Seen, ...]
    equivalent: int
    survivors: tuple[Mutant, ...]
    faults: tuple[str, ...]
    seconds: float = 0.0
    kept: bool = False

    @property
    def refused(self) -> int:
        """How many of the tried ones a check refused, a time limit among them."""
        return sum(bool(seen.check) for seen in self.seen)

    @property
    def good(self) -> bool:
        """Whether nothing is left to do."""
        return not self.survivors and not self.faults


def survey(exercises: Sequence[Exercise], box: Box, store: Store | None = None, most: int = MOST) -> Iterator[Survey]:
    """What becomes of the mutants of exercises, one after the other; those of a quiz are none.

    Args:
        exercises: those to look at.
        box: the limits.
        store: where good surveys are kept; nowhere by default.
        most: as many mutants of each, and as many of those called equivalent, spread over operators.

    Raises:
        SandboxError: there is no sandbox, or a reference is not accepted in it.
        ExerciseError: a `wrong.md` is malformed.
    """
    for exercise in exercises:
        _ = exercise.equivalents  # read now, as the checks are: files may be edited meanwhile
    keys = {exercise.id: key(exercise, box, most) for exercise in exercises}
    kept = {name: store.get(keys[name]) if store else None for name in keys}
    found = _surveyed([exercise for exercise in exercises if kept[exercise.id] is None], box, most)
    for exercise in exercises:
        value = kept[exercise.id]
        if value is not None:
            yield _revived(value)
            continue
        one = next(found)
        if store and one.good and keys[exercise.id] == key(exercise, box, most):
            store.put(keys[exercise.id], asdict(one))
        yield one


def key(exercise: Exercise, box: Box, most: int = MOST) -> Key:
    """What a survey depends on: what a matrix does, and the operators."""
    of_matrix = matrices.key(Case(exercise, (SEED,)), box)
    parts = {**of_matrix.parts, "program": f"{of_matrix.parts['program']} {_program()}", "most": str(most)}
    return Key(KIND, of_matrix.subject, parts)


# What is written down, so that a machine with an empty store need not try all again.


def stamp(exercise: Exercise) -> str:
    """What a line of the record is about: the checks, the mutants and what is said of them, the operators.

    Of the statement counts what mutants it asks for, not its words. Packages are not in it, see `record`.
    """
    contract = exercise.contract
    of_gradients = mutation.speaks_of_gradients(exercise.statement)
    shown = [contract.id, contract.needs, contract.seconds, contract.data, of_gradients]
    files = sorted(path for path in exercise.folder.rglob("*") if path.is_file() and path.name != "exercise.md")
    return hashlib.sha256(f"{digest(*files, _OPERATORS)}{json.dumps(shown)}".encode()).hexdigest()


def record(found: Sequence[Survey], exercises: Sequence[Exercise], file: Path) -> None:
    """Write down good surveys in a JSON file, beside those of other exercises that it has.

    A line holds as long as its `stamp` is the exercise's. That it still holds with other packages is asked of a few
    mutants in each run of the tests, and of all in a run that keeps no proof.
    """
    by_id = {exercise.id: exercise for exercise in exercises}
    lines = recorded(file)
    for one in found:
        if one.good:
            counts = {"made": one.made, "tried": len(one.seen), "refused": one.refused, "equivalent": one.equivalent}
            lines[one.exercise] = {"stamp": stamp(by_id[one.exercise]), **counts}
    file.write_text(json.dumps(lines, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def recorded(file: Path) -> dict[str, dict[str, Any]]:
    """The lines of a record, by exercise; none where there is no file."""
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {}


@cache
def _program() -> str:
    return digest(Path(__file__), _OPERATORS)


def _revived(value: dict[str, Any]) -> Survey:
    seen = tuple(Seen(**fields) for fields in value["seen"])
    return Survey(**{**value, "seen": seen, "survivors": (), "faults": (), "seconds": 0.0, "kept": True})


def _surveyed(exercises: Sequence[Exercise], box: Box, most: int) -> Iterator[Survey]:
    """Surveys in turn; exercises of which few mutants are tried share a box, whose start costs more than a mutant."""
    trials = [
        _Trial(exercise, baseline, most)
        for exercise, baseline in zip(exercises, _baselines(exercises, box), strict=True)
    ]
    while trials:
        start, count = time.monotonic(), 0
        together = [trials.pop(0)]
        while trials and sum(len(trial.tried) for trial in [*together, trials[0]]) <= MOST:
            together.append(trials.pop(0))
        messages = list(_messages([request for trial in together for request in trial.asked()], box))
        seconds = (time.monotonic() - start) / len(together)
        for trial in together:
            yield trial.survey(messages[count : count + len(trial.tried)], seconds)
            count += len(trial.tried)


class _Trial:
    """An exercise and those of its mutants that are tried.

    Args:
        exercise: the exercise.
        baseline: the seconds of each of its checks with the reference.
        most: as many mutants, and as many of those called equivalent.
    """

    def __init__(self, exercise: Exercise, baseline: Mapping[str, float], most: int) -> None:
        self._exercise, self._baseline = exercise, baseline
        self._made = mutation.mutants(exercise.solution, exercise.statement)
        self._equivalent = {mutation.form(entry.source): entry for entry in exercise.equivalents}
        self._listed = [mutant for mutant in self._made if mutation.form(mutant.source) in self._equivalent]
        chosen = [*mutation.chosen(self._made, most), *mutation.chosen(self._listed, most)]
        self.tried = list(dict.fromkeys(chosen))

    def asked(self) -> list[dict[str, Any]]:
        """What the runner needs for each tried mutant; checks that are soon done come first."""
        order = sorted(self._baseline, key=lambda check: self._baseline[check])
        most = self._exercise.contract.seconds
        limit = min(most, max(_LEAST, _TIMES * sum(self._baseline.values())))
        return [_asked(self._exercise, mutant.source, order, limit) for mutant in self.tried]

    def survey(self, messages: Sequence[dict[str, Any]], seconds: float) -> Survey:
        """What the runner's messages say of the tried mutants."""
        seen, survivors, refused = [], [], []
        for mutant, message in zip(self.tried, messages, strict=True):
            check, state = _taken(message)
            seen.append(Seen(mutant.operator, mutant.line, check, state))
            entry = self._equivalent.get(mutation.form(mutant.source))
            if entry and check:
                refused.append(f"{entry.place}: said to be as right as the reference, and {check} refuses it ({state})")
            elif not entry and not check:
                survivors.append(mutant)
        return Survey(
            exercise=self._exercise.id,
            made=len(self._made),
            seen=tuple(seen),
            equivalent=len(self._listed),
            survivors=tuple(survivors),
            faults=(*self._stray(), *refused),
            seconds=round(seconds, 2),
        )

    def _stray(self) -> Iterator[str]:
        forms = {mutation.form(mutant.source) for mutant in self._listed}
        for form, entry in self._equivalent.items():
            if form not in forms:
                yield f"{entry.place}: no mutant of the reference is this; delete the block"


def diff(exercise: Exercise, mutant: Mutant) -> str:
    """A mutant as a block of `wrong.md`."""
    return f"```diff\n{mutation.block(exercise.reference, mutant.source)}\n```"


# In the box.


def _baselines(exercises: Sequence[Exercise], box: Box) -> Iterator[dict[str, float]]:
    """Of each exercise the seconds that each check takes for the reference."""
    asked = [
        _asked(exercise, exercise.reference, exercise.check_names, exercise.contract.seconds) for exercise in exercises
    ]
    for exercise, message in zip(exercises, _messages(asked, box), strict=True):
        outcomes = message.get("outcomes", [])
        if message["state"] != "ok" or {state for _, state, *_ in outcomes} != {"passed"}:
            raise SandboxError(f"{exercise.id}: its checks do not accept the reference: {message}")
        yield {name: seconds for name, _, _, seconds in outcomes}


def _taken(message: dict[str, Any]) -> tuple[str, str]:
    """By which check a mutant was refused and how; both empty if it was accepted."""
    if message["state"] != "ok":
        return "its process", message["state"]
    name, state, *_ = message["outcomes"][-1]
    return ("", "") if state == "passed" else (name or "its own code", state)


def _asked(exercise: Exercise, source: str, order: Sequence[str], seconds: float) -> dict[str, Any]:
    """What the runner needs to show one answer to checks."""
    contract = exercise.contract
    return {
        "id": exercise.id,
        "task": "mutant",
        "checks": exercise.checks,
        "public": "",
        "reference": exercise.reference,
        "prelude": exercise.prelude,
        "answers": {"": source},
        "order": list(order),
        "seed": SEED,
        "processes": "processes" in contract.needs,
        "compiler": "compiler" in contract.needs,
        "seconds": seconds,
        "data": list(contract.data),
    }


def _messages(asked: Sequence[dict[str, Any]], box: Box) -> Iterator[dict[str, Any]]:
    """The runner's messages; should a box end, the one that ran then counts as ended, and a new one goes on."""
    pending = list(asked)
    if any(request["compiler"] for request in pending):
        box = replace(box, file_mb=matrices.HEADERS_MB, disk_mb=2 * matrices.HEADERS_MB)
    while pending:
        messages, ended = evaluate.run(pending, box)
        if len(messages) < len(pending):
            messages = [*messages, evaluate.lost(ended)]
        yield from messages
        pending = pending[len(messages) :]
