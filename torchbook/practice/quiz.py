"""Quizzes: from questions in a front matter to the same Python that every other exercise is made of.

The learner fills a dictionary, `s04_x1 = {"error": "b", "fix": "to"}`: a letter for a choice, a few words for a short
answer. In self-study each question has a public check that says why an option is tempting; in class the checks of the
answers are hidden and only the form is public.

A quiz with `topics` is a self-test: each question belongs to one, and each topic says what to read for what was missed.
An answer left empty, or `"?"`, says "not sure"; it is no mistake, and a question missed.
"""

from __future__ import annotations

import ast
import inspect
import json
import random
import re
import string
from collections.abc import Collection, Mapping
from typing import NamedTuple

import pydantic

from torchbook.practice import quiz_checks
from torchbook.practice.wrong import Wrong

SITE = "https://pytorch-inside-out.github.io/pytorch-inside-out"  # `html.baseurl` of _config.yml, which no wheel has


class Reading(pydantic.BaseModel):
    """Something to read: an address, or a page of this book and the id of a section of it."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)
    title: str = pydantic.Field(min_length=1)
    url: str = pydantic.Field(default="", pattern=r"^(https://\S+)?$")
    page: str = pydantic.Field(default="", pattern=r"^(book/[\w/-]+)?$")
    section: str = pydantic.Field(default="", pattern=r"^[a-z0-9-]*$")

    @pydantic.model_validator(mode="after")
    def _is_one_kind(self) -> Reading:
        if bool(self.url) == bool(self.page):
            raise ValueError("to read is either a `page` of this book or an `url`")
        if self.section and not self.page:
            raise ValueError("a `section` is one of a `page` of this book")
        return self

    @property
    def address(self) -> str:
        """Where it is, from anywhere."""
        return self.url or f"{SITE}/{self.page}.html" + (f"#{self.section}" if self.section else "")


class Topic(pydantic.BaseModel):
    """What some questions of a self-test are about, and what to read on it."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)
    name: str = pydantic.Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str = pydantic.Field(min_length=1)
    read: tuple[Reading, ...] = pydantic.Field(min_length=1)


class Option(pydantic.BaseModel):
    """One option of a choice; `why` says why it is right, or tempting."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)
    text: str
    why: str
    right: bool = False


class Tempting(pydantic.BaseModel):
    """A wrong short answer that deserves its own explanation: `match` is a regular expression, `example` one of its."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)
    match: str
    example: str
    why: str


class Question(pydantic.BaseModel):
    """A choice (`options`) or a short answer (`accept`: regular expressions that match it in full, without case)."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)
    name: str = pydantic.Field(pattern=r"^[a-z][a-z0-9_]*$")
    topic: str = ""
    ask: str
    options: tuple[Option, ...] = ()
    accept: tuple[str, ...] = ()
    example: str = ""
    why: str = ""
    tempting: tuple[Tempting, ...] = ()

    @pydantic.model_validator(mode="after")
    def _is_one_kind(self) -> Question:
        if bool(self.options) == bool(self.accept):
            raise ValueError("a question has either `options` or `accept`")
        if self.options and (len(self.options) < 2 or sum(option.right for option in self.options) != 1):
            raise ValueError("a choice has two or more options, exactly one of them `right: true`")
        for pattern in (*self.accept, *(tempting.match for tempting in self.tempting)):
            _complain_about_pattern(pattern)
        if self.accept and not (self.example and self.why):
            raise ValueError("a short answer has an `example` that is accepted and a `why`")
        if self.accept and not accepted(self.accept, self.example):
            raise ValueError(f"`accept` does not match the example {self.example!r}")
        for tempting in self.tempting:
            if not accepted((tempting.match,), tempting.example) or accepted(self.accept, tempting.example):
                raise ValueError(f"tempting {tempting.example!r} must match its `match` and must not be accepted")
        return self

    @property
    def letters(self) -> str:
        """The letters of the options, in order."""
        return string.ascii_lowercase[: len(self.options)]

    @property
    def answer(self) -> str:
        """A right answer: a letter, or the example."""
        if not self.options:
            return self.example
        return next(letter for letter, option in zip(self.letters, self.options, strict=True) if option.right)


def _complain_about_pattern(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from None


def about_topics(
    questions: tuple[Question, ...], topics: tuple[Topic, ...]
) -> tuple[tuple[str | int, ...], str] | None:
    """Where topics and questions do not fit together, as the path of the field, and what is wrong there."""
    names = [topic.name for topic in topics]
    covered = {question.topic for question in questions}
    for index, name in enumerate(names):
        if name in names[:index]:
            return ("topics", index, "name"), f"{name!r} is there twice"
    for index, question in enumerate(questions):
        if question.topic not in (names or [""]):
            available = ", ".join(names) or "none, for lack of `topics`"
            return ("questions", index, "topic"), f"{question.name}: its `topic` is one of: {available}"
    unasked = next((index for index, name in enumerate(names) if name not in covered), None)
    return None if unasked is None else (("topics", unasked, "name"), f"no question is about {names[unasked]!r}")


def headed(questions: tuple[Question, ...], topics: tuple[Topic, ...]) -> list[tuple[str, Question]]:
    """The questions, each with the title of its topic where that begins, else with ""."""
    titles = {topic.name: topic.title for topic in topics}
    previous = ("", *(question.topic for question in questions))
    return [(titles[q.topic] if q.topic != above else "", q) for above, q in zip(previous, questions, strict=False)]


class Tally(NamedTuple):
    """How many questions of a topic were asked, and how many of them answered right."""

    topic: Topic
    right: int
    asked: int


def tallies(questions: tuple[Question, ...], topics: tuple[Topic, ...], right: Collection[str]) -> list[Tally]:
    """What was known, topic by topic; `right` are the names of the questions answered right."""
    counts = []
    for topic in topics:
        asked = [question.name for question in questions if question.topic == topic.name]
        counts.append(Tally(topic, sum(name in right for name in asked), len(asked)))
    return counts


def reading_list(topics: tuple[Topic, ...]) -> str:
    """What to read on each topic, as Markdown for notebooks."""
    rows = [
        f"- {topic.title}: " + "; ".join(f"[{reading.title}]({reading.address})" for reading in topic.read)
        for topic in topics
    ]
    return "\n".join(rows)


class Derived(NamedTuple):
    """What a quiz is as Python."""

    solution: str
    checks: str


def accepted(patterns: tuple[str, ...], answer: str) -> bool:
    """Whether a short answer is matched in full by one of the patterns, without regard to case and outer space."""
    return any(re.fullmatch(pattern, answer.strip(), re.IGNORECASE) for pattern in patterns)


def variable(exercise_id: str) -> str:
    """The name that the learner fills: `s04_x1`."""
    return exercise_id.replace("-", "_")


def shuffled(questions: tuple[Question, ...], draw: random.Random) -> tuple[Question, ...]:
    """The questions with their options in a drawn order."""
    return tuple(
        question.model_copy(update={"options": tuple(draw.sample(question.options, len(question.options)))})
        for question in questions
    )


def derive(
    exercise_id: str, questions: tuple[Question, ...], topics: tuple[Topic, ...] = (), *, hidden: bool
) -> Derived:
    """The quiz as Python; with `hidden` the checks of the answers are hidden ones."""
    name = variable(exercise_id)
    solution = _solution(name, questions, topics)
    letters = {question.name: question.letters for question in questions}
    checks = _shared_checks(name, {"_LETTERS": letters, "_TABLE": _table(questions)})
    for question in questions:
        checks += f'\n\ndef {_check(question, hidden)}({name}):\n    _mark({name}, "{question.name}")\n'
    return Derived(solution, checks)


def _check(question: Question, hidden: bool) -> str:
    return f"test_hidden_{question.name}" if hidden else f"test_{question.name}"


def wrong_answers(exercise_id: str, questions: tuple[Question, ...], *, hidden: bool) -> tuple[Wrong, ...]:
    """Every wrong option and every tempting answer, and one that is in no form that is asked for."""
    name = variable(exercise_id)
    why = "the answer is not in the form that is asked for"
    answers = [Wrong("unreadable", "test_form", why, f"{name} = {json.dumps(_malformed(questions))}\n")]
    for question in questions:
        for number, (answer, why) in enumerate(_wrong_answers(question), 1):
            filled = {q.name: answer if q is question else q.answer for q in questions}
            program = f"{name} = {json.dumps(filled)}\n"
            answers.append(Wrong(f"{question.name}_{number}", _check(question, hidden), why, program))
    return tuple(answers)


def _solution(name: str, questions: tuple[Question, ...], topics: tuple[Topic, ...]) -> str:
    rows = []
    for title, question in headed(questions, topics):
        if title:
            rows.append(f"    # {title}")
        form = " or ".join(f'"{letter}"' for letter in question.letters) if question.options else "a few words or code"
        rows += [f'    "{question.name}": "",  # {form}']
    assignments = [f"{name}[{q.name!r}] = {json.dumps(q.answer)}" for q in questions]
    body = "\n".join(rows)
    return f"{name} = {{\n{body}\n}}\n### BEGIN SOLUTION\n" + "\n".join(assignments) + "\n### END SOLUTION\n"


def _malformed(questions: tuple[Question, ...]) -> dict[str, str]:
    filled = {q.name: "the first one" if q.options else q.answer for q in questions}
    return filled if any(q.options for q in questions) else dict.fromkeys(filled, "\n".join("x" * 400))


def _wrong_answers(question: Question) -> list[tuple[str, str]]:
    if question.options:
        pairs = zip(question.letters, question.options, strict=True)
        return [(letter, _one_line(option.why)) for letter, option in pairs if not option.right]
    answers = [(tempting.example, _one_line(tempting.why)) for tempting in question.tempting]
    return [*answers, ("no idea", "the answer is none of those that are accepted")]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _shared_checks(name: str, values: Mapping[str, object]) -> str:
    """The source of `quiz_checks` for the quiz of this name, with its values."""
    lines = inspect.getsource(quiz_checks).splitlines(keepends=True)
    first = next(
        node for node in ast.parse("".join(lines)).body if not isinstance(node, ast.Expr)
    )  # past the docstring
    for number, line in enumerate(lines):
        variable_name = line.partition(":")[0]
        if variable_name in values:
            lines[number] = f"{variable_name} = {values[variable_name]!r}\n"
    source = "".join(lines[first.lineno - 1 :])
    return re.sub(r"\banswers\b", name, source)


def _table(questions: tuple[Question, ...]) -> dict[str, dict[str, object]]:
    table = {}
    for question in questions:
        if question.options:
            pairs = list(zip(question.letters, question.options, strict=True))
            right = [letter for letter, option in pairs if option.right]
            why = [[letter, _one_line(option.why)] for letter, option in pairs if not option.right]
        else:
            right = list(question.accept)
            why = [[tempting.match, _one_line(tempting.why)] for tempting in question.tempting]
        table[question.name] = {"right": right, "why": why}
    return table
