"""Drawings of what recent models add to a GPT: normalised queries, and four norms in a block."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from torch import Tensor

from torchbook.drawing.canvas import WIDTH, Box, Drawing, Point

_H = 30.0
_STEP = _H + 20


def attention_path(width: int, heads: int, key_heads: int, head_dim: int, *, norm: bool = True) -> Drawing:
    """The way of queries, keys and values of one token, from the stream to the scores, with the sizes.

    Args:
        width: channels of the stream.
        heads: of the queries.
        key_heads: heads of keys and values.
        head_dim: channels of a head.
        norm: whether queries and keys are normalised before they are turned.
    """
    steps = ["a norm in each head, then " if norm else "", "a rotation"]
    drawing = Drawing(
        "From the stream to the scores",
        f"A token of {width} channels is projected to {heads} queries, {key_heads} keys and {key_heads} values of "
        f"{head_dim} channels. Queries and keys pass {''.join(steps)}; values pass neither.",
    )
    w, gap = 114.0, (WIDTH - 6 - 3 * 114) / 2
    xs = [number * (w + gap) for number in range(3)]
    stream = drawing.box(0, 0, f"token: {width} channels", "kept", w=xs[2] + w, h=_H)
    lowest = []
    for x, name, many in zip(xs, ("q", "k", "v"), (heads, key_heads, key_heads), strict=True):
        column = [(f"{width} → {many * head_dim}", ""), (f"{name}: {many} × {head_dim}", "")]
        if name != "v":
            column += [("RMSNorm", "read")] * norm + [("rotate", "")]
        boxes = [drawing.box(x, (1 + n) * _STEP, text, role, w=w, h=_H) for n, (text, role) in enumerate(column)]
        drawing.arrow((boxes[0].top[0], stream.bottom[1]), boxes[0])
        for upper, lower in pairwise(boxes):
            drawing.arrow(upper, lower)
        lowest.append(boxes[-1])
    y = (4 + norm) * _STEP
    scores = drawing.box(0, y, "scores", w=xs[1] + w, h=_H)
    for box in lowest[:2]:
        drawing.arrow(box, (box.bottom[0], scores.y))
    mixed = drawing.box(xs[2], y, "weighted mean", w=w, h=_H)
    drawing.arrow(scores, mixed)
    drawing.arrow(lowest[2], mixed)
    drawing.legend(0, y + _H + 18, {"kept": "the stream", "read": "a norm"})
    return drawing


def slot_map(filled: Mapping[str, str]) -> Drawing:
    """What Llama computes, step by step, and beside each step the slot that a newer family may fill.

    Args:
        filled: a slot to what is written in it: embed_scale, norm, query_norm, rescale, scale, window, attention_after,
            act, mlp_after or cap. Slots that are not named are drawn empty, with the names that the code gives them.

    Raises:
        ValueError: there is no such slot.
    """
    steps = [
        ("embedding", "embed_scale", "embed_scale"),
        ("norm", "norm", ""),
        ("queries, keys", "query_norm", "query_norm, key_norm"),
        ("rotation", "rescale", "base, rescale"),
        ("scores", "scale", "scale, cap"),
        ("mask, softmax", "window", "window"),
        ("output, then +", "attention_after", "attention_after"),
        ("norm", "norm", ""),
        ("gate of the MLP", "act", "act"),
        ("down, then +", "mlp_after", "mlp_after"),
        ("norm, head", "cap", "cap"),
    ]
    unknown = set(filled) - {slot for _, slot, _ in steps}
    if unknown:
        raise ValueError(f"no slot {', '.join(sorted(unknown))}")
    said = [f"{step}: {filled.get(slot) or names}" for step, slot, names in steps if slot in filled or names]
    drawing = Drawing("Llama and its slots", "From top to bottom, steps and slots. " + "; ".join(said) + ".")
    w, high, gap, right = 134.0, 26.0, 12.0, 190.0
    y, previous = 0.0, None
    for number, (step, slot, names) in enumerate(steps):
        y += 14 if number in (1, 10) else 0  # around the block
        box = drawing.box(12, y, step, "kept", w=w, h=high)
        if previous is not None:
            drawing.arrow(previous, box)
        if slot in filled or names:
            role = "write" if slot in filled else "absent"
            beside = drawing.box(right, y, filled.get(slot, names), role, w=WIDTH - 8 - right, h=high)
            drawing.line([box.right, beside.left], "" if slot in filled else "absent")
        y, previous = y + high + gap, box
        if number == 0:
            top = y
        if number == 9:
            low = y
    drawing.line([(6, top), (0, top), (0, low), (6, low)])
    drawing.text(right, low + 1, "repeated in each layer")
    meanings = {"kept": "a step of Llama", "write": "a filled slot", "absent": "an empty slot"}
    there = [
        "kept",
        *["write"] * bool(filled),
        *["absent"] * any(names and slot not in filled for _, slot, names in steps),
    ]
    drawing.legend(0, y + 14, {role: meanings[role] for role in there})
    return drawing


def seen_angles(cases: Mapping[str, tuple[float, float]]) -> Drawing:
    """The angles of a pair of channels: those that a model has seen in training, and those that a longer text adds.

    Args:
        cases: two or three names of a pair to how many turns it makes in a text of training, and in a longer one.

    Raises:
        ValueError: another number of cases, or an angle below 0.
    """
    if len(cases) not in (2, 3) or any(min(turns) < 0 for turns in cases.values()):
        raise ValueError("two or three pairs of channels, with angles of at least 0")
    drawing = Drawing(
        "Angles seen in training, and angles that a longer text adds",
        "; ".join(
            f"{name}: {seen:.2f} turns in training, {most:.2f} in the longer text"
            for name, (seen, most) in cases.items()
        )
        + ".",
    )
    r = WIDTH / len(cases) / 2 - 16
    for number, (name, (seen, most)) in enumerate(cases.items()):
        x, y = (2 * number + 1) * WIDTH / len(cases) / 2, r + 30
        drawing.text(x, 0, name, "middle", bold=True)
        drawing.circle(x, y, r)
        old = min(seen, 1.0)
        _wedge(drawing, (x, y), r, (old, min(most, 1.0)), "write")
        _wedge(drawing, (x, y), r, (0.0, old), "kept")
        drawing.text(x, 2 * r + 46, f"{most:,.0f} turns" if most >= 10 else f"{most:.2f} turns", "middle")
    drawing.legend(0, 2 * r + 74, {"kept": "seen in training", "write": "new in a longer text"})
    return drawing


def _wedge(drawing: Drawing, middle: Point, r: float, turns: tuple[float, float], role: str) -> None:
    """Spokes, close to each other, between two angles that are given in turns; none between equal ones."""
    (x, y), (low, high) = middle, turns
    if high <= low:
        return
    many = max(1, round(72 * (high - low)))
    for number in range(many + 1):
        angle = 2 * math.pi * (low + (high - low) * number / many)
        drawing.line([(x, y), (x + r * math.cos(angle), y - r * math.sin(angle))], role)


def head_widths(width: int, ways: Mapping[str, tuple[int, int]]) -> Drawing:
    """The channels of the stream and, to the same scale, those of all heads in some ways to choose them.

    Args:
        width: channels of the stream.
        ways: name of a way to its number of heads and the channels of a head.

    Raises:
        ValueError: no ways, or a size that is not positive.
    """
    if not ways or width < 1 or any(min(way) < 1 for way in ways.values()):
        raise ValueError("head_widths needs ways with positive sizes")
    said = [
        f"{name}: {heads} heads of {head_dim} channels, {heads * head_dim} together"
        for name, (heads, head_dim) in ways.items()
    ]
    drawing = Drawing("Heads beside the stream", f"The stream has {width} channels. " + "; ".join(said) + ".")
    longest = max(width, *(heads * head_dim for heads, head_dim in ways.values()))
    room = WIDTH - 10
    y = 0.0
    for name, heads, head_dim in [("the stream", 1, width), *((name, *way) for name, way in ways.items())]:
        each = room * head_dim / longest
        drawing.text(0, y, name if heads == 1 else f"{name}: {heads} heads of {head_dim}", bold=True)
        for head in range(heads):
            drawing.box(head * each, y + 14, role="kept" if heads == 1 else "read", w=each - 1, h=22)
        end = heads * each
        if end < 0.8 * room:
            drawing.text(end + 10, y + 25, f"{heads * head_dim:,} channels")
        else:
            drawing.text(room, y, f"{heads * head_dim:,} channels", "end")
        y += 60
    return drawing


def tips(ways: Mapping[str, Tensor]) -> Drawing:
    """Where a vector of two channels ends at positions 0, 1, 2, …, and a circle with its length at position 0.

    Args:
        ways: name of a way to compute it, to its channels (positions, 2); two ways.

    Raises:
        ValueError: another number of ways, or other shapes.
    """
    if len(ways) != 2 or any(way.dim() != 2 or way.shape[1] != 2 or not len(way) for way in ways.values()):
        raise ValueError("two ways with vectors of two channels, (positions, 2), can be drawn")
    lengths = {name: [math.hypot(*row) for row in way.tolist()] for name, way in ways.items()}
    drawing = Drawing(
        "One vector at several positions",
        "; ".join(f"{name}: lengths between {min(many):.2f} and {max(many):.2f}" for name, many in lengths.items())
        + ".",
    )
    half = WIDTH / 4
    scale = (half - 22) / max(max(many) for many in lengths.values())
    for number, (name, way) in enumerate(ways.items()):
        x, y = (2 * number + 1) * half, half + 14
        drawing.text(x, 0, name, "middle", bold=True)
        drawing.circle(x, y, lengths[name][0] * scale, role="absent")
        for position, (a, b) in enumerate(way.tolist()):
            tip = (x + a * scale, y - b * scale)
            if position == 0:
                drawing.arrow((x, y), tip, "kept")
                drawing.text(tip[0] + 6, tip[1] - 8, "0")
            else:
                drawing.circle(*tip, 3, role="read")
    drawing.legend(0, 2 * half + 20, {"kept": "position 0", "read": "later positions"})
    return drawing


def window_reach(read: Tensor, names: Sequence[str]) -> Drawing:
    """What the last token depends on in each layer, from its output at the top down to the embedding.

    Args:
        read: (layers + 1, tokens), true where the last token's output depends on a token.
        names: of the rows, from the top.

    Raises:
        ValueError: the number of names is not that of the rows, or there are more than 20 tokens.
    """
    if read.dim() != 2 or len(read) != len(names) or read.shape[1] > 20:
        raise ValueError("one name a row, and 20 tokens at most")
    rows = [[bool(one) for one in row] for row in read.tolist()]
    count = read.shape[1]
    said = [f"{name}: {sum(row)} of {count} tokens" for name, row in zip(names, rows, strict=True)]
    drawing = Drawing("What the last token depends on", "; ".join(said) + ".")
    left = 100.0
    side = (WIDTH - 8 - left) / count
    for r, name in enumerate(names):
        drawing.text(left - 8, 28 * r + 12, name, "end")
    drawing.grid(left, 0, [[""] * count] * len(rows), lambda r, c: "read" if rows[r][c] else "absent", cell=(side, 28))
    y = 28 * len(rows) + 10
    for token in range(count):
        if (count - 1 - token) % 3 == 0:
            drawing.text(left + (token + 0.5) * side - 1, y, str(count - 1 - token), "middle")
    drawing.text(left, y + 20, "how many tokens back")
    return drawing


def cached_layers(rows: Mapping[str, Mapping[str, float]], unit: str) -> Drawing:
    """The memory of a cache, shared out between global and local layers: a bar for each case.

    Args:
        rows: name of a case to what its "global layers" and its "local layers" take.
        unit: after the totals, such as " GiB".

    Raises:
        ValueError: no case, or another kind of layers.
    """
    roles = {"global layers": "kept", "local layers": "read"}
    if not rows or any(kind not in roles for row in rows.values() for kind in row):
        raise ValueError(f"kinds are {', '.join(roles)}")
    said = [
        f"{name}: " + ", ".join(f"{kind} {many:.3g}{unit}" for kind, many in row.items()) for name, row in rows.items()
    ]
    drawing = Drawing("The cache of keys and values", "; ".join(said) + ".")
    longest = max(sum(row.values()) for row in rows.values())
    y = 0.0
    for name, row in rows.items():
        drawing.text(0, y, f"{name}: {sum(row.values()):.3g}{unit}", bold=True)
        x = 0.0
        for kind, role in roles.items():
            w = (WIDTH - 10) * row.get(kind, 0.0) / longest
            if w:
                drawing.box(x, y + 14, role=role, w=w, h=24)
            x += w
        y += 60
    drawing.legend(0, y, {roles[kind]: kind for kind in roles})
    return drawing


def score_blocks(some: Tensor, all_: Tensor) -> Drawing:
    """Which blocks of scores a kernel computes whole, computes with the mask, or skips.

    Args:
        some: (blocks of queries, blocks of keys), bool: some query of the block may read some key.
        all_: the same shape: each query of the block may read each key.

    Raises:
        ValueError: the two differ in shape, or there are more than 12 blocks of keys.
    """
    if some.shape != all_.shape or some.dim() != 2 or some.shape[1] > 12:
        raise ValueError("two masks of one shape, with 12 blocks of keys at most")
    kinds = [
        ["all" if whole else "part" if part else "" for part, whole in zip(*rows, strict=True)]
        for rows in zip(some.tolist(), all_.tolist(), strict=True)
    ]
    said = [
        f"row {r}: " + (", ".join(f"{kind} of block {c}" for c, kind in enumerate(row) if kind) or "nothing")
        for r, row in enumerate(kinds)
    ]
    drawing = Drawing("Blocks of scores to compute", "; ".join(said) + ".")
    left = 46.0
    w = min(42.0, (WIDTH - 8 - left) / len(kinds[0]))
    for c in range(len(kinds[0])):
        drawing.text(left + (c + 0.5) * w - 1, 0, f"k{c}", "middle")
    for r in range(len(kinds)):
        drawing.text(left - 8, 14 + 26 * (r + 0.5), f"q{r}", "end")
    roles = {"all": "kept", "part": "read", "": "absent"}
    drawing.grid(left, 14, kinds, lambda r, c: roles[kinds[r][c]], cell=(w, 26))
    meanings = {"kept": "computed", "read": "computed, with the mask", "absent": "skipped"}
    drawing.legend(0, 26 * len(kinds) + 32, meanings)
    return drawing


def norm_sandwich() -> Drawing:
    """One branch of a block twice: with a norm before the layer, and with a norm before and one after it."""
    drawing = Drawing(
        "One norm in a branch, or two",
        "In a pre-norm branch the stream passes a norm and then the layer, whose output is added as it is. In a "
        "sandwich a second norm follows the layer, so what is added to the stream has a size that is learned.",
    )
    for x, name, layers in (
        (0.0, "pre-norm", ["norm", "attention"]),
        (200.0, "sandwich", ["norm", "attention", "norm"]),
    ):
        drawing.text(x, 0, name, bold=True)
        low, top = 4.6 * _STEP, 26.0
        stream = x + 14
        leave, at = low - 8, low
        previous: Box | tuple[float, float] = (stream, leave)
        for layer in layers:
            box = drawing.box(x + 48, at - _H - 20, layer, "read" if layer == "norm" else "", w=110, h=_H)
            drawing.arrow(previous, box, via=[(box.bottom[0], leave)] if isinstance(previous, tuple) else [])
            previous, at = box, at - _STEP
        assert isinstance(previous, Box)
        plus = drawing.circle(stream, top + 26, 10, "+", "kept")
        drawing.arrow(previous, (stream + 10, top + 26), via=[(previous.top[0], top + 26)])
        drawing.arrow((stream, low), (stream, plus.y + plus.h), "kept")
        drawing.arrow((stream, plus.y), (stream, 14), "kept")
    drawing.legend(0, 4.6 * _STEP + 22, {"kept": "the stream", "read": "a norm"})
    return drawing
