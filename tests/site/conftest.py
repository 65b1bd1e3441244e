"""The built site in a real browser: over http and as files, with every other host out of reach."""

from __future__ import annotations

import functools
import gzip
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page, Response

from tests.conftest import PATIENCE

PLOTLY = "vendor/plotly.min.js"
SITE = Path(__file__).resolve().parents[2] / "_build" / "html"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def pages_in(root: Path) -> list[str]:
    """Every page of a built site, relative to its root; none where nothing is built."""
    names = (path.relative_to(root).as_posix() for path in root.rglob("*.html"))
    return sorted(name for name in names if not name.startswith("_static/"))


@dataclass(frozen=True)
class Site:
    """The site on disk and on a local server."""

    root: Path
    http: str

    @property
    def pages(self) -> list[str]:
        """Every page, relative to the root."""
        return pages_in(self.root)

    def soup(self, page: str) -> BeautifulSoup:
        return _soup(self.root / page)

    def having(self, selector: str) -> str:
        """The shortest page with such an element; no such page is a failure."""
        by_length = sorted(self.pages, key=lambda page: (self.root / page).stat().st_size)
        found = next((page for page in by_length if self.soup(page).select_one(selector)), None)
        if found is None:
            pytest.fail(f"no page of the book has {selector}")
        return found

    def address(self, page: str, scheme: str) -> str:
        return f"{self.http}/{page}" if scheme == "http" else (self.root / page).as_uri()


@functools.cache
def _soup(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    root = SITE
    if not (root / "index.html").is_file():
        pytest.fail(f"there is no built site in {root}: make book")
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(root)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Site(root, f"http://127.0.0.1:{server.server_port}")
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
        hosts = {urlsplit(url).hostname: url for url in self.requests if not url.startswith(("data:", "blob:"))}
        return [url for host, url in hosts.items() if host not in ("127.0.0.1", None)]

    @property
    def missing(self) -> list[str]:
        return [f"{response.status} {response.url}" for response in self.responses if response.status >= 400]

    def asked_for(self, part: str) -> bool:
        return any(part in url for url in self.requests)

    def gzipped(self, site: Site) -> int:
        """Bytes on the wire of a server that compresses, without plotly, which comes only when a figure is near."""
        asked = {urlsplit(response.url).path for response in self.responses}
        return sum(_gzipped(site.root / path.lstrip("/")) for path in asked if not path.endswith(PLOTLY))


def listen(page: Page) -> Log:
    """Note the page's requests, answers and errors from now on."""
    log = Log()
    page.on("request", lambda request: log.requests.append(request.url))
    page.on("requestfailed", lambda request: log.errors.append(f"failed: {request.url}"))
    page.on("response", lambda response: log.responses.append(response))
    page.on("console", lambda message: log.errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: log.errors.append(str(error)))
    return log


@functools.cache
def _gzipped(path: Path) -> int:
    body = path.read_bytes() if path.is_file() else b""
    return min(len(body), len(gzip.compress(body)))


Open = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Open an address in a context of its own: nothing is remembered from another test."""
    contexts = []

    def opened(address: str, *, width: int = 1280, theme: str = "light", **options: object) -> Page:
        options |= {"reduced_motion": "reduce", "color_scheme": theme}
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        context.set_default_timeout(10_000 * PATIENCE)
        page = context.new_page()
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()


def settled(page: Page) -> None:
    """Wait until formulas are set and every figure near the screen is drawn or has said why not."""
    page.wait_for_load_state("load")
    page.wait_for_function("async () => { await window.MathJax?.startup?.promise; return true }")
    page.wait_for_function(
        """() => [...document.querySelectorAll('.viz-mount')].every((figure) => {
          const box = figure.getBoundingClientRect();
          const near = box.width > 0 && box.top < innerHeight && box.bottom > 0;
          return !near || figure.dataset.ready || figure.querySelector('.viz-problem');
        })"""
    )


def scroll_through(page: Page) -> None:
    """Read the page to its end, as far as figures are concerned."""
    for figure in page.locator(".viz-mount:visible").all():
        figure.scroll_into_view_if_needed()
        settled(page)
