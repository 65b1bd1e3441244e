"""What the reader does on the static page: `{predict}` an answer before the cell runs, tick off a `{checklist}`.

Both work without a kernel; without JavaScript they are a folded answer and a plain list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_OPTION = re.compile(r"^[-*] \[([ xX])\] +(.*)$")


@dataclass(frozen=True)
class Prediction:
    """A question, its options (text, right or not), and the explanation."""

    question: str
    options: tuple[tuple[str, bool], ...]
    answer: str


def parse(question: str, lines: list[str]) -> Prediction:
    """Read the directive's body: a task list of options, a blank line, the explanation.

    Raises:
        ValueError: no question, fewer than two options, no or several right ones, or no explanation.
    """
    options: list[tuple[str, bool]] = []
    rest = list(lines)
    while rest and not rest[0].strip():
        rest.pop(0)
    while rest and rest[0].strip():
        line = rest.pop(0)
        match = _OPTION.match(line.strip())
        if match:
            options.append((match[2].strip(), match[1] != " "))
        elif options:
            text, right = options[-1]
            options[-1] = (f"{text} {line.strip()}", right)
        else:
            raise ValueError("the body starts with options: lines '- [ ] text', the right one '- [x] text'")
    answer = "\n".join(rest).strip()
    if not question.strip():
        raise ValueError("the question is missing: write it after the directive's name")
    if len(options) < 2 or sum(right for _, right in options) != 1:
        raise ValueError("two or more options are needed, exactly one of them '- [x]'")
    if not answer:
        raise ValueError("the explanation is missing: write it below the options, after a blank line")
    return Prediction(question.strip(), tuple(options), answer)


class Predict(SphinxDirective):
    """A radio group with a folded explanation."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    classes: tuple[str, ...] = ("prediction",)

    def run(self) -> list[nodes.Node]:
        try:
            prediction = parse(self.arguments[0], list(self.content))
        except ValueError as error:
            raise self.error(str(error)) from None
        box = nodes.container(classes=list(self.classes))
        box += self._box(prediction)
        return [box]

    def _box(self, prediction: Prediction) -> list[nodes.Node]:
        name = f"predict-{self.env.new_serialno('predict')}"
        body: list[nodes.Node] = [html(f'<fieldset class="predict" id="{name}"><legend>')]
        body += self._inline(prediction.question)
        body.append(html("</legend>"))
        for number, (text, right) in enumerate(prediction.options):
            mark = ' data-right="1"' if right else ""
            body += [html(f'<label><input type="radio" name="{name}"{mark}><span>'), *self._option(number, text)]
            body.append(html("</span></label>"))
        answer = f'<details id="{name}-answer"><summary>Answer</summary>'
        body.append(html(f'<p class="verdict" role="status"></p>{answer}'))
        right_text = next(text for text, right in prediction.options if right)
        body.append(nodes.paragraph("", "", nodes.strong("", "", *self._inline(right_text))))
        body += self.parse_text_to_nodes(prediction.answer)
        body.append(html("</details></fieldset>"))
        return body

    def _option(self, number: int, text: str) -> list[nodes.Node]:
        """What stands beside the button of an option, counted from 0."""
        del number
        return self._inline(text)

    def _inline(self, text: str) -> list[nodes.Node]:
        """Words in a node of their own: a link is printed in a text alone."""
        parsed, problems = self.state.inline_text(text, self.lineno)
        return [nodes.inline("", "", *parsed, *problems)]


class Checklist(SphinxDirective):
    """A list whose ticks are kept in the reader's browser."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        items = self.parse_content_to_nodes()
        if len(items) != 1 or not isinstance(items[0], nodes.bullet_list):
            raise self.error("a checklist holds one bullet list and nothing else")
        return [nodes.container("", *items, classes=["checklist"])]


def html(text: str) -> nodes.Node:
    """Part of the page as it is written."""
    return nodes.raw("", text, format="html")


def setup(app: Sphinx) -> None:
    app.add_directive("predict", Predict)
    app.add_directive("checklist", Checklist)
