"""What each chapter takes of one's time: `{course-map}` in parts, `{timeline}` by the week in which it is done."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from torchbook.practice.exercise import Exercise, ExerciseError
from torchbook_press.chapters import ChapterError, Unit, units
from torchbook_press.run import run_metadata
from torchbook_press.site.exercises import listed, places_in
from torchbook_press.site.stamp import link, reading_minutes, running_time
from torchbook_press.site.tables import cell, table

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
    """Hours of a page from its text, its run, and exercises."""
    minutes = sum(exercise.contract.minutes for exercise in exercises)
    return Hours(reading_minutes(text) if text else 0, seconds, len(exercises), minutes)


def _hours(unit: Unit, exercises: Sequence[Exercise]) -> Hours:
    """Hours of a chapter: of all its pages, and of its exercises."""
    seconds = [record["seconds"] for page in unit.pages if (record := run_metadata(page))]
    reading = sum(reading_minutes(page.text) for page in unit.members)
    return hours_of("", sum(seconds) if seconds else None, exercises)._replace(reading=reading)


class _Map(SphinxDirective):
    """What directives about hours share."""

    def all_exercises(self) -> list[Exercise]:
        """All exercises that learners get."""
        try:
            return listed(self.env)
        except ExerciseError as error:
            raise self.error(str(error)) from None

    def rows(self, all_exercises: Sequence[Exercise]) -> Iterator[tuple[Unit, Hours]]:
        """Each chapter of this edition, in the book's order, with what it takes."""
        _shown(self.env)[self.env.docname] = _chapters_now(self.env)
        for unit in units(Path(self.env.srcdir)):
            yield unit, _hours(unit, [exercise for exercise in all_exercises if exercise.contract.chapter == unit.id])


class CourseMap(_Map):
    """`:::{course-map}`: a row for each chapter of this edition, one for exercises that await theirs, and the sum."""

    def run(self) -> list[nodes.Node]:
        all_exercises = self.all_exercises()
        rows: list[list[nodes.Node]] = []
        total = Hours(0, 0, 0, 0)
        covered = set()
        for unit, hours in self.rows(all_exercises):
            covered.add(unit.id)
            total += hours
            rows.append([link(unit.head, self.env.docname), *map(cell, hours.in_words())])
        awaiting = [exercise for exercise in all_exercises if exercise.contract.chapter not in covered]
        if awaiting:
            names = ", ".join(sorted({exercise.contract.chapter for exercise in awaiting}))
            hours = hours_of("", None, awaiting)
            total += hours
            rows.append([cell(f"Exercises of chapters to come: {names}"), *map(cell, hours.in_words())])
        return [table(_COLUMNS, [*rows, [cell("All"), *map(cell, total.in_words())]])]


class Timeline(_Map):
    """`:::{timeline}`: what one can do after each chapter, its hours, and the week in which it is done.

    The option `pace` is the hours a week that the weeks are counted for; readers may change it on the page.
    """

    option_spec = {"pace": directives.positive_int}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        pace = self.options.get("pace", 6)
        total = 0.0
        rows: list[list[nodes.Node]] = []
        for unit, hours in self.rows(self.all_exercises()):
            total += hours.hours
            outcomes = nodes.container("", *(cell(page.contract.outcome) for page in unit.pages))
            rows.append([link(unit.head, self.env.docname), cell(f"{hours.hours:.1f} h"), _week(total, pace), outcomes])
        rows.append([cell("All"), cell(f"{total:.0f} h"), _week(total, pace), cell("–")])
        columns = ("Chapter", "Hours", "Done in week", "What you can do then")
        opening = nodes.raw("", f'<div class="timeline" data-pace="{pace}">', format="html")
        return [opening, table(columns, rows), nodes.raw("", "</div>", format="html")]


# Reading such a page again when, and only when, what it shows of a chapter is other than it was.


def _shown(env: BuildEnvironment) -> dict[str, list[str]]:
    """What each page with a map showed of the chapters when it was read."""
    return places_in(env).maps


def _chapters_now(env: BuildEnvironment) -> list[str]:
    """What maps show of each chapter, beside its exercises: name, outcome, minutes to read, the time that it ran."""
    now = []
    for unit in units(Path(env.srcdir)):
        outcomes = [page.contract.outcome for page in unit.pages]
        now.append(repr((unit.head.docname, unit.head.title, outcomes, _hours(unit, ()))))
    return now


def _outdated(app: Sphinx, env: BuildEnvironment, *_: object) -> list[str]:
    shown = _shown(env)
    if not shown:
        return []
    try:
        now = _chapters_now(env)
    except ChapterError:
        now = []  # the pages say it
    return [docname for docname, before in shown.items() if before != now]


def week_of(hours: float, pace: int) -> int:
    """The week in which the last of `hours` is spent, at `pace` hours a week; the first is 1."""
    return max(1, math.ceil(hours / pace - 1e-9))


def _week(hours: float, pace: int) -> nodes.Node:
    text = f'<span data-hours="{hours:.3f}">{week_of(hours, pace)}</span>'
    return nodes.paragraph("", "", nodes.raw("", text, format="html"))


def setup(app: Sphinx) -> None:
    app.add_directive("course-map", CourseMap)
    app.add_directive("timeline", Timeline)
    app.connect("env-get-outdated", _outdated)
