"""Listings without what nobody sees, and highlighted once.

Names, punctuation and spaces have the colour of plain text, and get no element: of a page with much code these are an
eighth of its bytes, and most of its elements. A page that is written again takes its listings from the build before,
where their text is the same.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import Any

import pygments
from ipython_pygments_lexers import IPython3Lexer
from pygments.formatters import HtmlFormatter
from pygments.lexer import bygroups, inherit, using
from pygments.lexers import Python3Lexer
from pygments.token import Keyword, Name, Operator, Punctuation, Text, Whitespace, _TokenType
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

from torchbook_proofs import digest

_PLAIN = {Name, Punctuation, Text, Whitespace}
_FILE = "listings.pickle"  # in the folder of doctrees


class Listing(HtmlFormatter):
    """Pygments' HTML, in which only what differs from plain text is marked."""

    def _get_css_class(self, ttype: _TokenType) -> str:
        return "" if ttype in _PLAIN else str(super()._get_css_class(ttype))


class Cells(IPython3Lexer):
    """IPython's code, in which a cell of `%%ranks` is the Python that it is."""

    tokens = {  # noqa: RUF012 - as Pygments has it
        "root": [
            (r"(?s)(%%)(ranks)([^\n]*\n)(.*)", bygroups(Operator, Keyword, Text, using(Python3Lexer))),
            inherit,
        ]
    }


class Bridge(PygmentsBridge):
    """Sphinx's highlighter, which remembers the listings of each page for the next build."""

    def __init__(self, app: Sphinx, plain: PygmentsBridge) -> None:
        super().__init__(plain.dest)
        self.formatter_args = plain.formatter_args
        self._app = app
        self._path = Path(app.doctreedir) / _FILE
        self._salt = f"{digest(Path(__file__))} {pygments.__version__}"
        self._now: dict[str, dict[str, str]] = defaultdict(dict)

    @cached_property
    def _before(self) -> dict[str, dict[str, str]]:
        """The HTML of each page's listings, by the digest of what it was made from."""
        try:
            kept = pickle.loads(self._path.read_bytes())
        except (OSError, EOFError, pickle.UnpicklingError):
            return {}
        return dict(kept["pages"]) if kept["salt"] == self._salt else {}

    def highlight_block(
        self,
        source: str,
        lang: str,
        opts: dict[str, Any] | None = None,
        force: bool = False,
        location: Any = None,
        **kwargs: Any,
    ) -> str:
        page = self._app.builder.current_docname  # type: ignore[attr-defined]
        key = hashlib.sha256(repr((source, lang, opts, force, kwargs)).encode()).hexdigest()
        html = self._before.get(page, {}).get(key) or self._now[page].get(key)
        if html is None:
            html = super().highlight_block(source, lang, opts, force, location, **kwargs)
        self._now[page][key] = html
        return html

    def save(self) -> None:
        """Keep the listings of all pages for the next build."""
        part = self._path.with_suffix(".part")
        part.write_bytes(pickle.dumps({"salt": self._salt, "pages": {**self._before, **self._now}}))
        os.replace(part, self._path)


def _begin(app: Sphinx) -> None:
    if app.builder.format == "html":
        app.builder.highlighter = Bridge(app, app.builder.highlighter)  # type: ignore[attr-defined]


def _end(app: Sphinx, exception: Exception | None) -> None:
    highlighter = getattr(app.builder, "highlighter", None)
    if isinstance(highlighter, Bridge) and not exception:
        highlighter.save()


def setup(app: Sphinx) -> None:
    PygmentsBridge.html_formatter = Listing
    app.add_lexer("ipython3", Cells)
    app.connect("builder-inited", _begin)
    app.connect("build-finished", _end)
