"""What must not be on the site, and where on it something of that is found."""

from __future__ import annotations

import ast
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from torchbook.practice.exercise import HIDDEN, Exercise

LINE = 25  # characters; what is shorter may be anybody's line
_WRONG = "a wrong answer"
_TEXTS = {".html", ".js", ".json", ".ipynb", ".md", ".txt", ".css", ".xml"}


@dataclass(frozen=True)
class Secret:
    """A text in one line, and what it is; `word`: found only where no letter or digit goes on."""

    text: str
    what: str
    word: bool = False


def one_line(text: str) -> str:
    return " ".join(text.split())


def secrets(exercises: Iterable[Exercise], chapters: str = "") -> set[Secret]:
    """Hidden checks, wrong answers, and all of what is for instructors alone.

    A line of a wrong answer that the text of the chapters has too is theirs: they show mistakes on purpose.
    """
    exercises = list(exercises)
    public = one_line(" ".join(_public(exercise) for exercise in exercises if exercise.contract.audience == "everyone"))
    hidden = {Secret(f"def {HIDDEN}", "a hidden check")}
    for exercise in exercises:
        names = [name for name in exercise.check_names if name.startswith(HIDDEN)]
        hidden |= {Secret(name, f"{exercise.id}: a hidden check's name", word=True) for name in names}
        lines = [(line, "a hidden check") for line in _hidden_lines(exercise)]
        if exercise.contract.kind == "code":  # a quiz's wrong answers are its options
            wrong = [line for wrong in exercise.wrong for line in (wrong.misconception, *wrong.source.splitlines())]
            lines += [(line, _WRONG) for line in wrong]
        if exercise.contract.audience == "instructor":
            hidden |= {Secret(text, f"{exercise.id}: for instructors", word=True) for text in _names(exercise)}
            lines += [(line, "for instructors") for line in _public(exercise).splitlines()]
        texts = [(one_line(line), what) for line, what in lines]
        hidden |= {Secret(text, f"{exercise.id}: {what}") for text, what in texts if len(text) >= LINE}
    long = _Long(hidden)
    theirs, everyones = long.of(one_line(chapters)), long.of(public)
    return {
        secret
        for secret in hidden
        if secret not in everyones and not (secret in theirs and secret.what.endswith(_WRONG))
    }


def _names(exercise: Exercise) -> tuple[str, str]:
    return exercise.id, one_line(exercise.title)


def _public(exercise: Exercise) -> str:
    """What the page of an exercise for everyone shows, and what its learner's edition holds."""
    hints = [f"{hint.symptom}\n{hint.text}" for hint in exercise.hints]
    whys = [f"{q.ask}\n{o.text}\n{o.why}" for q in exercise.contract.questions for o in q.options]
    return "\n".join([exercise.statement, *hints, *whys, exercise.reference, exercise.stub, exercise.public_checks])


def _hidden_lines(exercise: Exercise) -> list[str]:
    rows = exercise.checks.splitlines()
    tests = [node for node in ast.parse(exercise.checks).body if isinstance(node, ast.FunctionDef)]
    return [row for node in tests if node.name.startswith(HIDDEN) for row in rows[node.lineno - 1 : node.end_lineno]]


def texts(site: Path) -> Iterator[tuple[str, str]]:
    """Every text of a built site: of a page as it is written and as it is read, of a notebook all its strings."""
    for path in sorted(site.rglob("*")):
        name = path.relative_to(site).as_posix()
        if path.name == "objects.inv":
            yield name, zlib.decompress(path.read_bytes().split(b"\n", 4)[4]).decode()
        if path.suffix not in _TEXTS or name.startswith("_static/vendor/"):
            continue
        text = path.read_text(encoding="utf-8")
        yield name, text
        if path.suffix == ".html":
            yield name, as_read(text)
        if path.suffix == ".ipynb":
            yield name, "\n".join(_strings(json.loads(text)))


class _Reader(HTMLParser):
    """Notes the text of a page: not its scripts and styles, which are read as they are written."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is None:
            self.parts.append(data)


def as_read(html: str) -> str:
    """The text of a page without its tags, which may stand between any two words."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return "".join(reader.parts)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and all(isinstance(line, str) for line in value):
        yield "".join(value)
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def leaks(pages: Iterable[tuple[str, str]], wanted: set[Secret]) -> list[str]:
    """Where which secret is, as "file: what: text"."""
    long, short = _Long(wanted), [secret for secret in wanted if not _is_long(secret)]
    lines = ((name, one_line(text)) for name, text in pages)
    seen = {(name, secret) for name, line in lines for secret in long.of(line) | _short(short, line)}
    return sorted(f"{name}: {secret.what}: {secret.text}" for name, secret in seen)


_WORD = re.compile(r"\w+")
_HEADS = (18, 8)  # characters from the start of a secret's second word on, by which it is looked up


class _Long:
    """The long secrets, by how they go on from their second word.

    A second word is a word of any text that holds the secret, whatever stands before the secret there, so that each
    text is gone through word by word and not character by character.
    """

    def __init__(self, secrets: Iterable[Secret]) -> None:
        self._heads: dict[int, dict[str, list[tuple[Secret, int]]]] = {length: defaultdict(list) for length in _HEADS}
        self._others: list[Secret] = []  # they have no second word, or little after it
        for secret in filter(_is_long, secrets):
            start = next((word.start() for word in _WORD.finditer(secret.text) if word.start()), len(secret.text))
            length = next((length for length in _HEADS if len(secret.text) - start >= length), None)
            if length is None:
                self._others.append(secret)
            else:
                self._heads[length][secret.text[start : start + length]].append((secret, start))

    def of(self, line: str) -> set[Secret]:
        """The secrets that stand in a line."""
        here = {secret for secret in self._others if secret.text in line}
        starts = [word.start() for word in _WORD.finditer(line)]
        for length, heads in self._heads.items():
            for start in starts:
                for secret, before in heads.get(line[start : start + length], ()):
                    if start >= before and line.startswith(secret.text, start - before):
                        here.add(secret)
        return here


def _is_long(secret: Secret) -> bool:
    return not secret.word and len(secret.text) >= LINE


def _short(wanted: Iterable[Secret], line: str) -> set[Secret]:
    small = line.lower()
    return {secret for secret in wanted if secret.text.lower() in small and _has(line, secret)}


def _has(line: str, secret: Secret) -> bool:
    if not secret.word:
        return secret.text in line
    return re.search(rf"(?<![\w-]){re.escape(secret.text)}(?![\w-])", line, re.IGNORECASE) is not None
