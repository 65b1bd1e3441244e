"""Drawings of what ranks exchange: what each has before a collective and after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from torchbook.drawing.canvas import WIDTH, Box, Drawing, text_width

Held = Sequence[Sequence[int]]  # by rank, the numbers that it has

_CELL = (27.0, 24.0)
_ARROW = 26.0
_GAP = (22.0, 46.0)  # between the blocks of two collectives


def exchanged(collectives: Mapping[str, tuple[Held, Held]], rank: int) -> Drawing:
    """What every rank has before and after some collectives, with the numbers of one rank in colour, wherever they are.

    A number that no rank had before is a sum.

    Args:
        collectives: their names, to the numbers of all ranks before and after.
        rank: whose numbers have the colour.

    Raises:
        ValueError: there are not as many ranks after as before, or there is no such rank.
    """
    said = []
    for name, (before, after) in collectives.items():
        if len(before) != len(after) or not 0 <= rank < len(before):
            raise ValueError(f"{name}: {len(before)} ranks before, {len(after)} after, and rank {rank} in colour")
        said.append(f"{name}: " + ", ".join(f"rank {r} has {_words(held)}" for r, held in enumerate(after)))
    drawing = Drawing("What every rank has before and after", "; ".join(said) + ".")
    x = y = tall = 0.0
    for name, (before, after) in collectives.items():
        wide = max(_width(before) + _ARROW + _width(after) + 12, text_width(name) + 8)
        if x and x + wide > WIDTH - 8:
            x, y, tall = 0.0, y + tall + _GAP[1], 0.0
        _block(drawing, x, y, name, before, after, rank)
        x, tall = x + wide + _GAP[0], max(tall, 20 + _CELL[1] * len(before))
    drawing.legend(0, y + tall + 22, {"read": f"numbers of rank {rank}", "kept": "sums"})
    return drawing


def shares(ways: Mapping[str, Held]) -> Drawing:
    """Which examples each rank has in one step, in several ways to divide them; those that another rank has are marked.

    Args:
        ways: their names, to the examples of each rank, by number.

    Raises:
        ValueError: there is nothing to draw.
    """
    if not ways or not all(ways.values()):
        raise ValueError("every way needs the examples of at least one rank")
    found = {}
    for name, held in ways.items():
        counts = Counter(number for one in held for number in set(one))
        found[name] = {number for number, count in counts.items() if count > 1}
    said = [
        f"{name}: "
        + ", ".join(f"rank {r} has {_words(one)}" for r, one in enumerate(held))
        + f"; {len(found[name])} twice"
        for name, held in ways.items()
    ]
    drawing = Drawing("Which examples each rank has in one step", ". ".join(said) + ".")
    y = 0.0
    for name, held in ways.items():
        drawing.text(0, y, name, bold=True)
        for r, one in enumerate(held):
            top = y + 14 + (_CELL[1] + 4) * r
            drawing.text(0, top + _CELL[1] / 2, f"rank {r}")
            _row(drawing, 58, top, one, ["refused" if number in found[name] else "read" for number in one])
        y += 14 + (_CELL[1] + 4) * len(held) + 16
    drawing.legend(0, y, {"read": "on one rank", "refused": "on several ranks"})
    return drawing


def calls(recorded: Sequence[Mapping[int, str]]) -> Drawing:
    """Which collectives each rank has called, side by side by their number; a call that a rank lacks is dashed.

    Args:
        recorded: by rank, number of a call to its name.

    Raises:
        ValueError: no rank has called anything, or there are more calls than a phone shows.
    """
    numbers = sorted({number for one in recorded for number in one})
    if not 1 <= len(numbers) <= 3:
        raise ValueError(f"{len(numbers)} calls: 1 to 3 can be read on a phone")
    said = [
        f"rank {rank}: " + ", ".join(f"{number} {one.get(number, 'missing')}" for number in numbers)
        for rank, one in enumerate(recorded)
    ]
    drawing = Drawing("What each rank has called", "; ".join(said) + ".")
    left, wide = 58.0, 104.0
    for column, number in enumerate(numbers):
        drawing.text(left + wide * (column + 0.5), 0, f"call {number}", "middle")
    for rank, one in enumerate(recorded):
        y = 14 + 34.0 * rank
        drawing.text(0, y + 14, f"rank {rank}")
        for column, number in enumerate(numbers):
            role = "read" if number in one else "absent"
            drawing.box(left + wide * column, y, one.get(number, "missing"), role, w=wide - 6, h=28)
    return drawing


def waits(doing: Sequence[str], waiting: Collection[int]) -> Drawing:
    """Who waits for whom: ranks that wait on the left, with an arrow from each to all ranks that do not, on the right.

    Args:
        doing: by rank, what it does, in one or two words.
        waiting: the ranks that wait.

    Raises:
        ValueError: nobody waits, nobody is waited for, or a rank that waits does not exist.
    """
    left = [rank for rank in range(len(doing)) if rank in waiting]
    right = [rank for rank in range(len(doing)) if rank not in waiting]
    if not left or not right or not set(waiting) <= set(range(len(doing))):
        raise ValueError(f"of {len(doing)} ranks, {sorted(waiting)} wait: some must wait and some must not")
    said = [
        f"rank {rank} ({doing[rank]}) waits for {' and '.join(f'rank {other}' for other in right)}" for rank in left
    ]
    said += [f"rank {rank} ({doing[rank]}) waits for nobody" for rank in right]
    drawing = Drawing("Who waits for whom", "; ".join(said) + ".")
    high, gap = 44.0, 10.0
    wide = max(text_width(text) for text in (*doing, "rank 0")) + 16
    far = wide + 84
    tall = max(len(left), len(right)) * (high + gap) - gap
    drawing.text(wide / 2, -16, "waits", "middle")
    drawing.text(far + wide / 2, -16, "waits for nobody", "middle")

    def column(x: float, ranks: Sequence[int], role: str) -> list[Box]:
        top = (tall - len(ranks) * (high + gap) + gap) / 2
        return [
            drawing.box(x, top + place * (high + gap), f"rank {rank}\n{doing[rank]}", role, w=wide, h=high)
            for place, rank in enumerate(ranks)
        ]

    starts, ends = column(0, left, "read"), column(far, right, "refused")
    for start in starts:
        for end in ends:
            drawing.arrow(start.right, end.left)
    return drawing


def stacks(frames: Sequence[Sequence[str]]) -> Drawing:
    """The stacks of all ranks beside each other, the outermost function on top; what all ranks share is grey.

    Args:
        frames: by rank, the functions that it is in, the outermost first.

    Raises:
        ValueError: there is no rank, or a rank is in no function.
    """
    if not frames or not all(frames):
        raise ValueError("every rank is in at least one function")
    said = [f"rank {rank}: " + ", in it ".join(one) for rank, one in enumerate(frames)]
    drawing = Drawing("Where each rank is", "; ".join(said) + ".")
    deepest = max(map(len, frames))
    shared = 0
    while all(len(one) > shared and one[shared] == frames[0][shared] for one in frames):
        shared += 1
    wide = max(text_width(name) for one in frames for name in one) + 4
    for rank, one in enumerate(frames):
        x = rank * (wide + 4)
        drawing.text(x + wide / 2, 0, f"rank {rank}", "middle")
        for depth in range(deepest):
            name = one[depth] if depth < len(one) else ""
            role = "absent" if not name else "" if depth < shared else "read"
            drawing.box(x, 14 + 32.0 * depth, name, role, w=wide, h=26, mono=True)
    drawing.legend(0, 14 + 32.0 * deepest + 8, {"": "on all ranks", "read": "on some ranks", "absent": "not there"})
    return drawing


def groups(dimensions: Mapping[str, Sequence[Sequence[int]]], rank: int) -> Drawing:
    """The groups of a mesh of ranks, dimension by dimension; those of one rank have the colour.

    Args:
        dimensions: their names, to the ranks of each group.
        rank: whose groups have the colour.

    Raises:
        ValueError: a dimension lacks that rank.
    """
    for name, found in dimensions.items():
        if not any(rank in group for group in found):
            raise ValueError(f"{name} has no group with rank {rank}")
    said = [f"{name}: " + ", ".join(_words(group) for group in found) for name, found in dimensions.items()]
    drawing = Drawing("Which ranks talk to each other", "; ".join(said) + ".")
    left = max(map(text_width, dimensions)) + 14
    y = 0.0
    for name, found in dimensions.items():
        x = left
        drawing.text(0, y + _CELL[1] / 2, name)
        for group in found:
            wide = _CELL[0] * len(group)
            if x > left and x + wide > WIDTH - 8:
                x, y = left, y + _CELL[1] + 8
            _row(drawing, x, y, group, ["read" if rank in group else ""] * len(group))
            x += wide + 14
        y += _CELL[1] + 14
    drawing.legend(0, y + 4, {"read": f"the groups of rank {rank}"})
    return drawing


def _block(drawing: Drawing, x: float, y: float, name: str, before: Held, after: Held, rank: int) -> None:
    drawing.text(x + 12, y, name, mono=True)
    own, known = set(before[rank]), {number for held in before for number in held}
    for r, (had, has) in enumerate(zip(before, after, strict=True)):
        top = y + 16 + _CELL[1] * r
        drawing.text(x, top + _CELL[1] / 2, str(r), "middle")
        _row(drawing, x + 12, top, had, ["read" if number in own else "" for number in had])
        roles = ["read" if number in own else "" if number in known else "kept" for number in has]
        _row(drawing, x + 12 + _width(before) + _ARROW, top, has, roles)
    middle = y + 16 + _CELL[1] * len(before) / 2
    start = x + 12 + _width(before)
    drawing.arrow((start + 5, middle), (start + _ARROW - 5, middle))


def _row(drawing: Drawing, x: float, y: float, numbers: Sequence[int], roles: Sequence[str]) -> list[list[Any]]:
    if not numbers:
        return []
    return drawing.grid(x, y, [[str(number) for number in numbers]], lambda r, c: roles[c], cell=_CELL)


def _width(held: Held) -> float:
    return _CELL[0] * max(len(numbers) for numbers in held)


def _words(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers)) or "nothing"
