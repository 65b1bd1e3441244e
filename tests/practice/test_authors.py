"""`torchbook exercises wrong` and `new`: what authors of exercises use in a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.practice.conftest import QUIZ, WRONG, Write
from torchbook.cli import app
from torchbook.practice import harness, shelf
from torchbook.practice.exercise import load


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["exercises", *map(str, arguments)], env={"COLUMNS": "200"})


def test_wrong_answers_are_listed(write: Write) -> None:
    write()
    result = call("wrong", "p09-x1")
    assert result.exit_code == 0
    rows = [line.split(maxsplit=2) for line in result.output.splitlines()[1:]]
    assert [(name, check, misconception.strip()) for name, check, misconception in rows] == [
        ("minus", "test_sum", "takes a sum for a difference"),
        ("one", "test_zero", "adds one"),
    ]


def test_the_whole_program_is_printed_as_it_is(write: Write) -> None:
    minus = load(write()).wrong[0]
    result = call("wrong", "p09-x1", "minus")
    assert (result.exit_code, result.output) == (0, minus.source)
    assert "    return a - b\n" in result.output


def test_a_variants_wrong_answers_are_its_own(write: Write) -> None:
    write({"variants/times/wrong.md": WRONG.replace("## minus", "## less")})
    assert "less" in call("wrong", "p09-x1", "--variant", "times").output
    assert "less" not in call("wrong", "p09-x1").output


def test_an_unknown_name_is_told_those_there_are(write: Write) -> None:
    write()
    result = call("wrong", "p09-x1", "mines")
    assert result.exit_code == 2
    assert "p09-x1 has no wrong answer 'mines'; there are: minus" in result.stderr


def test_a_malformed_wrong_answer_is_told_with_file_and_line(write: Write) -> None:
    write({"wrong.md": WRONG.replace("-    return a + b\n+    return a - b", "-    return b")})
    result = call("wrong", "p09-x1")
    assert result.exit_code == 2
    assert "exercises/p09/x1-a-sum/wrong.md:7: these lines occur 0 times in solution.py" in result.stderr


def test_a_learners_edition_says_where_wrong_answers_are(write: Write) -> None:
    write({"LEARNER": "", "wrong.md": None})
    result = call("wrong", "p09-x1")
    assert result.exit_code == 2
    assert "p09-x1 comes from an installed package, which has none; clone the book's repository" in result.stderr


def test_a_quiz_has_its_options(write: Write) -> None:
    write({"exercise.md": QUIZ, "LEARNER": ""}, "p09/x2-a-quiz", bare=True)
    assert "It only looks red." in call("wrong", "p09-x2").output


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder for exercises that are one's own."""
    folder = tmp_path / "own"
    folder.mkdir()
    return folder


def test_a_new_exercise_is_laid_out_with_what_to_do_next(own: Path) -> None:
    result = call("new", "own", "x7", "A: sum & more", "--folder", own)
    assert result.exit_code == 0, result.output
    exercise = load(own / "own" / "x7-a-sum-more")
    assert (exercise.id, exercise.title, exercise.contract.chapter) == ("own-x7", "A: sum & more", "own")
    assert sorted(path.name for path in exercise.folder.iterdir()) == [
        "checks.py",
        "exercise.md",
        "solution.py",
        "wrong.md",
    ]
    assert [answer.check for answer in exercise.wrong if answer.source] == ["test_small", "test_hidden_drawn"]
    assert "\n:::{exercise} own-x7\n:::\n" in result.output
    assert "pytest tests/exercises -k own-x7" in result.output


def test_the_checks_of_a_new_exercise_say_that_they_are_to_be_written(own: Path) -> None:
    call("new", "own", "x7", "A sum", "--folder", own)
    exercise = load(own / "own" / "x7-a-sum")
    bench = harness.Bench(exercise.checks, exercise.reference)
    outcomes = bench.run(vars(harness.load(exercise.reference, "learner")), seed=0, source="", seconds=5)
    assert [(outcome.state, outcome.message.partition(":")[0]) for outcome in outcomes] == [
        ("refused", "write test_small"),
        ("refused", "write test_hidden_drawn"),
    ]


def test_a_new_exercise_can_be_found_at_once(own: Path) -> None:
    call("new", "own", "x7", "A sum", "--folder", own)
    assert "own-x7" in shelf.folders((own,))
    assert call("wrong", "own-x7", "--folder", own).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("own", "7", "A sum"), "'own-7' is no id; write chapter and number as in: p02 x7"),
        (("own", "x7", "?"), "no folder can be named after the title '?'; write it with letters"),
        (("p01", "x3", "A sum"), "p01-x3 is there already: "),
    ],
    ids=["id", "title", "taken"],
)
def test_what_cannot_be_laid_out_is_said_and_not_begun(own: Path, arguments: tuple[str, ...], complaint: str) -> None:
    result = call("new", *arguments, "--folder", own)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert list(own.iterdir()) == []


def test_an_installed_package_has_no_place_for_a_new_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shelf, "_CLONE", tmp_path / "no clone")
    result = call("new", "own", "x7", "A sum")
    assert result.exit_code == 2
    assert "an installed package has no folder for new exercises; name one, or work in a clone" in result.stderr
