"""Visualizers on a plain page: mounted as the press mounts them, opened as a file, with every host out of reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.conftest import PATIENCE
from torchbook.press.site.mount import mount
from torchbook.viz.base import Visualizer

Show = Callable[..., Page]
_CHROME = {"layout", "tabbable", "tooltip"}


def mounted(widget: Visualizer, *, model: str = "") -> str:
    """The mount point of a widget, as it stands on a page; views with one `model` share their state."""
    state = {k: v for k, v in widget.get_state().items() if not k.startswith("_") and k not in _CHROME}
    payload = {"esm": str(widget._esm), "css": "", "buffers": [], "state": state}
    if model:
        payload["model"] = model
    return mount("anywidget", payload, widget.words, widget.picture)["text/html"]


def document(body: str, web: Path, theme: str = "light") -> str:
    """A page of the book with nothing but `body`."""
    return (
        f'<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8"><title>Figures</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="stylesheet" href="{(web / "site.css").as_uri()}">'
        "<style>figure{margin:1rem 0}body{margin:12px;font:16px/1.5 system-ui;"
        f"background:var(--pst-color-background)}}</style></head><body><main><h1>Figures</h1>{body}</main>"
        f'<script src="{(web / "viz-static.js").as_uri()}"></script></body></html>'
    )


@pytest.fixture
def show(browser: Browser, repo: Path, tmp_path: Path) -> Iterator[Show]:
    """Open a page with these widgets (or pieces of HTML) from file://; at the end it must not have complained."""
    errors: list[str] = []
    contexts = []

    def shown(*parts: Visualizer | str, width: int = 800, theme: str = "light", motion: bool = False, hash: str = "",
              ready: bool = True, **options: object) -> Page:  # fmt: skip
        body = "".join(part if isinstance(part, str) else mounted(part) for part in parts)
        path = tmp_path / f"page{len(contexts)}.html"
        path.write_text(document(body, repo / "web", theme), encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            reduced_motion="no-preference" if motion else "reduce",
            color_scheme=theme,
            **options,
        )
        contexts.append(context)
        context.set_default_timeout(10_000 * PATIENCE)
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda r: None if r.url.startswith(("file:", "blob:", "data:")) else errors.append(r.url))
        page.goto(path.as_uri() + hash)
        if ready:
            page.locator(".viz-mount[data-ready] .tbviz").first.wait_for()
        return page

    yield shown
    for context in contexts:
        context.close()
    assert not errors, errors


def overflow(page: Page) -> int:
    """How many pixels of the page lie beyond the right edge of the screen."""
    return int(page.evaluate("document.scrollingElement.scrollWidth - innerWidth"))
