"""Drawings of models in service: pages of a cache, a speculative round, a server's batches, roads out of Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from torchbook.drawing.canvas import WIDTH, Drawing, Part, text_width

_SIDE = 30.0


def paged_cache(tables: Mapping[str, Sequence[int]], lengths: Mapping[str, int], size: int, count: int) -> Drawing:
    """Block tables over the pool of pages that they share.

    Args:
        tables: a sequence to its pages, in order.
        lengths: positions that each sequence has written.
        size: positions of a page.
        count: pages of the pool.

    Raises:
        ValueError: a page is not in the pool, or a table does not fit the length of its sequence.
    """
    for name, pages in tables.items():
        if any(not 0 <= page < count for page in pages) or len(pages) != -(-lengths[name] // size):
            raise ValueError(f"the table of {name!r} does not fit {lengths[name]} positions in {count} pages of {size}")
    owner = {page: (name, place) for name, pages in tables.items() for place, page in enumerate(pages)}
    free = count - len(owner)
    drawing = Drawing(
        "Block tables over a pool of pages",
        " ".join(f"Sequence {n} has pages {', '.join(map(str, p))}, in this order." for n, p in tables.items())
        + f" Of {count} pages {free} are free.",
    )
    y = 0.0
    for name, pages in tables.items():
        full = lengths[name] // size
        drawing.text(0, y + 14, f"{name}:", bold=True)
        drawing.grid(24, y, [pages], lambda r, c, full=full: "read" if c < full else "write", cell=(_SIDE, 28))  # type: ignore[misc]
        drawing.text(24 + _SIDE * len(pages) + 8, y + 14, f"{lengths[name]} positions")
        y += 38
    drawing.text(0, y + 10, f"the pool: {count} pages of {size} positions", bold=True)
    across = int((WIDTH - 6) // 46)
    for first in range(0, count, across):
        row = list(range(first, min(first + across, count)))
        texts = [f"{owner[page][0]}{owner[page][1]}" if page in owner else "" for page in row]

        def role(_: int, c: int, row: list[int] = row) -> str:
            if row[c] not in owner:
                return "absent"
            name, place = owner[row[c]]
            return "read" if place < lengths[name] // size else "write"

        drawing.grid(0, y + 24, [texts], role, cell=(46, 28))
        for number, page in enumerate(row):
            drawing.text(46 * number + 22, y + 60, str(page), "middle")
        y += 52
    drawing.legend(0, y + 34, {"read": "full page", "write": "last page, partly full", "absent": "free"}, w=WIDTH - 10)
    return drawing


def speculative_round(drafted: Sequence[str], kept: int, last: str) -> Drawing:
    """One round: what the draft proposes, how far the target agrees, and the token that it adds itself.

    Args:
        drafted: proposed tokens, 1 to 5.
        kept: how many of them, from the first, are kept.
        last: what the target draws after them.

    Raises:
        ValueError: more are kept than were proposed, or there are too many.
    """
    if not 1 <= len(drafted) <= 5 or not 0 <= kept <= len(drafted):
        raise ValueError(f"{kept} of {len(drafted)} proposals are kept: 1 to 5 can be drawn, and no more kept")
    k = len(drafted)
    drawing = Drawing(
        "A speculative round",
        f"The draft proposes {', '.join(drafted)}, one after another. The target looks at all {k} in one forward and "
        f"keeps the first {kept}"
        + (f"; {drafted[kept]} is refused, what follows is dropped" if kept < k else "")
        + f". It adds {last} itself: {kept + 1} tokens from one forward of the large model.",
    )
    names, each = 76.0, (WIDTH - 84) / (k + 1)
    rows = [
        ("draft", list(drafted), ["read"] * k),
        (
            "target",
            ["✓" if i < kept else "✗" if i == kept else "" for i in range(k)],
            ["kept" if i < kept else "refused" if i == kept else "absent" for i in range(k)],
        ),
        ("text", [*drafted[:kept], last], ["kept"] * kept + ["write"]),
    ]
    for number, (name, texts, roles) in enumerate(rows):
        y = 54.0 * number
        drawing.text(0, y + 16, name, bold=True)
        drawing.grid(names, y, [texts], lambda r, c, roles=roles: roles[c], cell=(each, 34))  # type: ignore[misc]
        if number < 2:
            for i in range(k if number == 0 else kept + 1):
                if number == 0 or i < k:
                    x = names + each * (i + 0.5)
                    drawing.arrow((x, y + 33), (x, y + 53))
    drawing.text(names, 150, f"{k} small forwards, 1 large: {kept + 1} {'token' if kept == 0 else 'tokens'}")
    return drawing


def dynamic_batches(arrivals: Sequence[float], largest: int, patience: float, cost: float) -> Drawing:
    """Requests that wait for company: a batch starts when it is full, or its oldest request has waited long enough.

    Args:
        arrivals: when each request comes, in order, in milliseconds.
        largest: requests of a batch.
        patience: how long the first of a batch waits for others, in milliseconds.
        cost: of a batch, whatever its size, in milliseconds.

    Raises:
        ValueError: the arrivals are not in order, or there are none or more than 8.
    """
    if not 1 <= len(arrivals) <= 8 or list(arrivals) != sorted(arrivals):
        raise ValueError("1 to 8 arrivals, in order, can be drawn")
    starts: list[float] = []
    sizes = []
    free = 0.0
    while len(starts) < len(arrivals):
        first = len(starts)
        full = arrivals[first + largest - 1] if first + largest <= len(arrivals) else float("inf")
        start = max(free, min(full, arrivals[first] + patience))
        members = [at for at in arrivals[first:] if at <= start][:largest]
        starts += [start] * len(members)
        sizes.append(len(members))
        free = start + cost
    drawing = Drawing(
        "Requests that share batches",
        "; ".join(
            f"request {i} comes at {came:g} ms, waits {start - came:g} ms, is answered at {start + cost:g} ms"
            for i, (came, start) in enumerate(zip(arrivals, starts, strict=True))
        )
        + f". The batches have {', '.join(map(str, sizes))} requests.",
    )
    rows = {
        f"request {i}": [Part(start - came, role="absent", start=came), Part(cost, role="read", start=start)]
        for i, (came, start) in enumerate(zip(arrivals, starts, strict=True))
    }
    drawing.lanes(0, 0, rows, w=WIDTH - 10, h=20, gap=4, longest=free)
    y = 24.0 * len(arrivals) + 12
    drawing.text(0, y, f"time →, {free:g} ms in all; batches of {', '.join(map(str, sizes))}")
    drawing.legend(0, y + 24, {"absent": "waits in the queue", "read": "in a batch"})
    return drawing


def quantisation_grid(values: Tensor, scales: Mapping[str, float], low: int = -128, high: int = 127) -> Drawing:
    """Where numbers fall on the grids that scales make: each is moved to the nearest level.

    Args:
        values: (n,) numbers, 12 at most.
        scales: the name of a grid to the distance of its levels.
        low: the smallest integer.
        high: the largest.

    Raises:
        ValueError: there are too many numbers, or a scale is not positive.
    """
    if values.dim() != 1 or not 1 <= len(values) <= 12 or min(scales.values()) <= 0:
        raise ValueError("1 to 12 numbers and positive scales can be drawn")
    reach = float(values.abs().max()) * 1.15
    said = []
    rows: list[tuple[str, float, list[tuple[float, float]]]] = []
    for name, scale in scales.items():
        moved = (values / scale).round().clamp(low, high) * scale
        worst = float((moved - values).abs().max())
        pairs = list(zip(values.tolist(), moved.tolist(), strict=True))
        rows.append((name, scale, pairs))
        different = len(torch.unique(moved))
        said.append(
            f"{name}: a step of {scale:.2g} moves them by at most {worst:.2g}; {different} different values are left"
        )
    drawing = Drawing("Numbers on a grid", ". ".join(said) + ".")
    wide = WIDTH - 10

    def place(x: float) -> float:
        return wide * (x + reach) / (2 * reach)

    for number, (name, scale, pairs) in enumerate(rows):
        y = 112.0 * number
        drawing.text(0, y, f"{name}: one step is {scale:.2g}", bold=True)
        levels = range(max(low, -int(reach / scale)), min(high, int(reach / scale)) + 1)
        drawing.line([(0, y + 72), (wide, y + 72)])
        for level in levels:
            drawing.line([(place(level * scale), y + 66), (place(level * scale), y + 78)])
        for before, after in pairs:
            drawing.circle(place(before), y + 28, 4, role="read")
            drawing.line([(place(before), y + 33), (place(after), y + 64)], "write")
            drawing.circle(place(after), y + 72, 4, role="kept")
    drawing.legend(0, 112.0 * len(rows), {"read": "a weight", "kept": "the level it becomes"})
    return drawing


def roads(source: str, middle: str, ends: Sequence[tuple[str, str, str]]) -> Drawing:
    """From a module over one captured form to the formats that leave Python, and where each runs.

    Args:
        source: where all begin.
        middle: the form that they share.
        ends: of each road its tool, its file, and where that runs.
    """
    drawing = Drawing(
        f"Roads out of {source}",
        f"{source} becomes {middle}; from it "
        + "; ".join(f"{tool} makes {file}, which runs {where}" for tool, file, where in ends)
        + ".",
    )
    first = drawing.box(0, 0, source, "kept")
    second = drawing.box(0, 62, middle, "read")
    drawing.arrow((30, first.y + first.h), (30, second.y))
    widest = max(text_width(tool) for tool, _, _ in ends) + 16
    for number, (tool, file, where) in enumerate(ends):
        y = 116.0 + 58 * number
        box = drawing.box(52, y, tool, "write", w=widest, h=46)
        drawing.arrow((30, second.y + second.h), (box.x, box.left[1]), via=[(30, box.left[1])])
        drawing.text(box.x + box.w + 12, y + 14, file, mono=True)
        drawing.text(box.x + box.w + 12, y + 33, where)
    return drawing
