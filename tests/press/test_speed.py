"""Page speed: what is measured is what a page does, and a broken budget is named; stock pages have the same content."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser
from typer.testing import CliRunner

from torchbook.cli import app
from torchbook_press.server import serving
from torchbook_press.ship import speed, stock
from torchbook_press.ship.environment import ShipError
from torchbook_press.ship.speed import BUDGET, Book, How, Measured

FINE = Measured("a.html", kb=100, plotly_kb=0, requests=9, task_ms=90, shift=0.01, lcp_ms=300, interaction_ms=900)
SLOW = """<!doctype html><title>A</title><link rel="icon" href="data:,"><script src="a.js"></script>
<p id="above"></p><p style="height:300px">below</p>
<script>
  const busy = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };
  onload = () => requestAnimationFrame(() => setTimeout(() => {
    busy(300);
    document.getElementById("above").style.height = "400px";
  }, 100));
</script>"""
WIDGET = """<!doctype html><title>A</title><link rel="icon" href="data:,">
<figure class="viz-mount" data-kind="anywidget"><div class="tbviz"><button disabled>Copy</button></div></figure>
<script>
  setTimeout(() => {
    const button = document.createElement("button");
    button.onclick = () => { button.textContent = "pressed"; };
    document.querySelector(".tbviz").append(button);
    document.querySelector("figure").dataset.ready = "1";
  }, 400);
</script>"""


def opened(browser: Browser, folder: Path, page: str) -> Measured:
    (folder / "a.html").write_text(page)
    with serving(folder) as http:
        return speed.measure(browser, Book(folder, http), "a.html", How(loads=1))


def test_bytes_requests_tasks_and_shifts_are_those_of_the_page(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("// " + "a" * 5000)
    measured = opened(browser, tmp_path, SLOW)
    sizes = [len(gzip.compress((tmp_path / name).read_bytes(), mtime=0)) for name in ("a.html", "a.js")]
    assert (measured.kb, measured.requests) == (round(sum(sizes) / 1000, 1), 2)
    assert measured.task_ms >= 300
    assert measured.shift > BUDGET.shift
    assert measured.interaction_ms is None


def test_an_interaction_is_timed_from_the_navigation_to_the_answer(browser: Browser, tmp_path: Path) -> None:
    measured = opened(browser, tmp_path, WIDGET)
    assert measured.interaction_ms is not None
    assert measured.interaction_ms >= 400


@pytest.mark.parametrize("ready", ["", "data-ready"])
def test_a_page_that_never_comes_to_rest_is_named(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ready: str
) -> None:
    monkeypatch.setattr(speed, "_LONGEST_WAIT_MS", 2000)
    figure = (
        f'<figure class="viz-mount" data-kind="anywidget" {ready}><div class="tbviz">Nothing to press</div></figure>'
    )
    with pytest.raises(ShipError, match=r"/a\.html: still not at rest after 2 s"):
        opened(browser, tmp_path, f'<!doctype html><link rel="icon" href="data:,">{figure}')


def test_a_page_that_asks_another_host_is_refused(browser: Browser, tmp_path: Path) -> None:
    with pytest.raises(ShipError, match=r"https://elsewhere\.test/b\.js: a page of this site asks another host"):
        opened(browser, tmp_path, '<link rel="icon" href="data:,"><script src="https://elsewhere.test/b.js"></script>')


def test_what_is_already_packed_is_not_sent_larger(tmp_path: Path) -> None:
    (tmp_path / "a.woff").write_bytes(bytes(range(256)))
    assert len(speed.gzipped(tmp_path / "a.woff")) == 256


def test_a_page_within_its_budgets_breaks_none() -> None:
    assert speed.broken(FINE, replace(FINE, kb=BUDGET.kb)) == []


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"kb": BUDGET.kb + 1}, f"a.html: gzipped {BUDGET.kb + 1:.0f} kB, at most {BUDGET.kb:.0f}"),
        (
            {"kb": BUDGET.math_kb + 1, "math": True},
            f"a.html: gzipped {BUDGET.math_kb + 1:.0f} kB, at most {BUDGET.math_kb:.0f}",
        ),
        (
            {"kb": BUDGET.search_kb + 1, "page": "search.html"},
            f"search.html: gzipped {BUDGET.search_kb + 1:.0f} kB, at most {BUDGET.search_kb:.0f}",
        ),
        ({"requests": 41}, "a.html: requests 41, at most 40"),
        ({"task_ms": 201}, "a.html: longest task 201 ms, at most 200"),
        ({"shift": 0.11}, "a.html: layout shift 0.11, at most 0.1"),
        ({"interaction_ms": 3001}, "a.html: first interaction 3001 ms, at most 3000"),
    ],
)
def test_a_broken_budget_is_named_with_its_page(changed: dict[str, float], complaint: str) -> None:
    assert speed.broken(replace(FINE, **changed)) == [complaint]


def test_a_page_must_be_a_third_of_the_stock_page() -> None:
    (complaint,) = speed.broken(FINE, replace(FINE, kb=299))
    assert complaint == "a.html: 100 kB gzipped, 299 as stock: less than 3 times as much"


def test_the_table_has_the_stock_page_in_brackets() -> None:
    last = speed.table([(FINE, replace(FINE, kb=350, interaction_ms=None))]).splitlines()[-1]
    assert last == "| a.html | 100 (350) 3.5x | 9 (9) | 90 (90) | 0.01 (0.01) | 300 (300) | 900 |"


def notebook(*sources: str, outputs: bool) -> nbformat.NotebookNode:
    printed = [nbformat.v4.new_output("stream", text="said")] if outputs else []
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, outputs=printed) for source in sources])


def test_a_stock_chapter_has_the_outputs_of_the_run() -> None:
    published = notebook("install", "a", "b", outputs=False)
    made = stock.with_outputs(published, notebook("a", "b", outputs=True))
    assert [len(cell.outputs) for cell in made.cells] == [0, 1, 1]


def test_a_notebook_of_another_run_is_refused() -> None:
    with pytest.raises(ShipError, match="the site is not of the last run"):
        stock.with_outputs(notebook("a", outputs=False), notebook("a", "b", outputs=True))


@pytest.mark.parametrize(
    ("text", "start"),
    [("# A\n", ""), (":::{note}\n:::\n", ""), (":::{predict} 1?\n:::\n", "a.md:1: has the directive predict")],
)
def test_a_page_of_our_directives_has_no_stock_build(tmp_path: Path, text: str, start: str) -> None:
    (tmp_path / "a.md").write_text(text)
    hindrance = stock.hindrance(tmp_path, "a.html")
    assert hindrance.startswith(start)
    assert bool(hindrance) == bool(start)


def test_without_npm_the_comparison_is_not_possible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(stock.NoComparisonError, match="no comparison with stock pages: npm is not installed"):
        stock.Packages(tmp_path)("https://cdn.jsdelivr.net/npm/mathjax@3/es5/tex-mml-chtml.js")


def test_what_no_package_is_known_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ShipError, match="no package is known"):
        stock.Packages(tmp_path)("https://elsewhere.test/a.js")


def test_without_a_site_it_says_what_to_do(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["speed", "--root", str(tmp_path)])
    assert (done.exit_code, "_build/html/index.html:1: missing; build the book first" in done.output) == (2, True)
