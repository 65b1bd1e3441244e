"""Bug hunts: here is a program that claims to solve an exercise; which of its checks refuses it, and why?

They are wrong answers (`wrong.md`) that were chosen for this, in `exercises/hunts.toml`:

    [p01-x2]                                              the exercise
    task = "`verdict(operation, t)` says …"               what it asks for, in a sentence or two
    checks.test_expanded = "an expanded tensor"           optional: what a check looks at, if its name does not say it

    [p01-x2.data_pointers]                                a wrong answer
    passed = ["test_expanded", "test_same"]               checks that let it pass
    why = "The first elements may …"                      what follows from the mistake, and what helps
    shows = ["verdict"]                                   optional: of a long program, the part that is shown
    task = "…"                                            optional: what the exercise asks of this part
    thought = "compares …"                                optional: what `wrong.md` says, to be read after "The program"

The check that `wrong.md` names is the only one of those offered that refuses the program, so that there is one right
choice. An installed package has no wrong answers, and so no hunts; the site has them, and a clone.
"""

from __future__ import annotations

import ast
import difflib
import random
import tomllib
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from torchbook.practice import authors, shelf
from torchbook.practice.errors import ExerciseError
from torchbook.practice.exercise import HIDDEN, Exercise
from torchbook.practice.learner import spoken

FILE = "hunts.toml"  # in the folder of exercises
_OF_THE_EXERCISE = ("task", "checks")  # what is said of all hunts of an exercise; any other name is a wrong answer's
_OF_A_HUNT = {"passed", "why", "shows", "task", "thought"}
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Hunt:
    """A program, the check that refuses it among others that do not, and what its author thought.

    Attributes:
        task: what the exercise asks for.
        program: the whole program.
        shown: the part of it that the reader sees.
        spoken: the choices in words, in the order of `choices`.
        thought: the misconception, after "The program"; without a full stop.
        why: sentences that say what follows from it, and what helps.
        diff: what a right answer has instead, and what it has not.
    """

    exercise: Exercise
    name: str
    task: str
    program: str
    shown: str
    check: str
    choices: tuple[str, ...]
    spoken: tuple[str, ...]
    thought: str
    why: str
    diff: str

    @property
    def id(self) -> str:
        """For instance p01-x2/data_pointers."""
        return f"{self.exercise.id}/{self.name}"


def hunts(chapter: str = "", root: Path | None = None) -> tuple[Hunt, ...]:
    """The hunts of a chapter, or all, by exercise in the order of the file.

    Args:
        chapter: for instance "p01"; all by default.
        root: the folder of exercises, else the clone's.

    Raises:
        ExerciseError: there is no clone, no such chapter, or the file is malformed; the message says what to do.
    """
    root = root or _clone()
    chosen = _chosen(root / FILE)
    found = tuple(
        _hunt(exercise, table, name)
        for exercise, table in ((shelf.find(key, (root,)), table) for key, table in chosen.items())
        if chapter in ("", exercise.contract.chapter)
        for name in table
        if name not in _OF_THE_EXERCISE
    )
    if not found:
        chapters = dict.fromkeys(shelf.find(key, (root,)).contract.chapter for key in chosen)
        raise ExerciseError(f"no hunts in {chapter!r}; there are some in: {', '.join(chapters)}")
    return found


def _clone() -> Path:
    try:
        return shelf.clone()
    except ExerciseError:
        raise ExerciseError(
            "no bug hunts: they are made of wrong answers, which an installed package has not; play them on the "
            "book's site, on the page Bug hunts, or in a clone of its repository"
        ) from None


def _chosen(path: Path) -> dict[str, dict[str, Any]]:
    """The file's content, by exercise."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ExerciseError(f"{FILE}:1: missing; it stands in the folder of exercises") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ExerciseError(f"{FILE}: not TOML: {error}") from None


def _hunt(exercise: Exercise, table: dict[str, Any], name: str) -> Hunt:
    place = f"{FILE}: [{exercise.id}.{name}]"
    entry, words = table[name], table.get("checks", {})
    if not isinstance(entry, dict) or not {"passed", "why"} <= entry.keys() <= _OF_A_HUNT:
        raise ExerciseError(
            f'{place} has lines: passed = ["test_that_lets_it_pass", …], why = "…", perhaps shows, task and thought'
        )
    task = entry.get("task") or table.get("task")
    if not task:
        raise ExerciseError(f'{place}: say what the exercise asks for, here or above it in [{exercise.id}]: task = "…"')
    answer = authors.wrong_answer(exercise, name)
    others: list[str] = entry["passed"]
    unknown = [check for check in (*others, *words) if check not in exercise.check_names]
    if unknown:
        raise ExerciseError(f"{place}: {', '.join(unknown)} is no check of {exercise.id}; correct the name")
    if answer.check.startswith(HIDDEN) or any(check.startswith(HIDDEN) for check in others):
        raise ExerciseError(f"{place}: a hidden check decides; choose a wrong answer that a public one refuses")
    if len(set(others) - {answer.check}) < 2:
        raise ExerciseError(f"{place}: name two or more checks that let it pass, beside {answer.check}")
    choices = [answer.check, *others]
    random.Random(f"{exercise.id}/{name}").shuffle(choices)  # the same on the site and in a terminal
    shown, diff = answer.source, "\n\n".join(edit.diff for edit in answer.edits)
    if "shows" in entry:
        shown = _part(answer.source, entry["shows"], place)
        diff = _diff(_part(exercise.reference, entry["shows"], place), shown)
    return Hunt(
        exercise,
        name,
        _one_line(task),
        answer.source,
        shown,
        answer.check,
        tuple(choices),
        tuple(": ".join(filter(None, [spoken(check), _one_line(words.get(check, ""))])) for check in choices),
        entry.get("thought", answer.misconception),
        _one_line(entry["why"]),
        diff,
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _part(program: str, names: list[str], place: str) -> str:
    """Definitions of a program, each as it stands there: "name", or "Class.method" below the head of the class."""
    lines = program.splitlines()
    top = {node.name: node for node in ast.parse(program).body if isinstance(node, _DEFINITIONS)}
    parts = []
    for owner, group in groupby(names, lambda name: name.partition(".")[0]):
        methods = [name.partition(".")[2] for name in group]
        if owner not in top:
            raise ExerciseError(f"{place}: shows {owner!r}, which the program does not define; correct the name")
        if methods == [""]:
            parts.append(_lines(lines, top[owner]))
            continue
        inside = {node.name: node for node in top[owner].body if isinstance(node, _DEFINITIONS)}
        if unknown := [method for method in methods if method not in inside]:
            raise ExerciseError(f"{place}: shows {owner}.{unknown[0]}, which {owner} has not; correct the name")
        head = lines[_first(top[owner]) : top[owner].body[0].lineno - 1]
        parts.append("\n".join([*head, "\n\n".join(_lines(lines, inside[method]) for method in methods)]))
    return "# Only this part is shown; the rest is right.\n" + "\n\n\n".join(parts) + "\n"


def _diff(before: str, after: str) -> str:
    """The lines that differ, each group with the line before it and the line after it."""
    rows = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm=""))[2:]
    return "\n".join("" if row.startswith("@@") else row for row in rows).strip("\n")


def _lines(lines: list[str], node: ast.FunctionDef | ast.ClassDef) -> str:
    return "\n".join(lines[_first(node) : node.end_lineno])


def _first(node: ast.FunctionDef | ast.ClassDef) -> int:
    """The index of the first line of a definition, with its decorators."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
