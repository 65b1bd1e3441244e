"""From what was handed in to the answers in it: the first step of a submission's way to its grade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from nbformat import NotebookNode

from torchbook.practice.exercise import Exercise
from torchbook_course.handed_in import HandedIn
from torchbook_course.submission import Cell, Extracted, SubmissionError, extract, read


@dataclass(frozen=True)
class Submission:
    """What one student handed in, as it was read; `problem` says why there is nothing to run."""

    handed: HandedIn
    cells: tuple[Cell, ...] = ()
    extracted: Extracted = field(default_factory=lambda: Extracted({}, ()))
    problem: str = ""

    @property
    def student(self) -> str:
        """The student's name as every tool can use it."""
        return self.handed.student


def read_all(handed: Sequence[HandedIn], exercises: Sequence[Exercise], release: NotebookNode) -> list[Submission]:
    """Read the answers out of what was handed in. One that cannot be read costs no other.

    Args:
        handed: one for each student.
        exercises: of the assignment.
        release: the notebook that students were given.
    """
    sources = [cell.source for cell in release.cells]
    stubs = {exercise.contract.id: "" for exercise in exercises}
    for cell in release.cells:
        exercise_id = cell.metadata.get("nbgrader", {}).get("grade_id", "").removesuffix("-solution")
        if exercise_id in stubs:
            stubs[exercise_id] = cell.source
    return [_read(entry, stubs, sources) for entry in handed]


def _read(handed: HandedIn, stubs: dict[str, str], sources: list[str]) -> Submission:
    if not handed.path:
        return Submission(handed, problem=handed.problem)
    cells: tuple[Cell, ...] = ()
    try:
        cells = read(handed.path)
        return Submission(handed, cells, extract(cells, stubs, sources), handed.problem)
    except SubmissionError as error:
        return Submission(handed, cells, problem=str(error))
    except Exception as error:
        return Submission(handed, cells, problem=f"{handed.path.name}: cannot be read ({type(error).__name__})")
