"""Python on a BinderHub: a dialog first, then the hub's events, then the same protocol. The hub is one of our own."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.server.conftest import BOOK, Printed, Visit, live, make_site, run_all, started, status

pytestmark = pytest.mark.browser


# As a hub starts one: on a machine of its own, for pages of everywhere that know the token.
SERVER = (sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", "--ServerApp.allow_origin=*")


@contextmanager
def hub(*events: dict[str, str]) -> Iterator[tuple[str, list[str]]]:
    """A BinderHub that says these events to whoever asks; its address, and what it was asked for."""
    asked: list[str] = []

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            for event in events:
                self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def ask(page: Page, answer: str) -> None:
    page.get_by_role("button", name="Use Binder…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("2 GB of memory")
    dialog.get_by_role("button", name=answer).click()


def test_cells_run_on_the_hub_once_the_reader_agrees(tmp_path: Path, visit: Visit) -> None:
    made = make_site(tmp_path / "site", Printed("import os\nprint(os.environ['WHERE'])", "there\n"))
    (tmp_path / "there").mkdir()
    with started(SERVER, tmp_path / "there", WHERE="there") as there:
        ready = {"phase": "ready", "url": f"{there.origin}/", "token": there.token}
        with (
            hub({"phase": "building", "message": "…"}, ready) as (address, asked),
            live(made, tmp_path, "--binder", address, WHERE="here") as here,
        ):
            page = visit(here)
            ask(page, "Cancel")
            assert asked == [], "it was asked before the reader agreed"
            ask(page, "Start on")
            expect(page.locator(".live-bar .live-status")).to_contain_text("Python is ready")
            assert asked == [f"/build/{BOOK}"]
            run_all(page)
            assert status(page, 2) == "same as in the book"


def test_a_hub_that_fails_says_why(tmp_path: Path, visit: Visit) -> None:
    made = make_site(tmp_path / "site")
    with (
        hub({"phase": "failed", "message": "no room"}) as (address, _),
        live(made, tmp_path, "--binder", address) as here,
    ):
        page = visit(here)
        ask(page, "Start on")
        expect(page.locator(".live-bar .live-status")).to_have_text(
            f"{address.removeprefix('http://')} did not start: no room"
        )


def test_without_the_option_no_page_offers_it(tmp_path: Path, visit: Visit) -> None:
    with live(make_site(tmp_path / "site"), tmp_path) as here:
        expect(visit(here).get_by_role("button", name="Use Binder…")).to_have_count(0)
