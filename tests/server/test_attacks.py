"""What others may try, and what may go wrong: none of it reaches the kernel, or takes page or server down."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import context, serving
from tests.server.conftest import Book, Printed, Visit, live, make_site

pytestmark = pytest.mark.browser
STEAL = """async ([origin, kernel]) => {
  const ask = (options) => fetch(`${origin}/api/kernels`, { credentials: 'include', ...options })
    .then(({ type, status }) => type === 'opaque' ? type : `reached: ${status}`, () => 'refused');
  const socket = new Promise((done) => {
    const ws = new WebSocket(`${origin.replace('http', 'ws')}/api/kernels/${kernel}/channels`);
    ws.onopen = () => done('reached');
    ws.onerror = () => done('refused');
  });
  return [
    await ask({}),
    await ask({ method: 'POST', body: '{}' }),
    await ask({ method: 'POST', body: '{}', mode: 'no-cors' }), // sent, but nothing can be read
    await socket,
  ];
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("live")


@pytest.fixture(scope="module")
def site(folder: Path) -> Path:
    cells = (
        Printed("import os, time\nprint('ready')", "ready\n"),
        Printed("while True: time.sleep(0.1)"),
        Printed("for _ in range(100):\n    print('x' * 1_000_000)", "x\n"),
        Printed("'y' * 100_000_000", "y\n"),
        Printed("import os\nos._exit(3)"),
    )
    return make_site(folder / "site", *cells)


@pytest.fixture(scope="module")
def book(site: Path, folder: Path) -> Iterator[Book]:
    with live(site, folder) as served:
        yield served


def press(page: Page, number: int) -> None:
    """Run one cell by itself."""
    page.get_by_role("button", name=f"Run: Cell {number}", exact=True).click()
    only = page.locator("div.cell").nth(number - 1).get_by_role("button", name="Run only this")
    if only.is_visible():
        only.click()


def as_the_reader(url: str, book: Book) -> urllib.request.Request:
    return urllib.request.Request(url, headers={"Authorization": f"token {book.token}"})


def kernels(book: Book) -> str:
    with urllib.request.urlopen(f"{book.origin}/api/kernels?token={book.token}", timeout=20) as answer:
        return str(answer.read().decode())


def test_another_origin_reaches_no_kernel(book: Book, visit: Visit, folder: Path) -> None:
    page = visit(book)
    press(page, 1)
    expect(page.locator("div.cell").first.locator(".live-status")).to_contain_text("has run")
    before = kernels(book)
    (folder / "evil").mkdir(exist_ok=True)
    (folder / "evil" / "index.html").write_text("<title>evil</title>")
    with serving(folder / "evil") as evil:  # on another port; the browser sends it the cookies of all of them
        other = page.context.new_page()
        other.goto(f"{evil}/index.html")
        kernel = before.split('"id": "')[1].split('"')[0]
        assert other.evaluate(STEAL, [book.origin, kernel]) == ["refused", "refused", "opaque", "refused"]
    assert kernels(book).count('"id"') == before.count('"id"'), "a kernel was started from another origin"


def test_nobody_gets_in_without_the_token(book: Book) -> None:
    for path in ("api/kernels", "api/contents", "torchbook-live/progress"):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"{book.origin}/{path}", timeout=20)
    with urllib.request.urlopen(f"{book.origin}/torchbook/book/one.html", timeout=20) as answer:
        assert "/login" in answer.url


def test_no_terminal_is_there(book: Book) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{book.origin}/api/terminals?token={book.token}", timeout=20)


def test_a_name_that_leads_here_is_refused(book: Book) -> None:
    request = urllib.request.Request(
        f"{book.origin}/api/kernels?token={book.token}", headers={"Host": "evil.example:80"}
    )
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(request, timeout=20)


def test_the_token_is_in_no_address_and_no_referrer(book: Book, visit: Visit, folder: Path) -> None:
    page = visit(book)
    assert "token" not in page.url
    assert page.evaluate("document.referrer") == ""
    (folder / "else").mkdir(exist_ok=True)
    (folder / "else" / "index.html").write_text("<title>else</title>")
    with serving(folder / "else") as elsewhere:
        page.evaluate("url => { location.href = url }", f"{elsewhere}/index.html")
        page.wait_for_url(f"{elsewhere}/**")
        assert page.evaluate("document.referrer") == ""


def test_no_page_frames_the_book(book: Book, visit: Visit, folder: Path) -> None:
    page = visit(book)
    (folder / "frame").mkdir(exist_ok=True)
    (folder / "frame" / "index.html").write_text(f'<iframe src="{book.origin}/torchbook/book/one.html"></iframe>')
    with serving(folder / "frame") as framing:
        other = page.context.new_page()
        other.goto(f"{framing}/index.html")
        other.wait_for_timeout(500)
        assert all("torchbook" not in frame.url for frame in other.frames[1:])


def test_files_outside_the_site_are_not_served(book: Book) -> None:
    for path in ("../conftest.py", "..%2f..%2fprogress.json", "%2e%2e/%2e%2e/etc/passwd"):
        with pytest.raises(urllib.error.HTTPError, match=r"40[34]"):
            urllib.request.urlopen(as_the_reader(f"{book.origin}/torchbook/{path}", book), timeout=20)


def test_a_cell_that_never_ends_is_interrupted(book: Book, visit: Visit) -> None:
    page = visit(book)
    press(page, 2)
    expect(page.locator("div.cell").nth(1).locator(".live-status")).to_have_text("same as in the book")
    press(page, 3)
    expect(page.locator("div.cell").nth(2).locator(".live-status")).to_have_text("running…")
    page.get_by_role("button", name="Interrupt: Cell 3").click()
    expect(page.locator("div.cell").nth(2).locator(".live-output")).to_contain_text("KeyboardInterrupt")
    press(page, 2)
    expect(page.locator("div.cell").nth(1).locator(".live-status")).to_have_text("same as in the book")


@pytest.mark.parametrize("number", [4, 5])
def test_output_of_100_mb_is_cut(book: Book, visit: Visit, number: int) -> None:
    page = visit(book)
    press(page, number)
    where = page.locator("div.cell").nth(number - 1)
    expect(where.locator(".live-status")).to_contain_text("differs")
    expect(where.locator(".live-output")).to_contain_text("Cut here: ")
    assert where.evaluate("cell => cell.textContent.length") < 3_000_000
    press(page, 2)
    expect(page.locator("div.cell").nth(1).locator(".live-status")).to_have_text("same as in the book")


def test_a_kernel_that_dies_is_said_and_begun_again(book: Book, visit: Visit) -> None:
    page = visit(book)
    press(page, 6)
    expect(page.locator("div.cell").nth(5).locator(".live-status")).to_contain_text("Python has ended")
    press(page, 2)
    expect(page.locator("div.cell").nth(1).locator(".live-status")).to_have_text("same as in the book")


def test_a_page_that_is_left_ends_its_kernel(book: Book, visit: Visit) -> None:
    page = visit(book)
    press(page, 1)
    expect(page.locator("div.cell").first.locator(".live-status")).to_contain_text("has run")
    before = kernels(book).count('"id"')
    page.goto("about:blank")
    for _ in range(50):
        if kernels(book).count('"id"') < before:
            return
        page.wait_for_timeout(200)
    pytest.fail("its kernel runs on")


def test_a_port_that_is_taken_and_two_books_at_once(book: Book, site: Path, folder: Path, browser: Browser) -> None:
    taken = int(book.origin.rpartition(":")[2])
    with live(site, folder, "--port", str(taken)) as second, context(browser) as both:
        assert second.origin != book.origin
        pages = [both.new_page(), both.new_page()]
        for one, page in zip((book, second), pages, strict=True):
            page.goto(one.at("book/one.html"))
            page.wait_for_selector("html[data-live=ready]")
        for page in pages:
            press(page, 2)
            expect(page.locator("div.cell").nth(1).locator(".live-status")).to_have_text("same as in the book")


def test_the_server_listens_on_this_machine_alone(book: Book) -> None:
    sockets = psutil.Process(book.process.pid).net_connections(kind="inet")
    assert {one.laddr.ip for one in sockets if one.status == psutil.CONN_LISTEN} == {"127.0.0.1"}
