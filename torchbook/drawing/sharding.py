"""Drawings of models cut over ranks: what ZeRO leaves on each, how a layer is split."""

from __future__ import annotations

from torchbook.drawing.canvas import WIDTH, Drawing, Part

_GB = 1e9


def zero_stages(parameters: float, ranks: int, weight: float = 2, gradient: float = 2, state: float = 12) -> Drawing:
    """Bytes that each rank holds under DDP (stage 0) and the three stages of ZeRO, as bars.

    Args:
        parameters: their number.
        ranks: over how many they are cut.
        weight: bytes of a parameter.
        gradient: bytes of its gradient.
        state: bytes of the optimizer for it.

    Raises:
        ValueError: a number is not positive.
    """
    if min(parameters, ranks, weight, gradient, state) <= 0:
        raise ValueError("parameters, ranks and bytes are positive")
    kinds = {"parameters": (weight, "read", 3), "gradients": (gradient, "write", 2), "optimizer": (state, "kept", 1)}
    rows = {}
    said = []
    for stage in range(4):
        parts = [
            Part(parameters * size / (ranks if stage >= cut else 1) / _GB, role=role)
            for size, role, cut in kinds.values()
        ]
        total = sum(part.length for part in parts)
        rows[f"stage {stage}: {total:.1f} GB"] = parts
        said.append(f"stage {stage} {total:.1f} GB")
    drawing = Drawing(
        f"What each of {ranks} ranks holds",
        f"{parameters / 1e9:g} billion parameters on {ranks} ranks, bytes of parameters, gradients and optimizer on "
        f"each: {', '.join(said)}.",
    )
    drawing.lanes(0, 0, rows, w=WIDTH - 10)
    drawing.legend(0, 4 * 32 + 14, {role: name for name, (_, role, _) in kinds.items()}, w=WIDTH - 10)
    return drawing


def split_mlp(ranks: int = 2) -> Drawing:
    """`gelu(x A) B` on several ranks: A cut by columns, B by rows, and one all-reduce of the summands.

    Args:
        ranks: 2 or 3.

    Raises:
        ValueError: there are fewer or more.
    """
    if ranks not in (2, 3):
        raise ValueError(f"{ranks} ranks: 2 or 3 can be read on a phone")
    drawing = Drawing(
        f"An MLP split over {ranks} ranks",
        "Each rank has all of x, some columns of A and the rows of B that belong to them. It computes its own hidden "
        "units, applies GELU to them, and multiplies them by its rows of B. The results are summands of the output: "
        "one all-reduce adds them up.",
    )
    ends = []
    for rank in range(ranks):
        y = rank * 92.0
        drawing.text(0, y, f"rank {rank}", bold=True)
        x = drawing.box(0, y + 18, "x", "read", w=34, h=56)
        a = drawing.box(62, y + 18, f"A{rank}\ncolumns", "kept", w=76, h=56)
        gelu = drawing.box(160, y + 30, "GELU", w=54, h=32)
        b = drawing.box(236, y + 24, f"B{rank}\nrows", "kept", w=62, h=44)
        for one, two in ((x, a), (a, gelu), (gelu, b)):
            drawing.arrow(one, two)
        ends.append(b)
    middle = (ends[0].right[1] + ends[-1].right[1]) / 2
    total = drawing.circle(352, middle, 14, "+", "write")
    for end in ends:
        up = (end.right[1] > middle) - (end.right[1] < middle)  # from which side an arrow reaches the sum
        drawing.arrow(end.right, (total.x + 4 * abs(up), middle + 10 * up))
    drawing.text(WIDTH - 6, 0, "all-reduce", "end")
    return drawing
