"""Drawings of mixtures of experts, and of latent attention: who computes a token, and what is kept of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from torchbook.drawing.canvas import LINE, WIDTH, Box, Drawing

_H = 30.0
_STEP = _H + 20


def one_token(
    weights: Mapping[int, float], count: int, *, scores: Sequence[float] = (), shared: bool = False
) -> Drawing:
    """One token in a mixture of experts: what the router says, which experts compute, and what is added up.

    Args:
        weights: of the token's experts, by their number.
        count: number of experts.
        scores: what the router gives each expert, if it is to be shown.
        shared: whether one more expert computes every token.

    Raises:
        ValueError: more than 16 experts, or 8 with scores; other experts than there are; another number of scores.
    """
    if not weights or count > (8 if scores else 16) or max(weights) >= count or len(scores) not in (0, count):
        raise ValueError(f"weights of some of {count} experts, 16 at most, or 8 with a score for each")
    said = " and ".join(f"expert {e} with weight {weights[e]:.2f}" for e in sorted(weights))
    drawing = Drawing(
        "One token in a mixture of experts",
        f"The token goes to the router, which chooses {len(weights)} of {count} experts: {said}. The other experts "
        "do not compute. "
        + ("One shared expert computes every token. " if shared else "")
        + "The answers, times their weights, are added up.",
    )
    wide = WIDTH - 6
    token = drawing.box(0, 0, "token x", w=wide, h=_H)
    left = 78.0 if shared else 0.0
    router = drawing.box(left, _STEP, "router", w=wide - left, h=_H)
    drawing.arrow((router.top[0], token.bottom[1]), router)
    each, y = (wide - left) / count, 2 * _STEP + (40 if scores else 16)
    out = drawing.box(0, y + 92, "output: the sum", "kept", w=wide, h=_H)
    for e in range(count):
        x = left + e * each + each / 2
        if scores:
            drawing.text(x, router.bottom[1] + 12, f"{scores[e]:.2f}", "middle", bold=e in weights)
        name = f"e{e}" if each > 32 else ""
        box = drawing.box(x - each / 2 + 2, y, name, "read" if e in weights else "absent", w=each - 4, h=36)
        if e in weights:
            drawing.arrow((x, router.bottom[1] + (22 if scores else 0)), box, "read")
            drawing.arrow(box, (x, out.y), "read")
            if each >= 60:
                at, anchor = (x - 6, "end") if x > wide - 60 else (x + 6, "start")
                drawing.text(at, y + 64, f"× {weights[e]:.2f}", anchor)
    if shared:
        always = drawing.box(0, y, "shared", "write", w=66, h=36)
        drawing.arrow((always.top[0], token.bottom[1]), always, "write")
        drawing.arrow(always, (always.bottom[0], out.y), "write")
    meanings = {"read": "computed", "absent": "not computed"} | ({"write": "computed for all"} if shared else {})
    low = y + 112 + _H
    if each < 60:
        drawing.text(0, low, "weights: " + ", ".join(f"{weights[e]:.2f}" for e in sorted(weights)))
        low += 24
    drawing.legend(0, low, meanings)
    return drawing


def expert_boxes(chosen: Sequence[int], count: int, row: int) -> Drawing:
    """All experts of a layer as small boxes, in rows, and those that one token uses.

    Args:
        chosen: the numbers of the token's experts.
        count: number of experts.
        row: experts of a row, of which the number is written before it.

    Raises:
        ValueError: an expert that is not there, more than 32 experts in a row, or no whole number of rows.
    """
    if not chosen or max(chosen) >= count or not 0 < row <= 32 or count % row:
        raise ValueError(f"some of {count} experts, in whole rows of 32 at most")
    drawing = Drawing(
        "The experts of one layer, and those of one token",
        f"{count} experts in {count // row} rows. The token uses {len(chosen)} of them: "
        + "; ".join(
            f"{sum(e // row == r for e in chosen)} in row {r}"
            for r in range(count // row)
            if any(e // row == r for e in chosen)
        )
        + ".",
    )
    left, tall = 18.0, 18.0
    side = (WIDTH - 8 - left) / row
    for r in range(count // row):
        drawing.text(left - 8, r * tall + tall / 2 - 1, str(r), "end")
    for e in range(count):
        at = (left + e % row * side, e // row * tall)
        drawing.box(*at, role="read" if e in chosen else "", w=side - 2, h=tall - 2)
    drawing.legend(0, count // row * tall + 14, {"read": "computed for this token", "": "not computed"})
    return drawing


def hidden_units(networks: Mapping[str, tuple[int, Sequence[int]]], size: int) -> Drawing:
    """Which hidden units of some networks are computed for one token, in blocks of units.

    Args:
        networks: their names, to the number of blocks and those that are computed, counted from 0.
        size: hidden units of a block.

    Raises:
        ValueError: no networks, more than 8 blocks, or a block that is not there.
    """
    if not networks or any(count > 8 or max(which) >= count for count, which in networks.values()):
        raise ValueError("networks of 8 blocks at most, and blocks that they have")
    said = [
        f"{name}: {size * count} units, of which {size * len(which)} are computed"
        for name, (count, which) in networks.items()
    ]
    drawing = Drawing("Which hidden units a token computes", "; ".join(said) + ".")
    w, y = 46.0, 0.0
    for name, (count, which) in networks.items():
        drawing.text(0, y, name, bold=True)
        for number in range(count):
            drawing.box(number * w, y + 14, str(size), "read" if number in which else "absent", w=w - 4, h=28)
        y += 62
    drawing.legend(0, y, {"read": "computed for the token", "absent": "not computed"})
    return drawing


def rounded(exact: Mapping[str, float], coarse: Mapping[str, float]) -> Drawing:
    """Scores on a line, as computed exactly and in bfloat16, above the numbers that bfloat16 has there.

    Args:
        exact: names to scores.
        coarse: the same names, to what bfloat16 made of them.

    Raises:
        ValueError: other names, or scores so far apart that more than 12 numbers of bfloat16 lie there.
    """
    values = [*exact.values(), *coarse.values()]
    low, high = min(values), max(values)
    bits = torch.tensor([low, high]).bfloat16().view(torch.int16).tolist()
    first, last = min(bits) - 1, max(bits) + 1
    if exact.keys() != coarse.keys() or low <= 0 or last - first > 12:
        raise ValueError("the same names, and positive scores that lie close together")
    there = torch.arange(first, last + 1, dtype=torch.int16).view(torch.bfloat16).tolist()
    said = [f"{name} is {exact[name]:.5f}, and {coarse[name]:.5f} in bfloat16" for name in exact]
    drawing = Drawing("Scores before and after rounding", "; ".join(said) + ".")
    wide, y = WIDTH - 70, 66.0

    def place(value: float) -> float:
        return 30 + (value - there[0]) / (there[-1] - there[0]) * wide

    drawing.text(0, 0, "in fp32", bold=True)
    drawing.text(0, y + 80, "in bfloat16: only the marks exist", bold=True)
    drawing.line([(place(there[0]), y), (place(there[-1]), y)])
    for value in there:
        drawing.line([(place(value), y - 5), (place(value), y + 5)])
    for number, name in enumerate(exact):
        role = ("read", "write", "kept")[number % 3]
        x, to = place(exact[name]), place(coarse[name])
        drawing.text(x, y - 44 + 17 * (number % 2), name, "middle")
        drawing.circle(x, y - 12, 4, role=role)
        drawing.arrow((x, y - 6), (to, y + 30), role)
        drawing.text(to, y + 42 + 17 * (number % 2), name, "middle")
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


def cache_squares(caches: Mapping[str, int], head: int, compressed: str) -> Drawing:
    """How much one token leaves in a cache: a square for the key and the value of one head.

    Args:
        caches: names to the numbers that a token leaves in one layer.
        head: numbers of one key and one value together, which a square is.
        compressed: the cache that keeps something else than keys and values.

    Raises:
        ValueError: there is no such cache, or one needs more than 160 squares.
    """
    if compressed not in caches or max(caches.values()) > 160 * head:
        raise ValueError(f"{compressed!r} among caches of {160 * head} numbers at most")
    said = [f"{name}: {count:,} numbers" for name, count in caches.items()]
    drawing = Drawing("What one token leaves in one layer", "; ".join(said) + ".")
    row, y = 32, 0.0
    side = (WIDTH - 8) / row
    for name, count in caches.items():
        drawing.text(0, y, f"{name}: {count:,}", bold=True)
        whole, rest = divmod(count, head)
        for number in range(whole + (rest > 0)):
            part = 1.0 if number < whole else rest / head
            role = "kept" if name == compressed else "read"
            at = (number % row * side, y + 14 + number // row * side)
            drawing.box(*at, role=role, w=max(2.0, part * side - 2), h=side - 2)
        y += 14 + side * -(-count // (head * row)) + 18
    drawing.legend(0, y, {"read": "a key and a value of one head", "kept": "as many other numbers"})
    return drawing


def absorbed_query(matrix: Tensor, query: Tensor, latents: Tensor) -> Drawing:
    """Scores of one query for some old tokens twice: with their keys, and with the matrix applied to the query.

    Args:
        matrix: (channels, latent), which makes a key from a latent vector.
        query: (channels,).
        latents: (tokens, latent), what the cache holds.

    Raises:
        ValueError: more than 3 tokens, or vectors longer than 2.
    """
    if len(latents) > 3 or max(matrix.shape) > 2:
        raise ValueError("three tokens at most, and vectors of two numbers")
    keys, moved = latents @ matrix.T, query @ matrix
    scores = keys @ query
    many = len(latents)
    drawing = Drawing(
        "The matrix moves to the query",
        f"With keys, the matrix W is applied to {many} latent vectors, {', '.join(map(_vector, latents))}, which gives "
        f"the keys {', '.join(map(_vector, keys))}; the query {_vector(query)} has the scores "
        f"{', '.join(map(_vector, scores))}. Absorbed, the matrix is applied once, to the query, which gives "
        f"{_vector(moved)}; its dot products with the latent vectors are the same scores.",
    )
    w, y = 72.0, 18.0
    xs = [WIDTH - 6 - (many - n) * (w + 16) + 16 for n in range(many)]

    def row(y: float, texts: Sequence[str], role: str = "") -> list[Box]:
        return [drawing.box(x, y, text, role, w=w, h=_H) for x, text in zip(xs, texts, strict=True)]

    def down(upper: Sequence[Box], lower: Sequence[Box], text: str = "") -> None:
        for a, b in zip(upper, lower, strict=True):
            drawing.arrow(a, b, text=text)

    said_latents, said_scores = [_vector(one) for one in latents], [_vector(one) for one in scores]
    drawing.text(0, 0, f"with keys: W is applied {many} times", bold=True)
    kept = row(y, said_latents, "kept")
    made = row(y + _STEP, [_vector(key) for key in keys], "read")
    last = row(y + 2 * _STEP, said_scores)
    down(kept, made, "W")
    down(made, last)
    for name, at in (("latent", kept), ("keys", made)):
        drawing.text(0, at[0].left[1], name)
    asks = drawing.box(0, y + 2 * _STEP, f"q {_vector(query)}", "write", w=w + 6, h=_H)
    drawing.arrow(asks, last[0])
    y += 3 * _STEP + 18
    drawing.text(0, y - 18, "absorbed: Wᵀ is applied once, to the query", bold=True)
    asks = drawing.box(0, y, f"q {_vector(query)}", "write", w=w + 6, h=_H)
    kept, last = row(y, said_latents, "kept"), row(y + _STEP, said_scores)
    down(kept, last)
    turned = drawing.box(0, y + _STEP, _vector(moved), "write", w=w + 6, h=_H)
    drawing.arrow(asks, turned, text="Wᵀ")
    drawing.arrow(turned, last[0])
    drawing.legend(0, y + 2 * _STEP + 4, {"kept": "in the cache", "read": "a key", "write": "the query", "": "a score"})
    return drawing


def _vector(x: Tensor) -> str:
    """As on paper: (3, −1), and a single number without brackets."""
    said = ", ".join(f"{one:g}".replace("-", "−") for one in x.flatten().tolist())
    return f"({said})" if x.dim() else said


def turned_away(vectors: Mapping[str, Tensor]) -> Drawing:
    """Vectors of two numbers as arrows from one point, each with its name.

    Args:
        vectors: names to the vectors (2,).

    Raises:
        ValueError: none, more than 4, or one that is not of two numbers.
    """
    if not 0 < len(vectors) <= 4 or any(one.shape != (2,) for one in vectors.values()):
        raise ValueError("one to four vectors of two numbers")
    drawing = Drawing(
        "One query, as each distance needs it",
        "; ".join(f"{name}: {_vector(one)}" for name, one in vectors.items()) + ".",
    )
    unit = 36.0
    points = {name: (one[0].item() * unit, -one[1].item() * unit) for name, one in vectors.items()}
    low = min(0.0, *(y for _, y in points.values())) - 26
    x0 = 26 - min(0.0, *(x for x, _ in points.values()))
    ends = [min(0.0, *(x for x, _ in points.values())), max(0.0, *(x for x, _ in points.values()))]
    rows = [min(0.0, *(y for _, y in points.values())), max(0.0, *(y for _, y in points.values()))]
    drawing.line([(x0 + ends[0] - 12, -low), (x0 + ends[1] + 12, -low)], "absent")
    drawing.line([(x0, rows[0] - low - 12), (x0, rows[1] - low + 12)], "absent")
    for (name, (x, y)), role in zip(points.items(), ("read", "write", "kept", "refused"), strict=False):
        drawing.arrow((x0, -low), (x0 + x, y - low), role)
        drawing.text(x0 + x + (8 if x >= 0 else -8), y - low + (-2 if y <= 0 else 14), name)
    return drawing


def grouped_choice(scores: Tensor, bias: Tensor, kept: Sequence[int], chosen: Sequence[int], groups: int) -> Drawing:
    """How DeepSeek-V3's router chooses for one token: scores and biases as bars, sums of groups, what is left.

    Args:
        scores: (experts,), between 0 and 1.
        bias: (experts,), added for the choice.
        kept: the groups that are kept.
        chosen: the experts that are chosen.
        groups: number of groups; neighbouring experts are a group, of two at least.

    Raises:
        ValueError: the two differ in shape, or there are more than 12 experts.
    """
    if scores.shape != bias.shape or scores.dim() != 1 or len(scores) > 12 or len(scores) % groups:
        raise ValueError("a score and a bias for each of 12 experts at most, in groups of one size")
    size = len(scores) // groups
    both = (scores + bias).view(groups, size)
    of_group = both.topk(2, dim=-1).values.sum(-1).tolist()
    said = [
        f"group {g}, whose two best sums add up to {one:.2f}, is {'kept' if g in kept else 'ruled out'}"
        for g, one in enumerate(of_group)
    ]
    drawing = Drawing(
        "Two groups are kept, then the best experts in them",
        "; ".join(said) + f". Chosen are the experts {', '.join(map(str, sorted(chosen)))}.",
    )
    gap = 8.0
    w, high = (WIDTH - 8 - gap * (groups - 1)) / len(scores), 110.0
    scale = high / max(1.0, both.max().item())
    for e, (score, extra) in enumerate(zip(scores.tolist(), bias.tolist(), strict=True)):
        g = e // size
        x = e * w + g * gap
        role = "read" if e in chosen else "" if g in kept else "absent"
        tall = (score + min(extra, 0.0)) * scale
        drawing.box(x + 2, high - tall, role=role, w=w - 4, h=tall)
        if extra:
            top = high - tall - abs(extra) * scale
            drawing.box(x + 2, top, role="kept" if extra > 0 else "refused", w=w - 4, h=abs(extra) * scale)
        drawing.text(x + w / 2, high + 14, f"e{e}", "middle", bold=e in chosen)
    y = high + 26
    for g, total in enumerate(of_group):
        x = g * (size * w + gap)
        drawing.brace((x + 2, y), (x + size * w - 2, y), f"{total:.2f}")
        drawing.text(x + size * w / 2, y + 41, "kept" if g in kept else "out", "middle", bold=g in kept)
    meanings = {"read": "chosen", "": "not chosen", "absent": "ruled out"}
    meanings |= {"kept": "bias added", "refused": "bias taken off"}
    drawing.legend(0, y + 68, meanings)
    return drawing


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
        f"A token of {width:,} channels is projected down to {latent} channels and, beside them, {turned} that are "
        f"turned by the position. These {kept} numbers are kept. From the {latent}, a matrix makes {heads} keys of "
        f"{plain} channels and {heads} values of {value}; all heads share the {turned}. As heads they would be "
        f"{whole:,} numbers.",
    )
    stream = drawing.box(0, 0, f"token: {width:,} channels", w=WIDTH - 6, h=_H)
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
