"""Shapes, placed by hand or from data, as one SVG for the page, notebooks, paper and EPUB.

Lengths are units of the drawing. It is at most `WIDTH` wide, and a phone shows that at 12 pixels of type.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

WIDTH = 380.0  # the widest that a phone's column of 328 pixels shows with type of 12
SIZE = 14  # of all type
LINE = 17.0  # from one line of text to the next
_CHARACTER = 8.3  # mean width, of a typeface that is rather wide
_WIDE = 1.0  # by which the widest letters exceed it
_LARGEST = 1.25  # a drawing is never shown larger than this
_HEAD = 8.0  # length of an arrow's head

Point = tuple[float, float]
# What a colour means, with the theme's variable for it and the one that all grounds bear where there is no theme.
ROLES: dict[str, tuple[str, str]] = {
    "read": ("--viz-1", "#0a7abf"),
    "write": ("--viz-2", "#d55e00"),
    "kept": ("--viz-3", "#0f9068"),
    "refused": ("--viz-6", "#d6336c"),
    "absent": ("", "currentColor"),
    "": ("", "currentColor"),
}


@dataclass(frozen=True)
class Box:
    """A rectangle: its left upper corner, width and height."""

    x: float
    y: float
    w: float
    h: float

    @property
    def left(self) -> Point:
        return self.x, self.y + self.h / 2

    @property
    def right(self) -> Point:
        return self.x + self.w, self.y + self.h / 2

    @property
    def top(self) -> Point:
        return self.x + self.w / 2, self.y

    @property
    def bottom(self) -> Point:
        return self.x + self.w / 2, self.y + self.h


@dataclass(frozen=True)
class Part:
    """A stretch of a lane: length, text, role; it starts where the last one ends, or at `start`."""

    length: float
    text: str = ""
    role: str = ""
    start: float | None = None


class Drawing:
    """An empty drawing, which grows with what is put into it. As the last line of a cell it shows itself.

    Args:
        title: what it shows, in a few words.
        words: all that the picture says, for readers who do not see it.

    Raises:
        ValueError: title or words are empty.
    """

    def __init__(self, title: str, words: str) -> None:
        if not title.strip() or not words.strip():
            raise ValueError("a drawing needs a title, and words for readers who do not see it")
        self.title, self.words = title, " ".join(words.split())
        self._parts: list[str] = []
        self._low: Point = (0.0, 0.0)
        self._high: Point = (0.0, 0.0)

    # Shapes.

    def text(
        self, x: float, y: float, text: str, anchor: str = "start", *, mono: bool = False, bold: bool = False
    ) -> Box:
        """Lines of text; `y` is the middle of the first.

        Args:
            anchor: where in the text `x` is: start, middle or end.
            mono: set as code.
        """
        lines = text.split("\n")
        look = ' font-family="ui-monospace,Menlo,Consolas,monospace"' if mono else ""
        look += ' font-weight="600"' if bold else ""
        for number, line in enumerate(lines):
            place = f'x="{x:g}" y="{y + number * LINE + 5:g}" text-anchor="{anchor}"'
            self._parts.append(f"<text {place}{look}>{escape(line)}</text>")
        width = text_width(text)
        left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
        return self._seen(Box(left, y - LINE / 2, width, LINE * len(lines)))

    def box(
        self,
        x: float,
        y: float,
        text: str = "",
        role: str = "",
        *,
        w: float | None = None,
        h: float | None = None,
        mono: bool = False,
    ) -> Box:
        """A box with its text in the middle; as large as the text where no size is given."""
        width = text_width(text) + 16 if w is None else w
        height = LINE * (text.count("\n") + 1) + 10 if h is None else h
        box = self._seen(Box(x, y, width, height))
        fill = 0 if role == "absent" else 0.16 if role else 0.05
        dash = ' stroke-dasharray="4 3"' if role == "absent" else ""
        shape = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3"'
        weight = 'stroke-opacity="0.55"' if role in ("", "absent") else 'stroke-width="1.5"'
        self._put(f'{shape} fill-opacity="{fill:g}" {weight}{dash}/>', role)
        if text:
            first = y + height / 2 - LINE * text.count("\n") / 2
            self.text(x + width / 2, first, text, "middle", mono=mono)
        return box

    def line(self, points: Sequence[Point], role: str = "") -> None:
        """A line through the points; dashed where its role is `absent`."""
        path = " ".join(f"{x:g},{y:g}" for x, y in self._all(points))
        dash = ' stroke-dasharray="4 3"' if role == "absent" else ""
        self._put(f'<polyline points="{path}" fill="none" stroke-width="1.5"{dash}/>', role)

    def arrow(
        self, start: Box | Point, end: Box | Point, role: str = "", *, via: Sequence[Point] = (), text: str = ""
    ) -> None:
        """An arrow from one box, or point, to another; boxes are left and reached in the middle of the nearer sides.

        Args:
            via: points that it passes on its way.
            text: written beside the middle of its first stretch.
        """
        a, b = _ends(start, end, via)
        *before, (x, y) = points = [a, *via, b]
        px, py = before[-1]
        far = math.hypot(x - px, y - py) or 1.0
        dx, dy = (x - px) / far, (y - py) / far
        self.line([*before, (x - dx * (_HEAD - 1), y - dy * (_HEAD - 1))], role)
        corners = [(x, y)] + [
            (x - dx * _HEAD - side * dy * _HEAD / 2, y - dy * _HEAD + side * dx * _HEAD / 2) for side in (1, -1)
        ]
        head = " ".join(f"{cx:.4g},{cy:.4g}" for cx, cy in self._all(corners))
        self._put(f'<polygon points="{head}" stroke="none"/>', role)
        if text:
            (ax, ay), (bx, by) = points[:2]
            level = abs(by - ay) < abs(bx - ax)
            self.text(
                (ax + bx) / 2 + (0 if level else 8),
                (ay + by) / 2 - (11 if level else 0),
                text,
                "middle" if level else "start",
            )

    def brace(self, start: Point, end: Point, text: str = "") -> None:
        """A curly brace: below a level stretch from left to right, right of an upright one from top to bottom."""
        (ax, ay), (bx, by) = self._all([start, end])
        if ay == by:
            m, y = (ax + bx) / 2, ay
            path = f"M{ax:g} {y:g}q0 6 6 6H{m - 6:g}q6 0 6 6q0 -6 6 -6H{bx - 6:g}q6 0 6 -6"
            self.text(m, y + 22, text, "middle")
        else:
            m, x = (ay + by) / 2, ax
            path = f"M{x:g} {ay:g}q6 0 6 6V{m - 6:g}q0 6 6 6q-6 0 -6 6V{by - 6:g}q0 6 -6 6"
            self.text(x + 16, m - LINE * text.count("\n") / 2, text)
        self._put(f'<path d="{path}" fill="none"/>')

    def circle(self, x: float, y: float, r: float, text: str = "", role: str = "") -> Box:
        """A circle about a point, with text in the middle."""
        fill = 0.16 if role not in ("", "absent") else 0.0
        dash = ' stroke-dasharray="4 3"' if role == "absent" else ""
        self._put(f'<circle cx="{x:g}" cy="{y:g}" r="{r:g}" fill-opacity="{fill:g}"{dash}/>', role)
        if text:
            self.text(x, y, text, "middle")
        return self._seen(Box(x - r, y - r, 2 * r, 2 * r))

    # What is made of them.

    def grid(
        self,
        x: float,
        y: float,
        rows: Sequence[Sequence[object]],
        role: Callable[[int, int], str] = lambda row, column: "",
        *,
        cell: tuple[float, float] = (30.0, 26.0),
    ) -> list[list[Box]]:
        """Cells in rows and columns, without gaps.

        Args:
            rows: what is written in each.
            role: of a cell, by row and column from 0.
            cell: width and height.

        Returns:
            The boxes of the cells, as `rows` has them.
        """
        w, h = cell
        boxes = []
        for r, row in enumerate(rows):
            boxes.append(
                [self.box(x + c * w, y + r * h, str(one), role(r, c), w=w - 2, h=h - 2) for c, one in enumerate(row)]
            )
        return boxes

    def stack(
        self,
        x: float,
        y: float,
        layers: Iterable[str | tuple[str, str]],
        *,
        w: float,
        gap: float = 0.0,
        arrows: bool = False,
    ) -> list[Box]:
        """Boxes below each other, from the top; a layer is its text, or its text and its role.

        Args:
            gap: between two of them.
            arrows: whether each leads to the next.
        """
        boxes: list[Box] = []
        for layer in layers:
            text, role = (layer, "") if isinstance(layer, str) else layer
            top = boxes[-1].bottom[1] + gap if boxes else y
            boxes.append(self.box(x, top, text, role, w=w))
            if arrows and len(boxes) > 1:
                self.arrow(boxes[-2], boxes[-1])
        return boxes

    def lanes(
        self,
        x: float,
        y: float,
        rows: Mapping[str, Sequence[Part]],
        *,
        w: float,
        h: float = 26.0,
        gap: float = 6.0,
        longest: float | None = None,
    ) -> dict[str, list[Box]]:
        """Bars of parts, each with its name before it: bytes of memory, or what runs when.

        A text that is wider than its part is left out.

        Args:
            rows: name of a lane to its parts, which follow each other where they do not say when they start.
            w: width of all the lanes with their names.
            longest: how much a full lane is, in the parts' unit; by default what the longest needs.
        """
        names = max((text_width(name) for name in rows), default=0.0)
        left = x + names + 8
        ends = [_end(parts) for parts in rows.values()]
        scale = (w - names - 8) / (longest or max(ends, default=1.0) or 1.0)
        found: dict[str, list[Box]] = {}
        for number, (name, parts) in enumerate(rows.items()):
            top, at = y + number * (h + gap), 0.0
            self.text(left - 8, top + h / 2, name, "end")
            found[name] = []
            for part in parts:
                start = at if part.start is None else part.start
                at = start + part.length
                fits = text_width(part.text) <= part.length * scale + 2
                place = {"x": left + start * scale, "y": top, "w": part.length * scale, "h": h}
                found[name].append(self.box(text=part.text if fits else "", role=part.role, **place))  # type: ignore[arg-type]
        return found

    def legend(self, x: float, y: float, meanings: Mapping[str, str], *, w: float = WIDTH) -> None:
        """What the roles mean here: a sample and words for each, which wrap at the width `w`."""
        left = x
        for role, meaning in meanings.items():
            need = 20 + text_width(meaning) + 14
            if left > x and left + need - 14 > x + w:
                left, y = x, y + LINE + 4
            self.box(left, y - 6, role=role, w=14, h=12)
            self.text(left + 20, y, meaning)
            left += need

    # As text.

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of all that was drawn, with a margin of 3."""
        return self._high[0] - self._low[0] + 6, self._high[1] - self._low[1] + 6

    def svg(self) -> str:
        """The drawing as SVG that stands alone; the same drawing gives the same bytes.

        Raises:
            ValueError: it is wider than `WIDTH`, so a phone would show type of less than 12 pixels.
        """
        width, height = self.size
        if width > WIDTH:
            raise ValueError(
                f"{self.title!r} is {width:.0f} wide, and a phone shows {WIDTH:.0f}: put parts below each other"
            )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(f"{self.title}. {self.words}")}" '
            f'viewBox="{self._low[0] - 3:g} {self._low[1] - 3:g} {width:g} {height:g}" '
            f'style="display:block;width:100%;max-width:{width * _LARGEST:.0f}px;height:auto;overflow:visible" '
            f'font-family="system-ui,sans-serif" font-size="{SIZE}" fill="currentColor">'
            f"<title>{escape(self.title)}</title><desc>{escape(self.words)}</desc>{''.join(self._parts)}</svg>"
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """The SVG within HTML, where it has the colours of the page around it: as a picture it would have none."""
        return {"text/html": f'<div class="drawing">{self.svg()}</div>', "text/plain": f"{self.title}. {self.words}"}

    def _put(self, shape: str, role: str = "") -> None:
        if role not in ROLES:
            raise ValueError(f"no role {role!r}: {', '.join(filter(None, ROLES))} or none")
        variable, color = ROLES[role]
        themed = f' color="{color}" style="color:var({variable},{color})"' if variable else ""
        self._parts.append(f'<g{themed} fill="currentColor" stroke="currentColor">{shape}</g>')

    def _seen(self, box: Box) -> Box:
        self._all([(box.x, box.y), (box.x + box.w, box.y + box.h)])
        return box

    def _all(self, points: Sequence[Point]) -> Sequence[Point]:
        """Let the drawing grow until the points are in it."""
        start = [self._low, self._high] if self._parts else list(points[:1])
        xs, ys = zip(*start, *points, strict=True)
        self._low, self._high = (min(xs), min(ys)), (max(xs), max(ys))
        return points


def text_width(text: str) -> float:
    """About how wide the longest line of a text is."""
    return max(len(line) * _CHARACTER + _WIDE * len(re.findall("[A-HK-Zmw]", line)) for line in text.split("\n"))


def _end(parts: Sequence[Part]) -> float:
    """Where the last part of a lane ends."""
    at = last = 0.0
    for part in parts:
        at = (at if part.start is None else part.start) + part.length
        last = max(last, at)
    return last


def _ends(start: Box | Point, end: Box | Point, via: Sequence[Point]) -> tuple[Point, Point]:
    """Where an arrow leaves and where it arrives."""
    towards = via[0] if via else end
    back = via[-1] if via else start
    return _side(start, towards), _side(end, back)


def _side(one: Box | Point, other: Box | Point) -> Point:
    if not isinstance(one, Box):
        return one
    at = other if isinstance(other, Box) else Box(*other, 0, 0)
    if at.y >= one.y + one.h:
        return one.bottom
    if at.y + at.h <= one.y:
        return one.top
    return one.right if at.x >= one.x + one.w else one.left
