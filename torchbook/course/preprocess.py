"""What nbgrader calls in place of running a notebook: verdicts that the sandbox has reached are put into its cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader import utils
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import NbGraderPreprocessor

from torchbook.course.results import Verdict


@dataclass
class Desk:
    """What is on the desk: verdicts by student and by cell's grade_id, and what each assignment takes for lateness."""

    verdicts: dict[tuple[str, str], Mapping[str, Verdict]]
    penalties: dict[str, Callable[[float, float], float]]


desk = Desk({}, {})


class RunTests(NbGraderPreprocessor):
    """Stands where nbgrader would run the notebook."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        student, assignment = resources["nbgrader"]["student"], resources["nbgrader"]["assignment"]
        verdicts = desk.verdicts.get((student, assignment))
        if verdicts is None:
            raise RuntimeError(
                f"{assignment} of {student}: students' code runs in a sandbox only; "
                "grade with `torchbook course grade SUBMISSIONS --out RESULTS`"
            )
        for cell in nb.cells:
            if utils.is_grade(cell) and cell.cell_type == "code":
                cell.outputs = _outputs(verdicts[cell.metadata.nbgrader.grade_id])
        return nb, resources


def _outputs(verdict: Verdict) -> list[NotebookNode]:
    """Lines to read, and the points as nbgrader takes partial credit: the value of the cell's last expression."""
    text = "".join(f"{line}\n" for line in verdict.lines)
    value = new_output("execute_result", data={"text/plain": str(verdict.points)}, execution_count=None)
    return [new_output("stream", name="stdout", text=text), value]


class LatePolicy(LateSubmissionPlugin):
    """Takes for lateness what the assignment says."""

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        penalty = desk.penalties.get(self.parent.assignment_id)
        taken = penalty(score, total_seconds_late) if penalty else 0.0
        return round(taken, 2) or None
