"""How the claims of others stand: a badge at each entry of the errata, and the cell that it rests on.

    {verdict}`refuted <p00-strides>`   leads to a cell that asserts or raises, or to a section that has one
    {verdict}`cited`                   rests on no cell
    {verdicts}`refuted`                for a legend: the badge, and how many entries of the page have it

The build says which badges lead to a place where no cell asserts or raises. Whether it asserts the right thing is the
author's to see.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains import Domain
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import ReferenceRole

from torchbook_press.errors import TAG

SHOWN, UNSHOWN = ("refuted", "in part"), ("cited", "judgement")  # what rests on a cell, and what does not
_ASSERTS = re.compile(r"^\s*assert\b|\b(?:assert_close|holds)\(", re.MULTILINE)
_Roled = tuple[list[nodes.Node], list[nodes.system_message]]
_log = logging.getLogger(__name__)


class _Role(ReferenceRole):
    """What both roles share: the badge, and what they say of a word that is none of theirs."""

    def badge(self, *content: nodes.Node, **attributes: str) -> nodes.inline:
        badge = nodes.inline("", "", *content, classes=["claim", self.title.replace(" ", "-")], **attributes)
        badge.source, badge.line = self.get_source_info()
        return badge

    def refused(self, why: str) -> _Roled:
        _log.warning(f"{why}: {self.rawtext}", location=self.get_location(), type="verdict")
        return [], []


class _Verdict(_Role):
    """The badge of an entry."""

    def run(self) -> _Roled:
        if self.title not in SHOWN + UNSHOWN:
            return self.refused(f"a verdict is one of {', '.join(SHOWN + UNSHOWN)}")
        if self.has_explicit_title != (self.title in SHOWN):
            return self.refused(f"{' and '.join(SHOWN)} lead to a cell, the others to none")
        word = nodes.inline("", self.title)
        if not self.has_explicit_title:
            return [self.badge(word, verdict=self.title)], []
        target = {"refdomain": "std", "reftype": "ref", "reftarget": self.target, "refdoc": self.env.docname}
        leads = addnodes.pending_xref("", word, **target, refexplicit=True, refwarn=True)
        leads.source, leads.line = self.get_source_info()
        return [self.badge(leads, verdict=self.title, place=self.target)], []


class _Verdicts(_Role):
    """The badge in a legend, before the number of its entries, which is known when the page is read."""

    def run(self) -> _Roled:
        if self.title not in SHOWN + UNSHOWN:
            return self.refused(f"a verdict is one of {', '.join(SHOWN + UNSHOWN)}")
        return [self.badge(nodes.inline("", self.title)), nodes.Text(" "), nodes.inline("", "", counts=self.title)], []


class Claims(Domain):
    """Which badges lead where, and the places where a cell asserts or raises."""

    name = "claims"
    label = "Claims"
    data_version = 1
    initial_data: dict[str, Any] = {"badges": {}, "shown": {}}  # noqa: RUF012

    @property
    def badges(self) -> dict[str, list[tuple[int | None, str]]]:
        """Lines and labels of the badges that rest on a cell, by page."""
        badges: dict[str, list[tuple[int | None, str]]] = self.data["badges"]
        return badges

    @property
    def shown(self) -> dict[str, set[str]]:
        """The anchors of cells that assert or raise, and of sections that have one, by page."""
        shown: dict[str, set[str]] = self.data["shown"]
        return shown

    def clear_doc(self, docname: str) -> None:
        self.badges.pop(docname, None)
        self.shown.pop(docname, None)

    def merge_domaindata(self, docnames: Iterable[str], otherdata: dict[str, Any]) -> None:
        for docname in docnames:
            for field in self.data.keys() & otherdata.keys() - {"version"}:
                if docname in otherdata[field]:
                    self.data[field][docname] = otherdata[field][docname]

    def process_doc(self, env: BuildEnvironment, docname: str, document: nodes.document) -> None:
        badges = [node for node in document.findall(nodes.inline) if "verdict" in node]
        numbers = Counter(badge["verdict"] for badge in badges)
        for node in document.findall(nodes.inline):
            if "counts" in node:
                node += nodes.Text(str(numbers[node["counts"]]))
        if leading := [(badge.line, badge["place"]) for badge in badges if "place" in badge]:
            self.badges[docname] = leading
        if shown := set(_places_shown(document)):
            self.shown[docname] = shown

    def check_consistency(self) -> None:
        labels = self.env.get_domain("std").data["anonlabels"]
        for docname, badges in self.badges.items():
            for line, label in badges:
                page, anchor = labels.get(label, ("", ""))
                if page and anchor not in self.shown.get(page, set()):  # of a missing label Sphinx itself tells
                    why = f"a badge leads to {label!r}, where no cell asserts or raises"
                    _log.warning(why, location=(docname, line), type="verdict")

    def resolve_any_xref(self, *_: Any, **__: Any) -> list[tuple[str, nodes.Element]]:
        """Nothing here can be linked to."""
        return []


def _places_shown(document: nodes.document) -> Iterator[str]:
    for cell in document.findall(nodes.container):
        if cell.get("nb_element") == "cell_code" and _shows(cell):
            node: nodes.Node | None = cell
            while isinstance(node, nodes.Element):
                yield from node["ids"] if isinstance(node, nodes.container | nodes.section) else ()
                node = node.parent


def _shows(cell: nodes.container) -> bool:
    code = next(cell.findall(nodes.literal_block), None)
    return TAG in cell["cell_metadata"].get("tags", []) or bool(code and _ASSERTS.search(code.astext()))


def setup(app: Sphinx) -> None:
    app.add_domain(Claims)
    app.add_role("verdict", _Verdict())
    app.add_role("verdicts", _Verdicts())
