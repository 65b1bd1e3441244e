"""One tour of the site: each page is opened as each of its readers has it, and all that is asked of pages is noted.

Over http, to be read to its end, then dark and on a phone; as a file without a network, where every kind of figure on
it is used; and on paper without scripts. What a page must keep to are its `PROMISES`: functions of the record alone.
"""

from __future__ import annotations

import functools
import gzip
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Browser, Page, Response

from tests.axe import look
from tests.browser import Log, context, listen, page_width, reachable, resized, scroll_through, settled
from tests.site.keeping import Ledger, tools
from torchbook_press.ship.speed import BUDGET
from torchbook_proofs import Key, digest

PLOTLY = "vendor/plotly.min.js"
PLOT = ".viz-mount[data-kind=plotly]"
WIDE, PHONE = 1280, 360
A4_WIDTH = 657  # pixels between the margins; Letter has more
SOURCES = (Path(__file__),)
FRONT = "index.html"  # leads on to another page at once

# Elements of the article that reach beyond the sheet, or hide a part of what they hold. What is in a listing may, with
# the spaces that hang at the end of a wrapped line; the listing itself tells whether it holds them.
TOO_WIDE = """() => [...document.querySelectorAll('article *')].filter((one) => {
  if (one.closest('pre *, svg *, mjx-assistive-mml') || !one.checkVisibility()) return false;
  const box = one.getBoundingClientRect();
  const cut = one.matches('pre, .output, .math') && one.scrollWidth > one.clientWidth + 2;
  return box.width && (box.right > innerWidth + 1 || cut);
}).map((one) => one.outerHTML.slice(0, 160))"""

# Uses the first visualizer that has a module, as a reader would who tries one control after the other, until what it
# says has changed.
_USE = """async (module) => {
  const turn = () => new Promise((done) => setTimeout(done, 30));
  const uses = (figure) => JSON.parse(figure.querySelector(":scope > script").textContent).module === module;
  const figure = [...document.querySelectorAll("figure.viz-mount[data-kind=anywidget]")].find(uses);
  for (let around = figure; (around = around.parentElement?.closest("details")); ) around.open = true;
  figure.scrollIntoView();
  while (!figure.dataset.ready) {
    if (figure.querySelector(".viz-problem")) return "does not start";
    await turn();
  }
  const words = () => [...figure.querySelectorAll(".tbviz-words, [aria-live]")].map((one) => one.textContent).join();
  const before = words();
  const act = (control) => {
    if (control.tagName === "SELECT") control.selectedIndex = (control.selectedIndex + 1) % control.length;
    else if (control.type === "range") control.value = control.value === control.max ? control.min : control.max;
    else if (control.tagName === "INPUT" && control.type === "number") control.stepUp();
    else return control.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    for (const name of ["input", "change"]) control.dispatchEvent(new Event(name, { bubbles: true }));
  };
  const controls = () => [...figure.querySelectorAll("button, select, input, [tabindex], [role=gridcell]")];
  for (let at = 0; at < controls().length; at++) {
    const control = controls()[at];
    if (control.disabled || control.closest("[hidden]")) continue;
    act(control);
    for (let turns = 0; turns < 15; turns++) {
      await turn();
      if (words() !== before) return "";
    }
  }
  return `says nothing new, whatever is pressed: ${before.slice(0, 80)}`;
}"""


# Live figures that have another height than the page kept free for them. What a run measured may add a line or two.
_MOVED = r"""() => [...document.querySelectorAll(".viz-mount[data-kind=anywidget][data-ready]")].flatMap((figure) => {
  const kept = parseFloat(figure.style.getPropertyValue("--room"));
  if (!figure.checkVisibility() || Math.abs(figure.offsetHeight - kept) <= 60) return [];
  const { model } = JSON.parse(figure.querySelector(":scope > script").textContent);
  return [`${model}: ${kept || "nothing"} kept, ${figure.offsetHeight} taken; run \`torchbook rooms\``];
})"""


# Words that set a figure: followed one after the other, those after which it says what it had said before.
_LINKS = r"""async () => {
  const wrong = [];
  for (const link of document.querySelectorAll("main a.sets")) {
    const name = /^#tbviz-([\w-]+)/.exec(link.hash)[1];
    const figure = [...document.querySelectorAll(".viz-mount[data-kind=anywidget][data-ready]")].find((one) =>
      JSON.parse(one.querySelector(":scope > script").textContent).state.link === name);
    const said = () => figure?.querySelector(".tbviz-words")?.textContent;
    const before = said();
    link.click();
    for (let turns = 0; turns < 40 && said() === before; turns++) await new Promise((next) => setTimeout(next, 25));
    if (!figure || said() === before) wrong.push(`“${link.textContent}” sets nothing (${link.hash.slice(0, 60)})`);
  }
  return wrong;
}"""


@dataclass(frozen=True)
class Place:
    """A built site: on a local server, and on the disk where a bundle may be unpacked."""

    root: Path
    http: str
    unpacked: Path  # the same files, at a path with a blank and an umlaut, as on readers' disks

    def files(self, log: Log) -> set[str]:
        """The files of the site that were asked for."""
        return log.files(self.http, self.unpacked.as_uri())


@dataclass(frozen=True)
class Record:
    """What was seen of one page."""

    page: str
    files: list[str] = field(default_factory=list)  # of the site, that it loads
    foreign: list[str] = field(default_factory=list)  # other hosts that it asks
    complaints: list[str] = field(default_factory=list)  # over http: what it misses or reports
    offline: list[str] = field(default_factory=list)  # the same as a file without a network
    gzipped: int = 0  # bytes on the wire of a server that compresses, without plotly
    math: bool = False
    links: list[str] = field(default_factory=list)  # words that set no figure
    rooms: list[str] = field(default_factory=list)  # figures that took another height than the page kept for them
    plots: list[str] = field(default_factory=list)  # what is wrong with how plots were drawn and plotly was loaded
    colours: list[str] = field(default_factory=list)  # what axe finds
    structure: list[str] = field(default_factory=list)
    widths: dict[str, int] = field(default_factory=dict)  # of the page, by the width of the screen
    paper: list[str] = field(default_factory=list)  # elements wider than a sheet
    modules: dict[str, str] = field(default_factory=dict)  # of visualizers, and what was wrong when one was used

    @property
    def value(self) -> dict[str, object]:
        """The record as JSON has it."""
        return asdict(self)


Looks = dict[str, set[str]]  # by theme, what texts look like on pages where all could be read


def record(browser: Browser, place: Place, name: str, looks: Looks | None = None) -> Record:
    """Open a page as each of its readers does, and note what is asked of pages.

    Args:
        browser: what opens it.
        place: where the site is.
        name: the page, relative to the site.
        looks: looks that were looked at on other pages; those of this page are added.
    """
    files: set[str] = {name}
    online = _online(browser, place, name, {"light": set(), "dark": set()} if looks is None else looks, files)
    offline = _offline(browser, place, name, files)
    paper = _on_paper(browser, place, name, files)
    there = [file for file in files if (place.root / file).is_file()]
    return Record(page=name, files=sorted(there), **online, **offline, **paper)


def _online(browser: Browser, place: Place, name: str, looks: Looks, files: set[str]) -> dict[str, object]:
    """Over http: wide and light and read to its end, then dark and on a phone."""
    with context(browser, width=WIDE) as visit:
        page = visit.new_page()
        log = listen(page)
        page.goto(f"{place.http}/{name}")
        if name == FRONT:
            page.wait_for_url(f"**/book/{FRONT}")
        settled(page)
        seen: dict[str, object] = {
            "plots": _plots(page, log),
            "rooms": page.evaluate(_MOVED),
            "links": page.evaluate(_LINKS),
            "foreign": log.foreign,
            "complaints": [*log.missing, *log.errors],
            "gzipped": _gzipped(place.root, log.responses),
            "math": page.locator(".math").count() > 0,
        }
        if name != FRONT:
            seen |= _access(page, looks)
        files |= place.files(log)
    return seen


def _plots(page: Page, log: Log) -> list[str]:
    """What is wrong with how plots are drawn, and with when plotly is loaded, while the page is read to its end.

    The first is turned to at last: it comes alive where its drawing was.
    """
    scroll_through(page)
    plots, visible = page.locator(PLOT), page.locator(f"{PLOT}:visible")
    undrawn = visible.count() - visible.locator(".plot-area:visible:has(.plot-lines *, .plot-cells *)").count()
    wrong = {
        f"{undrawn} of {plots.count()} figures not drawn": undrawn > 0,
        "plotly before anyone turned to a plot": log.asked_for(PLOTLY),
    }
    if visible.count() and not undrawn:
        first = visible.first
        size = "one => [one.offsetWidth, one.offsetHeight, document.documentElement.scrollHeight]"
        before = first.evaluate(size)
        first.locator(".plot-field").focus()
        first.locator("svg.main-svg").first.wait_for()
        wrong["a plot changes its size as it comes alive"] = first.evaluate(size) != before
    return [what for what, is_so in wrong.items() if is_so]


def _access(page: Page, looks: Looks) -> dict[str, object]:
    """What axe finds. Light and dark differ in colours alone. Wide there are side bars, on a phone there are none."""
    reachable(page)
    light = look(page, looks["light"])
    widths = {str(WIDE): page_width(page)}
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    resized(page, PHONE)
    dark = look(page, looks["dark"])
    widths[str(PHONE)] = page_width(page)
    both = ((f"light, at {WIDE}", light), (f"dark, at {PHONE}", dark))
    return {
        "colours": [f"{how}: {finding}" for how, findings in both for finding in findings.colours],
        "structure": [f"{how}: {finding}" for how, findings in both for finding in findings.structure],
        "widths": widths,
    }


def _offline(browser: Browser, place: Place, name: str, files: set[str]) -> dict[str, object]:
    """As a file, without a network, where the first figure of each kind is used."""
    with context(browser, width=WIDE) as visit:
        visit.set_offline(True)
        page = visit.new_page()
        log = listen(page)
        page.goto((place.unpacked / name).as_uri())
        if name == FRONT:
            page.wait_for_url(f"**/book/{FRONT}")
        plots = _plots(page, log) if page.locator(PLOT).count() else []
        modules = page.locator("script.viz-module").evaluate_all("all => all.map((one) => one.dataset.module)")
        used = {module: page.evaluate(_USE, module) for module in modules}
        settled(page)
        files |= place.files(log)
        offline = [*log.beyond_files, *log.errors, *plots]
        return {"offline": offline, "modules": used}


def _on_paper(browser: Browser, place: Place, name: str, files: set[str]) -> dict[str, object]:
    """As it is printed where no script runs."""
    if not name.startswith("book/"):
        return {}
    with context(browser, width=A4_WIDTH, java_script_enabled=False) as visit:
        page = visit.new_page()
        log = listen(page)
        page.emulate_media(media="print")
        page.goto(f"{place.http}/{name}", wait_until="load")
        wide = page.evaluate(TOO_WIDE)
        files |= place.files(log)
        return {"paper": wide[:3]}


def _gzipped(root: Path, responses: Sequence[Response]) -> int:
    """Bytes on the wire of a server that compresses, without plotly, which comes only when somebody turns to a plot."""
    paths = {root / unquote(urlsplit(response.url).path).lstrip("/") for response in responses}
    files = [path for path in paths if path.is_file() and not path.as_posix().endswith(PLOTLY)]
    return sum(_packed(path, path.stat().st_mtime_ns) for path in files)


@functools.cache
def _packed(path: Path, changed: int) -> int:
    """The length of a file as it was changed last, compressed unless that makes it larger."""
    body = path.read_bytes()
    return min(len(body), len(gzip.compress(body)))


# What every page promises: the findings against it, none where it is kept.


def asks_no_other_host(record: Record) -> list[str]:
    return record.foreign


def misses_no_file_and_reports_no_error(record: Record) -> list[str]:
    return [*record.foreign, *record.complaints]


def is_whole_as_a_file_without_a_network(record: Record) -> list[str]:
    return record.offline


def draws_its_plots_when_they_are_reached(record: Record) -> list[str]:
    return record.plots


def has_links_that_set_its_figures(record: Record) -> list[str]:
    return record.links


def keeps_room_for_its_figures(record: Record) -> list[str]:
    return record.rooms


def is_light(record: Record) -> list[str]:
    allowed = 1000 * BUDGET.most_kb(record.page, math=record.math)
    weight = f"{record.gzipped / 1000:.0f} kB gzipped, {allowed / 1000:.0f} allowed"
    return [weight] if record.gzipped > allowed else []


def can_be_read_in_light_and_dark(record: Record) -> list[str]:
    return record.colours


def has_no_fault_of_access(record: Record) -> list[str]:
    return record.structure


def stays_on_the_screen(record: Record) -> list[str]:
    return [f"at {width}: the page is {wide} wide" for width, wide in record.widths.items() if wide > int(width)]


def is_no_wider_than_paper(record: Record) -> list[str]:
    return record.paper


def has_visualizers_that_answer(record: Record) -> list[str]:
    return [f"{module}: {wrong}" for module, wrong in record.modules.items() if wrong]


PROMISES: tuple[Callable[[Record], list[str]], ...] = (
    asks_no_other_host,
    misses_no_file_and_reports_no_error,
    is_whole_as_a_file_without_a_network,
    draws_its_plots_when_they_are_reached,
    has_links_that_set_its_figures,
    keeps_room_for_its_figures,
    is_light,
    can_be_read_in_light_and_dark,
    has_no_fault_of_access,
    stays_on_the_screen,
    is_no_wider_than_paper,
    has_visualizers_that_answer,
)


def findings(record: Record) -> list[str]:
    """All that is wrong with a page."""
    return [f"{promise.__name__}: {finding}" for promise in PROMISES for finding in promise(record)]


def seen(ledger: Ledger, place: Place, name: str, visit: Callable[[], Record]) -> Record:
    """The record of a page: the kept one, or that of a visit, which is kept if nothing is wrong with the page."""
    key = Key("page", name, {"html": digest(place.root / name), **tools(*SOURCES)})
    kept = ledger.get(key)
    if kept is not None:
        return Record(**kept)
    made = visit()
    if not findings(made):
        ledger.put(key, made.files, made.value)
    return made
