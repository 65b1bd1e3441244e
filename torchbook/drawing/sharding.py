"""Drawings of models cut over ranks: what ZeRO leaves on each, how a layer is split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


def memory_bars(rows: Mapping[str, Mapping[str, float]], limit: float | None = None, unit: str = "") -> Drawing:
    """What is held in memory, kind by kind, in some cases: a bar for each, and a line where the memory ends.

    Args:
        rows: names of the cases, to how much of which kind: parameters, gradients, optimizer, buckets, whole copies.
        limit: where the memory ends, in the same unit.
        unit: after the totals, such as " GB".

    Raises:
        ValueError: a kind is unknown, or there is no case.
    """
    roles = {"parameters": "read", "gradients": "write", "optimizer": "kept", "buckets": "", "whole copies": ""}
    kinds = [kind for kind in roles if any(kind in row for row in rows.values())]
    if not rows or any(kind not in roles for row in rows.values() for kind in row):
        raise ValueError(f"kinds are {', '.join(roles)}")
    bars = {
        f"{name}: {sum(row.values()):.3g}{unit}": [Part(row[kind], role=roles[kind]) for kind in kinds if kind in row]
        for name, row in rows.items()
    }
    said = [
        f"{name}: " + ", ".join(f"{kind} {row[kind]:.3g}{unit}" for kind in kinds if kind in row)
        for name, row in rows.items()
    ]
    end = "" if limit is None else f" The memory ends at {limit:.3g}{unit}."
    drawing = Drawing("What is held in memory", "; ".join(said) + "." + end)
    longest = max(*(sum(row.values()) for row in rows.values()), limit or 0.0)
    width = WIDTH - 10
    boxes = drawing.lanes(0, 0, bars, w=width, longest=longest)
    low = 32.0 * len(bars)
    if limit is not None:
        left = min(box.x for row in boxes.values() for box in row)
        x = left + (width - left) * limit / longest
        drawing.line([(x, -6), (x, low)])
        drawing.text(x, low + 10, f"limit {limit:.3g}{unit}", "end")
        low += 24
    meanings = {role: " or ".join(kind for kind in kinds if roles[kind] == role) for role in roles.values()}
    drawing.legend(0, low + 14, {role: words for role, words in meanings.items() if words}, w=width)
    return drawing


def cut_rows(ways: Mapping[str, Sequence[tuple[int, int]]], rows: int) -> Drawing:
    """Which rows of a matrix each rank has, in several ways to cut it: a lane for each rank.

    Args:
        ways: their names, to the first row of each rank and how many it has.
        rows: of the whole matrix.

    Raises:
        ValueError: there is no way, or a rank has rows that the matrix lacks.
    """
    if not ways or not all(ways.values()):
        raise ValueError("every way needs the rows of at least one rank")
    if any(first < 0 or count < 1 or first + count > rows for held in ways.values() for first, count in held):
        raise ValueError(f"a matrix of {rows} rows has the rows 0 to {rows - 1}")
    spans = {name: [f"{first}–{first + count - 1}" for first, count in held] for name, held in ways.items()}
    said = [f"{name}: " + ", ".join(f"rank {r} has {span}" for r, span in enumerate(spans[name])) for name in ways]
    drawing = Drawing(f"Which of {rows} rows each rank has", "; ".join(said) + ".")
    y = 0.0
    for name, held in ways.items():
        drawing.text(0, y, name, bold=True)
        lanes = {
            f"rank {rank}": [Part(count, span, "read", first)]
            for rank, ((first, count), span) in enumerate(zip(held, spans[name], strict=True))
        }
        drawing.lanes(0, y + 14, lanes, w=WIDTH - 10, h=22, gap=4, longest=rows)
        y += 14 + 26 * len(held) + 16
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


def mirrored_mlp() -> Drawing:
    """Where a split MLP needs a sum: behind it in the forward (g), before it in the backward (f)."""
    drawing = Drawing(
        "f before a split MLP, g behind it",
        "The input passes f and goes to both ranks; each has its columns of A, GELU and its rows of B; their results "
        "meet in g. Forward: f passes on, g sums. Backward, from right to left: g passes on, f sums.",
    )
    f, g = drawing.circle(44, 58, 16, "f", "write"), drawing.circle(316, 58, 16, "g", "read")
    for rank, y in enumerate((18.0, 72.0)):
        middle = drawing.box(104, y, f"A{rank} → GELU → B{rank}", "kept", w=152, h=28)
        drawing.text(180, y - 9 if rank == 0 else y + 40, f"rank {rank}", "middle")
        drawing.arrow((58, 50 if rank == 0 else 66), middle.left)
        drawing.arrow(middle.right, (302, 50 if rank == 0 else 66))
    drawing.arrow((4, 58), f)
    drawing.arrow(g, (366, 58))
    drawing.text(2, 42, "x")
    for n, (way, first, second) in enumerate(
        (("forward →", "passes on", "all-reduce"), ("backward ←", "all-reduce", "passes on"))
    ):
        y = 142 + 32.0 * n
        drawing.text(180, y, way, "middle", bold=True)
        drawing.box(2, y - 13, first, "write" if first == "all-reduce" else "", w=104, h=26)
        drawing.box(254, y - 13, second, "read" if second == "all-reduce" else "", w=104, h=26)
    return drawing


def fused_qkv(heads: int = 4) -> Drawing:
    """Which rows of a fused q, k, v matrix two ranks get, cut in halves and cut by heads.

    Args:
        heads: 2 or 4.

    Raises:
        ValueError: there are fewer or more, or they cannot be halved.
    """
    if heads not in (2, 4):
        raise ValueError(f"{heads} heads: 2 or 4 can be read on a phone")
    rows = [(part, head) for part in "qkv" for head in range(heads)]
    owners = {
        "cut in halves": [number >= len(rows) / 2 for number in range(len(rows))],
        "cut by heads": [head >= heads / 2 for _, head in rows],
    }
    said = []
    for name, found in owners.items():
        held = [" ".join(f"{p}{h}" for (p, h), own in zip(rows, found, strict=True) if own == rank) for rank in (0, 1)]
        said.append(f"{name}: rank 0 has {held[0]}, rank 1 has {held[1]}")
    drawing = Drawing("Rows of a fused q, k, v matrix on two ranks", "; ".join(said) + ".")
    side = (WIDTH - 10) / len(rows)
    for number, (name, found) in enumerate(owners.items()):
        y = 62.0 * number
        drawing.text(0, y, name)
        cells = [[f"{part}{head}" for part, head in rows]]
        drawing.grid(0, y + 14, cells, lambda r, c, found=found: "kept" if found[c] else "read", cell=(side, 28))  # type: ignore[misc]
    drawing.legend(0, 130, {"read": "rank 0", "kept": "rank 1"})
    return drawing


def placements(held: Mapping[str, Sequence[Sequence[Sequence[float]]]]) -> Drawing:
    """What the ranks hold of one matrix under each placement: pieces, copies or summands.

    Args:
        held: names such as Shard(0), Replicate() or Partial(), to the local matrix of each rank.

    Raises:
        ValueError: a name begins with none of the three, or there are more ranks than a phone shows.
    """
    roles = {"Shard": ("read", "pieces"), "Replicate": ("kept", "copies"), "Partial": ("write", "summands")}
    kinds = [next((kind for kind in roles if name.startswith(kind)), "") for name in held]
    if not held or not all(kinds) or max(map(len, held.values())) > 3:
        raise ValueError("placements are Shard, Replicate and Partial, on at most 3 ranks")
    said = [
        f"{name}: " + ", ".join(f"rank {rank} has {_rows(local)}" for rank, local in enumerate(ranks))
        for name, ranks in held.items()
    ]
    drawing = Drawing("What each rank holds of one matrix", "; ".join(said) + ".")
    left, side = 112.0, 30.0
    wide = max(len(local[0]) for ranks in held.values() for local in ranks) * side + 24
    for rank in range(max(map(len, held.values()))):
        drawing.text(left + rank * wide, 0, f"rank {rank}")
    y = 14.0
    for kind, (name, ranks) in zip(kinds, held.items(), strict=True):
        drawing.text(0, y + 13, name, mono=True)
        for rank, local in enumerate(ranks):
            cells = [[f"{number:g}" for number in row] for row in local]
            drawing.grid(left + rank * wide, y, cells, lambda r, c, role=roles[kind][0]: role, cell=(side, 26))  # type: ignore[misc]
        y += 26 * max(map(len, ranks)) + 16
    drawing.legend(0, y + 4, {roles[kind][0]: roles[kind][1] for kind in kinds})
    return drawing


def _rows(matrix: Sequence[Sequence[float]]) -> str:
    return " / ".join(" ".join(f"{number:g}" for number in row) for row in matrix)
