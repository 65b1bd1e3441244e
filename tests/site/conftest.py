"""The built site in a real browser: over http and as files, with every other host out of reach."""

from __future__ import annotations

import contextlib
import functools
import json
import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, Page

from tests.browser import KEPT, context, listen, serving
from tests.site import keeping, tour
from tests.site.built import SITE, Notes, Site, pages_in
from tests.site.keeping import Ledger
from torchbook.runtime import find_chromium
from torchbook_proofs import Store

Open = Callable[..., Page]
_notes = Notes()  # of the test that runs
keeping.look_for_exercises(_notes)


@functools.cache
def proofs() -> Store:
    """The proofs of this process."""
    return Store.default()


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """The site that was built last."""
    if not (SITE / "index.html").is_file():
        pytest.fail(f"there is no built site in {SITE}: make book")
    with serving(SITE) as address:
        yield Site(SITE, address, _notes)


@pytest.fixture
def open_page(site: Site, browser: Browser) -> Iterator[Open]:
    """Open an address in a context of its own: nothing is remembered from another test."""
    with contextlib.ExitStack() as contexts:

        def opened(address: str, **options: Any) -> Page:
            visit = contexts.enter_context(context(browser, **options))
            contexts.callback(site.asked, listen(visit))
            page = visit.new_page()
            page.goto(address)
            return page

        yield opened


# Tests that are kept.

_passed = pytest.StashKey[bool]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Pass over a test whose proof is kept."""
    if not keeping.may_be_kept(item) or find_chromium() is None:
        return
    if keeping.is_kept(Ledger(proofs(), SITE), item):
        pytest.skip(reason=KEPT)
    _notes.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Keep the proof of a test that has passed and left nothing behind that fails."""
    report = yield
    item.stash[_passed] = report.passed and (report.when == "setup" or item.stash[_passed])
    if report.when == "teardown" and item.stash[_passed] and keeping.may_be_kept(item):
        keeping.keep(Ledger(proofs(), SITE), item, _notes)
    return report


# The tour.


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run, the same for all processes that share its tests."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "tour"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def place(site: Site, tmp_path_factory: pytest.TempPathFactory) -> tour.Place:
    """The site, also at a path that is not of plain letters."""
    unpacked = tmp_path_factory.mktemp("Bücher, offline") / "site"
    unpacked.symlink_to(site.folder, target_is_directory=True)
    return tour.Place(site.folder, site.http, unpacked)


@contextlib.contextmanager
def looks_of(folder: Path) -> Iterator[tour.Looks]:
    """What texts look like on pages that a process of this run has seen; what is added, all know after the block."""
    noted, lock = folder / "looks.json", FileLock(folder / "looks.lock")

    def known() -> tour.Looks:
        looks = json.loads(noted.read_text(encoding="utf-8")) if noted.exists() else {"light": [], "dark": []}
        return {theme: set(seen) for theme, seen in looks.items()}

    with lock:
        looks = known()
    yield looks
    with lock:
        both = {theme: sorted(looks[theme] | seen) for theme, seen in known().items()}
        noted.write_text(json.dumps(both), encoding="utf-8")


@pytest.fixture(scope="session", params=pages_in(SITE) or ["index.html"])  # without a site that one fails
def record(request: pytest.FixtureRequest, place: tour.Place, shared: Path) -> tour.Record:
    """What was seen of each page, by whichever process came to it first, or in an earlier run."""
    name: str = request.param

    def visit() -> tour.Record:
        with looks_of(shared) as looks:
            return tour.record(request.getfixturevalue("browser"), place, name, looks)

    noted = shared / f"{name.replace('/', '-')}.json"
    with FileLock(noted.with_suffix(".lock")):
        if noted.exists():
            return tour.Record(**json.loads(noted.read_text(encoding="utf-8")))
        record = tour.seen(Ledger(proofs(), place.root), place, name, visit)
        noted.write_text(json.dumps(record.value), encoding="utf-8")
    return record
