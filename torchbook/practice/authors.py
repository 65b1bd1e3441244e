"""What authors of exercises use: wrong answers to look at, and the folder of a new exercise."""

from __future__ import annotations

import difflib
import re
import string
from pathlib import Path

from torchbook.practice import shelf
from torchbook.practice.errors import ExerciseError
from torchbook.practice.exercise import Exercise, load
from torchbook.practice.wrong import Wrong

BLANK = Path(__file__).resolve().parent / "blank"
_IN_WHEEL = "comes from an installed package, which has none; clone the book's repository to see them"


def wrong_answers(exercise: Exercise) -> tuple[Wrong, ...]:
    """All wrong answers to an exercise, each made and found to be Python.

    Raises:
        ExerciseError: one is malformed, or they were left out of the learner's edition.
    """
    if exercise.edition == "learner" and not exercise.wrong:
        raise ExerciseError(f"no wrong answers: {exercise.id} {_IN_WHEEL}")
    for answer in exercise.wrong:
        _ = answer.source
    return exercise.wrong


def wrong_answer(exercise: Exercise, name: str) -> Wrong:
    """One wrong answer.

    Raises:
        ExerciseError: there is none of that name (the message says which there are), or they are malformed.
    """
    answers = {answer.name: answer for answer in wrong_answers(exercise)}
    if name not in answers:
        matches = difflib.get_close_matches(name, answers, 3, 0.4) or list(answers)
        raise ExerciseError(f"{exercise.id} has no wrong answer {name!r}; there are: {', '.join(matches)}")
    return answers[name]


def lay_out(chapter: str, number: str, title: str, root: Path | None = None) -> Exercise:
    """Write the folder of a new exercise, which can be read and whose checks say what is still to be written.

    Args:
        chapter: the first part of its id, for instance "p02".
        number: the second part, for instance "x7".
        title: from which the folder's name is made, too.
        root: where exercises lie, else the clone's `exercises/`.

    Raises:
        ExerciseError: the id or the title cannot be used, or there is such an exercise; nothing was written.
    """
    exercise_id = f"{chapter}-{number}"
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    if not re.fullmatch(r"[a-z][a-z0-9]*-x\d+", exercise_id):
        raise ExerciseError(f"{exercise_id!r} is no id; write chapter and number as in: p02 x7")
    if not slug:
        raise ExerciseError(f"no folder can be named after the title {title!r}; write it with letters")
    root = root or shelf.clone()
    by_id = shelf.folders((root,) if root.is_dir() else ())
    if exercise_id in by_id:
        raise ExerciseError(f"{exercise_id} is there already: {by_id[exercise_id]}; take another number")
    folder = root / chapter / f"{number}-{slug}"
    folder.mkdir(parents=True)
    fields = {"id": exercise_id, "title": _quoted(title), "chapter": chapter}
    for path in BLANK.iterdir():
        text = path.read_text(encoding="utf-8")
        text = string.Template(text).substitute(fields) if path.name == "exercise.md" else text
        (folder / path.name.removesuffix(".txt")).write_text(text, encoding="utf-8")
    return load(folder)


def _quoted(title: str) -> str:
    """The title as YAML, whatever its characters."""
    return title if re.fullmatch(r"[A-Za-z][\w ,()-]*", title) else "'" + title.replace("'", "''") + "'"


def next_steps(exercise: Exercise) -> str:
    """What the author of a new exercise does next."""
    return (
        f"{exercise.folder}\n"
        "1. Write its four files; what is to be written is said in them.\n"
        "2. Show it on the page of its chapter, under '## Exercises', by the two lines\n"
        f":::{{exercise}} {exercise.id}\n:::\n"
        "3. Prove it: .venv/bin/python -m pytest tests/exercises -k "
        f"{exercise.id}\n   Its wrong answers: torchbook exercises wrong {exercise.id}"
    )
