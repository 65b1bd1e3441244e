"""Bug hunts: which are chosen, that each has one answer, and how a terminal plays them."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.practice.conftest import CHECKS, Write
from torchbook import cli
from torchbook.cli import app
from torchbook.practice import harness, hunts, packages, progress, shelf
from torchbook.practice.errors import ExerciseError

TASK = '[p09-x1]\ntask = "`add(a, b)` returns the sum."\n'
MINUS = '[p09-x1.minus]\npassed = ["test_zero", "test_same"]\nwhy = "Only 0 hides it: add."\n'
CHOSEN = TASK + MINUS
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
    assert hunt.shown == hunt.program
    assert hunt.task == "`add(a, b)` returns the sum."
    assert hunt.thought == "takes a sum for a difference"
    assert hunt.why == "Only 0 hides it: add."
    assert hunt.diff == "-    return a + b\n+    return a - b"


def test_a_check_may_be_said_in_more_words(root: Path) -> None:
    (root / hunts.FILE).write_text(f'{TASK}checks.test_zero = "0 and 0"\n{MINUS}')
    assert sorted(hunts.hunts(root=root)[0].spoken) == ["same", "sum", "zero: 0 and 0"]


def test_a_hunt_may_have_a_task_of_its_own_and_texts_may_have_lines(root: Path) -> None:
    (root / hunts.FILE).write_text(f'{CHOSEN}task = """\n`add` \n  adds."""\n')
    assert hunts.hunts(root=root)[0].task == "`add` adds."


def test_what_is_thought_may_be_said_otherwise(root: Path) -> None:
    (root / hunts.FILE).write_text(f'{CHOSEN}thought = "subtracts"\n')
    assert hunts.hunts(root=root)[0].thought == "subtracts"


def test_of_a_long_program_a_part_is_shown(root: Path) -> None:
    (root / hunts.FILE).write_text(f'{CHOSEN}shows = ["add"]\n')
    (hunt,) = hunts.hunts(root=root)
    rows = ["# Only this part is shown; the rest is right.", "def add(a: float, b: float) -> float:"]
    assert hunt.shown.splitlines() == [*rows, '    """The sum."""', "    return a - b"]
    assert hunt.diff == '     """The sum."""\n-    return a + b\n+    return a - b'


LONG = """import functools


class Box:
    \"\"\"It holds.\"\"\"

    SIZE = 1

    def put(self):
        return 1

    @functools.cache
    def take(self):
        return 2

    def look(self):
        return 3


@functools.cache
def second():
    return 4
"""


PART = """# Only this part is shown; the rest is right.
@functools.cache
def second():
    return 4


class Box:
    def put(self):
        return 1

    @functools.cache
    def take(self):
        return 2
"""


def test_a_part_has_decorators_and_the_head_of_a_class() -> None:
    part = hunts._part(LONG, ["second", "Box.put", "Box.take"], "here")
    assert part == PART


@pytest.mark.parametrize(("shows", "complaint"), [
    ("third", "shows 'third', which the program does not define"),
    ("Box.shake", "shows Box.shake, which Box has not"),
])  # fmt: skip
def test_a_part_that_is_not_there_is_said(shows: str, complaint: str) -> None:
    with pytest.raises(ExerciseError, match=complaint):
        hunts._part(LONG, [shows], "here")


@pytest.mark.parametrize(("text", "complaint"), [
    ("[", "hunts.toml: not TOML"),
    (f"{TASK}minus = 3", '[p09-x1.minus] has lines: passed = ["test_that_lets_it_pass", …], why = "…"'),
    (CHOSEN.replace("why", "because"), '[p09-x1.minus] has lines: passed = ["test_that_lets_it_pass", …], why = "…"'),
    (MINUS, '[p09-x1.minus]: say what the exercise asks for, here or above it in [p09-x1]: task = "…"'),
    (CHOSEN.replace("test_same", "test_none"), "[p09-x1.minus]: test_none is no check of p09-x1"),
    (CHOSEN.replace("task", 'checks.test_none = "?"\ntask'), "[p09-x1.minus]: test_none is no check of p09-x1"),
    (CHOSEN.replace(', "test_same"', ""), "name two or more checks that let it pass, beside test_sum"),
    (CHOSEN.replace("test_same", "test_hidden_random"), "a hidden check decides"),
    (CHOSEN.replace("minus", "plus"), "p09-x1 has no wrong answer 'plus'"),
    (CHOSEN.replace("x1", "x8"), "no exercise 'p09-x8'"),
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
    assert "The task: `add(a, b)` returns the sum." in right
    assert "Right: the program takes a sum for a difference. Only 0 hides it: add." in right
    assert "1 of 1 right." in right
    wrong = play("--spoil", answers=number(shelved, "test_zero")).output
    assert "Not this one, which lets it pass. It is “sum”: the program takes a sum for a difference. Only 0" in wrong
    assert "+    return a - b" in wrong


# The book's own.

PATIENCE = float(os.environ.get("TORCHBOOK_PATIENCE", "1"))
FOUND = hunts.hunts()
BY_EXERCISE = {one.exercise.id: [other for other in FOUND if other.exercise is one.exercise] for one in FOUND}


@pytest.mark.filterwarnings("ignore")  # as for a learner: a program that torch warns of is not yet refused
@pytest.mark.parametrize("exercise", BY_EXERCISE)
def test_each_program_is_refused_by_its_check_alone_among_the_choices(exercise: str) -> None:
    misfits = []
    for hunt in BY_EXERCISE[exercise]:
        try:
            packages.require(hunt.exercise)
        except packages.NotInstalledError as error:
            pytest.skip(reason=str(error))
        outcomes = harness.run(
            hunt.exercise.public_checks,
            dict(vars(harness.load(hunt.program, "learners_code"))),
            reference=None,
            seed=0,
            source=hunt.program,
            only=hunt.choices,
            seconds=hunt.exercise.contract.seconds * PATIENCE,
        )
        if [outcome.name for outcome in outcomes if outcome.state != "passed"] != [hunt.check]:
            misfits.append((hunt.id, outcomes))
    assert misfits == []


def test_programs_are_short_enough_to_be_read_on_a_phone() -> None:
    assert [hunt.id for hunt in FOUND if len(hunt.shown.splitlines()) > 36] == []


def test_the_part_that_is_shown_has_the_fault() -> None:
    for hunt in FOUND:
        shown = {line.strip() for line in hunt.shown.splitlines()}
        edits = hunt.exercise.wrong[[one.name for one in hunt.exercise.wrong].index(hunt.name)].edits
        new = {row[1:].strip() for edit in edits for row in edit.rows if row.startswith("+")}
        hidden = {line for line in new - shown if line and not line.startswith(("import ", "from "))}
        assert not hidden, (hunt.id, hidden)
        assert hunt.diff, hunt.id


def test_a_chapter_has_a_few_hunts() -> None:
    by_chapter = Counter(hunt.exercise.contract.chapter for hunt in FOUND)
    assert {chapter: number for chapter, number in by_chapter.items() if not 2 <= number <= 6} == {}
    chapters = {one.contract.chapter for one in shelf.shelf().values() if one.contract.kind == "code"}
    assert chapters == set(by_chapter)


def test_what_is_said_is_whole_sentences() -> None:
    for hunt in FOUND:
        assert hunt.task.endswith("."), hunt.id
        assert hunt.why.endswith("."), hunt.id
        assert not hunt.thought.endswith("."), hunt.id
        assert len(set(hunt.spoken)) == len(hunt.choices), hunt.id


@pytest.mark.parametrize(("ids", "words"), [
    (["p01-x1", "p01-x2", "l2-x1"], "p01-x1, p01-x2, l2-x1"),
    ([f"p01-x{n}" for n in range(6)] + ["l2-x1", "l2-x2", "l2-x3"], "6 of p01, 3 of l2"),
])  # fmt: skip
def test_many_closed_hunts_are_said_in_short(ids: list[str], words: str) -> None:
    assert cli._in_short(ids) == words
