"""Pictures of the prose: each has words for those who do not see it, and a complaint about one names its line.

Of pictures that cells make `reader` says the same.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

_log = logging.getLogger(__name__)
_CELL = "cell_output"  # class of what a cell shows


def _look(app: Sphinx, doctree: nodes.document) -> None:
    for picture in doctree.findall(nodes.image):
        around = _around(picture)
        if not picture.line:  # so that Sphinx, too, says where
            numbered = next((node for node in around if node.line), doctree)
            picture.source, picture.line = numbered.source, numbered.line
        if not picture.get("alt", "").strip() and not any(_CELL in node.get("classes", ()) for node in around):
            what = f"{picture['uri']} has no words for those who do not see it: write ![its words]({picture['uri']})"
            _log.warning(what, location=picture, type="pictures")


def _around(node: nodes.Node) -> list[nodes.Element]:
    """The elements that a node is in, the nearest first."""
    found = []
    while node.parent is not None:
        found.append(node.parent)
        node = node.parent
    return found


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", _look, priority=400)  # before Sphinx looks for the files
