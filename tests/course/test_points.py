"""`torchbook course points`: what it understands, and what it makes again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.course import assigned
from torchbook_course import generate, points
from torchbook_course.assignment import AssignmentError, find_assignment


@pytest.mark.parametrize(
    ("wish", "public", "hidden"), [("p01-x3=6", 2.0, 4.0), ("p01-x3=1+3", 1.0, 3.0), ("p01-x3=1", 0.33, 0.67)]
)
def test_points_are_shared_as_before_or_as_said(wish: str, public: float, hidden: float) -> None:
    (worth, _) = points.changed(assigned.assignment(), [wish]).worth()
    assert (worth.public, worth.hidden) == (public, hidden)


def test_what_cannot_be_read_is_told_how_to_write_it() -> None:
    with pytest.raises(AssignmentError, match="'p01-x3': write p01-x3=3, or"):
        points.changed(assigned.assignment(), ["p01-x3"])


def test_an_exercise_of_another_assignment_is_named() -> None:
    with pytest.raises(AssignmentError, match="p02-x1: not in hw1; there are: p01-x3, s04-x1"):
        points.changed(assigned.assignment(), ["p02-x1=3"])


def test_the_notebook_and_the_file_have_the_new_points(tmp_path: Path) -> None:
    assigned.make(tmp_path / "course")
    said = list(points.change("hw1", ["p01-x3=6"], tmp_path / "course"))
    folder, now = find_assignment(tmp_path / "course", tmp_path, "hw1")
    assert said[0] == "p01-x3: 3 (public 1, hidden 2) → 6 (public 2, hidden 4)"
    assert generate.points_made(now, folder)["p01-x3-hidden"] == 4.0
    assert generate.points_made(now, folder) == generate.points_wanted(now)


def test_points_that_are_so_already_change_nothing(tmp_path: Path) -> None:
    assigned.make(tmp_path / "course")
    assert list(points.change("hw1", ["p01-x3=3"], tmp_path / "course")) == ["hw1: these are its points already"]
