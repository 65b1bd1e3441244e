"""An exercise as cells of the published notebook: statement with folded hints, stub, check."""

from __future__ import annotations

import textwrap

import nbformat
from markdown_it import MarkdownIt
from nbformat import NotebookNode

from torchbook.practice.exercise import Exercise
from torchbook.practice.quiz import Question, headed, reading_list
from torchbook_press.site.exercises import facts, heading, stars, stars_in_words

_INLINE = MarkdownIt("commonmark")


def practice_cells(exercise: Exercise) -> list[NotebookNode]:
    """Three cells with stable ids: `<id>-statement`, `<id>-stub` and `<id>-check`; the solution comes on demand."""
    cells = (
        ("statement", nbformat.v4.new_markdown_cell(_statement(exercise))),
        ("stub", nbformat.v4.new_code_cell(exercise.stub.rstrip())),
        ("check", nbformat.v4.new_code_cell(_check(exercise.id))),
    )
    for name, cell in cells:
        cell.id = f"{exercise.id}-{name}"
    return [cell for _, cell in cells]


def _statement(exercise: Exercise) -> str:
    parts = [
        f"### {heading(exercise)}",
        f"{stars(exercise)} ({stars_in_words(exercise)}) · {facts(exercise)}",
        exercise.statement,
        *_questions(exercise),
        *(
            [_details("What to read, by topic", reading_list(exercise.contract.topics))]
            if exercise.contract.topics
            else []
        ),
        *(_details(f"Hint: {_INLINE.renderInline(hint.symptom)}", hint.text) for hint in exercise.hints),
    ]
    return "\n\n".join(parts)


def _questions(exercise: Exercise) -> list[str]:
    blocks = []
    for number, (title, question) in enumerate(headed(exercise.contract.questions, exercise.contract.topics), 1):
        blocks += [f"**Topic: {title}**"] * bool(title) + [_question(number, question)]
    return blocks


def _question(number: int, question: Question) -> str:
    options = [
        f"- **{letter}** {textwrap.indent(option.text, '  ').strip()}"
        for letter, option in zip(question.letters, question.options, strict=True)
    ]
    return "\n\n".join(
        [f"**Question {number}, `{question.name}`**", question.ask.strip(), *["\n".join(options)] * bool(options)]
    )


def _details(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def _check(exercise_id: str) -> str:
    return (
        "from torchbook.practice import check, hint, solution\n\n"
        f'check("{exercise_id}")  # stuck: hint("{exercise_id}"); to compare: solution("{exercise_id}")'
    )
