"""Grading as a command: it goes on where it was stopped, keeps to its assignment, and says what it needs."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import filelock
import pytest
from distributed import LocalCluster
from nbgrader.api import Gradebook as Tables
from nbgrader.apps.api import NbGraderAPI
from nbgrader.nbgraderformat import MetadataValidator
from rich.console import Console
from traitlets.config import Config
from typer.testing import CliRunner

from tests.course import fakes
from tests.course.scale import hidden_lines
from torchbook.cli import app
from torchbook_course import engine, grade, sandbox
from torchbook_course.assignment import find_assignment
from torchbook_course.config import configure, quiet
from torchbook_course.engine import EngineError
from torchbook_course.grade import GradeError, Options
from torchbook_course.gradebook import Gradebook
from torchbook_course.results import Summary
from torchbook_course.submission import extract, read, repaired

REPO = Path(__file__).parents[2]
boxed = pytest.mark.skipif(sandbox.available() is not None, reason=f"no sandbox: {sandbox.available()}")
SOME = ("right", "partly", "wrong", "unsolved")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course, and submissions of a few students."""
    root = tmp_path_factory.mktemp("made")
    course = fakes.course_in(root)
    hand_in(root, course, SOME)
    return root


@pytest.fixture(scope="module")
def graded_once(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, graded."""
    root = tmp_path_factory.mktemp("graded")
    shutil.copytree(made, root, dirs_exist_ok=True)
    graded(root)
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """A copy, so that no test sees another's grades."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def done(graded_once: Path, tmp_path: Path) -> Path:
    """A copy with grades."""
    shutil.copytree(graded_once, tmp_path, dirs_exist_ok=True)
    return tmp_path


def hand_in(root: Path, course: fakes.Course, students: Sequence[str]) -> None:
    place = fakes.Place(root / "submissions", course.folder, root / "private", root / "results", root / "canary", 9)
    for fake in fakes.CLASS:
        if fake.student in students:
            fakes.write(fake, course, place)


def graded(root: Path, out: str = "results", **options: object) -> dict[str, float]:
    summary = grade.grade(
        Options(root / "submissions", root / out, course=root / "course", **options),  # type: ignore[arg-type]
        Console(quiet=True),
    )
    return {student.student: student.total for student in summary.students}


def command(root: Path, *more: str) -> list[str]:
    arguments = ["submissions", "--out", "results", "--course", "course", *more]
    return [sys.executable, "-m", "torchbook", "course", "grade", *arguments]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(REPO), "COLUMNS": "200"}


@boxed
def test_killed_and_called_again_it_ends_with_the_same_gradebook(root: Path, graded_once: Path) -> None:
    running = subprocess.Popen(command(root, "--jobs", "1"), cwd=root, env=environment(), start_new_session=True)
    kept = root / "results" / "evaluations"
    deadline = time.monotonic() + 300
    while len(list(kept.glob("*.json"))) < 2 and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    first = {path.name: path.stat().st_mtime_ns for path in kept.glob("*.json")}
    assert 2 <= len(first) < len(SOME)
    assert not (root / "results" / "gradebook.csv").exists()

    again = subprocess.run(command(root), cwd=root, env=environment(), capture_output=True, text=True, check=False)

    assert again.returncode == 0, again.stderr
    undisturbed = (graded_once / "results" / "gradebook.csv").read_text()
    assert (root / "results" / "gradebook.csv").read_text() == undisturbed
    assert {name: (kept / name).stat().st_mtime_ns for name in first} == first
    assert f"{len(first)} are as they were evaluated before; {len(SOME) - len(first)} to evaluate" in again.stdout


@boxed
def test_only_what_changed_is_run_again(done: Path) -> None:
    kept = done / "results" / "evaluations"
    before = {path.stem: path.stat().st_mtime_ns for path in kept.glob("*.json")}
    path = done / "submissions" / "wrong" / "hw1.ipynb"
    path.write_text(path.read_text().replace("return 0", "return 1"))
    graded(done)
    changed = {path.stem for path in kept.glob("*.json") if path.stat().st_mtime_ns != before[path.stem]}
    assert changed == {"wrong"}


@boxed
def test_one_student_is_graded_again_and_the_others_rows_stay(done: Path) -> None:
    table = done / "results" / "gradebook.csv"
    before = table.read_text().splitlines()
    path = done / "submissions" / "wrong" / "hw1.ipynb"
    path.write_text((done / "submissions" / "right" / "hw1.ipynb").read_text())
    graded(done, students=("wrong",))
    after = table.read_text().splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert [new.split(",")[0] for _, new in changed] == ["wrong"]


@boxed
def test_who_is_no_longer_in_the_folder_keeps_the_row_and_is_named(done: Path) -> None:
    table = done / "results" / "gradebook.csv"
    before = table.read_text()
    for student in SOME[1:]:
        shutil.rmtree(done / "submissions" / student)
    said = io.StringIO()
    options = Options(done / "submissions", done / "results", course=done / "course")
    grade.grade(options, Console(file=said, width=300))
    assert table.read_text() == before
    assert "graded before: 3 (partly, unsolved, wrong); their results stay" in said.getvalue()


@boxed
def test_of_those_who_answered_nothing_it_is_not_said_that_they_were_evaluated_before(done: Path) -> None:
    empty = done / "submissions" / "unsolved" / "hw1.ipynb"
    empty.write_text(json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    said = io.StringIO()
    grade.grade(Options(done / "submissions", done / "anew", course=done / "course"), Console(file=said, width=300))
    assert "evaluated before" not in said.getvalue()


@boxed
def test_fewer_students_than_are_in_the_books_are_named_with_other_results_too(done: Path) -> None:
    for student in SOME[1:]:
        shutil.rmtree(done / "submissions" / student)
    said = io.StringIO()
    options = Options(done / "submissions", done / "others", course=done / "course")
    grade.grade(options, Console(file=said, width=300))
    assert "graded before: 3 (partly, unsolved, wrong)" in said.getvalue()


def test_a_student_who_handed_nothing_in_is_named(root: Path) -> None:
    with pytest.raises(GradeError, match=r"^rihgt: no such student in .*; there are right"):
        graded(root, students=("rihgt",))


@boxed
def test_rows_of_other_exercises_do_not_stand_beside_new_ones(done: Path) -> None:
    summary = Summary.load(done / "results")
    summary.model_copy(update={"exercises": summary.exercises[1:]}).save(done / "results")
    with pytest.raises(GradeError, match="graded there with other exercises; grade the whole class"):
        graded(done, students=("right",))


@boxed
def test_pasted_references_get_full_marks(done: Path) -> None:
    assert graded(done)["right"] == fakes.FULL


@boxed
def test_a_grade_given_by_hand_stays(done: Path) -> None:
    for other in set(SOME) - {"wrong"}:
        shutil.rmtree(done / "submissions" / other)
    with Tables(f"sqlite:///{done / 'course' / 'gradebook.db'}") as books:
        books.find_grade(f"{fakes.PLACE}-hidden", "hw1", "hw1", "wrong").manual_score = 1.5
        books.db.commit()
    assert graded(done)["wrong"] == fakes.REST + 1.5
    assert graded(done, force=True)["wrong"] == fakes.REST + 1.5


@boxed
def test_points_edited_in_the_file_are_entered_and_said(done: Path) -> None:
    """nbgrader refused every student with full points, since it knew fewer."""
    path = done / "course" / "assignments" / "hw1.yml"
    before = path.read_text()
    path.write_text(before.replace("hidden: 2.0", "hidden: 4.0", 1))
    assert path.read_text() != before
    said = io.StringIO()
    options = Options(done / "submissions", done / "results", course=done / "course")
    summary = grade.grade(options, Console(file=said, width=300))
    assert {student.student: student.problem for student in summary.students} == dict.fromkeys(SOME, "")
    assert "points in all: 10 → 12" in said.getvalue()
    assert f"right: 10 → 12 ({fakes.PLACE} 3 → 5)" in said.getvalue()
    assert f"right: 10 → 12 ({fakes.PLACE} 3 → 5)" in (done / "results" / grade.CHANGES).read_text()


@boxed
def test_report_with_a_course_takes_what_a_person_changed_there(done: Path) -> None:
    with Tables(f"sqlite:///{done / 'course' / 'gradebook.db'}") as books:
        books.find_grade(f"{fakes.PLACE}-hidden", "hw1", "hw1", "wrong").manual_score = 1.5
        books.db.commit()
    run = CliRunner().invoke(app, ["course", "report", str(done / "results"), "--course", str(done / "course")])
    assert run.exit_code == 0, run.output
    (row,) = (
        line for line in (done / "results" / "gradebook.csv").read_text().splitlines() if line.startswith("wrong")
    )
    assert row.split(",")[2] == f"{fakes.REST + 1.5:g}"


@boxed
def test_an_answer_is_explained_with_its_case_and_the_reference(done: Path) -> None:
    words = ["explain", "wrong", fakes.PLACE, "--results", str(done / "results"), "--course", str(done / "course")]
    run = CliRunner().invoke(app, ["course", *words])
    assert run.exit_code == 0, run.output
    lines = run.output.splitlines()
    assert lines[0].startswith(f"wrong, {fakes.PLACE} ")
    assert "    return 0" in "\n".join(lines)
    hidden = next(number for number, line in enumerate(lines) if line.startswith("test_hidden_"))
    assert any(line.strip().startswith("the reference gives ") for line in lines[hidden:])


def test_only_who_was_graded_is_explained(tmp_path: Path) -> None:
    Summary(assignment="hw1", title="Homework 1", due=None, exercises=(), students=()).save(tmp_path)
    (tmp_path / "course" / "assignments").mkdir(parents=True)
    words = ["explain", "ada", "p01-x3", "--results", str(tmp_path), "--course", str(tmp_path / "course")]
    run = CliRunner().invoke(app, ["course", *words])
    assert run.exit_code == 2


@boxed
def test_lateness_costs_what_the_assignment_says(done: Path) -> None:
    path = done / "course" / "assignments" / "hw1.yml"
    due = datetime(2026, 1, 10, 12, tzinfo=UTC)
    path.write_text(f"{path.read_text()}due: '{due.isoformat()}'\nlate: {{per_day: 0.1}}\n")
    for student, at in (("right", due + timedelta(hours=30)), ("partly", due - timedelta(hours=1))):
        (done / "submissions" / student / "timestamp.txt").write_text(f"{at:%Y-%m-%d %H:%M:%S} UTC")
    totals = graded(done)
    assert totals["right"] == pytest.approx(fakes.FULL * 0.8)
    assert totals["partly"] == pytest.approx(fakes.FULL - 1 - 0.11)


@boxed
def test_a_cluster_grades_as_this_machine_does(done: Path) -> None:
    here = {student.student: student.total for student in Summary.load(done / "results").students}
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        there = graded(done, "there", scheduler=cluster.scheduler_address)
    evaluations = [json.loads(path.read_text()) for path in (done / "there" / "evaluations").glob("*.json")]
    processes = {kept["where"].rpartition(":")[2] for kept in evaluations}
    assert there == here
    assert len(processes) == 2
    assert str(os.getpid()) not in processes


def test_a_scheduler_that_does_not_answer_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(EngineError, match=f"--scheduler tcp://127.0.0.1:{port}.*dask scheduler"):
        list(engine.mapped(str, {"a": (1,)}, scheduler=f"tcp://127.0.0.1:{port}"))


def test_nothing_is_graded_without_a_sandbox(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "available", lambda box: "bubblewrap is not installed; `sudo apt install bubblewrap`")
    with pytest.raises(GradeError, match=r"bubblewrap is not installed.*--unsafe"):
        graded(root)
    assert not (root / "results").exists()


def test_a_folder_without_a_course_is_told_so(root: Path) -> None:
    arguments = [str(root / "private"), "--course", str(root / "submissions")]
    done = CliRunner().invoke(app, ["course", "grade", *arguments])
    assert done.exit_code == 2
    assert "torchbook course new" in done.stderr


def test_results_of_another_assignment_are_not_written_over(root: Path) -> None:
    (root / "results").mkdir()
    Summary(assignment="hw0", title="Homework 0", due=None, exercises=(), students=()).save(root / "results")
    with pytest.raises(GradeError, match="holds the results of hw0"):
        graded(root)


def test_two_gradings_of_a_course_do_not_meet(root: Path) -> None:
    with filelock.FileLock(root / "course" / ".grading.lock"), pytest.raises(GradeError, match="another grading"):
        graded(root)


# nbgrader's side.


@boxed
def test_the_formgraders_view_of_the_course(done: Path) -> None:
    api = NbGraderAPI(config=configure(Config(), done / "course" / "nbgrader_config.py"), log=quiet())
    homework = api.get_assignment("hw1")
    assert homework["num_submissions"] == len(SOME)
    assert api.get_autograded_students("hw1") == set(SOME)


@boxed
def test_the_formgrader_lists_the_course(done: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    own = {"HOME": str(done), "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
    options = ["--allow-root", "--no-browser", f"--port={port}", "--IdentityProvider.token=t"]
    lab = subprocess.Popen(
        [sys.executable, "-m", "jupyter", "lab", *options],
        cwd=done / "course",
        env=environment() | own,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        (listed,) = answered(f"http://127.0.0.1:{port}/formgrader/api/assignments?token=t", lab)
    finally:
        lab.terminate()
        lab.wait()
    assert (listed["name"], listed["num_submissions"], listed["max_score"]) == ("hw1", len(SOME), fakes.FULL)


def answered(address: str, server: subprocess.Popen[bytes]) -> Any:
    """What a server that has just been started answers."""
    deadline = time.monotonic() + 120
    while server.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(address, timeout=30) as response:
                return json.loads(response.read())
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server did not answer")


@boxed
def test_a_graded_notebook_that_is_gone_is_made_again(done: Path) -> None:
    path = done / "course" / "autograded" / "right" / "hw1" / "hw1.ipynb"
    path.unlink()
    graded(done)
    assert path.is_file()


@boxed
def test_nbgraders_own_feedback_shows_no_hidden_check(done: Path) -> None:
    api = NbGraderAPI(config=configure(Config(), done / "course" / "nbgrader_config.py"), log=quiet())
    run = api.generate_feedback("hw1")
    assert run["success"], run
    pages = [path.read_text() for path in (done / "course" / "feedback").rglob("*.html")]
    exercises = fakes.course_of(done / "course", find_assignment(done / "course", done, "")[1]).exercises
    secrets = [line for exercise in exercises.values() for line in hidden_lines(exercise.checks)]
    assert len(pages) == len(SOME)
    assert [secret for secret in secrets if any(secret in page for page in pages)] == []


@boxed
def test_nbgraders_own_autograde_runs_no_students_code(done: Path) -> None:
    api = NbGraderAPI(config=configure(Config(), done / "course" / "nbgrader_config.py"), log=quiet())
    run = api.autograde("hw1", "right")
    assert not run["success"]
    assert "torchbook course grade" in run["error"] + run.get("log", "")


def test_what_nbgrader_gets_needs_no_more_checks_of_its_metadata(root: Path, tmp_path: Path) -> None:
    course, assignment = find_assignment(root / "course", root, "")
    release = Gradebook(course, assignment, {}).release
    made = fakes.course_of(course, assignment)
    place = fakes.Place(root, course, root, root, root, 9)
    stubs = {name: fakes.cell_of(release, f"{name}-solution").source for name in made.exercises}
    for name in ("stripped", "deleted", "duplicates", "flags", "no-checks", "helper"):
        fake = next(fake for fake in fakes.CLASS if fake.student == name)
        path = tmp_path / "some" / "hw1.ipynb"
        path.parent.mkdir(exist_ok=True)
        content = fake.content(made, place)
        path.write_text(json.dumps(content))
        cells = read(path)
        MetadataValidator().validate_nb(repaired(cells, extract(cells, stubs), release))
