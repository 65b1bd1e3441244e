"""SymptomFinder: from the picture of a sick run, or the message one got, to its likely causes, their tests and cures.

The curves are of runs that were ill on purpose, recorded by `torchbook.viz.symptom_runs`.
"""

from __future__ import annotations

import json
import re
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import Any

import traitlets

from torchbook.viz.base import Visualizer, contract

setup = partial(contract, "symptoms")

_WORD = re.compile(r"[a-z0-9_]+")
_WEIGHTS = {"symptom": 3, "words": 3, "first": 1, "tells": 1, "code": 1}
_MESSAGE = 20  # a known message weighs more than any words

Symptom = dict[str, Any]
RUNS = Path(__file__).parent / "src/symptoms/runs.json"


@cache
def runs() -> dict[str, dict[str, Any]]:
    """The recorded runs, by name: each ill and cured, with the fields of `symptom_runs.Run`."""
    return json.loads(RUNS.read_text(encoding="utf-8"))


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


def causes_of(picture: str = "") -> list[Symptom]:
    """The causes of what a picture shows, the likeliest first; all of them without one."""
    return [symptom for symptom in setup()["symptoms"] if picture in ("", symptom["picture"])]


def search(query: str = "", picture: str = "") -> list[str]:
    """Keys of the causes that match, the best first; without words all of a picture, in the order of the list.

    Args:
        query: words in any order, or the text of an error as it was printed.
        picture: one of `setup()["pictures"]`; empty for all.

    Example:
        >>> search("loss is nan")[0]
        'loss-nan'
    """
    among = causes_of(picture)
    asked = [word for word in dict.fromkeys(_words(query)) if word not in setup()["silent"]]
    if not asked:
        return [symptom["key"] for symptom in among]
    text = " ".join(query.lower().split())
    scores = {symptom["key"]: _score(symptom, asked, text) for symptom in among}
    best = max(scores.values(), default=0)
    matches = [key for key, score in scores.items() if score and score * 2 >= best]
    return sorted(matches, key=lambda key: -scores[key])  # stable: equals keep the order of the list


class SymptomFinder(Visualizer):
    """Pictures of sick runs: the likely causes of each, a test for each cause, and how the run looks once it is cured.

    On the plain page the same figure works without a kernel.

    Args:
        query: words, or a pasted error.
        opened: which picture is open; one of `torchbook.viz.symptoms.setup()["pictures"]`, or empty for all.
        chosen: key of the cause that is chosen, whose picture is open; empty for none.

    Attributes:
        found: the causes that match, the best first.

    Raises:
        traitlets.TraitError: there is no such picture or cause.

    Example:
        >>> SymptomFinder(query="loss is nan").found[0]["picture"]
        'nan'
    """

    query = traitlets.Unicode("", help="What is searched for.").tag(sync=True)
    opened = traitlets.Enum(("", *setup()["pictures"]), "", help="The picture that is open.").tag(sync=True)
    chosen = traitlets.Enum(("", *_by_key()), "", help="The cause that is chosen.").tag(sync=True)

    @property
    def found(self) -> list[Symptom]:
        return [_by_key()[key] for key in search(self.query, self.opened)]

    def _describe(self) -> str:
        return describe(self.query, self.opened, self.chosen)

    def _draw(self) -> str:
        return _drawing(self.query, _shown_in(self.opened, self.chosen), self.chosen, self.words)


def _shown_in(opened: str, chosen: str) -> str:
    """The picture that is open."""
    return _by_key()[chosen]["picture"] if chosen else opened


def describe(query: str = "", opened: str = "", chosen: str = "") -> str:
    """What the open picture shows, with its causes or the chosen one; of all pictures, how many match, and the best."""
    shown, asked = _shown_in(opened, chosen), " ".join(query.split())
    matches, total = search(query, "" if chosen else opened), len(setup()["symptoms"])
    count = f"{len(matches)} of {total} causes for “{asked}”. " if asked else ""
    says = setup()["pictures"][shown]["says"] if shown else ""
    if chosen:
        of = _by_key()[chosen]
        return f"{count}{says} Cause: {of['cause']}. {of['test']} {of['first']} Then: {of['then']}"
    if shown:
        causes = [f"{i}. {of['cause']}. {of['test']}" for i, of in enumerate(causes_of(shown), 1)]
        return f"{count}{says} Likely causes: {' '.join(causes)}"
    if not asked:
        return f"{len(setup()['pictures'])} pictures of sick runs, with {total} causes."
    if not matches:
        return f"{count}Try fewer words, or the first line of the message."
    best = _by_key()[matches[0]]
    return f"{count}First: {best['symptom']}. {best['first']}"


def run_of(key: str) -> dict[str, Any]:
    """The run that shows a cause."""
    return runs()[_by_key()[key].get("run", key)]


# The static drawing: thumbnails, or one picture with its causes beside it

_COLOURS = {"ill": "#d03040", "well": "#14804a", "other": "#0a7abf", "level": "#808080"}
_WIDE, _TALL, _COLUMNS = 172.0, 122.0, 5  # a thumbnail with its name, and how many stand side by side


def _drawing(query: str, shown: str, chosen: str, words: str) -> str:
    parts: list[str] = []
    if shown:
        causes = causes_of(shown)
        key = chosen or causes[0]["key"]
        high = max(300.0, 50.0 * len(causes))
        parts += [
            _name(0, 16, setup()["pictures"][shown]["label"]),
            _plot(run_of(key), 0, 24, 470, high - 40, bool(chosen)),
        ]
        for i, cause in enumerate(causes):
            y = 30 + i * high / len(causes)
            parts += [_name(490, y, f"{i + 1}. {cause['cause']}"), _line(490, y + 18, cause["test"])]
            if cause["key"] == chosen:
                parts.append(f'<rect x="481" y="{y - 14:g}" width="4" height="38" fill="{_COLOURS["well"]}"/>')
    else:
        asked = {_by_key()[key]["picture"] for key in search(query)}
        high = _TALL * -(-len(setup()["pictures"]) // _COLUMNS)
        for i, (name, picture) in enumerate(setup()["pictures"].items()):
            x, y = _WIDE * (i % _COLUMNS), _TALL * (i // _COLUMNS)
            drawn = _name(x, y + 16, picture["label"]) + _plot(
                run_of(causes_of(name)[0]["key"]), x, y + 24, _WIDE - 14, _TALL - 36, False
            )
            parts.append(f'<g opacity="{1 if name in asked else 0.3}">{drawn}</g>')
    wide = _WIDE * _COLUMNS
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {wide:g} {high:g}" '
        f'style="max-width:min(100%,{wide:g}px);height:auto" font-family="system-ui,sans-serif" font-size="13" '
        f'fill="currentColor" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )


def _name(x: float, y: float, text: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" font-weight="700">{escape(text)}</text>'


def _line(x: float, y: float, text: str) -> str:
    return f'<text x="{x:g}" y="{y:g}">{escape(text)}</text>'


def _plot(run: dict[str, Any], x: float, y: float, wide: float, high: float, cured: bool) -> str:
    """A run in a box; cured, the ill curve stays as a dashed one."""
    box = (
        f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}" rx="5" fill="currentColor" fill-opacity=".05"/>'
    )
    if "waits" in run:
        return box + _lanes(run, x, y, wide, high, cured)
    patient = 0 if run.get("sketch") else len(run["names"]) - 1
    level = run.get("level")
    values = [value for curve in (*run["sick"], *run["cured"]) for value in curve if value is not None]
    top, low = max([*values, *(level[:1] if level else [])]), min(0, *values)

    def at(i: int, value: float, of: list[Any]) -> str:
        across, up = i / (len(of) - 1), (value - low) / (top - low)
        return f"{x + 4 + across * (wide - 8):.1f} {y + high - 5 - up * (high - 12):.1f}"

    def line(curve: list[Any], colour: str, style: str = "", bars: bool = run.get("bars", False)) -> str:
        points = [at(i, value, curve) for i, value in enumerate(curve) if value is not None]
        path = "M" + "L".join(points)
        if bars:
            path = "".join(f"M{point}V{y + high - 5:.1f}" for point in points)
        return f'<path d="{path}" fill="none" stroke="{_COLOURS[colour]}" stroke-width="2"{style}/>'

    parts, dashed = [box], ' stroke-dasharray="4 4"'
    if level:
        parts.append(line([level[0], level[0]], "level", dashed, bars=False))
    if cured:
        parts.append(line(run["sick"][patient], "ill", dashed))
    for i, curve in enumerate(run["cured" if cured else "sick"]):
        if i == patient:
            parts.append(line(curve, "well" if cured else "ill"))
        else:
            parts.append(line(curve, "level", dashed) if run.get("sketch") else line(curve, "other"))
    ill = run["sick"][patient]
    if None in ill:
        end = at(ill.index(None) - 1, ill[ill.index(None) - 1], ill).split()
        parts.append(
            f'<text x="{end[0]}" y="{float(end[1]) + 6:.1f}" text-anchor="middle" font-size="20" font-weight="700" '
            f'fill="{_COLOURS["ill"]}">×</text>'
        )
    return "".join(parts)


def _lanes(run: dict[str, Any], x: float, y: float, wide: float, high: float, cured: bool) -> str:
    """Lanes: what works is filled, what waits is a dashed outline."""
    side, row = ("cured" if cured else "sick"), (high - 8) / len(run["names"])
    end = max(stop for lanes in (run["sick"], run["cured"], *run["waits"]) for lane in lanes for _, stop in lane)
    parts = []
    for kind, lanes in (("wait", run["waits"][cured]), ("work", run[side])):
        colour = _COLOURS["ill"] if kind == "wait" else _COLOURS["well" if cured else "other"]
        look = f'fill="none" stroke="{colour}" stroke-dasharray="3 3"' if kind == "wait" else f'fill="{colour}"'
        tall = row * (0.3 if kind == "wait" else 0.6)
        for lane, spans in enumerate(lanes):
            middle = y + 4 + (lane + 0.5) * row
            parts += [
                f'<rect x="{x + 4 + start / end * (wide - 8):.1f}" y="{middle - tall / 2:.1f}" '
                f'width="{(stop - start) / end * (wide - 8):.1f}" height="{tall:.1f}" {look}/>'
                for start, stop in spans
                if stop > start
            ]
    return "".join(parts)
