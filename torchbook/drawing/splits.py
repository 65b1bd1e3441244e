"""Drawings of one layer on two ranks, with the numbers of a run: its matrices, its heads, both of its passes."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from torchbook.drawing.canvas import LINE, WIDTH, Drawing

_CELL = (28.0, 26.0)
_ROLES = ("read", "kept")  # of the two ranks
_MEANINGS = {"read": "rank 0", "kept": "rank 1"}


def cut_product(x: Tensor, a: Tensor) -> Drawing:
    """The product of a row and a matrix on two ranks, with the matrix cut by columns and cut by rows.

    Args:
        x: (1, 2).
        a: (2, 2) or (2, 4).

    Raises:
        ValueError: they have other shapes.
    """
    if x.shape != (1, 2) or a.shape not in ((2, 2), (2, 4)):
        raise ValueError(f"a row of 2 and a matrix of 2 rows, with 2 or 4 columns, not {_shape(x)} and {_shape(a)}")
    product, columns = x @ a, a.shape[1]
    summands = [x[:, rank : rank + 1] @ a[rank : rank + 1] for rank in (0, 1)]
    pieces = product.chunk(2, 1)
    drawing = Drawing(
        "A matrix cut by columns, and cut by rows",
        f"By columns: with all of x, {_said(x)}, rank 0 computes {_said(pieces[0])} and rank 1 {_said(pieces[1])}; "
        f"side by side they are the output. By rows: with one number of x each, rank 0 computes "
        f"{_said(summands[0])} and rank 1 {_said(summands[1])}; an all-reduce adds them up to {_said(product)}.",
    )
    w, h = _CELL
    left, out = 2 * w + 26, (2 + columns) * w + 52
    whose = [_ROLES[2 * column // columns] for column in range(columns)]
    whole, rows = [whose] * 2, [[role] * columns for role in _ROLES]
    for y, name, of_x, of_a in ((0.0, "by columns", [("", "")], whole), (130.0, "by rows", [_ROLES], rows)):
        drawing.text(0, y, name, bold=True)
        drawing.text(w - 1, y + 22, "x", "middle")
        drawing.text(left + columns * w / 2 - 1, y + 22, "A", "middle")
        _matrix(drawing, 0, y + 49, x, of_x)
        drawing.text(left - 14, y + 61, "·", "middle", bold=True)
        _matrix(drawing, left, y + 36, a, of_a)
        drawing.text(out - 14, y + 61, "=", "middle", bold=True)
    drawing.text(out + columns * w / 2 - 1, 22, "pieces", "middle")
    _matrix(drawing, out, 49, product, [whose])
    drawing.text(out + columns * w / 2 - 1, 152, "partial sums", "middle")
    for rank, summand in enumerate(summands):
        _matrix(drawing, out, 166 + rank * h, summand, _ROLES[rank])
    drawing.line([(out, 224), (out + columns * w - 2, 224)])
    _matrix(drawing, out, 231, product, "write")
    drawing.text(out - 10, 243, "sum:", "end")
    drawing.legend(0, 282, {**_MEANINGS, "write": "after the all-reduce"})
    return drawing


def columns_then_rows(x: Tensor, a: Tensor, b: Tensor) -> Drawing:
    """`relu(x A) B` on two ranks, with its numbers: A cut by columns, B by rows, and the sum of what they give.

    Args:
        x: (1, 2).
        a: (2, 4).
        b: (4, 2).

    Raises:
        ValueError: they have other shapes.
    """
    if (x.shape, a.shape, b.shape) != ((1, 2), (2, 4), (4, 2)):
        raise ValueError(f"shapes (1, 2), (2, 4) and (4, 2) can be drawn, not {_shape(x)}, {_shape(a)}, {_shape(b)}")
    hidden = [(x @ piece).relu() for piece in a.chunk(2, 1)]
    ends = [one @ piece for one, piece in zip(hidden, b.chunk(2), strict=True)]
    said = [
        f"rank {rank} computes the hidden units {_said(hidden[rank])} and from them {_said(ends[rank])}"
        for rank in (0, 1)
    ]
    drawing = Drawing(
        "An MLP on two ranks: columns, then rows",
        f"{'; '.join(said)}. The all-reduce makes the sum {_said(ends[0] + ends[1])}, the output, on both.",
    )
    w, step = _CELL[0], (WIDTH - 8 - 10 * _CELL[0]) / 4 + 2 * _CELL[0]
    for number, name in enumerate(("x", "A", "hidden", "B")):
        drawing.text(number * step + w - 1, 22, name, "middle")
    drawing.text(4 * step + 2 * w - 2, 22, "partial sum", "end")
    for rank, (one, end) in enumerate(zip(hidden, ends, strict=True)):
        y, role = 76.0 * rank, _ROLES[rank]
        drawing.text(0, y if rank == 0 else y + 22, f"rank {rank}", bold=True)
        for number, part in enumerate((x, a.chunk(2, 1)[rank], one, b.chunk(2)[rank], end)):
            top = y + 36 + (0 if len(part) == 2 else _CELL[1] / 2)
            _matrix(drawing, number * step, top, part, role if number else "")
            if number:
                drawing.arrow((number * step - step + 2 * w, y + 61), (number * step - 3, y + 61))
    y = 36 + 76.0 + 2 * _CELL[1] + 18
    drawing.text(4 * step - 12, y + 12, "all-reduce, the sum:", "end")
    _matrix(drawing, 4 * step, y, ends[0] + ends[1], "write")
    drawing.legend(0, y + 52, {**_MEANINGS, "write": "on both ranks"})
    return drawing


def both_passes(x: Tensor, summands: Sequence[Tensor], gradients: Sequence[Tensor], behind: Tensor) -> Drawing:
    """Where a split layer sums on its way forward (g), and where on its way back (f), with the numbers of two ranks.

    Args:
        x: (1, 2), the input.
        summands: (1, 2) each, what a rank computes of the output.
        gradients: (1, 2) each, the gradient of the input through a rank's part of the layer.
        behind: (1, 2), the gradient of the output.

    Raises:
        ValueError: there are other numbers of ranks, or tensors of other shapes.
    """
    tensors = (x, *summands, *gradients, behind)
    if len(summands) != 2 or len(gradients) != 2 or any(t.shape != (1, 2) for t in tensors):
        raise ValueError("two ranks, with tensors of shape (1, 2), can be drawn")
    out, total = summands[0] + summands[1], gradients[0] + gradients[1]
    drawing = Drawing(
        "f before a split layer, g behind it",
        f"Forward, from left to right: f passes x, {_said(x)}, on to both ranks; rank 0 computes {_said(summands[0])} "
        f"and rank 1 {_said(summands[1])}; g adds them up to {_said(out)}. Backward, from right to left: g passes "
        f"{_said(behind)} on to both ranks; rank 0 gets {_said(gradients[0])} and rank 1 {_said(gradients[1])}; f adds "
        f"them up to {_said(total)}.",
    )
    w, h = _CELL
    right, f, g = WIDTH - 8 - 2 * w, 2 * w + 30, WIDTH - 8 - 2 * w - 30
    near = f + 34  # where a rank begins: its box and, behind it, what it computes
    for y, forward, parts in ((0.0, True, summands), (170.0, False, gradients)):
        middle = y + 86
        box, numbers = (near, near + 74) if forward else (near + 2 * w + 16, near)
        first, last = (box + 58, numbers) if forward else (numbers + 2 * w, box)
        ways = [((2 * w, middle), (f - 15, middle)), ((g + 15, middle), (right - 2, middle))]
        drawing.text(0, y, "forward →" if forward else "← backward", bold=True)
        drawing.text(w - 1, middle - 24, "x" if forward else "grad", "middle")
        drawing.text(right + w - 1, middle - 24, "output" if forward else "grad", "middle")
        _matrix(drawing, 0, middle - h / 2, x if forward else total, "" if forward else "write")
        _matrix(drawing, right, middle - h / 2, out if forward else behind, "write" if forward else "")
        for at, name, does in ((f, "f", "copies"), (g, "g", "passes")):
            sums = (name == "g") == forward
            drawing.circle(at, middle, 14, name, "write" if sums else "")
            drawing.text(at + (12 if name == "g" else -8), middle + 30, "sums" if sums else does, "middle")
        for rank, part in enumerate(parts):
            line, end = y + 42 + 90.0 * rank, middle + (10 if rank else -10)
            drawing.box(box, line - 16, f"rank {rank}", _ROLES[rank], w=58, h=32)
            _matrix(drawing, numbers, line - 12, part, _ROLES[rank])
            ways += [((f + 10, end), (near - 1, line)), ((first, line), (last - 1, line))]
            ways += [((max(box + 58, numbers + 2 * w), line), (g - 10, end))]
        for start, goal in ways:
            drawing.arrow(*((start, goal) if forward else (goal, start)))
    drawing.legend(0, 340, {"write": "after the sum, on both ranks"})
    return drawing


def heads_on_ranks() -> Drawing:
    """Attention with four heads on two ranks: whole heads, from the columns of q, k and v to the rows of `out`."""
    drawing = Drawing(
        "Attention on two ranks, two heads on each",
        "Both ranks have all of x. Rank 0 has the columns of the projections q, k and v that make heads 0 and 1, "
        "rank 1 those of heads 2 and 3. Each rank computes its own two heads and multiplies them by the rows of the "
        "output projection that belong to them. The results are partial sums, which an all-reduce adds up.",
    )
    cell, between, middle = 28.0, 6.0, 20.0
    head = 3 * cell
    lefts = [rank * (2 * head + between + middle) + number * (head + between) for rank in (0, 1) for number in (0, 1)]
    width = lefts[-1] + head - 2
    top = drawing.box(0, 0, "x, the same on both ranks", w=width, h=28)
    ends = []
    for rank in (0, 1):
        role = _ROLES[rank]
        mine = lefts[2 * rank : 2 * rank + 2]
        right = mine[1] + head - 2
        drawing.text((mine[0] + right) / 2, 62, f"rank {rank}: columns of", "middle")
        boxes = []
        for number, left in enumerate(mine):
            n = 2 * rank + number
            row = [
                drawing.box(left + cell * c, 80, f"{part}{n}", role, w=cell - 2, h=26) for c, part in enumerate("qkv")
            ]
            box = drawing.box(left, 136, f"head {n}", role, w=head - 2, h=30)
            for one in row:
                drawing.arrow((one.bottom[0], one.y + one.h), (one.bottom[0], box.y))
            boxes.append(box)
        drawing.arrow((mine[0] + 14, top.bottom[1]), (mine[0] + 14, 52))
        drawing.arrow((right - 14, top.bottom[1]), (right - 14, 52))
        text = f"rows of out for\nheads {2 * rank} and {2 * rank + 1}"
        out = drawing.box(mine[0], 196, text, role, w=right - mine[0], h=2 * LINE + 10)
        for box in boxes:
            drawing.arrow((box.bottom[0], box.y + box.h), (box.bottom[0], out.y))
        ends.append(out)
    total = drawing.circle(width / 2, 288, 14, "+", "write")
    for out in ends:
        side = -1 if out.x < width / 2 else 1
        drawing.arrow((out.bottom[0], out.y + out.h), (total.x + 14 + 15 * side, 288), via=[(out.bottom[0], 288)])
    drawing.text(width / 2, 316, "one all-reduce of the two partial sums", "middle")
    return drawing


def _matrix(drawing: Drawing, x: float, y: float, matrix: Tensor, roles: str | Sequence[Sequence[str]]) -> None:
    """A matrix with one role, or with one for each number."""
    drawing.grid(x, y, _cells(matrix), lambda r, c: roles if isinstance(roles, str) else roles[r][c], cell=_CELL)


def _cells(matrix: Tensor) -> list[list[str]]:
    return [[f"{number:g}".replace("-", "−") for number in row] for row in matrix.tolist()]


def _said(row: Tensor) -> str:
    return "(" + ", ".join(_cells(row.reshape(1, -1))[0]) + ")"


def _shape(matrix: Tensor) -> tuple[int, ...]:
    return tuple(matrix.shape)
