"""Where exercises are found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.practice.conftest import PAGE, Write
from torchbook.practice import shelf
from torchbook.practice.exercise import ExerciseError


def test_the_clone_s_exercises_are_on_the_shelf(repo: Path) -> None:
    assert shelf.folders()["p01-x3"] == repo / "exercises" / "p01/x3-manual-indexing"


def test_folders_of_one_s_own_come_first(write: Write, tmp_path: Path) -> None:
    folder = write(None, "p01/x3-mine")
    assert shelf.folders()["p01-x3"] == folder
    extra = tmp_path / "other" / "p01/x3-other"
    extra.mkdir(parents=True)
    (extra / "exercise.md").write_text(PAGE)
    assert shelf.folders((tmp_path / "other",))["p01-x3"] == extra


def test_a_folder_without_its_chapter_s_is_refused(write: Write) -> None:
    flat = write({"exercise.md": PAGE}, "p09-x1-a-sum", bare=True)
    with pytest.raises(ExerciseError, match=r"lies in a folder <chapter>/x<n>-<slug>; move it to p09/x1-a-sum$"):
        shelf.folders((flat.parent,))


def test_the_environment_may_name_several_folders(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write().parents[1]
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv(shelf.ROOTS, f"{tmp_path / 'empty'}{os.pathsep}{root}")
    assert "p09-x1" in shelf.folders()


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ExerciseError, match=r"absent: no such folder of exercises; correct the path or TORCHBOOK"):
        shelf.folders((tmp_path / "absent",))


def test_a_wheel_s_edition_goes_before_what_lies_beside_the_package(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    edition = write().parents[1]
    monkeypatch.delenv(shelf.ROOTS)
    monkeypatch.setattr(shelf, "EDITION", edition)
    assert list(shelf.folders()) == ["p09-x1"]


def test_without_any_exercise_the_complaint_is_still_clear(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shelf, "_CLONE", tmp_path / "no clone")
    with pytest.raises(ExerciseError, match=r"no exercise 'p01-x3'; there are: none"):
        shelf.find("p01-x3")


def test_a_near_id_is_proposed(write: Write) -> None:
    write()
    with pytest.raises(ExerciseError, match=r"no exercise 'p09-x11'; did you mean p09-x1"):
        shelf.find("p09-x11")


def test_an_exercise_is_read_again_after_a_change(write: Write) -> None:
    folder = write()
    before = shelf.find("p09-x1")
    assert shelf.find("p09-x1") is before
    page = folder / "exercise.md"
    page.write_text(PAGE.replace("A sum", "Sums"))
    os.utime(page, (page.stat().st_atime, page.stat().st_mtime + 5))
    assert shelf.find("p09-x1").title == "Sums"


def test_a_malformed_exercise_stops_no_other_and_is_named(write: Write) -> None:
    write()
    write({"exercise.md": "no front matter\n"}, "p09/x2-broken")
    exercises, (line,) = shelf.sound()
    assert "p09-x1" in exercises
    assert "p09/x2-broken/exercise.md:1: the front matter is missing" in line
