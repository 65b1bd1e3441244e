"""OptimizerRacer: SGD, momentum, Adam and AdamW race on one loss surface of two parameters."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cache, lru_cache, partial
from html import escape
from itertools import pairwise
from typing import Any

import traitlets

from torchbook.viz.base import Visualizer, contract, preset_of
from torchbook.viz.units import several

setup = partial(contract, "racer")

Point = tuple[float, float]
Picks = list[list[int]]

MOST = 1000  # steps
FAR = 1000.0  # a racer that gets there has diverged
BATCH, RARE = 2, 5


def points() -> list[list[float]]:
    """The data behind the surface "minibatch"."""
    return setup()["points"]


def surfaces() -> dict[str, dict[str, Any]]:
    """What is known of each surface: its formula, view, minima, and the rates that suit it."""
    return setup()["surfaces"]


def batches(seed: int, steps: int) -> Picks:
    """The points that each step sees, by Park and Miller's generator: element t is for step t + 1."""
    state, picks = seed + 1, []
    for _ in range(steps):
        batch = []
        for _ in range(BATCH):
            state = state * 48271 % 2147483647
            batch.append(state % len(points()))
        picks.append(batch)
    return picks


def _valleys(x: Any, y: Any) -> Any:
    a = 20 * ((x + 1) ** 2 + y**2)
    b = 0.5 * ((x - 1) ** 2 + y**2)
    return a * b / (a + b)


def _minibatch(x: Any, y: Any, picked: Sequence[int]) -> Any:
    seen = [points()[i] for i in picked]
    return sum(0.5 * (x - a) ** 2 + 2 * (y - b) ** 2 for a, b in seen) / len(seen)


# Of floats or of tensors: the gradients of the racers are those of autograd.
_LOSS: dict[str, Callable[[Any, Any], Any]] = {
    "bowl": lambda x, y: 0.5 * (x**2 + y**2),
    "ravine": lambda x, y: 0.5 * ((0.8 * x + 0.6 * y) ** 2 + 50 * (0.8 * y - 0.6 * x) ** 2),
    "rosenbrock": lambda x, y: (1 - x) ** 2 + 100 * (y - x**2) ** 2,
    "saddle": lambda x, y: 0.5 * (x**2 - y**2) + 0.25 * y**4,
    "valleys": _valleys,
    "minibatch": lambda x, y: _minibatch(x, y, range(len(points()))),
    "sparse": lambda x, y: 0.5 * x**2 + 0.01 * (y - 1) ** 2,
}


def loss(surface: str, x: Any, y: Any) -> Any:
    """The loss of a surface at a point; `x` and `y` are floats, or tensors."""
    return _LOSS[surface](x, y)


def seen_loss(surface: str, x: Any, y: Any, step: int, picks: Picks) -> Any:
    """The part of the loss that a step, counted from 1, sees."""
    if surface == "minibatch":
        return _minibatch(x, y, picks[step - 1])
    if surface == "sparse":
        return 0.5 * x**2 + 0.01 * (0 if step % RARE else RARE) * (y - 1) ** 2
    return loss(surface, x, y)


@dataclass(frozen=True)
class _Racer:
    """What a racer is in torch.optim, and the settings that it takes."""

    label: str
    make: str
    takes: tuple[str, ...]
    dash: str
    head: str  # SVG path

    def arguments(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return {**settings, **({"nesterov": True} if "Nesterov" in self.label else {})}


_RATES = ("lr", "momentum", "weight_decay")
_BETAS = ("lr", "betas", "weight_decay")
RACERS = {
    "sgd": _Racer("SGD", "SGD", ("lr", "weight_decay"), "", "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z"),
    "momentum": _Racer("SGD with momentum", "SGD", _RATES, "9 4", "M-4.6 -4.6h9.2v9.2h-9.2z"),
    "nesterov": _Racer("SGD with Nesterov momentum", "SGD", _RATES, "2 3.5", "M0 -6.6l6.6 6.6l-6.6 6.6l-6.6 -6.6z"),
    "adam": _Racer("Adam", "Adam", _BETAS, "10 3 2 3", "M0 -6.4l6 10.6h-12z"),
    "adamw": _Racer("AdamW", "AdamW", _BETAS, "4 3", "M0 6.4l6 -10.6h-12z"),
}


def defaults(surface: str, name: str) -> dict[str, Any]:
    """torch's defaults, but momentum 0.9, and on each surface rates that suit it."""
    ready = {"momentum": 0.9, "betas": [0.9, 0.999], "weight_decay": 0.01 if name == "adamw" else 0}
    rates = surfaces()[surface]["rates"]
    return {key: rates[name] if key == "lr" else ready[key] for key in RACERS[name].takes}


@dataclass
class Run:
    """The way of one racer.

    Attributes:
        points: where it was after 0, 1, 2, … steps.
        losses: the loss of the whole surface there.
        diverged: the step at which |x| or |y| passed 1000, where the way ends; None if that never happened.
    """

    points: list[Point]
    losses: list[float]
    diverged: int | None = field(default=None)

    def gone(self, step: int) -> bool:
        return self.diverged is not None and step >= self.diverged


@lru_cache(maxsize=64)
def _run(surface: str, name: str, settings: str, start: Point, steps: int, seed: int) -> Run:
    """The way that torch.optim takes, in float64."""
    import torch

    racer, picks = RACERS[name], batches(seed, steps)
    p = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    optimizer = getattr(torch.optim, racer.make)([p], **racer.arguments(json.loads(settings)))
    run = Run([start], [loss(surface, *start)])
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        at = p.unbind()
        seen_loss(surface, at[0], at[1], step, picks).backward()
        optimizer.step()
        x, y = p.tolist()
        run.points.append((x, y))
        run.losses.append(_finite(surface, x, y))
        if not (abs(x) <= FAR and abs(y) <= FAR):
            run.diverged = step
            break
    return run


def _finite(surface: str, x: float, y: float) -> float:
    try:
        return loss(surface, x, y)
    except OverflowError:  # Python's **, where tensors have inf
        return math.inf


def _has_torch() -> bool:
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


class OptimizerRacer(Visualizer):
    """Optimizers of `torch.optim` race on one loss surface of two parameters, in float64.

    The reader drags the start, changes rates, momentum, betas and weight decay, plays the race, and reads loss,
    distance and step lengths at every step. "Copy as PyTorch" gives the code that walks the very paths. What the widget
    says in Python is what `torch.optim` does.

    Args:
        surface: "bowl", "ravine" (curvatures 1 and 50, rotated), "rosenbrock", "saddle", "valleys" (a sharp and a flat
            minimum), "minibatch" (each step sees 2 of 12 points), or "sparse" (y has a gradient in one step of five).
        optimizers: who runs: "sgd", "momentum", "nesterov", "adam", "adamw".
        start: (x, y), inside the picture; else the surface's own.
        steps: length of the race, 1 to 1000.
        step: the step that is shown at first; else the last.
        seed: of the batches on the surface "minibatch".
        sgd, momentum, nesterov, adam, adamw: settings of each racer as `torch.optim` takes them, e.g.
            `adam={"lr": 0.1, "betas": (0.9, 0.99), "weight_decay": 0.1}`; what is not given is torch's default, but
            momentum is 0.9, and each surface has its own rates.

    Attributes:
        runs: by name the way of each racer that runs, a `Run` with `points`, `losses` and `diverged`.

    Raises:
        ValueError: there is no such surface, racer, preset or setting, or a number is out of its range.

    Example:
        >>> OptimizerRacer("bowl", ("sgd",), (1, 1), 1, sgd={"lr": 0.5}).runs["sgd"].points
        [(1.0, 1.0), (0.5, 0.5)]
    """

    surface = traitlets.Unicode("ravine", help="Name of the loss surface.").tag(sync=True)
    optimizers = traitlets.List(traitlets.Unicode(), help="The racers that run.").tag(sync=True)
    start = traitlets.List(traitlets.Float(), help="x and y of the start.").tag(sync=True)
    steps = traitlets.Int(200, help="Length of the race.").tag(sync=True)
    step = traitlets.Int(200, help="The step that is shown.").tag(sync=True)
    seed = traitlets.Int(0, help="Seed of the batches.").tag(sync=True)
    sgd = traitlets.Dict(help="Settings of SGD.").tag(sync=True)
    momentum = traitlets.Dict(help="Settings of SGD with momentum.").tag(sync=True)
    nesterov = traitlets.Dict(help="Settings of SGD with Nesterov momentum.").tag(sync=True)
    adam = traitlets.Dict(help="Settings of Adam.").tag(sync=True)
    adamw = traitlets.Dict(help="Settings of AdamW.").tag(sync=True)

    def __init__(
        self,
        surface: str = "ravine",
        optimizers: Sequence[str] = ("sgd", "momentum", "adam", "adamw"),
        start: Sequence[float] | None = None,
        steps: int = 200,
        *,
        preset: str | None = None,
        step: int | None = None,
        seed: int = 0,
        **traits: Any,
    ) -> None:
        overrides = {name: traits.pop(name) for name in RACERS if name in traits}
        if preset is not None:
            ready = preset_of(setup(), preset)
            surface, optimizers = ready["surface"], ready["optimizers"]
            start, steps, seed = ready.get("start"), ready.get("steps", 200), ready.get("seed", 0)
            overrides = {**ready.get("settings", {}), **overrides}
        for name in ("lr", "betas", "weight_decay"):
            if name in traits:
                raise ValueError(f"{name} belongs to one racer: adam={{{name!r}: ...}}, for instance")
        surface = _surface(surface)
        settings: dict[str, Any] = {name: _settings(surface, name, overrides.get(name, {})) for name in RACERS}
        at = _start(surface, surfaces()[surface]["start"] if start is None else start)
        _whole("steps", steps, 1, MOST)
        super().__init__(
            surface=surface,
            optimizers=_optimizers(optimizers),
            start=at,
            steps=steps,
            step=steps if step is None else step,
            seed=seed,
            **settings,
            **traits,
        )

    @traitlets.validate("surface")
    def _check_surface(self, proposal: Any) -> str:
        return _surface(proposal["value"])

    @traitlets.validate("optimizers")
    def _check_optimizers(self, proposal: Any) -> list[str]:
        return _optimizers(proposal["value"])

    @traitlets.validate("start")
    def _check_start(self, proposal: Any) -> list[float]:
        return _start(self.surface, proposal["value"])

    @traitlets.validate("steps")
    def _check_steps(self, proposal: Any) -> int:
        return _whole("steps", proposal["value"], 1, MOST)

    @traitlets.validate("step")
    def _check_step(self, proposal: Any) -> int:
        return _whole("step", proposal["value"], 0, MOST)

    @traitlets.validate("seed")
    def _check_seed(self, proposal: Any) -> int:
        return _whole("seed", proposal["value"], 0, 9999)

    @traitlets.validate(*RACERS)
    def _check_settings(self, proposal: Any) -> dict[str, Any]:
        return _settings(self.surface, proposal["trait"].name, proposal["value"])

    @property
    def runs(self) -> dict[str, Run]:
        """The way of each racer that runs, from `torch.optim`."""
        start = (self.start[0], self.start[1])
        return {
            name: _run(self.surface, name, json.dumps(getattr(self, name)), start, self.steps, self.seed)
            for name in self.optimizers
        }

    def _follow(self, change: Any = None) -> None:
        changed = change["name"] if change else ""
        if changed == "surface" and not _inside(self.surface, self.start):
            self.start = surfaces()[self.surface]["start"]
        if self.step > self.steps or (changed == "steps" and self.step == change["old"]):
            self.step = self.steps
        super()._follow(change)

    def _describe(self) -> str:
        """As `describe` in the ES module."""
        label = surfaces()[self.surface]["label"]
        at = ", ".join(_show(v) for v in self.start)
        head = f"{label[0].upper()}{label[1:]} from ({at}), step {self.step} of {self.steps}."
        if not _has_torch():
            labels = ". ".join(self._who(name) for name in self.optimizers)
            return f"{head} {labels}."
        runs = self.runs
        standings = [f"{self._who(name)}: {self._place(runs[name])}" for name in self.optimizers]
        first = _ahead(runs, self.step) if len(runs) > 1 and self.step else []
        best = [f"Lowest loss: {several([RACERS[name].label for name in first])}."] if first else []
        return " ".join([head, *standings, *best])

    def _who(self, name: str) -> str:
        """A racer and its settings, those that are torch's defaults left out."""
        own = getattr(self, name)
        parts = [f"lr {_show(own['lr'])}"]
        if "momentum" in own:
            parts.append(f"momentum {_show(own['momentum'])}")
        if own.get("betas", [0.9, 0.999]) != [0.9, 0.999]:
            parts.append(f"betas {' and '.join(map(_show, own['betas']))}")
        if own["weight_decay"] != (0.01 if name == "adamw" else 0):
            parts.append(f"weight decay {_show(own['weight_decay'])}")
        return f"{RACERS[name].label} ({', '.join(parts)})"

    def _place(self, run: Run) -> str:
        if run.gone(self.step):
            return f"diverged at step {run.diverged}."
        minima = surfaces()[self.surface]["minima"]
        at = run.points[self.step]
        away = min(math.dist(at, minimum) for minimum in minima)
        where = f"{_short(away)} from the {'nearest ' if len(minima) > 1 else ''}minimum"
        outside = "" if _inside(self.surface, at) else ", outside the picture"
        return f"loss {_short(run.losses[self.step])}, {where}{outside}."

    def _draw(self) -> str:
        runs = self.runs if _has_torch() else {}
        return _Picture(self.surface, self.start, self.step, runs).svg(self.words)


def _ahead(runs: dict[str, Run], step: int) -> list[str]:
    """The racers with the lowest loss; what is within 1e-9 of the lowest counts as it."""
    there = {name: run.losses[step] for name, run in runs.items() if not run.gone(step)}
    return [name for name, value in there.items() if value - min(there.values()) < 1e-9]


# --- what may be given -----------------------------------------------------------------------------------------------


def _surface(name: Any) -> str:
    if name not in surfaces():
        raise ValueError(f"no surface is called {name!r}; there are {', '.join(surfaces())}")
    return str(name)


def _optimizers(names: Any) -> list[str]:
    """In the order in which they are drawn."""
    names = [names] if isinstance(names, str) else list(names)
    unknown = [name for name in names if name not in RACERS]
    if unknown:
        raise ValueError(f"no racer is called {unknown[0]!r}; there are {', '.join(RACERS)}")
    return [name for name in RACERS if name in names]


def _inside(surface: str, at: Sequence[float]) -> bool:
    left, right, bottom, top = surfaces()[surface]["view"]
    return left <= at[0] <= right and bottom <= at[1] <= top


def _start(surface: str, at: Any) -> list[float]:
    left, right, bottom, top = surfaces()[surface]["view"]
    try:
        x, y = (float(v) for v in at)
    except (TypeError, ValueError):
        raise ValueError(f"start is a pair (x, y) of numbers, not {at!r}") from None
    if not _inside(surface, (x, y)):
        raise ValueError(
            f"start ({x:g}, {y:g}) lies outside the picture of {surface!r}: "
            f"x goes from {left:g} to {right:g}, y from {bottom:g} to {top:g}"
        )
    return [x, y]


def _whole(name: str, n: Any, low: int, high: int) -> int:
    if isinstance(n, bool) or not isinstance(n, int) or not low <= n <= high:
        raise ValueError(f"{name} is a whole number from {low} to {high}, not {n!r}")
    return n


_LIMITS: dict[str, tuple[float, float, str]] = {
    "lr": (1e-12, 10, "above 0, up to 10"),
    "momentum": (0, 0.999, "from 0 up to 0.999"),
    "betas": (0, 0.9999, "from 0 up to 0.9999"),
    "weight_decay": (0, 10, "from 0 up to 10"),
}


def _number(name: str, key: str, value: Any) -> float:
    low, high, words = _LIMITS[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError(f"{key} of {name} is {words}, not {value!r}")
    if name == "nesterov" and key == "momentum" and value == 0:
        raise ValueError("nesterov needs a momentum above 0; without momentum it is sgd")
    return float(value)  # torch takes betas only when both are floats, and the page writes 0 for 0.0


def _settings(surface: str, name: str, overrides: Any) -> dict[str, Any]:
    """All settings of a racer: those given, checked, over the defaults."""
    takes = RACERS[name].takes
    if not isinstance(overrides, Mapping):
        raise ValueError(f"{name} takes its settings as a dict, {name}={{'lr': 0.1}} for instance, not {overrides!r}")
    for key in overrides:
        if key not in takes:
            raise ValueError(f"{name} has no setting {key!r}; it takes {', '.join(takes)}")
    checked: dict[str, Any] = {key: _number(name, key, value) for key, value in overrides.items() if key != "betas"}
    if "betas" in overrides:
        pair = overrides["betas"]
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise ValueError(f"betas of {name} is a pair, (0.9, 0.999) for instance, not {pair!r}")
        checked["betas"] = [_number(name, "betas", beta) for beta in pair]
    return {key: {**defaults(surface, name), **checked}[key] for key in takes}


# --- words and picture -----------------------------------------------------------------------------------------------


def _show(x: float) -> str:
    """For people: a real minus, and no ".0" behind a whole number; as the ES module writes it."""
    return repr(float(x)).removesuffix(".0").replace("-", "−")


def _short(x: float) -> str:
    """At most three significant digits."""
    if x != 0 and abs(x) < 1e-9:
        return "below 1e−09"
    return _show(float(Context(prec=3, rounding=ROUND_HALF_UP).plus(Decimal(x))))


@cache
def _contours(surface: str, width: int, height: int) -> tuple[str, ...]:
    """The lines of equal loss, each as an SVG path, by marching squares."""
    left, right, bottom, top = surfaces()[surface]["view"]
    first, factor, count = surfaces()[surface]["levels"]
    columns, rows = width // 5, height // 5
    grid = [
        [
            loss(surface, left + (right - left) * i / columns, top - (top - bottom) * j / rows)
            for i in range(columns + 1)
        ]
        for j in range(rows + 1)
    ]
    lowest = loss(surface, *surfaces()[surface]["minima"][0])
    return tuple(_path(_joined(grid, lowest + first * factor**k)) for k in range(count))


Edge = tuple[int, int, int, int]


def _joined(grid: list[list[float]], level: float) -> list[list[Point]]:
    """The line at `level`, cell by cell, joined into as few strokes as the cells allow."""
    beside: dict[Edge, list[Edge]] = {}
    place: dict[Edge, Point] = {}
    for j in range(len(grid) - 1):
        for i in range(len(grid[0]) - 1):
            corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            crossed = []
            for (x, y), (u, v) in zip(corners, corners[1:] + corners[:1], strict=True):
                a, b = grid[y][x] - level, grid[v][u] - level
                if (a < 0) != (b < 0):
                    edge = (*min((x, y), (u, v)), *max((x, y), (u, v)))
                    t = a / (a - b)
                    place[edge] = (5 * (x + t * (u - x)), 5 * (y + t * (v - y)))
                    crossed.append(edge)
            for crossing, other in zip(crossed[::2], crossed[1::2], strict=True):
                beside.setdefault(crossing, []).append(other)
                beside.setdefault(other, []).append(crossing)
    strokes = []
    for begin in sorted(beside, key=lambda edge: len(beside[edge])):  # open ends first
        stroke, at = [place[begin]], begin
        while beside[at]:
            to = beside[at].pop()
            beside[to].remove(at)
            stroke.append(place[to])
            at = to
        if len(stroke) > 1:
            strokes.append(stroke)
    return strokes


def _path(strokes: list[list[Point]]) -> str:
    """In whole units, from point to point."""
    parts = []
    for stroke in strokes:
        whole = [(round(x), round(y)) for x, y in stroke]
        steps = [(x - u, y - v) for (u, v), (x, y) in pairwise(whole)]
        moves = "".join(f"{dx} {dy} " for dx, dy in steps if (dx, dy) != (0, 0))
        parts.append(f"M{whole[0][0]} {whole[0][1]}l{moves}".rstrip().replace(" -", "-"))
    return "".join(part for part in parts if not part.endswith("l"))


class _Picture:
    """Static drawing: the surface from above, the way of each racer, and which line is whose."""

    WIDTH, HEIGHT, KEY = 480, 320, 22

    def __init__(self, surface: str, start: Sequence[float], step: int, runs: dict[str, Run]) -> None:
        self.surface, self.start, self.step, self.runs = surface, start, step, runs

    def svg(self, words: str) -> str:
        height = self.HEIGHT + 8 + self.KEY * math.ceil(len(self.runs) / 2)
        lines = "".join(f'<path d="{d}"/>' for d in _contours(self.surface, self.WIDTH, self.HEIGHT))
        minima = "".join(
            f'<path d="M-5-5l10 10M-5 5l10-10" transform="translate({self._at(at)})" stroke-width="2"/>'
            for at in surfaces()[self.surface]["minima"]
        )
        ways = "".join(self._way(name, run) for name, run in self.runs.items())
        key = "".join(self._key(i, name) for i, name in enumerate(self.runs))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {self.WIDTH} {height}" '
            f'style="max-width:min(100%,{self.WIDTH}px);height:auto" font-family="system-ui,sans-serif" font-size="13" '
            f'fill="none" stroke="currentColor" aria-label="{escape(words)}">'
            f'<svg width="{self.WIDTH}" height="{self.HEIGHT}" overflow="hidden">'
            f'<g stroke-opacity="0.3">{lines}</g>{minima}{self._axes()}'
            f'<circle r="8" transform="translate({self._at(self.start)})" stroke-width="2"/>'
            f'<g stroke-width="2" stroke-linejoin="round">{ways}</g></svg>{key}</svg>'
        )

    def _axes(self) -> str:
        names = ("parameter x", self.WIDTH - 6, self.HEIGHT - 8, "end"), ("parameter y", 6, 16, "start")
        return "".join(
            f'<text x="{x}" y="{y}" text-anchor="{anchor}" stroke="none" fill="currentColor">{name}</text>'
            for name, x, y, anchor in names
        )

    def _at(self, at: Sequence[float]) -> str:
        left, right, bottom, top = surfaces()[self.surface]["view"]
        x, y = (at[0] - left) / (right - left) * self.WIDTH, (top - at[1]) / (top - bottom) * self.HEIGHT
        return f"{min(9999, max(-9999, x)):.1f} {min(9999, max(-9999, y)):.1f}"

    def _way(self, name: str, run: Run) -> str:
        passed = [self._at(at) for at in run.points[: self.step + 1]]
        moved = [at for i, at in enumerate(passed) if i == 0 or at != passed[i - 1]]
        dash = f' stroke-dasharray="{RACERS[name].dash}"' if RACERS[name].dash else ""
        return f'<path d="M{"L".join(moved)}"{dash}/>{self._head(name, passed[-1])}'

    def _head(self, name: str, at: str) -> str:
        return f'<path d="{RACERS[name].head}" transform="translate({at})" fill="currentColor" stroke="none"/>'

    def _key(self, i: int, name: str) -> str:
        x, y = 4 + i % 2 * self.WIDTH / 2, self.HEIGHT + 8 + self.KEY * (i // 2) + self.KEY / 2
        dash = f' stroke-dasharray="{RACERS[name].dash}"' if RACERS[name].dash else ""
        return (
            f'<path d="M{x:g} {y:g}h30" stroke-width="2"{dash}/>{self._head(name, f"{x + 38:g} {y:g}")}'
            f'<text x="{x + 50:g}" y="{y + 4.5:g}" stroke="none" fill="currentColor">{RACERS[name].label}</text>'
        )
