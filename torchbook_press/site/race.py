"""`{race}`: a prediction about optimizers that go down a valley, beside the picture that shows who was right.

`torch.optim` takes their ways while the page is built. The page shows the first steps at once and the others when the
reader has answered (`web/race.js`), or has unfolded the answer where no script runs. Then the valley can be turned onto
an axis, and they go down it again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import escape

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from torchbook.viz import racer
from torchbook_press.site.activities import Predict, Prediction, html

Point = tuple[float, float]

SURFACE = "ravine"  # of OptimizerRacer, with the learning rates that suit it there
ALONG = (0.8, 0.6)  # the direction in which it is flat
START = (-2.4, 0.4)
STEPS = 300
SHOWN = 8  # steps that are shown before the reader has answered
RING = 0.2  # distance from the lowest point within which a racer has to stay

_LEFT, _RIGHT, _BOTTOM, _TOP = -3.4, 2.0, -2.25, 1.8
_SCALE = 640 / (_RIGHT - _LEFT)  # of the picture's units in one of the surface
_HEIGHT = round(_SCALE * (_TOP - _BOTTOM))
_LINES = (0.5, 2.0, 8.0, 20.0, 45.0, 80.0, 125.0)  # losses whose contour is drawn
_CURVED = 50  # times as much across as along
_NUMBER = re.compile(r"\{(turned )?(\w+)\}(?!`)")


@dataclass(frozen=True)
class Way:
    """Where a racer was after 0, 1, 2, … steps."""

    name: str
    points: tuple[Point, ...]

    @property
    def settles(self) -> int | None:
        """The step from which on it stays in the ring; None when it is outside of it at the end."""
        outside = [step for step, point in enumerate(self.points) if math.hypot(*point) >= RING]
        first = outside[-1] + 1 if outside else 0
        return first if first < len(self.points) else None


def turned(point: Point) -> Point:
    """The point in a picture in which the valley lies along the horizontal axis."""
    (c, s), (x, y) = ALONG, point
    return (c * x + s * y, c * y - s * x)


@cache
def ways(names: tuple[str, ...], *, turn: bool = False) -> tuple[Way, ...]:
    """The ways of racers, with the valley askew to both axes or turned onto one: those of `torch.optim` in float64."""
    return tuple(Way(name, _way(name, turn=turn)) for name in names)


def _way(name: str, *, turn: bool) -> tuple[Point, ...]:
    import torch

    made = racer.RACERS[name]
    start = turned(START) if turn else START
    p = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    optimizer = getattr(torch.optim, made.make)([p], **made.arguments(racer.defaults(SURFACE, name)))
    (c, s), points = ALONG, [start]
    for _ in range(STEPS):
        optimizer.zero_grad()
        x, y = p.unbind()
        loss = racer.loss(SURFACE, c * x - s * y, s * x + c * y) if turn else racer.loss(SURFACE, x, y)
        loss.backward()
        optimizer.step()
        at = p.tolist()
        points.append((at[0], at[1]))
    return tuple(points)


def settled(names: tuple[str, ...], *, turn: bool = False) -> dict[str, int]:
    """The step from which on each racer stays in the ring, the first to do so first.

    Raises:
        ValueError: there is no such racer, one does not arrive, or two of them are first.
    """
    for name in names:
        if name not in racer.RACERS:
            raise ValueError(f"no racer is called {name!r}; there are {', '.join(racer.RACERS)}")
    steps = {}
    for way in ways(names, turn=turn):
        if way.settles is None:
            raise ValueError(f"{way.name} is not in the ring after {STEPS} steps")
        steps[way.name] = way.settles
    order = sorted(names, key=lambda name: steps[name])
    if len(order) > 1 and steps[order[0]] == steps[order[1]]:
        raise ValueError(f"{order[0]} and {order[1]} arrive together, at step {steps[order[0]]}")
    return {name: steps[name] for name in order}


# --- the picture -----------------------------------------------------------------------------------------------------


def _place(point: Point) -> Point:
    return (round(_SCALE * (point[0] - _LEFT), 1), round(_SCALE * (_TOP - point[1]), 1))


def _path(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in map(_place, points))


def _ground() -> str:
    """The valley as lines of equal loss, which are ellipses, the higher the darker; and the ring."""
    x, y = _place((0, 0))
    ellipses = "".join(
        f'<ellipse rx="{_SCALE * math.sqrt(2 * loss):.1f}" ry="{_SCALE * math.sqrt(2 * loss / _CURVED):.1f}"/>'
        for loss in reversed(_LINES)
    )
    angle = math.degrees(math.atan2(ALONG[1], ALONG[0]))
    return (
        f'<rect class="race-high" width="640" height="{_HEIGHT}"/><g transform="translate({x:g} {y:g})">'
        f'<g class="race-valley" style="--askew:{-angle:.2f}deg">{ellipses}</g>'
        f'<circle class="race-ring" r="{_SCALE * RING:.1f}"/></g>'
    )


def _drawn(way: Way, *, shown: int) -> str:
    """A way up to the step that is shown at once, and the rest of it; each with the racer's mark at its end."""
    made = racer.RACERS[way.name]
    parts = (("begun", way.points[: shown + 1]), ("rest", way.points[shown:]))
    lines = "".join(f'<path class="race-line {part}" d="{_path(points)}"/>' for part, points in parts)
    marks = "".join(
        f'<path class="race-mark {part}" d="{made.head}" transform="translate({x:g} {y:g}) scale(2)"/>'
        for part, points in parts
        for x, y in [_place(points[-1])]
    )
    dash = f' stroke-dasharray="{made.dash}"' if made.dash else ""
    return f'<g class="race-way race-{way.name}" data-settles="{way.settles}"{dash}>{lines}{marks}</g>'


def _field(names: tuple[str, ...], *, turn: bool) -> str:
    drawn = "".join(_drawn(way, shown=0 if turn else SHOWN) for way in ways(names, turn=turn))
    return f'<g class="race-field{" turned" if turn else ""}">{drawn}</g>'


def _list(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]


def words(names: tuple[str, ...]) -> str:
    """What is in the picture at first, for those who do not see it."""
    there = [f"{racer.RACERS[way.name].label} {math.hypot(*way.points[SHOWN]):.2f}" for way in ways(names)]
    return (
        "Map of a loss: a narrow valley lies askew to both axes, with a ring around its lowest point. From one point "
        f"on its steep side, {SHOWN} steps are drawn for each optimizer. Their distances from the lowest point are "
        f"then: {_list(there)}."
    )


def figure(names: tuple[str, ...]) -> str:
    """The picture as HTML, with what is pressed below it."""
    import torch

    version = torch.__version__.partition("+")[0]
    made = f"Computed for this page with torch.optim of PyTorch {version}. Darker is higher."
    return (
        f'<figure class="race-map"><svg viewBox="0 0 640 {_HEIGHT}" role="img" aria-label="{escape(words(names))}">'
        f"{_ground()}{_field(names, turn=False)}{_field(names, turn=True)}</svg>"
        f'<p class="race-bar"><span class="race-count">Step {SHOWN}</span><button type="button" class="race-again">'
        'Again</button><button type="button" class="race-turn" aria-pressed="false" hidden>Turn the valley</button></p>'
        f'<figcaption>{escape(made)}<span class="race-said visually-hidden" role="status"></span></figcaption></figure>'
    )


def _sample(name: str) -> str:
    """A piece of a racer's line with its mark."""
    made = racer.RACERS[name]
    dash = f' stroke-dasharray="{made.dash}"' if made.dash else ""
    return (
        f'<svg class="race-sample race-{name}" viewBox="0 0 40 16" width="40" height="16" aria-hidden="true">'
        f'<path class="race-line" d="M2 8h28"{dash}/>'
        f'<path class="race-mark" d="{made.head}" transform="translate(31 8)"/></svg>'
    )


# --- the directive ---------------------------------------------------------------------------------------------------


class Race(Predict):
    """A prediction whose options are the racers; in its explanation `{adam}` is a step at which one has arrived.

    `{turned adam}` is that step with the valley along an axis. The option that is marked right has to be the racer that
    is first in the ring.
    """

    classes = ("prediction", "race")
    option_spec = {"racers": directives.unchanged_required}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        for path in (__file__, racer.__file__):
            self.env.note_dependency(path)
        self._names: tuple[str, ...] = tuple(self.options.get("racers", "").split())
        try:
            settled(self._names, turn=True)
            self._first = next(iter(settled(self._names)), "")
        except ValueError as error:
            raise self.error(str(error)) from None
        return super().run()

    def _box(self, prediction: Prediction) -> list[nodes.Node]:
        marks = [right for _, right in prediction.options]
        if len(marks) != len(self._names):
            raise self.error(
                f"{len(marks)} options for {len(self._names)} racers: name those in :racers:, in this order"
            )
        if self._names[marks.index(True)] != self._first:
            raise self.error(f"{self._first} is first in the ring, not the option that is marked right")
        told = replace(prediction, answer=self._told(prediction.answer))
        return [html(figure(self._names)), *super()._box(told)]

    def _told(self, answer: str) -> str:
        steps = {turn: settled(self._names, turn=turn) for turn in (False, True)}

        def number(match: re.Match[str]) -> str:
            of = steps[bool(match[1])]
            if match[2] not in of:
                raise self.error(f"{match[0]}: no racer of this race; there are {', '.join(self._names)}")
            return str(of[match[2]])

        return _NUMBER.sub(number, answer)

    def _option(self, number: int, text: str) -> list[nodes.Node]:
        sample = html(_sample(self._names[number]))
        opened, closed = '<span class="race-name">', '</span><span class="race-arrival"></span>'
        return [sample, html(opened), *super()._option(number, text), html(closed)]


def setup(app: Sphinx) -> None:
    app.add_directive("race", Race)
