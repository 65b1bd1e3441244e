"""The class that nobody wants is graded: each student gets what is deserved, and nobody comes to harm."""

from __future__ import annotations

import csv
import hashlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from filelock import FileLock

from tests.course import fakes
from tests.course.scale import hidden_lines
from torchbook_course import sandbox
from torchbook_course.results import Student, Summary

pytestmark = pytest.mark.skipif(sandbox.available() is not None, reason=f"no sandbox: {sandbox.available()}")
WAITING = "987654"  # in the command line of a process that a submission leaves behind


@dataclass
class Graded:
    """The class after grading, and what could show harm."""

    root: Path
    course: fakes.Course
    status: int
    said: str
    summary: Summary
    visitors: int
    before: dict[str, str]
    after: dict[str, str]
    left: list[int]

    def student(self, name: str) -> Student:
        return next(student for student in self.summary.students if student.student == name)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graded]:
    with grading(tmp_path_factory.mktemp("class"), fakes.CLASS) as done:
        yield done


@contextmanager
def grading(root: Path, students: Sequence[fakes.Fake], *options: str) -> Iterator[Graded]:
    """Hand in, grade by command, and look around; what was left running is ended."""
    course = fakes.course_in(root)
    # What a class leaves running is looked for on the whole machine: two classes at once would find each other's.
    ours = FileLock(Path(tempfile.gettempdir()) / "torchbook-tests-of-classes.lock")
    (root / "canary").write_text(fakes.CANARY)
    with Listener() as listener:
        place = fakes.Place(
            root / "submissions", course.folder, root / "private", root / "results", root / "canary", listener.port
        )
        for fake in students:
            fakes.write(fake, course, place)
        before = hashes(root)
        command = [sys.executable, "-m", "torchbook", "course", "grade", "submissions", "--out", "results", *options]
        paths = {"PYTHONPATH": str(Path(__file__).parents[2]), "COLUMNS": "200"}
        ours.acquire(timeout=1500)
        done = subprocess.run(
            command, cwd=root, env=os.environ | paths, capture_output=True, text=True, timeout=1500, check=False
        )
        output = done.stdout + done.stderr
        assert (root / "results" / "summary.json").is_file(), output
        summary, left = Summary.load(root / "results"), waiting()
        if not left:
            ours.release()
        try:
            yield Graded(root, course, done.returncode, output, summary, listener.visitors, before, hashes(root), left)
        finally:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            ours.release()  # once more does no harm


class Listener:
    """A port of this machine that counts who comes."""

    def __enter__(self) -> Listener:
        self.visitors = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._wait, daemon=True).start()
        return self

    def _wait(self) -> None:
        while True:
            try:
                self._socket.accept()[0].close()
            except OSError:
                return
            self.visitors += 1

    def __exit__(self, *error: object) -> None:
        self._socket.close()


def hashes(root: Path) -> dict[str, str]:
    """What students could wish to change: submissions, exercises, sources, the canary."""
    places = ["submissions", "private", "course/source", "course/release", "course/assignments", "canary"]
    files = [file for place in places for file in [root / place, *(root / place).rglob("*")] if file.is_file()]
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def waiting() -> list[int]:
    """Processes that a submission left behind."""
    listed = [
        (process.info["pid"], process.info["cmdline"] or []) for process in psutil.process_iter(["pid", "cmdline"])
    ]
    return [pid for pid, words in listed if any(WAITING in word for word in words) and pid != os.getpid()]


def harm(graded: Graded, fake: fakes.Fake) -> str:
    """Harm that a submission did, in words."""
    harms = []
    if fake.student in ("wipes", "books") and graded.before != graded.after:
        harms.append("files were changed")
    if fake.student == "network" and graded.visitors:
        harms.append("the network was reached")
    if fake.student == "background" and graded.left:
        harms.append("a process stayed")
    page = graded.root / "results" / "feedback" / fake.student / "hw1.html"
    if fakes.CANARY in page.read_text(encoding="utf-8"):
        harms.append("another student's file was read")
    return ", ".join(harms) or "none"


def test_everyone_gets_what_is_deserved_and_nobody_comes_to_harm(graded: Graded) -> None:
    print(f"\n{'student':<16}{'what':<46}{'expected':>9}{'actual':>8}  {'person':<7} harm")
    different = []
    for fake in fakes.CLASS:
        student = graded.student(fake.student)
        done = harm(graded, fake)
        person = "yes" if student.needs_person else ""
        print(f"{fake.student:<16}{fake.what:<46}{fake.points:>9.2f}{student.total:>8.2f}  {person:<7} {done}")
        if abs(student.total - fake.points) > 0.001 or done != "none":
            different.append(f"{fake.student}: {student.total}, not {fake.points:.2f}; harm: {done}")
    assert len(fakes.CLASS) >= 40
    assert different == []


def test_without_a_sandbox_the_same_submissions_do_harm(tmp_path: Path) -> None:
    some = [fake for fake in fakes.CLASS if fake.student in ("network", "background", "reads-others", "right")]
    with grading(tmp_path, some, "--unsafe") as done:
        harms = {fake.student: harm(done, fake) for fake in some}
    assert harms == {
        "right": "none",
        "network": "the network was reached",
        "reads-others": "another student's file was read",
        "background": "a process stayed",
    }


def test_a_person_is_asked_where_one_must_look_and_nowhere_else(graded: Graded) -> None:
    asked = {student.student for student in graded.summary.students if student.needs_person}
    assert asked == {fake.student for fake in fakes.CLASS if fake.person}


def test_the_status_says_that_a_person_must_look(graded: Graded) -> None:
    assert graded.status == 1, graded.said


def test_only_what_matters_is_said(graded: Graded) -> None:
    assert "Warning" not in graded.said
    assert "Traceback" not in graded.said


def test_the_gradebook_holds_every_student(graded: Graded) -> None:
    with (graded.root / "results" / "gradebook.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["student"] for row in rows) == sorted(fake.student for fake in fakes.CLASS)


def test_submissions_are_left_as_they_were(graded: Graded) -> None:
    assert graded.before == graded.after


def test_no_page_for_students_shows_a_hidden_check(graded: Graded) -> None:
    exercises = graded.course.exercises.values()
    secrets = {line for exercise in exercises for line in hidden_lines(exercise.checks)}
    solutions = {
        line.strip()
        for exercise in exercises
        for line in set(exercise.reference.splitlines()) - set(exercise.stub.splitlines())
        if len(line.strip()) > 20
    }
    pages = [path.read_text(encoding="utf-8") for path in (graded.root / "results" / "feedback").rglob("*.html")]
    assert len(pages) == len(fakes.CLASS)
    assert [secret for secret in secrets | solutions if any(secret in page for page in pages)] == []


def test_no_page_runs_what_a_student_wrote(graded: Graded) -> None:
    pages = [*(graded.root / "results" / "feedback").rglob("*.html"), graded.root / "results" / "report.html"]
    assert [page for page in pages if "<script" in page.read_text() or "<img" in page.read_text()] == []
