"""All figures on all pages of the built site, in one table, and what is off: `python -m tests.viz.gallery _build/html`.

Each page is read to its end on a phone, as a reader scrolls who has no wish for less motion; there its shifts and its
bytes are noted. Then its figures are measured as they open, there and on a wide screen, and their presets are tried.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import re
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Browser, Locator, Page
from playwright.sync_api import Error as PlaywrightError

from tests.browser import Log, context, listen, settled, started
from tests.site.built import pages_in
from tests.viz import measuring
from tests.viz.measuring import CONTROLS, PICTURE_PX, WORDS, Seen
from tests.viz.pressing import PHONE, SCREENS, heights, small
from torchbook_press.server import gzipped, serving

WIDE, NARROW = SCREENS
SHARE, TYPE_PX, MOVED_PX, CLS, KB, FRAME_MS = 60, 12, 8, 0.05, 450, 20
LEADS_ON = "index.html"
FIGURE = "figure.viz-mount[data-kind=anywidget]"
LONGEST_PLAY_MS = 30_000

# Layout shifts, each with its time and with what moved; runs before anything of the page.
_SHIFTS = """window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, startTime, hadRecentInput, sources } of list.getEntries()) {
    const moved = sources.map(({ node }) => node?.nodeType === 1 ? node : node?.parentElement).filter(Boolean);
    const name = (one) => `${one.localName}.${one.getAttribute("class") ?? ""} in ${one.closest("[id]")?.id}`;
    if (!hadRecentInput) shifts.push([startTime, value, moved.slice(0, 2).map(name).join("; ")]);
  }
}).observe({ type: "layout-shift", buffered: true });"""

# To the end, half a screen at a time.
_READ = """async () => {
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  for (let at = -1; at !== scrollY; ) {
    at = scrollY;
    scrollBy({ top: innerHeight / 2, behavior: "instant" });
    await pause(100);
  }
}"""

# The reader jumps to a figure, from afar; how long until it is there, in milliseconds. What is folded is opened first.
_COME = """async (place) => {
  for (let around = place; (around = around.parentElement?.closest("details")); ) around.open = true;
  const came = performance.now();
  place.scrollIntoView({ behavior: "instant" });
  while (!place.dataset.ready) {
    const problem = place.querySelector(".viz-problem");
    if (problem) throw new Error(problem.textContent);
    await new Promise((done) => setTimeout(done, 2));
  }
  const ready = performance.now() - came;
  await document.fonts.ready;
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)));
  return ready;
}"""

# Press one after the other until the figure is another, and this has been painted; how long that took, in milliseconds.
_ANSWER = """async (place) => {
  const figure = place.querySelector(".tbviz");
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  const free = ":not([aria-disabled=true], [aria-pressed=true], [aria-selected=true])";
  for (const one of figure.querySelectorAll(`:is(button, select, [role=option], input[type=range])${free}`)) {
    if (one.disabled || !one.checkVisibility()) continue;
    let changed = false;
    const watcher = new MutationObserver(() => { changed = true; });
    watcher.observe(figure, { subtree: true, childList: true, characterData: true, attributes: true });
    const pressed = performance.now();
    if (one.matches("select")) one.selectedIndex = (one.selectedIndex + 1) % one.length;
    else if (one.matches("input")) one.value = one.value === one.max ? one.min : one.max;
    else one.click();
    if (!one.matches("button, [role=option]")) {
      for (const name of ["input", "change"]) one.dispatchEvent(new Event(name, { bubbles: true }));
    }
    await frame();
    watcher.disconnect();
    if (changed) return performance.now() - pressed;
  }
  return null;
}"""

# From its start, as it plays: the time of each frame, in milliseconds.
_PLAY = """async (place, longest) => {
  const slider = place.querySelector(".tbviz input[type=range]");
  slider.value = slider.min;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  const play = [...place.querySelectorAll(".tbviz button")].find((one) => one.textContent.trim() === "Play");
  const frames = [];
  play.click();
  let last = await new Promise(requestAnimationFrame);
  for (const first = last; play.textContent.trim() !== "Play" && last - first < longest; ) {
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - last);
    last = now;
  }
  return frames;
}"""


@dataclass(frozen=True)
class Figure:
    """A figure of a page, on one screen."""

    page: str
    link: str  # its name in links, or that of its model
    width: int  # of the screen
    seen: Seen
    small: tuple[str, ...]  # targets that a finger misses; none are looked for on a wide screen
    moved: int  # pixels between the lowest and the highest of its states: at first, after a press, with each preset
    ready_ms: float  # from when it came into view
    answer_ms: float | None  # from a press; None: nothing that was pressed changed it

    @property
    def called(self) -> str:
        return f"{self.page} · {self.seen.name or 'without a name'} ({self.link}) at {self.width}"

    @property
    def first_ms(self) -> float:
        """Until it has answered, since it came into view."""
        return self.ready_ms + (self.answer_ms or 0)


@dataclass(frozen=True)
class Read:
    """A page, read to its end on a phone."""

    page: str
    shifts: tuple[tuple[float, float, str], ...]  # when, how much, what
    kb: float  # gzipped

    @property
    def cls(self) -> float:
        return cls([(at, value) for at, value, _ in self.shifts])

    @property
    def worst(self) -> str:
        return max(self.shifts, key=lambda shift: shift[1], default=(0, 0, ""))[2]


@dataclass(frozen=True)
class Play:
    """The largest graph of all autograd figures, while it plays."""

    page: str
    nodes: int
    frames: tuple[float, ...]  # milliseconds of each

    @property
    def dropped(self) -> int:
        return sum(frame > FRAME_MS for frame in self.frames)


@dataclass
class Gallery:
    """All that was seen."""

    figures: list[Figure] = field(default_factory=list)
    pages: list[Read] = field(default_factory=list)
    play: Play | None = None
    failed: list[str] = field(default_factory=list)  # what could not be measured
    loads: list[float] = field(default_factory=list)  # processes that wanted to run here: a minute's mean, at each page


def cls(shifts: Sequence[tuple[float, float]]) -> float:
    """The worst session of layout shifts: at most a second between two of them, and five seconds in all."""
    worst = total = 0.0
    first = last = float("-inf")
    for at, value in shifts:
        if at - last > 1000 or at - first > 5000:
            first, total = at, 0.0
        last, total = at, total + value
        worst = max(worst, total)
    return worst


@dataclass(frozen=True)
class Measure:
    """What is measured of each figure, and what is asked of it."""

    what: str
    of: Callable[[Figure], float]
    most: float = math.inf
    least: float = -math.inf
    screens: Sequence[int] = (WIDE, NARROW)
    aim: bool = False  # something to come near to

    @property
    def head(self) -> str:
        """What it is, with its limit."""
        limits = [f"≤ {self.most:g}"] * (self.most < math.inf) + [f"≥ {self.least:g}"] * (self.least > -math.inf)
        return ", ".join([self.what, *limits])

    @property
    def has_limit(self) -> bool:
        return self.head != self.what

    def broken_by(self, figure: Figure) -> bool:
        return figure.width in self.screens and not self.least <= self.of(figure) <= self.most


MEASURES = (
    Measure("titles in sight", lambda one: bool(one.seen.title), least=1),
    Measure("% of the screen's height", lambda one: round(100 * one.seen.height / SCREENS[one.width], 1), most=100),
    Measure("px above the first picture", lambda one: one.seen.first_picture, most=PICTURE_PX),
    Measure("controls around the stage", lambda one: one.seen.controls, most=CONTROLS),
    Measure("words around the stage", lambda one: one.seen.words, most=WORDS),
    Measure("stage, % of the area", lambda one: round(100 * one.seen.share), least=SHARE, aim=True),
    Measure("targets under 40 px", lambda one: len(one.small), most=0, screens=(NARROW,)),
    Measure("smallest type, px", lambda one: one.seen.type, least=TYPE_PX),
    Measure("px by which a press moves what follows", lambda one: one.moved, most=MOVED_PX),
    Measure("controls in the stage", lambda one: one.seen.in_stage),
    Measure("words in the stage", lambda one: one.seen.words_in_stage),
    Measure("ms from view to the first answer", lambda one: round(one.first_ms)),
)


# Measuring


@contextlib.contextmanager
def opened(browser: Browser, width: int, **options: Any) -> Iterator[Page]:
    """A blank page on one of the two screens."""
    phone: dict[str, Any] = {**PHONE} if width == NARROW else {}
    with context(browser, **{"width": width, **phone, **options}) as visit:
        page = visit.new_page()
        page.set_viewport_size({"width": width, "height": SCREENS[width]})
        yield page


def link_of(figure: Locator) -> str:
    """Its name in links, or that of its model."""
    given = json.loads(figure.locator(":scope > script").first.text_content() or "{}")
    return str(given.get("state", {}).get("link") or given.get("model", ""))


def look(page: Page, name: str, width: int) -> Iterator[Figure]:
    """The figures of a page that is open, each as it opens; then its presets are pressed."""
    for figure in page.locator(FIGURE).all():
        ready_ms = figure.evaluate(_COME)
        at_first = measuring.measure(figure)
        missed = tuple(small(figure)) if width == NARROW else ()
        answer_ms = figure.evaluate(_ANSWER)
        pressed = [at_first.height, *heights(figure).values()]
        yield Figure(name, link_of(figure), width, at_first, missed, max(pressed) - min(pressed), ready_ms, answer_ms)


def bytes_of(root: Path, log: Log) -> int:
    """Gzipped, of all files that were asked for."""
    paths = {root / unquote(urlsplit(response.url).path).lstrip("/") for response in log.responses}
    return sum(len(gzipped(path)) for path in paths)


def read(browser: Browser, root: Path, http: str, name: str) -> tuple[Read, list[Figure]]:
    """A page to its end on a phone, and its figures there."""
    with opened(browser, NARROW, reduced_motion="no-preference") as page:
        log = listen(page)
        page.add_init_script(_SHIFTS)
        page.goto(f"{http}/{name}")
        page.evaluate(_READ)
        settled(page)
        shifts = tuple((at, value, what) for at, value, what in page.evaluate("shifts"))
        was = Read(name, shifts, bytes_of(root, log) / 1000)
        page.emulate_media(reduced_motion="reduce")
        page.goto("about:blank")  # a page that is opened again at once is scrolled to where it was
        page.goto(f"{http}/{name}")
        return was, list(look(page, name, NARROW))


def wide(browser: Browser, http: str, name: str) -> list[Figure]:
    """The figures of a page on a wide screen."""
    with opened(browser, WIDE) as page:
        page.goto(f"{http}/{name}")
        return list(look(page, name, WIDE))


_SCRIPT = re.compile(r'<figure class="viz-mount" data-kind="anywidget".*?<script[^>]*>(.*?)</script>', re.DOTALL)


def graphs(text: str) -> dict[int, int]:
    """Of each autograd figure of a page how many nodes its graph has, by its place among the page's figures."""
    states = (json.loads(script)["state"] for script in _SCRIPT.findall(text))
    return {place: len(state["graphs"][0]["nodes"]) for place, state in enumerate(states) if state.get("graphs")}


def largest(root: Path, names: Sequence[str]) -> tuple[int, str, int] | None:
    """How many nodes the largest graph of autograd has, its page, and its place there."""
    texts = {name: (root / name).read_text(encoding="utf-8") for name in names}
    found = [(size, name, place) for name, text in texts.items() for place, size in graphs(text).items()]
    return max(found, default=None)


def played(browser: Browser, root: Path, http: str, names: Sequence[str]) -> Play | None:
    """The autograd figure with the largest graph, as it plays."""
    found = largest(root, names)
    if found is None:
        return None
    nodes, name, place = found
    with opened(browser, WIDE, reduced_motion="no-preference") as page:
        page.add_init_script("document.addEventListener('DOMContentLoaded', () => "
                             "{ document.documentElement.dataset.arrival = 'off'; })")  # fmt: skip
        page.goto(f"{http}/{name}")
        figure = page.locator(FIGURE).nth(place)
        figure.evaluate(_COME)
        frames = figure.evaluate(_PLAY, LONGEST_PLAY_MS)
    return Play(name, nodes, tuple(frames))


def measured(root: Path, names: Sequence[str] = ()) -> Gallery:
    """All of a built site, or some of its pages. What fails is noted, and the others are measured all the same."""
    gallery = Gallery()
    chosen = [name for name in names or pages_in(root) if name != LEADS_ON]

    def attempt(what: str, act: Callable[[], None]) -> None:
        print(what, file=sys.stderr, flush=True)
        try:
            act()
            gallery.loads.append(os.getloadavg()[0])
        except PlaywrightError as error:
            gallery.failed.append(f"{what}: {str(error).splitlines()[0]}")

    def on_phone(name: str) -> None:
        page, figures = read(browser, root, http, name)
        gallery.pages.append(page)
        gallery.figures += figures

    def on_screen(name: str) -> None:
        gallery.figures += wide(browser, http, name)

    def play() -> None:
        gallery.play = played(browser, root, http, chosen)

    with serving(root) as http, started() as browser:
        attempt("autograd plays", play)
        for name in chosen:
            attempt(f"{name} at {NARROW}", partial(on_phone, name))
            if 'data-kind="anywidget"' in (root / name).read_text(encoding="utf-8"):
                attempt(f"{name} at {WIDE}", partial(on_screen, name))
    return gallery


# Telling


def faults(gallery: Gallery) -> list[str]:
    """All that is off, a line for each."""
    failed = [f"not measured: {failure}" for failure in gallery.failed]
    mute = [f"{one.called}: nothing that is pressed changes it" for one in gallery.figures if one.answer_ms is None]
    jumps = [
        f"{one.page}: CLS {one.cls:.3f}, at most {CLS}; most by {one.worst}" for one in gallery.pages if one.cls > CLS
    ]
    heavy = [f"{one.page}: {one.kb:.0f} kB gzipped, at most {KB}" for one in gallery.pages if one.kb > KB]
    return failed + short(gallery, aims=False) + mute + jumps + heavy


def short(gallery: Gallery, *, aims: bool) -> list[str]:
    """Figures that do not keep a limit, or that miss an aim."""
    return [
        f"{figure.called}: {measure.head}: {measure.of(figure):g}{_more(measure, figure)}"
        for measure in MEASURES
        if measure.aim == aims
        for figure in gallery.figures
        if measure.broken_by(figure)
    ]


def _more(measure: Measure, figure: Figure) -> str:
    """What helps to find it."""
    if "targets" in measure.what:
        return f", such as `{figure.small[0]}`"
    return f" (“{figure.seen.smallest}”)" if "type" in measure.what else ""


def rows(*lines: Sequence[object]) -> str:
    """A table in Markdown, whose first line are its heads."""
    heads, *rest = lines
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in (heads, ["---"] * len(heads), *rest))


def summary(gallery: Gallery) -> str:
    """Each measure over all figures of a screen."""
    lines: list[Sequence[object]] = [("measure", "screen", "figures", "median", "least", "most", "off")]
    for measure in MEASURES:
        for width in measure.screens:
            figures = [one for one in gallery.figures if one.width == width]
            values = [measure.of(one) for one in figures]
            if values:
                off = sum(map(measure.broken_by, figures)) if measure.has_limit else ""
                spread = (f"{number:g}" for number in (statistics.median(values), min(values), max(values)))
                lines.append((measure.head, width, len(values), *spread, off))
    return rows(*lines)


def of_pages(gallery: Gallery) -> str:
    """What is read to its end on a phone."""
    by_cls = sorted(gallery.pages, key=lambda page: (-page.cls, -page.kb))
    cells = [(one.page, f"{one.cls:.3f}", f"{sum(value for _, value, _ in one.shifts):.3f}", f"{one.kb:.0f}")
             for one in by_cls]  # fmt: skip
    return rows((f"page at {NARROW}", f"CLS (≤ {CLS})", "all shifts together", f"kB gzipped (≤ {KB})"), *cells)


def of_figures(gallery: Gallery) -> str:
    """Every figure with what was measured of it."""
    cells = [
        (one.called, *(f"{measure.of(one):g}" if one.width in measure.screens else "" for measure in MEASURES))
        for one in gallery.figures
    ]
    return rows(("figure", *(measure.what for measure in MEASURES)), *cells)


def of_play(play: Play | None) -> str:
    """How smoothly the largest graph plays."""
    if play is None:
        return "No autograd figure is on these pages.\n"
    return (
        f"Autograd's largest graph, {play.nodes} nodes ({play.page}): {play.dropped} of {len(play.frames)} frames took "
        f"more than {FRAME_MS} ms, the longest {max(play.frames, default=0):.0f} ms.\n"
    )


def told(gallery: Gallery) -> str:
    """What is off, and the tables."""
    off, missed = faults(gallery), short(gallery, aims=True)
    first = (
        f"{sum(one.width == NARROW for one in gallery.figures)} figures on "
        f"{len({one.page for one in gallery.figures})} of {len(gallery.pages)} pages. Times were taken while "
        f"{statistics.median(gallery.loads or [0]):.1f} processes wanted {os.cpu_count()} cores.\n"
    )
    parts = [
        "# Figures of the site\n", first, of_play(gallery.play),
        f"## Off: {len(off)}\n", "".join(f"- {fault}\n" for fault in off) or "Nothing.\n",
        f"## Short of an aim: {len(missed)}\n", "".join(f"- {fault}\n" for fault in missed) or "Nothing.\n",
        "## Over all figures\n", summary(gallery),
        "## Pages\n", of_pages(gallery),
        "## Each figure\n", of_figures(gallery),
    ]  # fmt: skip
    return "\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, tell, and fail if anything is off."""
    parser = argparse.ArgumentParser(prog="python -m tests.viz.gallery", description="All figures of the built site.")
    parser.add_argument("site", type=Path, help="the folder of the built site")
    parser.add_argument("pages", nargs="*", help="only these pages, relative to it")
    parser.add_argument("--out", type=Path, help="where the table goes, in Markdown; else it is printed")
    given = parser.parse_args(arguments)
    gallery = measured(given.site.resolve(), given.pages)
    text = told(gallery)
    if given.out:
        given.out.write_text(text, encoding="utf-8")
    print(text.partition("## Short of an aim")[0] if given.out else text)
    return 1 if faults(gallery) else 0


if __name__ == "__main__":
    sys.exit(main())
