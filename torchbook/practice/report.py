"""How a check went, in words for a terminal and as HTML for a notebook.

Neither says anything by colour alone; the HTML sets no colours at all, so that it can be read on light and dark.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

import pydantic
from IPython import get_ipython
from IPython.display import display
from pydantic.dataclasses import dataclass

from torchbook.practice.harness import Outcome

_SIGNS = {"passed": "✓", "unsolved": "○"}
_OTHER_SIGN = "✗"


@dataclass(frozen=True)
class Row:
    """One check: its state (as in `harness.Outcome`), the state and the check in words, and what is to be said."""

    state: str
    word: str
    what: str
    detail: str = ""


@dataclass
class Result:
    """What `check` found. It is true once all checks pass.

    `headline`, `rows` and `advice` (paragraphs) are what is shown; `outcomes` is what the harness said.
    """

    exercise_id: str
    headline: str
    rows: tuple[Row, ...] = ()
    advice: tuple[str, ...] = ()
    outcomes: tuple[Outcome, ...] = ()

    def __post_init__(self) -> None:
        self._shown_in: object = None

    def __bool__(self) -> bool:
        return bool(self.outcomes) and all(outcome.state == "passed" for outcome in self.outcomes)

    def __str__(self) -> str:
        width = max((len(row.word) for row in self.rows), default=0)
        rows = [
            line
            for row in self.rows
            for line in (f"  {row.word:{width}}  {row.what}", *([f"  {'':{width}}  {row.detail}"] * bool(row.detail)))
        ]
        return "\n".join([self.headline, *rows, *self.advice])

    def __repr__(self) -> str:
        return f"<{self.headline}>"

    def _repr_html_(self) -> str:
        rows = "".join(_item(row) for row in self.rows)
        bullets = f'<ul style="list-style: none; padding-left: 0.5em">{rows}</ul>' if rows else ""
        advice = "".join(f"<p>{marked(paragraph)}</p>" for paragraph in self.advice)
        return f'<div role="status"><p><strong>{marked(self.headline)}</strong></p>{bullets}{advice}</div>'

    def show(self) -> None:
        """Display the whole report here and now."""
        self._shown_in = _cell()
        show(str(self), **{"text/html": self._repr_html_()})

    def _ipython_display_(self) -> None:
        # `check` shows its result even where it is not the cell's last line; where it is, once is enough.
        if self._shown_in is None or self._shown_in != _cell():
            show(str(self), **{"text/html": self._repr_html_()})


ResultJson = pydantic.TypeAdapter(Result)


def _item(row: Row) -> str:
    sign = _SIGNS.get(row.state, _OTHER_SIGN)
    detail = f"<br>{marked(row.detail)}" if row.detail else ""
    return f'<li><span aria-hidden="true">{sign}</span> <b>{row.word}</b>: {marked(row.what)}{detail}</li>'


def marked(text: str) -> str:
    """Plain text as HTML, with what stands between backticks as code, and addresses as links."""
    escaped = html.escape(text).replace("\n", "<br>")
    linked = re.sub(r"https://[^\s<`]+[^\s<`.,;:)]", r'<a href="\g<0>">\g<0></a>', escaped)
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", linked)


def count(results: Sequence[object], noun: str) -> str:
    """1 check, 2 checks."""
    return f"{len(results)} {noun}{'s' * (len(results) != 1)}"


def shell() -> Any:
    """The IPython that this code runs in, or None."""
    return get_ipython()


def _cell() -> object:
    ipython = shell()
    return ipython.execution_count if ipython else None


def show(text: str, **forms: str) -> None:
    """Print a text; in a notebook display it, with its other forms by mime type."""
    if shell() is None:
        print(text)
    else:
        display({"text/plain": text, **forms}, raw=True)
