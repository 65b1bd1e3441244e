"""Makes an assignment: nbgrader's course folder, and what goes to students, to a learning platform, to other graders.

    course/
      nbgrader_config.py              two lines: nbgrader and the formgrader work when started here
      gradebook.db                    nbgrader's; knows the cells and the due time
      assignments/hw1.yml             what was assigned; grading reads it
      source/hw1/hw1.ipynb            nbgrader's source, with references and hidden checks
      release/hw1/hw1.ipynb           the students' notebook, made from it by nbgrader
      dist/hw1-student.zip            the same with a README
      dist/hw1-instructor.zip         references, all checks, hints, wrong answers; hw1.yml
      dist/hw1-description.md, .html  the text for a learning platform
      dist/hw1-otter.ipynb            for `otter assign`
      dist/hw1-gradescope.zip         autograder for Gradescope

All of it is made beside the course and moved into place at the end, so that a failure leaves the course as it was.
Submissions and grades are never touched: nbgrader itself refuses to change the cells of what was handed in already.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from urllib.parse import quote, urlencode

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook as Tables
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import capture_log
from traitlets.config import Config

from torchbook.practice.exercise import Exercise
from torchbook.practice.harness import checks_of
from torchbook_course import gradescope, otter
from torchbook_course.assignment import Assignment, resolve
from torchbook_course.config import configure, quiet
from torchbook_course.notebooks import due_line, instructor_notebook, number_of, points_of, source_notebook
from torchbook_course.templating import rendered

CONFIG = """from torchbook_course.config import configure

configure(get_config(), __file__)  # noqa: F821
"""
_EPOCH = (2000, 1, 1, 0, 0, 0)  # of all members of a zip, so that the same assignment makes the same zip


class GenerateError(Exception):
    """The assignment cannot be made; the message says why and what to do."""


@dataclass(frozen=True)
class Made:
    """What was made: the resolved assignment, the files relative to the course, and what to tell the instructor."""

    assignment: Assignment
    files: tuple[Path, ...]
    notes: tuple[str, ...]


def make(
    assignment: Assignment, course: Path, *, force: bool = False, extra_roots: Sequence[Path] = (), link: str = ""
) -> Made:
    """Make an assignment in a course's folder, which need not exist.

    Args:
        assignment: as read; what it leaves open is filled in.
        course: nbgrader's course folder.
        force: replace an assignment of that name although its exercises, points or seed were others.
        extra_roots: folders of exercises beside the book's.
        link: address under which students open the notebook, for the description.

    Raises:
        GenerateError: another assignment of that name is there, or nbgrader refuses.
        AssignmentError, ExerciseError: an exercise cannot be used.
    """
    resolved = assignment.resolved(extra_roots)
    if not force:
        _complain_if_other(resolved, course / "assignments" / f"{resolved.name}.yml")
    return _made(resolved, course, extra_roots, link)


def make_again(assignment: Assignment, course: Path) -> Made:
    """Make an assignment of a course again as its file says it, for other points, say, or another policy.

    The digests of its exercises stay, so that grading still says which of them changed since students got them.

    Raises:
        GenerateError: the cells of what students handed in would change.
        AssignmentError, ExerciseError: an exercise cannot be used.
    """
    return _made(assignment, course, (), "")


def points_made(assignment: Assignment, course: Path) -> dict[str, float]:
    """The points of each grade cell as the students' notebook has them; none where it was never made."""
    path = course / "release" / assignment.name / f"{assignment.name}.ipynb"
    if not path.is_file():
        return {}
    marks = [cell.metadata.get("nbgrader", {}) for cell in nbformat.read(path, 4).cells]
    return {str(mark["grade_id"]): float(mark["points"]) for mark in marks if mark.get("grade")}


def points_wanted(assignment: Assignment) -> dict[str, float]:
    """The points of each grade cell as the assignment's file says them."""
    worth = zip(assignment.exercises, assignment.worth(), strict=True)
    return {f"{item.id}-{kind}": getattr(points, kind) for item, points in worth for kind in ("public", "hidden")}


def _made(resolved: Assignment, course: Path, extra_roots: Sequence[Path], link: str) -> Made:
    exercises = resolve(resolved, extra_roots)
    with _staging(course) as staging:
        _write_sources(resolved, exercises, staging)
        book, copy = course / "gradebook.db", staging / "gradebook.db"
        if book.exists():
            shutil.copy(book, copy)
        _release(resolved, staging, copy)
        _write_dist(resolved, exercises, staging / "dist", staging / "release" / resolved.name, link)
        if book.exists():  # nothing can fail any more, so the real one learns it too
            copy.unlink()
            _release(resolved, staging, book.resolve())
        files = _moved(staging, course, resolved.name)
    notes = [*resolved.warnings(), *filter(None, map(otter.cannot, exercises)), *_needs(exercises)]
    return Made(resolved, tuple(files), tuple(notes))


def _complain_if_other(new: Assignment, path: Path) -> None:
    if not path.exists():
        return
    old = Assignment.load(path)
    if (old.seed, old.exercises) != (new.seed, new.exercises):
        what = "its seed" if old.seed != new.seed else "its exercises, their variants, points or content"
        raise GenerateError(
            f"{path}: {new.name} is there already, and {what} would change; "
            "choose another --name, or give --force if no student has it yet"
        )


def _needs(exercises: Sequence[Exercise]) -> Iterator[str]:
    for exercise in exercises:
        if "gpu" in exercise.contract.needs:
            yield f"{exercise.id} needs a GPU, at the students' side and where it is graded"


@contextmanager
def _staging(course: Path) -> Iterator[Path]:
    """A folder beside the course, on the same file system, that is gone afterwards."""
    course.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{course.name}-", dir=course.parent)).resolve()
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


# nbgrader's part.


def _write_sources(assignment: Assignment, exercises: Sequence[Exercise], staging: Path) -> None:
    assignment.save(staging / "assignments" / f"{assignment.name}.yml")
    (staging / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    source = staging / "source" / assignment.name / f"{assignment.name}.ipynb"
    source.parent.mkdir(parents=True)
    nbformat.write(source_notebook(assignment, exercises), source)


def _release(assignment: Assignment, staging: Path, book: Path) -> None:
    """Let nbgrader make the students' notebook, and a gradebook learn its cells and the due time."""
    name = assignment.name
    config = configure(Config(), staging / "nbgrader_config.py")
    config.CourseDirectory.db_url = f"sqlite:///{book}"
    config.CourseDirectory.assignment_id = name
    logger = quiet()
    folder = CourseDirectory(config=config, log=logger)
    result = capture_log(GenerateAssignment(coursedir=folder, config=config, log=logger, force=True))
    if not result["success"]:
        raise GenerateError(_reason(name, str(result.get("log", "")) + str(result.get("error", ""))))
    _set_due(assignment, book)


def _reason(name: str, log: str) -> str:
    if "there are submissions associated" in log:
        return (
            f"{name}: the gradebook holds submissions to it, so its cells cannot change any more; choose another --name"
        )
    lines = [line for line in log.strip().splitlines() if line.strip()]
    return f"{name}: nbgrader could not make the students' notebook: {lines[-1] if lines else 'no reason given'}"


def _set_due(assignment: Assignment, book: Path) -> None:
    """Tell the gradebook the due time, in UTC and without a zone, as nbgrader keeps it."""
    due = assignment.due.astimezone(UTC).replace(tzinfo=None) if assignment.due else None
    with Tables(f"sqlite:///{book}") as gradebook:
        gradebook.update_or_create_assignment(assignment.name, duedate=due)


def _moved(staging: Path, course: Path, name: str) -> list[Path]:
    """Move what was made into the course; the file of the assignment, by which it counts as made, comes last."""
    if (course / "nbgrader_config.py").exists():
        (staging / "nbgrader_config.py").unlink()
    parts = [Path("source", name), Path("release", name), Path("nbgrader_config.py"), Path("gradebook.db")]
    parts += [path.relative_to(staging) for path in sorted((staging / "dist").iterdir())]
    parts.append(Path("assignments", f"{name}.yml"))
    moved = [part for part in parts if (staging / part).exists()]
    for part in moved:
        for place in (course / part, staging / "replaced" / part):
            place.parent.mkdir(parents=True, exist_ok=True)
        if (course / part).exists():
            os.rename(course / part, staging / "replaced" / part)
        os.rename(staging / part, course / part)
    return moved


# What is handed out.


def _write_dist(assignment: Assignment, exercises: Sequence[Exercise], dist: Path, release: Path, link: str) -> None:
    name = assignment.name
    dist.mkdir()
    words = _words(assignment, exercises, link)
    notebook = (release / f"{name}.ipynb").read_text(encoding="utf-8")
    student = {f"{name}.ipynb": notebook, "README.md": rendered("README.md", **words)}
    write_zip(dist / f"{name}-student.zip", student, name)
    record = release.parents[1] / "assignments" / f"{name}.yml"
    instructor = {
        f"{name}-instructor.ipynb": _json(instructor_notebook(assignment, exercises)),
        f"{name}.yml": record.read_text(encoding="utf-8"),
    }
    write_zip(dist / f"{name}-instructor.zip", instructor, f"{name}-instructor")
    for kind in ("md", "html"):
        (dist / f"{name}-description.{kind}").write_text(rendered(f"description.{kind}", **words), encoding="utf-8")
    nbformat.write(otter.otter_notebook(assignment, exercises), dist / f"{name}-otter.ipynb")
    write_zip(dist / f"{name}-gradescope.zip", gradescope.files(assignment, exercises, notebook))


def _json(notebook: NotebookNode) -> str:
    return str(nbformat.writes(notebook))


def write_zip(path: Path, files: Mapping[str, str] | Mapping[str, bytes], folder: str = "") -> None:
    """A zip of files, in one folder if named; a file that begins with `#!` can be executed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            content = text.encode() if isinstance(text, str) else text
            info = zipfile.ZipInfo(f"{folder}/{name}" if folder else name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o755 if content.startswith(b"#!") else 0o644) << 16
            archive.writestr(info, content)


def _words(assignment: Assignment, exercises: Sequence[Exercise], link: str) -> dict[str, object]:
    points = points_of(assignment, exercises)
    rows = [
        {"title": exercise.title, "id": exercise.id, "points": f"{worth.total:g}", "minutes": exercise.contract.minutes}
        for exercise, worth in zip(exercises, points, strict=True)
    ]
    return {
        "name": assignment.name,
        "title": assignment.title,
        "due": due_line(assignment),
        "whole": assignment.credit == "all-or-nothing",
        "rows": rows,
        "total": number_of(sum(worth.total for worth in points), "point"),
        "minutes": sum(exercise.contract.minutes for exercise in exercises),
        "link": link,
        "torchbook": any(needs_torchbook(exercise) for exercise in exercises),
    }


def needs_torchbook(exercise: Exercise) -> bool:
    """Whether the students' notebook imports this package for the exercise."""
    asks_for_text = any("source" in check.parameters for check in checks_of(exercise.public_checks))
    return asks_for_text or "torchbook" in f"{exercise.stub}{exercise.public_checks}"


# Links.


def nbgitpuller_link(hub: str, repo: str, branch: str, path: str) -> str:
    """A link by which a JupyterHub with nbgitpuller fetches a repository and opens one of its notebooks.

    Args:
        hub: the hub's address, for instance https://hub.example.org.
        repo: address of the git repository with the released notebook.
        branch: of the repository.
        path: of the notebook in the repository.

    Raises:
        GenerateError: an address is none, or the path leads out of the repository.
    """
    for option, address in (("--hub", hub), ("--repo", repo)):
        if not address.startswith(("https://", "http://")):
            raise GenerateError(f"{option} {address}: write the whole address, beginning with https://")
    parts = Path(path).parts
    if not parts or Path(path).is_absolute() or ".." in parts:
        raise GenerateError(f"--path {path}: write the notebook's path inside the repository, such as hw1/hw1.ipynb")
    folder = repo.rstrip("/").rpartition("/")[2].removesuffix(".git")
    query = urlencode(
        {"repo": repo, "branch": branch, "urlpath": f"lab/tree/{folder}/{Path(path).as_posix()}"}, quote_via=quote
    )
    return f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{query}"
