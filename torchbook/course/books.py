"""nbgrader's gradebook of a course: it holds every grade, takes off for lateness, and never runs a student's code."""

from __future__ import annotations

import glob
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import nbformat
from nbgrader.api import BaseCell, Grade, SubmittedAssignment, SubmittedNotebook
from nbgrader.apps.api import NbGraderAPI
from traitlets.config import Config

from torchbook.course.assignment import Assignment
from torchbook.course.config import AUTOGRADE, configure, quiet
from torchbook.course.handed_in import TIMESTAMP
from torchbook.course.preprocess import desk
from torchbook.course.results import Verdict

REPAIRED = "repaired"


class BooksError(Exception):
    """nbgrader could not do its work; the message says for whom and where its log is."""


@dataclass(frozen=True)
class Kept:
    """What the gradebook holds of one submission: points by grade cell, and what lateness takes."""

    points: Mapping[str, float]
    late: float
    seconds_late: float


class Books:
    """The gradebook of one assignment. Of one process at a time.

    What nbgrader reads is made of its own notebook (`submission.repaired`), so the steps with which it would look for
    metadata that students changed are left out: they take a third of its time.
    """

    def __init__(self, course: Path, assignment: Assignment, log: Path) -> None:
        """Open the books, and enter the assignment if it is not there.

        Raises:
            BooksError: the course's path cannot be used, or its notebook cannot be entered.
        """
        self.course, self.assignment, self.log = course.resolve(), assignment, log
        if glob.escape(str(self.course)) != str(self.course):
            raise BooksError(f"{self.course}: nbgrader takes *, ? and [ in a path for patterns; move the course")
        config = configure(Config(), self.course / "nbgrader_config.py")
        config.CourseDirectory.submitted_directory = REPAIRED
        config.Autograde.sanitize_preprocessors = ["nbgrader.preprocessors.OverwriteCells"]
        config.Autograde.autograde_preprocessors = [name for name in AUTOGRADE if "CheckCellMetadata" not in name]
        self._api = NbGraderAPI(config=config, log=quiet(log))
        desk.penalties[assignment.name] = assignment.late.penalty
        self._enter()
        self.release = nbformat.read(self._released(), 4)

    def _released(self) -> Path:
        return self.course / "release" / self.assignment.name / f"{self.assignment.name}.ipynb"

    def graded(self, student: str) -> Path:
        """The notebook with its grades in it, which nbgrader's formgrader shows."""
        return self.course / "autograded" / student / self.assignment.name / f"{self.assignment.name}.ipynb"

    def _enter(self) -> None:
        name, due = self.assignment.name, self.assignment.due
        with self._api.gradebook as books:
            known = name in {found.name for found in books.assignments}
        if not known or not self._released().is_file():
            self._must(self._api.generate_assignment(name), f"{name}: its notebook could not be entered")
        with self._api.gradebook as books:
            books.update_or_create_assignment(name, duedate=due.astimezone(UTC).replace(tzinfo=None) if due else None)

    def _must(self, done: Mapping[str, object], what: str) -> None:
        if not done["success"]:
            last = str(done.get("error", "")).strip().splitlines()[-1:]
            raise BooksError(f"{what}: {''.join(last)}; all of it is in {self.log}")

    def enter_students(self, names: Mapping[str, str]) -> None:
        """Enter students with their names, where those are known."""
        with self._api.gradebook as books:
            for student, name in names.items():
                first, _, last = name.rpartition(" ")
                books.update_or_create_student(student, **({"first_name": first, "last_name": last} if name else {}))

    def enter(
        self,
        student: str,
        notebook: nbformat.NotebookNode,
        verdicts: Mapping[str, Verdict],
        at: datetime | None,
        original: Path | None,
    ) -> None:
        """Enter a graded submission, in the place of an earlier one.

        Raises:
            BooksError: nbgrader refused.
        """
        name = self.assignment.name
        self._lay(self.course / REPAIRED / student / name, notebook, at)
        self._show(self.course / "submitted" / student / name, original, at)
        desk.verdicts[student, name] = verdicts
        try:
            done = self._api.autograde(name, glob.escape(student))
        finally:
            del desk.verdicts[student, name]
        self._must(done, f"{student}: the grade could not be entered")

    def _lay(self, folder: Path, notebook: nbformat.NotebookNode, at: datetime | None) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{self.assignment.name}.ipynb")
        _stamp(folder, at)

    def _show(self, folder: Path, original: Path | None, at: datetime | None) -> None:
        """Put the original where nbgrader looks for what was handed in, unless it is there already."""
        kept = folder / f"{self.assignment.name}.ipynb"
        if original is None or (kept.exists() and kept.samefile(original)):
            return
        folder.mkdir(parents=True, exist_ok=True)
        kept.unlink(missing_ok=True)
        shutil.copyfile(original, kept)
        _stamp(folder, at)

    def entered(self) -> dict[str, Kept]:
        """What the books hold of each student's submission, with what people changed by hand."""
        with self._api.gradebook as books:
            rows = (
                books.db.query(SubmittedAssignment.student_id, BaseCell.name, Grade.score)
                .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
                .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
                .join(BaseCell, Grade.cell_id == BaseCell.id)
                .filter(SubmittedAssignment.assignment_id == books.find_assignment(self.assignment.name).id)
                .all()
            )
            late = {
                found.student_id: (found.late_submission_penalty or 0.0, found.total_seconds_late)
                for found in books.assignment_submissions(self.assignment.name)
            }
        points: dict[str, dict[str, float]] = {student: {} for student in late}
        for student, cell, score in rows:
            points[student][cell] = score
        return {student: Kept(points[student], *late[student]) for student in points}


def _stamp(folder: Path, at: datetime | None) -> None:
    if at:
        (folder / TIMESTAMP).write_text(f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} UTC\n", encoding="utf-8")
