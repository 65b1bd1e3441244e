"""Plots of the chapters: one line in a cell, legible in light and dark, and each with a text alternative.

A plotly figure carries its text alternative in `figure.layout.meta["alt"]`, where the press looks for it; an image
grid carries one for each image. Where something must be said beside every result of this kernel (stand-in data),
each figure says it.
"""

from __future__ import annotations

import base64
import html
import io
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from torchbook import notices

if TYPE_CHECKING:
    import plotly.graph_objects as go

# Okabe and Ito's hues, moved until each has a contrast of at least 3:1 on white and on #121212.
COLORS = ("#0a7abf", "#d55e00", "#0f9068", "#b5618f", "#98762b", "#7f7f7f")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MARKERS = ("circle", "square", "diamond", "triangle-up", "x", "cross")
TEXT = "#797979"  # 4.3:1 on white and on #121212, the most that one grey can have on both
LINES = "rgba(128,128,128,0.3)"
_TITLE = 36  # characters of a title that a phone shows in one line


def curves(
    series: Mapping[str, Sequence[float]],
    *,
    x: Sequence[float] | None = None,
    xlabel: str = "epoch",
    ylabel: str = "",
    title: str = "",
    log_x: bool = False,
    log_y: bool = False,
    alt: str | None = None,
) -> go.Figure:
    """One line for each series; lines differ in colour, dash and marker.

    Args:
        series: name to values, all of one length.
        x: positions of the values; 1, 2, 3, … when not given.
        xlabel, ylabel, title: plain text.
        log_x, log_y: logarithmic axes.
        alt: text alternative; generated from the values when not given.

    Raises:
        ValueError: no series, or lengths that differ.
    """
    import plotly.graph_objects as go

    values = {name: _vector(ys, name) for name, ys in series.items()}
    if not values:
        raise ValueError("curves needs at least one series")
    first = next(iter(values.values()))
    at = np.arange(1, len(first) + 1) if x is None else _vector(x, "x")
    for name, ys in values.items():
        if len(ys) != len(at):
            raise ValueError(f"curves: {name!r} has {len(ys)} values for {len(at)} positions on the x axis")
    mode = "lines+markers" if len(at) <= 40 else "lines"
    traces = [
        go.Scatter(
            x=at.tolist(),
            y=_rounded(ys),
            name=html.escape(name),
            mode=mode,
            line={"color": COLORS[i % len(COLORS)], "dash": DASHES[i % len(DASHES)], "width": 2},
            marker={"symbol": MARKERS[i % len(MARKERS)], "size": 7},
        )
        for i, (name, ys) in enumerate(values.items())
    ]
    figure = go.Figure(traces)
    _dress(figure, title, alt or _curves_in_words(values, at, xlabel, ylabel, title))
    figure.update_xaxes(title=html.escape(xlabel))
    if log_x:
        figure.update_xaxes(type="log", tickvals=at.tolist(), ticktext=[f"{value:g}" for value in at])
    figure.update_yaxes(title=html.escape(ylabel), type="log" if log_y else None, exponentformat="power")
    return figure


def confusion(matrix: Any, classes: Sequence[str], *, title: str = "", alt: str | None = None) -> go.Figure:
    """A confusion matrix: a row for each true class, a column for each predicted one, a count in each cell.

    Colour follows the mistakes; the diagonal is left plain, or it would drown them.

    Raises:
        ValueError: the matrix is not square, or the number of classes differs.
    """
    import plotly.graph_objects as go

    counts = _array(matrix)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise ValueError(f"confusion needs a square matrix, got the shape {tuple(counts.shape)}")
    if len(classes) != len(counts):
        raise ValueError(f"confusion: {len(classes)} class names for a {len(counts)} x {len(counts)} matrix")
    wrong = counts.astype(float).copy()
    np.fill_diagonal(wrong, 0)
    names = [html.escape(name) for name in classes]
    heat = go.Heatmap(
        z=wrong.tolist(),
        x=names,
        y=names,
        text=counts.tolist(),
        texttemplate="%{text}",
        textfont={"size": 11},
        colorscale=[[0, "#eef3f8"], [0.5, "#8fbfe0"], [1, "#0a5a94"]],  # opaque: plotly picks the text's colour by it
        showscale=False,
        hovertemplate="%{y}, predicted %{x}: %{text}<extra></extra>",
        xgap=1,
        ygap=1,
    )
    figure = go.Figure(heat)
    _dress(figure, title, alt or _confusion_in_words(counts, classes, title), height=480)
    figure.update_xaxes(title={"text": "predicted", "standoff": 8}, tickangle=-45, showgrid=False)
    figure.update_yaxes(title={"text": "true", "standoff": 8}, autorange="reversed", showgrid=False)
    return figure


@dataclass(frozen=True)
class ImageGrid:
    """A row of small pictures with captions, which wraps to the width there is."""

    png: tuple[bytes, ...]
    captions: tuple[str, ...]
    alts: tuple[str, ...]
    size: int
    note: str

    def _repr_html_(self) -> str:
        cells = "".join(
            f'<figure style="margin:0"><img src="data:image/png;base64,{base64.b64encode(png).decode()}" '
            f'alt="{html.escape(alt, quote=True)}" style="width:100%;image-rendering:pixelated">'
            f'<figcaption style="font-size:.8em;line-height:1.3">{html.escape(caption)}</figcaption></figure>'
            for png, caption, alt in zip(self.png, self.captions, self.alts, strict=True)
        )
        note = f'<p style="font-size:.8em">{html.escape(self.note)}</p>' if self.note else ""
        grid = (
            f"display:grid;grid-template-columns:repeat(auto-fill,minmax({self.size}px,1fr));gap:.75em;max-width:50em"
        )
        return f'<div style="{grid}">{cells}</div>{note}'

    def __repr__(self) -> str:
        return "\n".join(self.captions)


def image_grid(images: Any, captions: Sequence[str], *, alts: Sequence[str] | None = None, size: int = 96) -> ImageGrid:
    """Grey images side by side, each with its caption; HTML without script, the same on page, Colab and JupyterLab.

    Args:
        images: (N, H, W) or (N, 1, H, W), uint8 as stored, or floats, stretched to the range there is.
        captions: one an image, shown under it.
        alts: one text alternative an image; the caption when not given.
        size: least width of an image in pixels.

    Raises:
        ValueError: other shapes, or another number of captions or alternatives than of images.
    """
    pixels = _array(images)
    if pixels.ndim == 4 and pixels.shape[1] == 1:
        pixels = pixels[:, 0]
    if pixels.ndim != 3:
        raise ValueError(f"image_grid needs images of shape (N, H, W) or (N, 1, H, W), got {tuple(pixels.shape)}")
    alts = [f"Picture: {caption}" for caption in captions] if alts is None else alts
    for what, texts in (("captions", captions), ("alts", alts)):
        if len(texts) != len(pixels):
            raise ValueError(f"image_grid: {len(texts)} {what} for {len(pixels)} images")
    note = "; ".join(notices.current())
    return ImageGrid(tuple(map(_png, pixels)), tuple(captions), tuple(alts), size, note)


def _array(values: Any) -> np.ndarray:
    """An array of anything array-like; a tensor may be on an accelerator or need its gradient."""
    for step in ("detach", "cpu"):
        values = getattr(values, step)() if hasattr(values, step) else values
    return np.asarray(values)


def _vector(values: Any, name: str) -> np.ndarray:
    array = _array(values).astype(float)
    if array.ndim != 1 or not len(array):
        raise ValueError(f"{name!r} must be a sequence of numbers, got the shape {tuple(array.shape)}")
    return array


def _rounded(values: np.ndarray) -> list[float]:
    """Six digits: more than a screen shows, and a small page."""
    return [float(f"{value:.6g}") for value in values]


def _png(pixels: np.ndarray) -> bytes:
    from PIL import Image

    if pixels.dtype != np.uint8:
        low, high = float(pixels.min()), float(pixels.max())
        pixels = np.round((pixels - low) * (255 / (high - low or 1))).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _dress(figure: go.Figure, title: str, alt: str, height: int = 360) -> None:
    """What all plots share: no template (it is 7 kB a figure), no background, greys that both themes bear, notices."""
    note = "; ".join(notices.current())
    lines = [html.escape(line) for line in textwrap.wrap(title, _TITLE)]
    if note:
        lines.append(f"<sub>{html.escape(note)}</sub>")
        alt = f"{alt} ({note})"
    axis = {"gridcolor": LINES, "linecolor": LINES, "zeroline": False, "automargin": True}
    figure.update_layout(
        template="none",
        title={"text": "<br>".join(lines), "x": 0, "xref": "container", "font": {"size": 15}},
        height=height,
        margin={"l": 8, "r": 8, "t": 36 + 20 * len(lines) if lines else 16, "b": 8},
        font={"color": TEXT, "size": 13},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        legend={"orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom"},
        hoverlabel={"font": {"size": 13}},
        xaxis=axis,
        yaxis=axis,
        meta={"alt": alt},
    )


def _curves_in_words(values: Mapping[str, np.ndarray], x: np.ndarray, xlabel: str, ylabel: str, title: str) -> str:
    what = " against ".join(filter(None, (ylabel, xlabel))) or "values"
    lines = []
    for name, ys in values.items():
        low, high = int(np.nanargmin(ys)), int(np.nanargmax(ys))
        lines.append(
            f"{name}: from {ys[0]:.4g} at {x[0]:g} to {ys[-1]:.4g} at {x[-1]:g}, "
            f"lowest {ys[low]:.4g} at {x[low]:g}, highest {ys[high]:.4g} at {x[high]:g}."
        )
    return " ".join([f"{title}." if title else "", f"Line plot, {what}.", *lines]).strip()


def _confusion_in_words(counts: np.ndarray, classes: Sequence[str], title: str) -> str:
    total, right = int(counts.sum()), int(np.trace(counts))
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:3]
    pairs = [(int(i) // len(classes), int(i) % len(classes)) for i in order if wrong.flat[i]]
    named = "; ".join(f"{classes[t]} taken for {classes[p]} {wrong[t, p]:g} times" for t, p in pairs)
    text = f"Confusion matrix of {len(classes)} classes: {right} of {total} right."
    most = f"Most frequent mistakes: {named}." if named else "No mistakes."
    return " ".join([f"{title}." if title else "", text, most]).strip()
