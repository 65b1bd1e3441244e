"""TeX formulas as MathML, by latex2mathml."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from latex2mathml.converter import convert

from torchbook_press.paper.book import PaperError

_NAMESPACE = "http://www.w3.org/1998/Math/MathML"
_TOKENS = {f"{{{_NAMESPACE}}}{name}" for name in ("mi", "mn", "mo", "mtext", "ms")}
ElementTree.register_namespace("", _NAMESPACE)
_MARKS = re.compile(r"^\s*\\[(\[](.*)\\[)\]]\s*$", re.DOTALL)


def mathml(text: str, display: bool) -> str:
    r"""MathML of a formula as it stands in a page: `\(…\)` or `\[…\]`.

    Raises:
        PaperError: latex2mathml does not know it; the message quotes it.
    """
    match = _MARKS.match(text)
    tex = match[1].strip() if match else text.strip()
    try:
        markup = _valid(convert(tex, display="block" if display else "inline"))
    except Exception as error:  # each of its own kinds is an Exception and no more
        raise PaperError(f"latex2mathml cannot read {tex!r}: {error}") from None
    if "\\" in re.sub(r"<annotation.*?</annotation>", "", markup):
        raise PaperError(f"latex2mathml leaves TeX in {tex!r}; write it with other commands")
    return markup


def _valid(markup: str) -> str:
    """With text alone in what holds text: latex2mathml sometimes puts a group there."""
    root = ElementTree.fromstring(markup)
    for token in root.iter():
        if token.tag in _TOKENS and len(token):
            token.text = "".join(token.itertext())
            token[:] = []
    return ElementTree.tostring(root, encoding="unicode")
