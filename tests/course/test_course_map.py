"""Instructors' map of the book: hours from words, measured seconds and stated minutes; and the page around it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import nbformat
import pytest
import typer
from bs4 import BeautifulSoup

from tests.press.conftest import Book, as_if_it_ran, small_book, write_exercises
from torchbook.cli import app
from torchbook.practice import shelf
from torchbook.practice.exercise import Exercise
from torchbook_course.assignment import Assignment
from torchbook_press.build import WarmBuilder, Work, html
from torchbook_press.chapters import Chapter, chapters, units
from torchbook_press.site.course_map import Hours, hours_of, week_of
from torchbook_press.site.stamp import reading_minutes


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("exercises")
    write_exercises(root)
    return root


@pytest.fixture(scope="module")
def exercises(own: Path) -> list[Exercise]:
    return [shelf.load(own / name) for name in ("t01/x1-add", "t01/x2-words")]


def test_hours_add_reading_running_and_exercises(exercises: list[Exercise]) -> None:
    estimate = hours_of("word " * 4000, 600, exercises)
    assert estimate == Hours(reading=20, running=600, exercises=2, practice=3)
    assert estimate.hours == pytest.approx((20 + 10 + 3) / 60)
    assert estimate.in_words() == ("20 min", "10 min", "2, 3 min", "0.6 h")


def test_what_is_not_there_is_a_dash() -> None:
    assert hours_of("", None, []).in_words() == ("–", "–", "–", "0.0 h")


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory, repo: Path, own: Path) -> Book:
    """A small book with one chapter that ran in 36 s, one that never did, and the tables."""
    book = small_book(tmp_path_factory.mktemp("map"), repo)
    book.chapter("t01", "word " * 500)
    book.chapter("t02", "word " * 10)
    _pretend_it_ran(book, "t01", 36.0)
    book.page("map", "# Map\n\n:::{course-map}\n:::\n")
    book.page("times", "# Times\n\n:::{timeline}\n:pace: 2\n:::\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCHBOOK_EXERCISES", str(own))
        html(book.root)
    return book


def table_of(book: Book, page: str) -> list[list[str]]:
    html = (Work(book.root).html / f"book/{page}.html").read_text(encoding="utf-8")
    rows = BeautifulSoup(html, "html.parser").select("table tr")
    return [[entry.get_text(strip=True) for entry in row.select("th, td")] for row in rows]


@pytest.fixture(scope="module")
def rows(book: Book) -> list[list[str]]:
    return table_of(book, "map")


def _pretend_it_ran(book: Book, name: str, seconds: float) -> None:
    """Papermill's record without its outputs; the build complains of these, and prints the page."""
    chapter = Chapter(book.root, f"book/{name}")
    as_if_it_ran(chapter, nbformat.v4.new_notebook(), seconds=seconds)


def test_a_chapter_is_a_row(rows: list[list[str]]) -> None:
    assert rows[0] == ["Chapter", "Read", "Run", "Exercises", "Together"]
    assert rows[1] == ["T01", "3 min", "36 s", "2, 3 min", "0.1 h"]


def test_a_chapter_that_never_ran_has_no_seconds(rows: list[list[str]]) -> None:
    assert rows[2] == ["T02", "1 min", "–", "–", "0.0 h"]


def test_exercises_of_chapters_that_are_not_there_have_a_row(rows: list[list[str]]) -> None:
    awaiting = [exercise for exercise in shelf.shelf().values() if exercise.contract.audience == "everyone"]
    assert rows[3][0] == "Exercises of chapters to come: " + ", ".join(
        sorted({exercise.contract.chapter for exercise in awaiting})
    )
    assert rows[3][3] == f"{len(awaiting)}, {sum(exercise.contract.minutes for exercise in awaiting)} min"


def test_the_last_row_is_the_sum(rows: list[list[str]]) -> None:
    exercises = sum(int(row[3].partition(",")[0]) for row in rows[1:-1] if row[3] != "–")
    assert rows[-1][:3] == ["All", "4 min", "36 s"]
    assert rows[-1][3].startswith(f"{exercises}, ")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, repo: Path, own: Path) -> Book:
    """A book whose chapter t01 has two pages, of which one ran, in 36 s; its exercises are shown nowhere."""
    book = small_book(tmp_path_factory.mktemp("folder"), repo)
    book.folder("t01-pages", first="word " * 500, second="word " * 500)
    _pretend_it_ran(book, "t01-pages/first", 36.0)
    book.page("map", "# Map\n\n:::{course-map}\n:::\n")
    book.page("times", "# Times\n\n:::{timeline}\n:::\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCHBOOK_EXERCISES", str(own))
        html(book.root)
    return book


def test_a_chapter_that_is_a_folder_is_one_row_with_the_sum_of_its_pages(folder: Book) -> None:
    rows = table_of(folder, "map")
    assert rows[1] == ["T01-pages", "7 min", "36 s", "2, 3 min", "0.2 h"]
    assert not rows[2][0].startswith("Second")


def test_exercises_of_a_chapter_that_is_a_folder_are_not_to_come(folder: Book) -> None:
    (awaiting,) = (row[0] for row in table_of(folder, "map") if row[0].startswith("Exercises of chapters to come"))
    assert "t01" not in awaiting


def test_a_row_of_a_chapter_leads_to_its_index(folder: Book) -> None:
    html = (Work(folder.root).html / "book/map.html").read_text(encoding="utf-8")
    links = [link["href"] for link in BeautifulSoup(html, "html.parser").select("article table a")]
    assert links == ["t01-pages/index.html"]


def test_the_timeline_has_the_outcomes_of_all_pages_of_a_chapter(folder: Book) -> None:
    assert table_of(folder, "times")[1][3] == "Counts.Counts."


def test_the_timeline_tells_outcomes_hours_and_weeks(book: Book) -> None:
    header, first, second, total = table_of(book, "times")
    assert header == ["Chapter", "Hours", "Done in week", "What you can do then"]
    assert first == ["T01", "0.1 h", "1", "Counts."]
    assert [row[2] for row in (second, total)] == ["1", "1"]


def test_a_map_is_read_again_when_what_it_shows_changes_and_only_then(
    tmp_path: Path, repo: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHBOOK_EXERCISES", str(own))
    book = small_book(tmp_path, repo)
    chapter = book.chapter("t01", "word " * 10)
    book.page("map", "# Map\n\n:::{course-map}\n:::\n")
    build = WarmBuilder(Work(book.root), "")
    doctree = build.work.doctrees / "book" / "map.doctree"

    def built_with(words: int) -> tuple[str, int]:
        chapter.write_text(chapter.read_text() + "word " * words)
        build([])
        return table_of(book, "map")[1][1], doctree.stat().st_mtime_ns

    first, more, much = built_with(0), built_with(10), built_with(400)
    assert more == first
    assert (first[0], much[0]) == ("1 min", "3 min")


@pytest.mark.parametrize(("hours", "pace", "week"), [(0, 6, 1), (6, 6, 1), (6.1, 6, 2), (40, 6, 7), (0.1 * 3, 0.3, 1)])
def test_a_week_is_full_before_the_next_begins(hours: float, pace: int, week: int) -> None:
    assert week_of(hours, pace) == week


# The page.


@pytest.fixture(scope="module")
def page(repo: Path) -> str:
    return (repo / "book" / "instructors.md").read_text(encoding="utf-8")


def commands(page: str) -> list[list[str]]:
    """What follows `torchbook` in blocks of shell, and in code that is a whole command."""
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL))
    lines = [line for line in blocks.splitlines() if line.startswith("torchbook ")]
    lines += re.findall(r"`(torchbook (?:course \w+|exercises|check)(?: [^`…]+)?)`", page)
    return [shlex.split(line)[1:] for line in lines]


def test_the_page_has_commands(page: str) -> None:
    assert {"new", "link", "collect", "grade"} <= {words[1] for words in commands(page) if words[0] == "course"}


def test_every_command_of_the_page_parses(page: str) -> None:
    for words in commands(page):
        command: click.Command = typer.main.get_command(app)
        context = click.Context(command, info_name="torchbook")
        rest = list(words)
        while isinstance(command, click.Group):
            name, subcommand, rest = command.resolve_command(context, rest)
            assert subcommand is not None
            command, context = subcommand, click.Context(subcommand, info_name=name, parent=context)
        command.make_context(command.name, rest, parent=context.parent)


def test_the_pages_yaml_is_an_assignment(page: str, tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (text,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "hw1.yml").write_text(text, encoding="utf-8")
    homework = Assignment.load(tmp_path / "hw1.yml")
    assert homework.late.most_days == 3
    assert [item.id for item in homework.exercises] == ["p01-x3", "s04-x1"]


def test_every_exercise_that_the_page_names_is_there(page: str) -> None:
    named = set(re.findall(r"\b[a-z]\w*-x\d+\b", page))
    assert named <= set(shelf.folders())


def test_every_notebook_that_the_page_names_is_a_page_of_the_book(page: str, repo: Path) -> None:
    named = re.findall(r"--path notebooks/(\S+)\.ipynb", page)
    assert named
    assert [name for name in named if name not in {chapter.docname for chapter in chapters(repo)}] == []


@pytest.mark.parametrize(("plan", "left_out"), [("Fourteen weeks", 2), ("Alone", 0)])
def test_a_plan_goes_through_as_many_chapters_as_the_page_says(page: str, repo: Path, plan: str, left_out: int) -> None:
    rows = re.findall(r"^\|.*\|$", page.partition(f"### {plan}\n")[2].partition("\n### ")[0], re.MULTILINE)
    named = set(re.findall(r"\*\*(\w+)\*\*", "\n".join(rows)))
    chapters_ = {unit.id for unit in units(repo)}
    assert named <= chapters_
    assert len(chapters_ - named) == left_out


_WEEK = 6 * 60  # minutes


def test_a_week_of_the_semester_is_at_most_six_hours(page: str, repo: Path) -> None:
    plan = page.partition("### Fourteen weeks\n")[2].partition("\n### ")[0]
    by_id = {unit.id: unit for unit in units(repo)}
    minutes = {}
    for row in re.findall(r"^\| (\d+) \|(.*)\|$", plan, re.MULTILINE):
        read = [by_id[name] for name in re.findall(r"\*\*(\w+)\*\*", row[1])]
        reading = [reading_minutes(member.text) for unit in read for member in unit.members]
        assigned = [shelf.find(name).contract.minutes for name in re.findall(r"\b\w+-x\d+\b", row[1])]
        minutes[int(row[0])] = sum(reading) + sum(assigned)
    assert len(minutes) == 14
    assert {week: spent for week, spent in minutes.items() if spent > _WEEK} == {}
