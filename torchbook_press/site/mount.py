"""Interactive outputs as plain HTML: module text and state in the page, started by `viz-static.js` without a kernel."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from torchbook_press.normal import WIDGET_VIEW
from torchbook_press.site import aside
from torchbook_press.site.plots import drawn

PLOTLY = "application/vnd.plotly.v1+json"
_NOT_STATE = {"layout", "tabbable", "tooltip", "picture"}  # a picture stands in the HTML already


@dataclass
class Page:
    """What the figures of a page share: the widget models of its run, their heights, the modules it carries already."""

    models: dict[str, Any]
    rooms: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # see torchbook_press/site/rooms.py
    modules: set[str] = field(default_factory=set)
    aside: Path | None = None  # where large buffers go; see torchbook_press/site/aside.py


def mount(
    kind: str, payload: dict[str, Any], words: str, picture: str = "", room: tuple[int, int] | None = None
) -> dict[str, str]:
    """MIME bundle of a mount point.

    Args:
        kind: which starter of `viz-static.js` takes it ("plotly" or "anywidget").
        payload: what the starter needs, as JSON.
        words: the text alternative; also all that is left on paper and without JavaScript.
        picture: HTML that stands there until the figure starts, and on paper.
        room: pixels that the page keeps free for it until then, on a wide screen and on a phone.
    """
    body = _json(payload)
    style = f' style="--room:{room[0]}px;--room-narrow:{room[1]}px"' if room else ""
    html = (
        f'<figure class="viz-mount" data-kind="{kind}"{style}>{picture}'
        f'<script type="application/json">{body}</script>'
        f'<figcaption class="viz-words">{escape(words)}</figcaption></figure>'
    )
    return {"text/html": html, "text/plain": words}


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False).replace("<", "\\u003c")


def static_output(output: NotebookNode, page: Page, warn: Callable[[str], None]) -> NotebookNode:
    """The output as the static page shows it; anything that is not interactive is returned as it is."""
    data = output.get("data", {})
    if WIDGET_VIEW in data:
        return _replace(output, _widget(data[WIDGET_VIEW]["model_id"], page, warn))
    if PLOTLY in data:
        return _replace(output, _plotly(data[PLOTLY], warn))
    return output


def _replace(output: NotebookNode, data: dict[str, str]) -> NotebookNode:
    return nbformat.from_dict({**output, "data": data})


def _widget(model_id: str, page: Page, warn: Callable[[str], None]) -> dict[str, str]:
    model = page.models.get(model_id)
    if not model or model.get("model_module") != "anywidget":
        warn("a plain ipywidget has no view without a kernel: use an anywidget, or tag the cell remove-output")
        return {"text/plain": "(open this page in Jupyter to use the control)"}
    state = model["state"]
    words = state.get("words", "")
    if not words:
        warn("this widget has no text alternative: give it a `words` trait")
    traits = {name: value for name, value in state.items() if not name.startswith("_") and name not in _NOT_STATE}
    buffers, large = aside.divided(model.get("buffers", []), page.aside)
    payload = {
        "model": model_id,
        "module": _name(state["_esm"]),
        "css": state.get("_css", ""),
        "buffers": buffers,
        "state": traits,
    }
    if large:
        payload["aside"] = large
    bundle = mount("anywidget", payload, words, state.get("picture", ""), page.rooms.get(model_id))
    return {**bundle, "text/html": carry(state["_esm"], page) + bundle["text/html"]}


def _name(module: str) -> str:
    return hashlib.sha256(module.encode()).hexdigest()[:16]


def carry(module: str, page: Page) -> str:
    """The text of an ES module as HTML, the first time that the page needs it; nothing after that."""
    name = _name(module)
    if name in page.modules:
        return ""
    page.modules.add(name)
    return f'<script type="application/json" class="viz-module" data-module="{name}">{_json(module)}</script>'


def _plotly(figure: dict[str, Any], warn: Callable[[str], None]) -> dict[str, str]:
    meta = figure.get("layout", {}).get("meta") or {}
    words = meta.get("alt", "") if isinstance(meta, dict) else ""
    if not words:
        warn("this figure has no text alternative: set `fig.layout.meta = {'alt': …}`")
    drawing = drawn(figure)
    return mount("plotly", drawing.figure, words, drawing.html) if drawing else mount("plotly", figure, words)
