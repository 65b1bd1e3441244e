"""Words that set a figure of their page: the role `` {sets}`after .t() <strides:transpose>` ``.

Behind the words stands the figure's `link` and one of its presets, or a state as JSON: `` <strides {"step": 3}> ``. On
the page they are a link that the figure follows; on paper, in notebooks and in the EPUB they are plain words. Which
states a figure takes its own module knows: the tour of the built site follows each link and sees whether it answers.
"""

from __future__ import annotations

import base64
import json
import re

from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from torchbook_press.normal import widget_models

_log = logging.getLogger(__name__)
_NAME = "sets"
_PAGE = "torchbook_links"  # names of the figures of the page that is being read
_PARTS = re.compile(r"^(?P<words>.*?)\s*<(?P<figure>[\w-]+)(?::(?P<preset>[\w-]+)|\s+(?P<state>\{.*\}))>$", re.DOTALL)


def note_links(app: Sphinx, executed: NotebookNode) -> None:
    """Keep the names of a page's figures for its sentences, which are read after this."""
    app.env.temp_data[_PAGE] = {model["state"].get("link") for model in widget_models(executed).values()} - {None, ""}


def address(figure: str, preset: str | None, state: str | None) -> str:
    """What the address bar says of a figure's state; the same as `hashOf` in torchbook/viz/src/core/permalink.js.

    Raises:
        ValueError: the state is no JSON.
    """
    if preset:
        return f"#tbviz-{figure}:{preset}"
    text = json.dumps(json.loads(state or ""), separators=(",", ":"), ensure_ascii=False)
    return f"#tbviz-{figure}={base64.urlsafe_b64encode(text.encode()).decode().rstrip('=')}"


class Sets(SphinxRole):
    """Words that lead to a state of a figure."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        match = _PARTS.match(self.text)
        if match is None:
            return self._refused(self.text, f"write {{{_NAME}}}`words <figure:preset>`, or a state as JSON")
        words, figure = match["words"], match["figure"]
        known: set[str] | None = self.env.temp_data.get(_PAGE)
        if known is not None and figure not in known:
            names = ", ".join(sorted(known)) or "none"
            return self._refused(words, f"no figure of this page has link={figure!r}; known: {names}")
        try:
            refuri = address(figure, match["preset"], match["state"])
        except ValueError as error:
            return self._refused(words, f"the state of {figure!r} is no JSON: {error}")
        return [nodes.reference("", words, refuri=refuri, internal=True, classes=[_NAME])], []

    def _refused(self, words: str, problem: str) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        _log.warning(problem, location=self.get_location(), type=_NAME)
        return [nodes.Text(words)], []


def setup(app: Sphinx) -> None:
    app.add_role(_NAME, Sets())
