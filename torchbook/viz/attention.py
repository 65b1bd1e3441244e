"""AttentionExplorer: the weights of all heads of a model on one text, head by head and query by query.

A page holds each weight as a whole number of 255ths, so that a row still sums to exactly 1. What the figure says is
computed from these, in Python and on the page alike.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import traitlets

from torchbook.viz.base import Visualizer, contract
from torchbook.viz.units import two

if TYPE_CHECKING:
    import torch

setup = partial(contract, "attention")

UNIT = 255
_CLOSE = 1e-2  # how far from 1 a row's sum may be, as it is in bfloat16
_TOLD = 5  # keys that the words name

Rows = list[list[int]]


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


def packed(heads: Sequence[Rows], causal: bool) -> str:
    """One byte a weight, base64; of a causal head only the triangle."""
    data = bytes(x for rows in heads for i, row in enumerate(rows) for x in (row[: i + 1] if causal else row))
    return base64.b64encode(data).decode()


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
    """Attention weights of all layers and heads on one text: all heads small, one large, one query in numbers.

    For each head it gives the mean entropy of its rows and how much weight goes to the token before the query, to the
    first token, and to the query itself. On the plain page the same figure works without a kernel.

    Args:
        tokens: the text, one string a token, at most 48.
        weights: (layers, heads, T, T); rows are queries, columns keys, and each row sums to 1.
        layer, head: the head that is shown, from 0.
        query: the token whose row is shown, from 0; None is the last.

    Attributes:
        rows: the weights of each head in 255ths, layer after layer.
        numbers: a `Numbers` for each layer and head.

    Raises:
        ValueError: the shapes do not fit, a row does not sum to 1, or all is too large for a page.
        traitlets.TraitError: there is no such layer, head or query.

    Example:
        >>> AttentionExplorer(["a", "b"], [[[[1.0, 0.0], [0.25, 0.75]]]]).numbers[0][0].previous
        0.25098039215686274
    """

    tokens = traitlets.List(traitlets.Unicode(), help="The text.").tag(sync=True)
    packed = traitlets.Unicode(help="The weights in 255ths, a byte each, base64.").tag(sync=True)
    causal = traitlets.Bool(
        False, help="Whether no query attends to a later key; then only the triangle is packed."
    ).tag(sync=True)
    layers = traitlets.Int(1, help="Number of layers.").tag(sync=True)
    heads = traitlets.Int(1, help="Number of heads of a layer.").tag(sync=True)
    layer = traitlets.Int(0, help="The layer that is shown.").tag(sync=True)
    head = traitlets.Int(0, help="The head that is shown.").tag(sync=True)
    query = traitlets.Int(0, help="The token whose row is shown.").tag(sync=True)

    def __init__(
        self,
        tokens: Sequence[str],
        weights: torch.Tensor | Sequence[Any],
        *,
        query: int | None = None,
        **traits: Any,
    ) -> None:
        layers = weights.detach().cpu().double().tolist() if hasattr(weights, "detach") else weights
        self.rows = _checked(tokens, layers)
        causal = not any(x for rows in self.rows for i, row in enumerate(rows) for x in row[i + 1 :])
        text = packed(self.rows, causal)
        if len(text) > setup()["most_bytes"]:
            raise ValueError(
                f"{len(layers)} layers of {len(layers[0])} heads on {len(tokens)} tokens take {len(text)} bytes, more "
                f"than the {setup()['most_bytes']} that fit a page: show fewer tokens, layers or heads"
            )
        super().__init__(
            tokens=list(tokens),
            packed=text,
            causal=causal,
            layers=len(layers),
            heads=len(layers[0]),
            query=len(tokens) - 1 if query is None else query,
            **traits,
        )

    @property
    def numbers(self) -> list[list[Numbers]]:
        every = [numbers(rows) for rows in self.rows]
        return [every[i : i + self.heads] for i in range(0, len(every), self.heads)]

    @traitlets.validate("layer", "head", "query")
    def _there(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        count = {"layer": self.layers, "head": self.heads, "query": len(self.tokens)}[name]
        if not 0 <= value < count:
            raise traitlets.TraitError(f"{name} must be a whole number from 0 to {count - 1}, not {value}")
        return value

    def _describe(self) -> str:
        return describe(
            self.tokens, self.rows, self.causal, (self.layers, self.heads), self.layer, self.head, self.query
        )

    def _draw(self) -> str:
        rows = self.rows[self.layer * self.heads + self.head]
        return _picture(self.tokens, rows, self.causal, self.query, self.words, f"layer {self.layer}, head {self.head}")


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


def describe(
    tokens: Sequence[str], rows: Sequence[Rows], causal: bool, shape: tuple[int, int], layer: int, head: int, query: int
) -> str:
    """The state in sentences."""
    mine = rows[layer * shape[1] + head]
    row, of = mine[query], numbers(mine)
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
