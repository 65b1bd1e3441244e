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

import torchbook
import torchbook_course
import torchbook_proofs
from torchbook.practice.exercise import Exercise
from torchbook_course import evaluate, marking, matrices
from torchbook_course.assignment import Assignment, resolve
from torchbook_course.results import Asked
from torchbook_course.sandbox import Box
from torchbook_course.submission import Extracted, SubmissionError, extract, read

# What learners have, and the grader beside it.
_PACKAGES = tuple(Path(str(package.__file__)).parent for package in (torchbook, torchbook_course, torchbook_proofs))
_PROGRAMS = Path(__file__).parent / "templates" / "gradescope"
_PLACE = "{{ packages }}"  # in setup.sh
_LEFT_OUT = {"__pycache__"}
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
    members = {
        **{path.name: path.read_bytes() for path in _PROGRAMS.iterdir() if path.is_file()},
        "setup.sh": (_PROGRAMS / "setup.sh").read_text().replace(_PLACE, " ".join(_packages())).encode(),
        "assignment.yml": assignment.model_copy(update={"folders": ()}).to_yaml().encode(),
        "release.ipynb": release.encode(),
    }
    for package in _PACKAGES:
        for path in _below(package):
            members[f"{package.name}/{path.relative_to(package).as_posix()}"] = path.read_bytes()
    for exercise in exercises:
        for path in _below(exercise.folder):
            relative = path.relative_to(exercise.folder.parents[1]).as_posix()
            members[f"exercises/{relative}"] = path.read_bytes()
    return members


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


# In the container.


def prepare(source: Path) -> None:
    """Find out, before any submission, which check refuses which wrong answer; data sets are fetched on the way."""
    source.joinpath("exercises").chmod(0o700)
    assignment = _assignment(source)
    box = _box()
    exercises = resolve(assignment, [source / "exercises"])
    tests = {exercise.contract.id: evaluate.tests_of(exercise, assignment.seed) for exercise in exercises}
    cases = [matrices.Case(exercise, (assignment.seed,), grading=True) for exercise in exercises]
    for test, matrix in zip(tests.values(), matrices.of(cases, box, None), strict=True):
        test["expected"] = matrices.expected(matrix, box.patience)
    target = source / "tests.json"
    target.write_text(json.dumps(tests), encoding="utf-8")
    target.chmod(0o600)


def grade(source: Path) -> None:
    """Grade the submission beside `source` and write Gradescope's results.json."""
    if not (source / "tests.json").exists():
        prepare(source)
    assignment = _assignment(source)
    exercises = resolve(assignment, [source / "exercises"])
    points = assignment.worth([source / "exercises"])
    rubrics = marking.all_asked(assignment, exercises, points)
    extracted, results, problem = _evaluated(source, exercises)
    parts = {
        rubric.id: marking.part(exercise, rubric, extracted.answers.get(exercise.id), results.get(exercise.id))
        for exercise, rubric in zip(exercises, rubrics, strict=True)
    }
    verdicts = marking.verdicts(rubrics, parts)
    lines = [problem] if problem else [f"{r.exercise}: {r.what}".removeprefix(": ") for r in extracted.repairs]
    report = {"output": "\n".join(lines), "tests": [test for rubric in rubrics for test in _shown(rubric, verdicts)]}
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
    notebooks = sorted((source.parent / "submission").glob("*.ipynb"))
    if len(notebooks) != 1:
        return nothing, {}, f"{len(notebooks)} notebooks were submitted; submit one, {_assignment(source).name}.ipynb"
    try:
        extracted = _extracted(source, notebooks[0], exercises)
    except SubmissionError as error:
        return nothing, {}, str(error)
    tests = json.loads((source / "tests.json").read_text(encoding="utf-8"))
    answers = extracted.answers
    jobs = [
        tests[exercise.id] | {"code": answers[exercise.id].code, "context": answers[exercise.id].context}
        for exercise in exercises
        if exercise.id in answers
    ]
    try:
        return extracted, _as_nobody({"exercises": jobs}), ""
    except BrokenProcessPool:
        return extracted, {}, "the process that graded was ended; the submission needs a person to look at it"


def _extracted(source: Path, path: Path, exercises: Sequence[Exercise]) -> Extracted:
    release = nbformat.read(source / "release.ipynb", as_version=4)
    handed_out = {cell.metadata.get("nbgrader", {}).get("grade_id", ""): cell.source for cell in release.cells}
    stubs = {exercise.id: handed_out[f"{exercise.id}-solution"] for exercise in exercises}
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

        account = pwd.getpwnam(user)
        os.setgroups([])
        os.setgid(account.pw_gid)
        os.setuid(account.pw_uid)


def _shown(rubric: Asked, verdicts: Mapping[str, marking.Verdict]) -> Iterator[dict[str, Any]]:
    kinds = (("public", "", rubric.public, "visible"), ("hidden", ": hidden checks", rubric.hidden, "after_published"))
    for kind, suffix, maximum, visibility in kinds:
        verdict = verdicts[f"{rubric.id}-{kind}"]
        yield {
            "name": f"{rubric.id} {rubric.title}{suffix}",
            "score": verdict.points,
            "max_score": maximum,
            "output": "\n".join(verdict.lines),
            "visibility": visibility,
        }
