"""Plots as drawings that stand in the page at once; plotly takes the place of one when somebody turns to it.

Title, names of the axes and legend are text of the page. Between them lies the field: SVG that is as wide as the page,
whatever that is, with positions in per cent, so that curves stretch while letters and markers keep their size. Plotly
gets the same field, ranges and ticks.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

_HEIGHT = 400  # pixels of a plot that says nothing of it
_NARROW = 250  # pixels of a field on a phone: what its labels have room in
_TYPE = 12  # pixels, at least, of all letters
_LETTER = 6.8  # pixels of a letter of that size, or a little more
_INSIDE = 1000  # a field is so many units wide and high
_COLOURS = 6  # of the page's own
_LONG = 20  # points of a curve that plotly no longer marks unless it is asked to
# In pixels, as plotly has them for lines of up to 3.
_DASHES = {
    "solid": "",
    "dot": "3 3",
    "dash": "9 9",
    "longdash": "15 15",
    "dashdot": "9 3 3 3",
    "longdashdot": "15 6 3 6",
}
# Around the origin, for a marker of size 2, as plotly has them.
_MARKERS = {
    "circle": "M1 0A1 1 0 1 1-1 0A1 1 0 1 1 1 0Z",
    "square": "M-1-1H1V1H-1Z",
    "diamond": "M1.3 0L0 1.3L-1.3 0L0-1.3Z",
    "triangle-up": "M-1.155.5H1.155L0-1Z",
    "x": "M0 .566l.566.566.566-.566-.566-.566.566-.566-.566-.566-.566.566-.566-.566-.566.566.566.566-.566.566.566.566Z",
    "cross": "M1.2.4H.4V1.2H-.4V.4H-1.2V-.4H-.4V-1.2H.4V-.4H1.2Z",
}
_ALLOWED = re.compile(r"&lt;(/?(?:b|i|sub|sup)|br\s*/?)&gt;")
_TAG = re.compile(r"<[^<>]*>")
_HEX = re.compile(r"#[0-9a-f]{6}", re.IGNORECASE)
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

# What is drawn here. A figure with anything else is left to plotly.
_LAYOUT = {
    *("autosize", "font", "height", "hoverlabel", "hovermode", "legend", "margin", "meta", "paper_bgcolor"),
    *("plot_bgcolor", "showlegend", "template", "title", "width", "xaxis", "yaxis"),
}
_AXIS = {
    *("automargin", "autorange", "color", "exponentformat", "gridcolor", "linecolor", "range", "showgrid", "tickangle"),
    *("tickcolor", "tickfont", "ticktext", "tickvals", "title", "type", "zeroline", "zerolinecolor"),
}
_CURVE = {"hovertemplate", "line", "marker", "mode", "name", "type", "x", "y"}
_CELLS = {
    *("colorscale", "hovertemplate", "name", "showscale", "text", "textfont", "texttemplate", "type"),
    *("x", "xgap", "y", "ygap", "z"),
}


@dataclass(frozen=True)
class Drawing:
    """A plot in the page.

    Attributes:
        html: what stands there until plotly does.
        figure: for plotly, as JSON: what it draws in the field, and no more.
    """

    html: str
    figure: dict[str, Any]


class _UndrawnError(Exception):
    """A figure has what is not drawn here."""


def drawn(figure: Mapping[str, Any]) -> Drawing | None:
    """The drawing of a plotly figure; None where it has more than curves or one matrix of coloured cells."""
    try:
        return _drawn(figure.get("data", []), figure.get("layout", {}))
    except _UndrawnError:
        return None


def _drawn(data: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> Drawing:
    _require(bool(data) and layout.keys() <= _LAYOUT)
    xaxis, yaxis = layout.get("xaxis", {}), layout.get("yaxis", {})
    _require(xaxis.keys() <= _AXIS and yaxis.keys() <= _AXIS)
    matrix = data[0].get("type") == "heatmap"
    x, y, content = _matrix(data, xaxis, yaxis) if matrix else _curves(data, xaxis, yaxis)
    slanted = xaxis.get("tickangle") == -45
    margin = _margin(x, y, slanted)
    inset = f"inset:{margin['t']}px {margin['r']}px {margin['b']}px {margin['l']}px"
    height = layout.get("height", _HEIGHT)
    field = f'<svg width="100%" height="100%">{_grid(xaxis, yaxis, x, y)}{content}{_labels(x, y, slanted)}</svg>'
    parts = (
        _text("p", "plot-title", _title(layout)),
        _text("p", "plot-y", _title(yaxis)),
        f'<div class="plot-field"><div class="plot-area" style="{inset}">{field}</div></div>',
        _text("p", "plot-x", _title(xaxis)),
        _legend(data) if layout.get("showlegend", len(data) > 1) else "",
    )
    drawing = f'<div class="plot" style="min-height:{height:g}px" aria-hidden="true">{"".join(parts)}</div>'
    rest = {key: value for key, value in layout.items() if key not in ("height", "legend", "title", "width")}
    axes = {"xaxis": xaxis | x.for_plotly(), "yaxis": yaxis | y.for_plotly()}
    traces = [_legible(trace) for trace in data]
    return Drawing(drawing, {"data": traces, "layout": rest | axes | {"margin": margin, "showlegend": False}})


def _require(true: bool) -> None:
    if not true:
        raise _UndrawnError


def _title(part: Mapping[str, Any]) -> str:
    title = part.get("title") or ""
    return str(title if isinstance(title, str) else title.get("text") or "")


def _rich(text: str) -> str:
    """Text of plotly, which knows a few tags, as HTML."""
    return _ALLOWED.sub(r"<\1>", html.escape(html.unescape(text), quote=False))


def _plain(text: str) -> str:
    return html.escape(html.unescape(_TAG.sub("", text)), quote=False)


def _text(tag: str, name: str, text: str) -> str:
    return f'<{tag} class="{name}">{_rich(text)}</{tag}>' if text else ""


def _legible(trace: Mapping[str, Any]) -> dict[str, Any]:
    if "textfont" not in trace:
        return dict(trace)
    return {**trace, "textfont": {**trace["textfont"], "size": max(_TYPE, trace["textfont"].get("size", _TYPE))}}


# Axes


@dataclass(frozen=True)
class _Axis:
    """Values along a side of the field; `low` and `high` are powers of ten where it is logarithmic."""

    low: float
    high: float
    log: bool = False
    names: tuple[str, ...] = ()  # of a matrix's rows or columns, which are 0, 1, 2, …
    ticks: tuple[tuple[Any, str], ...] = ()

    def at(self, value: float) -> float:
        """Where a value lies: 0 at the lower end, 1 at the upper one."""
        return ((math.log10(value) if self.log else value) - self.low) / (self.high - self.low)

    def labels(self) -> Iterator[tuple[float, str]]:
        """Ticks with where they lie."""
        named = enumerate(self.names)
        yield from ((self.at(value), text) for value, text in (named if self.names else self.ticks))

    def for_plotly(self) -> dict[str, Any]:
        ticks = [(name, name) for name in self.names] or self.ticks
        return {
            "automargin": False,
            "autorange": False,
            "range": [self.low, self.high],
            "ticks": "",
            "ticklabelstandoff": 3,
            "tickmode": "array",
            "tickvals": [value for value, _ in ticks],
            "ticktext": [text for _, text in ticks],
            "tickfont": {"size": _TYPE},
            "title": {"text": ""},
        }


def _scale(values: Iterable[float | None], axis: Mapping[str, Any], around: float, most: int) -> _Axis:
    """An axis that holds the values, with a part of their span free around them."""
    log = axis.get("type") == "log"
    _require(axis.get("type") in (None, "-", "linear", "log") and axis.get("autorange") in (None, True))
    numbers = [value for value in values if value is not None and (value > 0 or not log)]
    _require(bool(numbers))
    ends = [math.log10(value) if log else float(value) for value in (min(numbers), max(numbers))]
    span = ends[1] - ends[0]
    low, high = axis.get("range") or (ends[0] - around * span, ends[1] + around * span)
    if high <= low:
        low, high = (low - 0.5, low + 0.5) if log else (low - 1, low + 1)
    if axis.get("tickvals"):
        texts = axis.get("ticktext") or map(number, axis["tickvals"])
        ticks = [(value, str(text)) for value, text in zip(axis["tickvals"], texts, strict=False)]
    else:
        whole = all(float(value).is_integer() for value in numbers)
        ticks = list(_decades(low, high, most) if log else _steps(low, high, most, whole))
    return _Axis(low, high, log, ticks=tuple(ticks))


def _steps(low: float, high: float, most: int, whole: bool) -> Iterator[tuple[float, str]]:
    """At most so many round numbers, and a few less, at one distance."""
    rough = (high - low) / most
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * times for times in (1, 2, 5, 10) if unit * times >= rough * 0.999)
    step = max(step, 1.0) if whole else step
    for count in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
        value = float(f"{count * step:.10g}")
        yield value, number(value)


def _decades(low: float, high: float, most: int) -> Iterator[tuple[float, str]]:
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    if last - first >= 2:  # powers of ten alone
        step = math.ceil((last - first + 1) / most)
        powers = [power for power in range(first, last + 1) if power % step == 0]
        plain = first >= -3 and last <= 4
        yield from ((10.0**power, number(10.0**power) if plain else f"10{_raised(power)}") for power in powers)
        return
    if high - low < 0.7:  # less than a factor of five
        yield from _steps(10**low, 10**high, most, whole=False)
        return
    values = (float(f"{times}e{power}") for power in range(math.floor(low), last + 1) for times in (1, 2, 5))
    yield from ((value, number(value)) for value in values if low <= math.log10(value) <= high)


def number(value: float) -> str:
    """A number as plots write it: 0.25, −3, 20k, 5×10⁻⁶."""
    if not value:
        return "0"
    size = abs(value)
    if size < 1e-3 or size >= 1e12:
        power = math.floor(math.log10(size))
        text = f"{value / 10.0**power:.4g}×10{_raised(power)}"
    else:
        unit, sign = next((unit, sign) for unit, sign in ((1e9, "G"), (1e6, "M"), (1e4, "k"), (0, "")) if size >= unit)
        text = f"{value / (1000 if sign == 'k' else unit or 1):.6g}{sign}"
    return text.replace("-", "−")


def _raised(power: int) -> str:
    return str(power).translate(_RAISED)


def _wide(text: str) -> float:
    return _LETTER * len(html.unescape(_TAG.sub("", text)))


def _apart(x: _Axis) -> _Axis:
    """Without the labels that would touch the one before them on a phone; the last is kept rather than that."""
    kept: list[tuple[Any, str]] = []
    for value, text in x.ticks:
        place = _NARROW * x.at(value)
        while kept and place - _NARROW * x.at(kept[-1][0]) < (_wide(text) + _wide(kept[-1][1])) / 2 + 10:
            if (value, text) != x.ticks[-1] or len(kept) == 1:
                break
            kept.pop()
        else:
            kept.append((value, text))
    return _Axis(x.low, x.high, x.log, ticks=tuple(kept))


def _margin(x: _Axis, y: _Axis, slanted: bool) -> dict[str, Any]:
    """Pixels around the field for the labels of its axes."""
    left = max((_wide(text) for _, text in y.labels()), default=0) + 8
    longest = max((_wide(text) for _, text in x.labels()), default=0)
    over = max((_wide(text) / 2 - _NARROW * (1 - place) for place, text in x.labels()), default=0)
    below = 0.71 * longest + 16 if slanted else 24
    right = 8 if slanted else max(8, over)
    return {"l": round(left), "r": round(right), "t": 8, "b": round(below), "pad": 0, "autoexpand": False}


def _grid(xaxis: Mapping[str, Any], yaxis: Mapping[str, Any], x: _Axis, y: _Axis) -> str:
    upright = (at for at, _ in x.labels()) if xaxis.get("showgrid", True) else ()
    level = (at for at, _ in y.labels()) if yaxis.get("showgrid", True) else ()
    lines = chain(
        (f'<line x1="{_percent(at)}" x2="{_percent(at)}" y1="0" y2="100%"/>' for at in upright),
        (f'<line x1="0" x2="100%" y1="{_percent(1 - at)}" y2="{_percent(1 - at)}"/>' for at in level),
    )
    return f'<g class="plot-grid">{"".join(lines)}</g>'


def _labels(x: _Axis, y: _Axis, slanted: bool) -> str:
    def below(at: float, text: str) -> str:
        if slanted:
            turned = f'<text transform="rotate(-45)" x="-5" y="11" text-anchor="end">{_plain(text)}</text>'
            return f'<svg x="{_percent(at)}" y="100%">{turned}</svg>'
        return f'<text x="{_percent(at)}" y="100%" dy="16" text-anchor="middle">{_plain(text)}</text>'

    beside = (
        f'<text x="-4" y="{_percent(1 - at)}" dy=".35em" text-anchor="end">{_plain(text)}</text>'
        for at, text in y.labels()
    )
    return "".join(chain((below(at, text) for at, text in x.labels()), beside))


def _percent(part: float) -> str:
    return f"{100 * part:.2f}".rstrip("0").rstrip(".") + "%"


def _units(part: float) -> str:
    return f"{_INSIDE * part:.1f}".removesuffix(".0")


# Curves


@dataclass(frozen=True)
class _Style:
    colour: str
    width: float
    dash: str
    marker: str  # a path around the origin, or nothing

    @property
    def line(self) -> str:
        dash = f' stroke-dasharray="{self.dash}"' if self.dash else ""
        return f'stroke="{self.colour}" stroke-width="{self.width:g}"{dash}'


def _style(trace: Mapping[str, Any], number: int) -> _Style:
    """How a curve looks; without colours of its own it has those of the page."""
    line, marker = trace.get("line", {}), trace.get("marker", {})
    colour = line.get("color") or marker.get("color") or f"var(--viz-{number % _COLOURS + 1})"
    mode = trace.get("mode") or ("lines+markers" if len(trace["y"]) < _LONG else "lines")
    _require(line.keys() <= {"color", "dash", "width"} and marker.keys() <= {"color", "size", "symbol"})
    _require(mode in ("lines", "markers", "lines+markers") and marker.get("color", colour) == colour)
    _require(isinstance(colour, str) and (bool(_HEX.fullmatch(colour)) or colour.startswith("var(")))
    dash, symbol, size = line.get("dash", "solid"), marker.get("symbol", "circle"), marker.get("size", 6)
    _require(dash in _DASHES and symbol in _MARKERS and isinstance(size, int | float))
    mark = (
        f'<path fill="{colour}" transform="scale({size / 2:g})" d="{_MARKERS[symbol]}"/>' if "markers" in mode else ""
    )
    return _Style(colour, line.get("width", 2) if "lines" in mode else 0, _DASHES[dash], mark)


def _curves(
    data: Sequence[Mapping[str, Any]], xaxis: Mapping[str, Any], yaxis: Mapping[str, Any]
) -> tuple[_Axis, _Axis, str]:
    for trace in data:
        _require(trace.get("type", "scatter") == "scatter" and trace.keys() <= _CURVE)
        _require(_numbers(trace.get("y")) and _numbers(trace.get("x", [])))
    places = [trace.get("x") or list(range(len(trace["y"]))) for trace in data]
    styles = [_style(trace, number) for number, trace in enumerate(data)]
    around = 0.04 if any(style.marker for style in styles) else 0
    x = _apart(_scale(chain(*places), xaxis, around, 5))
    y = _scale(chain.from_iterable(trace["y"] for trace in data), yaxis, 0.06, 6)
    lines, marks = [], []
    for trace, place, style in zip(data, places, styles, strict=True):
        points = [_point(x, y, *pair) for pair in zip(place, trace["y"], strict=False)]
        if style.width:
            lines.append(f'<path {style.line} d="{_path(points)}"/>')
        if style.marker:
            marks += [f'<svg x="{_percent(p[0])}" y="{_percent(p[1])}">{style.marker}</svg>' for p in points if p]
    inside = (
        f'<svg class="plot-lines" viewBox="0 0 {_INSIDE} {_INSIDE}" preserveAspectRatio="none">{"".join(lines)}</svg>'
    )
    return x, y, inside + "".join(marks)


def _numbers(values: Any) -> bool:
    return isinstance(values, list) and all(value is None or isinstance(value, int | float) for value in values)


def _point(x: _Axis, y: _Axis, right: float | None, up: float | None) -> tuple[float, float] | None:
    """Where a point lies in the field, from its upper left corner; None where there is none."""
    if right is None or up is None or (x.log and right <= 0) or (y.log and up <= 0):
        return None
    return x.at(right), 1 - y.at(up)


def _path(points: Sequence[tuple[float, float] | None]) -> str:
    steps = (
        f"{'L' if before else 'M'}{_units(point[0])} {_units(point[1])}"
        for before, point in pairwise([None, *points])
        if point
    )
    return "".join(steps)


def _legend(data: Sequence[Mapping[str, Any]]) -> str:
    def item(number: int, trace: Mapping[str, Any]) -> str:
        style = _style(trace, number)
        line = f'<line x2="36" {style.line}/>' if style.width else ""
        mark = f'<svg x="18">{style.marker}</svg>' if style.marker else ""
        sample = f'<svg width="36" height="14" viewBox="0 -7 36 14">{line}{mark}</svg>'
        return f"<li>{sample}{_rich(trace.get('name') or f'trace {number}')}</li>"

    return f'<ul class="plot-legend">{"".join(item(number, trace) for number, trace in enumerate(data))}</ul>'


# Matrices


def _matrix(
    data: Sequence[Mapping[str, Any]], xaxis: Mapping[str, Any], yaxis: Mapping[str, Any]
) -> tuple[_Axis, _Axis, str]:
    """Named rows and columns of cells, coloured by a scale that is not shown, with a text in each."""
    trace = data[0]
    rows, scale = trace["z"], trace.get("colorscale", [])
    _require(len(data) == 1 and trace.keys() <= _CELLS and trace.get("showscale") is False)
    _require(isinstance(scale, list) and bool(scale) and all(_HEX.fullmatch(colour) for _, colour in scale))
    _require(trace.get("texttemplate", "%{text}") == "%{text}" and "x" in trace and "y" in trace)
    _require(isinstance(rows, list) and all(_numbers(row) and None not in row for row in rows))
    columns = _Axis(-0.5, len(trace["x"]) - 0.5, names=tuple(map(str, trace["x"])))
    ends = (-0.5, len(rows) - 0.5)
    lines = _Axis(*(ends[::-1] if yaxis.get("autorange") == "reversed" else ends), names=tuple(map(str, trace["y"])))
    values = [value for row in rows for value in row]
    low, span = min(values), max(values) - min(values) or 1
    wide, high = 1 / len(trace["x"]), 1 / len(rows)
    cells, texts = [], []
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            left, top = columns.at(j) - wide / 2, 1 - lines.at(i) - high / 2
            colour = _mixed(scale, (value - low) / span)
            box = f'width="{_units(wide)}" height="{_units(high)}"'
            cells.append(f'<rect x="{_units(left)}" y="{_units(top)}" {box} fill="#{bytes(colour).hex()}"/>')
            if "text" in trace:
                at = f'x="{_percent(left + wide / 2)}" y="{_percent(top + high / 2)}" dy=".35em"'
                text = _plain(str(trace["text"][i][j]))
                texts.append(f'<text {at} text-anchor="middle" fill="{_legible_on(colour)}">{text}</text>')
    inside = (
        f'<svg class="plot-cells" viewBox="0 0 {_INSIDE} {_INSIDE}" preserveAspectRatio="none">{"".join(cells)}</svg>'
    )
    return columns, lines, f'{inside}<g class="plot-values">{"".join(texts)}</g>'


def _mixed(scale: Sequence[tuple[float, str]], at: float) -> tuple[int, ...]:
    """The colour of a scale at a part of its length, as red, green and blue."""
    (start, first), (end, last) = next(pair for pair in pairwise(scale) if at <= pair[1][0])
    part = (at - start) / (end - start)
    pairs = zip(bytes.fromhex(first[1:]), bytes.fromhex(last[1:]), strict=True)
    return tuple(round(one + part * (other - one)) for one, other in pairs)


def _legible_on(colour: Sequence[int]) -> str:
    """The colour that plotly writes with on a ground."""
    red, green, blue = colour
    return "#fff" if 0.299 * red + 0.587 * green + 0.114 * blue < 128 else "#444"
