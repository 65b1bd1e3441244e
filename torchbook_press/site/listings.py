"""Listings without what nobody sees: names, punctuation and spaces have the colour of plain text, and get no element.

Of a page with much code these are an eighth of its bytes, and most of its elements.
"""

from __future__ import annotations

from pygments.formatters import HtmlFormatter
from pygments.token import Name, Punctuation, Text, Whitespace, _TokenType
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

_PLAIN = {Name, Punctuation, Text, Whitespace}


class Listing(HtmlFormatter):
    """Pygments' HTML, in which only what differs from plain text is marked."""

    def _get_css_class(self, ttype: _TokenType) -> str:
        return "" if ttype in _PLAIN else str(super()._get_css_class(ttype))


def setup(app: Sphinx) -> None:
    PygmentsBridge.html_formatter = Listing
