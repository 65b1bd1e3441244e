"""Drawings of transformers: norms, shared heads, rotary positions, masks, and what LoRA trains."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from torchbook.drawing.canvas import LINE, WIDTH, Box, Drawing, Point

_W = 120.0  # of a layer
_H = 34.0
_STEP = _H + 22


def norm_placements() -> Drawing:
    """A transformer block twice: with its norms in the branches (pre-norm), and after the sums (post-norm)."""
    drawing = Drawing(
        "Pre-norm beside post-norm",
        "In a pre-norm block the stream runs straight from bottom to top; each branch leaves it, passes a norm and "
        "then attention or the MLP, and is added to it. In a post-norm block each branch passes attention or the MLP "
        "alone, and a norm stands in the stream itself, after each sum.",
    )
    _block(drawing, 0, "pre-norm", ["norm", "attention"], ["norm", "MLP"], after=False)
    _block(drawing, 200, "post-norm", ["attention"], ["MLP"], after=True)
    drawing.legend(0, 5.4 * _STEP + 24, {"kept": "the stream", "read": "a norm"})
    return drawing


def _block(drawing: Drawing, x: float, name: str, first: Sequence[str], second: Sequence[str], *, after: bool) -> None:
    """From the top of the picture down, as data flow up: the input is at the bottom."""
    stream = x + 14
    drawing.text(x, 0, name, bold=True)
    end = 5.4 * _STEP
    bottom = end
    spots: list[tuple[float, str]] = []
    for branch in (first, second):
        leave = bottom - 8
        at = bottom
        previous: Box | tuple[float, float] = (stream, leave)
        for layer in branch:
            box = drawing.box(x + 44, at - _H - 20, layer, "read" if layer == "norm" else "", w=_W - 10, h=_H)
            if isinstance(previous, tuple):
                drawing.arrow(previous, box, via=[(box.bottom[0], leave)])
            else:
                drawing.arrow(previous, box)
            previous = box
            at -= _STEP
        top = at - 6
        assert isinstance(previous, Box)
        drawing.arrow(previous, (stream + 10, top), via=[(previous.top[0], top)])
        spots.append((top, "+"))
        bottom = top - 12
        if after:
            spots.append((bottom - 20, "norm"))
            bottom -= 44
    low: tuple[float, float] = (stream, end)
    for y, what in spots:
        shape = (
            drawing.circle(stream, y, 10, "+", "kept")
            if what == "+"
            else drawing.box(stream - 28, y - 13, what, "read", w=56, h=26)
        )
        drawing.arrow(low, (stream, shape.y + shape.h), "kept")
        low = (stream, shape.y)
    drawing.arrow(low, (stream, 22), "kept")


def head_sharing(queries: int, keys: int) -> Drawing:
    """Which query heads read which pair of keys and values.

    Args:
        queries: number of query heads.
        keys: number of heads of keys and values, a divisor of `queries`.

    Raises:
        ValueError: it is no divisor, or there are more query heads than a phone shows.
    """
    if queries < 1 or queries > 12 or keys < 1 or queries % keys:
        raise ValueError(f"{keys} heads of keys and values do not divide {queries} query heads, 12 at most")
    kind = "multi-head" if keys == queries else "multi-query" if keys == 1 else "grouped-query"
    group = queries // keys
    drawing = Drawing(
        f"{kind} attention",
        f"{queries} query heads share {keys} heads of keys and values: {group} of them read each.",
    )
    step = 31.0
    drawing.text(0, 0, f"{kind}: {queries} heads of queries, {keys} of keys", bold=True)
    row = drawing.grid(0, 24, [[f"q{i}" for i in range(queries)]], lambda r, c: "read", cell=(step, 28))[0]
    for k in range(keys):
        mine = row[k * group : (k + 1) * group]
        middle = (mine[0].x + mine[-1].x + mine[-1].w) / 2
        below = drawing.box(middle - 14, 100, f"k{k}\nv{k}", "kept", w=28, h=2 * LINE + 8)
        for box in mine:
            drawing.arrow((box.bottom[0], box.y + box.h), (below.top[0], below.y))
    return drawing


def turns(cos: Tensor, sin: Tensor, pairs: Sequence[int]) -> Drawing:
    """How rotary positions turn pairs of channels: a dial for each pair, a hand for each position.

    Args:
        cos: (positions, channels) as the model has it.
        sin: the same.
        pairs: first channels of two or three pairs.

    Raises:
        ValueError: the tables differ in shape, or there are other numbers of pairs, or more than 8 positions.
    """
    if cos.shape != sin.shape or cos.dim() != 2 or len(pairs) not in (2, 3) or len(cos) > 8:
        raise ValueError("two or three pairs of channels, at 8 positions at most, can be drawn from equal tables")
    angle = torch.atan2(sin, cos)
    drawing = Drawing(
        "How far each position turns a pair",
        "; ".join(
            f"the pair of channel {pair} is turned by {float(angle[1, pair]):.3g} radians from one position to the next"
            for pair in pairs
        )
        + ".",
    )
    r = WIDTH / len(pairs) / 2 - 24
    for number, pair in enumerate(pairs):
        x, y = (2 * number + 1) * WIDTH / len(pairs) / 2, r + 44
        drawing.text(x, 0, f"channel {pair}:", "middle", bold=True)
        drawing.text(x, 18, f"{float(angle[1, pair]):.2g} a token", "middle")
        drawing.circle(x, y, r)
        last = -1.0  # where the last label stands
        for position in range(len(cos)):
            c, s = float(cos[position, pair]), float(sin[position, pair])
            drawing.arrow((x, y), (x + r * c, y - r * s), "read" if position else "kept")
            way = position * float(angle[1, pair])
            if way - last > 0.3:
                last = way
                drawing.text(x + (r + 11) * c, y - (r + 11) * s, str(position), "middle")
    drawing.legend(0, 2 * r + 74, {"kept": "position 0", "read": "later positions"})
    return drawing


def turned_together(query: Point, key: Point, places: Sequence[tuple[int, int]]) -> Drawing:
    """A query and a key of two channels, each turned by one radian a position: the angle between them, in each case.

    Args:
        query: its two channels.
        key: its two channels.
        places: two or three pairs of positions, of the query and of the key.

    Raises:
        ValueError: there are other numbers of pairs.
    """
    if len(places) not in (2, 3):
        raise ValueError(f"two or three pairs of positions can be drawn, not {len(places)}")
    apart = {(m, n): math.cos(_angle(query) + m - _angle(key) - n) for m, n in places}
    drawing = Drawing(
        "A query and a key, turned by their positions",
        "; ".join(
            f"with the query at {m} and the key at {n}, the cosine of the angle between them is {cosine:.2f}"
            for (m, n), cosine in apart.items()
        )
        + ".",
    )
    longest = max(math.hypot(*query), math.hypot(*key))
    r = WIDTH / len(places) / 2 - 24
    for number, (m, n) in enumerate(places):
        x, y = (2 * number + 1) * WIDTH / len(places) / 2, r + 44
        drawing.text(x, 0, f"query at {m},", "middle", bold=True)
        drawing.text(x, 18, f"key at {n}", "middle", bold=True)
        drawing.circle(x, y, r)
        for vector, position, name, role in ((query, m, "q", "read"), (key, n, "k", "write")):
            length, angle = r * math.hypot(*vector) / longest, _angle(vector) + position
            drawing.arrow((x, y), (x + length * math.cos(angle), y - length * math.sin(angle)), role)
            drawing.text(x + (r + 11) * math.cos(angle), y - (r + 11) * math.sin(angle), name, "middle")
    drawing.legend(0, 2 * r + 74, {"read": "query", "write": "key"})
    return drawing


def _angle(vector: Point) -> float:
    return math.atan2(vector[1], vector[0])


def mask_grid(allowed: Tensor, names: Sequence[str]) -> Drawing:
    """Which positions a query may read, row by row, from a boolean mask.

    Args:
        allowed: (queries, keys), true where the query may read the key.
        names: of the positions, one a row and a column.

    Raises:
        ValueError: it is not square, or `names` has another length.
    """
    n = len(names)
    if allowed.shape != (n, n):
        raise ValueError(f"a mask of shape {tuple(allowed.shape)} does not fit {n} names")
    can = [[bool(one) for one in row] for row in allowed.tolist()]
    said = [f"{names[r]} reads {', '.join(names[c] for c in range(n) if can[r][c]) or 'nothing'}" for r in range(n)]
    drawing = Drawing("What each query may read", "; ".join(said) + ".")
    side, left = 28.0, 60.0
    for c, name in enumerate(names):
        drawing.text(left + side * c + side / 2 - 1, 0, name, "middle")
    for r, name in enumerate(names):
        drawing.text(left - 8, 14 + side * r + side / 2, name, "end")
    drawing.grid(left, 14, [[""] * n] * n, lambda r, c: "read" if can[r][c] else "absent", cell=(side, side))
    drawing.legend(0, 14 + side * n + 14, {"read": "may be read", "absent": "hidden"})
    return drawing


def lora_layer(outputs: int, inputs: int, rank: int) -> Drawing:
    """A frozen weight beside the two thin matrices that LoRA trains, with what each counts.

    Args:
        outputs: rows of the weight.
        inputs: its columns.
        rank: of the update.

    Raises:
        ValueError: a size is not positive.
    """
    if min(outputs, inputs, rank) < 1:
        raise ValueError("sizes and rank are positive")
    whole, thin = outputs * inputs, rank * (outputs + inputs)
    drawing = Drawing(
        f"LoRA of rank {rank}",
        f"W, {outputs} by {inputs}, is frozen: {whole:,} numbers. Beside it B, {outputs} by {rank}, and A, {rank} by "
        f"{inputs}, are trained: {thin:,} numbers, {thin / whole:.1%}. Their product is added to W.",
    )
    high = 130.0 * outputs / max(outputs, inputs)
    wide = 130.0 * inputs / max(outputs, inputs)
    drawing.box(0, 20, "W, frozen", "kept", w=wide, h=high)
    drawing.text(0, 4, f"{outputs} × {inputs}")
    drawing.text(wide + 12, 20 + high / 2, "+", "middle", bold=True)
    left = wide + 28
    drawing.box(left, 20, "B", "write", w=26, h=high)
    drawing.text(left, 4, f"{outputs} × {rank}")
    a = drawing.box(left + 44, 20 + high / 2 - 13, "A", "write", w=wide, h=26)
    drawing.text(a.x, a.y - 14, f"{rank} × {inputs}")
    y = 20 + high + 22
    drawing.text(0, y, f"{whole:,}")
    drawing.text(left, y, f"{thin:,}, or {thin / whole:.1%} of it")
    drawing.legend(0, y + 28, {"kept": "stays as it is", "write": "gets gradients"})
    return drawing
