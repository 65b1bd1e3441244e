"""Lines of the commands that say what went wrong or is worth knowing: a word in colour, then a text as it is.

Messages quote what others wrote, shapes in brackets among it, so that nothing in them is read as rich's markup.
"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

_ERRORS = Console(stderr=True)


def error(text: object) -> None:
    """Say on stderr what went wrong."""
    _line("error", "red", text)


def note(text: object, word: str = "note", console: Console = _ERRORS) -> None:
    """Say what is worth knowing, after a word: on stderr, or on a console."""
    _line(word, "yellow", text, console)


def _line(word: str, style: str, text: object, console: Console = _ERRORS) -> None:
    console.print(Text.assemble((word, style), " ", str(text)), highlight=False, soft_wrap=True)
