"""Page speed: what opening a page costs its reader, measured in Chromium and held to budgets.

Bytes are the bodies of all answers, compressed by gzip where that makes them smaller; a page's own host compresses so,
and what a stock page takes from other hosts is counted alike. Times are milliseconds. A machine that does other things
besides can only add to a time, so of several loads the least longest task and the least interaction count; of layout
shifts and bytes the greatest.
"""

from __future__ import annotations

import functools
import gzip
import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from torchbook.press.chapters import chapters
from torchbook.press.ship.environment import ShipError
from torchbook.press.ship.stock import Packages, build, elsewhere, hindrance
from torchbook.runtime import find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

FOLDER = Path("_build/speed")
DESKTOP, PHONE = (1280, 800), (360, 740)
PLOTLY = "vendor/plotly.min.js"
_ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
_LONGEST_WAIT_MS = 60_000
_SEARCH = "search.html"


@dataclass(frozen=True)
class Budget:
    """The most that a page may cost; the one place where these numbers stand."""

    kb: float = 300  # gzipped, without plotly, which comes only when a figure is near
    math_kb: float = 440  # a page with formulas also brings MathJax and its fonts
    search_kb: float = 380  # the page of results brings the index of the whole book
    requests: int = 40
    task_ms: float = 200  # the longest task of the main thread on load
    shift: float = 0.1  # all layout shifts on load together, which is never less than the CLS
    interaction_ms: float = 3000  # from the start of the navigation until a visualizer has answered
    times_less: float = 3  # gzipped bytes of the stock build of the same page, over ours

    def most_kb(self, page: str, *, math: bool) -> float:
        """What a page may bring, gzipped and without plotly."""
        return self.search_kb if page == _SEARCH else self.math_kb if math else self.kb


BUDGET = Budget()
TABLE, DATA = FOLDER / "speed.md", FOLDER / "speed.json"


@dataclass(frozen=True)
class Measured:
    """What opening one page cost."""

    page: str
    kb: float  # gzipped, plotly's library left out
    plotly_kb: float
    requests: int
    task_ms: float  # the longest; 0 when none took 50 ms
    shift: float
    lcp_ms: float
    interaction_ms: float | None = None  # None: the page has no visualizer
    math: bool = False


# Runs before anything of the page.
_OBSERVE = """
window.speed = { tasks: [], shift: 0, lcp: 0 };
const watch = (type, act) =>
  new PerformanceObserver((list) => list.getEntries().forEach(act)).observe({ type, buffered: true });
watch("longtask", (task) => speed.tasks.push([task.startTime, task.duration]));
watch("layout-shift", (shift) => { if (!shift.hadRecentInput) speed.shift += shift.value; });
watch("largest-contentful-paint", (paint) => { speed.lcp = paint.startTime; });
"""

# A reader in a hurry: goes to the first visualizer as soon as it is in the page, and presses until something changes.
_INTERACT = """
window.answered = new Promise((done) => {
  const shown = (element) => element.checkVisibility?.() ?? true;
  const first = (selector) => [...document.querySelectorAll(selector)].find(shown);
  let gone = false;
  async function attempt(root) {
    const controls = [...root.querySelectorAll("button:not([disabled]), select, summary")].filter(shown);
    for (const control of controls) {
      let changed = false;
      const watch = new MutationObserver(() => { changed = true; });
      watch.observe(root, { subtree: true, childList: true, characterData: true, attributes: true });
      if (control.tagName === "SELECT") {
        control.selectedIndex = (control.selectedIndex + 1) % control.length;
        control.dispatchEvent(new Event("change", { bubbles: true }));
      } else control.click();
      await new Promise(requestAnimationFrame);
      watch.disconnect();
      if (changed) return performance.now();
    }
  }
  async function look() {
    const place = first("figure.viz-mount[data-kind=anywidget], .tbviz");
    if (place && !gone) { gone = true; place.scrollIntoView(); }
    const root = first(".tbviz");
    const at = root && (await attempt(root));
    if (at) done(at);
    else requestAnimationFrame(look);
  }
  requestAnimationFrame(look);
});
"""

_SETTLED = """async () => {
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  const near = (figure) => {
    const box = figure.getBoundingClientRect();
    return box.width > 0 && box.top < innerHeight && box.bottom > 0;
  };
  const waiting = (figure) => near(figure) && !figure.dataset.ready && !figure.querySelector(".viz-problem");
  while ([...document.querySelectorAll(".viz-mount")].some(waiting)) await new Promise(requestAnimationFrame);
  // With a limit: this wait, or that for the fonts, was once seen not to end.
  for (let turn = 0; turn < 3; turn++) await new Promise((done) => requestIdleCallback(done, { timeout: 2000 }));
  return speed;
}"""


@functools.cache
def gzipped(path: Path) -> bytes:
    """A file as the wire carries it: compressed, unless that makes it larger; nothing where there is no file."""
    body = path.read_bytes() if path.is_file() else b""
    packed = gzip.compress(body, mtime=0)
    return min(body, packed, key=len)


class _Handler(BaseHTTPRequestHandler):
    """Files of a folder, compressed, to be kept by the browser's cache."""

    protocol_version = "HTTP/1.1"
    root: Path

    def do_GET(self) -> None:
        path = self.root / unquote(urlsplit(self.path).path).lstrip("/")
        if not path.is_file():
            self.send_error(404)
            return
        body = gzipped(path)
        self.send_response(200)
        self.send_header("Content-Type", guess_type(path.name)[0] or "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=3600")
        if body[:2] == b"\x1f\x8b" and path.suffix != ".gz":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    """A server to which it is no error when a browser hangs up."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(root: Path) -> Iterator[str]:
    """Serve a folder with gzip from a thread; the address."""
    handler = type("Handler", (_Handler,), {"root": root})
    server = _Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@dataclass(frozen=True)
class Book:
    """A built site that is served, and what other hosts would answer to its pages."""

    root: Path
    http: str
    answer: Callable[[str], Path] | None = None  # the file that stands for an address elsewhere

    @property
    def host(self) -> str:
        return urlsplit(self.http).netloc

    def file(self, url: str) -> Path:
        """The file behind an address.

        Raises:
            ShipError: nothing is known of that address.
        """
        parts = urlsplit(url)
        if parts.netloc == self.host:
            return self.root / unquote(parts.path).lstrip("/")
        if self.answer is None:
            raise ShipError(f"{url}: a page of this site asks another host")
        return self.answer(url)


@dataclass(frozen=True)
class How:
    """How pages are opened."""

    size: tuple[int, int] = DESKTOP
    loads: int = 3  # with an empty cache each
    slower: float = 1  # times that the processor is slowed down, by Chromium itself
    cached: bool = False  # measure the second visit instead of the first


_USUAL = How()


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser that reaches no other host.

    Raises:
        ShipError: there is none.
    """
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    if path is None:
        raise ShipError("no Chromium on this machine: install it or set CHROMIUM")
    rule = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*_ARGUMENTS, rule])
        try:
            yield browser
        finally:
            browser.close()


def measure(browser: Browser, book: Book, page: str, how: How = _USUAL, *, use: bool = True) -> Measured:
    """Open a page several times, and as often again to use its first visualizer; what it cost.

    Args:
        browser: what opens it.
        book: where it is.
        page: its name on the site.
        how: how it is opened.
        use: whether to use the visualizer.

    Raises:
        ShipError: the page is not there, or asks for what nobody answers.
    """
    if not (book.root / page).is_file():
        raise ShipError(f"_build/html/{page}: no such page; build the book first, or mind the name")
    found = [_load(browser, book, page, how) for _ in range(how.loads)]
    uses = how.loads if use and _visualizes(book, page) else 0
    interactions = [_interaction(browser, book, page, how) for _ in range(uses)]
    best = {name: min(getattr(one, name) for one in found) for name in ("task_ms", "lcp_ms")}
    worst = {name: max(getattr(one, name) for one in found) for name in ("kb", "plotly_kb", "requests", "shift")}
    return replace(found[0], **best, **worst, interaction_ms=min(interactions, default=None))


def _visualizes(book: Book, page: str) -> bool:
    text = (book.root / page).read_text(encoding="utf-8")
    return 'data-kind="anywidget"' in text or "application/vnd.jupyter.widget-view+json" in text


@contextmanager
def _opened(browser: Browser, book: Book, how: How, script: str) -> Iterator[Page]:
    """A page of a context that remembers nothing.

    Raises:
        ShipError: it came to no end of what is waited for.
    """
    from playwright.sync_api import TimeoutError as TooLongError

    width, height = how.size
    with browser.new_context(viewport={"width": width, "height": height}) as context:
        context.set_default_timeout(_LONGEST_WAIT_MS)
        context.add_init_script(script)
        if book.answer is not None:
            _answer(context, book)
        page = context.new_page()
        if how.slower != 1:
            context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": how.slower})
        try:
            yield page
        except TooLongError:
            raise ShipError(f"{page.url}: still not at rest after {_LONGEST_WAIT_MS / 1000:g} s") from None


def _answer(context: BrowserContext, book: Book) -> None:
    """Stand in for the other hosts."""

    def elsewhere(url: str) -> bool:
        return url.startswith("http") and urlsplit(url).netloc != book.host

    def fulfil(route: Route) -> None:
        try:
            path = book.file(route.request.url)
        except ShipError:
            route.abort()
            return
        kind = guess_type(path.name)[0] or "application/octet-stream"
        route.fulfill(body=path.read_bytes(), content_type=kind, headers={"Access-Control-Allow-Origin": "*"})

    context.route(elsewhere, fulfil)


def _load(browser: Browser, book: Book, name: str, how: How) -> Measured:
    asked: list[str] = []
    with _opened(browser, book, how, _OBSERVE) as page:
        if how.cached:
            page.goto(f"{book.http}/{name}", wait_until="networkidle")
            page.goto("about:blank")
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{book.http}/{name}", wait_until="networkidle")
        seen = page.wait_for_function(_SETTLED).json_value()  # unlike `evaluate` it waits no longer than it may
        math = page.evaluate("() => Boolean(window.MathJax)")
    return _measured(book, name, [url for url in asked if url.startswith("http")], seen, math)


def _measured(book: Book, name: str, asked: Sequence[str], seen: dict[str, Any], math: bool) -> Measured:
    sizes = {url: len(gzipped(book.file(url))) / 1000 for url in asked}
    plotly = sum(size for url, size in sizes.items() if PLOTLY in url)
    return Measured(
        page=name,
        kb=round(sum(sizes.values()) - plotly, 1),
        plotly_kb=round(plotly, 1),
        requests=len(asked),
        task_ms=round(max((length for _, length in seen["tasks"]), default=0)),
        shift=round(seen["shift"], 4),
        lcp_ms=round(seen["lcp"]),
        math=math,
    )


def _interaction(browser: Browser, book: Book, name: str, how: How) -> float:
    with _opened(browser, book, how, _INTERACT) as page:
        page.goto(f"{book.http}/{name}", wait_until="commit")
        return round(page.wait_for_function("() => answered").json_value())


def broken(ours: Measured, stock: Measured | None = None, budget: Budget = BUDGET) -> list[str]:
    """The budgets that a page does not keep, each in words."""
    limits = (
        ("gzipped", ours.kb, budget.most_kb(ours.page, math=ours.math), "kB"),
        ("requests", ours.requests, budget.requests, ""),
        ("longest task", ours.task_ms, budget.task_ms, "ms"),
        ("layout shift", ours.shift, budget.shift, ""),
        ("first interaction", ours.interaction_ms or 0, budget.interaction_ms, "ms"),
    )
    said = [
        f"{what} {is_:g} {unit}".strip() + f", at most {limit:g}" for what, is_, limit, unit in limits if is_ > limit
    ]
    if stock and stock.kb < budget.times_less * ours.kb:
        said.append(f"{ours.kb:g} kB gzipped, {stock.kb:g} as stock: less than {budget.times_less:g} times as much")
    return [f"{ours.page}: {one}" for one in said]


Pair = tuple[Measured, Measured | None]


def table(pairs: Sequence[Pair]) -> str:
    """Pages by what they cost, in Markdown; of the stock build in brackets."""
    heads = ("page", "kB gzipped", "requests", "longest task, ms", "layout shift", "LCP, ms", "first interaction, ms")
    lines = [heads, ["---"] * len(heads)]
    for ours, stock in pairs:
        names = ("kb", "requests", "task_ms", "shift", "lcp_ms", "interaction_ms")
        cells = [_cell(getattr(ours, name), getattr(stock, name) if stock else None) for name in names]
        if stock:
            cells[0] += f" {stock.kb / ours.kb:.1f}x"
        lines.append([ours.page, *cells])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(ours: float | None, stock: float | None) -> str:
    if ours is None:
        return ""
    return f"{ours:g} ({stock:g})" if stock is not None else f"{ours:g}"


def write(root: Path, pairs: Sequence[Pair], how: How) -> None:
    """Leave the table, and all of it as data, in the folder of the measures."""
    (root / FOLDER).mkdir(parents=True, exist_ok=True)
    (root / TABLE).write_text(table(pairs), encoding="utf-8")
    pages = [{**asdict(ours), "stock": asdict(stock) if stock else None} for ours, stock in pairs]
    data = {"budget": asdict(BUDGET), "how": asdict(how), "pages": pages}
    (root / DATA).write_text(json.dumps(data, indent=1), encoding="utf-8")


def pages(root: Path, names: Sequence[str] = ()) -> list[str]:
    """Pages of the built site, by name or by a chapter's id; all when none is named.

    Raises:
        ShipError: there is no site.
        ChapterError: there is no such page, and no such chapter.
    """
    site = root / "_build" / "html"
    if not (site / "index.html").is_file():
        raise ShipError("_build/html/index.html:1: missing; build the book first: make book")
    if not names:
        found = (path.relative_to(site).as_posix() for path in site.rglob("*.html"))
        return sorted(name for name in found if not name.startswith("_static/") and name != "index.html")
    return [_page(root, site, name.removesuffix(".html")) for name in names]


def _page(root: Path, site: Path, name: str) -> str:
    if not (site / f"{name}.html").is_file():
        (chapter,) = chapters(root, (name,))
        name = chapter.docname
    return f"{name}.html"


@contextmanager
def books(root: Path, stock: Sequence[str] = ()) -> Iterator[tuple[Book, Book]]:
    """Serve the built site, and the stock build of some of its pages.

    Raises:
        ShipError: the stock pages cannot be built.
        NoComparisonError: what they take from other hosts cannot be had.
    """
    html = root / "_build" / "html"
    site = build(root, stock, root / FOLDER / "stock") if stock else html
    answer = Packages(root)
    for page in stock:
        for url in elsewhere(site, page):
            answer(url)  # fetched before anything is measured
    with serving(html) as ours, serving(site) as theirs:
        yield Book(html, ours), Book(site, theirs, answer)


def compared(root: Path, wanted: Sequence[str], how: How, *, stock: bool) -> Iterator[Pair]:
    """Measure pages, and if asked for their stock builds in the same run, one after the other.

    A page that has no stock build, since it is made of directives of ours, is measured alone.

    Raises:
        ShipError: nothing can be measured, or the stock pages cannot be built.
        NoComparisonError: what they take from other hosts cannot be had.
    """
    plain = [page for page in wanted if stock and not hindrance(root, page)]
    with books(root, plain) as (ours, theirs), chromium() as browser:
        for page in wanted:
            yield measure(browser, ours, page, how), measure(browser, theirs, page, how) if page in plain else None
