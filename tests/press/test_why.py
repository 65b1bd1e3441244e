"""Why chapters run: what changed since their last runs, in words."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from torchbook_press import run as press
from torchbook_press import why
from torchbook_press.chapters import chapters
from torchbook_press.key import observed
from torchbook_press.run import Options

from .conftest import Book, as_if_it_ran, cell

THREADS = Options(backend="threading")


def reasons(book: Book, options: Options = THREADS) -> list[str]:
    """Those of the book's only chapter; none if it is up to date or has a kept run."""
    return [reason for found in press.sort_out(chapters(book.root), options).stale.values() for reason in found]


@pytest.fixture
def ran(book: Book) -> Book:
    """A book with a chapter that ran, and read a file."""
    words = book.root / "words.txt"
    words.write_text("before")
    book.chapter("one", cell("1"), cell("2"))
    (chapter,) = chapters(book.root)
    as_if_it_ran(chapter, chapter.notebook, observed=observed([f"outside {words}"]))
    assert reasons(book) == []
    return book


def changed_cell(book: Book) -> None:
    path = book.root / "book/one.md"
    path.write_text(path.read_text().replace("\n1\n", "\n2\n"))


def added_cell(book: Book) -> None:
    path = book.root / "book/one.md"
    path.write_text(path.read_text() + "\n" + cell("3") + "\n")


def changed_file(book: Book) -> None:
    (book.root / "words.txt").write_text("after")


def other_warnings(_: Book) -> None:
    os.environ["PYTHONWARNINGS"] = "error"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (changed_cell, "the cell at line 22 changed"),
        (added_cell, "the cell at line 32 changed"),
        (changed_file, "words.txt changed"),
        (other_warnings, "warnings changed"),
    ],
)
def test_what_changed_is_said(
    ran: Book, change: Callable[[Book], None], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", os.environ.get("PYTHONWARNINGS", ""))
    change(ran)
    (reason,) = reasons(ran)
    assert reason.endswith(said)


def test_other_parameters_are_named_with_both_values(ran: Book) -> None:
    assert reasons(ran, replace(THREADS, fast=True)) == ["FAST is True, was False"]


def test_what_runs_on_demand_says_so(ran: Book) -> None:
    assert reasons(ran, replace(THREADS, force=True)) == ["--force"]


def test_a_chapter_without_a_run_says_so(book: Book) -> None:
    book.chapter("one", cell("1"))
    assert reasons(book) == ["no run is kept"]


def test_the_plan_counts_chapters_and_the_time_of_their_last_runs(ran: Book) -> None:
    ran.chapter("two", cell("2"))
    changed_cell(ran)
    first, *others = press.sort_out(chapters(ran.root), THREADS).plan()
    assert first.startswith("2 chapters run; their last runs took ")
    assert first.endswith(" in all; 1 for the first time")
    assert sorted(others) == ["  book/one: the cell at line 22 changed", "  book/two: no run is kept"]


def test_of_many_reasons_the_first_are_named(ran: Book) -> None:
    (chapter,) = chapters(ran.root)
    assert why.line(chapter, ["a", "b", "c", "d", "e"]) == "book/one: a; b; c; and 2 more"


@pytest.mark.parametrize(
    ("name", "before", "now", "said"),
    [
        ("package torch", "2.14.0", "2.15.0", "torch is 2.15.0, was 2.14.0"),
        ("file drawing/canvas.py", "a" * 64, "b" * 64, "torchbook/drawing/canvas.py changed"),
        ("exercise p01-x3", "a" * 64, "b" * 64, "exercise p01-x3 changed"),
        ("data fashion-mnist", "", "b" * 64, "another state of the data set fashion-mnist"),
        ("module pynvml", "missing", "there", "module pynvml is there, was missing"),
        ("press", "a" * 64, "b" * 64, "the part of the press that runs notebooks"),
    ],
)
def test_each_kind_of_part_has_words(name: str, before: str, now: str, said: str) -> None:
    assert why._worded(name, before, now) == said


def test_asking_why_runs_and_writes_nothing(ran: Book, tmp_path: Path) -> None:
    changed_cell(ran)
    before = ran.executed("one").read_bytes()
    done = ran.torchbook("run", "--why")
    assert done.exit_code == 0
    assert "0 up to date, 0 from kept runs, 1 to run" in done.stdout
    assert ran.executed("one").read_bytes() == before
