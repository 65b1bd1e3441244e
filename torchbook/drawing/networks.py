"""Drawings of what a small network does: lines fitted to points, a window of weights, shapes on their way."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from torchbook.drawing.canvas import WIDTH, Drawing, text_width

_HIGH = 220.0  # of a plot
_LEFT = 34.0  # room for the numbers beside it


def line_fits(
    points: Sequence[tuple[float, float]],
    fits: Mapping[str, tuple[float, float]],
    xlabel: str = "x",
    ylabel: str = "y",
) -> Drawing:
    """Points, and straight lines meant to pass through them; from a point a dashed stroke leads to the last line.

    Args:
        points: (x, y) of each.
        fits: a name to the line's weight w and bias b, y = w x + b; at most three, drawn in this order.
        xlabel, ylabel: written at the axes.

    Raises:
        ValueError: there are no points, or no line, or more than three.
    """
    if not points or not 1 <= len(fits) <= 3:
        raise ValueError("line_fits needs points, and one to three lines")
    xs = [x for x, _ in points]
    end = math.ceil(max(xs) * 1.15)
    tops = [y for _, y in points] + [w * end + b for w, b in fits.values()]
    low, high = min(0.0, *(b for _, b in fits.values())), max(tops)
    w, b = list(fits.values())[-1]
    said = [f"{name}: y = {weight:g} x + {bias:g}" for name, (weight, bias) in fits.items()]
    far = [f"at x = {x:g} the point is {y:g} and the last line {w * x + b:g}" for x, y in points]
    axes = f"{ylabel} over {xlabel}; " if (xlabel, ylabel) != ("x", "y") else ""
    drawing = Drawing("Points and fitted lines", axes + "; ".join(said + far) + ".")
    wide = WIDTH - _LEFT - max(map(text_width, fits)) - 12

    def at(x: float, y: float) -> tuple[float, float]:
        return _LEFT + x / end * wide, _HIGH * (1 - (y - low) / (high - low))

    drawing.line([at(0, high), at(0, low), at(end, low)])
    drawing.text(0, -18, ylabel)
    drawing.text(_LEFT + wide / 2, _HIGH + 34, xlabel, "middle")
    for x in _apart(sorted({0.0, float(end), *xs}), 24 * end / wide):
        drawing.text(at(x, 0)[0], _HIGH + 14, f"{x:g}", "middle")
    for y in _apart(sorted({y for _, y in points}), 18 * (high - low) / _HIGH):
        drawing.text(_LEFT - 8, at(0, y)[1], f"{y:g}", "end")
    roles = ["read", "write", "kept"][3 - len(fits) :] if len(fits) > 1 else ["kept"]
    taken: list[float] = []
    for (name, (weight, bias)), role in zip(fits.items(), roles, strict=True):
        drawing.line([at(0, bias), at(end, weight * end + bias)], role)
        y = at(0, weight * end + bias)[1]
        while any(abs(y - other) < 17 for other in taken):
            y += 17
        taken.append(y)
        drawing.text(at(end, 0)[0] + 4, y, name)
    for x, y in points:
        if abs(w * x + b - y) > 0.02 * (high - low):
            drawing.line([at(x, y), at(x, w * x + b)], "absent")
        drawing.circle(*at(x, y), 5)
    last = list(fits)[-1]
    drawing.legend(0, _HIGH + 62, {"": "given point", "absent": f"distance to the line {last}"})
    return drawing


def _apart(values: Sequence[float], least: float) -> list[float]:
    """Those of some rising values that are so far apart that their labels do not touch."""
    kept: list[float] = []
    for value in values:
        if not kept or value - kept[-1] >= least:
            kept.append(value)
    return kept


def window(image: Tensor, kernel: Tensor, place: tuple[int, int]) -> Drawing:
    """A convolution without padding: the window of weights over a picture, and the number that it makes there.

    Args:
        image: (H, W), at most 6 × 6.
        kernel: (k, k), the weights.
        place: row and column of the output that is marked.

    Raises:
        ValueError: another shape, or a place outside of the output.
    """
    if image.dim() != 2 or kernel.dim() != 2 or max(image.shape) > 6 or max(kernel.shape) > 3:
        raise ValueError("a picture of at most 6 × 6 and a window of at most 3 × 3 can be drawn")
    made = nn.functional.conv2d(image[None, None], kernel[None, None])[0, 0]
    row, column = place
    if not (0 <= row < made.shape[0] and 0 <= column < made.shape[1]):
        raise ValueError(f"the output has the shape {tuple(made.shape)}, so {place} is not in it")
    k, m = kernel.shape
    seen = image[row : row + k, column : column + m]
    pairs = zip(seen.flatten().tolist(), kernel.flatten().tolist(), strict=True)
    terms = " ".join(f"{'+' if b > 0 else '−'} {a:g}·{abs(b):g}" for a, b in pairs if b).removeprefix("+ ")
    value = _number(made[row, column].item())
    drawing = Drawing(
        "A window of weights over a picture",
        f"The window covers rows {row} to {row + k - 1} and columns {column} to {column + m - 1}. Each pixel is "
        f"multiplied by the weight above it, and the sum is {value}: {terms}. It is the output at row "
        f"{row}, column {column}.",
    )
    side = 26.0

    def cells(values: Tensor) -> list[list[str]]:
        return [[_number(one) for one in line] for line in values.tolist()]

    def covered(r: int, c: int) -> str:
        return "read" if row <= r < row + k and column <= c < column + m else ""

    drawing.text(0, 0, "picture", bold=True)
    drawing.grid(0, 14, cells(image), covered, cell=(side, side))
    left = side * image.shape[1] + 20
    drawing.text(left, 0, "weights", bold=True)
    drawing.grid(left, 14, cells(kernel), lambda r, c: "kept", cell=(side + 2, side))
    left += max((side + 2) * m, text_width("weights")) + 18
    drawing.text(left, 0, "output", bold=True)
    drawing.grid(left, 14, cells(made), lambda r, c: "write" if (r, c) == place else "", cell=(side, side))
    bottom = 14 + side * max(image.shape[0], made.shape[0]) + 14
    drawing.text(0, bottom, f"{terms} = {value}")
    drawing.legend(0, bottom + 22, {"read": "under the window", "write": "made from it"})
    return drawing


def shapes(model: nn.Module, example: Tensor) -> Drawing:
    """The shape that leaves each layer of a model, from a run with a real input, and the layer's parameters.

    Args:
        model: it runs once, without recording, in the mode in which it is; its hooks are taken away again.
        example: an input, of any shape that the model takes.
    """
    rows: list[tuple[str, tuple[int, ...], int]] = []
    with _listening(model, rows), torch.no_grad():
        model(example)
    start = f"({', '.join(map(str, example.shape))})"
    said = [f"{name} gives {shape} and has {count:,} parameters" for name, shape, count in rows]
    drawing = Drawing("Shapes through a network", f"The input has the shape {start}; {'; '.join(said)}.")
    wide = max(text_width(name) for name, _, _ in rows) + 20
    drawing.text(wide + 14, 0, start, mono=True)
    before: tuple[float, float] = (wide / 2, 8)
    drawing.text(wide / 2, 0, "input", "middle")
    for number, (name, shape, count) in enumerate(rows):
        y = 26 + 44.0 * number
        box = drawing.box(0, y, name, "kept" if count else "", w=wide, h=28)
        drawing.arrow(before, box.top)
        before = box.bottom
        drawing.text(wide + 14, y + 14, f"({', '.join(map(str, shape))})", mono=True)
        if count:
            drawing.text(WIDTH - 10, y + 14, f"{count:,}", "end")
    drawing.text(wide + 14, -22, "shape")
    drawing.text(WIDTH - 10, -22, "parameters", "end")
    drawing.legend(0, 26 + 44.0 * len(rows) + 4, {"kept": "has parameters", "": "has none"})
    return drawing


def _number(value: float) -> str:
    return f"{value:g}".replace("-", "−")


@contextmanager
def _listening(model: nn.Module, rows: list[tuple[str, tuple[int, ...], int]]) -> Iterator[None]:
    """Note the kind, the output's shape and the number of parameters of each layer that has no layers inside."""

    def note(layer: nn.Module, args: object, out: Tensor) -> None:
        rows.append((type(layer).__name__, tuple(out.shape), sum(p.numel() for p in layer.parameters())))

    handles = [m.register_forward_hook(note) for m in model.modules() if not list(m.children())]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
