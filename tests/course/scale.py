"""How long grading takes, against nbgrader's own: `python -m tests.course.scale --students 300`.

Makes a class on ten light exercises, answers of every quality, grades it with `torchbook course grade`, and grades the
same submissions with the commands `nbgrader autograde` and `nbgrader generate_feedback` as nbgrader ships them. Prints
seconds per submission of both, and looks for hidden checks in everything that students would be given.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from tests.course import fakes
from torchbook.practice.exercise import HIDDEN
from torchbook_course.assignment import Assignment, Item
from torchbook_course.generate import make

EXERCISES = 10


def assigned(root: Path) -> fakes.Course:
    """A course whose assignment has ten exercises, copies of p01-x3 in a private folder."""
    private = root / "private"
    names = [f"q{number}-x1" for number in range(EXERCISES)]
    for name in names:
        fakes.light_copy(private, name, 10)
    items = tuple(Item(id=name, variant="base") for name in names)
    wanted = Assignment(name="hw1", title="Homework 1", seed=fakes.SEED, exercises=items, folders=(private,))
    return fakes.course_of(root / "course", make(wanted, root / "course").assignment)


def hand_in(course: fakes.Course, submissions: Path, students: int) -> None:
    """Each student answers each exercise rightly, wrongly in some way, or not at all."""
    draw = random.Random(1)
    for number in range(students):
        notebook = nbformat.from_dict(json.loads(json.dumps(course.release)))
        for exercise in course.exercises.values():
            wrong = draw.choice(exercise.wrong).source
            answer = draw.choices((exercise.reference, wrong, exercise.stub), (5, 4, 1))[0]
            cell = fakes.cell_of(notebook, f"{exercise.id}-solution")
            cell.source = f"# exercise {exercise.id} (keep this line)\nimport torch\n{answer}"
        folder = submissions / f"student{number:03d}" / "hw1"
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / "hw1.ipynb")


def timed(command: list[str], folder: Path) -> float:
    """Seconds that a command takes; a failing one ends the program with its last words."""
    paths = {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
    threads = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=os.environ | paths | threads, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return time.monotonic() - start


def ours(course: fakes.Course, submissions: Path, results: Path, jobs: int) -> float:
    """Seconds of `torchbook course grade`."""
    command = ["-m", "torchbook", "course", "grade", str(submissions), "--out", str(results)]
    return timed([*command, "--course", str(course.folder), "--jobs", str(jobs)], course.folder)


def stock(course: fakes.Course, submissions: Path, root: Path, students: int) -> float:
    """Seconds of nbgrader's own commands, on a copy of the course without our configuration."""
    folder = root / "stock"
    for part in ("source", "release"):
        shutil.copytree(course.folder / part, folder / part)
    shutil.copy(root / "fresh.db", folder / "gradebook.db")
    (folder / "nbgrader_config.py").write_text("c = get_config()\n")
    for student in sorted(submissions.iterdir())[:students]:
        shutil.copytree(student, folder / "submitted" / student.name)
    autograde = timed(["-m", "nbgrader", "autograde", "hw1"], folder)
    return autograde + timed(["-m", "nbgrader", "generate_feedback", "hw1"], folder)


def leaks(course: fakes.Course, *folders: Path) -> list[str]:
    """Files for students in which the name, or a line, of a hidden check can be read."""
    secrets = {line for exercise in course.exercises.values() for line in hidden_lines(exercise.checks)}
    leaked = []
    for folder in folders:
        for path in folder.rglob("*.html"):
            text = path.read_text(encoding="utf-8")
            leaked += [f"{path}: {secret}" for secret in secrets if secret in text]
    return leaked


def hidden_lines(checks: str) -> list[str]:
    """Names and lines of hidden checks."""
    lines = checks.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith(f"def {HIDDEN}")]
    names_and_lines = [lines[number].removeprefix("def ").partition("(")[0] for number in starts]
    for start in starts:
        body = lines[start + 1 :]
        end = next((n for n, line in enumerate(body) if line and not line.startswith(" ")), len(body))
        names_and_lines += [line.strip() for line in body[:end] if len(line.strip()) > 20]
    return names_and_lines


def main() -> None:
    """Run it and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=12)
    parser.add_argument("--stock-students", type=int, help="how many of them nbgrader's own commands get; all")
    parser.add_argument("--jobs", type=int, default=0, help="submissions side by side; 0: one a core")
    options = parser.parse_args()
    few = options.students if options.stock_students is None else min(options.stock_students, options.students)
    with tempfile.TemporaryDirectory(prefix="scale-") as made:
        root = Path(made)
        course = assigned(root)
        shutil.copy(course.folder / "gradebook.db", root / "fresh.db")
        hand_in(course, root / "submissions", options.students)
        seconds = ours(course, root / "submissions", root / "results", options.jobs) / options.students
        theirs = stock(course, root / "submissions", root, few) / few
        kept = json.loads((root / "results" / "summary.json").read_text())
        alone = statistics.fmean(student["seconds"] for student in kept["students"])
        print(
            f"torchbook course grade: {seconds:.2f} s per submission ({options.students}, {EXERCISES} exercises each)"
        )
        print(f"  in its box, one submission takes {alone:.2f} s in the mean")
        print(f"nbgrader autograde + generate_feedback: {theirs:.2f} s per submission ({few})")
        print(f"ratio: {theirs / seconds:.2f}")
        leaked = leaks(course, root / "results" / "feedback")
        shown = leaks(course, root / "stock" / "feedback")
        print(f"hidden checks in our feedback: {len(leaked)} places; in nbgrader's: {len(shown)}")
        for line in leaked[:10]:
            print(f"  {line}")
        raise SystemExit(1 if leaked else 0)


if __name__ == "__main__":
    main()
