"""nbgrader's gradebook of a course: it holds every grade, takes off for lateness, and never runs a student's code.

The fourth step of a submission's way to its grade.
"""

from __future__ import annotations

import glob
import hashlib
import json
import logging
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import nbformat
from nbgrader.api import BaseCell, Grade, MissingEntry, SubmittedAssignment, SubmittedNotebook
from nbgrader.api import Gradebook as Tables
from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters import Autograde
from nbgrader.utils import capture_log, temp_attrs
from traitlets.config import Config

from torchbook_course.assignment import Assignment
from torchbook_course.config import AUTOGRADE, LOGGER, configure
from torchbook_course.handed_in import TIMESTAMP
from torchbook_course.marking import Marked
from torchbook_course.preprocess import configured
from torchbook_course.results import write
from torchbook_course.submission import repaired

REPAIRED = "repaired"
_ENTERED = ".entered"


class GradebookError(Exception):
    """nbgrader could not do its work; the message says for whom and where its log is."""


@dataclass(frozen=True)
class Kept:
    """What the gradebook holds of one submission: points by grade cell, and what lateness takes."""

    points: Mapping[str, float]
    late: float
    seconds_late: float


class Gradebook:
    """The gradebook of one assignment. Of one process at a time.

    What nbgrader reads is made of its own notebook (`submission.repaired`), so the steps with which it would look for
    metadata that students changed are left out: they take a third of its time.
    """

    def __init__(self, course: Path, assignment: Assignment, names: Mapping[str, str]) -> None:
        """Open the books; enter the assignment and students if they are not there.

        Args:
            course: its folder.
            assignment: one of the course's.
            names: by student; "" where a name is not known.

        Raises:
            GradebookError: the course's path cannot be used, or its notebook cannot be entered.
        """
        self.course, self.assignment = course.resolve(), assignment
        if glob.escape(str(self.course)) != str(self.course):
            raise GradebookError(f"{self.course}: nbgrader takes *, ? and [ in a path for patterns; move the course")
        config = configure(Config(), self.course / "nbgrader_config.py")
        config.CourseDirectory.submitted_directory = REPAIRED
        config.Autograde.sanitize_preprocessors = ["nbgrader.preprocessors.OverwriteCells"]
        config.Autograde.autograde_preprocessors = [name for name in AUTOGRADE if "CheckCellMetadata" not in name]
        self._api = NbGraderAPI(config=config, log=logging.getLogger(LOGGER))
        self._open(names)
        self._before = self._entered()
        self.release = nbformat.read(self._released(), 4)

    def _released(self) -> Path:
        return self.course / "release" / self.assignment.name / f"{self.assignment.name}.ipynb"

    @property
    def booked(self) -> frozenset[str]:
        """Who has a submission in the books from before."""
        return frozenset(self._before)

    def graded(self, student: str) -> Path:
        """The notebook with its grades in it, which nbgrader's formgrader shows."""
        return self.course / "autograded" / student / self.assignment.name / f"{self.assignment.name}.ipynb"

    def _open(self, names: Mapping[str, str]) -> None:
        name, due = self.assignment.name, self.assignment.due
        with self._api.gradebook as books:
            entered = name in {assignment.name for assignment in books.assignments}
        if not entered or not self._released().is_file():
            self._must(self._api.generate_assignment(name), f"{name}: its notebook could not be entered")
        with self._api.gradebook as books:
            books.update_or_create_assignment(name, duedate=due.astimezone(UTC).replace(tzinfo=None) if due else None)
            for student, full_name in names.items():
                first, _, last = full_name.rpartition(" ")
                known = {"first_name": first, "last_name": last} if full_name else {}
                books.update_or_create_student(student, **known)

    def _must(self, result: Mapping[str, object], what: str) -> None:
        if not result["success"]:
            last = str(result.get("error", "")).strip().splitlines()[-1:]
            logs = [handler.baseFilename for handler in self._api.log.handlers if hasattr(handler, "baseFilename")]
            raise GradebookError("; all of it is in ".join([f"{what}: {''.join(last)}", *logs]))

    def enter(self, marks: Iterable[Marked], *, anew: bool = False) -> tuple[list[Marked], dict[str, Kept]]:
        """Enter graded submissions as they come.

        Args:
            marks: what they are worth.
            anew: enter also what is there already.

        Returns:
            the same, those that nbgrader refused with that as their problem; and by student what the books hold, with
            what people changed by hand.
        """
        return [self._enter(marked, anew) for marked in marks], self._entered()

    def _enter(self, marked: Marked, anew: bool) -> Marked:
        """Enter a graded submission, in the place of an earlier one, unless exactly this is there."""
        student, seal = marked.student, self._seal(marked)
        mark = self.course / _ENTERED / self.assignment.name / student
        entered = student in self._before and self.graded(student).is_file() and mark.is_file()
        if entered and not anew and mark.read_text() == seal:
            return marked
        try:
            self._autograde(marked)
        except GradebookError as error:
            return replace(marked, problem=marked.problem or str(error))
        write(mark, seal)
        return marked

    def _seal(self, marked: Marked) -> str:
        """A digest of all that is entered of a submission."""
        verdicts = {name: [verdict.points, verdict.lines] for name, verdict in marked.verdicts.items()}
        late = [self.assignment.due, self.assignment.late.model_dump()]
        sources = [cell.source for cell in marked.submission.cells]
        content = [marked.evaluation.key, marked.problem, verdicts, marked.submission.handed.at, late, sources]
        return hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()

    def _autograde(self, marked: Marked) -> None:
        student, name, submission = marked.student, self.assignment.name, marked.submission
        at = submission.handed.at
        notebook = repaired(submission.cells, submission.extracted, self.release)
        self._lay(self.course / REPAIRED / student / name, notebook, at)
        original = submission.handed.path if submission.cells else None
        self._show(self.course / "submitted" / student / name, original, at)
        config = configured(self._api.config, self.assignment.late, dict(marked.verdicts))
        with temp_attrs(self._api.coursedir, assignment_id=name, student_id=glob.escape(student)):
            app = Autograde(coursedir=self._api.coursedir, config=config, log=self._api.log)
            app.force = app.create_student = True
            result = capture_log(app)
        self._must(result, f"{student}: the grade could not be entered")

    def _lay(self, folder: Path, notebook: nbformat.NotebookNode, at: datetime | None) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{self.assignment.name}.ipynb")
        _stamp(folder, at)

    def _show(self, folder: Path, original: Path | None, at: datetime | None) -> None:
        """Put the original where nbgrader looks for what was handed in, unless it is there already."""
        target = folder / f"{self.assignment.name}.ipynb"
        if original is None or (target.exists() and target.samefile(original)):
            return
        folder.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copyfile(original, target)
        _stamp(folder, at)

    def _entered(self) -> dict[str, Kept]:
        with self._api.gradebook as books:
            return _points(books, self.assignment.name)


def entered(course: Path, assignment: Assignment) -> dict[str, Kept]:
    """By student what a course's books hold of an assignment, with what people changed by hand.

    Raises:
        GradebookError: the course has no books, or the assignment is not in them.
    """
    path = course / "gradebook.db"
    if not path.is_file():
        raise GradebookError(f"{path}: missing; grade first with `torchbook course grade`")
    with Tables(f"sqlite:///{path}") as books:
        try:
            return _points(books, assignment.name)
        except MissingEntry:
            raise GradebookError(f"{path}: holds no {assignment.name}; grade it first") from None


def _points(books: Tables, assignment: str) -> dict[str, Kept]:
    rows = (
        books.db.query(SubmittedAssignment.student_id, BaseCell.name, Grade.score)
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .filter(SubmittedAssignment.assignment_id == books.find_assignment(assignment).id)
        .all()
    )
    late = {
        submission.student_id: (submission.late_submission_penalty or 0.0, submission.total_seconds_late)
        for submission in books.assignment_submissions(assignment)
    }
    points: dict[str, dict[str, float]] = {student: {} for student in late}
    for student, cell, score in rows:
        points[student][cell] = score
    return {student: Kept(points[student], *late[student]) for student in points}


def _stamp(folder: Path, at: datetime | None) -> None:
    if at:
        (folder / TIMESTAMP).write_text(f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} UTC\n", encoding="utf-8")
