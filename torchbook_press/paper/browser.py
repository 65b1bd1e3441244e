"""Pages of the built site in a headless Chromium, drawn to the end and ready to be taken over."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser as Chromium
from playwright.sync_api import BrowserContext, Error, Page, ViewportSize, sync_playwright

from torchbook.runtime import find_chromium
from torchbook_press.chromium import ARGUMENTS, UNBOXED
from torchbook_press.paper.book import Book, PaperError

_WIDTH = 1280  # pixels: plots are drawn as on a screen, and scaled to the paper
_LIMIT = 120  # seconds for one page to draw itself
_DRAW, _DRAWN, _PROBLEMS = (
    Path(__file__).with_name(f"{name}.js").read_text(encoding="utf-8") for name in ("draw", "drawn", "problems")
)


@dataclass(frozen=True)
class Browser:
    """One Chromium for all pages."""

    context: BrowserContext
    book: Book

    @contextmanager
    def page(self, docname: str, without: str = "") -> Iterator[Page]:
        """A page of the book, drawn to the end; `without` the files whose addresses hold these words.

        Raises:
            PaperError: it has an error, or does not finish; the message names the page.
        """
        location = f"_build/html/{docname}.html:1"
        errors: list[str] = []
        page = self.context.new_page()
        if without:
            page.route(f"**/*{without}*/**", lambda route: route.abort())
        page.on("pageerror", lambda error: errors.append(str(error)))
        try:
            page.goto(self.book.path(docname).as_uri())
            page.evaluate(_DRAW)
            page.wait_for_function(_DRAWN)
            errors += page.evaluate(_PROBLEMS)
            if errors:
                raise PaperError(f"{location}: {errors[0]}; open the page in a browser to see it, then build it again")
            yield page
        except Error as error:
            cause = error.message.splitlines()[0]
            raise PaperError(f"{location}: the browser gave up ({cause}); on a slow machine try --patience 3") from None
        finally:
            page.close()

    @contextmanager
    def blank(self) -> Iterator[Page]:
        """An empty page."""
        page = self.context.new_page()
        try:
            yield page
        finally:
            page.close()


@contextmanager
def started(book: Book, patience: float = 1.0) -> Iterator[Browser]:
    """Start the browser.

    Raises:
        PaperError: there is none, or it does not start.
    """
    path = find_chromium()
    if path is None:
        raise PaperError("no Chromium or Chrome on this machine: install one (apt install chromium) or set CHROMIUM")
    with sync_playwright() as playwright:
        try:
            chromium = playwright.chromium.launch(executable_path=path, args=_arguments())
        except Error as error:
            raise PaperError(f"{Path(path).name} does not start: {error.message.splitlines()[0]}") from None
        try:
            with opened(chromium, book, patience) as browser:
                yield browser
        finally:
            chromium.close()


@contextmanager
def opened(chromium: Chromium, book: Book, patience: float = 1.0) -> Iterator[Browser]:
    """Take a browser that runs."""
    size: ViewportSize = {"width": _WIDTH, "height": 1000}
    context = chromium.new_context(viewport=size, color_scheme="light", reduced_motion="reduce")
    context.set_default_timeout(1000 * _LIMIT * patience)
    try:
        yield Browser(context, book)
    finally:
        context.close()


def _arguments() -> list[str]:
    # As root, in a container for instance, Chromium starts without its sandbox only.
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*ARGUMENTS, "--font-render-hinting=none", *([UNBOXED] if root else [])]
