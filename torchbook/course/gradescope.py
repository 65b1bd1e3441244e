"""An autograder for Gradescope: the zip that an instructor uploads, and the program in it that grades a submission.

Gradescope builds an image with `setup.sh`; for each submission it starts a container from it and runs
`run_autograder`. The container is the sandbox. Students' code runs in it through the same runner as elsewhere, without
bubblewrap, which does not start there, and as the user `nobody`, to whom exercises and results are closed. The network
is open to it.

Of a hidden check a student sees its number and whether it passed, once the instructor publishes the grades. Lateness
is Gradescope's own business.
"""

from __future__ import annotations

import importlib.metadata
import json
import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import nbformat

from torchbook.course import evaluate, marking
from torchbook.course.assignment import Assignment, resolve
from torchbook.course.results import Asked
from torchbook.course.sandbox import Box
from torchbook.course.submission import Extracted, SubmissionError, extract, read
from torchbook.practice.exercise import Exercise

_PACKAGE = Path(__file__).parents[1]
_LEFT_OUT = {"__pycache__", "edition", "press", "src"}
_PATIENCE = 2.0  # a container has fewer cores than the machine on which limits were set
_NEEDED = ("filelock", "ipython", "nbformat", "numpy", "pillow", "platformdirs", "psutil", "pydantic", "pyyaml")
USER = "TORCHBOOK_GRADER"  # environment variable: the user as whom students' code runs
_TORCH = ("torch", "torchvision")


# The zip.


def files(assignment: Assignment, exercises: Sequence[Exercise], release: str) -> dict[str, bytes]:
    """The autograder's files by their path in the zip.

    Args:
        assignment: resolved.
        exercises: those of the assignment; their folders are taken along.
        release: the students' notebook as JSON.
    """
    found = {
        "setup.sh": _SETUP.format(packages=" ".join(_packages())).encode(),
        "run_autograder": _RUN.encode(),
        "grade.py": _GRADE.encode(),
        "assignment.yml": assignment.model_copy(update={"folders": ()}).to_yaml().encode(),
        "release.ipynb": release.encode(),
    }
    for path in _below(_PACKAGE):
        found[f"torchbook/{path.relative_to(_PACKAGE).as_posix()}"] = path.read_bytes()
    for exercise in exercises:
        for path in _below(exercise.folder):
            inside = path.relative_to(exercise.folder.parent).as_posix()
            found[f"exercises/{inside}"] = path.read_bytes()
    return found


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not _LEFT_OUT & set(path.relative_to(folder).parts):
            yield path


def _packages() -> Iterator[str]:
    """Requirements of the image: torch in the version that is here, so that both grade alike."""
    yield from _NEEDED
    for name in _TORCH:
        try:
            yield f"'{name}=={importlib.metadata.version(name).partition('+')[0]}'"
        except importlib.metadata.PackageNotFoundError:
            yield name


_SETUP = """#!/usr/bin/env bash
# Gradescope runs this once, when it builds the image.
set -eu
apt-get update -q
apt-get install -q -y python3-venv
python3 -m venv /opt/uv
/opt/uv/bin/pip install -q uv
export UV_PYTHON_INSTALL_DIR=/opt/python
/opt/uv/bin/uv venv --python 3.12 /opt/torchbook
/opt/uv/bin/uv pip install --python /opt/torchbook/bin/python --compile-bytecode --torch-backend cpu \\
    {packages}
cd /autograder/source
TORCHBOOK_DATA=/opt/data /opt/torchbook/bin/python grade.py --prepare
"""

_RUN = """#!/usr/bin/env bash
# Gradescope runs this for each submission.
cd "${AUTOGRADER:-/autograder}/source"
export TORCHBOOK_DATA="${TORCHBOOK_DATA:-/opt/data}" OMP_NUM_THREADS=1
exec "${PYTHON:-/opt/torchbook/bin/python}" grade.py
"""

_GRADE = """import sys
from pathlib import Path

from torchbook.course import gradescope

if __name__ == "__main__":
    source = Path(__file__).resolve().parent
    gradescope.prepare(source) if "--prepare" in sys.argv else gradescope.grade(source)
"""


# In the container.


def prepare(source: Path) -> None:
    """Find out, before any submission, which check refuses which wrong answer; data sets are fetched on the way."""
    source.joinpath("exercises").chmod(0o700)
    assignment = _assignment(source)
    box = _box()
    tests = {one.id: evaluate.tests_of(one, assignment.seed) for one in resolve(assignment, [source / "exercises"])}
    for test in tests.values():
        test["expected"] = evaluate.matrix(test, box)
    kept = source / "tests.json"
    kept.write_text(json.dumps(tests), encoding="utf-8")
    kept.chmod(0o600)


def grade(source: Path) -> None:
    """Grade the submission beside `source` and write Gradescope's results.json."""
    if not (source / "tests.json").exists():
        prepare(source)
    assignment = _assignment(source)
    exercises = resolve(assignment, [source / "exercises"])
    points = [assignment.points(item, [source / "exercises"]) for item in assignment.exercises]
    wanted = [marking.asked(*pair) for pair in zip(exercises, points, strict=True)]
    extracted, results, problem = _evaluated(source, exercises)
    parts = {
        asked.id: marking.part(one, asked, extracted.answers.get(one.id), results.get(one.id))
        for one, asked in zip(exercises, wanted, strict=True)
    }
    verdicts = marking.verdicts(wanted, parts)
    said = [problem] if problem else [f"{r.exercise}: {r.what}".removeprefix(": ") for r in extracted.repairs]
    report = {"output": "\n".join(said), "tests": [test for asked in wanted for test in _shown(asked, verdicts)]}
    target = source.parent / "results" / "results.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(report | {"visibility": "visible", "stdout_visibility": "hidden"}, indent=1))


def _assignment(source: Path) -> Assignment:
    return Assignment.load(source / "assignment.yml", [source / "exercises"])


def _box() -> Box:
    return Box(unsafe=True, patience=_PATIENCE, python=sys.executable)


def _evaluated(source: Path, exercises: Sequence[Exercise]) -> tuple[Extracted, Mapping[str, Any], str]:
    """The answers, what the runner says of them, and why there is nothing, if so."""
    nothing = Extracted({}, ())
    found = sorted((source.parent / "submission").glob("*.ipynb"))
    if len(found) != 1:
        return nothing, {}, f"{len(found)} notebooks were submitted; submit one, {_assignment(source).name}.ipynb"
    try:
        extracted = _extracted(source, found[0], exercises)
    except SubmissionError as error:
        return nothing, {}, str(error)
    tests = json.loads((source / "tests.json").read_text(encoding="utf-8"))
    answers = extracted.answers
    jobs = [
        tests[one.id] | {"code": answers[one.id].code, "context": answers[one.id].context}
        for one in exercises
        if one.id in answers
    ]
    try:
        return extracted, _as_nobody({"exercises": jobs}), ""
    except BrokenProcessPool:
        return extracted, {}, "the process that graded was ended; the submission needs a person to look at it"


def _extracted(source: Path, path: Path, exercises: Sequence[Exercise]) -> Extracted:
    release = nbformat.read(source / "release.ipynb", as_version=4)
    handed_out = {cell.metadata.get("nbgrader", {}).get("grade_id", ""): cell.source for cell in release.cells}
    stubs = {one.id: handed_out[f"{one.id}-solution"] for one in exercises}
    return extract(read(path), stubs, handed_out.values())


def _as_nobody(job: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Evaluate in a process that has given up root's rights, if this one has them."""
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, mp_context=context, initializer=_give_up_rights) as pool:
        return pool.submit(evaluate.evaluate, job, _box()).result()


def _give_up_rights() -> None:
    user = os.environ.get(USER, "nobody")
    if os.geteuid() == 0 and user != "root":
        import pwd

        other = pwd.getpwnam(user)
        os.setgroups([])
        os.setgid(other.pw_gid)
        os.setuid(other.pw_uid)


def _shown(asked: Asked, verdicts: Mapping[str, marking.Verdict]) -> Iterator[dict[str, Any]]:
    kinds = (("public", "", asked.public, "visible"), ("hidden", ": hidden checks", asked.hidden, "after_published"))
    for kind, suffix, most, visibility in kinds:
        verdict = verdicts[f"{asked.id}-{kind}"]
        yield {
            "name": f"{asked.id} {asked.title}{suffix}",
            "score": verdict.points,
            "max_score": most,
            "output": "\n".join(verdict.lines),
            "visibility": visibility,
        }
