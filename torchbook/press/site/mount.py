"""Interactive outputs as plain HTML: module text and state in the page, started by `viz-static.js` without a kernel."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape
from typing import Any

import nbformat
from nbformat import NotebookNode

from torchbook.press.normal import WIDGET_VIEW

PLOTLY = "application/vnd.plotly.v1+json"
_CHROME = {"layout", "tabbable", "tooltip"}


def mount(kind: str, payload: dict[str, Any], words: str, picture: str = "") -> dict[str, str]:
    """MIME bundle of a mount point.

    Args:
        kind: which starter of `viz-static.js` takes it ("plotly" or "anywidget").
        payload: what the starter needs, as JSON.
        words: the text alternative; also all that is left on paper and without JavaScript.
        picture: static SVG that stands there until the figure starts, and on paper.
    """
    body = json.dumps(payload, sort_keys=True, allow_nan=False).replace("<", "\\u003c")
    html = (
        f'<figure class="viz-mount" data-kind="{kind}">{picture}'
        f'<script type="application/json">{body}</script>'
        f'<figcaption class="viz-words">{escape(words)}</figcaption></figure>'
    )
    return {"text/html": html, "text/plain": words}


def static_output(output: NotebookNode, models: dict[str, Any], warn: Callable[[str], None]) -> NotebookNode:
    """The output as the static page shows it; anything that is not interactive is returned as it is."""
    data = output.get("data", {})
    if WIDGET_VIEW in data:
        return _replace(output, _widget(data[WIDGET_VIEW]["model_id"], models, warn))
    if PLOTLY in data:
        return _replace(output, _plotly(data[PLOTLY], warn))
    return output


def _replace(output: NotebookNode, data: dict[str, str]) -> NotebookNode:
    return nbformat.from_dict({**output, "data": data})


def _widget(model_id: str, models: dict[str, Any], warn: Callable[[str], None]) -> dict[str, str]:
    model = models.get(model_id)
    if not model or model.get("model_module") != "anywidget":
        warn("a plain ipywidget has no view without a kernel: use an anywidget, or tag the cell remove-output")
        return {"text/plain": "(open this page in Jupyter to use the control)"}
    state = model["state"]
    words = state.get("words", "")
    if not words:
        warn("this widget has no text alternative: give it a `words` trait")
    shown = {name: value for name, value in state.items() if not name.startswith("_") and name not in _CHROME}
    payload = {
        "model": model_id,
        "esm": state["_esm"],
        "css": state.get("_css", ""),
        "buffers": model.get("buffers", []),
        "state": shown,
    }
    return mount("anywidget", payload, words, state.get("picture", ""))


def _plotly(figure: dict[str, Any], warn: Callable[[str], None]) -> dict[str, str]:
    meta = figure.get("layout", {}).get("meta") or {}
    words = meta.get("alt", "") if isinstance(meta, dict) else ""
    if not words:
        warn("this figure has no text alternative: set `fig.layout.meta = {'alt': …}`")
    return mount("plotly", figure, words)
