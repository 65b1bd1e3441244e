"""Drawings of what ranks exchange: what each has before a collective and after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from torchbook.drawing.canvas import WIDTH, Drawing, text_width

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
