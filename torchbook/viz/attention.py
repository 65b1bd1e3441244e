"""AttentionExplorer: the weights of all heads of a model on some texts, head by head and query by query.

A page holds each weight as a whole number of 255ths, so that a row still sums to exactly 1, and each score in 32767ths
of the largest. What the figure says is computed from these, in Python and on the page alike. Of queries, keys and
values it holds what their colours need: fifteen steps.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import traitlets

from torchbook.viz.base import Visualizer, contract
from torchbook.viz.units import two

if TYPE_CHECKING:
    import torch

setup = partial(contract, "attention")

UNIT = 255
_CLOSE = 1e-2  # how far from 1 a row's sum may be, as it is in bfloat16
_TOLD = 5  # keys that the words name
_MOST = 32767  # of the scores, kept in 16 bits
_STEPS = 7  # of a colour, on each side of zero

Rows = list[list[int]]
Likely = list[list[tuple[str, float]]]


class Text(NamedTuple):
    """What a model made of one text.

    Attributes:
        tokens: the text, one string a token.
        weights: (layers, heads, T, T), after the softmax.
        vectors: queries, keys and values, each (layers, heads, T, D), as they meet in the dot product: rotated where
            the model rotates them, keys and values repeated for the heads that share them.
        likely: for each token what may come next and how probable it is, the likeliest first.
    """

    tokens: Sequence[str]
    weights: torch.Tensor | Sequence[Any]
    vectors: Sequence[torch.Tensor] | None = None
    likely: Sequence[Sequence[tuple[str, float]]] | None = None


@dataclass(frozen=True)
class Scores:
    """The dot products of queries and keys over the root of their width, head after head, in whole steps.

    Attributes:
        rows: for each head a row for each query.
        step: what a whole number stands for.
        width: channels of a head.
    """

    rows: list[Rows]
    step: float
    width: int

    def scaled(self, at: int, query: int, key: int) -> float:
        """What the softmax takes."""
        return self.rows[at][query][key] * self.step

    def product(self, at: int, query: int, key: int) -> float:
        """The dot product."""
        return self.rows[at][query][key] * self.step * math.sqrt(self.width)


@dataclass(frozen=True)
class Seen:
    """A text as the figure holds it: the weights of each head in 255ths, and what else was given."""

    tokens: list[str]
    rows: list[Rows]
    causal: bool
    scores: Scores | None
    strips: str
    likely: Likely | None

    def synced(self) -> dict[str, Any]:
        """What the page gets."""
        scores = self.scores and {
            "packed": _words(self.scores.rows, self.causal), "step": self.scores.step, "width": self.scores.width,
            "strips": self.strips,
        }  # fmt: skip
        return {
            "tokens": self.tokens, "packed": packed(self.rows, self.causal), "causal": self.causal, "scores": scores,
            "likely": self.likely,
        }  # fmt: skip


def quantised(row: Sequence[float]) -> list[int]:
    """Weights as whole numbers of 255ths that sum to 255: rounded down, and up where the most was cut off.

    Example:
        >>> quantised([0.5, 0.3, 0.2])
        [127, 77, 51]
    """
    total = sum(row)
    exact = [UNIT * x / total for x in row]
    rounded = [math.floor(x) for x in exact]
    order = sorted(range(len(row)), key=lambda i: (rounded[i] - exact[i], i))
    for i in order[: UNIT - sum(rounded)]:
        rounded[i] += 1
    return rounded


def _kept(heads: Sequence[Rows], causal: bool) -> list[int]:
    """All that is kept of the heads: of a causal one only the triangle."""
    return [x for rows in heads for i, row in enumerate(rows) for x in (row[: i + 1] if causal else row)]


def packed(heads: Sequence[Rows], causal: bool) -> str:
    """One byte a weight, base64; of a causal head only the triangle."""
    return base64.b64encode(bytes(_kept(heads, causal))).decode()


def _words(heads: Sequence[Rows], causal: bool) -> str:
    """Two bytes a score, little-endian, base64."""
    kept = _kept(heads, causal)
    return base64.b64encode(struct.pack(f"<{len(kept)}h", *kept)).decode()


def unpacked(text: str, size: int, causal: bool) -> list[Rows]:
    """The heads from what `packed` gave."""
    data = base64.b64decode(text)
    per_head = size * (size + 1) // 2 if causal else size * size
    heads = []
    for start in range(0, len(data), per_head):
        at, rows = start, []
        for i in range(size):
            wide = i + 1 if causal else size
            rows.append([*data[at : at + wide], *[0] * (size - wide)])
            at += wide
        heads.append(rows)
    return heads


def entropy(row: Sequence[int]) -> float:
    """Bits: 0 where one key has all the weight, log2(n) where n keys share it equally."""
    total = 0.0
    for x in row:
        if x:
            total -= x / UNIT * math.log2(x / UNIT)
    return total


@dataclass(frozen=True)
class Numbers:
    """Means over the queries from the second on; the first has nothing but itself to attend to.

    Attributes:
        entropy: of a row, in bits.
        previous, first, itself: weight of the token before the query, of the first token, of the query's own.
    """

    entropy: float
    previous: float
    first: float
    itself: float


def numbers(rows: Rows) -> Numbers:
    """What a head attends to, on the whole."""
    later = range(1, len(rows))
    count = len(later)
    bits = 0.0
    for i in later:  # added one by one, as the page does; sum() of Python 3.12 rounds less
        bits += entropy(rows[i])
    return Numbers(
        entropy=bits / count,
        previous=sum(rows[i][i - 1] for i in later) / (UNIT * count),
        first=sum(rows[i][0] for i in later) / (UNIT * count),
        itself=sum(rows[i][i] for i in later) / (UNIT * count),
    )


def strongest(row: Sequence[int]) -> int:
    """The key with the most weight, the first of several."""
    return max(range(len(row)), key=lambda i: row[i])


def find(heads: Sequence[Rows], preset: str) -> int:
    """The number of the head that a preset shows; the first of several."""
    of = [numbers(rows) for rows in heads]
    if preset in ("sharp", "broad"):
        values = [head.entropy if preset == "broad" else -head.entropy for head in of]
    else:
        values = [getattr(head, preset) for head in of]
    return values.index(max(values))


def shown(token: str) -> str:
    """A token as the figure writes it."""
    return token.replace(" ", "␣").replace("\n", "↵").replace("\t", "⇥") or "∅"


def _level(x: int) -> int:
    """How dark a weight is drawn: the square root, in eighths."""
    return max(1, math.floor(setup()["levels"] * math.sqrt(x / UNIT) + 0.5)) if x else 0


class AttentionExplorer(Visualizer):
    """Attention weights of all layers and heads on a text: all heads small, one large, one weight as it is computed.

    For each head it gives the mean entropy of its rows and how much weight goes to the token before the query, to the
    first token, and to the query itself. Where queries, keys and values are given, it shows how one weight comes from
    them; where the model's predictions are given, what may come next. On the plain page the same figure works without
    a kernel.

    Args:
        tokens: the text, one string a token, at most 48.
        weights: (layers, heads, T, T); rows are queries, columns keys, and each row sums to 1.
        vectors: queries, keys and values, each (layers, heads, T, D), as they meet in the dot product.
        likely: for each token what may come next and how probable it is, the likeliest first.
        others: more texts of the same model, each a `Text` or a tuple of the four above.
        text: the one that is shown, from 0.
        layer, head: the head that is shown, from 0.
        query: the token whose row is shown, from 0; None is the last.
        key: the token whose weight in that row is shown as it is computed, from 0; -1 is the one with the most weight.

    Attributes:
        tokens: those of the text that is shown.
        rows: the weights of each head on it in 255ths, layer after layer.
        numbers: a `Numbers` for each layer and head.

    Raises:
        ValueError: the shapes do not fit, a row does not sum to 1, the vectors give other weights, or all is too large
            for a page.
        traitlets.TraitError: there is no such text, layer, head, query or key.

    Example:
        >>> AttentionExplorer(["a", "b"], [[[[1.0, 0.0], [0.25, 0.75]]]]).numbers[0][0].previous
        0.25098039215686274
    """

    texts = traitlets.List(traitlets.Dict(), help="Tokens, weights and what else was given of each text.").tag(
        sync=True
    )
    text = traitlets.Int(0, help="The text that is shown.").tag(sync=True)
    layers = traitlets.Int(1, help="Number of layers.").tag(sync=True)
    heads = traitlets.Int(1, help="Number of heads of a layer.").tag(sync=True)
    layer = traitlets.Int(0, help="The layer that is shown.").tag(sync=True)
    head = traitlets.Int(0, help="The head that is shown.").tag(sync=True)
    query = traitlets.Int(0, help="The token whose row is shown.").tag(sync=True)
    key = traitlets.Int(-1, help="The token whose weight is shown as it is computed; -1 is the strongest.").tag(
        sync=True
    )

    def __init__(
        self,
        tokens: Sequence[str],
        weights: torch.Tensor | Sequence[Any],
        vectors: Sequence[torch.Tensor] | None = None,
        likely: Sequence[Sequence[tuple[str, float]]] | None = None,
        *,
        others: Iterable[Text | tuple[Any, ...]] = (),
        text: int = 0,
        query: int | None = None,
        **traits: Any,
    ) -> None:
        given = [Text(tokens, weights, vectors, likely), *(Text(*other) for other in others)]
        shapes = {(len(one.weights), len(one.weights[0])) for one in given}
        if len(shapes) > 1:
            raise ValueError(f"texts of one model have weights of as many layers and heads, not of {sorted(shapes)}")
        self.seen = [_seen(one) for one in given]
        texts = [one.synced() for one in self.seen]
        size = sum(_size(one) for one in texts)
        layers, heads = shapes.pop()
        if size > setup()["most_bytes"]:
            raise ValueError(
                f"{layers} layers of {heads} heads on {sum(len(one.tokens) for one in given)} tokens take {size} "
                f"bytes, more than the {setup()['most_bytes']} that fit a page: show fewer tokens, layers or heads"
            )
        last = len(given[min(text, len(given) - 1)].tokens) - 1
        super().__init__(
            texts=texts, text=text, layers=layers, heads=heads, query=last if query is None else query, **traits
        )

    @property
    def _shown(self) -> Seen:
        return self.seen[self.text]

    @property
    def tokens(self) -> list[str]:
        return self._shown.tokens

    @property
    def rows(self) -> list[Rows]:
        return self._shown.rows

    @property
    def numbers(self) -> list[list[Numbers]]:
        every = [numbers(rows) for rows in self.rows]
        return [every[i : i + self.heads] for i in range(0, len(every), self.heads)]

    @traitlets.validate("text", "layer", "head", "query", "key")
    def _there(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        # A text is chosen together with a token of it: a token is there if it is one of any text.
        most = max(len(one.tokens) for one in self.seen)
        count = {"text": len(self.seen), "layer": self.layers, "head": self.heads}.get(name, most)
        low = -1 if name == "key" else 0
        if not low <= value < count:
            raise traitlets.TraitError(f"{name} must be a whole number from {low} to {count - 1}, not {value}")
        return value

    def _describe(self) -> str:
        told = describe(
            self._shown, (self.layers, self.heads), layer=self.layer, head=self.head, query=self.query, key=self.key
        )
        return f"Text {self.text + 1} of {len(self.seen)}. {told}" if len(self.seen) > 1 else told

    def _draw(self) -> str:
        one, rows = self._shown, self.rows[self.layer * self.heads + self.head]
        query = min(self.query, len(one.tokens) - 1)
        return _picture(one.tokens, rows, one.causal, query, self.words, f"layer {self.layer}, head {self.head}")


def _listed(numbers: torch.Tensor | Sequence[Any]) -> Any:
    return numbers.detach().cpu().double().tolist() if hasattr(numbers, "detach") else numbers


def _size(text: dict[str, Any]) -> int:
    """Bytes of what is packed of a text."""
    scores = text["scores"]
    return len(text["packed"]) + (len(scores["packed"]) + len(scores["strips"]) if scores else 0)


def _seen(text: Text) -> Seen:
    """A text as the figure holds it.

    Raises:
        ValueError: the shapes do not fit, a row is no weights, or the vectors give other weights.
    """
    tokens = list(text.tokens)
    rows = _checked(tokens, _listed(text.weights))
    causal = not any(x for head in rows for i, row in enumerate(head) for x in row[i + 1 :])
    likely = None
    if text.likely is not None:
        if len(text.likely) != len(tokens):
            raise ValueError(f"{len(tokens)} tokens need as many predictions, not {len(text.likely)}")
        likely = [[(token, round(p, 4)) for token, p in one] for one in text.likely]
    if text.vectors is None:
        return Seen(tokens, rows, causal, None, "", likely)
    return Seen(tokens, rows, causal, _scores(rows, text.vectors, causal), _strips(text.vectors), likely)


def _scores(rows: list[Rows], vectors: Sequence[torch.Tensor], causal: bool) -> Scores:
    """The scores of queries and keys, of which the weights must be the softmax."""
    queries, keys = (vector.detach().cpu().double() for vector in vectors[:2])
    width = queries.shape[-1]
    exact = (queries @ keys.transpose(-1, -2) / math.sqrt(width)).flatten(0, 1).tolist()
    if len(exact) != len(rows) or any(len(head) != len(rows[0]) for head in exact):
        raise ValueError(f"vectors must have the shape (layers, heads, {len(rows[0])}, channels)")
    seen = [[row[: i + 1] if causal else row for i, row in enumerate(head)] for head in exact]
    for head, weights in zip(seen, rows, strict=True):
        for score, weight in zip(head, weights, strict=True):
            largest = max(score)
            total = sum(math.exp(x - largest) for x in score)
            if any(abs(math.exp(x - largest) / total - w / UNIT) > _CLOSE for x, w in zip(score, weight, strict=False)):
                raise ValueError("the weights are not the softmax of these queries and keys over the root of the width")
    step = (max(abs(x) for head in seen for row in head for x in row) or 1.0) / _MOST
    size = len(rows[0])
    return Scores(
        [[[math.floor(x / step + 0.5) for x in row] + [0] * (size - len(row)) for row in head] for head in seen],
        step,
        width,
    )


def _strips(vectors: Sequence[torch.Tensor]) -> str:
    """Queries, keys and values as colours: half a byte a channel, 8 is zero, base64."""
    steps: list[int] = []
    for vector in vectors:
        numbers = vector.detach().cpu().double().flatten().tolist()
        largest = max(map(abs, numbers)) or 1.0
        steps += [8 + math.floor(_STEPS * x / largest + 0.5) for x in numbers]
    steps += [8] * (len(steps) % 2)
    return base64.b64encode(bytes(16 * high + low for high, low in zip(steps[::2], steps[1::2], strict=True))).decode()


def _checked(tokens: Sequence[str], weights: Sequence[Any]) -> list[Rows]:
    """The rows in 255ths, head after head.

    Raises:
        ValueError: the shapes do not fit, or a row is no weights.
    """
    size = len(tokens)
    if not 2 <= size <= setup()["most_tokens"]:
        raise ValueError(f"{size} tokens; the figure shows 2 to {setup()['most_tokens']}")
    shapes = {len(layer) for layer in weights}
    if len(shapes) != 1 or 0 in shapes:
        raise ValueError("weights must have the shape (layers, heads, T, T)")
    heads = []
    for i, layer in enumerate(weights):
        for j, rows in enumerate(layer):
            if len(rows) != size or any(len(row) != size for row in rows):
                raise ValueError(f"{size} tokens need weights of shape (layers, heads, {size}, {size})")
            for at, row in enumerate(rows):
                if not abs(sum(row) - 1) <= _CLOSE or min(row) < 0:
                    raise ValueError(
                        f"the row of layer {i}, head {j}, query {at} sums to {sum(row):.4g}, its smallest weight is "
                        f"{min(row):.4g}: give the weights after the softmax"
                    )
            heads.append([quantised(row) for row in rows])
    return heads


def fixed(x: float, places: int) -> str:
    """A number with so many decimals, as JavaScript rounds them, and a minus sign."""
    return str(Decimal(x).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)).replace("-", "−")


def _computed(of: Seen, at: int, query: int, key: int) -> str:
    """How one weight comes from its query and key."""
    if of.scores is None:
        return ""
    name = f"Key {key} “{shown(of.tokens[key])}”"
    if of.causal and key > query:
        return f" {name} is later than the query: masked, its weight is 0."
    weight = two(of.rows[at][query][key] / UNIT)
    return (
        f" {name}: q · k is {fixed(of.scores.product(at, query, key), 1)}, over √{of.scores.width} it is "
        f"{fixed(of.scores.scaled(at, query, key), 2)}, and the softmax of the row makes {weight} of it."
    )


def describe(of_text: Seen, shape: tuple[int, int], *, layer: int, head: int, query: int, key: int = -1) -> str:
    """The state in sentences."""
    tokens, causal, at = of_text.tokens, of_text.causal, layer * shape[1] + head
    mine = of_text.rows[at]
    query = min(query, len(tokens) - 1)
    row, of = mine[query], numbers(mine)
    key = strongest(row) if key < 0 else min(key, len(tokens) - 1)
    likely = of_text.likely[query] if of_text.likely else []
    comes = ", ".join(f"“{shown(token)}” {two(p)}" for token, p in likely)
    seen = query + 1 if causal else len(tokens)
    order = sorted(range(seen), key=lambda i: (-row[i], i))
    weights = [f"{two(row[i] / UNIT)} to {i} “{shown(tokens[i])}”" for i in order[:_TOLD] if row[i]]
    mask = "causal, so that no query attends to a later key" if causal else "not causal"
    return (
        f"Attention of {len(tokens)} tokens, {shape[0]} layer{'' if shape[0] == 1 else 's'} of {shape[1]} "
        f"head{'' if shape[1] == 1 else 's'}, {mask}. Layer {layer}, head {head}, query {query} "
        f"“{shown(tokens[query])}”: weight {', '.join(weights)}; the row sums to {two(sum(row) / UNIT)}, its entropy "
        f"is {two(entropy(row))} of at most {two(math.log2(seen))} bits. Means of this head over the queries from 1 "
        f"on: entropy {two(of.entropy)} bits, weight of the previous token {two(of.previous)}, of the first "
        f"{two(of.first)}, of the query itself {two(of.itself)}."
        f"{_computed(of_text, at, query, key)}{f' Likeliest to come next: {comes}.' if comes else ''}"
    )


def paths(rows: Rows) -> list[tuple[int, str]]:
    """For each darkness the cells that have it, as the data of one SVG path in units of a cell."""
    by_level: dict[int, list[str]] = {}
    for i, row in enumerate(rows):
        levels, at = [_level(x) for x in row], 0
        while at < len(levels):
            end = at
            while end < len(levels) and levels[end] == levels[at]:
                end += 1
            if levels[at]:
                by_level.setdefault(levels[at], []).append(f"M{at} {i}h{end - at}v1h-{end - at}z")
            at = end
    return [(level, "".join(parts)) for level, parts in sorted(by_level.items())]


def _picture(tokens: Sequence[str], rows: Rows, causal: bool, query: int, words: str, title: str) -> str:
    """Static drawing: the head's weights, the query's row framed."""
    size = len(tokens)
    unit = min(24.0, 380 / size)
    side, left, top = size * unit, 84.0, 40.0
    cells = "".join(f'<path d="{d}" fill-opacity="{level / setup()["levels"]:g}"/>' for level, d in paths(rows))
    frame = f'<rect width="{size}" height="{size}" fill="none" stroke="currentColor" stroke-width="{1 / unit:.3f}"/>'
    chosen = (
        f'<rect y="{query}" width="{size}" height="1" fill="none" stroke="currentColor" stroke-width="{2 / unit:.3f}"/>'
    )
    diagonal = ""
    if causal:
        steps = "".join("h1v1" for _ in range(size - 1))
        diagonal = (
            f'<path d="M1 0v1{steps}" fill="none" stroke="currentColor" stroke-dasharray=".3 .3" '
            f'stroke-width="{1 / unit:.3f}"/>'
        )
    every = max(1, math.ceil(12 / unit))
    labels = "".join(
        f'<text x="{left - 6:g}" y="{top + (i + 0.5) * unit + 4:.1f}" text-anchor="end"'
        f' font-weight="{700 if i == query else 400}">{escape(shown(tokens[i])[:9])}</text>'
        for i in range(size)
        if i == query or (i % every == 0 and abs(i - query) >= every)
    )
    width, height = left + side + 8, top + side + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:g} {height:g}" '
        f'style="max-width:min(100%,{width:g}px);height:auto" font-family="system-ui,sans-serif" font-size="12" '
        f'fill="currentColor" aria-label="{escape(words)}">'
        f'<text x="{left}" y="14" font-weight="700">{escape(title)}</text><text x="{left}" y="32">keys →</text>'
        f'<text x="{left - 6}" y="32" text-anchor="end">queries ↓</text>'
        f'<g transform="translate({left} {top}) scale({unit:.4f})">{cells}{frame}{diagonal}{chosen}</g>{labels}</svg>'
    )
