"""Pages in a real browser, for all rooms of the tests: how Chromium starts, what serves files, when one is at rest."""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Response, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from torchbook.runtime import find_chromium
from torchbook_press.chromium import ARGUMENTS, UNBOXED

# On a shared machine a page may wait for its turn for seconds.
PATIENCE = max(1.0, float(os.environ.get("TORCHBOOK_PATIENCE", "1")))
# A budget of milliseconds is meant for a machine of one's own; where patience is asked for, others are on it too.
SLACK = 1.5 if PATIENCE > 1 else 1.0

KEPT = "kept: nothing that this test depends on has changed since it passed"


def chromium() -> str:
    """Path of Chromium; without one the test is skipped, or fails where `TORCHBOOK_REQUIRE_BROWSER` is 1."""
    path = find_chromium()
    if path is None:
        reason = "no Chromium on this machine: install it or set CHROMIUM"
        if os.environ.get("TORCHBOOK_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason=reason)
    return path


@functools.cache
def chromium_version(path: str) -> str:
    """What the browser says of its version; a proof that was seen in one browser is none for another."""
    return subprocess.run([path, "--version"], capture_output=True, text=True, check=True, timeout=60).stdout.strip()


@contextlib.contextmanager
def started() -> Iterator[Browser]:
    """A headless Chromium that reaches no other host."""
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*ARGUMENTS, UNBOXED])
        yield browser
        browser.close()


@contextlib.contextmanager
def context(browser: Browser, *, width: int = 1280, theme: str = "light", **options: Any) -> Iterator[BrowserContext]:
    """A context that remembers nothing: pages of one width and one theme, without motion."""
    options = {"reduced_motion": "reduce", "color_scheme": theme, **options}
    with browser.new_context(viewport={"width": width, "height": 800}, **options) as opened:
        opened.set_default_timeout(10_000 * PATIENCE)
        yield opened


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    """A server to which it is no error when a browser hangs up."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextlib.contextmanager
def serving(root: Path) -> Iterator[str]:
    """Serve a folder from a thread; the address."""
    server = _Server(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(root)))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class Log:
    """What one page asked for and complained about."""

    requests: list[str] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def foreign(self) -> list[str]:
        """What was asked of other hosts."""
        hosts = {urlsplit(url).hostname: url for url in self.requests if not url.startswith(("data:", "blob:"))}
        return [url for host, url in hosts.items() if host not in ("127.0.0.1", None)]

    @property
    def beyond_files(self) -> list[str]:
        """What was asked of anything but the disk."""
        return [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]

    @property
    def missing(self) -> list[str]:
        """What was answered with an error."""
        return [f"{response.status} {response.url}" for response in self.responses if response.status >= 400]

    def asked_for(self, part: str) -> bool:
        """Whether a request's address has this part."""
        return any(part in url for url in self.requests)

    def files(self, *roots: str) -> set[str]:
        """The files that were asked for below these addresses, relative to them."""
        plain = {unquote(url.partition("#")[0].partition("?")[0]) for url in self.requests}
        heads = [unquote(root).rstrip("/") + "/" for root in roots]
        return {url.removeprefix(head) for url in plain for head in heads if url.startswith(head)}


def listen(page: Page | BrowserContext) -> Log:
    """Note the requests, answers and errors of a page, or of all pages of a context, from now on."""
    log = Log()
    page.on("request", lambda request: log.requests.append(request.url))
    page.on("requestfailed", lambda request: log.errors.append(f"failed: {request.url}"))
    page.on("response", lambda response: log.responses.append(response))
    page.on("console", lambda message: log.errors.append(message.text) if message.type == "error" else None)
    if isinstance(page, Page):
        page.on("pageerror", lambda error: log.errors.append(str(error)))
    else:
        page.on("weberror", lambda error: log.errors.append(str(error.error)))
    return log


def settled(page: Page) -> None:
    """Wait until formulas are set and every figure near the screen is drawn or has said why not."""
    page.wait_for_load_state("load")
    page.wait_for_function("async () => { await window.MathJax?.startup?.promise; return true }")
    page.wait_for_function(
        """() => [...document.querySelectorAll('.viz-mount')].every((figure) => {
          const box = figure.getBoundingClientRect();
          const near = box.width > 0 && box.top < innerHeight && box.bottom > 0;
          return !near || figure.dataset.ready || figure.querySelector('.viz-problem, :scope > .plot');
        })"""
    )


def scroll_through(page: Page) -> None:
    """Read the page to its end, as far as figures are concerned."""
    for figure in page.locator(".viz-mount:visible").all():
        figure.scroll_into_view_if_needed()
        settled(page)


_REACHABLE = (
    "() => [...document.querySelectorAll('pre')].every((b) => b.scrollWidth <= b.clientWidth || b.tabIndex >= 0)"
)


def reachable(page: Page) -> None:
    """Let the theme see which blocks scroll now, so that the keyboard reaches them; what it forgets axe will tell."""
    with contextlib.suppress(PlaywrightTimeout):
        page.wait_for_function(_REACHABLE, timeout=10_000)


def resized(page: Page, width: int) -> None:
    """Change the width of the screen."""
    page.set_viewport_size({"width": width, "height": 800})
    reachable(page)


def page_width(page: Page) -> int:
    """How wide the page is, which is more than the screen where it scrolls sideways."""
    return int(page.evaluate("document.scrollingElement.scrollWidth"))
