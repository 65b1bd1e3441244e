"""The notebooks of an assignment: what students see and what not, and cells of checks that run by themselves."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters.exporter import ResourcesDict
from nbgrader.nbgraderformat import MetadataValidator

from tests.course.assigned import assignment, exercises, make, python, solved
from torchbook.practice.exercise import HIDDEN, Exercise
from torchbook_course.assignment import Assignment, AssignmentError, resolve
from torchbook_course.notebooks import (
    Stubs,
    hidden_cell,
    instructor_notebook,
    marker,
    public_cell,
    source_notebook,
    stub_cell,
)
from torchbook_course.otter import otter_notebook

OWN = {
    "exercise.md": """---
id: own-x1
title: Twice
chapter: own
stars: 1
minutes: 5
importance: 1
points: {public: 1, hidden: 1}
seconds: 20
---
`twice(x)` doubles a tensor, in this process and in others.
""",
    "solution.py": "import torch\n\n\ndef twice(x: torch.Tensor) -> torch.Tensor:\n"
    "    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION\n",
    "checks.py": '''import subprocess
import sys

import torch


def test_here(twice):
    assert twice(torch.ones(2)).tolist() == [2.0, 2.0], "it's not \\\\ twice as much"


def test_elsewhere(source):
    code = f"{source}\\nprint(twice(torch.ones(1)).item())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "2.0", "elsewhere it is not twice as much"


def test_hidden_random(twice, reference, seed):
    x = torch.randn(5, generator=torch.Generator().manual_seed(seed))
    assert torch.equal(twice(x), reference.twice(x)), """not for every tensor"""
''',
    "wrong.md": """\
## adds {test_here}

adds two

```diff
-    return 2 * x
+    return x + 2
```

## ones {test_hidden_random}

gives twos whatever comes

```diff
-    return 2 * x
+    return torch.full_like(x, 2)
```
""",
    "wrong/typo.py": "# test_elsewhere: has another text\ndef twice(x):\n    return 3 * x\n",
}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an exercise whose check runs the answer's text in another process."""
    root = tmp_path_factory.mktemp("own")
    for name, text in OWN.items():
        path = root / "own/x1-twice" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def test_cells_are_as_nbgrader_wants_them() -> None:
    notebook = source_notebook(assignment(), exercises())
    MetadataValidator().validate_nb(notebook)
    ids = [cell.metadata.nbgrader.grade_id for cell in notebook.cells]
    kinds = ("statement", "solution", "public", "hidden")
    assert ids == ["about", *(f"{name}-{kind}" for name in ("p01-x3", "s04-x1") for kind in kinds)]


def test_points_are_those_of_the_assignment() -> None:
    wanted = assignment(exercises=[{"id": "p01-x3", "points": {"public": 2, "hidden": 5}}])
    cells = source_notebook(wanted, resolve(wanted)).cells
    points = {cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.get("points") for cell in cells}
    assert (points["p01-x3-public"], points["p01-x3-hidden"]) == (2, 5)


def test_the_stub_is_the_exercises_own(tmp_path: Path) -> None:
    make(tmp_path / "course")
    release = nbformat.read(tmp_path / "course" / "release" / "hw1" / "hw1.ipynb", as_version=4)
    cells = {cell.metadata.nbgrader.grade_id: cell.source for cell in release.cells}
    for exercise in exercises():
        assert cells[f"{exercise.id}-solution"] == stub_cell(exercise)
        assert stub_cell(exercise) == f"{marker(exercise.id)}\n{exercise.stub}".rstrip()


def test_code_to_repair_is_handed_out_as_it_is_and_its_repair_is_not(tmp_path: Path) -> None:
    sick = "    ### INSTEAD\n    # return x\n    #\n    # return 2 + x\n    ### END"
    public, _, rest = OWN["checks.py"].partition("def test_elsewhere")
    changed = {
        "solution.py": OWN["solution.py"].replace("    ### END", sick),
        "checks.py": f"{public}def test_hidden_{rest.partition('def test_hidden_')[2]}",
        "wrong/typo.py": "# test_here: has another text\ndef twice(x):\n    return 3 * x\n",
    }
    for name, text in {**OWN, **changed}.items():
        (tmp_path / "own/x1-twice" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "own/x1-twice" / name).write_text(text, encoding="utf-8")
    homework = assignment("own-x1", folders=(tmp_path,))
    (exercise,) = resolve(homework)
    cell = source_notebook(homework, [exercise]).cells[2]

    cleared, _ = Stubs().preprocess_cell(cell, ResourcesDict(), 2)
    assert cleared.source == stub_cell(exercise) == f"{marker('own-x1')}\n{exercise.stub}".rstrip()
    assert cleared.source.endswith("    return x\n\n    return 2 + x")
    (otters,) = (c.source for c in otter_notebook(homework, [exercise]).cells if "BEGIN PROMPT" in c.source)
    assert otters.partition("# BEGIN SOLUTION NO PROMPT\n")[2].split("\n") == [
        "    return 2 * x",
        "    # END SOLUTION",
        '    """ # BEGIN PROMPT',
        "    return x",
        "",
        "    return 2 + x",
        '    """ # END PROMPT',
    ]


def test_the_classs_seed_is_not_in_the_students_notebook(tmp_path: Path) -> None:
    make(tmp_path / "course", seed=987_654)
    assert "987654" not in (tmp_path / "course" / "release" / "hw1" / "hw1.ipynb").read_text(encoding="utf-8")
    assert "987654" in (tmp_path / "course" / "source" / "hw1" / "hw1.ipynb").read_text(encoding="utf-8")


def test_the_instructors_notebook_has_everything() -> None:
    chosen = exercises()
    text = "\n".join(cell.source for cell in instructor_notebook(assignment(), chosen).cells)
    for exercise in chosen:
        assert all(name in text for name in exercise.check_names)
        assert exercise.reference.strip() in text
        assert all(hint.text in text for hint in exercise.hints)


def test_the_instructors_notebook_shows_each_wrong_answer_as_an_edit(own: Path) -> None:
    wanted = Assignment(name="hw1", title="A", seed=1, exercises=[{"id": "own-x1"}, {"id": "p01-x3"}], folders=(own,))
    exercises = resolve(wanted)
    text = "\n".join(cell.source for cell in instructor_notebook(wanted, exercises).cells)
    answers = [answer for exercise in exercises for answer in exercise.wrong]
    assert all(f"<code>{answer.check}</code> refuses: " in text for answer in answers)
    assert all(f"```diff\n{edit.diff}\n```" in text for answer in answers for edit in answer.edits)
    assert "refuses: has another text</summary>\n\n```python\ndef twice(x):\n    return 3 * x\n```" in text
    assert "refuses: adds two</summary>\n\n`adds`, as an edit of the reference:\n\n```diff\n" in text


@pytest.mark.parametrize("which", [0, 1])
def test_every_code_cell_of_the_instructors_notebook_runs(which: int) -> None:
    chosen = exercises()[which : which + 1]
    namespace: dict[str, object] = {}
    for cell in instructor_notebook(assignment(chosen[0].id), chosen).cells:
        if cell.cell_type == "code":
            exec(cell.source, namespace)


# Cells of checks, run as a notebook would.


def ran(cell: str, answer: str) -> None:
    namespace: dict[str, object] = {"__name__": "__main__"}
    exec(answer, namespace)
    exec(cell, namespace)


def test_public_checks_say_what_passed(capsys: pytest.CaptureFixture[str]) -> None:
    (exercise,) = exercises("p01-x3")
    ran(public_cell(exercise), exercise.reference)
    public = [name for name in exercise.check_names if not name.startswith(HIDDEN)]
    assert capsys.readouterr().out.splitlines() == [f"passed   {name}" for name in public]


def test_a_refused_check_is_raised_with_its_misconception(capsys: pytest.CaptureFixture[str]) -> None:
    (exercise,) = exercises("p01-x3")
    wrong = next(answer for answer in exercise.wrong if answer.check == "test_offset")
    with pytest.raises(AssertionError, match="test_offset: the storage offset is missing"):
        ran(public_cell(exercise), wrong.source)
    out = capsys.readouterr().out
    assert "passed   test_contiguous" in out
    assert "refused  test_offset: the storage offset is missing" in out


def test_an_untouched_stub_is_said_to_be_unsolved() -> None:
    (exercise,) = exercises("p01-x3")
    with pytest.raises(AssertionError, match="not solved yet"):
        ran(public_cell(exercise), exercise.stub)


def test_a_name_that_is_missing_is_named() -> None:
    (exercise,) = exercises("p01-x3")
    with pytest.raises(AssertionError, match="name 'indices_at' is not defined"):
        ran(public_cell(exercise), "")


@pytest.mark.parametrize("which", [0, 1])
def test_hidden_checks_accept_the_reference(which: int) -> None:
    exercise = exercises()[which]
    ran(hidden_cell(exercise, 3), exercise.reference)


@pytest.mark.parametrize("which", [0, 1])
def test_hidden_checks_refuse_the_wrong_answers_that_are_theirs(which: int) -> None:
    exercise = exercises()[which]
    for wrong in exercise.wrong:
        if wrong.check.startswith(HIDDEN):
            with pytest.raises(AssertionError, match=wrong.check):
                ran(hidden_cell(exercise, 3), wrong.source)


def test_hidden_checks_overwrite_no_name_of_the_students() -> None:
    (exercise,) = exercises("p01-x3")
    namespace: dict[str, object] = {}
    exec(exercise.reference, namespace)
    mine = namespace["random"] = object()
    before = set(namespace)
    exec(hidden_cell(exercise, 3), namespace)
    assert namespace["random"] is mine
    assert all(name.startswith("_") for name in set(namespace) - before)


def test_nbgraders_marks_in_checks_are_refused(own: Path) -> None:
    wanted = Assignment(name="hw1", title="A", seed=1, exercises=[{"id": "own-x1"}], folders=(own,))
    checks = own / "own/x1-twice" / "checks.py"
    text = checks.read_text()
    checks.write_text(text + "\n\n# BEGIN HIDDEN TESTS\n")
    try:
        with pytest.raises(AssignmentError, match=r"own/x1-twice/checks\.py:1: .*nbgrader's own mark"):
            source_notebook(wanted, resolve(wanted))
    finally:
        checks.write_text(text)


# Stock nbgrader, which runs the cells in a kernel.

_STOCK = """
import json, sys, warnings
warnings.simplefilter("ignore")
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config
from nbgrader.coursedir import CourseDirectory

config = Config()
config.CourseDirectory.root = sys.argv[1]
api = NbGraderAPI(CourseDirectory(config=config), config=config)
scores = {}
for student in sys.argv[2:]:
    done = api.autograde("hw1", student, force=True)
    assert done["success"], done["log"]
    with api.gradebook as gradebook:
        found = gradebook.find_submission_notebook("hw1", "hw1", student)
        scores[student] = {grade.name: grade.score for grade in found.grades}
print(json.dumps(scores))
"""


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory, own: Path) -> dict[str, dict[str, float]]:
    """Scores by stock `nbgrader autograde`, with its own configuration, by student and grade cell."""
    course = tmp_path_factory.mktemp("stock") / "course"
    made = make(course, "p01-x3", "s04-x1", "own-x1", folders=(own,))
    by_id = {exercise.id: exercise for exercise in resolve(made)}
    right = {name: exercise.reference for name, exercise in by_id.items()}
    wrong = {name: _refused_when_hidden(exercise) for name, exercise in by_id.items()}
    (course / "nbgrader_config.py").unlink()
    for student, answers in {"right": right, "unsolved": {}, "wrong": wrong}.items():
        place = course / "submitted" / student / "hw1"
        place.mkdir(parents=True)
        nbformat.write(solved(course / "release" / "hw1" / "hw1.ipynb", answers), place / "hw1.ipynb")
    done = python("-c", _STOCK, str(course), "right", "unsolved", "wrong", cwd=course)
    assert done.returncode == 0, done.stderr
    scores: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return scores


def _refused_when_hidden(exercise: Exercise) -> str:
    """A wrong answer that only hidden checks refuse."""
    return next(wrong.source for wrong in exercise.wrong if wrong.check.startswith(HIDDEN))


FULL = {"p01-x3": (1, 2), "s04-x1": (1, 3), "own-x1": (1, 1)}


def test_stock_nbgrader_gives_references_all_points(stock: dict[str, dict[str, float]]) -> None:
    wanted = {
        f"{name}-{kind}": points[at] for name, points in FULL.items() for at, kind in enumerate(("public", "hidden"))
    }
    assert stock["right"] == wanted


def test_stock_nbgrader_gives_what_is_unsolved_nothing(stock: dict[str, dict[str, float]]) -> None:
    assert set(stock["unsolved"].values()) == {0}


def test_stock_nbgrader_gives_wrong_answers_no_hidden_points(stock: dict[str, dict[str, float]]) -> None:
    assert {name: stock["wrong"][f"{name}-hidden"] for name in FULL} == dict.fromkeys(FULL, 0)
