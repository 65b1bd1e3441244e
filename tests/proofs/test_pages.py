"""A page's record is kept until something changes that it depends on, and never when something is wrong with it."""

from __future__ import annotations

import functools
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser import serving
from tests.site import keeping, tour
from torchbook_proofs import Store

PAGE = """<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8"><title>One</title>
<link rel="stylesheet" href="../_static/site.css"><script src="../_static/theme.js"></script></head>
<body><main><h1>One</h1><p>Text.</p><img src="../_static/dot.svg" alt="A dot."></main></body></html>"""
STYLE = "@import 'more.css'; body { color: black; background: white }"
THEME = "document.documentElement.dataset.ready = '1';"
DOT = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
NAME = "book/one.html"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tour.Place]:
    """A site of one page, which loads styles, a script and a picture."""
    root = tmp_path_factory.mktemp("small site")
    files = {NAME: PAGE, "_static/site.css": STYLE, "_static/more.css": "", "_static/theme.js": THEME}
    for name, text in (files | {"_static/dot.svg": DOT, "_static/other.css": "", "book/other.html": PAGE}).items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    with serving(root) as address:
        yield tour.Place(root, address, root)


@pytest.fixture
def again(
    small: tour.Place, passed: tour.Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], bool]]:
    """After what a test has changed, whether the page is visited again; of a site that is as it was afterwards."""
    ledger = keeping.Ledger(Store(tmp_path / "proofs"), small.root)
    visits = []

    def visit() -> tour.Record:
        visits.append(NAME)
        return passed

    tour.seen(ledger, small, NAME, visit)
    visits.clear()

    def is_visited_again() -> bool:
        assert tour.seen(ledger, small, NAME, visit) == passed
        return visits != []

    before = {path: path.read_bytes() for path in small.root.rglob("*") if path.is_file()}
    yield is_visited_again
    for path, content in before.items():
        path.write_bytes(content)


@pytest.fixture(scope="module")
def passed(browser: Browser, small: tour.Place) -> tour.Record:
    """What the tour sees of the page, with which nothing is wrong."""
    record = tour.record(browser, small, NAME)
    assert tour.findings(record) == []
    return record


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_it_is_kept_while_nothing_changes(again: Callable[[], bool]) -> None:
    assert not again()


@pytest.mark.parametrize("name", ["_static/other.css", "book/other.html"])
def test_it_is_kept_when_a_file_changes_that_the_page_does_not_load(
    small: tour.Place, again: Callable[[], bool], name: str
) -> None:
    append(small.root / name, "\n")
    assert not again()


@pytest.mark.parametrize("name", [NAME, "_static/site.css", "_static/more.css", "_static/theme.js", "_static/dot.svg"])
def test_it_is_made_again_when_a_file_changes_that_the_page_loads(
    small: tour.Place, again: Callable[[], bool], name: str
) -> None:
    append(small.root / name, "\n")
    assert again()


@pytest.mark.parametrize("name", ["tests/site/tour.py", "tests/axe.py", "tests/browser.py"])
def test_it_is_made_again_when_the_tour_changes(
    again: Callable[[], bool], repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    copied = tmp_path / "tests"
    shutil.copytree(repo / "tests", copied, ignore=lambda folder, names: [n for n in names if n.startswith("test_")])
    monkeypatch.setattr(keeping, "_TESTS", copied)
    monkeypatch.setattr(tour, "SOURCES", tuple(copied / path.relative_to(repo / "tests") for path in tour.SOURCES))
    assert not again()
    append(tmp_path / name, "# another\n")
    assert again()


def test_it_is_made_again_in_another_browser(again: Callable[[], bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "chromium_version", lambda path: "Chromium 1")
    assert again()


def test_it_is_made_again_with_another_axe(
    again: Callable[[], bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "axe.min.js").write_text("// another")
    monkeypatch.setattr(keeping.axe, "AXE_FILE_PATH", tmp_path / "axe.min.js")
    assert again()


# That the tour sees what is wrong, and that it is never kept.

WRONG = {
    "asks_no_other_host": PAGE.replace("</main>", '<img src="http://example.org/dot.svg" alt="A dot."></main>'),
    "misses_no_file_and_reports_no_error": PAGE.replace("dot.svg", "nowhere.svg"),
    "is_whole_as_a_file_without_a_network": PAGE.replace("</main>", "<script>throw 'no'</script></main>"),
    "draws_its_plots_when_they_are_reached": PAGE.replace(
        "<p>", '<figure class="viz-mount" data-kind="plotly" data-ready="1"><p>No plot.</p></figure><p>'
    ),
    "keeps_room_for_its_figures": PAGE.replace(
        "<p>",
        '<figure class="viz-mount" data-kind="anywidget" data-ready="1" style="--room: 400px; height: 500px">'
        '<script type="application/json">{"module": "tall", "model": "tall"}</script></figure><p>',
    ),
    "has_links_that_set_its_figures": PAGE.replace("Text.", '<a class="sets" href="#tbviz-none:one">Text.</a>'),
    "is_light": PAGE.replace("<p>", f"<p hidden>{random.Random(0).randbytes(400_000).hex()}</p><p>"),
    "can_be_read_in_light_and_dark": PAGE.replace("<p>", '<p style="color: #eee">'),
    "has_no_fault_of_access": PAGE.replace('alt="A dot."', ""),
    "stays_on_the_screen": PAGE.replace("<p>", '<p style="width: 2000px">'),
    "is_no_wider_than_paper": PAGE.replace("<main>", '<main><article><p style="width: 900px">Wide.</p></article>'),
    "has_visualizers_that_answer": PAGE.replace(
        "</main>",
        '<figure class="viz-mount" data-kind="anywidget" data-ready="1"><script type="application/json">'
        '{"module": "mute"}</script></figure>'
        '<script type="application/json" class="viz-module" data-module="mute"></script></main>',
    ),
}


def test_each_promise_is_broken_by_a_page() -> None:
    assert set(WRONG) == {promise.__name__ for promise in tour.PROMISES}


@pytest.mark.parametrize("broken", WRONG)
def test_a_page_with_a_finding_is_never_kept(browser: Browser, small: tour.Place, tmp_path: Path, broken: str) -> None:
    path = small.root / "book" / "wrong.html"
    path.write_text(WRONG[broken], encoding="utf-8")
    store = Store(tmp_path / "proofs")
    visit = functools.partial(tour.record, browser, small, "book/wrong.html")
    record = tour.seen(keeping.Ledger(store, small.root), small, "book/wrong.html", visit)
    assert broken in {finding.partition(":")[0] for finding in tour.findings(record)}
    assert (dict(store.counts), list(store.folder.rglob("*.json"))) == ({}, [])
