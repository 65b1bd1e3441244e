"""Mutants of the references: of settled exercises none survives, and the operators make what they are for."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.exercises.cases import CASES, PATIENCE
from torchbook.cli import app
from torchbook.practice import shelf
from torchbook.practice.exercise import Exercise, load
from torchbook_course import mutants, mutation, sandbox
from torchbook_course.sandbox import Box
from torchbook_proofs import Store
from torchbook_proofs.store import FRESH

BOX = Box(patience=PATIENCE)
OPEN = Path(__file__).with_name("open_mutants.txt")  # may only become shorter
RECORD = Path(__file__).with_name("mutants.json")
FEW = 2  # mutants of each, and of those called equivalent, that every run tries
needs_box = pytest.mark.skipif(sandbox.available() is not None, reason=f"no sandbox: {sandbox.available()}")


def open_exercises() -> list[str]:
    lines = OPEN.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


CODE = [name for name, case in CASES.items() if case.exercise.contract.kind == "code" and not case.published]
SETTLED = [name for name in CODE if name not in open_exercises()]


@pytest.mark.parametrize("name", SETTLED)
def test_no_mutant_survived_when_they_were_recorded(name: str) -> None:
    line = mutants.recorded(RECORD).get(name, {})
    assert line.get("stamp") == mutants.stamp(CASES[name].exercise), (
        f"it changed, or the operators did: torchbook exercises mutants {name} --record tests/exercises/mutants.json"
    )


def test_the_record_is_of_settled_exercises() -> None:
    assert set(mutants.recorded(RECORD)) == set(SETTLED)


@needs_box
@pytest.mark.parametrize("chapter", sorted({CASES[name].exercise.contract.chapter for name in SETTLED}))
def test_no_mutant_survives(chapter: str) -> None:
    """Those of a chapter share a box, whose start costs more than a few mutants."""
    exercises = [CASES[name].exercise for name in SETTLED if CASES[name].exercise.contract.chapter == chapter]
    most = mutants.MOST if os.environ.get(FRESH) else FEW
    surveys = list(mutants.survey(exercises, BOX, Store.default(), most))
    assert [fault for survey in surveys for fault in survey.faults] == []
    pairs = zip(exercises, surveys, strict=True)
    assert [mutants.diff(exercise, mutant) for exercise, survey in pairs for mutant in survey.survivors] == []


def test_what_is_open_is_an_exercise_and_is_listed_once() -> None:
    assert set(open_exercises()) <= set(CODE)
    assert len(open_exercises()) == len(set(open_exercises()))
    assert len(open_exercises()) <= LEFT_OPEN, "a new exercise is settled before it is shown"


LEFT_OPEN = 0  # lowered as exercises are settled, never raised


# Operators.

HEAD = "import copy\nimport torch\n\n\ndef f(x, y, n=3):\n    ### BEGIN SOLUTION\n"


def made(body: str, statement: str = "") -> dict[str, set[str]]:
    """The changed lines of a function's body, without their indent, by operator."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    solution = f"{HEAD}{lines}    ### END SOLUTION\n"
    before = set(solution.splitlines())
    found: dict[str, set[str]] = {}
    for mutant in mutation.mutants(solution, statement):
        fresh = [line.strip() for line in mutant.source.splitlines() if line not in before]
        found.setdefault(mutant.operator, set()).add("; ".join(fresh))
    return found


@pytest.mark.parametrize(
    ("operator", "body", "expected"),
    [
        ("arithmetic", "return x + y", {"return x - y", "return (x)", "return (y)"}),
        ("arithmetic", "return (x + 1) * y", {"return (x + 1) / y", "return (x - 1) * y"}),
        ("arithmetic", "x *= y", {"x /= y", "x = y"}),
        ("arithmetic", "return x.sum(-n)", {"return x.sum((n))"}),
        ("comparison", "return x < y", {"return x <= y", "return x >= y"}),
        ("comparison", "return x is y", {"return x is not y", "return x == y"}),
        ("comparison", "return x not in y", {"return x in y"}),
        ("condition", "return x and y", {"return x or y", "return ((x))", "return (y)"}),
        ("condition", "if x:\n    y = n\nreturn y", {"if True:", "if False:"}),
        ("filter", "return [a for a in x if a]", {"return [a for a in x if True]"}),
        ("constant", "return x[0]", {"return x[1]", "return x[(-1)]"}),
        ("constant", "return x + 1e-8", {"return x + 0.0", "return x + 1e-07"}),
        (
            "constant",
            "return x.sum(1, keepdim=True)",
            {"return x.sum(1, keepdim=False)", "return x.sum(2, keepdim=True)"},
        ),
        ("constant", "return y(x, reduction='mean')", {"return y(x, reduction='sum')"}),
        ("deleted", "x.eval()\nreturn x", {"pass"}),
        ("swapped", "return y(x, n)", {"return y(n, x)"}),
        ("swapped", "return x - y", {"return (y - x)"}),
        ("argument", "return x.sum(1, dtype=n)", {"return x.sum(1)", "return x.sum(dtype=n)"}),
        ("argument", "return x(*y)", {"return x()"}),
        ("in place", "return x.mul(y)", {"return x.mul_(y)"}),
        ("in place", "x.mul_(y)", {"x.mul(y)"}),
        ("in place", "x.data += y", {"x.data = x.data + y"}),
        ("in place", "x = x + y", {"x += y"}),
        ("alias", "return x.clone()", {"return x"}),
        ("alias", "return copy.deepcopy(x)", {"return (x)"}),
        ("alias", "return list(x)", {"return (x)"}),
        ("dtype or device", "return x.double()", {"return x"}),
        ("dtype or device", "return (x + y).to(y)", {"return (x + y)"}),
        ("detach", "return x.detach()", {"return x"}),
        ("method", "return x.sqrt()", {"return x"}),
        ("method", "return torch.sqrt(x)", {"return (x)"}),
        ("context", "with torch.no_grad():\n    x = y\nreturn x", {"if True:"}),
        ("context", "try:\n    x()\nfinally:\n    y()", {"if True:; if True:"}),
        ("reduction", "return x.mean()", {"return x.sum()"}),
        ("reduction", "return max(x, y)", {"return min(x, y)"}),
        ("reduction", "x.eval()", {"x.train()"}),
        ("loop", "for a in x:\n    y(a)\nreturn y", {"break", "for a in list(x)[:-1]:", "for a in list(x)[1:]:"}),
        ("slice", "return x[1:n]", {"return x[:n]", "return x[1:]"}),
        ("slice", "return x.T", {"return x"}),
    ],
)
def test_an_operator_makes_what_it_is_for(operator: str, body: str, expected: set[str]) -> None:
    assert expected <= made(body).get(operator, set())


def test_a_gradient_is_taken_away_only_where_the_statement_speaks_of_one() -> None:
    assert "gradient" not in made("return x + y", "the sum")
    with_gradients = made("return x + y", "the gradient of the sum")["gradient"]
    assert with_gradients == {"@torch.no_grad()", "return (x + y).detach()"}


def test_what_the_learner_does_not_write_is_left_alone() -> None:
    solution = (
        HEAD.replace("n=3", "n=3, m: int = 4") + "    return x\n    ### END SOLUTION\n\n\ndef g(x):\n    return x + 1\n"
    )
    assert [mutant.source for mutant in mutation.mutants(solution, "") if "x + 1" not in mutant.source] == []


def test_messages_and_strings_in_braces_are_left_alone() -> None:
    assert made("raise ValueError(f'{x + 1}', 2)") == {"deleted": {"pass"}}


def test_every_mutant_is_python_and_none_comes_twice() -> None:
    exercise = shelf.find("p03-x4")
    found = mutation.mutants(exercise.solution, exercise.statement)
    forms = [mutation.form(mutant.source) for mutant in found]
    assert all(forms)
    assert len(set(forms)) == len(forms) > 100
    assert mutation.form(exercise.reference) not in forms


def test_a_choice_takes_of_every_operator_and_is_the_same_each_time() -> None:
    exercise = shelf.find("p03-x4")
    found = mutation.mutants(exercise.solution, exercise.statement)
    choice = mutation.chosen(found, 40)
    assert len(choice) == 40
    assert choice == mutation.chosen(found[::-1], 40)[::-1]
    assert {mutant.operator for mutant in choice} == {mutant.operator for mutant in found}


def test_a_block_fits_the_reference_once() -> None:
    exercise = shelf.find("p03-x4")
    lines = exercise.reference.splitlines()
    for mutant in mutation.mutants(exercise.solution, exercise.statement):
        rows = mutation.block(exercise.reference, mutant.source).splitlines()
        before = [row[1:] for row in rows if not row.startswith("+")]
        assert sum(lines[n : n + len(before)] == before for n in range(len(lines))) == 1


# The gate, with an exercise whose checks need no torch.

SOLUTION = '''def halves(numbers):
    """Half of each number that is above 10."""
    ### BEGIN SOLUTION
    return [number / 2 for number in list(numbers) if number > 10]
    ### END SOLUTION
'''
CHECKS = """def test_halves(halves):
    assert halves([20, 8, 12]) == [10, 6], "half of 20, and of 12"


def test_hidden_limit(halves):
    assert halves([10, 11]) == [5.5], "10 is not above 10"
"""
PAGE = """---
id: x-x1
title: Halves
chapter: x
stars: 1
minutes: 1
importance: 1
points: {public: 1, hidden: 1}
seconds: 5
---
`halves(numbers)` has half of each number above 10; `numbers` is a list.
"""
WRONG = """# Wrong answers

## doubles {test_halves}

takes it for twice

```diff
-    return [number / 2 for number in list(numbers) if number > 10]
+    return [number * 2 for number in list(numbers) if number > 10]
```

## from_ten {test_hidden_limit}

counts 10 too

```diff
-    return [number / 2 for number in list(numbers) if number > 10]
+    return [number / 2 for number in list(numbers) if number >= 10]
```
"""
RIGHT = """
## no_copy {equivalent}

A list can be gone through as it is.

```diff
-    return [number / 2 for number in list(numbers) if number > 10]
+    return [number / 2 for number in (numbers) if number > 10]
```
"""

WEAK = CHECKS.replace("[10, 11]", "[9, 11]")
Written = Callable[..., Exercise]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def write(
        checks: str = CHECKS, wrong: str = WRONG + RIGHT, solution: str = SOLUTION, name: str = "x1-halves"
    ) -> Exercise:
        folder = tmp_path / "x" / name
        folder.mkdir(parents=True, exist_ok=True)
        page = PAGE.replace("x-x1", f"x-{name.partition('-')[0]}")
        texts = {"exercise.md": page, "solution.py": solution, "checks.py": checks, "wrong.md": wrong}
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        return load(folder)

    return write


def surveyed(exercise: Exercise, store: Store | None = None) -> mutants.Survey:
    (survey,) = mutants.survey([exercise], BOX, store)
    return survey


@needs_box
def test_checks_that_miss_nothing_leave_no_survivor(written: Written) -> None:
    survey = surveyed(written())
    assert survey.good
    assert survey.made == len(survey.seen) == survey.refused + 1
    assert survey.equivalent == 1


@needs_box
def test_of_exercises_that_share_a_box_each_has_its_own_mutants(written: Written) -> None:
    few = [written(WEAK, name="x2-halves"), written(), written(WEAK, name="x3-halves")]
    weak, good, last = mutants.survey(few, BOX, None, 12)
    assert [survey.exercise for survey in (weak, good, last)] == ["x-x2", "x-x1", "x-x3"]
    assert good.good
    assert [seen for seen in weak.seen if not seen.check] == [seen for seen in last.seen if not seen.check]
    assert len(weak.survivors) == len(last.survivors) > 0


@needs_box
def test_a_weaker_check_leaves_survivors(written: Written) -> None:
    exercise = written(WEAK)
    survivors = [mutants.diff(exercise, mutant) for mutant in surveyed(exercise).survivors]
    assert [survivor.splitlines()[2].partition(" if ")[2] for survivor in survivors] == ["number >= 10]", "number > 9]"]
    assert survivors[0].startswith("```diff\n-    return [number / 2")


@needs_box
def test_what_is_equivalent_and_not_listed_survives(written: Written) -> None:
    exercise = written(wrong=WRONG)
    assert [mutant.operator for mutant in surveyed(exercise).survivors] == ["alias"]


@needs_box
def test_an_entry_that_is_no_mutant_is_a_fault(written: Written) -> None:
    survey = surveyed(written(wrong=WRONG + RIGHT.replace("in (numbers)", "in tuple(numbers)")))
    (fault,) = survey.faults
    assert "x/x1-halves/wrong.md:" in fault
    assert "no mutant of the reference is this" in fault


@needs_box
def test_an_entry_that_a_check_refuses_is_a_fault(written: Written) -> None:
    more = RIGHT.replace("no_copy", "more").replace("in (numbers) if number > 10", "in list(numbers) if number <= 10")
    (fault,) = surveyed(written(wrong=WRONG + RIGHT + more)).faults
    assert "said to be as right as the reference, and test_h" in fault


@needs_box
def test_a_mutant_without_an_end_is_refused_by_time(written: Written) -> None:
    solution = SOLUTION.replace(
        "    return [number / 2 for number in list(numbers) if number > 10]\n",
        "    found = []\n    while numbers:\n        found += [numbers[0] / 2] * (numbers[0] > 10)\n"
        "        numbers = numbers[1:]\n    return found\n",
    )
    wrong = "# Wrong answers\n" + "".join(
        f"\n## {name} {{test_halves}}\n\nthinks so\n\n```diff\n-    found = []\n+    found = [{name}]\n```\n"
        for name in ("numbers", "found")
    )
    (survey,) = mutants.survey([written(solution=solution, wrong=wrong)], Box(), None)
    assert "time" in {seen.state for seen in survey.seen}


@needs_box
def test_good_surveys_are_kept_until_something_changes(written: Written, tmp_path: Path) -> None:
    store = Store(tmp_path / "proofs")
    first, second = surveyed(written(), store), surveyed(written(), store)
    assert (first.kept, second.kept) == (False, True)
    assert replace(second, kept=False, seconds=first.seconds) == first
    assert not surveyed(written(CHECKS + "\n# a word more\n"), store).kept


@needs_box
def test_what_has_survivors_is_not_kept(written: Written, tmp_path: Path) -> None:
    store = Store(tmp_path / "proofs")
    weak = written(wrong=WRONG)
    assert not surveyed(weak, store).good
    assert not surveyed(weak, store).kept


def test_the_operators_are_part_of_the_key(written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = mutants.key(written(), BOX)
    (tmp_path / "mutation.py").write_text("# other operators", encoding="utf-8")
    monkeypatch.setattr(mutants, "_OPERATORS", tmp_path / "mutation.py")
    mutants._program.cache_clear()
    try:
        assert mutants.key(written(), BOX).parts != before.parts
    finally:
        mutants._program.cache_clear()
    assert mutants.key(written(), BOX, 7).parts != before.parts


# The record.


@needs_box
def test_a_record_takes_what_is_good_and_keeps_the_rest(written: Written, tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    file.write_text('{"y-x1": {"stamp": "of before"}}', encoding="utf-8")
    weak = written(wrong=WRONG)
    mutants.record([surveyed(weak)], [weak], file)
    assert set(mutants.recorded(file)) == {"y-x1"}
    good = written()
    mutants.record([survey := surveyed(good)], [good], file)
    assert mutants.recorded(file)["y-x1"] == {"stamp": "of before"}
    assert mutants.recorded(file)["x-x1"]["refused"] == survey.refused
    before = mutants.stamp(good)
    assert mutants.recorded(file)["x-x1"]["stamp"] == before
    assert mutants.stamp(written(CHECKS + "\n# a word more\n")) != before


@pytest.mark.parametrize(
    ("said", "instead", "counts"),
    [
        ("is a list", "is a list of them", False),
        ("Halves\n", "One half\n", False),
        ("is a list", "is a list without gradients", True),
        ("seconds: 5", "seconds: 6", True),
    ],
)
def test_of_a_statement_what_it_asks_counts_and_not_its_words(
    written: Written, said: str, instead: str, counts: bool
) -> None:
    exercise = written()
    before = mutants.stamp(exercise)
    page = exercise.folder / "exercise.md"
    assert said in page.read_text(encoding="utf-8")
    page.write_text(page.read_text(encoding="utf-8").replace(said, instead), encoding="utf-8")
    assert (mutants.stamp(load(exercise.folder)) != before) is counts


# The command.


@needs_box
def test_the_command_lists_survivors_as_blocks(
    written: Written, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TORCHBOOK_PROOFS", str(tmp_path / "proofs"))
    root = written(wrong=WRONG).folder.parents[1]
    ran = CliRunner().invoke(app, ["exercises", "mutants", "x-x1", "--folder", str(root), "--all"])
    assert ran.exit_code == 1, ran.output
    assert "x-x1, alias:\n```diff\n-    return [number / 2 for number in list(numbers)" in ran.output
    written()
    ran = CliRunner().invoke(app, ["exercises", "mutants", "x", "--folder", str(root)])
    assert ran.exit_code == 0, ran.output


def test_the_command_refuses_an_id_that_is_none() -> None:
    ran = CliRunner().invoke(app, ["exercises", "mutants", "p99-x9"])
    assert ran.exit_code == 2
