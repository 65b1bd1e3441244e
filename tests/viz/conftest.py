"""Visualizers on a plain page: mounted as the press mounts them, opened as a file, with every host out of reach."""

from __future__ import annotations

import itertools
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from ipywidgets.widgets.widget import _remove_buffers
from playwright.sync_api import Browser, BrowserContext, Locator, Page

from tests.conftest import PATIENCE
from torchbook.viz.base import Visualizer
from torchbook_press.site.mount import mount

from .asking import Ask, Harnesses
from .depth import PASSED, examples, proofs, pytest_runtest_makereport, repository_root

__all__ = ["examples", "proofs", "pytest_runtest_makereport", "repository_root"]  # fixtures and a hook of depth.py

Show = Callable[..., Page]
Theme = Literal["light", "dark"]
_CHROME = {"layout", "tabbable", "tooltip"}


def mounted(widget: Visualizer, *, model: str = "") -> str:
    """The mount point of a widget, as it stands on a page; views with one `model` share their state."""
    state, paths, contents = _remove_buffers(static_state(widget))
    buffers = [{"path": path, "data": b64encode(data).decode()} for path, data in zip(paths, contents, strict=True)]
    payload = {"esm": str(widget._esm), "css": "", "buffers": buffers, "state": state}
    if model:
        payload["model"] = model
    return mount("anywidget", payload, widget.words, widget.picture)["text/html"]


def static_state(widget: Visualizer) -> dict[str, Any]:
    """A widget's traits, as the press takes them."""
    return {k: v for k, v in widget.get_state().items() if not k.startswith("_") and k not in _CHROME}


def document(body: str, web: Path, theme: str = "light", *, arrival: bool = False) -> str:
    """A page of the book with nothing but `body`; its figures play when the reader arrives, or wait to be touched."""
    return (
        f'<!doctype html><html lang="en" data-theme="{theme}" data-arrival="{"on" if arrival else "off"}">'
        '<head><meta charset="utf-8"><title>Figures</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="stylesheet" href="{(web / "site.css").as_uri()}">'
        "<style>figure{margin:1rem 0}body{margin:12px;font:16px/1.5 system-ui;"
        f"background:var(--pst-color-background)}}</style></head><body><main><h1>Figures</h1>{body}</main>"
        f'<script src="{(web / "viz-static.js").as_uri()}"></script></body></html>'
    )


@pytest.fixture(scope="session")
def harnesses() -> Iterator[Harnesses]:
    """The node processes of this worker."""
    running = Harnesses()
    yield running
    running.close()


@pytest.fixture(scope="module")
def ask(request: pytest.FixtureRequest, harnesses: Harnesses) -> Ask:
    """Asks the page's model: the harness that the test's module names as `HARNESS`."""
    return harnesses[request.module.HARNESS].ask


# Figures wait with their words for up to half a second, so that they speak once of a quick series of changes.
_HURRY = """const plain = setTimeout;
window.setTimeout = (run, ms, ...more) => plain(run, ms <= 500 ? 0 : ms, ...more);"""


class Pages:
    """Pages of a browser that are used again: a context for each set of options, and in it a page for each one shown.

    Starting a context and a page costs more than most of what is tested in it. A page is blank between two uses.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: dict[tuple[tuple[str, str], ...], BrowserContext] = {}
        self._idle: dict[BrowserContext, list[Page]] = {}
        self._taken: list[Page] = []
        self.complaints: list[str] = []

    def take(self, *, own: bool = False, hurry: bool = False, **options: Any) -> Page:
        """A blank page.

        Args:
            own: of a context of its own, where what is done to it outlasts the page, as a clock does.
            hurry: words follow at once, not when the reader has paused for a moment.
            options: those of the context.
        """
        name = tuple(sorted((name, repr(value)) for name, value in {**options, "hurry": hurry}.items()))
        if own or name not in self._contexts:
            context = self._browser.new_context(viewport={"width": 800, "height": 900}, **options)
            context.set_default_timeout(10_000 * PATIENCE)
            if hurry:
                context.add_init_script(_HURRY)
            self._contexts[(*name, ("own", str(len(self._contexts)))) if own else name] = context
            self._idle[context] = []
        else:
            context = self._contexts[name]
        page = self._idle[context].pop() if self._idle[context] else self._opened(context)
        self._taken.append(page)
        return page

    def give_back(self, *, clean: bool) -> list[str]:
        """All that were taken are free again, or closed after a failure; returns what they complained about."""
        for page in self._taken:
            if clean:
                page.mouse.move(0, 0)
                page.goto("about:blank")
                self._idle[page.context].append(page)
            else:
                page.close()
        complaints = list(self.complaints)
        self._taken.clear()
        self.complaints.clear()
        return complaints

    def close(self) -> None:
        """End all contexts."""
        for context in self._contexts.values():
            context.close()

    def _opened(self, context: BrowserContext) -> Page:
        page = context.new_page()
        hear = self.complaints.append
        page.on("console", lambda message: hear(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: hear(str(error)))
        page.on("request", lambda r: None if r.url.startswith(("file:", "blob:", "data:", "about:")) else hear(r.url))
        return page


@pytest.fixture(scope="module")
def pages(browser: Browser) -> Iterator[Pages]:
    """The pages of a module."""
    opened = Pages(browser)
    yield opened
    opened.close()


def shower(pages: Pages, repo: Path, folder: Path) -> Show:
    """Opens a page with these widgets (or pieces of HTML) from file://, in `folder`."""
    numbers = itertools.count()

    def show(*parts: Visualizer | str, width: int = 800, theme: Theme = "light", motion: bool = False, hash: str = "",
             ready: bool = True, arrival: bool = False, **options: object) -> Page:  # fmt: skip
        body = "".join(part if isinstance(part, str) else mounted(part) for part in parts)
        path = folder / f"page{next(numbers)}.html"
        path.write_text(document(body, repo / "web", theme, arrival=arrival), encoding="utf-8")
        page = pages.take(**options)
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme, reduced_motion="no-preference" if motion else "reduce")
        page.goto(path.as_uri() + hash)
        if ready:
            page.locator(".viz-mount[data-ready] .tbviz").first.wait_for()
            page.evaluate(_OPEN)
        return page

    return show


@pytest.fixture
def show(request: pytest.FixtureRequest, pages: Pages, repo: Path, tmp_path: Path) -> Iterator[Show]:
    """Open a page with these widgets (or pieces of HTML) from file://; at the end it must not have complained."""
    yield shower(pages, repo, tmp_path)
    complaints = pages.give_back(clean=request.node.stash.get(PASSED, False))
    assert not complaints, complaints


# What stands in a figure's drawer is used as a reader uses it who has opened it.
_OPEN = "() => document.querySelectorAll('.tbviz-drawer').forEach((drawer) => { drawer.open = true; })"

_START = """async () => {
  for (const figure of document.querySelectorAll("figure.viz-mount")) {
    if (figure.closest("details:not([open])")) continue;
    figure.scrollIntoView();
    while (!figure.dataset.ready) {
      const problem = figure.querySelector(".viz-problem");
      if (problem) throw new Error(problem.textContent);
      await new Promise(requestAnimationFrame);
    }
  }
  document.querySelectorAll(".tbviz-drawer").forEach((drawer) => { drawer.open = true; });
  scrollTo(0, 0);
}"""


def start_all(page: Page) -> list[Locator]:
    """All figures of a page, once each of them has started; a figure does so when it comes near to the screen."""
    page.evaluate(_START)
    return page.locator("figure.viz-mount").all()


def gallery(show: Show, widgets: Iterable[Visualizer], **options: Any) -> list[Locator]:
    """The figures of a page that shows many states, each by itself."""
    bodies = [mounted(widget, model=f"state{number}") for number, widget in enumerate(widgets)]
    return start_all(show(*bodies, **options))


def overflow(page: Page) -> int:
    """How many pixels of the page lie beyond the right edge of the screen."""
    return int(page.evaluate("document.scrollingElement.scrollWidth - innerWidth"))
