"""`{course-map}`: what each chapter takes of a course's time: reading, running, exercises."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from torchbook.practice import shelf
from torchbook.practice.exercise import Exercise, ExerciseError
from torchbook.press.chapters import Chapter, chapters
from torchbook.press.run import record_of
from torchbook.press.site.stamp import link, reading_minutes, running_time
from torchbook.press.site.tables import cell, table

_COLUMNS = ("Chapter", "Read", "Run", "Exercises", "Together")


class Hours(NamedTuple):
    """What a chapter takes: minutes to read, seconds that it ran (None: never), exercises and their minutes."""

    reading: int
    running: float | None
    exercises: int
    practice: int

    @property
    def hours(self) -> float:
        return (self.reading + self.practice) / 60 + (self.running or 0) / 3600

    def __add__(self, other: object) -> Hours:
        assert isinstance(other, Hours)
        running = (self.running or 0) + (other.running or 0)
        practice = self.practice + other.practice
        return Hours(self.reading + other.reading, running, self.exercises + other.exercises, practice)

    def in_words(self) -> tuple[str, str, str, str]:
        reading = f"{self.reading} min" if self.reading else "–"
        running = "–" if self.running is None else running_time(self.running)
        practice = f"{self.exercises}, {self.practice} min" if self.exercises else "–"
        return reading, running, practice, f"{self.hours:.1f} h"


def hours_of(text: str, seconds: float | None, exercises: Sequence[Exercise]) -> Hours:
    """Hours of a chapter from its page, its run, and its exercises."""
    minutes = sum(exercise.minutes for exercise in exercises)
    return Hours(reading_minutes(text) if text else 0, seconds, len(exercises), minutes)


class CourseMap(SphinxDirective):
    """`:::{course-map}`: a row for each chapter of this edition, one for exercises that await theirs, and the sum."""

    def run(self) -> list[nodes.Node]:
        try:
            found = [exercise for exercise in shelf.shelf().values() if exercise.audience == "everyone"]
        except ExerciseError as error:
            raise self.error(str(error)) from None
        rows: list[list[nodes.Node]] = []
        total = Hours(0, 0, 0, 0)
        there = set()
        for chapter in chapters(Path(self.env.srcdir)):
            name = chapter.contract.id
            there.add(name)
            hours = self._hours(chapter, [exercise for exercise in found if exercise.chapter == name])
            total += hours
            rows.append([link(chapter, self.env.docname), *map(cell, hours.in_words())])
        awaiting = [exercise for exercise in found if exercise.chapter not in there]
        if awaiting:
            names = ", ".join(sorted({exercise.chapter for exercise in awaiting}))
            hours = hours_of("", None, awaiting)
            total += hours
            rows.append([cell(f"Exercises of chapters to come: {names}"), *map(cell, hours.in_words())])
        return [table(_COLUMNS, [*rows, [cell("All"), *map(cell, total.in_words())]])]

    def _hours(self, chapter: Chapter, exercises: Sequence[Exercise]) -> Hours:
        for path in (chapter.path, chapter.executed, *(exercise.folder / "exercise.md" for exercise in exercises)):
            self.env.note_dependency(str(path))
        return hours_of(chapter.text, record_of(chapter).get("seconds"), exercises)


def setup(app: Sphinx) -> None:
    app.add_directive("course-map", CourseMap)
