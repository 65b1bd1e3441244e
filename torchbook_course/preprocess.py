"""What nbgrader calls in place of running a notebook: verdicts that the sandbox has reached are put into its cells."""

from __future__ import annotations

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader import utils
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Dict
from traitlets.config import Config

from torchbook_course.assignment import Late
from torchbook_course.results import Verdict


def configured(config: Config, late: Late, verdicts: dict[str, Verdict]) -> Config:
    """A copy of nbgrader's configuration with what one submission needs.

    Args:
        config: of the course.
        late: what lateness costs.
        verdicts: by grade cell.
    """
    copy = Config(config)
    copy.RunTests.verdicts = verdicts
    copy.LatePolicy.late = late.model_dump()
    return copy


class RunTests(NbGraderPreprocessor):
    """Stands where nbgrader would run the notebook."""

    verdicts = Dict(help="The verdict of each grade cell, by its grade_id.").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        if not self.verdicts:
            student, assignment = resources["nbgrader"]["student"], resources["nbgrader"]["assignment"]
            raise RuntimeError(
                f"{assignment} of {student}: students' code runs in a sandbox only; "
                "grade with `torchbook course grade SUBMISSIONS --out RESULTS`"
            )
        for cell in nb.cells:
            if utils.is_grade(cell) and cell.cell_type == "code":
                cell.outputs = _outputs(self.verdicts[cell.metadata.nbgrader.grade_id])
        return nb, resources


def _outputs(verdict: Verdict) -> list[NotebookNode]:
    """Lines to read, and the points as nbgrader takes partial credit: the value of the cell's last expression."""
    text = "".join(f"{line}\n" for line in verdict.lines)
    value = new_output("execute_result", data={"text/plain": str(verdict.points)}, execution_count=None)
    return [new_output("stream", name="stdout", text=text), value]


class LatePolicy(LateSubmissionPlugin):
    """Takes for lateness what the assignment says."""

    late = Dict(help="The fields of `torchbook_course.assignment.Late`.").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        penalty = Late.model_validate(self.late).penalty(score, total_seconds_late)
        return round(penalty, 2) or None
