"""The commands around grading: collect before it, report after it."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.course.results import CLASS
from torchbook_course.assignment import Assignment, Item
from torchbook_course.cli import app


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a course of two assignments in it."""
    monkeypatch.chdir(tmp_path)
    for name in ("hw1", "hw2"):
        made = Assignment(name=name, title=name, seed=1, exercises=(Item(id="p01-x3"),))
        made.save(tmp_path / "course" / "assignments" / f"{name}.yml")
    return tmp_path


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    return done.exit_code, " ".join(done.output.split())


def test_collect_takes_a_download_of_moodle(course: Path) -> None:
    with zipfile.ZipFile(course / "download.zip", "w") as archive:
        archive.writestr("Anna_1_assignsubmission_file_/x.ipynb", "{}")
    status, output = run("collect", "download.zip", "--from", "moodle", "--assignment", "hw2")
    assert (status, output) == (0, "1 submissions: submissions")
    assert (course / "submissions" / "Anna_1" / "hw2" / "hw2.ipynb").read_text() == "{}"


def test_collect_knows_three_platforms(course: Path) -> None:
    assert run("collect", "download.zip", "--from", "blackboard")[0] == 2


def test_the_assignment_must_be_chosen(course: Path) -> None:
    (course / "submissions").mkdir()
    status, output = run("grade", "submissions")
    assert status == 2
    assert "choose with --assignment; there are: hw1, hw2" in output


def test_a_zip_is_to_be_collected_first(course: Path) -> None:
    (course / "download.zip").touch()
    status, output = run("grade", "download.zip", "--assignment", "hw1")
    assert status == 2
    assert "torchbook course collect download.zip" in output


def test_report_writes_everything_again(tmp_path: Path) -> None:
    CLASS.save(tmp_path)
    status, output = run("report", str(tmp_path))
    assert status == 1
    assert "3 graded, 1 absent" in output
    assert {path.name for path in tmp_path.iterdir()} >= {"gradebook.csv", "moodle.csv", "flags.csv", "report.html"}


def test_report_needs_results(tmp_path: Path) -> None:
    status, output = run("report", str(tmp_path))
    assert (status, "grade first" in output) == (2, True)
