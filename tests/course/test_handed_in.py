"""Finding what was handed in, in every layout, and when."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from torchbook_course.handed_in import HandedInError, find, plain_name


def laid(root: Path, *paths: str) -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("{}")
    return root


def paths_by_student(root: Path) -> dict[str, str | None]:
    return {
        submission.student: str(submission.path.relative_to(root)) if submission.path else None
        for submission in find(root, "hw1")
    }


@pytest.mark.parametrize("path", ["anna/hw1.ipynb", "anna/hw1/hw1.ipynb", "anna.ipynb"])
def test_every_layout_is_found(tmp_path: Path, path: str) -> None:
    assert paths_by_student(laid(tmp_path, path)) == {"anna": path}


def test_a_notebook_under_another_name_counts_and_is_noted(tmp_path: Path) -> None:
    (submission,) = find(laid(tmp_path, "anna/hw1 (1).ipynb"), "hw1")
    assert (submission.path, submission.note) == (tmp_path / "anna" / "hw1 (1).ipynb", "handed in as hw1 (1).ipynb")


def test_notebooks_beside_the_right_one_are_named(tmp_path: Path) -> None:
    (entry,) = find(laid(tmp_path, "ada/hw1.ipynb", "ada/hw1 (1).ipynb", "ada/notes.txt"), "hw1")
    assert (entry.path, entry.beside) == (tmp_path / "ada" / "hw1.ipynb", ("hw1 (1).ipynb",))


def test_programs_and_archives_beside_the_notebook_are_named(tmp_path: Path) -> None:
    (entry,) = find(laid(tmp_path, "ada/hw1.ipynb", "ada/helpers.py", "ada/all.zip", "ada/plot.png"), "hw1")
    assert entry.beside == ("all.zip", "helpers.py")


def test_several_under_other_names_are_a_problem(tmp_path: Path) -> None:
    (submission,) = find(laid(tmp_path, "anna/a.ipynb", "anna/b.ipynb"), "hw1")
    assert (submission.path, submission.problem) == (
        None,
        "a.ipynb, b.ipynb instead of hw1.ipynb; keep one notebook of that name",
    )


def test_what_systems_leave_behind_is_no_student(tmp_path: Path) -> None:
    laid(tmp_path, ".ipynb_checkpoints/hw1.ipynb", "__MACOSX/hw1.ipynb", ".hidden.ipynb", "anna.ipynb", "grades.csv")
    assert list(paths_by_student(tmp_path)) == ["anna"]


def test_a_link_to_another_student_is_not_followed(tmp_path: Path) -> None:
    laid(tmp_path, "anna/hw1.ipynb")
    (tmp_path / "bert").symlink_to(tmp_path / "anna")
    bert = find(tmp_path, "hw1")[1]
    assert (bert.path, bert.problem) == (None, "bert is a link, which is not followed")


def when(root: Path) -> datetime | None:
    (submission,) = find(root, "hw1")
    return submission.at


def test_the_time_is_that_of_the_file(tmp_path: Path) -> None:
    laid(tmp_path, "anna/hw1.ipynb")
    os.utime(tmp_path / "anna" / "hw1.ipynb", (1_700_000_000, 1_700_000_000))
    assert when(tmp_path) == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


@pytest.mark.parametrize("text", ["2026-01-02 12:30:00 UTC", "2026-01-02 12:30:00", "2026-01-02T13:30:00+01:00\n"])
def test_a_timestamp_counts_more(tmp_path: Path, text: str) -> None:
    laid(tmp_path, "anna/hw1.ipynb")
    (tmp_path / "anna" / "timestamp.txt").write_text(text)
    assert when(tmp_path) == datetime(2026, 1, 2, 12, 30, tzinfo=UTC)


def test_a_timestamp_that_is_none_is_passed_over(tmp_path: Path) -> None:
    laid(tmp_path, "anna/hw1.ipynb")
    os.utime(tmp_path / "anna" / "hw1.ipynb", (1_700_000_000, 1_700_000_000))
    (tmp_path / "anna" / "timestamp.txt").write_text("yesterday, I think")
    assert when(tmp_path) == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


def test_names_stay_apart(tmp_path: Path) -> None:
    students = [
        submission.student for submission in find(laid(tmp_path, "a[1].ipynb", "a{1}.ipynb", "A-1-.ipynb"), "hw1")
    ]
    assert students == ["A-1-", "a-1- (2)", "a-1- (3)"]


@pytest.mark.parametrize(
    ("name", "plain"),
    [("Seán O'Neil", "Seán O'Neil"), ("..", "student"), ("a/b\\c", "a-b-c"), ("x\ny", "x-y"), ("ö" * 150, "ö" * 100)],
)
def test_a_name_is_fit_for_paths_and_patterns(name: str, plain: str) -> None:
    assert plain_name(name) == plain


@pytest.mark.parametrize("folder", ["", "no/such"])
def test_nothing_handed_in_is_an_error(tmp_path: Path, folder: str) -> None:
    with pytest.raises(HandedInError, match="submissions"):
        find(tmp_path / folder, "hw1")
