"""What a learner calls, in a notebook or in plain Python: check, hint, solution, exercises, reference."""

from __future__ import annotations

import ast
import difflib
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from torchbook.practice import harness, packages, progress, quiz, shelf
from torchbook.practice.exercise import Exercise, ExerciseError
from torchbook.practice.harness import Outcome
from torchbook.practice.learner_source import SourceError, source_of
from torchbook.practice.report import Result, Row, count, shell, show

Call = Callable[..., str]  # ("hint", "p01-x3", 2) as the learner would write it
NOT_DONE = ("unsolved", "missing")
_WORDS = {
    "passed": "passed",
    "refused": "refused",
    "unsolved": "not solved",
    "missing": "not defined",
    "error": "error",
    "time": "time is up",
}
_QUIZ_WORDS = _WORDS | {"passed": "right", "refused": "not right", "unsolved": "not answered"}
_NOT_THE_LEARNERS = {"In", "Out", "exit", "quit", "get_ipython", "open"}


class _ShownNotes(set[str]):
    """Notes about the progress file that this process has shown already; each is shown once."""

    def first_time(self, note: str) -> tuple[str, ...]:
        if not note or note in self:
            return ()
        self.add(note)
        return (note,)


_shown_notes = _ShownNotes()


def in_python(verb: str, *arguments: object) -> str:
    """A call as one writes it in Python."""
    literals = ", ".join(f'"{argument}"' if isinstance(argument, str) else str(argument) for argument in arguments)
    return f"{verb}({literals})"


def in_terminal(verb: str, *arguments: object) -> str:
    """The same as a command."""
    return " ".join(["torchbook", verb, *map(str, arguments)])


# Checking.


def check(exercise_id: str, *, namespace: Mapping[str, Any] | None = None, patience: float = 1.0) -> Result:
    """Run the public checks of an exercise on what you defined, and show how it went.

    Args:
        exercise_id: for instance "p01-x3".
        namespace: where your definitions are; by default the notebook, or the module that calls.
        patience: multiplies the time limit of the exercise, for slow machines.

    Returns:
        What was shown. It is true once all checks pass.
    """
    definitions = _callers_namespace() if namespace is None else namespace
    try:
        exercise = shelf.find(named(exercise_id))
        packages.require(exercise)
    except (ExerciseError, packages.NotInstalledError) as error:
        result = Result(str(exercise_id), f"Nothing was checked: {error}")
    else:
        if checking_a_file in sys.modules:
            return Result(exercise.id, f"{exercise.id}: checked once its file has been read")
        result = examine(exercise, definitions, patience=patience)
        result.advice += keep(exercise, result)
    result.show()
    return result


checking_a_file = "torchbook_checks_a_file"  # a module of this name is there while `torchbook check` reads a file


def named(exercise_id: object) -> str:
    """The id in its own spelling: p01-x3 for "P01_x3 ".

    Raises:
        ExerciseError: it is no text.
    """
    if not isinstance(exercise_id, str):
        raise ExerciseError(f'the id of an exercise is a text, e.g. "p01-x3", not a {type(exercise_id).__name__}')
    return exercise_id.strip().lower().replace("_", "-")


def _callers_namespace() -> Mapping[str, Any]:
    ipython = shell()
    if ipython is not None:
        return dict(ipython.user_ns)
    frame: types.FrameType | None = sys._getframe(1)
    while frame and frame.f_globals.get("__name__", "").startswith("torchbook.practice"):
        frame = frame.f_back
    return frame.f_globals if frame else {}


def examine(
    exercise: Exercise, namespace: Mapping[str, Any], *, patience: float = 1.0, call: Call = in_python
) -> Result:
    """The result of an exercise's public checks; nothing is shown or kept."""
    outcomes = _outcomes(exercise, namespace, patience)
    rows = _quiz_rows(exercise, outcomes) if exercise.contract.kind == "quiz" else _rows(outcomes)
    advice = _advice(exercise, outcomes, namespace, call)
    return Result(exercise.id, _headline(exercise, outcomes), rows, advice, tuple(outcomes))


def keep(exercise: Exercise, result: Result) -> tuple[str, ...]:
    """Keep a result in the learner's progress; an untouched stub is no try. Returns what is to be said of that."""
    if all(outcome.state in NOT_DONE for outcome in result.outcomes):
        return ()
    return _shown_notes.first_time(progress.tried(exercise.id, solved=bool(result)))


def _outcomes(exercise: Exercise, namespace: Mapping[str, Any], patience: float) -> list[Outcome]:
    checks = harness.checks_of(exercise.public_checks)
    source, trouble = "", ""
    if any("source" in check.parameters for check in checks):
        try:
            source = source_of([n for n in exercise.names if n in namespace], namespace, exercise.prelude)
        except SourceError as error:
            trouble = str(error)
    runnable = {check.name for check in checks if not (trouble and "source" in check.parameters)}
    outcomes = harness.run(
        exercise.public_checks,
        dict(namespace),
        reference=None,
        seed=0,
        source=source,
        only=runnable,
        seconds=exercise.contract.seconds * patience,
    )
    by_name = {outcome.name: outcome for outcome in outcomes}
    return [by_name.get(check.name, Outcome(check.name, "error", trouble, 0.0)) for check in checks]


def spoken(check: str) -> str:
    """A check's name in words."""
    return check.removeprefix("test_").replace("_", " ")


def _rows(outcomes: Sequence[Outcome]) -> tuple[Row, ...]:
    if all(outcome.state in NOT_DONE for outcome in outcomes):
        return ()
    return tuple(Row(outcome.state, _WORDS[outcome.state], spoken(outcome.name)) for outcome in outcomes)


def _quiz_rows(exercise: Exercise, outcomes: Sequence[Outcome]) -> tuple[Row, ...]:
    rows = []
    questions = {f"test_{question.name}": question for question in exercise.contract.questions}
    for outcome in outcomes:
        question = questions.get(outcome.name)
        if question is None and outcome.state not in ("refused", "error"):
            continue
        detail = _why_right(question) if question and outcome.state == "passed" else outcome.message
        name = question.name if question else "form"
        detail = "" if outcome.state in NOT_DONE else detail.removeprefix(f"{name}: ")
        rows.append(Row(outcome.state, _QUIZ_WORDS[outcome.state], name, detail))
    return tuple(rows)


def _why_right(question: quiz.Question) -> str:
    return next((option.why for option in question.options if option.right), question.why)


def _headline(exercise: Exercise, outcomes: Sequence[Outcome]) -> str:
    title = f"{exercise.id} {exercise.title}"
    states = {outcome.state for outcome in outcomes}
    if exercise.contract.kind == "quiz" and states & {"passed", "refused"}:
        answers = [outcome for outcome in outcomes if outcome.name != "test_form"]
        right = sum(outcome.state == "passed" for outcome in answers)
        return f"{title}: {right} of {count(answers, 'answer')} right"
    if states == {"unsolved"}:
        quiz_or_code = "answered yet" if exercise.contract.kind == "quiz" else "solved yet, the stub is still there"
        return f"{title}: not {quiz_or_code}"
    if states == {"passed"}:
        return f"{title}: solved, {count(outcomes, 'check')} passed"
    return f"{title}: {sum(outcome.state == 'passed' for outcome in outcomes)} of {count(outcomes, 'check')} passed"


def _advice(
    exercise: Exercise, outcomes: Sequence[Outcome], namespace: Mapping[str, Any], call: Call
) -> tuple[str, ...]:
    undefined = [_about_undefined(name, namespace, call) for name in exercise.names if name not in namespace]
    failed = _first_to_look_at(exercise, outcomes)
    if failed is None and not undefined:
        return (f"To compare with the reference: `{call('solution', exercise.id)}`",)
    if exercise.contract.kind == "quiz":
        return (*undefined, *_about_topics(exercise, outcomes))
    if failed is None:
        return tuple(undefined)
    return (*undefined, *_about_failure(exercise, failed, outcomes, call))


def _first_to_look_at(exercise: Exercise, outcomes: Sequence[Outcome]) -> Outcome | None:
    """The first failed check that a hint speaks of, else the first that failed."""
    failed = [outcome for outcome in outcomes if outcome.state not in ("passed", "missing")]
    hinted = (
        outcome
        for outcome in failed
        if outcome.state in ("refused", "error") and exercise.hint_for(outcome.name, outcome.message)
    )
    return next(hinted, failed[0] if failed else None)


def _about_topics(exercise: Exercise, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """Of a self-test: what was known of each topic, and what to read on those where something was missed."""
    right = {outcome.name.removeprefix("test_") for outcome in outcomes if outcome.state == "passed"}
    if not exercise.contract.topics or not {outcome.state for outcome in outcomes} & {"passed", "refused"}:
        return ()
    paragraphs = []
    for topic, correct, total in quiz.tallies(exercise.contract.questions, exercise.contract.topics, right - {"form"}):
        readings = (
            "".join(f"\n  {reading.title}: {reading.address}" for reading in topic.read) if correct < total else ""
        )
        paragraphs.append(f"{topic.title}: {correct} of {total} right{', to read:' if readings else ''}{readings}")
    return ("By topic; an open answer counts as not sure:", *paragraphs)


def _about_failure(exercise: Exercise, failed: Outcome, outcomes: Sequence[Outcome], call: Call) -> tuple[str, ...]:
    if failed.state == "unsolved":
        return (_about_stub(exercise, outcomes, call), *_about_hints(exercise, call))
    check_name = spoken(failed.name).capitalize()
    if failed.state == "time":
        return (f"{check_name}: {failed.message}", _about_patience(exercise, call))
    separator = ": " if failed.state == "refused" else " did not get through: "
    return (f"{check_name}{separator}{failed.message}", *_about_hint(exercise, failed, call))


def _about_patience(exercise: Exercise, call: Call) -> str:
    remedy = f'check("{exercise.id}", patience=3)' if call is in_python else "--patience 3"
    return f"On a slow machine, `{remedy}` gives it three times as long."


def _about_undefined(name: str, namespace: Mapping[str, Any], call: Call) -> str:
    candidates = [
        candidate
        for candidate, value in namespace.items()
        if not candidate.startswith("_")
        and candidate not in _NOT_THE_LEARNERS
        and not isinstance(value, types.ModuleType)
    ]
    folded = {candidate.lower(): candidate for candidate in candidates}
    matches = [folded[match] for match in difflib.get_close_matches(name.lower(), folded, 2, 0.6)]
    suggestion = f" There is `{'` and `'.join(matches)}`: is that it?" if matches else ""
    remedy = "define it under this name" + (", or run the cell that does" if call is in_python else "")
    return f"`{name}` is not defined here: {remedy}.{suggestion}"


def _about_stub(exercise: Exercise, outcomes: Sequence[Outcome], call: Call) -> str:
    states = {outcome.name: outcome.state for outcome in outcomes}
    checks = harness.checks_of(exercise.public_checks)
    solved = {name for check in checks if states[check.name] != "unsolved" for name in check.parameters}
    open_ = {name for check in checks if states[check.name] == "unsolved" for name in check.parameters}
    names = [name for name in exercise.names if name in (open_ - solved or open_)]
    names = [name for name in names if name in _raising(exercise.stub)] or names  # the rest may be code to repair
    remedy = "run that cell again" if call is in_python else "save the file"
    return f"Write `{'`, `'.join(names)}` where the stub says `raise NotImplementedError`, and {remedy}."


def _raising(stub: str) -> set[str]:
    """Functions and classes of a stub in which an answer is still to be written."""
    return {
        node.name
        for node in ast.parse(stub).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and any(isinstance(child, ast.Raise) for child in ast.walk(node))
    }


def _about_hints(exercise: Exercise, call: Call) -> tuple[str, ...]:
    return (f"{count(exercise.hints, 'hint')}: `{call('hint', exercise.id)}`",) if exercise.hints else ()


def _about_hint(exercise: Exercise, failed: Outcome, call: Call) -> tuple[str, ...]:
    hint = exercise.hint_for(failed.name, failed.message)
    if hint is None:
        return _about_hints(exercise, call)
    number = exercise.hints.index(hint) + 1
    return (f"Hint `{call('hint', exercise.id, number)}`: {hint.symptom}",)


# Hints and the solution.


def hint(exercise_id: str, number: int | None = None) -> None:
    """Show a hint of an exercise, or without a number the symptoms that there are hints for."""
    _show_or_say(lambda: hint_text(exercise_id, number))


def hints(exercise_id: str) -> None:
    """Show the symptoms that an exercise has hints for."""
    hint(exercise_id)


def solution(exercise_id: str) -> None:
    """Show the reference of an exercise. Your progress keeps that you have seen it."""
    _show_or_say(lambda: solution_text(exercise_id))


def _show_or_say(render: Callable[[], str]) -> None:
    try:
        text = render()
    except ExerciseError as error:
        text = f"{error}"
    show(text, **{"text/markdown": text})


def hint_text(exercise_id: str, number: int | None = None, call: Call = in_python) -> str:
    """A hint, or the list of symptoms, as Markdown.

    Raises:
        ExerciseError: there is no such exercise, or no such hint.
    """
    exercise = shelf.find(named(exercise_id))
    if not exercise.hints:
        raise ExerciseError(f"{exercise.id} has no hints")
    if number is None:
        symptoms = "\n".join(f"{n}. {hint.symptom}" for n, hint in enumerate(exercise.hints, 1))
        return f"Hints of {exercise.id}, by symptom; `{call('hint', exercise.id, 1)}` shows the first:\n\n{symptoms}"
    if number not in range(1, len(exercise.hints) + 1):
        raise ExerciseError(f"{exercise.id} has no hint {number}; there are 1 to {len(exercise.hints)}")
    hint = exercise.hints[number - 1]
    notes = _shown_notes.first_time(progress.hinted(exercise.id, number))
    return "\n\n".join([f"**{number}. {hint.symptom}**", hint.text, *notes])


def solution_text(exercise_id: str) -> str:
    """The reference, or the answers of a quiz, as Markdown; the progress keeps that it was opened.

    Raises:
        ExerciseError: there is no such exercise.
    """
    exercise, heading, notes = _opened(exercise_id)
    body = _answers(exercise) if exercise.contract.kind == "quiz" else f"```python\n{exercise.reference.rstrip()}\n```"
    return "\n\n".join([heading, body, *notes])


def solution_code(exercise_id: str) -> str:
    """The same as a Python file, whose comments say all that is no code; the progress keeps that it was opened.

    Raises:
        ExerciseError: there is no such exercise.
    """
    exercise, heading, notes = _opened(exercise_id)
    is_quiz = exercise.contract.kind == "quiz"
    body = _commented(_answers(exercise)) if is_quiz else exercise.reference.rstrip()
    return "\n\n".join([_commented(heading), body, *map(_commented, notes)]) + "\n"


def _opened(exercise_id: str) -> tuple[Exercise, str, tuple[str, ...]]:
    """An exercise whose solution is shown now, the heading, and what is to be said of the progress."""
    exercise = shelf.find(named(exercise_id))
    notes = _shown_notes.first_time(progress.opened(exercise.id))
    return exercise, f"Solution of {exercise.id} {exercise.title}", notes


def _commented(text: str) -> str:
    return "\n".join(f"# {line}".rstrip() for line in text.splitlines())


def _answers(exercise: Exercise) -> str:
    return "\n\n".join(f"**{q.name}**: `{q.answer}`. {_why_right(q).strip()}" for q in exercise.contract.questions)


def reference(exercise_id: str) -> types.SimpleNamespace:
    """The definitions of an exercise's reference, for chapters that build on it.

    Their source is known to tracebacks and to `inspect.getsource`.

    Raises:
        ExerciseError: there is no such exercise.
    """
    exercise = shelf.find(named(exercise_id))
    module = harness.load(exercise.reference, f"torchbook_reference_{quiz.variable(exercise.id)}")
    definitions = {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("__") and not isinstance(value, types.ModuleType)
    }
    return types.SimpleNamespace(**definitions)


# The list.


class Listed(NamedTuple):
    """One line of the list; `state` as in `progress.Record.state`."""

    id: str
    title: str
    stars: int
    minutes: int
    state: str


def listing(chapter: str = "", *, todo: bool = False) -> tuple[list[Listed], str]:
    """Exercises, of one chapter and without the solved ones if so wished, and what to know beside them.

    That is a sentence where progress is unreadable, and a line for each malformed exercise, which stops no other.

    Raises:
        ExerciseError: a folder of exercises is none.
    """
    records, note = progress.read()
    exercises, malformed = shelf.sound()
    entries = []
    for exercise in exercises.values():
        state = records.get(exercise.id, progress.Record()).state
        selected = chapter in ("", exercise.contract.chapter) and not (todo and state.startswith("solved"))
        if selected and exercise.contract.audience == "everyone":
            entries.append(
                Listed(exercise.id, exercise.title, exercise.contract.stars, exercise.contract.minutes, state)
            )
    return entries, "\n".join(filter(None, [note, *malformed]))


def exercises(chapter: str = "", *, todo: bool = False) -> None:
    """Show the exercises with their difficulty (1 to 5), minutes and how far you are; `todo` leaves out the solved."""
    _show_or_say(lambda: _table(*listing(chapter, todo=todo)))


def _table(entries: list[Listed], note: str) -> str:
    head = ["| exercise | title | difficulty | minutes | state |", "| --- | --- | --- | ---: | --- |"]
    rows = [
        f"| {entry.id} | {entry.title} | {entry.stars} of 5 | {entry.minutes} | {entry.state} |" for entry in entries
    ]
    table = "\n".join([*head, *rows]) if entries else "No exercise to show."
    return "\n\n".join([table, *_shown_notes.first_time(note)])
