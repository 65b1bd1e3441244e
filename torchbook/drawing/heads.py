"""Drawings of attention from outside and inside: what an output reads, what a head looks at, writes and hands on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from torchbook.drawing.canvas import WIDTH, Box, Drawing, Part, text_width

_STEP = 48.0  # from one token to the next
_TOKEN = 34.0  # width of a token's box


def leak(ways: Mapping[str, Tensor], names: Sequence[str], before: Sequence[float], after: Sequence[float]) -> Drawing:
    """Outputs that are means of the inputs that they may read, before and after inputs change: which of them move.

    Args:
        ways: name of a mask to the mask (tokens, tokens), true where the output of the row reads the input of the
            column; two at most.
        names: of the tokens, three at most.
        before: an input for each token.
        after: the same, some of them changed.

    Raises:
        ValueError: sizes do not fit each other, an output reads nothing, or there are more ways or tokens than fit.
    """
    n = len(names)
    if not 0 < n <= 3 or len(before) != n or len(after) != n or not 0 < len(ways) <= 2:
        raise ValueError("one or two masks and up to three tokens can be drawn, with an input for each")
    if any(mask.shape != (n, n) or not bool(mask.any(1).all()) for mask in ways.values()):
        raise ValueError(f"a mask of {n} tokens has shape ({n}, {n}), and each row reads something")
    changed = [old != new for old, new in zip(before, after, strict=True)]
    first = changed.index(True) if any(changed) else n
    said = []
    means = {}
    for way, mask in ways.items():
        means[way] = [_means(mask, before), _means(mask, after)]
        old, new = means[way]
        moved = [name for name, a, b in zip(names, old, new, strict=True) if a != b]
        said.append(f"{way}: outputs {_numbers(old)} become {_numbers(new)}, so {', '.join(moved) or 'nothing'} moves")
    drawing = Drawing(
        "Which outputs move when the last input changes",
        f"Inputs {_numbers(before)} become {_numbers(after)}. Each output is the mean of the inputs that it reads. "
        + "; ".join(said)
        + ".",
    )
    for block, (way, mask) in enumerate(ways.items()):
        left = 64.0 + block * (n * _STEP + 20)
        drawing.text(left, 0, way, bold=True)
        old, new = means[way]
        for c, name in enumerate(names):
            drawing.text(left + c * _STEP + _TOKEN / 2, 24, name, "middle")
        for y, inputs, outputs in ((38.0, before, old), (150.0, after, new)):
            marks = ["write" if inputs is after and one else "" for one in changed]
            looks = [
                "" if inputs is before or a == b else "refused" if t < first else "write"
                for t, (a, b) in enumerate(zip(old, new, strict=True))
            ]
            tops = _row(drawing, left, y, inputs, marks)
            ends = _row(drawing, left, y + 66, outputs, looks)
            for t, end in enumerate(ends):
                for s, top in enumerate(tops):
                    if mask[t, s]:
                        drawing.line([top.bottom, end.top], "write" if inputs is after and changed[s] else "")
    for y, word in ((50.0, "input"), (116.0, "output"), (162.0, "input"), (228.0, "output")):
        drawing.text(0, y, word)
    drawing.legend(0, 264, {"write": "changed", "refused": "changed early: a leak"})
    return drawing


def _means(mask: Tensor, inputs: Sequence[float]) -> list[float]:
    return [float(torch.tensor(inputs, dtype=torch.float64)[row].mean()) for row in mask]


def _row(drawing: Drawing, x: float, y: float, numbers: Sequence[float], roles: Sequence[str]) -> list[Box]:
    return [
        drawing.box(x + c * _STEP, y, f"{one:g}", role, w=_TOKEN, h=26)
        for c, (one, role) in enumerate(zip(numbers, roles, strict=True))
    ]


def readers(matrices: Mapping[str, Tensor]) -> Drawing:
    """Which inputs each output reads, as a small square for each of some models.

    Args:
        matrices: name of a model to (tokens, tokens), true where the output of the row reads the input of the column;
            up to 8 tokens.

    Raises:
        ValueError: there is no matrix, or one that is not square or too large.
    """
    if not matrices or any(one.dim() != 2 or one.shape[0] != one.shape[1] or len(one) > 8 for one in matrices.values()):
        raise ValueError("square matrices of up to 8 tokens can be drawn")
    said = []
    for name, matrix in matrices.items():
        rows = ", ".join(str(int(row.sum())) for row in matrix)
        above = "some inputs after its own" if bool(matrix.triu(1).any()) else "no input after its own"
        said.append(f"{name}: from the first output to the last, they read {rows} inputs, and {above}")
    drawing = Drawing("Who reads whom", "; ".join(said) + ".")
    side, x, y, tall = 22.0, 0.0, 0.0, 0.0
    for name, matrix in matrices.items():
        n = len(matrix)
        wide = max(side * n, 1.1 * text_width(name))  # of bold type
        if x and x + wide > WIDTH - 6:
            x, y, tall = 0.0, y + tall + 28, 0.0
        drawing.text(x, y, name, bold=True)
        can = [[bool(one) for one in row] for row in matrix.tolist()]

        def look(r: int, c: int, can: list[list[bool]] = can) -> str:
            return "read" if can[r][c] else "absent"

        drawing.grid(x, y + 14, [[""] * n] * n, look, cell=(side, side))
        x, tall = x + wide + 18, max(tall, 14 + side * n)
    drawing.legend(0, y + tall + 18, {"read": "output (row) reads input (column)", "absent": "does not"})
    return drawing


def cut_heads(cuts: Mapping[str, Tensor]) -> Drawing:
    """From which token the numbers of each head's rows come, for several ways of cutting the channels into heads.

    Args:
        cuts: name of a way to (heads, tokens, channels of a head), each element the number of the token from which it
            comes; two heads and 6 tokens at most.

    Raises:
        ValueError: there is none, or one of another size.
    """
    if not cuts or any(one.dim() != 3 or one.shape[0] > 2 or one.shape[1] > 6 for one in cuts.values()):
        raise ValueError("up to two heads of six tokens can be drawn")
    later = {name: int((cut > torch.arange(cut.shape[1])[:, None]).sum()) for name, cut in cuts.items()}
    said = [
        f"{name}: " + (f"{count} numbers come from a later token" if count else "no number comes from a later token")
        for name, count in later.items()
    ]
    drawing = Drawing("From which token a head's rows come", "; ".join(said) + ".")
    side, y = 26.0, 0.0
    for name, cut in cuts.items():
        heads, tokens, channels = cut.shape
        drawing.text(0, y, name, bold=True)
        for h in range(heads):
            left = 56 + h * (channels * side + 34)
            drawing.text(left, y + 22, f"head {h}")
            rows = [[int(one) for one in row] for row in cut[h].tolist()]

            def look(r: int, c: int, rows: list[list[int]] = rows) -> str:
                return "refused" if rows[r][c] > r else "read" if rows[r][c] == r else ""

            drawing.grid(left, y + 36, rows, look, cell=(side, side))
        for t in range(tokens):
            drawing.text(46, y + 36 + side * (t + 0.5), f"row {t}", "end")
        y += 36 + side * tokens + 20
    drawing.legend(
        0, y + 2, {"read": "from its own token", "refused": "from a later token", "": "from an earlier token"}
    )
    return drawing


def head_writes(stream: Sequence[float], writes: Mapping[str, Sequence[float]], silent: str) -> Drawing:
    """What the heads of a layer add to the stream: once all of them, and once with one of them silenced.

    Args:
        stream: the vector before the layer, of two channels.
        writes: name of a head to the vector that it adds; two heads.
        silent: the head that is silenced in the second row.

    Raises:
        ValueError: other sizes, or no such head.
    """
    if len(writes) != 2 or silent not in writes or any(len(one) != 2 for one in [stream, *writes.values()]):
        raise ValueError("two heads and a stream of two channels can be drawn, and one of the heads is silenced")
    rows: list[tuple[str, str]] = [("both heads write", ""), (f"{silent} is silenced", silent)]
    ends = {}
    for name, off in rows:
        total = [float(one) for one in stream]
        for head, write in writes.items():
            total = [a + (0 if head == off else b) for a, b in zip(total, write, strict=True)]
        ends[name] = total
    drawing = Drawing(
        "What a head adds to the stream",
        f"The stream is {_vector(stream)} before the layer. "
        + ". ".join(f"{head} adds {_vector(write)}" for head, write in writes.items())
        + ". "
        + ". ".join(f"Where {name}, the stream is {_vector(end)} afterwards" for name, end in ends.items())
        + ".",
    )
    for number, (name, off) in enumerate(rows):
        y = number * 156.0
        drawing.text(0, y, name, bold=True)
        line = y + 116
        at = drawing.box(0, line - 14, _vector(stream), "kept", w=64, h=28)
        for h, (head, write) in enumerate(writes.items()):
            x = 118.0 + h * 104
            gone = head == off
            box = drawing.box(x - 38, y + 18, head, "absent" if gone else "read", w=76, h=28)
            plus = drawing.circle(x, line, 11, "+", "kept")
            drawing.arrow(box, plus, "absent" if gone else "write", text=_vector([0, 0] if gone else write))
            drawing.arrow(at, plus, "kept")
            at = plus
        drawing.arrow(at, drawing.box(284, line - 14, _vector(ends[name]), "kept", w=64, h=28), "kept")
    drawing.legend(0, 302, {"kept": "the stream", "write": "what a head writes", "absent": "silenced"})
    return drawing


def weight_shares(rates: Mapping[str, Tensor]) -> Drawing:
    """How each head divides its weight among kinds of places: a bar of length 1 for each head.

    Args:
        rates: up to three kinds of places, each to (layers, heads), the mean weight that a head gives to it.

    Raises:
        ValueError: no or more kinds, shapes that differ, more than 16 heads, or weights that exceed 1 together.
    """
    shapes = {tuple(one.shape) for one in rates.values()}
    if not 0 < len(rates) <= 3 or len(shapes) != 1 or len(next(iter(shapes))) != 2:
        raise ValueError("up to three tables of one shape, (layers, heads), can be drawn")
    ((layers, heads),) = shapes
    if layers * heads > 16 or float(sum(rates.values(), torch.zeros(()))[..., None].max()) > 1.001:
        raise ValueError("up to 16 heads can be drawn, and the weights of a head are 1 together at most")
    rows, said = {}, []
    for layer in range(layers):
        for head in range(heads):
            parts, told, left = [], [], 1.0
            for role, (kind, rate) in zip(("write", "read", "kept"), rates.items(), strict=False):
                share = float(rate[layer, head])
                parts.append(Part(share, f"{share:.0%}" if share >= 0.12 else "", role))
                told.append(f"{kind} {share:.0%}")
                left -= share
            rows[f"layer {layer}, head {head}"] = [*parts, Part(max(left, 0.0))]
            said.append(f"layer {layer}, head {head}: {', '.join(told)}")
    drawing = Drawing("How each head divides its weight", "; ".join(said) + ".")
    drawing.lanes(0, 0, rows, w=WIDTH - 10, h=24, gap=4, longest=1.0)
    meanings = dict(zip(("write", "read", "kept"), rates, strict=False))
    drawing.legend(0, 28 * layers * heads + 14, {**meanings, "": "all other characters"}, w=WIDTH - 10)
    return drawing


def copying(text: str) -> Drawing:
    """How two heads in different layers copy: what the first notes down at a position, the second finds and hands on.

    Args:
        text: its last character occurs once more before, and is not the one directly before the last; 15 at most.

    Raises:
        ValueError: the text is too long, or its last character does not occur before.
    """
    last = len(text) - 1
    before = text.rfind(text[-1:], 0, last) if text else -1
    if not 0 <= before < last - 1 or len(text) > 15:
        raise ValueError("a text of up to 15 characters can be drawn, whose last one occurred before")
    after = before + 1
    drawing = Drawing(
        "How two heads copy",
        f"In the text {text!r}, a previous-token head of a lower layer writes at {text[after]!r} that {text[before]!r} "
        f"comes before it. An induction head of a higher layer, at the last {text[last]!r}, finds this note and "
        f"predicts {text[after]!r} as the next character.",
    )
    step, base = 25.0, 190.0
    shown = [{" ": "␣", "\n": "↵"}.get(one, one) for one in text]
    roles = {before: "kept", after: "write", last: "read"}
    cells = drawing.grid(0, base, [shown], lambda r, c: roles.get(c, ""), cell=(step, 28))[0]
    note = f"before me: {shown[before]}"
    middle = cells[after].top[0]
    low = drawing.box(max(middle - 62, 0.0), 104, note, "write", w=124, h=28)
    high = drawing.box(cells[last].top[0] - 72, 18, f"next: {shown[after]}", "read", w=84, h=28)
    drawing.arrow(cells[before], (cells[before].top[0], low.y + low.h), "kept")
    drawing.arrow(cells[after], (middle, low.y + low.h), "write")
    drawing.arrow(cells[last], (cells[last].top[0], high.y + high.h), "read")
    drawing.arrow((low.x + low.w / 2, low.y), high, "write", via=[(low.x + low.w / 2, high.left[1])])
    drawing.text(low.x + low.w + 8, 112, "lower layer:\nprevious-token head")
    drawing.text(0, 0, "higher layer: induction head")
    drawing.text(0, base + 44, "the text that was read")
    return drawing


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(f"{one:g}" for one in values)


def _vector(values: Sequence[float]) -> str:
    return f"({_numbers(values)})"
