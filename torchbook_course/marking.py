"""From what the sandbox says of an answer to points, and to words that give no hidden check away.

The third step of a submission's way to its grade.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from torchbook.practice.exercise import HIDDEN, Exercise, Points
from torchbook_course.assignment import Assignment
from torchbook_course.flags import flags
from torchbook_course.results import Asked, Check, Flag, Part, Verdict, shares
from torchbook_course.submission import Answer

if TYPE_CHECKING:  # Gradescope's image has neither
    from torchbook_course.evaluations import Evaluation
    from torchbook_course.reading import Submission

NOTHING = ("tampered", "lost", "gone")  # states in which no check counts
_SAYS_NOTHING = ("passed", "not run", "unsolved")  # states of a check to which no hint belongs
_LINE = 12  # characters from which a line of a hidden check is told from any other line
_MESSAGE = 600
OTHERS = "other cells"  # in place of an exercise's id
BESIDE = "another file"  # likewise
NOT_PYTHON = "not Python"


@dataclass(frozen=True)
class Marked:
    """A submission with what it is worth: parts by exercise, verdicts by grade cell, and what a person should see.

    `problem` says why there is nothing to count, or that it could not be entered into the books.
    """

    submission: Submission
    evaluation: Evaluation
    parts: Mapping[str, Part]
    verdicts: Mapping[str, Verdict]
    flags: tuple[Flag, ...]
    problem: str

    @property
    def student(self) -> str:
        """The student's name as every tool can use it."""
        return self.submission.student


def mark(
    exercises: Sequence[Exercise], rubrics: Sequence[Asked], submission: Submission, evaluation: Evaluation
) -> Marked:
    """What a submission is worth.

    Args:
        exercises: of the assignment.
        rubrics: what the results say of each of them.
        submission: as it was read.
        evaluation: what was found out about it.
    """
    answers, results = submission.extracted.answers, evaluation.results
    parts = {
        rubric.id: part(exercise, rubric, answers.get(rubric.id), results.get(rubric.id))
        for exercise, rubric in zip(exercises, rubrics, strict=True)
    }
    look_at = tuple(_to_look_at(exercises, submission))
    problem = evaluation.problem or submission.problem
    return Marked(submission, evaluation, parts, verdicts(rubrics, parts), look_at, problem)


def _to_look_at(exercises: Sequence[Exercise], submission: Submission) -> Iterator[Flag]:
    """What a person should look at; not what the reference has too, and of other cells each construct once."""
    for name in submission.handed.beside:
        yield Flag(exercise=BESIDE, line=0, what=name, why="was handed in too, and is not graded")
    extracted = submission.extracted
    for repair in extracted.repairs if submission.cells else ():
        if repair.look:
            yield Flag(exercise=repair.exercise, line=0, what="notebook", why=repair.what)
    expected = {exercise.contract.id: _constructs(exercise.reference) for exercise in exercises}
    flagged = set()
    for exercise in exercises:
        answer = extracted.answers.get(exercise.contract.id)
        for flag in flags(answer.code) if answer else ():
            if flag.construct not in expected[exercise.contract.id] | {NOT_PYTHON}:
                flagged.add(flag.construct)
                yield Flag(exercise=exercise.contract.id, line=flag.line, what=flag.construct, why=flag.why)
    flagged = flagged.union(*expected.values())
    widest = max((answer.context for answer in extracted.answers.values()), key=len, default="")
    for flag in flags(widest):
        if flag.construct not in flagged:
            flagged.add(flag.construct)
            yield Flag(exercise=OTHERS, line=0, what=flag.construct, why=flag.why)


@cache
def _constructs(reference: str) -> frozenset[str]:
    return frozenset(flag.construct for flag in flags(reference))


def all_asked(assignment: Assignment, exercises: Sequence[Exercise], points: Sequence[Points]) -> list[Asked]:
    """What the results say of each exercise of an assignment; `points` are theirs, in the same order."""
    whole = assignment.credit == "all-or-nothing"
    return [asked(*pair, whole=whole) for pair in zip(exercises, points, strict=True)]


def asked(exercise: Exercise, points: Points, *, whole: bool = False) -> Asked:
    """What the results say of an exercise; `whole`: there are points only where every check passed."""
    misconceptions: dict[str, tuple[str, ...]] = {}
    for wrong in exercise.wrong:
        misconceptions[wrong.check] = (*misconceptions.get(wrong.check, ()), wrong.misconception)
    return Asked(
        id=exercise.contract.id,
        title=exercise.contract.title,
        public=points.public,
        hidden=points.hidden,
        checks=exercise.check_names,
        misconceptions=misconceptions,
        whole=whole,
    )


def part(exercise: Exercise, rubric: Asked, answer: Answer | None, result: Mapping[str, Any] | None) -> Part:
    """An exercise's checks as they went, and their points: of public and hidden checks, in proportion to those passed.

    Where an assignment gives no partial credit, one check that did not pass takes the points of all.
    `result` is what `torchbook_course.evaluate` says of the exercise, None where there was nothing to run.
    """
    if answer is None or result is None:
        return Part(exercise=exercise.contract.id, state="gone" if answer is None else "lost")
    outcomes = {str(outcome["name"]): outcome for outcome in result.get("outcomes", ())}
    secrets = _secrets(exercise, answer)
    checks = tuple(_check(exercise, outcomes[name], secrets) for name in exercise.check_names if name in outcomes)
    state = str(result["state"])
    passed = {check.name for check in checks if check.state == "passed"} if state not in NOTHING else set()
    if rubric.whole and len(passed) < len(rubric.checks):
        passed = set()
    hidden = [name for name in rubric.checks if name.startswith(HIDDEN)]
    public = [name for name in rubric.checks if name not in hidden]
    return Part(
        exercise=exercise.contract.id,
        state=state,
        detail=str(result.get("detail", "")) if state == "tampered" else _open(str(result.get("detail", "")), secrets),
        checks=checks,
        public=shares(len(passed.intersection(public)), len(public), rubric.public),
        hidden=shares(len(passed.intersection(hidden)), len(hidden), rubric.hidden),
    )


def _check(exercise: Exercise, outcome: Mapping[str, Any], secrets: tuple[str, ...]) -> Check:
    name, state, message = (str(outcome[field]) for field in ("name", "state", "message"))
    hint = exercise.hint_for(name, message) if state not in _SAYS_NOTHING else None
    return Check(name=name, state=state, message=_open(message, secrets), hint=hint.symptom if hint else "")


def _secrets(exercise: Exercise, answer: Answer) -> tuple[str, ...]:
    """Lines of hidden checks and of the reference that the student did not write."""
    own_lines = {line.strip() for line in f"{answer.source}\n{answer.context}\n{exercise.stub}".split("\n")}
    public_lines = {line.strip() for line in exercise.public_checks.split("\n")}
    lines = {line.strip() for line in f"{exercise.checks}\n{exercise.reference}".split("\n")}
    secret_lines = {line for line in lines - own_lines - public_lines if len(line) >= _LINE}
    return (*(name for name in exercise.check_names if name.startswith(HIDDEN)), *secret_lines)


def _open(message: str, secrets: Sequence[str]) -> str:
    """A message as a student may read it: not one that carries what is hidden."""
    if any(secret in message for secret in secrets):
        return "(this message is withheld: it quotes what is hidden)"
    return message if len(message) <= _MESSAGE else message[:_MESSAGE] + " …"


def verdicts(rubrics: Sequence[Asked], parts: Mapping[str, Part]) -> dict[str, Verdict]:
    """What nbgrader writes into the grade cells, by their grade_id."""
    by_cell = {}
    for rubric in rubrics:
        part = parts[rubric.id]
        by_name = {check.name: check for check in part.checks}
        hidden = [name for name in rubric.checks if name.startswith(HIDDEN)]
        public = [name for name in rubric.checks if name not in hidden]
        head = tuple(filter(None, (part.state.removeprefix("ok"), *_detail(part))))
        public_lines = [_check_line(name, by_name.get(name)) for name in public]
        hidden_lines = [f"hidden check {n}: {_passed(by_name.get(name))}" for n, name in enumerate(hidden, 1)]
        by_cell[f"{rubric.id}-public"] = Verdict(part.public, (*head, *public_lines))
        by_cell[f"{rubric.id}-hidden"] = Verdict(part.hidden, (*head, *hidden_lines))
    return by_cell


def _detail(part: Part) -> tuple[str, ...]:
    """What the student may know beyond the state; how tampering was noticed is for instructors."""
    return () if part.state == "tampered" else (part.detail,)


def _passed(check: Check | None) -> str:
    return "passed" if check and check.state == "passed" else "not passed"


def _check_line(name: str, check: Check | None) -> str:
    words = f"{name.removeprefix('test_').replace('_', ' ')}: {_passed(check)}"
    return f"{words}: {check.message}" if check and check.message else words
