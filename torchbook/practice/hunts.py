"""Bug hunts: here is a program that claims to solve an exercise; which of its checks refuses it, and why?

They are wrong answers (`wrong.md`) that were chosen for this, in `exercises/hunts.toml`:

    [p01-x2]                                              the exercise
    data_pointers = ["test_expanded", "test_same"]        a wrong answer, and checks that let it pass

The check that `wrong.md` names is the only public one that refuses the program, so that there is one right choice. An
installed package has no wrong answers, and so no hunts; the site has them, and a clone.
"""

from __future__ import annotations

import random
import tomllib
from dataclasses import dataclass
from pathlib import Path

from torchbook.practice import authors, shelf
from torchbook.practice.errors import ExerciseError
from torchbook.practice.exercise import HIDDEN, Exercise
from torchbook.practice.learner import spoken

FILE = "hunts.toml"  # in the folder of exercises


@dataclass(frozen=True)
class Hunt:
    """A program, the check that refuses it among others that do not, and what its author thought."""

    exercise: Exercise
    name: str
    program: str
    check: str
    choices: tuple[str, ...]
    why: str
    diff: str

    @property
    def id(self) -> str:
        """For instance p01-x2/data_pointers."""
        return f"{self.exercise.id}/{self.name}"

    @property
    def spoken(self) -> tuple[str, ...]:
        """The choices in words."""
        return tuple(spoken(check) for check in self.choices)


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
        _hunt(exercise, name, others)
        for exercise, answers in ((shelf.find(key, (root,)), answers) for key, answers in chosen.items())
        if chapter in ("", exercise.contract.chapter)
        for name, others in answers.items()
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


def _chosen(path: Path) -> dict[str, dict[str, list[str]]]:
    """The file's content, by exercise and by wrong answer."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ExerciseError(f"{FILE}:1: missing; it stands in the folder of exercises") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ExerciseError(f"{FILE}: not TOML: {error}") from None
    for key, answers in table.items():
        if not isinstance(answers, dict) or not all(isinstance(others, list) for others in answers.values()):
            raise ExerciseError(f'{FILE}: [{key}] has lines: name_of_a_wrong_answer = ["test_that_lets_it_pass", …]')
    return table


def _hunt(exercise: Exercise, name: str, others: list[str]) -> Hunt:
    answer = authors.wrong_answer(exercise, name)
    place = f"{FILE}: [{exercise.id}] {name}"
    unknown = [check for check in others if check not in exercise.check_names]
    if unknown:
        raise ExerciseError(f"{place}: {', '.join(unknown)} is no check of {exercise.id}; correct the name")
    if answer.check.startswith(HIDDEN) or any(check.startswith(HIDDEN) for check in others):
        raise ExerciseError(f"{place}: a hidden check decides; choose a wrong answer that a public one refuses")
    if len(set(others) - {answer.check}) < 2:
        raise ExerciseError(f"{place}: name two or more checks that let it pass, beside {answer.check}")
    choices = [answer.check, *others]
    random.Random(f"{exercise.id}/{name}").shuffle(choices)  # the same on the site and in a terminal
    diff = "\n\n".join(edit.diff for edit in answer.edits)
    return Hunt(exercise, name, answer.source, answer.check, tuple(choices), answer.misconception, diff)
