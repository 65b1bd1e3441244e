"""What grading found out: of the class, of each student, of each exercise, of each check. Kept as JSON."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pydantic

SUMMARY = "summary.json"
LOOK = ("tampered", "lost", "died", "memory", "processes")  # states of an exercise at which a person should look


class ResultsError(Exception):
    """The results cannot be used; the message says what to do."""


class _Kept(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)


class Asked(_Kept):
    """An exercise of the assignment: its points, its checks in order, and what a refusal by each of them means.

    `whole` says that there are points only where every check passed.
    """

    model_config = pydantic.ConfigDict(extra="ignore")  # results of before had the hints here

    id: str
    title: str
    public: float
    hidden: float
    checks: tuple[str, ...]
    misconceptions: dict[str, tuple[str, ...]]
    whole: bool = False

    @property
    def points(self) -> float:
        return self.public + self.hidden


class Check(_Kept):
    """How one check went; `state` is that of `torchbook.practice.harness.Outcome`.

    `hint` is the heading of the hint for what it said; empty where it passed, and where there is none.
    """

    name: str
    state: str
    message: str = ""
    hint: str = ""

    @property
    def hidden(self) -> bool:
        return self.name.startswith("test_hidden_")


class Flag(_Kept):
    """Something that a person should look at."""

    exercise: str
    line: int
    what: str
    why: str


@dataclass(frozen=True)
class Verdict:
    """What a grade cell is worth, and the lines that say why; they name no hidden check."""

    points: float
    lines: tuple[str, ...]


class Part(_Kept):
    """One exercise of one student. `public` and `hidden` are points as the gradebook has them."""

    exercise: str
    state: str
    detail: str = ""
    checks: tuple[Check, ...] = ()
    public: float = 0.0
    hidden: float = 0.0

    @property
    def points(self) -> float:
        return round(self.public + self.hidden, 2)


class Student(_Kept):
    """One student's submission, graded. `problem` says why it could not be read; `late` is the points taken."""

    student: str
    name: str = ""
    problem: str = ""
    absent: bool = False
    submitted: datetime | None = None
    seconds_late: float = 0.0
    late: float = 0.0
    parts: tuple[Part, ...] = ()
    flags: tuple[Flag, ...] = ()
    repairs: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def total(self) -> float:
        """Points after what lateness takes."""
        return round(max(0.0, sum(part.points for part in self.parts) - self.late), 2)

    @property
    def reason(self) -> str:
        """Why someone should look at it; nothing where nobody needs to."""
        states = [f"{part.exercise}: {part.state}" for part in self.parts if part.state in LOOK]
        flags = [what for what, _ in Counter(sorted(flag.what for flag in self.flags)).most_common()]
        return "; ".join([*([self.problem] if self.problem else []), *states, *flags])

    @property
    def needs_person(self) -> bool:
        """Whether someone should look at it."""
        return bool(self.reason) and not self.absent


class Summary(_Kept):
    """A graded class."""

    assignment: str
    title: str
    due: datetime | None
    exercises: tuple[Asked, ...]
    students: tuple[Student, ...]

    @property
    def maximum(self) -> float:
        """Points that can be reached."""
        return round(sum(exercise.points for exercise in self.exercises), 2)

    def beside(self, earlier: Iterable[Student]) -> Summary:
        """The same with those who were graded before and are missing here, or absent."""
        graded = {student.student: student for student in earlier}
        now = {one.student: one for one in self.students if not (one.absent and one.student in graded)}
        everyone = sorted((graded | now).values(), key=lambda student: student.student)
        return self.model_copy(update={"students": tuple(everyone)})

    @property
    def present(self) -> tuple[Student, ...]:
        """Students who handed something in."""
        return tuple(student for student in self.students if not student.absent)

    def save(self, results: Path) -> None:
        """Write `summary.json`."""
        write(results / SUMMARY, self.model_dump_json(indent=1))

    @classmethod
    def load(cls, results: Path) -> Summary:
        """Read what grading wrote.

        Raises:
            ResultsError: there are no results, or those of another version.
        """
        path = results / SUMMARY
        try:
            return cls.model_validate_json(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ResultsError(f"{results}: no results; grade first with `torchbook course grade`") from None
        except (pydantic.ValidationError, UnicodeDecodeError) as error:
            what = str(error).splitlines()[0]
            raise ResultsError(f"{path}: not readable ({what}); grade again with `torchbook course grade`") from None


def write(path: Path, text: str) -> None:
    """Write a file so that it is there in whole or not at all, whenever the program is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def shares(passed: int, total: int, points: float) -> float:
    """Points for some checks of all, in hundredths; all of the points only for all of the checks."""
    return round(points * passed / total, 2) if total else 0.0


def number(value: float) -> str:
    """A number of points as people write it: 2, 1.5, 0.67."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
