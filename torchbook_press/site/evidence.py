"""Sentences and what they rest on: the roles `{holds}` (measured in this build) and `{cited}` (said elsewhere).

`` {holds}`faster <compile-speedup>` `` marks words by the evidence that a cell recorded under this name; the page fails
to build where there is none, where two have the name, and where no sentence uses one. `` {cited}`words <key>` `` names
a source of `book/sources.yml`. On the page the words carry a quiet mark; pointing at them, tapping or the keyboard's
focus shows the evidence. All of it stands in a list at the page's end, to which the numbers on paper lead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from types import SimpleNamespace

from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole
from sphinx.writers.html5 import HTML5Translator

from torchbook_press import evidence, sources
from torchbook_press.evidence import Evidence
from torchbook_press.normal import own_cells
from torchbook_press.recordings import MARK, Recording, code_hash

_log = logging.getLogger(__name__)
_PAGE = "torchbook_evidence"  # of the page that is being read
_TITLED = re.compile(r"^(?P<words>.*?)\s*<(?P<name>[^<>]+)>$", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?")
_HOLDS, _CITED = "holds", "cited"
_MARK = "torchbook_mark"  # attribute of words in the doctree until it is finished: name, address, entry


@dataclass(frozen=True)
class Found:
    """Evidence on its page: where its cell is, and what other lanes found."""

    evidence: Evidence
    cell: int  # number among all cells
    line: int
    lanes: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        return f"holds-{self.cell}"


class Marked(nodes.Inline, nodes.TextElement):
    """Words that lead to what they rest on. No term among them leads elsewhere: a link holds no other."""


@dataclass(frozen=True)
class Mark:
    """Words of a sentence and what the list at the end says of them."""

    words: str
    entry: str  # HTML


def gather(
    app: Sphinx,
    page: NotebookNode,
    executed: NotebookNode,
    recordings: Sequence[Recording],
    warn: Callable[[str, str, int], None],
) -> None:
    """Keep what the run of a page gave evidence of, for its sentences, which are read after this."""
    lines = page.metadata.get("source_map") or [1] * len(page.cells)
    code = [(number, cell) for number, cell in enumerate(page.cells) if cell.cell_type == "code"]
    found: dict[str, Found] = {}
    for (number, cell), ran in zip(code, own_cells(executed), strict=False):
        for each in evidence.of_cell(cell, ran.outputs, number):
            if each.name in found:
                warn(
                    _HOLDS,
                    f"the evidence {each.name!r} is given twice, first at line {found[each.name].line}",
                    lines[number],
                )
            if "remove-cell" in cell.metadata.get("tags", []):
                warn(_HOLDS, f"no sentence can lead to the evidence {each.name!r}: its cell is removed", lines[number])
            lanes = tuple(_of_lanes(recordings, each.name, cell.source))
            found[each.name] = Found(each, number, lines[number], lanes)
    app.env.temp_data[_PAGE] = found


def _of_lanes(recordings: Sequence[Recording], name: str, source: str) -> Iterator[str]:
    for recording in recordings:
        record = recording.notebook.metadata[MARK].get("holds", {}).get(name)
        if record and record["code"] == code_hash(source):
            yield f"{recording.name}, recorded {recording.run['date']}: {record['said']}"


class _Marking(SphinxRole):
    """A role that marks words by what they rest on: its text is ``words <name>``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        match = _TITLED.match(self.text)
        if match is None:
            return self._refused(self.text, f"name what the words rest on: {{{self.name}}}`words <name>`")
        return self.mark(match["words"], match["name"])

    def mark(self, words: str, name: str) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        raise NotImplementedError

    def _words(self, words: str) -> list[nodes.Node]:
        memo = SimpleNamespace(document=self.inliner.document, reporter=self.inliner.reporter)
        parsed, _ = self.inliner.parse(words, self.lineno, memo, self.inliner.parent)
        return list(parsed)

    def _refused(self, words: str, problem: str) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        _log.warning(problem, location=self.get_location(), type=_HOLDS)
        return self._words(words), []

    def _marked(self, words: str, name: str, address: str, entry: str) -> nodes.inline:
        mark = nodes.inline("", "", *self._words(words), classes=[self.name])
        mark[_MARK] = (name, address, entry)
        return mark


class Holds(_Marking):
    """Words that rest on what a cell of this page measured."""

    def mark(self, words: str, name: str) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        page: dict[str, Found] | None = self.env.temp_data.get(_PAGE)
        if page is None:  # never run, or it cannot run here: the page says so
            return self._words(words), []
        found = page.get(name)
        if found is None:
            known = ", ".join(sorted(page)) or "none"
            return self._refused(words, f"no cell gives the evidence {name!r}, by holds({name!r}, …); known: {known}")
        wrong = disagreeing(words, found.evidence.numbers)
        if wrong:
            return self._refused(words, f"the text says {wrong}, and {name!r} is {found.evidence.said}")
        mark = self._marked(words, name, f"#{found.anchor}", _entry(found))
        if found.evidence.held:
            return [mark], []
        return [mark, nodes.inline("", f" (did not hold in this run: {found.evidence.said})", classes=["unheld"])], []


class Cited(_Marking):
    """Words that rest on what a source says."""

    def mark(self, words: str, name: str) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        book = Path(self.env.app.srcdir)
        self.env.note_dependency(str(sources.path(book)))
        try:
            source = sources.load(book).get(name)
        except sources.SourceError as error:
            return self._refused(words, str(error))
        if source is None:
            return self._refused(words, f"no source {name!r} in {sources.FILE}: add it, with title and date")
        return [self._marked(words, name, source.url or "#evidence", _source_entry(source))], []


def disagreeing(words: str, numbers: Sequence[float]) -> str:
    """The first number in the words that is neither measured nor bound, at the precision in which it is written."""
    for match in _NUMBER.finditer(words):
        text = match[0].replace(",", "")
        decimals = len(text.partition(".")[2])
        percent = words[match.end() :].lstrip().startswith("%") or words[match.end() :].lstrip().startswith("per cent")
        scale = 100.0 if percent else 1.0
        if numbers and not any(round(abs(number) * scale, decimals) == float(text) for number in numbers):
            return match[0]
    return ""


def _entry(found: Found) -> str:
    evidence = found.evidence
    notes = "".join(f", {escape(note)}" for note in evidence.notes)
    unheld = "did not hold: " if not evidence.held else ""
    lanes = "".join(f"; {escape(lane)}" for lane in found.lanes)
    return f'{unheld}{escape(evidence.said)}{notes}, <a href="#{found.anchor}">measured here</a>{lanes}'


def _source_entry(source: sources.Source) -> str:
    title = (
        f'<a class="external" href="{escape(source.url)}">{escape(source.title)}</a>'
        if source.url
        else escape(source.title)
    )
    quote = f"“{escape(source.quote)}” " if source.quote else ""
    return f"{quote}{title}, {escape(source.date)}"


def finish(app: Sphinx, doctree: nodes.document) -> None:
    """Number the marks, put their list at the end, and anchors on the cells they lead to."""
    page: dict[str, Found] = app.env.temp_data.get(_PAGE) or {}
    marks = []
    used = set()
    for number, node in enumerate([node for node in doctree.findall(nodes.inline) if _MARK in node], 1):
        kind = node["classes"][0]
        name, address, entry = node[_MARK]
        marks.append(Mark(node.astext(), entry))
        used |= {name} if kind == _HOLDS else set()
        link = Marked("", "", *node.children, kind=kind, number=number, address=address)
        node.parent.replace(node, link)  # replace_self would hand the class on
    for name, found in page.items():
        if name not in used:
            message = f"no sentence uses the evidence {name!r}: write {{holds}}`words <{name}>`, or assert it plainly"
            _log.warning(message, location=(app.env.docname, found.line), type=_HOLDS)
    anchored = {found.cell: found.anchor for name, found in page.items() if name in used}
    for container in doctree.findall(nodes.container):
        if container.get("nb_element") == "cell_code" and container.get("cell_index") in anchored:
            container["ids"].append(anchored[container["cell_index"]])
    if marks:
        doctree += _raw(_listed(marks))


def _listed(marks: Sequence[Mark]) -> str:
    items = "".join(
        f'<li id="evidence-{number}"><a href="#mark-{number}">{escape(mark.words)}</a>: <span>{mark.entry}</span></li>'
        for number, mark in enumerate(marks, 1)
    )
    title = "What the claims of this page rest on"
    return f'<details class="evidence" id="evidence"><summary>{title}</summary><ol>{items}</ol></details>'


def _open(translator: HTML5Translator, node: Marked) -> None:
    number = node["number"]
    opening = f'<a class="{node["kind"]}" id="mark-{number}" data-n="{number}" href="{escape(node["address"])}">'
    translator.body.append(opening)


def _close(translator: HTML5Translator, node: Marked) -> None:
    translator.body.append("</a>")


def _raw(html: str) -> nodes.raw:
    return nodes.raw("", html, format="html")


def setup(app: Sphinx) -> None:
    app.add_node(Marked, html=(_open, _close))
    app.add_role(_HOLDS, Holds())
    app.add_role(_CITED, Cited())
    app.connect("doctree-read", finish)
