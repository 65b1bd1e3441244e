"""Page speed: what opening a page costs its reader, measured in Chromium and held to budgets.

Bytes are the bodies of all answers, compressed by gzip where that makes them smaller; a page's own host compresses so,
and what a stock page takes from other hosts is counted alike. Times are milliseconds. A machine that does other things
besides can only add to a time, so of several loads the least longest task and the least interaction count; of layout
shifts and bytes the greatest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from torchbook.runtime import find_chromium
from torchbook_press import files
from torchbook_press.chapters import chapters
from torchbook_press.chromium import ARGUMENTS, UNBOXED
from torchbook_press.server import gzipped, serving
from torchbook_press.ship.environment import ShipError
from torchbook_press.ship.stock import Packages, build, elsewhere, hindrance
from torchbook_press.site.moved import is_moved

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

FOLDER = Path("_build/speed")
DESKTOP, PHONE = (1280, 800), (360, 740)
PLOTLY = "vendor/plotly.min.js"
_OBSERVE, _INTERACT, _SETTLED = (
    Path(__file__).with_name(f"{name}.js").read_text(encoding="utf-8") for name in ("observe", "interact", "settled")
)
_LONGEST_WAIT_MS = 60_000
_SEARCH = "search.html"


@dataclass(frozen=True)
class Budget:
    """The most that a page may cost; the one place where these numbers stand."""

    kb: float = 325  # gzipped, without plotly, which comes only when somebody turns to a plot
    math_kb: float = 440  # a page with formulas also brings MathJax and its fonts
    search_kb: float = 420  # the page of results brings the index of the whole book
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
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*ARGUMENTS, UNBOXED])
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
    measurements = [_load(browser, book, page, how) for _ in range(how.loads)]
    uses = how.loads if use and _visualizes(book, page) else 0
    interactions = [_interaction(browser, book, page, how) for _ in range(uses)]
    best = {name: min(getattr(measurement, name) for measurement in measurements) for name in ("task_ms", "lcp_ms")}
    worst = {
        name: max(getattr(measurement, name) for measurement in measurements)
        for name in ("kb", "plotly_kb", "requests", "shift")
    }
    return replace(measurements[0], **best, **worst, interaction_ms=min(interactions, default=None))


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
    urls: list[str] = []
    with _opened(browser, book, how, _OBSERVE) as page:
        if how.cached:
            page.goto(f"{book.http}/{name}", wait_until="networkidle")
            page.goto("about:blank")
        page.on("request", lambda request: urls.append(request.url))
        page.goto(f"{book.http}/{name}", wait_until="networkidle")
        metrics = page.wait_for_function(_SETTLED).json_value()  # unlike `evaluate` it waits no longer than it may
        math = page.evaluate("() => Boolean(window.MathJax)")
    return _measured(book, name, [url for url in urls if url.startswith("http")], metrics, math)


def _measured(book: Book, name: str, urls: Sequence[str], metrics: dict[str, Any], math: bool) -> Measured:
    sizes = {url: len(gzipped(book.file(url))) / 1000 for url in urls}
    plotly = sum(size for url, size in sizes.items() if PLOTLY in url)
    return Measured(
        page=name,
        kb=round(sum(sizes.values()) - plotly, 1),
        plotly_kb=round(plotly, 1),
        requests=len(urls),
        task_ms=round(max((length for _, length in metrics["tasks"]), default=0)),
        shift=round(metrics["shift"], 4),
        lcp_ms=round(metrics["lcp"]),
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
    violations = [
        f"{label} {value:g} {unit}".strip() + f", at most {limit:g}"
        for label, value, limit, unit in limits
        if value > limit
    ]
    if stock and stock.kb < budget.times_less * ours.kb:
        violations.append(
            f"{ours.kb:g} kB gzipped, {stock.kb:g} as stock: less than {budget.times_less:g} times as much"
        )
    return [f"{ours.page}: {violation}" for violation in violations]


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
    files.write(root / TABLE, table(pairs))
    pages = [{**asdict(ours), "stock": asdict(stock) if stock else None} for ours, stock in pairs]
    data = {"budget": asdict(BUDGET), "how": asdict(how), "pages": pages}
    files.write(root / DATA, json.dumps(data, indent=1))


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
        site_names = {path.relative_to(site).as_posix(): path for path in site.rglob("*.html")}
        return sorted(
            name
            for name, path in site_names.items()
            if not (name.startswith("_static/") or name == "index.html" or is_moved(path.read_text(encoding="utf-8")))
        )
    return [page for name in names for page in _pages(root, site, name.removesuffix(".html"))]


def _pages(root: Path, site: Path, name: str) -> list[str]:
    """A page of the site by its path, the pages of a chapter by its id."""
    path = site / f"{name}.html"
    if path.is_file() and not is_moved(path.read_text(encoding="utf-8")):
        return [f"{name}.html"]
    return [f"{chapter.docname}.html" for chapter in chapters(root, (name,))]


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


def compared(root: Path, page_names: Sequence[str], how: How, *, stock: bool) -> Iterator[Pair]:
    """Measure pages, and if asked for their stock builds in the same run, one after the other.

    A page that has no stock build, since it is made of directives of ours, is measured alone.

    Raises:
        ShipError: nothing can be measured, or the stock pages cannot be built.
        NoComparisonError: what they take from other hosts cannot be had.
    """
    plain = [page for page in page_names if stock and not hindrance(root, page)]
    with books(root, plain) as (ours, theirs), chromium() as browser:
        for page in page_names:
            yield measure(browser, ours, page, how), measure(browser, theirs, page, how) if page in plain else None
