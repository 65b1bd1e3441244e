"""An assignment: which exercises, in which variants, for how many points, due when, with which seed.

It is one YAML file. An instructor may write only the first half of it; `torchbook course new` fills in the rest and
keeps it in the course, where grading reads it:

    title: Homework 1
    due: 2026-12-05T23:59+01:00       # with an offset from UTC; none: never late
    late: {per_day: 0.1, grace_minutes: 15, most_days: 3, at_most: 0.5}
    credit: partial                   # or all-or-nothing: an exercise's points only where every check passed
    seed: 7                           # of this class: chooses variants, orders options, draws hidden cases
    exercises:
      - p01-x3
      - {id: p02-x1, variant: base, points: {public: 1, hidden: 3}}
    folders: [../private]             # exercises of your own, beside the book's; relative to this file

    name: hw1                         # else the file's name
    torchbook: 0.1.0                  # what it was made with; and of each exercise its digest, to notice changes
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pydantic
import yaml
from pydantic_core import ErrorDetails

import torchbook
from torchbook.practice import shelf
from torchbook.practice.exercise import Exercise, ExerciseError, Points

BASE = "base"
NAME = r"^[a-z0-9][a-z0-9_-]*$"
_DAY = 86_400


class AssignmentError(Exception):
    """An assignment's file cannot be used; the message names file, line and remedy."""


class Late(pydantic.BaseModel):
    """What a late submission costs.

    Up to `grace_minutes` after the due time nothing. Then each day that has begun since the due time takes the
    fraction `per_day` of the points that were reached, but no more than the fraction `at_most` of them; after
    `most_days` days, if that is given, all of them.
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)
    per_day: float = pydantic.Field(default=0.0, ge=0, le=1)
    grace_minutes: float = pydantic.Field(default=0.0, ge=0)
    most_days: int | None = pydantic.Field(default=None, ge=0)
    at_most: float = pydantic.Field(default=1.0, ge=0, le=1)

    def penalty(self, score: float, seconds_late: float) -> float:
        """Points to take off `score` from a submission that came `seconds_late` after the due time."""
        if seconds_late <= self.grace_minutes * 60:
            return 0.0
        days = math.ceil(seconds_late / _DAY)
        if self.most_days is not None and days > self.most_days:
            return score
        return score * min(self.at_most, self.per_day * days)

    def in_words(self) -> str:
        """The policy as students read it."""
        grace = f"Up to {self.grace_minutes:g} minutes late cost nothing. " if self.grace_minutes else ""
        cap = f", at most {100 * self.at_most:g} %" if self.at_most < 1 else ""
        cost = f"Each day begun takes {100 * self.per_day:g} % of the points reached{cap}." if self.per_day else ""
        if self.most_days is not None:
            cost = f"{cost} Nothing is counted after {self.most_days} day{'s' * (self.most_days != 1)}.".strip()
        return grace + cost if cost else "Late submissions lose no points."


class Item(pydantic.BaseModel):
    """One exercise of an assignment; a plain id in the file is an item without wishes.

    `variant` is the name of a variant, or "base"; without one the seed chooses. `points` default to the exercise's.
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)
    id: str = pydantic.Field(pattern=r"^[a-z][a-z0-9]*-x\d+$")
    variant: str | None = None
    points: Points | None = None
    digest: str | None = None

    @pydantic.model_validator(mode="before")
    @classmethod
    def _from_id(cls, value: object) -> object:
        return {"id": value} if isinstance(value, str) else value


class Assignment(pydantic.BaseModel):
    """See the module; `folders` are absolute once loaded."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)
    name: str = pydantic.Field(pattern=NAME)
    title: str = pydantic.Field(min_length=1)
    due: pydantic.AwareDatetime | None = None
    late: Late = Late()
    credit: Literal["partial", "all-or-nothing"] = "partial"
    seed: int = pydantic.Field(ge=0, lt=2**31)
    exercises: tuple[Item, ...]
    folders: tuple[Path, ...] = ()
    torchbook: str = ""

    @pydantic.field_validator("exercises", mode="before")
    @classmethod
    def _has_some(cls, value: object) -> object:
        if not value:
            raise ValueError("there are none")
        return value

    @pydantic.model_validator(mode="after")
    def _has_each_once(self) -> Assignment:
        ids = [item.id for item in self.exercises]
        duplicates = sorted({name for name in ids if ids.count(name) > 1})
        if duplicates:
            raise ValueError(f"{', '.join(duplicates)} is there twice; keep one")
        return self

    @property
    def late_from(self) -> datetime | None:
        """The first whole second that costs points."""
        return self.due + timedelta(minutes=self.late.grace_minutes, seconds=1) if self.due else None

    @classmethod
    def load(cls, path: Path, extra_roots: Sequence[Path] = ()) -> Assignment:
        """Read an assignment, and see that its exercises exist.

        Raises:
            AssignmentError: the file is missing or malformed, or names an exercise or variant that does not exist.
        """
        text, fields = _fields(path)
        fields.setdefault("name", path.stem)
        try:
            parsed = cls.model_validate(fields)
        except pydantic.ValidationError as error:
            raise AssignmentError(
                "\n".join(_complaint(path, text, e["loc"], _message(e)) for e in error.errors())
            ) from None
        folders = tuple((path.parent / folder).resolve() for folder in parsed.folders)
        for index, folder in enumerate(folders):
            if not folder.is_dir():
                what = f"{folder}: no such folder of exercises; correct the path, or leave it out"
                raise AssignmentError(_complaint(path, text, ("folders", index), what))
        assignment = parsed.model_copy(update={"folders": folders})
        for index, item in enumerate(assignment.exercises):
            try:
                assignment.exercise(item, extra_roots)
            except (AssignmentError, ExerciseError) as error:
                raise AssignmentError(_complaint(path, text, ("exercises", index), str(error))) from None
        return assignment

    @classmethod
    def of_options(cls, *, name: str = "", **fields: Any) -> Assignment:
        """An assignment from a command line.

        Raises:
            AssignmentError: an option cannot be used; the message names it.
        """
        options = {key: value for key, value in fields.items() if value not in (None, "")}
        try:
            return cls.model_validate({"name": name or name_of(options.get("title", "")), **options})
        except pydantic.ValidationError as error:
            complaints = [f"{_option(e['loc'])}{_message(e)}{_remedy(e['loc'])}" for e in error.errors()]
            raise AssignmentError("\n".join(complaints)) from None

    def save(self, path: Path) -> None:
        """Write the assignment; its folders relative to the file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.to_yaml(path.parent), encoding="utf-8")

    def to_yaml(self, beside: Path = Path()) -> str:
        """The assignment as its file has it, for a file in the folder `beside`."""
        fields = self.model_dump(mode="json", exclude_none=True, exclude={"due", "folders"})
        order = ["name", "title", "due", "late", "credit", "seed", "exercises", "folders", "torchbook"]
        if self.due:
            fields["due"] = self.due.isoformat()
        if self.folders:
            fields["folders"] = [Path(os.path.relpath(f, beside.resolve())).as_posix() for f in self.folders]
        ordered = {key: fields[key] for key in order if key in fields}
        return yaml.safe_dump(ordered, sort_keys=False, allow_unicode=True)

    def exercise(self, item: Item, extra_roots: Sequence[Path] = ()) -> Exercise:
        """The exercise as this class gets it: its variant, a quiz's options in the class's order.

        Raises:
            ExerciseError: there is no such exercise or variant.
            AssignmentError: only the learner's edition is here, without hidden checks.
        """
        exercise = shelf.find(item.id, (*extra_roots, *self.folders))
        if exercise.edition == "learner":
            raise AssignmentError(
                f"{item.id}: this installation has the learner's edition, without hidden checks; clone the book "
                f"and set {shelf.ROOTS} to its folder exercises"
            )
        variant = "" if item.variant == BASE else item.variant
        return exercise.for_class(self.seed, variant)

    def points(self, item: Item, extra_roots: Sequence[Path] = ()) -> Points:
        """The points of an item: its own, else the exercise's."""
        return item.points or self.exercise(item, extra_roots).contract.points

    def worth(self, extra_roots: Sequence[Path] = ()) -> list[Points]:
        """The points of each exercise, in the assignment's order."""
        return [self.points(item, extra_roots) for item in self.exercises]

    def resolved(self, extra_roots: Sequence[Path] = ()) -> Assignment:
        """The assignment with all that was left open filled in: variants, points, digests, version."""
        items = []
        for item in self.exercises:
            exercise = self.exercise(item, extra_roots)
            variant = exercise.variant_name or BASE
            items.append(
                Item(
                    id=item.id, variant=variant, points=item.points or exercise.contract.points, digest=exercise.digest
                )
            )
        folders = tuple(dict.fromkeys(path.resolve() for path in (*self.folders, *extra_roots)))
        update = {"exercises": tuple(items), "folders": folders, "torchbook": torchbook.__version__}
        return self.model_copy(update=update)

    def changed(self, extra_roots: Sequence[Path] = ()) -> tuple[str, ...]:
        """A sentence for each exercise that is no longer what it was when the assignment was made."""
        items = [item for item in self.exercises if item.digest]
        differing = [item.id for item in items if self.exercise(item, extra_roots).digest != item.digest]
        return tuple(
            f"{name} has changed since {self.name} was made (torchbook {self.torchbook}); students may hold another "
            f"statement or checks. Make the assignment again with --force, or restore the exercise"
            for name in differing
        )

    def warnings(self, now: datetime | None = None) -> tuple[str, ...]:
        """What is odd but allowed."""
        now = now or datetime.now(UTC)
        if self.due and self.due < now:
            return (f"{self.name} was due on {self.due:%Y-%m-%d %H:%M}, which is past: every submission is late",)
        return ()


def resolve(assignment: Assignment, extra_roots: Sequence[Path] = ()) -> list[Exercise]:
    """The exercises of an assignment in its order, each as this class gets it."""
    return [assignment.exercise(item, extra_roots) for item in assignment.exercises]


def find_assignment(course: Path | None, submissions: Path, name: str) -> tuple[Path, Assignment]:
    """The course's folder and the assignment.

    Args:
        course: the folder; if it is not named, one that lies here or near the submissions.
        submissions: what students handed in.
        name: of the assignment; a course that has only one needs none.

    Raises:
        AssignmentError: there is none, or several and none was named.
    """
    bases = [Path(), *list(submissions.resolve().parents)[:2]]
    places = [course] if course else [place / inner for place in bases for inner in ("", "course")]
    folder = next((place.resolve() for place in places if (place / "assignments").is_dir()), None)
    if folder is None:
        where = f"{course} is no course" if course else "no course here, nor beside the submissions"
        raise AssignmentError(f"{where}; name the folder that `torchbook course new` made with --course")
    paths = {path.stem: path for path in sorted((folder / "assignments").glob("*.yml"))}
    if name and name not in paths:
        raise AssignmentError(f"{folder}: no assignment {name!r}; there are: {', '.join(paths) or 'none'}")
    if not name and len(paths) != 1:
        raise AssignmentError(f"{folder}: choose with --assignment; there are: {', '.join(paths) or 'none'}")
    return folder, Assignment.load(paths[name] if name else next(iter(paths.values())))


def name_of(title: str) -> str:
    """A title as a folder's name: "Homework 1" is "homework-1"."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _fields(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
        fields = yaml.safe_load(text)
    except FileNotFoundError:
        raise AssignmentError(f"{path}:1: no such file; correct the path of the assignment") from None
    except UnicodeDecodeError as error:
        raise AssignmentError(f"{path}:1: not UTF-8 ({error}); save it as UTF-8") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        raise AssignmentError(f"{path}:{line}: not YAML: {getattr(error, 'problem', error)}") from None
    if not isinstance(fields, dict):
        raise AssignmentError(f"{path}:1: write `title: …`, `seed: …` and `exercises: […]`, one a line")
    return text, fields


_REMEDIES = {
    "seed": "write it as `seed: 7`, any whole number from 0 that your students do not know",
    "due": "write date, time and offset from UTC, such as 2026-12-05T23:59+01:00",
    "title": "write `title: Homework 1`",
    "exercises": "write `exercises: [p01-x3]`; `torchbook exercises` lists them",
    "name": "lower case letters, digits, - and _, such as hw1",
    "late": "write `late: {per_day: 0.1, grace_minutes: 15, most_days: 3, at_most: 0.5}`, or some of these",
    "credit": "write `credit: all-or-nothing`, or leave it out",
}


def _message(error: ErrorDetails) -> str:
    return error["msg"].removeprefix("Value error, ")


def _option(location: tuple[int | str, ...]) -> str:
    return f"--{'.'.join(map(str, location))}: " if location else ""


def _remedy(location: tuple[int | str, ...]) -> str:
    whole = len(location) == 1 or location[:1] == ("late",)
    remedy = _REMEDIES.get(str(location[0]), "") if whole else ""
    return f"; {remedy}" if remedy else ""


def _complaint(path: Path, text: str, location: tuple[int | str, ...], what: str) -> str:
    dotted = ".".join(map(str, location))
    return f"{path}:{_line(yaml.compose(text), location)}: {f'{dotted}: ' if dotted else ''}{what}{_remedy(location)}"


def _line(node: yaml.Node | None, location: Sequence[int | str]) -> int:
    """Line of the innermost part of a path through a YAML document that is there."""
    line = 1 if node is None else node.start_mark.line + 1
    if not location:
        return line
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == location[0]:
                return _line(value, location[1:]) if len(location) > 1 else key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode) and isinstance(location[0], int) and location[0] < len(node.value):
        return _line(node.value[location[0]], location[1:])
    return line
