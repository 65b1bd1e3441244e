"""An assignment as notebooks: nbgrader's source, from which it makes the students' notebook, and the instructor's.

The cells of an exercise, by nbgrader's `grade_id`:

    <id>-statement   what to do, with folded hints; locked
    <id>-solution    the answer; its first line says which exercise, should nbgrader's metadata be lost
    <id>-public      the checks that a student sees, complete in themselves
    <id>-hidden      in the source: the other checks and the reference; for students: one line that says so

Both check cells run with nothing but what the exercise itself imports, so `nbgrader autograde` can grade them as they
are, all or nothing a cell. `torchbook course grade` runs neither: it takes the answer, and checks of its own.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence
from functools import cache

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.preprocessors import ClearSolutions

from torchbook.practice.exercise import BEGIN, Exercise, Points, stub_of
from torchbook.practice.harness import Check, checks_of
from torchbook.practice.quiz import Question, headed, reading_list
from torchbook.practice.wrong import Wrong
from torchbook_course.assignment import Assignment, AssignmentError
from torchbook_course.templating import rendered

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
PUBLIC_SEED = 0  # of checks that students see; the class's own seed stays with the instructor
_HIDDEN_NOTE = "# Checks that are not shown here grade your answer too."
_BEGIN_HIDDEN, _END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"


class Stubs(ClearSolutions):
    """nbgrader's step that takes solutions out, leaving the stub that the exercise itself derives."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: ResourcesDict, cell_index: int
    ) -> tuple[NotebookNode, ResourcesDict]:
        if cell.cell_type == "code" and BEGIN in cell.source:
            cell.source = stub_of(cell.source).rstrip("\n")
            return cell, resources
        cleared: tuple[NotebookNode, ResourcesDict] = super().preprocess_cell(cell, resources, cell_index)
        return cleared


def source_notebook(assignment: Assignment, exercises: Sequence[Exercise]) -> NotebookNode:
    """nbgrader's source: with references and hidden checks, for the instructor alone."""
    cells = [_locked("about", new_markdown_cell(about(assignment, exercises)))]
    for number, (exercise, points) in enumerate(zip(exercises, points_of(assignment, exercises), strict=True), 1):
        cells += [
            _locked(f"{exercise.id}-statement", new_markdown_cell(statement(exercise, points, number))),
            _solution(exercise),
            _graded(f"{exercise.id}-public", public_cell(exercise), points.public),
            _graded(f"{exercise.id}-hidden", hidden_cell(exercise, assignment.seed), points.hidden),
        ]
    return _checked(new_notebook(cells=cells, metadata=KERNEL))


def instructor_notebook(assignment: Assignment, exercises: Sequence[Exercise]) -> NotebookNode:
    """Everything about the exercises, to read and to run: references, all checks, what each wrong answer teaches."""
    cells = [new_markdown_cell(f"{about(assignment, exercises)}\n\nThis is the instructor's notebook: keep it.")]
    for number, (exercise, points) in enumerate(zip(exercises, points_of(assignment, exercises), strict=True), 1):
        cells += [
            new_markdown_cell(statement(exercise, points, number)),
            new_code_cell(f"# The reference\n{exercise.reference.strip()}"),
            new_code_cell(public_cell(exercise)),
            new_code_cell(f"# Hidden checks\n{_hidden_body(exercise, assignment.seed)}"),
            new_markdown_cell(_wrong_answers(exercise)),
        ]
    for place, cell in enumerate(cells):
        cell.id = f"cell-{place}"
    return _checked(new_notebook(cells=cells, metadata=KERNEL))


def points_of(assignment: Assignment, exercises: Sequence[Exercise]) -> list[Points]:
    """The points of each exercise in this assignment."""
    own = {item.id: item.points for item in assignment.exercises}
    return [own[exercise.id] or exercise.contract.points for exercise in exercises]


def _checked(notebook: NotebookNode) -> NotebookNode:
    nbformat.validate(notebook)
    return notebook


# Cells.


def marker(exercise_id: str) -> str:
    """First line of the cell of an answer."""
    return f"# exercise {exercise_id} (keep this line)"


def stub_cell(exercise: Exercise) -> str:
    """The cell of the answer as students get it."""
    return stub_of(_solution(exercise).source).rstrip("\n")


def _metadata(cell: NotebookNode, grade_id: str, **fields: object) -> NotebookNode:
    flags = {"grade": False, "locked": False, "solution": False, "task": False}
    cell.metadata["nbgrader"] = {"schema_version": 3, "grade_id": grade_id, **flags, **fields}
    cell.id = grade_id
    return cell


def _locked(grade_id: str, cell: NotebookNode) -> NotebookNode:
    return _metadata(cell, grade_id, locked=True)


def _solution(exercise: Exercise) -> NotebookNode:
    cell = new_code_cell(f"{marker(exercise.id)}\n{exercise.solution.strip()}")
    return _metadata(cell, f"{exercise.id}-solution", solution=True)


def _graded(grade_id: str, source: str, points: float) -> NotebookNode:
    return _metadata(new_code_cell(source), grade_id, grade=True, locked=True, points=points)


# Text.


_HOW = (
    "Write each answer into its own cell, the one whose first line names the exercise, and keep that line. Helpers may "
    "have cells of their own: functions, classes, imports and constants are taken along when your work is graded; "
    "other cells are not run. Run the cell of checks below an answer as often as you like. Before you submit, restart "
    "the kernel, run all cells, and save."
)


def about(assignment: Assignment, exercises: Sequence[Exercise], how: str = _HOW) -> str:
    """The first cell: title, due time, what counts, what to do."""
    total = sum(points.total for points in points_of(assignment, exercises))
    when = f"{due_line(assignment)} {number_of(total, 'point')} in all."
    return "\n\n".join([f"# {assignment.title}", when, how])


def due_line(assignment: Assignment) -> str:
    """When it is due, and what being late costs."""
    if not assignment.due:
        return "No due time."
    offset = assignment.due.strftime("%z")
    when = f"{assignment.due:%A, %d %B %Y, %H:%M} (UTC{offset[:3]}:{offset[3:5]})"
    return f"Due {when}. {assignment.late.in_words()}"


def number_of(amount: float, what: str) -> str:
    """ "3 points", "1 point"."""
    return f"{amount:g} {what}{'' if amount == 1 else 's'}"


def statement(exercise: Exercise, points: Points, number: int) -> str:
    """Heading, points and difficulty, the task, a quiz's questions, and the hints, folded."""
    contract = exercise.contract
    kind = "quiz, " if contract.kind == "quiz" else ""
    worth = f"{points.public:g} for the checks below, {points.hidden:g} for checks that are not shown"
    facts = (
        f"{number_of(points.total, 'point')}: {worth}. Difficulty {contract.stars} of 5, about {contract.minutes} min."
    )
    parts = [f"## {number}. {exercise.title}", f"{exercise.id} · {kind}{facts}", exercise.statement]
    for place, (title, question) in enumerate(headed(exercise.contract.questions, exercise.contract.topics), 1):
        parts += [f"**Topic: {title}**"] * bool(title) + [_question(place, question)]
    parts += (
        [_folded("What to read, by topic", reading_list(exercise.contract.topics))] if exercise.contract.topics else []
    )
    parts += [_folded(f"Hint: {_plain(hint.symptom)}", hint.text) for hint in exercise.hints]
    return "\n\n".join(parts)


def _question(place: int, question: Question) -> str:
    options = [
        f"- **{letter}** {textwrap.indent(option.text, '  ').strip()}"
        for letter, option in zip(question.letters, question.options, strict=True)
    ]
    prompt = f"**{place}. `{question.name}`** {question.ask.strip()}"
    return "\n\n".join([prompt, "\n".join(options)]) if options else prompt


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def _plain(text: str) -> str:
    """Markdown's code marks as HTML: a summary is not Markdown."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped)


def _wrong_answers(exercise: Exercise) -> str:
    """Each wrong answer, folded: who refuses it, what its author thought, and how it differs from the reference."""
    parts = [f"**Wrong answers to {exercise.id}, and the check that refuses each**"]
    for answer in exercise.wrong:
        summary = f"<code>{answer.check}</code> refuses: {_plain(answer.misconception)}"
        parts.append(_folded(summary, _difference(answer)))
    return "\n\n".join(parts)


def _difference(answer: Wrong) -> str:
    """The edits of the reference, or the program where it is another one altogether."""
    if not answer.edits:
        return f"```python\n{answer.source.strip()}\n```"
    blocks = "\n\n".join(f"```diff\n{edit.diff}\n```" for edit in answer.edits)
    return f"`{answer.name}`, as an edit of the reference:\n\n{blocks}"


# Checks as cells.


def public_cell(exercise: Exercise) -> str:
    """The public checks with their source, and calls that say of each how it went."""
    checks = [check for check in checks_of(exercise.checks) if not check.hidden]
    parts = [
        f"# Checks of {exercise.id}: run this cell after your answer.",
        exercise.public_checks.strip() + "\n\n",
        *_source_fixture(exercise, checks),
        _calls(
            {check.name: call_of(check, check.name, PUBLIC_SEED) for check in checks}, seeding(exercise, PUBLIC_SEED)
        ),
    ]
    return _free_of_marks(exercise, "\n".join(parts))


def hidden_cell(exercise: Exercise, seed: int) -> str:
    """The hidden checks, in the region that nbgrader takes out of the students' notebook."""
    body = _free_of_marks(exercise, _hidden_body(exercise, seed))
    return f"{_HIDDEN_NOTE}\n{_BEGIN_HIDDEN}\n{body}\n{_END_HIDDEN}"


def _hidden_body(exercise: Exercise, seed: int) -> str:
    """Reference and checks in modules of their own, so that no name of the student's is overwritten."""
    checks = [check for check in checks_of(exercise.checks) if check.hidden]
    calls = {check.name: call_of(check, f"_checks.{check.name}", seed) for check in checks}
    return "\n".join(
        [
            rendered("cells/loader.py.jinja") + "\n",
            f'_reference = _loaded("_reference_of_exercise", {_literal(exercise.reference)})',
            f'_checks = _loaded("_checks_of_exercise", {_literal(exercise.checks)})',
            *_source_fixture(exercise, checks),
            _calls(calls, seeding(exercise, seed)),
        ]
    )


def _literal(source: str) -> str:
    """Source as a string in three quotes, so that a person can still read it."""
    escaped = source.replace("\\", "\\\\").replace("'''", "\\'\\'\\'")
    return f"'''\\\n{escaped}'''"


def call_of(check: Check, function: str, seed: int) -> str:
    """The call of a check, its fixtures filled in."""
    fixtures = {"reference": "_reference", "seed": str(seed), "source": "_source()"}
    return f"{function}({', '.join(fixtures.get(name, name) for name in check.parameters)})"


def _source_fixture(exercise: Exercise, checks: Sequence[Check]) -> list[str]:
    if not any("source" in check.parameters for check in checks):
        return []
    names = repr(list(exercise.names))
    prelude = repr(exercise.prelude)
    return [
        "# These checks run your code in processes of their own, for which torchbook gathers its text. The first cell",
        "# of any of the book's own notebooks installs that package where it is missing.",
        "from torchbook.practice import source_of as _source_of\n",
        f"_source = lambda: _source_of({names}, globals(), {prelude})",
    ]


def seeding(exercise: Exercise, seed: int) -> list[str]:
    """Statements that seed the generators which the exercise imports."""
    imported = _imports(exercise.checks) | _imports(exercise.reference)
    statements = {
        "random": f'__import__("random").seed({seed})',
        "numpy": f'__import__("numpy").random.seed({seed})',
        "torch": f'__import__("torch").manual_seed({seed})',
    }
    return [statement for name, statement in statements.items() if name in imported]


@cache
def _imports(source: str) -> frozenset[str]:
    nodes = list(ast.walk(ast.parse(source)))
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return frozenset(name.partition(".")[0] for name in modules)


def _calls(calls: dict[str, str], seeding: Sequence[str]) -> str:
    """Each check called in turn; the first one refused is raised at the end, by which nbgrader knows."""
    return rendered("cells/calls.py.jinja", calls=calls, seeding=seeding).rstrip()


def _free_of_marks(exercise: Exercise, source: str) -> str:
    """Checks must not hold nbgrader's own marks, which would cut the cell."""
    for mark in ("BEGIN SOLUTION", "END SOLUTION", "BEGIN HIDDEN TESTS", "END HIDDEN TESTS"):
        if mark in source:
            raise AssignmentError(
                f"{exercise.shown}/checks.py:1: the text {mark!r} is nbgrader's own mark; write it in another way"
            )
    return source
