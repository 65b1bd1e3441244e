"""Drawings of what recent models add to a GPT: normalised queries, and four norms in a block."""

from __future__ import annotations

from itertools import pairwise

from torchbook.drawing.canvas import WIDTH, Box, Drawing

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


def norm_sandwich() -> Drawing:
    """One branch of a block twice: with a norm before the layer, and with a norm before and one after it."""
    drawing = Drawing(
        "One norm in a branch, or two",
        "In a pre-norm branch the stream passes a norm and then the layer, whose output is added as it is. In a "
        "sandwich a second norm follows the layer, so what is added to the stream has a size that is learnt.",
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
