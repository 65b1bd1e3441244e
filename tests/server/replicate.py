"""Run pages of the built book in the page, and say what differs from the print.

    python -m tests.server.replicate book/phases/p01-tensors/views book/llm/l2-gpt/model

A tool, no test: real pages take minutes. It prints for each page how many cells were the same, what the others say, and
how long a cell that computes nothing takes from the click to its result.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median

from playwright.sync_api import Page

from tests.browser import context, listen, started
from tests.server.conftest import Book, live, run_all

SITE = Path("_build/html")
_STATES = """() => [...document.querySelectorAll('div.cell')].map((cell) => {
  const said = cell.querySelector('.live-status');
  return said ? said.textContent : null;
})"""
_CLICK = """() => new Promise((done) => {
  const status = document.querySelector('div.cell .live-status');
  const button = document.querySelector('div.cell button[aria-label="Run: Cell 1"]');
  const begun = performance.now();
  let running = false;
  const seen = new MutationObserver(() => {
    running ||= status.dataset.state === 'running';
    if (!running || status.dataset.state === 'running') return;
    seen.disconnect();
    done(performance.now() - begun);
  });
  seen.observe(status, { attributes: true, childList: true, subtree: true });
  button.click();
})"""


def _kind(said: str) -> str:
    return next((kind for kind in ("same as in the book", "as in the book", "timing", "differs") if kind in said), said)


def clicks(page: Page, times: int = 7) -> list[float]:
    """Milliseconds from the click on the cell of parameters to its result, once the kernel is up."""
    return [float(page.evaluate(_CLICK)) for _ in range(times)]


def replicate(book: Book, page: Page, name: str) -> Counter[str]:
    """Run all cells of a page; counts of what they said."""
    page.goto(book.at(f"{name}.html"))
    page.wait_for_selector("html[data-live=ready]")
    begun = time.monotonic()
    run_all(page)
    said = page.evaluate(_STATES)
    kinds = Counter(_kind(one) for one in said if one is not None)
    print(f"{name}: {dict(kinds)}; {page.locator('.live-summary').inner_text()}; {time.monotonic() - begun:.0f} s")
    for number, one in enumerate(said, 1):
        if one is None or not any(kind in one for kind in ("as in the book", "timing")):
            print(f"  cell {number}: {one}")
    waits = clicks(page)
    print(f"  click to result: {json.dumps([round(ms) for ms in sorted(waits)])} ms, median {median(waits):.0f}")
    return kinds


def main(names: list[str]) -> int:
    with (
        tempfile.TemporaryDirectory() as folder,
        live(SITE, Path(folder)) as book,
        started() as browser,
        context(browser) as tab,
    ):
        tab.set_default_timeout(1_800_000)
        found: Counter[str] = Counter()
        for name in names:
            page = tab.new_page()
            listen(page)
            found += replicate(book, page, name)
            page.close()
        print(dict(found))
    return int(bool(found["differs"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
