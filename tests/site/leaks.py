"""What must not be on the site, and where on it something of that is found."""

from __future__ import annotations

import ast
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bs4 import BeautifulSoup

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
    known = list(exercises)
    public = one_line(" ".join(_public(one) for one in known if one.audience == "everyone"))
    found = {Secret(f"def {HIDDEN}", "a hidden check")}
    for exercise in known:
        names = [name for name in exercise.check_names if name.startswith(HIDDEN)]
        found |= {Secret(name, f"{exercise.id}: a hidden check's name", word=True) for name in names}
        lines = [(line, "a hidden check") for line in _hidden_lines(exercise)]
        if exercise.kind == "code":  # a quiz's wrong answers are its options
            wrong = [line for wrong in exercise.wrong for line in wrong.source.splitlines()]
            lines += [(line, _WRONG) for line in wrong]
        if exercise.audience == "instructor":
            found |= {Secret(text, f"{exercise.id}: for instructors", word=True) for text in _names(exercise)}
            lines += [(line, "for instructors") for line in _public(exercise).splitlines()]
        texts = [(one_line(line), what) for line, what in lines]
        found |= {Secret(text, f"{exercise.id}: {what}") for text, what in texts if len(text) >= LINE}
    theirs, everyones = _of_these(found, one_line(chapters)), _of_these(found, public)
    return {one for one in found if one not in everyones and not (one in theirs and one.what.endswith(_WRONG))}


def _names(exercise: Exercise) -> tuple[str, str]:
    return exercise.id, one_line(exercise.title)


def _public(exercise: Exercise) -> str:
    """What the page of an exercise for everyone shows, and what its learner's edition holds."""
    hints = [f"{hint.symptom}\n{hint.text}" for hint in exercise.hints]
    whys = [f"{q.ask}\n{o.text}\n{o.why}" for q in exercise.questions for o in q.options]
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
            yield name, BeautifulSoup(text, "html.parser").get_text()
        if path.suffix == ".ipynb":
            yield name, "\n".join(_strings(json.loads(text)))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and all(isinstance(one, str) for one in value):
        yield "".join(value)
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one)


def leaks(found: Iterable[tuple[str, str]], wanted: set[Secret]) -> list[str]:
    """Where which secret is, as "file: what: text"."""
    lines = ((name, one_line(text)) for name, text in found)
    seen = {(name, one) for name, line in lines for one in _of_these(wanted, line) | _short(wanted, line)}
    return sorted(f"{name}: {one.what}: {one.text}" for name, one in seen)


def _of_these(wanted: set[Secret], line: str) -> set[Secret]:
    """The long secrets that stand in a line, in one pass over it."""
    long = defaultdict(list)
    for secret in wanted:
        if _is_long(secret):
            long[secret.text[:LINE]].append(secret)
    starts = [start for start in range(len(line) - LINE + 1) if line[start : start + LINE] in long]
    here = ((one, start) for start in starts for one in long[line[start : start + LINE]])
    return {one for one, start in here if line.startswith(one.text, start)}


def _is_long(secret: Secret) -> bool:
    return not secret.word and len(secret.text) >= LINE


def _short(wanted: set[Secret], line: str) -> set[Secret]:
    small = line.lower()
    near = [one for one in wanted if not _is_long(one) and one.text.lower() in small]
    return {one for one in near if _has(line, one)}


def _has(line: str, secret: Secret) -> bool:
    if not secret.word:
        return secret.text in line
    return re.search(rf"(?<![\w-]){re.escape(secret.text)}(?![\w-])", line, re.IGNORECASE) is not None
