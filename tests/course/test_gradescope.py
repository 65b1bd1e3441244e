"""Gradescope's autograder in a tree such as Gradescope makes: /autograder with source, submission and results."""

from __future__ import annotations

import json
import os
import shutil
import site
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.course.assigned import exercises, make, solved
from torchbook.practice.exercise import HIDDEN


@pytest.fixture(scope="module")
def interpreter() -> Iterator[tuple[str, str]]:
    """An interpreter, and the user as whom students' code runs: `nobody`, where that user can start one at all."""
    if os.geteuid() != 0:
        yield sys.executable, "nobody"
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        path.chmod(0o755)
        system = Path(f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}")
        if not system.exists():
            yield sys.executable, "root"
            return
        subprocess.run([system, "-m", "venv", "--without-pip", path / "venv"], check=True)
        (packages,) = path.glob("venv/lib/python3*/site-packages")
        (packages / "tests.pth").write_text(f"{site.getsitepackages()[0]}\n")
        yield str(path / "venv" / "bin" / "python"), "nobody"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gradescope") / "course"
    make(folder)
    return folder


@pytest.fixture(scope="module")
def autograder(course: Path) -> Iterator[Path]:
    """The zip unpacked, where every user can read it, as in the container."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "autograder"
        for part in ("source", "submission", "results"):
            (root / part).mkdir(parents=True)
        with zipfile.ZipFile(course / "dist" / "hw1-gradescope.zip") as packed:
            packed.extractall(root / "source")
        shutil.copy(root / "source" / "run_autograder", root)
        Path(folder).chmod(0o755)
        yield root


@pytest.fixture
def grade(autograder: Path, interpreter: tuple[str, str], course: Path) -> Any:
    """Grade a notebook, or files by their names, as Gradescope would; the content of results.json."""

    def graded(answers: dict[str, str] | None = None, files: dict[str, str] | None = None) -> dict[str, Any]:
        shutil.rmtree(autograder / "submission")
        (autograder / "submission").mkdir()
        if answers is not None:
            notebook = solved(course / "release" / "hw1" / "hw1.ipynb", answers)
            nbformat.write(notebook, autograder / "submission" / "hw1.ipynb")
        for name, text in (files or {}).items():
            (autograder / "submission" / name).write_text(text)
        python, user = interpreter
        environment = {"AUTOGRADER": str(autograder), "PYTHON": python, "TORCHBOOK_GRADER": user}
        results = autograder / "results" / "results.json"
        results.unlink(missing_ok=True)
        command = ["bash", str(autograder / "run_autograder")]
        done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        content: dict[str, Any] = json.loads(results.read_text())
        return content

    return graded


def scores(results: dict[str, Any]) -> list[float]:
    return [test["score"] for test in results["tests"]]


MOST = [1, 2, 1, 3]
RIGHT = {exercise.id: exercise.reference for exercise in exercises()}


def test_references_get_all_points(grade: Any) -> None:
    results = grade(RIGHT)
    assert scores(results) == [test["max_score"] for test in results["tests"]] == MOST


def test_what_is_unsolved_gets_nothing(grade: Any) -> None:
    assert sum(scores(grade({}))) == 0


def test_hidden_checks_show_after_the_grades_are_published_and_by_number_only(grade: Any) -> None:
    wrong = {
        exercise.id: next(w.source for w in exercise.wrong if w.check.startswith(HIDDEN)) for exercise in exercises()
    }
    results = grade(wrong)
    assert [test["visibility"] for test in results["tests"]] == ["visible", "after_published"] * 2
    assert scores(results)[1] < 2
    text = json.dumps(results)
    assert "hidden check 1: not passed" in text
    assert HIDDEN not in text
    assert "overlaps or gaps" not in text  # the message of p01-x3's hidden check


def test_the_misconception_behind_a_visible_check_is_told(grade: Any) -> None:
    wrong = next(answer for answer in exercises("p01-x3")[0].wrong if answer.check == "test_offset")
    results = grade({"p01-x3": wrong.source})
    assert "offset: not passed: the storage offset is missing" in results["tests"][0]["output"]


def test_a_submission_that_is_no_notebook_is_told_so(grade: Any) -> None:
    results = grade(files={"hw1.ipynb": "not a notebook"})
    assert "not a notebook" in results["output"]
    assert sum(scores(results)) == 0


@pytest.mark.parametrize("files", [{}, {"a.ipynb": "{}", "b.ipynb": "{}"}])
def test_not_exactly_one_notebook_is_told_so(grade: Any, files: dict[str, str]) -> None:
    assert f"{len(files)} notebooks were submitted; submit one, hw1.ipynb" in grade(files=files)["output"]


SPY = """
import json, os
from pathlib import Path

said = {"user": os.geteuid()}
source = Path(%r)
for name in ("tests.json", "exercises/p01/x3-manual-indexing/checks.py"):
    try:
        said[name] = bool((source / name).read_text())
    except OSError:
        said[name] = False
try:
    (source.parent / "results" / "results.json").write_text("{}")
    said["results"] = True
except OSError:
    said["results"] = False
raise RuntimeError(json.dumps(said))
"""


def test_students_code_can_neither_read_the_exercises_nor_write_results(
    grade: Any, autograder: Path, interpreter: tuple[str, str]
) -> None:
    if os.geteuid() != 0 or interpreter[1] == "root":
        pytest.skip(reason="needs root, and an interpreter of the system that every user can start")
    spy = "def indices_at(*given):" + (SPY % str(autograder / "source")).replace("\n", "\n    ")
    output = grade({"p01-x3": spy})["tests"][0]["output"]
    report = json.loads(output[output.index("{") : output.index("}") + 1])
    assert report.pop("user") != 0
    assert set(report.values()) == {False}


def test_code_that_ends_its_process_costs_that_exercise_alone(grade: Any) -> None:
    points = scores(grade(RIGHT | {"p01-x3": "import os\n\n\ndef indices_at(*given):\n    os._exit(0)\n"}))
    assert points == [0, 0, 1, 3]


def test_the_scripts_can_be_executed_and_are_bash(course: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(course / "dist" / "hw1-gradescope.zip") as packed:
        for name in ("setup.sh", "run_autograder"):
            assert packed.getinfo(name).external_attr >> 16 & stat.S_IXUSR
            packed.extract(name, tmp_path)
            assert subprocess.run(["bash", "-n", tmp_path / name]).returncode == 0


def test_the_zip_has_neither_the_site_nor_the_learners_edition(course: Path) -> None:
    with zipfile.ZipFile(course / "dist" / "hw1-gradescope.zip") as packed:
        names = packed.namelist()
    assert {"setup.sh", "run_autograder", "grade.py", "torchbook/practice/harness.py"} <= set(names)
    assert not [name for name in names if "/press/" in name or "/edition/" in name or "__pycache__" in name]
