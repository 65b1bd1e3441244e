"""An assignment's file: what is read, filled in and kept, and what the errors say."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.course.assigned import assignment
from torchbook.practice import shelf
from torchbook.practice.exercise import ExerciseError, Points
from torchbook_course.assignment import Assignment, AssignmentError, Late, name_of, resolve

PLAIN = "title: Homework 1\nseed: 7\nexercises:\n  - p01-x3\n  - s04-x1\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "hw1.yml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_least_that_one_can_write_is_enough(tmp_path: Path) -> None:
    loaded = Assignment.load(written(tmp_path, PLAIN))
    assert (loaded.name, loaded.title, loaded.seed, loaded.due) == ("hw1", "Homework 1", 7, None)
    assert [exercise.id for exercise in resolve(loaded)] == ["p01-x3", "s04-x1"]


def test_what_is_resolved_is_read_back_as_it_was(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    due = "2026-12-05T23:59+01:00"
    late = {"per_day": 0.1, "grace_minutes": 15, "most_days": 3}
    full = assignment(due=due, late=late).resolved([private])
    full.save(tmp_path / "course" / "assignments" / "hw1.yml")
    assert Assignment.load(tmp_path / "course" / "assignments" / "hw1.yml") == full


def test_of_a_folder_that_is_not_there_its_line_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, PLAIN + "folders:\n  - private\n")
    line = len(path.read_text().splitlines())
    with pytest.raises(AssignmentError, match=rf"hw1\.yml:{line}: folders\.0: .*private: no such folder of exercises"):
        Assignment.load(path)


def test_folders_in_the_file_are_relative_to_it(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    path = written(tmp_path, PLAIN + "folders: [private]\n")
    loaded = Assignment.load(path)
    assert loaded.folders == (tmp_path / "private",)
    loaded.save(tmp_path / "deep" / "hw1.yml")
    assert "../private" in (tmp_path / "deep" / "hw1.yml").read_text()


def test_a_private_exercise_is_found_in_its_folder(tmp_path: Path) -> None:
    private = tmp_path / "private"
    own = shutil.copytree(shelf.find("p01-x3").folder, private / "own/x1-indexing")
    page = own / "exercise.md"
    page.write_text(page.read_text().replace("id: p01-x3", "id: own-x1").replace("chapter: p01", "chapter: own"))
    for other in own.glob("variants/*/exercise.md"):
        other.write_text(other.read_text().replace("id: p01-x3", "id: own-x1").replace("chapter: p01", "chapter: own"))
    loaded = Assignment.load(written(tmp_path, "title: A\nseed: 1\nexercises: [own-x1]\nfolders: [private]\n"))
    assert resolve(loaded)[0].folder == own


def test_the_seed_decides_the_variant_and_the_file_keeps_it() -> None:
    drawn = {seed: assignment("p01-x3", seed=seed).resolved().exercises[0].variant for seed in range(20)}
    assert set(drawn.values()) == {"base", "which-indices"}
    again = {seed: assignment("p01-x3", seed=seed).resolved().exercises[0].variant for seed in range(20)}
    assert drawn == again


@pytest.mark.parametrize("variant", ["base", "which-indices"])
def test_a_variant_can_be_asked_for(variant: str) -> None:
    for seed in range(6):
        homework = assignment(seed=seed, exercises=[{"id": "p01-x3", "variant": variant}])
        assert resolve(homework)[0].variant_name == ("" if variant == "base" else variant)


def test_a_resolved_quiz_keeps_the_order_of_its_options() -> None:
    first = assignment("s04-x1")
    assert resolve(first)[0].digest == resolve(first.resolved())[0].digest


def test_points_come_from_the_exercise_unless_given() -> None:
    theirs = Points(public=0, hidden=5)
    homework = assignment(exercises=[{"id": "p01-x3"}, {"id": "s04-x1", "points": theirs}])
    assert [homework.points(item) for item in homework.exercises] == [shelf.find("p01-x3").contract.points, theirs]


def test_a_changed_exercise_is_noticed(tmp_path: Path) -> None:
    private = tmp_path / "private"
    own = shutil.copytree(shelf.find("p01-x3").folder, private / "p01/x3-manual-indexing")
    full = assignment(exercises=[{"id": "p01-x3", "variant": "base"}]).resolved([private])
    assert full.changed() == ()
    checks = own / "checks.py"
    checks.write_text(checks.read_text() + "\n\n# harder\n")
    (change,) = full.changed()
    assert change.startswith("p01-x3 has changed since hw1 was made")
    assert "--force" in change


def test_the_due_time_in_the_past_is_worth_a_warning() -> None:
    due = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert assignment(due=due).warnings(due - timedelta(hours=1)) == ()
    assert "past" in assignment(due=due).warnings(due + timedelta(hours=1))[0]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("title: A\nexercises: [p01-x3]\n", 1, "seed: 7"),
        ("title: A\nseed: 3\nexercises:\n  - p01-x3\n  - p01-x33\n", 5, "did you mean p01-x3"),
        ("title: A\nseed: 3\nexercises: [p01-x3, p01-x3]\n", 1, "p01-x3 is there twice"),
        ("title: A\nseed: 3\ndue: 2026-12-05 23:59\nexercises: [p01-x3]\n", 3, "+01:00"),
        ("title: A\nseed: 3\nlate: {per_month: 1}\nexercises: [p01-x3]\n", 3, "per_day"),
        ("title: A\nseed: 3\nexercises:\n  - {id: p01-x3, variant: other}\n", 4, "there are: which-indices"),
        ("title: A\nseed: 3\nexercises:\n  - id: p01-x3\n    points: {public: -1, hidden: 1}\n", 5, "public"),
        ("title: [A\n", 2, "not YAML"),
        ("- p01-x3\n", 1, "title"),
        ("title: A\nseed: 3\nexercises: []\n", 3, "torchbook exercises"),
    ],
)
def test_errors_name_file_line_and_remedy(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(AssignmentError) as caught:
        Assignment.load(path)
    assert f"{path}:{line}: " in str(caught.value)
    assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(AssignmentError, match=r"no\.yml:1: no such file"):
        Assignment.load(tmp_path / "no.yml")


def test_an_unknown_exercise_of_the_command_line_has_neighbours() -> None:
    with pytest.raises(ExerciseError, match="did you mean p01-x"):
        assignment("p01-x33").resolved()


def test_the_learners_edition_cannot_be_assigned(tmp_path: Path) -> None:
    own = shutil.copytree(shelf.find("p01-x3").folder, tmp_path / "p01/x3-manual-indexing")
    (own / "LEARNER").touch()
    with pytest.raises(AssignmentError, match="without hidden checks; clone the book"):
        assignment("p01-x3").resolved([tmp_path])


DAY = 86_400
LATE = Late(per_day=0.1, grace_minutes=15, most_days=3)


@pytest.mark.parametrize(
    ("seconds", "taken"),
    [(-10, 0), (0, 0), (15 * 60, 0), (15 * 60 + 1, 1), (DAY, 1), (DAY + 1, 2), (3 * DAY, 3), (3 * DAY + 1, 10)],
)
def test_lateness_costs_by_the_day_that_has_begun(seconds: float, taken: float) -> None:
    assert LATE.penalty(10, seconds) == pytest.approx(taken)


def test_lateness_never_costs_more_than_there_is() -> None:
    assert Late(per_day=0.4).penalty(10, 5 * DAY) == 10


def test_without_a_policy_lateness_costs_nothing() -> None:
    assert Late().penalty(10, 100 * DAY) == 0


def test_the_policy_is_said_in_words() -> None:
    assert LATE.in_words() == (
        "Up to 15 minutes late cost nothing. Each day begun takes 10 % of the points reached. "
        "Nothing is counted after 3 days."
    )


@pytest.mark.parametrize(("title", "name"), [("Homework 1", "homework-1"), ("  Übung: 2 ", "bung-2")])
def test_a_title_makes_a_name(title: str, name: str) -> None:
    assert name_of(title) == name


def test_lateness_takes_no_more_than_its_cap() -> None:
    late = Late(per_day=0.2, at_most=0.5)
    assert [late.penalty(10, days * 86_400) for days in (1, 2, 9)] == [2, 4, 5]


def test_the_cap_is_in_the_words_for_students() -> None:
    assert "20 % of the points reached, at most 50 %." in Late(per_day=0.2, at_most=0.5).in_words()


def test_no_partial_credit_is_kept_in_the_file(tmp_path: Path) -> None:
    assignment(credit="all-or-nothing").resolved().save(tmp_path / "hw1.yml")
    assert Assignment.load(tmp_path / "hw1.yml").credit == "all-or-nothing"


def test_another_kind_of_credit_is_told_what_there_is(tmp_path: Path) -> None:
    path = written(tmp_path, "title: A\nseed: 3\ncredit: some\nexercises: [p01-x3]\n")
    with pytest.raises(AssignmentError, match=r":3: credit: .*write `credit: all-or-nothing`"):
        Assignment.load(path)
