"""`{hunts} p01`: the bug hunts of a chapter, each a prediction below a program (`torchbook.practice.hunts`).

A wrong answer shows most of a solution, so the hunts of an exercise are folded until the reader opens them. They are
kept, judged and moved through as predictions are (`web/activities.js`), and no search comes upon them.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby

from docutils import nodes
from sphinx.application import Sphinx

from torchbook.practice import shelf
from torchbook.practice.errors import ExerciseError
from torchbook.practice.hunts import FILE, Hunt, hunts
from torchbook.practice.learner import spoken
from torchbook.practice.report import count
from torchbook_press.site.activities import Predict, Prediction, html
from torchbook_press.site.exercises import label


class Hunts(Predict):
    """The hunts of one chapter, by exercise."""

    has_content = False
    classes = ("prediction", "hunt")

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(shelf.clone() / FILE))
        try:
            found = hunts(self.arguments[0])
        except ExerciseError as error:
            raise self.error(str(error)) from None
        return [node for _, group in groupby(found, lambda one: one.exercise.id) for node in self._exercise([*group])]

    def _exercise(self, found: list[Hunt]) -> list[nodes.Node]:
        exercise = found[0].exercise
        for name in ("solution.py", "wrong.md", "checks.py"):
            self.env.note_dependency(str(exercise.folder / name))
        summary = f"{escape(exercise.title)}: {count(found, 'hunt')}"
        body: list[nodes.Node] = [html(f'<details class="hunts" id="hunts-{exercise.id}"><summary>{summary}</summary>')]
        body += self.parse_text_to_nodes(
            f"A hunt shows most of a solution of {{ref}}`{exercise.id} <{label(exercise.id)}>`: solve it first."
        )
        for number, one in enumerate(found, 1):
            body += self._hunt(number, one)
        return [*body, html("</details>")]

    def _hunt(self, number: int, one: Hunt) -> Iterator[nodes.Node]:
        yield nodes.paragraph("", "", *self._inline(f"The task: {one.task}"), classes=["hunt-task"])
        yield _listing(one.shown, "python3")
        options = tuple((words, check == one.check) for check, words in zip(one.choices, one.spoken, strict=True))
        question = f"{one.exercise.id}, hunt {number}: which of these checks refuses this program?"
        box = nodes.container(classes=list(self.classes))
        box += self._box(Prediction(question, options, _why(one)))
        yield box


def _listing(text: str, language: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language=language)


def _why(one: Hunt) -> str:
    """The explanation, as Markdown."""
    return (
        f"The program {one.thought}. {one.why}\n\nOf these checks only “{spoken(one.check)}” refuses it. What a right "
        f"answer has instead stands behind the minus signs:\n\n```diff\n{one.diff}\n```\n\n"
        f"The exercise: {{ref}}`{one.exercise.title} <{label(one.exercise.id)}>`, below the sections that teach it."
    )


def setup(app: Sphinx) -> None:
    app.add_directive("hunts", Hunts)
