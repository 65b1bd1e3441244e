"""SymptomFinder: from what one sees, or the message one got, to the first move."""

from __future__ import annotations

import re
from functools import cache, partial
from html import escape
from typing import Any

import traitlets

from torchbook.viz.base import Visualizer, contract

setup = partial(contract, "symptoms")

_WORD = re.compile(r"[a-z0-9_]+")
_WEIGHTS = {"symptom": 3, "words": 3, "first": 1, "tells": 1, "code": 1}
_MESSAGE = 20  # a known message weighs more than any words

Symptom = dict[str, Any]


@cache
def _by_key() -> dict[str, Symptom]:
    return {symptom["key"]: symptom for symptom in setup()["symptoms"]}


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


@cache
def alike(asked: str, word: str) -> bool:
    """Whether a word that was typed means this word: its beginning, or the same but for an ending."""
    if word.startswith(asked):
        return True
    common = next((i for i, (a, b) in enumerate(zip(asked, word, strict=False)) if a != b), min(len(asked), len(word)))
    return common >= 4 and max(len(asked), len(word)) - common <= 3


@cache
def _parts(key: str) -> list[tuple[int, list[str]]]:
    """What each part of a symptom weighs, and its words."""
    symptom = _by_key()[key]
    return [(weight, sorted(set(_words(_text(symptom[part]))))) for part, weight in _WEIGHTS.items()]


def _score(symptom: Symptom, asked: list[str], text: str) -> int:
    total = _MESSAGE * sum(message.lower() in text for message in symptom["messages"])
    for query_word in asked:
        weights = (weight for weight, words in _parts(symptom["key"]) if any(alike(query_word, word) for word in words))
        total += max(weights, default=0)
    return total


def _text(part: str | list[str]) -> str:
    return part if isinstance(part, str) else " ".join(part)


def search(query: str = "", kind: str = "") -> list[str]:
    """Keys of the symptoms that match, the best first; without words all of a kind, in the order of the list.

    Args:
        query: words in any order, or the text of an error as it was printed.
        kind: one of `setup()["kinds"]`; empty for all.

    Example:
        >>> search("loss is nan")[0]
        'loss-nan'
    """
    of_kind = [symptom for symptom in setup()["symptoms"] if kind in ("", symptom["kind"])]
    asked = [word for word in dict.fromkeys(_words(query)) if word not in setup()["silent"]]
    if not asked:
        return [symptom["key"] for symptom in of_kind]
    text = " ".join(query.lower().split())
    scores = {symptom["key"]: _score(symptom, asked, text) for symptom in of_kind}
    best = max(scores.values(), default=0)
    matches = [key for key, score in scores.items() if score and score * 2 >= best]
    return sorted(matches, key=lambda key: -scores[key])  # stable: equals keep the order of the list


class SymptomFinder(Visualizer):
    """What to do first: a list of symptoms to search, each with a first move, what it tells, and what then.

    On the plain page the same figure works without a kernel.

    Args:
        query: words, or a pasted error.
        kind: which symptoms; one of `torchbook.viz.symptoms.setup()["kinds"]`, or empty for all.
        chosen: key of the symptom that is open; empty for none.

    Attributes:
        found: the symptoms that match, the best first.

    Raises:
        traitlets.TraitError: there is no such kind or symptom.

    Example:
        >>> SymptomFinder(query="loss is nan").found[0]["kind"]
        'nan'
    """

    query = traitlets.Unicode("", help="What is searched for.").tag(sync=True)
    kind = traitlets.Enum(("", *setup()["kinds"]), "", help="Which symptoms.").tag(sync=True)
    chosen = traitlets.Enum(("", *_by_key()), "", help="The symptom that is open.").tag(sync=True)

    @property
    def found(self) -> list[Symptom]:
        return [_by_key()[key] for key in search(self.query, self.kind)]

    def _describe(self) -> str:
        return describe(self.query, self.kind, self.chosen)

    def _draw(self) -> str:
        return _picture(self.found, self.words)


def describe(query: str = "", kind: str = "", chosen: str = "") -> str:
    """How many symptoms match, and what is to be done first."""
    matches, total = search(query, kind), len(setup()["symptoms"])
    asked = f" for “{' '.join(query.split())}”" if query.strip() else ""
    among = f" among those of “{setup()['kinds'][kind]}”" if kind else ""
    count = f"{len(matches)} of {total} symptoms{asked}{among}."
    if chosen:
        return f"{count} Open: {_sentence(chosen)}"
    if not matches:
        return f"{count} Try fewer words, or the first line of the message."
    return f"{count} First: {_sentence(matches[0])}" if asked else count


def _sentence(key: str) -> str:
    symptom = _by_key()[key]
    return f"{symptom['symptom']}. {symptom['first']}"


def _picture(symptoms: list[Symptom], words: str) -> str:
    """Static drawing: symptoms and first moves in two columns."""
    wide, left, line = 860, 300, 17
    parts, y = [], 18
    for x, title in ((0, "Symptom"), (left, "First move")):
        parts.append(f'<text x="{x}" y="{y}" font-weight="700">{title}</text>')
    y += 10
    for symptom in symptoms:
        columns = [(0, _wrapped(symptom["symptom"], 42)), (left, _wrapped(symptom["first"], 84))]
        parts.append(f'<line x1="0" x2="{wide}" y1="{y}" y2="{y}" stroke="currentColor" stroke-opacity=".3"/>')
        for x, lines in columns:
            for i, text in enumerate(lines):
                parts.append(f'<text x="{x}" y="{y + line * (i + 1)}">{escape(text)}</text>')
        y += line * max(len(lines) for _, lines in columns) + 10
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {wide} {y}" '
        f'style="max-width:min(100%,{wide}px);height:auto" font-family="system-ui,sans-serif" font-size="13" '
        f'fill="currentColor" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )


def _wrapped(text: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(text, width)
