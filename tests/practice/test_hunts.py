"""Bug hunts: which are chosen, that each has one answer, and how a terminal plays them."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.practice.conftest import CHECKS, Write
from torchbook.cli import app
from torchbook.practice import harness, hunts, progress, shelf
from torchbook.practice.errors import ExerciseError

CHOSEN = '[p09-x1]\nminus = ["test_zero", "test_same"]\n'
MORE = "def test_same(add):\n    assert add(0, 0) == add(0, 0), 'twice the same'\n\n\n"


@pytest.fixture
def root(write: Write) -> Path:
    """A folder of exercises with one hunt."""
    folder = write({"checks.py": f"{MORE}{CHECKS}"}).parents[1]
    (folder / hunts.FILE).write_text(CHOSEN)
    return folder


def test_a_hunt_is_a_wrong_answer_with_its_check_among_others(root: Path) -> None:
    (hunt,) = hunts.hunts(root=root)
    assert hunt.id == "p09-x1/minus"
    assert sorted(hunt.spoken) == ["same", "sum", "zero"]
    assert hunt.program == shelf.find("p09-x1").reference.replace("a + b", "a - b").strip() + "\n"
    assert hunt.why == "takes a sum for a difference"
    assert hunt.diff == "-    return a + b\n+    return a - b"


@pytest.mark.parametrize(("text", "complaint"), [
    ("[", "hunts.toml: not TOML"),
    ("[p09-x1]\nminus = 3", 'has lines: name_of_a_wrong_answer = ["test_that_lets_it_pass", …]'),
    ('[p09-x1]\nminus = ["test_zero", "test_none"]', "hunts.toml: [p09-x1] minus: test_none is no check of p09-x1"),
    ('[p09-x1]\nminus = ["test_zero"]', "name two or more checks that let it pass, beside test_sum"),
    ('[p09-x1]\nminus = ["test_zero", "test_hidden_random"]', "a hidden check decides"),
    ('[p09-x1]\nplus = ["test_zero", "test_same"]', "p09-x1 has no wrong answer 'plus'"),
    ('[p09-x8]\nplus = ["test_zero", "test_same"]', "no exercise 'p09-x8'"),
])  # fmt: skip
def test_what_is_malformed_is_said(root: Path, text: str, complaint: str) -> None:
    (root / hunts.FILE).write_text(text)
    with pytest.raises(ExerciseError) as error:
        hunts.hunts(root=root)
    assert complaint in str(error.value)


def test_chapters_without_hunts_are_told_of_the_others(root: Path) -> None:
    with pytest.raises(ExerciseError, match="no hunts in 'p77'; there are some in: own"):
        hunts.hunts("p77", root)


def test_an_installed_package_says_where_the_hunts_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "EDITION", tmp_path)
    result = play("p01")
    assert result.exit_code == 2
    assert "play them on the book's site" in result.stderr


def play(*arguments: str, answers: str = "") -> Result:
    return CliRunner().invoke(app, ["hunt", *arguments], input=answers, env={"COLUMNS": "200"})


@pytest.fixture
def shelved(root: Path, monkeypatch: pytest.MonkeyPatch) -> hunts.Hunt:
    monkeypatch.setattr(shelf, "clone", lambda: root)
    return hunts.hunts()[0]


def number(hunt: hunts.Hunt, check: str) -> str:
    return f"{hunt.choices.index(check) + 1}\n"


def test_what_is_not_solved_is_closed_until_the_reader_says_so(shelved: hunts.Hunt) -> None:
    closed = play()
    assert "those of exercises that you have not solved are closed: p09-x1" in closed.stderr
    assert "return" not in closed.output
    assert "return a - b" in play("--spoil").output
    progress.tried("p09-x1", solved=True)
    assert "return a - b" in play().output


def test_a_right_and_a_wrong_answer_are_told_with_the_reason(shelved: hunts.Hunt) -> None:
    right = play("--spoil", answers="77\n" + number(shelved, "test_sum")).output
    assert "a number from 1 to 3" in right
    assert "Right: the program takes a sum for a difference." in right
    assert "1 of 1 right." in right
    wrong = play("--spoil", answers=number(shelved, "test_zero")).output
    assert "Not this one, which lets it pass. It is “sum”: the program takes a sum for a difference." in wrong
    assert "+    return a - b" in wrong


# The book's own.


def test_each_program_is_refused_by_its_check_alone_among_the_choices() -> None:
    misfits = []
    for hunt in hunts.hunts():
        exercise = hunt.exercise
        answer = vars(harness.load(hunt.program, "learners_code"))
        outcomes = harness.run(
            exercise.public_checks,
            dict(answer),
            reference=None,
            seed=0,
            source=hunt.program,
            only=hunt.choices,
            seconds=exercise.contract.seconds,
        )
        if [outcome.name for outcome in outcomes if outcome.state != "passed"] != [hunt.check]:
            misfits.append((hunt.id, outcomes))
    assert misfits == []


def test_programs_are_short_enough_to_be_read() -> None:
    assert [hunt.id for hunt in hunts.hunts() if len(hunt.program.splitlines()) > 45] == []
