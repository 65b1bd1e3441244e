"""Grades the answers of one submission in a box. Plain data in, plain data out, so that any engine can map it.

    job = {"exercises": [{
        "id": "p01-x3",
        "code": …, "context": …,          # the student's cell, and definitions from the student's other cells
        "checks": …, "reference": …,      # sources, of the instructor's folders
        "wrong": [{"name": …, "source": …}, …],
        "expected": matrix(…),            # made once for each exercise and seed, before any student's code runs
        "seed": 7, "seconds": 20, "data": ["fashion-mnist"],
        "processes": False,               # whether checks start processes; then wrong answers are not shown again
    }, …]}
    evaluate(job, Box()) == {"p01-x3": {"state": "ok", "detail": "", "outcomes": [{"name", "state", "message"}, …]}, …}

States: "ok", the checks ran (`detail` says what the cell itself raised); "syntax", the cell is not Python; "time",
"memory", the limit was reached; "died", the process ended; "tampered", the checks are not what they were; "lost", the
box ended for another reason, and someone should look. All but "ok" come without outcomes. A check that is not
among the outcomes did not pass.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from torchbook.course import sandbox
from torchbook.course.sandbox import Box, Ended, SandboxError
from torchbook.practice import harness
from torchbook.practice.exercise import Exercise

__all__ = ["Box", "SandboxError", "evaluate", "matrix", "tests_of"]

BUDGET = 0.5  # seconds that the tripwire's checks of an exercise may take together, times a box's patience
_START = 120.0  # seconds in which a box must have started and imported what the checks need
_EACH = 30.0  # seconds for an exercise beyond its own: the tripwire, and removing what it left
_STATES = ("ok", "died", "time", "tampered", "syntax", "memory")
_OUTCOMES = get_args(harness.State)


def evaluate(job: Mapping[str, Any], box: Box) -> dict[str, dict[str, Any]]:
    """Run a submission's answers and the checks on them, each exercise in a process of its own.

    Should the box itself end, the exercise that ran counts as not solved and a new box takes the remaining ones.

    Raises:
        SandboxError: there is no sandbox, or checks cannot run in it at all (torch is missing, say).
    """
    waiting = list(job["exercises"])
    results: dict[str, dict[str, Any]] = {}
    while waiting:
        said, ended = _run([_needed(exercise) for exercise in waiting], box)
        for exercise, message in zip(waiting, said, strict=False):
            results[exercise["id"]] = _result(message, _names(exercise))
        waiting = waiting[len(said) :]
        if waiting:
            results[waiting.pop(0)["id"]] = _lost(ended)
    return results


def tests_of(exercise: Exercise, seed: int) -> dict[str, Any]:
    """What a job has of an exercise, but for the matrix and the student's part."""
    return {
        "id": exercise.id,
        "checks": exercise.checks,
        "reference": exercise.reference,
        "wrong": [{"name": wrong.name, "source": wrong.source} for wrong in exercise.wrong],
        "seed": seed,
        "seconds": exercise.seconds,
        "data": list(exercise.data),
        "processes": "processes" in exercise.needs,
    }


def matrix(exercise: Mapping[str, Any], box: Box) -> dict[str, Any]:
    """Which check refuses which wrong answer, found in a box that sees no student's code.

    Args:
        exercise: as in a job; of it `checks`, `reference`, `wrong`, `seed`, `seconds` and `data` are looked at.
        box: the limits.

    Returns:
        "reference" and "wrong": the state of each check for the reference and, by name, for each wrong answer.
        "replay": the wrong answers that `evaluate` shows to the checks again after a student's code ran; together
        they are refused by every check, except those in "unwatched", for which all this would take too long.

    Raises:
        SandboxError: there is no sandbox, or the checks do not run in it.
    """
    asked = {"id": "matrix", "task": "matrix", **{key: exercise[key] for key in _SHARED}}
    said, ended = _run([asked], box)
    message: dict[str, Any] = said[0] if said else {"state": "lost", "detail": ended.errors}
    if message.get("state") != "ok":
        raise SandboxError(
            f"{exercise.get('id', 'an exercise')}: its wrong answers could not be checked ({message['state']}: "
            f"{message['detail']}); raise its `seconds`, or the box's memory"
        )
    found = message["matrix"]
    reference = found.pop("")
    # Processes are started once for all checks of an answer, so that what one check alone takes is not known.
    replay, unwatched = _replay({} if exercise.get("processes") else found, list(reference), BUDGET * box.patience)
    return {
        "reference": {check: state for check, (state, *_) in reference.items()},
        "messages": {check: message for check, (state, _, message) in reference.items() if state != "passed"},
        "wrong": {name: {check: state for check, (state, *_) in row.items()} for name, row in found.items()},
        "replay": replay,
        "unwatched": unwatched,
    }


_SHARED = ("checks", "reference", "wrong", "seed", "seconds", "data")


def _needed(exercise: Mapping[str, Any]) -> dict[str, Any]:
    """What the runner needs of an exercise: of the wrong answers, those that are shown again."""
    replayed = {replay["wrong"] for replay in exercise["expected"]["replay"]}
    wrong = [one for one in exercise["wrong"] if one["name"] in replayed]
    keys = ("id", "code", "context", "checks", "reference", "seed", "seconds", "data")
    expected = {"replay": exercise["expected"]["replay"]}
    return {key: exercise[key] for key in keys} | {"wrong": wrong, "expected": expected}


def _run(exercises: Sequence[dict[str, Any]], box: Box) -> tuple[list[dict[str, Any]], Ended]:
    """The runner's messages, one for each exercise that it finished, and how its box ended."""
    payload = json.dumps({"limits": sandbox.limits(box), "exercises": exercises}).encode()
    rounds = [len(e["wrong"]) + 1 if e.get("task") else 2 for e in exercises]
    each = [e["seconds"] * box.patience * n + _EACH for e, n in zip(exercises, rounds, strict=True)]
    names = sorted({name for exercise in exercises for name in exercise["data"]})
    ended = sandbox.run(box, payload, _START * box.patience + sum(each), names)
    messages = [json.loads(line) for line in ended.output.split(b"\n")[:-1]]
    if not messages:
        last = ended.errors.strip().splitlines()[-1:] or [f"status {ended.status}, {ended.reason or 'no message'}"]
        raise SandboxError(f"the runner does not start in a box of {box.python}: {last[0]}")
    return messages[1:], ended


def _names(exercise: Mapping[str, Any]) -> Iterable[str]:
    """Names of the checks: from the matrix, as parsing in several threads at once can fail in Python 3.11."""
    known = exercise["expected"].get("reference")
    return known or [check.name for check in harness.checks_of(exercise["checks"])]


def _result(message: Mapping[str, Any], checks: Iterable[str]) -> dict[str, Any]:
    """A message as a result. It comes from a process that students' code ran in: nothing in it is taken on trust."""
    state, detail, said = message.get("state"), message.get("detail"), message.get("outcomes")
    if state not in _STATES or not isinstance(detail, str):
        return {"state": "tampered", "detail": "the result is not one that the runner writes", "outcomes": []}
    outcomes = list(_outcomes(said if isinstance(said, list) else [], checks)) if state == "ok" else []
    return {"state": state, "detail": detail[: harness.MESSAGE], "outcomes": outcomes}


def _outcomes(said: Iterable[Any], checks: Iterable[str]) -> Iterable[dict[str, str]]:
    """One outcome at most for each check that there is."""
    names = set(checks)
    for outcome in said:
        given = outcome if isinstance(outcome, dict) else {}
        name, state, text = (str(given.get(key, "")) for key in ("name", "state", "message"))
        if name in names and state in _OUTCOMES:
            names.discard(name)
            yield {"name": name, "state": state, "message": text[: harness.MESSAGE]}


def _lost(ended: Ended) -> dict[str, Any]:
    why = ended.errors.strip().splitlines()[-1:] or [f"status {ended.status}"]
    detail = {"time": "the box took too long", "memory": "the box took too much memory"}.get(ended.reason)
    return {"state": ended.reason or "lost", "detail": detail or f"the box ended: {why[0]}", "outcomes": []}


def _replay(
    found: Mapping[str, Mapping[str, Any]], checks: Sequence[str], budget: float
) -> tuple[list[dict[str, Any]], list[str]]:
    """For each check the wrong answer that fewest checks refuse, the soonest first, as long as the budget lasts.

    An answer that only this check refuses needs all of what the check looks at, so that a change of the check, or of
    what it draws, shows.
    """
    refusals = {name: sum(state == "refused" for state, *_ in row.values()) for name, row in found.items()}
    chosen: dict[str, list[str]] = {}
    picked = []
    for check in checks:
        refusing = [(refusals[name], name) for name, row in found.items() if row[check][0] == "refused"]
        if refusing:
            name = min(refusing)[1]
            picked.append((found[name][check][1], name, check))
    left = budget
    for seconds, name, check in sorted(picked):
        left -= seconds
        if left >= 0:
            chosen.setdefault(name, []).append(check)
    watched = {check for names in chosen.values() for check in names}
    replay = [{"wrong": name, "checks": names} for name, names in chosen.items()]
    return replay, [check for check in checks if check not in watched]
