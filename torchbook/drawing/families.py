"""Drawings of what recent models add to a GPT: normalised queries, four norms, experts, a compressed cache."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from torch import Tensor

from torchbook.drawing.canvas import LINE, WIDTH, Box, Drawing

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


def routing(weights: Tensor, experts: Tensor, count: int) -> Drawing:
    """Which experts compute which tokens, and with which weight.

    Args:
        weights: (tokens, chosen), as a router gives them.
        experts: (tokens, chosen), the number of the expert for each weight.
        count: number of experts.

    Raises:
        ValueError: the two differ in shape, or there are more than 8 tokens or experts.
    """
    if weights.shape != experts.shape or weights.dim() != 2 or max(len(experts), count) > 8:
        raise ValueError("weights and experts of one shape (tokens, chosen), 8 tokens and 8 experts at most")
    chosen = [dict(zip(e, w, strict=True)) for e, w in zip(experts.tolist(), weights.tolist(), strict=True)]
    said = [
        f"token {t} goes to " + " and ".join(f"expert {e} with weight {row[e]:.2f}" for e in sorted(row))
        for t, row in enumerate(chosen)
    ]
    drawing = Drawing("Where the router sends each token", "; ".join(said) + ".")
    left, w = 34.0, 42.0
    for e in range(count):
        drawing.text(left + e * w + w / 2, 0, f"e{e}", "middle", bold=True)
    cells = [[f"{row[e]:.2f}" if e in row else "" for e in range(count)] for row in chosen]
    drawing.grid(left, 14, cells, lambda r, c: "read" if c in chosen[r] else "absent", cell=(w, 26))
    for t in range(len(chosen)):
        drawing.text(left - 8, 14 + 26 * t + 12, f"t{t}", "end", bold=True)
    y = 14 + 26 * len(chosen) + 14
    rows = [sum(e in row for row in chosen) for e in range(count)]
    for e, many in enumerate(rows):
        drawing.text(left + e * w + w / 2, y, str(many), "middle")
    drawing.text(0, y + 24, "last row: how many tokens an expert computes")
    drawing.legend(0, y + 50, {"read": "computed", "absent": "not computed"})
    return drawing


def specialists(source: Tensor, experts: Tensor, count: int) -> Drawing:
    """Which expert computes the tokens of which source, as a share of the source's tokens in percent.

    Args:
        source: (tokens,), where each token comes from, counted from 0.
        experts: (tokens,) or (tokens, chosen), as a router gives them.
        count: number of experts.

    Raises:
        ValueError: another number of sources than of rows of experts, or more than 8 sources or experts.
    """
    groups = int(source.max()) + 1
    if len(source) != len(experts) or max(groups, count) > 8:
        raise ValueError("a source and its experts for each token, of 8 sources and 8 experts at most")
    each = experts.reshape(len(experts), -1)
    pairs = (source[:, None] * count + each).flatten().bincount(minlength=groups * count).reshape(groups, count)
    percent = [
        [round(100 * n / max(1, m)) for n in row] for row, m in zip(pairs.tolist(), _totals(source), strict=True)
    ]
    said = [
        f"source {g}: " + ", ".join(f"{share} % to expert {e}" for e, share in enumerate(row) if share)
        for g, row in enumerate(percent)
    ]
    drawing = Drawing("Which expert computes which source", "; ".join(said) + ".")
    left, w, h = 74.0, 37.0, 24.0
    for e in range(count):
        drawing.text(left + e * w + w / 2, 0, f"e{e}", "middle", bold=True)
    cells = [[str(share) if share else "" for share in row] for row in percent]
    drawing.grid(left, 14, cells, lambda r, c: "read" if percent[r][c] >= 50 else "absent", cell=(w, h))
    for g in range(groups):
        drawing.text(left - 8, 14 + h * g + h / 2, f"source {g}", "end")
    y = 14 + h * groups + 14
    for e, many in enumerate(pairs.sum(0).tolist()):
        share = round(100 * many / len(source))
        drawing.text(left + e * w + w / 2, y, str(share), "middle", bold=True)
    drawing.text(left - 8, y, "all", "end", bold=True)
    drawing.text(0, y + 24, "in percent of the tokens of the row")
    return drawing


def _totals(source: Tensor) -> list[int]:
    return [int(n) for n in source.bincount().tolist()]


def loads(runs: Mapping[str, Tensor]) -> Drawing:
    """The share of the tokens that each expert computes, as bars, for several runs below each other.

    Args:
        runs: name of a run to the shares (experts,) of its experts, each between 0 and 1.

    Raises:
        ValueError: no runs, more than 8 experts, or runs with different numbers of experts.
    """
    shares = {name: [float(one) for one in load.tolist()] for name, load in runs.items()}
    counts = {len(load) for load in shares.values()}
    if len(counts) != 1 or max(counts) > 8:
        raise ValueError("loads needs runs with the same number of experts, 8 at most")
    (count,) = counts
    even = 1 / count
    said = [f"{name}: " + ", ".join(f"{100 * one:.0f} %" for one in load) for name, load in shares.items()]
    drawing = Drawing("Share of the tokens that each expert computes", "; ".join(said) + ".")
    w, high, y = 46.0, 66.0, 0.0
    scale = high / max(max(load) for load in shares.values())
    for name, load in shares.items():
        drawing.text(0, y, name, bold=True)
        floor = y + 30 + high
        for e, one in enumerate(load):
            x, tall = e * w, max(one * scale, 1.0)
            drawing.box(x + 6, floor - tall, role="read", w=w - 12, h=tall)
            clear = max(tall, even * scale) if tall > even * scale - 14 else tall  # of the dashed line
            drawing.text(x + w / 2, floor - clear - 10, f"{100 * one:.0f} %", "middle")
            drawing.text(x + w / 2, floor + 12, f"e{e}", "middle")
        drawing.line([(0, floor - even * scale), (count * w, floor - even * scale)], "absent")
        y = floor + 40
    drawing.text(0, y, f"dashed: an even share, {100 * even:.1f} %")
    return drawing


def sorted_rows(experts: Tensor, count: int) -> Drawing:
    """The rows of a grouped product: in the order of the tokens, then sorted by the expert that they go to.

    Args:
        experts: (tokens, chosen), as a router gives them.
        count: number of experts.

    Raises:
        ValueError: more than 12 rows, or an expert that there is not.
    """
    flat = [int(e) for e in experts.flatten().tolist()]
    if not 0 < len(flat) <= 12 or max(flat) >= count:
        raise ValueError(f"{len(flat)} rows for {count} experts: 12 rows at most, and experts below their number")
    token = [row // experts.shape[1] for row in range(len(flat))]
    order = sorted(range(len(flat)), key=lambda row: flat[row])
    ends = [sum(e <= last for e in flat) for last in range(count)]
    drawing = Drawing(
        "Rows sorted by expert",
        f"{len(flat)} rows, sorted by expert, so that the rows of an expert follow each other. Expert by expert they "
        f"end before row {', '.join(map(str, ends))}.",
    )
    w = min(31.0, WIDTH / len(flat) - 0.5)
    drawing.text(0, 0, "in order of tokens; below, by expert", bold=True)
    above = drawing.grid(0, 14, [[f"t{t}" for t in token]], lambda r, c: _shade(flat[c]), cell=(w, 28))[0]
    below = drawing.grid(
        0, 92, [[f"t{token[row]}" for row in order]], lambda r, c: _shade(flat[order[c]]), cell=(w, 28)
    )
    for place, row in enumerate(order):
        drawing.line([above[row].bottom, (below[0][place].top[0], 91)], "absent")
    y, start = 126.0, 0
    for expert, end in enumerate(ends):
        if end > start:
            a, b = below[0][start].x, below[0][end - 1].x + below[0][end - 1].w
            drawing.line([(a + 2, y), (b - 2, y)])
            drawing.text((a + b) / 2, y + 14, f"e{expert}", "middle")
        start = end
    drawing.text(0, y + 42, f"offs = {ends}", mono=True)
    return drawing


def _shade(expert: int) -> str:
    """Neighbouring experts differ."""
    return "read" if expert % 2 else ""


def latent_cache(width: int, heads: int, plain: int, turned: int, value: int, latent: int) -> Drawing:
    """Multi-head latent attention: what a token leaves in the cache, and the keys and values made from it.

    Args:
        width: channels of the stream.
        heads: number of heads.
        plain: channels of a head's key that are not turned.
        turned: channels of the key that are turned by the position, and that all heads share.
        value: channels of a head's value.
        latent: channels of the vector that keys and values are made from.
    """
    kept, whole = latent + turned, heads * (plain + turned + value)
    drawing = Drawing(
        "What is kept, and what is made from it",
        f"A token of {width} channels is projected down to {latent} channels and, beside them, {turned} that are "
        f"turned by the position. These {kept} numbers are kept. From the {latent}, a matrix makes {heads} keys of "
        f"{plain} channels and {heads} values of {value}; all heads share the {turned}. As heads they would be "
        f"{whole:,} numbers.",
    )
    stream = drawing.box(0, 0, f"token: {width} channels", w=WIDTH - 6, h=_H)
    small = drawing.box(0, _STEP + 14, f"latent: {latent}", "kept", w=230, h=_H)
    shared = drawing.box(250, _STEP + 14, f"turned: {turned}", "kept", w=124, h=_H)
    for box in (small, shared):
        drawing.arrow((box.top[0], stream.bottom[1]), box)
    drawing.text(0, 2 * _STEP + 12, f"kept in the cache: {kept} numbers")
    y = 3 * _STEP
    keys = drawing.box(0, y, f"{heads} keys\nof {plain}", w=108, h=2 * LINE + 10)
    values = drawing.box(122, y, f"{heads} values\nof {value}", w=108, h=2 * LINE + 10)
    alike = drawing.box(250, y, f"the same\nin {heads} heads", w=124, h=2 * LINE + 10)
    for box in (keys, values):
        drawing.arrow((box.top[0], 2 * _STEP + 24), box)
    drawing.arrow((alike.top[0], shared.bottom[1]), alike)
    drawing.text(0, y + 2 * LINE + 30, f"made when they are needed: {whole:,} numbers")
    drawing.legend(0, y + 2 * LINE + 58, {"kept": "kept for each token", "": "not kept"})
    return drawing
