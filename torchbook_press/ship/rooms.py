"""How high each live figure is on the built site, at most, with the state that it starts in and with its presets."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

from torchbook_press.ship.environment import ShipError
from torchbook_press.ship.speed import chromium
from torchbook_press.site.rooms import WIDTHS, Rooms

# Starts each figure of the page, also those in what is folded, tries its presets, and gives its largest height by the
# name of its model.
_HEIGHTS = """async () => {
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const figures = {};
  for (const figure of document.querySelectorAll("figure.viz-mount[data-kind=anywidget]")) {
    for (let around = figure; (around = around.parentElement?.closest("details")); ) around.open = true;
    figure.removeAttribute("style");
    figure.scrollIntoView();
    const waits = () => !figure.dataset.ready && !figure.querySelector(".viz-problem");
    while (waits()) await pause(20);
    const { model } = JSON.parse(figure.querySelector(":scope > script").textContent);
    if (figure.dataset.ready) figures[model] = figure;
  }
  await document.fonts.ready;
  await pause(200);
  const highest = async (figure) => {
    let height = figure.offsetHeight;
    for (const preset of figure.querySelectorAll('[role=toolbar][aria-label*="resets"] button')) {
      preset.click();
      await pause(60);
      height = Math.max(height, figure.offsetHeight);
    }
    return height;
  };
  const heights = {};
  for (const [model, figure] of Object.entries(figures)) heights[model] = await highest(figure);
  return heights;
}"""


def measured(book: Path) -> dict[str, Rooms]:
    """The heights of all live figures of the built site, wide and narrow, by page and model.

    Raises:
        ShipError: there is no browser, or no site; the message says what to do.
    """
    site = book / "_build" / "html"
    if not (site / "index.html").is_file():
        raise ShipError(f"{site}: no site; build the book first: make book")
    pages = [path for path in sorted(site.glob("book/**/*.html")) if "viz-module" in path.read_text(encoding="utf-8")]
    with chromium() as browser:
        found = {path: [_heights(browser, path, width) for width in WIDTHS] for path in pages}
    return {
        path.relative_to(site).with_suffix("").as_posix(): {model: (wide[model], narrow[model]) for model in wide}
        for path, (wide, narrow) in found.items()
    }


def _heights(browser: Browser, path: Path, width: int) -> dict[str, int]:
    with browser.new_context(
        viewport={"width": width, "height": 900}, has_touch=width < 600, reduced_motion="reduce"
    ) as visit:
        page = visit.new_page()
        page.goto(path.as_uri())
        return dict(page.evaluate(_HEIGHTS))
