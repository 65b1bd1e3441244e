"""From what the sandbox says of an answer to points, and to words that give no hidden check away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torchbook.course.results import Asked, Check, Part, Verdict, shares
from torchbook.course.submission import Answer
from torchbook.practice.exercise import HIDDEN, Exercise, Points

NOTHING = ("tampered", "lost", "gone")  # states in which no check counts
_LINE = 12  # characters from which a line of a hidden check is told from any other line
_MESSAGE = 600


def asked(exercise: Exercise, points: Points) -> Asked:
    """What the results say of an exercise."""
    hints = {name: hint.symptom for name in exercise.check_names if (hint := exercise.hint_for(name))}
    meant: dict[str, tuple[str, ...]] = {}
    for wrong in exercise.wrong:
        meant[wrong.check] = (*meant.get(wrong.check, ()), wrong.misconception)
    return Asked(
        id=exercise.id,
        title=exercise.title,
        public=points.public,
        hidden=points.hidden,
        checks=exercise.check_names,
        hints=hints,
        misconceptions=meant,
    )


def part(exercise: Exercise, wanted: Asked, answer: Answer | None, result: Mapping[str, Any] | None) -> Part:
    """An exercise's checks as they went, and their points: of public and hidden checks, in proportion to those passed.

    `result` is what `torchbook.course.evaluate` says of the exercise, None where there was nothing to run.
    """
    if answer is None or result is None:
        return Part(exercise=exercise.id, state="gone" if answer is None else "lost")
    said = {str(outcome["name"]): outcome for outcome in result.get("outcomes", ())}
    secrets = _secrets(exercise, answer)
    checks = tuple(
        Check(name=name, state=str(said[name]["state"]), message=_open(str(said[name]["message"]), secrets))
        for name in exercise.check_names
        if name in said
    )
    state = str(result["state"])
    counted = {check.name for check in checks if check.state == "passed"} if state not in NOTHING else set()
    hidden = [name for name in wanted.checks if name.startswith(HIDDEN)]
    public = [name for name in wanted.checks if name not in hidden]
    return Part(
        exercise=exercise.id,
        state=state,
        detail=str(result.get("detail", "")) if state == "tampered" else _open(str(result.get("detail", "")), secrets),
        checks=checks,
        public=shares(len(counted.intersection(public)), len(public), wanted.public),
        hidden=shares(len(counted.intersection(hidden)), len(hidden), wanted.hidden),
    )


def _secrets(exercise: Exercise, answer: Answer) -> tuple[str, ...]:
    """Lines of hidden checks and of the reference that the student did not write."""
    written = {line.strip() for line in f"{answer.source}\n{answer.context}\n{exercise.stub}".split("\n")}
    shown = {line.strip() for line in exercise.public_checks.split("\n")}
    lines = {line.strip() for line in f"{exercise.checks}\n{exercise.reference}".split("\n")}
    told = {line for line in lines - written - shown if len(line) >= _LINE}
    return (*(name for name in exercise.check_names if name.startswith(HIDDEN)), *told)


def _open(message: str, secrets: Sequence[str]) -> str:
    """A message as a student may read it: not one that carries what is hidden."""
    if any(secret in message for secret in secrets):
        return "(this message is withheld: it quotes what is hidden)"
    return message if len(message) <= _MESSAGE else message[:_MESSAGE] + " …"


def verdicts(wanted: Sequence[Asked], parts: Mapping[str, Part]) -> dict[str, Verdict]:
    """What nbgrader writes into the grade cells, by their grade_id."""
    found = {}
    for one in wanted:
        done = parts[one.id]
        states = {check.name: check for check in done.checks}
        hidden = [name for name in one.checks if name.startswith(HIDDEN)]
        public = [name for name in one.checks if name not in hidden]
        head = tuple(filter(None, (done.state.removeprefix("ok"), *_detail(done))))
        told = [_told(name, states.get(name)) for name in public]
        numbered = [f"hidden check {n}: {_passed(states.get(name))}" for n, name in enumerate(hidden, 1)]
        found[f"{one.id}-public"] = Verdict(done.public, (*head, *told))
        found[f"{one.id}-hidden"] = Verdict(done.hidden, (*head, *numbered))
    return found


def _detail(part: Part) -> tuple[str, ...]:
    """What the student may know beyond the state; how tampering was noticed is for instructors."""
    return () if part.state == "tampered" else (part.detail,)


def _passed(check: Check | None) -> str:
    return "passed" if check and check.state == "passed" else "not passed"


def _told(name: str, check: Check | None) -> str:
    words = f"{name.removeprefix('test_').replace('_', ' ')}: {_passed(check)}"
    return f"{words}: {check.message}" if check and check.message else words
