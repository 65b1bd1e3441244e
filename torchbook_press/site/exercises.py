"""Exercises on the page: `{exercise}` shows one as a block, `{exercise-list}` all of them as a table.

A block is made from the exercise's folder: heading, facts, statement, stub, hints and solution, both folded. Hidden
checks, wrong answers and what is for instructors alone stay out of it. A quiz is answered on the page itself; below a
self-test stands what to read on each topic. All of it can be read without JavaScript.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains import Domain
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from torchbook.practice import shelf
from torchbook.practice.exercise import Exercise, ExerciseError
from torchbook.practice.quiz import Option, Question, Reading, Topic, headed
from torchbook.practice.quiz_checks import NOT_SURE
from torchbook_press.site.patterns import is_common
from torchbook_press.site.stamp import NEEDS
from torchbook_press.site.tables import cell, table

_log = logging.getLogger(__name__)
_IMPORTANCE = ("optional", "useful", "recommended", "important", "essential")
_COLUMNS = ("Id", "Title", "Chapter", "Stars", "Minutes", "Points", "Kind", "Needs")


# An exercise in words, on the page and in the notebook.


def label(exercise_id: str) -> str:
    """The block's anchor, and its name for `{ref}`."""
    return f"ex-{exercise_id}"


def heading(exercise: Exercise) -> str:
    """ "Exercise 3 · Manual indexing", numbered as the id is."""
    return f"Exercise {exercise.id.rpartition('-x')[2]} · {exercise.title}"


def stars(exercise: Exercise) -> str:
    """The difficulty as five stars, full and empty."""
    return "★" * exercise.contract.stars + "☆" * (5 - exercise.contract.stars)


def stars_in_words(exercise: Exercise) -> str:
    return f"{exercise.contract.stars} of 5 stars"


def needs(exercise: Exercise) -> str:
    """What it takes to run it: machine, then data."""
    return ", ".join([*(NEEDS[need] for need in exercise.contract.needs), *exercise.contract.data])


def facts(exercise: Exercise) -> str:
    """Time, importance and needs, as they stand after the stars."""
    minutes = f"about {exercise.contract.minutes} minute{'' if exercise.contract.minutes == 1 else 's'}"
    return " · ".join((minutes, _IMPORTANCE[exercise.contract.importance - 1], f"needs: {needs(exercise)}"))


def published(exercise_id: str) -> Exercise:
    """An exercise that everyone may see.

    Raises:
        ExerciseError: there is none of that id, it is malformed, or it is for instructors alone.
    """
    exercise = shelf.find(exercise_id)
    if exercise.contract.audience != "everyone":
        raise ExerciseError(f"exercise {exercise_id!r} is for instructors alone; a page of the book cannot show it")
    return exercise


# Where the blocks are.


class Places(Domain):
    """Which page has which exercise, which pages list them, and what their self-tests say to read."""

    name = "practice"
    label = "Exercises"
    data_version = 4
    initial_data: dict[str, Any] = {"blocks": {}, "lists": {}, "maps": {}, "readings": {}}  # noqa: RUF012

    @property
    def blocks(self) -> dict[str, list[tuple[str, int]]]:
        """Pages and lines of each exercise's blocks, by its id."""
        blocks: dict[str, list[tuple[str, int]]] = self.data["blocks"]
        return blocks

    @property
    def lists(self) -> dict[str, list[str]]:
        """The folders of exercises that there were when a page that lists them all was read, by page."""
        lists: dict[str, list[str]] = self.data["lists"]
        return lists

    @property
    def maps(self) -> dict[str, list[str]]:
        """What pages that say what chapters take showed of them when they were read, by page."""
        maps: dict[str, list[str]] = self.data["maps"]
        return maps

    @property
    def readings(self) -> dict[str, list[tuple[int, str, Reading]]]:
        """Line, exercise and what to read, of each page with a self-test."""
        readings: dict[str, list[tuple[int, str, Reading]]] = self.data["readings"]
        return readings

    def clear_doc(self, docname: str) -> None:
        self.lists.pop(docname, None)
        self.maps.pop(docname, None)
        self.readings.pop(docname, None)
        for exercise_id, places in list(self.blocks.items()):
            self.blocks[exercise_id] = [place for place in places if place[0] != docname]

    def merge_domaindata(self, docnames: Iterable[str], otherdata: dict[str, Any]) -> None:
        self.lists.update({name: otherdata["lists"][name] for name in docnames if name in otherdata["lists"]})
        self.maps.update({name: otherdata["maps"][name] for name in docnames if name in otherdata["maps"]})
        self.readings.update({page: otherdata["readings"][page] for page in docnames if page in otherdata["readings"]})
        for exercise_id, places in otherdata["blocks"].items():
            mine = self.blocks.setdefault(exercise_id, [])
            mine += [place for place in places if place[0] in docnames]

    def check_consistency(self) -> None:
        self._complain_about_twice()
        for docname, readings in self.readings.items():
            for line, exercise_id, reading in readings:
                wrong = self._wrong_with(reading)
                if wrong:
                    message = f"exercise {exercise_id} says to read {reading.title!r}, but {wrong}"
                    _log.warning(message, location=(docname, line), type="practice", subtype="reading")

    def _wrong_with(self, reading: Reading) -> str:
        """Why a page of the book cannot be linked to; "" if it can."""
        if reading.page not in self.env.found_docs:
            return f"there is no page {reading.page}"
        if reading.section and reading.section not in self._sections(reading.page):
            return f"{reading.page} has no section {reading.section!r}"
        return ""

    def _sections(self, docname: str) -> set[str]:
        entries = self.env.tocs[docname].findall(nodes.reference)
        return {entry["anchorname"].removeprefix("#") for entry in entries if "anchorname" in entry}

    def _complain_about_twice(self) -> None:
        for exercise_id, places in self.blocks.items():
            for docname, line in places[1:]:
                path = self.env.doc2path(places[0][0], base=False)
                message = f"exercise {exercise_id} is at {path}:{places[0][1]} already; an exercise has one place"
                _log.warning(message, location=(docname, line), type="practice", subtype="twice")

    def resolve_any_xref(self, *_: Any, **__: Any) -> list[tuple[str, nodes.Element]]:
        """Blocks are found as labels of the standard domain."""
        return []

    def page_of(self, exercise_id: str) -> str | None:
        """The page with the exercise's block."""
        return next((docname for docname, _ in self.blocks.get(exercise_id, [])), None)


def places_in(env: BuildEnvironment) -> Places:
    """The book's exercises and the pages that show or list them."""
    places = env.get_domain(Places.name)
    assert isinstance(places, Places)
    return places


# One exercise.


class ExerciseBlock(SphinxDirective):
    """`:::{exercise} p01-x3`: the whole exercise."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        exercise = self._exercise()
        for path in sorted(exercise.folder.iterdir()):
            if path.is_file() and path.name != "wrong.md":  # wrong answers and variants are on no page
                self.env.note_dependency(str(path))
        places_in(self.env).blocks.setdefault(exercise.id, []).append((self.env.docname, self.lineno))
        name = label(exercise.id)
        block = nodes.section("", ids=[name], names=[name], classes=["exercise"])
        block += nodes.title(heading(exercise), "", *self._inline(heading(exercise)))
        block += _facts(exercise)
        block += self.parse_text_to_nodes(exercise.statement)
        block += self._questions(exercise) if exercise.contract.kind == "quiz" else self._task(exercise)
        self.state.document.note_explicit_target(block, block)
        return [block]

    def _exercise(self) -> Exercise:
        try:
            return published(self.arguments[0])
        except ExerciseError as error:
            raise self.error(str(error)) from None

    def _task(self, exercise: Exercise) -> list[nodes.Node]:
        return [
            _code(exercise.stub),
            _how_to_check(exercise),
            *self._hints(exercise),
            *_folded(f"{label(exercise.id)}-solution", "Solution", [_code(exercise.reference)]),
        ]

    def _hints(self, exercise: Exercise) -> list[nodes.Node]:
        hints: list[nodes.Node] = []
        for number, hint in enumerate(exercise.hints, 1):
            title = [nodes.Text("Hint: "), *self._inline(hint.symptom)]
            hints += _folded(f"{label(exercise.id)}-hint-{number}", title, self.parse_text_to_nodes(hint.text))
        return hints

    def _inline(self, text: str) -> list[nodes.Node]:
        parsed, problems = self.state.inline_text(text, self.lineno)
        return [*parsed, *problems]

    # A quiz.

    def _questions(self, exercise: Exercise) -> list[nodes.Node]:
        content: list[nodes.Node] = []
        for number, (title, question) in enumerate(headed(exercise.contract.questions, exercise.contract.topics), 1):
            name = f"{exercise.id}.{question.name}"
            if title:
                content.append(nodes.paragraph("", "", *self._inline(title), classes=["topic"]))
            first, *rest = self.parse_text_to_nodes(question.ask)
            if not isinstance(first, nodes.paragraph):
                raise self.error(f"{exercise.shown}/exercise.md: {question.name}: `ask` begins with a sentence")
            patterns = f" data-accept='{escape(json.dumps(self._common(exercise, question)))}'"
            about = f' data-about="{question.topic}"' if question.topic else ""
            anchor = f'id="{label(exercise.id)}-question-{question.name}"'
            marks = f'{anchor} data-question="{name}"{about}{patterns if question.accept else ""}'
            content.append(_html(f"<fieldset {marks}><legend>"))
            words = [
                nodes.Text(f"{number}. "),
                *first.children,
            ]  # in a node of their own: a link needs a text around it
            content += [nodes.inline("", "", *words), _html("</legend>"), *rest]
            content += self._choice(exercise, question, name) if question.options else self._typed(exercise, question)
        if exercise.contract.topics:
            content += self._result(exercise)
        return [nodes.container("", *content, classes=["quiz"]), *self._hints(exercise), _how_to_check(exercise)]

    def _result(self, exercise: Exercise) -> list[nodes.Node]:
        """Below a self-test: its topics, each with what to read. A script writes into it what was known."""
        content = [_html('<div class="result"><p role="status">'), nodes.Text("What to read on each topic:")]
        content.append(_html("</p><ul>"))
        for topic in exercise.contract.topics:
            content += self._topic(exercise, topic)
        return [*content, _html('</ul><p><button type="button">Start again</button></p></div>')]

    def _topic(self, exercise: Exercise, topic: Topic) -> list[nodes.Node]:
        content: list[nodes.Node] = [_html(f'<li data-topic="{topic.name}"><p><strong>'), *self._inline(topic.title)]
        content.append(_html('</strong><span class="known"></span></p><ul class="readings">'))
        for reading in topic.read:
            if reading.page:
                places_in(self.env).readings.setdefault(self.env.docname, []).append(
                    (self.lineno, exercise.id, reading)
                )
            link = _read("", "", *self._inline(reading.title), reading=reading)
            content += [_html("<li>"), nodes.paragraph("", "", link), _html("</li>")]
        return [*content, _html("</ul></li>")]

    def _choice(self, exercise: Exercise, question: Question, name: str) -> list[nodes.Node]:
        choices: list[nodes.Node] = []
        for letter, option in zip(question.letters, question.options, strict=True):
            right = ' data-right="1"' if option.right else ""
            choices.append(_html(f'<label><input type="radio" name="{name}" value="{letter}"{right}><span>'))
            choices += [nodes.inline("", "", *self._inline(option.text)), _html("</span></label>")]
        if question.topic:
            unsure = f'<input type="radio" name="{name}" value="{NOT_SURE}"><span>Not sure</span>'
            choices.append(_html(f'<label class="not-sure">{unsure}</label>'))
        answers: list[nodes.Node] = []
        pairs: list[tuple[str, Option]] = list(zip(question.letters, question.options, strict=True))
        for letter, option in sorted(pairs, key=lambda pair: not pair[1].right):
            term = [*([nodes.Text("Right: ")] if option.right else []), *self._inline(option.text)]
            answers += self._reason(term, f'data-option="{letter}"', option.why)
        return [*choices, *_verdict(answers)]

    def _typed(self, exercise: Exercise, question: Question) -> list[nodes.Node]:
        field = '<input type="text" aria-label="Your answer" maxlength="200" autocomplete="off" spellcheck="false">'
        term: list[nodes.Node] = [nodes.Text("Right, for example: "), nodes.literal("", question.example)]
        answers = self._reason(term, 'data-option="right"', question.why)
        for tempting in question.tempting:
            match = f'data-match="{escape(tempting.match)}"'
            answers += self._reason([nodes.literal("", tempting.example)], match, tempting.why)
        unsure = '<button type="button" class="not-sure">Not sure</button>' if question.topic else ""
        return [_html(f'<p class="typed">{field}<button type="button">Check</button>{unsure}</p>'), *_verdict(answers)]

    def _reason(self, term: list[nodes.Node], marks: str, why: str) -> list[nodes.Node]:
        return [_html("<dt>"), *term, _html(f"</dt><dd {marks}>"), *self.parse_text_to_nodes(why), _html("</dd>")]

    def _common(self, exercise: Exercise, question: Question) -> list[str]:
        for pattern in (*question.accept, *(tempting.match for tempting in question.tempting)):
            if not is_common(pattern):
                raise self.error(
                    f"{exercise.shown}/exercise.md: {question.name}: a browser may read {pattern!r} in another "
                    "way than Python: use literals, classes, groups, (?=, (?!, | and * + ? {m,n}"
                )
        return list(question.accept)


def _facts(exercise: Exercise) -> nodes.Node:
    rating = f'<span role="img" aria-label="{stars_in_words(exercise)}">{stars(exercise)}</span>'
    kind = "quiz · " if exercise.contract.kind == "quiz" else ""
    return nodes.paragraph("", "", _html(rating), nodes.Text(f" · {kind}{facts(exercise)}"), classes=["exercise-facts"])


def _how_to_check(exercise: Exercise) -> nodes.Node:
    call, command = f'check("{exercise.id}")', f"torchbook check {exercise.id} my.py"
    parts = [
        nodes.Text("In Python: " if exercise.contract.kind == "quiz" else "Check it: "),
        nodes.literal("", call, classes=["code"]),
        nodes.Text(" in the notebook, or "),
        nodes.literal("", command, classes=["code"]),
        nodes.Text(" in a terminal."),
    ]
    return nodes.paragraph("", "", *parts, classes=["exercise-check"])


def _code(source: str) -> nodes.Node:
    return nodes.literal_block(source.rstrip(), source.rstrip(), language="python")


def _folded(name: str, title: str | list[nodes.Node], body: list[nodes.Node]) -> list[nodes.Node]:
    summary = [nodes.Text(title)] if isinstance(title, str) else title
    return [
        _html(f'<details class="fold" id="{name}"><summary>'),
        *summary,
        _html("</summary>"),
        *body,
        _html("</details>"),
    ]


def _verdict(answers: list[nodes.Node]) -> list[nodes.Node]:
    head = '<div class="verdict" role="status"></div><details><summary>Answer</summary><dl>'
    return [_html(head), *answers, _html("</dl></details></fieldset>")]


def _html(text: str) -> nodes.Node:
    return nodes.raw("", text, format="html")


# All exercises.


class _link(nodes.inline):  # noqa: N801
    """An exercise's id in the table: a link once it is known which page has the block."""


class _read(nodes.inline):  # noqa: N801
    """What a self-test says to read: a link once it is known where its page is."""


class ExerciseList(SphinxDirective):
    """`:::{exercise-list}`: a table of all exercises that everyone may see."""

    def run(self) -> list[nodes.Node]:
        try:
            exercises = listed(self.env)
        except ExerciseError as error:
            raise self.error(str(error)) from None
        return [table(_COLUMNS, [_row(exercise) for exercise in sorted(exercises, key=_in_order)])]


def listed(env: BuildEnvironment) -> list[Exercise]:
    """All exercises that everyone may see, for a page that lists them: it is read again when they change.

    Raises:
        ExerciseError: one of them is malformed, or there is no such folder.
    """
    folders = _folders()
    places_in(env).lists[env.docname] = folders
    for folder in folders:
        env.note_dependency(f"{folder}/exercise.md")
    return [exercise for exercise in shelf.shelf().values() if exercise.contract.audience == "everyone"]


def _folders() -> list[str]:
    return sorted(map(str, shelf.folders().values()))


def _in_order(exercise: Exercise) -> tuple[str, int]:
    chapter, _, number = exercise.id.rpartition("-x")
    return chapter, int(number)


def _row(exercise: Exercise) -> list[nodes.Node]:
    points = exercise.contract.points
    rating = nodes.raw("", f'<span role="img" aria-label="{stars_in_words(exercise)}">{stars(exercise)}</span>')
    rating["format"] = "html"
    link = nodes.paragraph("", "", _link("", exercise.id, exercise=exercise.id))
    details = (
        str(exercise.contract.minutes),
        f"{points.public:g} + {points.hidden:g}",
        exercise.contract.kind,
        needs(exercise),
    )
    return [
        link,
        cell(exercise.title),
        cell(exercise.contract.chapter),
        nodes.paragraph("", "", rating),
        *map(cell, details),
    ]


def _resolve(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for place in list(doctree.findall(_read)):
        reading: Reading = place["reading"]
        address = reading.url or app.builder.get_relative_uri(docname, reading.page)
        if reading.section:
            address += f"#{reading.section}"
        place.replace_self(nodes.reference("", "", *place.children, internal=bool(reading.page), refuri=address))
    for node in list(doctree.findall(_link)):
        page = places_in(app.env).page_of(node["exercise"])
        text = nodes.literal("", node["exercise"])
        if page is None:
            node.replace_self(text)
            continue
        address = f"{app.builder.get_relative_uri(docname, page)}#{label(node['exercise'])}"
        node.replace_self(nodes.reference("", "", text, internal=True, refuri=address))


def _lists_again(app: Sphinx, env: BuildEnvironment, *_: object) -> list[str]:
    """Pages with a list, when an exercise came or went: a folder that is new is no file that Sphinx could watch."""
    try:
        folders = _folders()
    except ExerciseError:
        folders = []  # the pages say it
    return [docname for docname, former in places_in(env).lists.items() if former != folders]


def setup(app: Sphinx) -> None:
    app.add_domain(Places)
    app.add_node(_link)
    app.add_node(_read)
    app.add_directive("exercise", ExerciseBlock)
    app.add_directive("exercise-list", ExerciseList)
    app.connect("doctree-resolved", _resolve)
    app.connect("env-get-outdated", _lists_again)
