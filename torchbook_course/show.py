"""Text of students, shown: what a terminal, a browser or a spreadsheet would obey is written out."""

from __future__ import annotations

import unicodedata

_KEPT = "\n\t\u200d"  # the last joins the parts of an emoji


def printable(text: str) -> str:
    """Text with control characters and those that turn the direction of writing as escapes, such as `\\u202e`."""
    return "".join(_escape(c) if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in _KEPT else c for c in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
