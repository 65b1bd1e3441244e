"""Grades the answers of submissions in a box. Plain data in, plain data out, so that any engine can map it.

    job = {"exercises": [{
        "id": "p01-x3",
        "code": …, "context": …,          # the student's cell, and definitions from the student's other cells
        "checks": …, "reference": …,      # sources, of the instructor's folders
        "wrong": [{"name": …, "source": …}, …],
        "expected": matrices.expected(…), # made once for each exercise and seed, before any student's code runs
        "seed": 7, "seconds": 20, "data": ["fashion-mnist"],
        "processes": False,               # whether checks start some, which are then forked from a warm one
    }, …]}
    evaluate(job, Box()) == {"p01-x3": {"state": "ok", "detail": "", "outcomes": [{"name", "state", "message"}, …]}, …}

`evaluate_all` takes several jobs, one after the other in one box, so that torch is imported once for all of them. What
keeps the exercises of one submission apart keeps submissions apart: each exercise is a process forked from one that
runs no student's code, and before the next begins, all processes have ended and /tmp and /dev/shm are empty. Where
they cannot be emptied, the next gets a new box.

States: "ok", the checks ran (`detail` says what the cell itself raised); "syntax", the cell is not Python; "time",
"memory", "processes", the limit was reached; "died", the process ended; "tampered", the checks are not what they
were; "lost", the box ended for another reason, and someone should look. All but "ok" come without outcomes. A check
that is not among the outcomes did not pass.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from torchbook.practice import harness
from torchbook.practice.exercise import Exercise
from torchbook_course import sandbox
from torchbook_course.sandbox import Box, Ended, SandboxError

__all__ = ["Box", "SandboxError", "evaluate", "evaluate_all", "lost", "run", "tests_of"]

BUDGET = 0.5  # seconds that the tripwire's checks of an exercise may take together, times a box's patience
_START = 120.0  # seconds in which a box must have started and imported what the checks need
_EACH = 30.0  # seconds for an exercise beyond its own: the tripwire, and removing what it left
_STATES = ("ok", "died", "time", "tampered", "syntax", "memory", "processes")
_OUTCOMES = get_args(harness.State)


def evaluate(job: Mapping[str, Any], box: Box) -> dict[str, dict[str, Any]]:
    """Run a submission's answers and the checks on them, each exercise in a process of its own.

    Should the box itself end, the exercise that ran counts as not solved and a new box takes the remaining ones.

    Raises:
        SandboxError: there is no sandbox, or checks cannot run in it at all (torch is missing, say).
    """
    return evaluate_all({"": job}, box)[""][0]


def evaluate_all(jobs: Mapping[str, Mapping[str, Any]], box: Box) -> dict[str, tuple[dict[str, dict[str, Any]], float]]:
    """As `evaluate`, several submissions one after the other: for each its results, and the seconds they took."""
    waiting = [(student, exercise) for student, job in jobs.items() for exercise in job["exercises"]]
    results: dict[str, dict[str, dict[str, Any]]] = {student: {} for student in jobs}
    seconds = dict.fromkeys(jobs, 0.0)
    while waiting:
        messages, ended = run([_needed(exercise) for _, exercise in waiting], box)
        left = bool(messages) and bool(messages[-1].get("left"))
        for (student, exercise), message in zip(waiting, messages, strict=False):
            results[student][exercise["id"]] = _result(message, _names(exercise))
            seconds[student] += message.get("seconds", 0.0)
        waiting = waiting[len(messages) :]
        if waiting and not left:
            student, exercise = waiting.pop(0)
            results[student][exercise["id"]] = lost(ended)
    return {student: (found, round(seconds[student], 2)) for student, found in results.items()}


def tests_of(exercise: Exercise, seed: int) -> dict[str, Any]:
    """What a job has of an exercise, but for the matrix and the student's part."""
    return {
        "id": exercise.contract.id,
        "checks": exercise.checks,
        "public": exercise.public_checks,
        "reference": exercise.reference,
        "wrong": [{"name": wrong.name, "source": wrong.source} for wrong in exercise.wrong],
        "seed": seed,
        "seconds": exercise.contract.seconds,
        "data": list(exercise.contract.data),
        "processes": "processes" in exercise.contract.needs,
    }


def _needed(exercise: Mapping[str, Any]) -> dict[str, Any]:
    """What the runner needs of an exercise: of the wrong answers, those that are shown again."""
    replayed = {replay["wrong"] for replay in exercise["expected"]["replay"]}
    wrong = [answer for answer in exercise["wrong"] if answer["name"] in replayed]
    keys = ("id", "code", "context", "checks", "public", "reference", "seed", "seconds", "data", "processes")
    expected = {"replay": exercise["expected"]["replay"]}
    return {key: exercise[key] for key in keys if key in exercise} | {"wrong": wrong, "expected": expected}


def run(exercises: Sequence[dict[str, Any]], box: Box) -> tuple[list[dict[str, Any]], Ended]:
    """The runner's messages, one for each exercise that it finished, and how its box ended.

    Args:
        exercises: as the runner reads them (`torchbook_course.runner`).
        box: the limits.

    Raises:
        SandboxError: there is no sandbox, or the runner does not start in it.
    """
    payload = json.dumps({"limits": sandbox.limits(box), "exercises": exercises}).encode()
    rounds = [len(e["rounds"]) + len(e["rows"]) + 1 if e.get("task") == "matrix" else 2 for e in exercises]
    seconds = [e["seconds"] * box.patience * n + _EACH for e, n in zip(exercises, rounds, strict=True)]
    names = sorted({name for exercise in exercises for name in exercise["data"]})
    ended = sandbox.run(box, payload, _START * box.patience + sum(seconds), names)
    messages = [json.loads(line) for line in ended.output.split(b"\n")[:-1]]
    if not messages:
        last = ended.errors.strip().splitlines()[-1:] or [f"status {ended.status}, {ended.reason or 'no message'}"]
        raise SandboxError(f"the runner does not start in a box of {box.python}: {last[0]}")
    return messages[1:], ended


def _names(exercise: Mapping[str, Any]) -> Iterable[str]:
    """Names of the checks: from the matrix, as parsing in several threads at once can fail in Python 3.11."""
    states = exercise["expected"].get("reference")
    return states or [check.name for check in harness.checks_of(exercise["checks"])]


def _result(message: Mapping[str, Any], checks: Iterable[str]) -> dict[str, Any]:
    """A message as a result. It comes from a process that students' code ran in: nothing in it is taken on trust."""
    state, detail, raw = message.get("state"), message.get("detail"), message.get("outcomes")
    if state not in _STATES or not isinstance(detail, str):
        return {"state": "tampered", "detail": "the result is not one that the runner writes", "outcomes": []}
    outcomes = list(_outcomes(raw if isinstance(raw, list) else [], checks)) if state == "ok" else []
    return {"state": state, "detail": detail[: harness.MESSAGE], "outcomes": outcomes}


def _outcomes(raw: Iterable[Any], checks: Iterable[str]) -> Iterable[dict[str, str]]:
    """One outcome at most for each check that there is."""
    names = set(checks)
    for outcome in raw:
        fields = outcome if isinstance(outcome, dict) else {}
        name, state, text = (str(fields.get(key, "")) for key in ("name", "state", "message"))
        if name in names and state in _OUTCOMES:
            names.discard(name)
            yield {"name": name, "state": state, "message": text[: harness.MESSAGE]}


def lost(ended: Ended) -> dict[str, Any]:
    """The result of an exercise during which its box ended."""
    why = ended.errors.strip().splitlines()[-1:] or [f"status {ended.status}"]
    detail = {
        "time": "the box took too long",
        "memory": "the box took too much memory",
        "processes": "the box started too many processes",
    }.get(ended.reason)
    return {"state": ended.reason or "lost", "detail": detail or f"the box ended: {why[0]}", "outcomes": []}
