"""Drawings of Llama's parts: a norm as a change of length, a gate with numbers, positions as turns of an arrow."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch.nn.functional import rms_norm, silu

from torchbook.drawing.canvas import WIDTH, Box, Drawing, Point

_UNIT = 34.0  # of a plane, for 1
_R = 105.0  # of the large dial
_SMALL = 38.0  # of a clock


def equal_lengths(tokens: Sequence[Point]) -> Drawing:
    """Tokens of two channels in a plane, before RMSNorm and after it: all end on one circle.

    Args:
        tokens: their two channels, between -5 and 5.

    Raises:
        ValueError: there is no token, or one is 0 or too long to be drawn.
    """
    if not tokens or any(not any(token) or max(map(abs, token)) > 5 for token in tokens):
        raise ValueError("tokens of two channels between -5 and 5, and not 0, can be drawn")
    normed = [tuple(rms_norm(torch.tensor(token), (2,)).tolist()) for token in tokens]
    said = [f"{_pair(old)} becomes {_pair(new, 2)}" for old, new in zip(tokens, normed, strict=True)]
    drawing = Drawing(
        "RMSNorm keeps the direction and sets the length",
        "; ".join(said) + ". All results lie on a circle about the origin with a radius of 1.41, the root of 2.",
    )
    left, right = (end(0.0, *(x for x, _ in tokens)) * _UNIT for end in (min, max))
    low, high = (end(sign * 1.5, *(y for _, y in tokens)) * _UNIT for end, sign in ((min, -1), (max, 1)))
    drawing.line([(left, 0), (right, 0)], "absent")
    drawing.line([(0, -low), (0, -high)], "absent")
    drawing.circle(0, 0, math.sqrt(2) * _UNIT)
    for old, new in zip(tokens, normed, strict=True):
        shrinks = math.hypot(*old) > math.hypot(*new)
        dx, dy = (-3 * one / math.hypot(*old) for one in reversed(old))  # beside each other
        drawing.arrow((dx, dy), (old[0] * _UNIT + dx, -old[1] * _UNIT + dy), "read")
        drawing.arrow((0, 0), (new[0] * _UNIT, -new[1] * _UNIT), "write")
        anchor, beside = ("start", 10) if old[0] > 0 else ("end", -10)
        drawing.text(new[0] * _UNIT + beside, -new[1] * _UNIT + 4, _pair(new, 2), anchor)
        if shrinks:
            drawing.text(old[0] * _UNIT + dx, -old[1] * _UNIT - 12, _pair(old), "middle")
        else:  # outside the circle, at the end of a thin line
            out = math.copysign(math.sqrt(2) * _UNIT + 6, old[0])
            y = -old[1] * _UNIT * 0.8
            drawing.line([(old[0] * _UNIT + dx + beside / 2, -old[1] * _UNIT + dy), (out, y)])
            drawing.text(out + beside / 3, y, _pair(old), anchor)
    drawing.legend(left, 32 - low, {"read": "token", "write": "after RMSNorm"})
    return drawing


def gated(gate: Sequence[float], up: Sequence[float]) -> Drawing:
    """The way of a token through SwiGLU, with the numbers of some hidden channels.

    Args:
        gate: what the first matrix gives for each hidden channel.
        up: what the second one gives.

    Raises:
        ValueError: the two differ in length, or are not 1 to 3 channels.
    """
    if len(gate) != len(up) or len(gate) not in (1, 2, 3):
        raise ValueError("as many numbers of the gate as of the other matrix, 1 to 3 of them")
    opened = silu(torch.tensor(gate, dtype=torch.float32)).tolist()
    product = [a * b for a, b in zip(opened, up, strict=True)]
    said = [
        _signed(f"hidden channel {number}: the gate's {g:g} becomes {o:.2f} by SiLU, and times {u:g} this is {p:.1f}")
        for number, (g, o, u, p) in enumerate(zip(gate, opened, up, product, strict=True))
    ]
    drawing = Drawing("A gate in front of each hidden channel", "; ".join(said) + ".")
    w, right = 156.0, 198.0
    token = drawing.box(0, 0, "token", w=right + w, h=28)
    ends = []
    for x, name, rows in (
        (0.0, "gate", [("g", [f"{g:g}" for g in gate]), ("SiLU(g)", [f"{o:.2f}" for o in opened])]),
        (right, "up", [("u", [f"{u:g}" for u in up])]),
    ):
        above = drawing.box(x, 52, f"{name} (matrix)", "kept", w=w, h=28)
        drawing.arrow((above.top[0], token.bottom[1]), above)
        for number, (label, numbers) in enumerate(rows):
            y = 122 + 64.0 * number
            drawing.grid(x, y, [[_signed(one) for one in numbers]], cell=(w / len(gate), 28))
            drawing.arrow((above.bottom[0], above.y + above.h), (above.bottom[0], y - 1))
            drawing.text(x + w / 2 + 12, y - 16, label)
            above = Box(x, y, w, 26)
        ends.append(above)
    middle, y = (right + w) / 2, 244.0
    times = drawing.circle(middle, y, 12, "×", "write")
    for box in ends:
        drawing.arrow((box.bottom[0], box.y + box.h), (middle + (14 if box.x else -14), y), via=[(box.bottom[0], y)])
    left = middle - w / 2
    cells = [[_signed(f"{p:.1f}") for p in product]]
    drawing.grid(left, y + 34, cells, lambda r, c: "write", cell=(w / len(gate), 28))
    drawing.arrow(times, (middle, y + 33))
    below = drawing.box(left, y + 88, "down (matrix)", "kept", w=w, h=28)
    drawing.arrow((middle, y + 60), below)
    drawing.legend(0, y + 140, {"kept": "learned matrix", "write": "SiLU(g) · u"})
    return drawing


def turned_by_position(point: Point, angle: float, count: int = 4) -> Drawing:
    """An arrow at the first positions of a text, turned anticlockwise by one angle for each.

    Args:
        point: its two channels at position 0, the first of them positive and the second 0.
        angle: radians for each position.
        count: of positions.

    Raises:
        ValueError: the arrow points in another direction, or the turns do not fit half a circle.
    """
    if point[0] <= 0 or point[1] or angle < 0.5 or count < 2 or angle * (count - 1) > math.pi:
        raise ValueError("an arrow to the right can be drawn at up to half a circle of turns, each of 0.5 or more")
    places = [(point[0] * math.cos(n * angle), point[0] * math.sin(n * angle)) for n in range(count)]
    drawing = Drawing(
        "An arrow at four positions" if count == 4 else f"An arrow at {count} positions",
        "; ".join(f"at position {n} it ends at {_pair(place, 2)}" for n, place in enumerate(places)) + ".",
    )
    around = [math.pi * step / 60 for step in range(61)]
    drawing.line([(_R * math.cos(turn), -_R * math.sin(turn)) for turn in around], "absent")
    for n, place in enumerate(places):
        x, y = _R * place[0] / point[0], -_R * place[1] / point[0]
        drawing.arrow((0, 0), (x, y), "write" if n else "read")
        if n:
            r = 30.0 + 10 * n
            arc = [(n - 1 + step / 24) * angle for step in range(2, 23)]
            points = [(r * math.cos(turn), -r * math.sin(turn)) for turn in arc]
            drawing.line(points[:-4])
            drawing.arrow(points[-5], points[-1])
        text = f"position {n}\n{_pair(place, 2)}"
        if abs(y) < _R / 4:  # below the end of the arrow, where no other one comes
            drawing.text(x, 18, text, "middle")
        else:
            drawing.text(1.1 * x, 1.1 * y - 18, text, "middle" if abs(x) < _R / 4 else "start" if x > 0 else "end")
    return drawing


def clocks(angles: Sequence[float], distances: Sequence[int]) -> Drawing:
    """How far pairs of channels turn over some distances: a row of dials for each pair, with the cosine of the turn.

    Args:
        angles: radians by which a pair turns for each position, one a pair.
        distances: in positions, three at most.

    Raises:
        ValueError: there is no pair or no distance, or there are more distances.
    """
    if not angles or len(distances) not in (1, 2, 3):
        raise ValueError("one pair of channels or more, and one to three distances, can be drawn")
    said = [
        f"the pair that turns by {angle:g} for each position: "
        + ", ".join(_signed(f"cosine {math.cos(angle * d):.2f} at distance {d}") for d in distances)
        for angle in angles
    ]
    drawing = Drawing("Two tokens apart, as pairs of channels see them", "; ".join(said) + ".")
    left, step, high = 62.0, (WIDTH - 70) / 3, 2 * _SMALL + 40
    for column, distance in enumerate(distances):
        drawing.text(left + step * (column + 0.5), 0, f"distance {distance}", "middle", bold=True)
    for row, angle in enumerate(angles):
        y = 24 + _SMALL + row * high
        drawing.text(0, y, f"θ = {angle:g}", bold=True)
        for column, distance in enumerate(distances):
            x, turn = left + step * (column + 0.5), angle * distance
            drawing.circle(x, y, _SMALL)
            drawing.line([(x, y), (x + _SMALL, y)], "absent")
            drawing.arrow((x, y), (x + _SMALL * math.cos(turn), y - _SMALL * math.sin(turn)), "write")
            drawing.text(x, y + _SMALL + 14, _signed(f"cos = {math.cos(turn):.2f}"), "middle")
    drawing.legend(0, 24 + len(angles) * high, {"absent": "distance 0", "write": "turned by distance · θ"})
    return drawing


def pairings(head: Sequence[float]) -> Drawing:
    """Which channels of a head are turned together, as the paper pairs them and as halves do, before and after sorting.

    Args:
        head: its four channels.

    Raises:
        ValueError: there are more or fewer.
    """
    if len(head) != 4:
        raise ValueError(f"a head of four channels can be drawn, not of {len(head)}")
    numbers, reordered = [f"{one:g}" for one in head], [f"{head[i]:g}" for i in (0, 2, 1, 3)]
    rows = {
        "the paper": (numbers, (0, 0, 1, 1)),
        "halves": (numbers, (0, 1, 0, 1)),
        "halves, reordered": (reordered, (0, 1, 0, 1)),
    }
    said = []
    for name, (cells, pairs) in rows.items():
        fast, slow = ([one for one, of in zip(cells, pairs, strict=True) if of == pair] for pair in (0, 1))
        said.append(f"{name}: the fast pair is {fast[0]} and {fast[1]}, the slow pair {slow[0]} and {slow[1]}")
    drawing = Drawing("Which channels are turned together", _signed("; ".join(said) + "."))
    left, side = 150.0, 44.0
    for number, (name, (cells, pairs)) in enumerate(rows.items()):
        y = 40.0 * number
        drawing.text(0, y + 15, name)
        row = [[_signed(one) for one in cells]]
        roles = ["kept" if pair else "read" for pair in pairs]
        drawing.grid(left, y, row, lambda r, c, roles=roles: roles[c], cell=(side, 30))  # type: ignore[misc]
    drawing.legend(0, 134, {"read": "pair that turns fast", "kept": "pair that turns slowly"})
    return drawing


def _pair(point: Sequence[float], digits: int | None = None) -> str:
    first, second = (f"{one:g}" if digits is None else f"{one:.{digits}f}" for one in point)
    return _signed(f"({first}, {second})")


def _signed(text: str) -> str:
    return text.replace("-", "−")
