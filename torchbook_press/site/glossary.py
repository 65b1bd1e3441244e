"""Terms of the glossary: the first use of each on a page leads there, and shows its meaning when it is pointed at.

The glossary is a page with Sphinx's `{glossary}`. Its terms are found in running text by themselves, in the singular
and with an s; those that `torchbook_terms_by_hand` lists, which are everyday words too, only where the text says
`` {term}`…` ``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

_PROSE = (
    nodes.document,
    nodes.section,
    nodes.paragraph,
    nodes.bullet_list,
    nodes.enumerated_list,
    nodes.list_item,
    nodes.block_quote,
)


class Term(NamedTuple):
    """A term: its name, where it is explained, and how."""

    name: str
    docname: str
    anchor: str
    meaning: str


class Glossary:
    """The terms of a build, read once all pages are."""

    by_form: dict[str, Term]
    by_place: dict[tuple[str, str], Term]
    pattern: re.Pattern[str] | None

    def __init__(self) -> None:
        self.forget()

    def forget(self, *_: object) -> None:
        """Begin again, when a page may have changed."""
        self.by_form, self.by_place, self.pattern = {}, {}, None

    def read(self, app: Sphinx) -> None:
        """Read all glossaries of the book."""
        self.forget()
        objects = app.env.get_domain("std").get_objects()
        for docname in sorted({docname for _, _, kind, docname, _, _ in objects if kind == "term"}):
            for entry in app.env.get_doctree(docname).findall(addnodes.glossary):
                for item in entry.findall(nodes.definition_list_item):
                    self._add(docname, item)
        by_hand = {form.lower() for form in app.config.torchbook_terms_by_hand}
        self.pattern = pattern_of([form for form in self.by_form if form.lower() not in by_hand])

    def _add(self, docname: str, item: nodes.definition_list_item) -> None:
        terms = list(item.findall(nodes.term))
        paragraph = next(item.findall(nodes.paragraph), None)
        meaning = "" if paragraph is None else " ".join(paragraph.astext().split())
        for node in terms:
            term = Term(terms[0].astext(), docname, node["ids"][0], meaning)
            self.by_form[node.astext()] = self.by_place[docname, node["ids"][0]] = term

    def link(self, app: Sphinx, doctree: nodes.document, docname: str) -> None:
        """Link the first use of each term on a page, and tell every link to a term what it means."""
        if not self.by_form:
            self.read(app)
        seen = {term.name for term in self._explained(app, doctree, docname)}
        if self.pattern is None or any(term.docname == docname for term in self.by_form.values()):
            return
        for text in list(doctree.findall(nodes.Text)):
            if _is_prose(text):
                parts = list(self._parts(app, docname, str(text), seen))
                if len(parts) > 1:
                    text.parent.replace(text, parts)

    def _explained(self, app: Sphinx, doctree: nodes.document, docname: str) -> Iterator[Term]:
        """Give the links that stand in the source their meaning."""
        for reference in list(doctree.findall(nodes.reference)):
            uri = reference.get("refuri", "")
            term = self._at(app, docname, uri)
            if term is not None and reference.next_node(nodes.inline) is not None:
                opening, closing = _anchor(uri, term)
                reference.replace_self([opening, nodes.inline("", reference.astext()), closing])
                yield term

    def _at(self, app: Sphinx, docname: str, uri: str) -> Term | None:
        if "#term-" not in uri:
            return None
        page, _, anchor = uri.partition("#")
        places = (term for (_, term_anchor), term in self.by_place.items() if term_anchor == anchor)
        return next((term for term in places if _page(app, docname, term) == page), None)

    def _parts(self, app: Sphinx, docname: str, text: str, seen: set[str]) -> Iterator[nodes.Node]:
        assert self.pattern is not None
        start = 0
        for match in self.pattern.finditer(text):
            term = self._named(match["form"])
            if term.name in seen:
                continue
            seen.add(term.name)
            yield nodes.Text(text[start : match.start()])
            opening, closing = _anchor(f"{_page(app, docname, term)}#{term.anchor}", term)
            yield opening
            yield nodes.Text(match[0])
            yield closing
            start = match.end()
        yield nodes.Text(text[start:])

    def _named(self, form: str) -> Term:
        return self.by_form.get(form) or self.by_form[form[0].lower() + form[1:]]


def pattern_of(forms: list[str]) -> re.Pattern[str] | None:
    """Finds any of these forms as whole words, the longest first; a small first letter may begin a sentence."""
    if not forms:
        return None
    alternatives = "|".join(_form(form) for form in sorted(forms, key=len, reverse=True))
    return re.compile(rf"(?<![\w.\-/])(?P<form>{alternatives})(?:s|es)?(?![\w\-/(]|\.\w)")


def _form(form: str) -> str:
    first, rest = form[0], re.escape(form[1:]).replace(r"\ ", r"\s+")
    return f"[{first}{first.upper()}]{rest}" if first.islower() else re.escape(first) + rest


def _is_prose(text: nodes.Text) -> bool:
    node = text.parent
    if not isinstance(node, nodes.paragraph):
        return False
    while node is not None:
        if not isinstance(node, _PROSE) or "exercise" in node.get("classes", []):
            return False
        node = node.parent
    return True


def _page(app: Sphinx, docname: str, term: Term) -> str:
    return "" if docname == term.docname else app.builder.get_relative_uri(docname, term.docname)


def _anchor(uri: str, term: Term) -> tuple[nodes.Node, nodes.Node]:
    meaning = f"{term.name}: {term.meaning}" if term.meaning else term.name
    opening = f'<a class="gloss reference internal" href="{escape(uri)}" data-gloss="{escape(meaning)}">'
    return nodes.raw("", opening, format="html"), nodes.raw("", "</a>", format="html")


def setup(app: Sphinx) -> None:
    glossary = Glossary()
    app.add_config_value("torchbook_terms_by_hand", [], "html")
    app.connect("env-updated", glossary.forget)
    app.connect("doctree-resolved", glossary.link)
