"""What all visualizers share on the Python side: bundled module and style, words, and a static picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

_BUILT = Path(__file__).parent / "static"


class Visualizer(anywidget.AnyWidget):
    """An anywidget whose state is also said in words and drawn as a static picture.

    A subclass sets `_esm = module("name")`, adds its traits, and gives `_describe` and `_draw`. On the plain page, on
    paper and without JavaScript the reader gets `picture` and `words`; the ES module keeps `words` current when live.
    """

    _css = ""
    words = traitlets.Unicode("", help="The state in words.").tag(sync=True)
    link = traitlets.Unicode("", help="Name of this figure in links to its states; unique on the page.").tag(sync=True)
    picture = traitlets.Unicode("", help="The state as SVG text, as it was when the cell ran.").tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.words = self._describe()
        self.picture = self._draw()

    def _describe(self) -> str:
        """The state in one or two sentences."""
        raise NotImplementedError

    def _draw(self) -> str:
        """The state as a self-contained SVG, legible in light and dark."""
        raise NotImplementedError


def module(name: str) -> Path:
    """The bundled ES module of a visualizer.

    Raises:
        FileNotFoundError: it was never bundled; the message says how.
    """
    path = _BUILT / f"{name}.js"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: `make viz` bundles it from torchbook/viz/src")
    return path
