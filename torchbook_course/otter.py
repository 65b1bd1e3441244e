"""An assignment as the source of `otter assign` (Otter-Grader 7), for courses that grade with it.

Each check becomes one test in Otter's exception-based format, which hands a test the student's names by its parameters
and, unlike the default format, does not fail an answer that prints. Otter runs all of it, notebook, tests and
reference, in one process without a time limit: what `torchbook course grade` says of its sandbox holds for none of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

from torchbook.practice.exercise import BEGIN, END, FIXTURES, INSTEAD, Exercise, Points, replaced
from torchbook.practice.harness import Check, checks_of
from torchbook_course.assignment import Assignment
from torchbook_course.notebooks import KERNEL, PUBLIC_SEED, about, call_of, points_of, seeding, statement
from torchbook_course.templating import rendered


def cannot(exercise: Exercise) -> str:
    """Why Otter cannot grade an exercise; nothing if it can."""
    if any("source" in check.parameters for check in checks_of(exercise.checks)):
        return f"{exercise.id} is not in the Otter notebook: its checks need the text of the answer, which Otter loses"
    return ""


def otter_notebook(assignment: Assignment, exercises: Sequence[Exercise]) -> NotebookNode:
    """The notebook that `otter assign` reads; exercises that Otter cannot grade are left out."""
    gradable = [pair for pair in zip(exercises, points_of(assignment, exercises), strict=True) if not cannot(pair[0])]
    head = about(assignment, [exercise for exercise, _ in gradable], _HOW)
    cells = [new_raw_cell(rendered("cells/otter.yml.jinja", name=assignment.name).rstrip()), new_markdown_cell(head)]
    for number, (exercise, points) in enumerate(gradable, 1):
        cells += _question(exercise, points, number, assignment.seed)
    for place, cell in enumerate(cells):
        cell.id = f"cell-{place}"
    notebook = new_notebook(cells=cells, metadata=KERNEL)
    nbformat.validate(notebook)
    return notebook


_HOW = "Write each answer into its own cell, and run the check below it as often as you like."


def _question(exercise: Exercise, points: Points, number: int, seed: int) -> list[NotebookNode]:
    checks = checks_of(exercise.checks)
    shares = {hidden: sum(check.hidden is hidden for check in checks) for hidden in (False, True)}
    tests = []
    for check in checks:
        worth = (points.hidden if check.hidden else points.public) / shares[check.hidden]
        tests.append(new_code_cell(_test(exercise, check, worth, seed if check.hidden else PUBLIC_SEED)))
    return [
        new_raw_cell(f"# BEGIN QUESTION\nname: {_name(exercise)}"),
        new_markdown_cell(statement(exercise, points, number)),
        new_raw_cell("# BEGIN SOLUTION"),
        new_code_cell(_solution(exercise)),
        new_raw_cell("# END SOLUTION"),
        new_raw_cell("# BEGIN TESTS"),
        *tests,
        new_raw_cell("# END TESTS"),
        new_raw_cell("# END QUESTION"),
    ]


def _name(exercise: Exercise) -> str:
    return exercise.id.replace("-", "_")


def _solution(exercise: Exercise) -> str:
    """The reference in Otter's marks, the stub's own words as its prompt."""
    lines: list[str] = []
    answer: list[str] = []
    for line in exercise.solution.strip().splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        if line.strip() == BEGIN:
            answer = [f"{indent}# BEGIN SOLUTION NO PROMPT"]
        elif line.strip() == END:
            lines += [*_above_instead(answer), f"{indent}# END SOLUTION", *_prompt(indent, replaced(answer))]
            answer = []
        else:
            (answer or lines).append(line)
    return "\n".join(lines)


def _above_instead(answer: Sequence[str]) -> Sequence[str]:
    marks = [line.strip() for line in answer]
    return answer[: marks.index(INSTEAD)] if INSTEAD in marks else answer


def _prompt(indent: str, instead: Sequence[str] | None) -> list[str]:
    """What students find where the answer was."""
    if instead is None:
        instead = [f"{indent}# your code here"] + [f"{indent}raise NotImplementedError"] * bool(indent)
    return [f'{indent}""" # BEGIN PROMPT', *instead, f'{indent}""" # END PROMPT'] if instead else []


def _test(exercise: Exercise, check: Check, points: float, seed: int) -> str:
    names = [name for name in check.parameters if name not in FIXTURES]
    body = ["import sys, types", "checks = sys.modules['_checks'] = types.ModuleType('_checks')"]
    body.append(f"exec({(exercise.checks if check.hidden else exercise.public_checks)!r}, vars(checks))")
    if "reference" in check.parameters:
        body.append("_reference = sys.modules['_reference'] = types.ModuleType('_reference')")
        body.append(f"exec({exercise.reference!r}, vars(_reference))")
    body += [f"assert {name} is not None, '`{name}` is not defined'" for name in names]
    body += [*seeding(exercise, seed), call_of(check, f"checks.{check.name}", seed)]
    indented = "".join(f"    {line}\n" for line in body)
    config = (
        f'""" # BEGIN TEST CONFIG\npoints: {points:.6g}\nhidden: {str(check.hidden).lower()}\n""" # END TEST CONFIG'
    )
    return f"{config}\ndef {check.name}({', '.join(names)}):\n{indented}".rstrip()
