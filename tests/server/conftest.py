"""A small site with cells, as the press makes one, and `torchbook live` that serves it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from queue import Empty, Queue
from urllib.parse import urlsplit

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import PATIENCE, context, listen

_PAGE = """\
<!DOCTYPE html>
<html lang="en" data-content_root="../" data-theme="light">
<head><meta charset="utf-8"><title>One</title><link rel="stylesheet" href="../_static/site.css"></head>
<body><a href="https://mybinder.org/v2/{book}?urlpath=lab">Binder</a><main><article><section id="one"><h1>One</h1>
<div class="chapter-head docutils container"><p class="chapter-facts">1 min to read</p></div>
{cells}
{exercises}
</section></article></main></body></html>
"""
_CODE = '<div class="highlight-ipython3 notranslate"><div class="highlight"><pre>{}</pre></div></div>'
_CELL = """\
<div class="cell {classes} docutils container"><div class="cell_input docutils container">{code}</div>{output}</div>
"""
_OUTPUT = '<div class="cell_output docutils container">{}</div>'
_TEXT = '<div class="output stream highlight-myst-ansi notranslate"><div class="highlight"><pre>{}</pre></div></div>'
_EXERCISE = """\
<section class="exercise" id="ex-{id}"><h3>Exercise</h3><p class="exercise-facts">easy</p><p>Write it.</p>
<div class="highlight-python notranslate"><div class="highlight"><pre>{stub}</pre></div></div>
<details class="fold" id="ex-{id}-hint-1"><summary>Hint: one</summary><p>Look again.</p></details>
<details class="fold" id="ex-{id}-solution"><summary>Solution</summary><p>So.</p></details></section>
"""
BOOK = "gh/owner/name/main"  # as Binder names it
PARAMETERS = 'DEVICE = "auto"\nFAST = False\nSEED = 0'


@dataclass(frozen=True)
class Printed:
    """A cell of the page: its code, the HTML of its outputs or a text that it printed, its tags."""

    code: str
    text: str = ""
    html: str = ""
    tags: tuple[str, ...] = ()

    @property
    def page(self) -> str:
        """As the page has it."""
        inner = self.html or (_TEXT.format(escape(self.text)) if self.text else "")
        classes = " ".join(f"tag_{tag}" for tag in self.tags)
        code = _CODE.format(escape(self.code))
        return _CELL.format(classes=classes, code=code, output=_OUTPUT.format(inner) if inner else "")


def make_site(root: Path, *cells: Printed, stubs: dict[str, str] | None = None) -> Path:
    """A built site with one page, `book/one.html`; its first cell sets the parameters."""
    all_cells = (Printed(PARAMETERS, tags=("parameters",)), *cells)
    exercises = "".join(_EXERCISE.format(id=name, stub=escape(stub)) for name, stub in (stubs or {}).items())
    page = _PAGE.format(book=BOOK, cells="".join(cell.page for cell in all_cells), exercises=exercises)
    code = [nbformat.v4.new_code_cell(cell.code, id=f"cell-{n}") for n, cell in enumerate(all_cells)]
    for made, cell in zip(code, all_cells, strict=True):
        made.metadata["tags"] = list(cell.tags)
    code += [nbformat.v4.new_code_cell(stub, id=f"{name}-stub") for name, stub in (stubs or {}).items()]
    run = {
        "parameters": {"DEVICE": "cpu", "FAST": True, "SEED": 0},
        "threads": 1,
        "cell_seconds": [30.0] * len(all_cells),
    }
    files = {
        "index.html": "<!DOCTYPE html><html><head><title>Book</title></head><body>The book</body></html>",
        "_static/site.css": "pre { overflow: auto }",
        "book/one.html": page,
        "notebooks/book/one.ipynb": nbformat.writes(nbformat.v4.new_notebook(cells=code, metadata={"torchbook": run})),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "_static/viz-static.js").write_bytes(Path("web/viz-static.js").read_bytes())
    return root


@dataclass(frozen=True)
class Book:
    """A book that is served."""

    url: str  # of its first page, with the token
    process: subprocess.Popen[str]

    @property
    def origin(self) -> str:
        return f"http://{urlsplit(self.url).netloc}"

    @property
    def token(self) -> str:
        return self.url.rpartition("token=")[2]

    def at(self, path: str) -> str:
        """Address of a page, with the token."""
        return f"{self.origin}/torchbook/{path}?token={self.token}"


@contextlib.contextmanager
def live(site: Path, folder: Path, *options: str, **variables: str) -> Iterator[Book]:
    """`torchbook live` on a site, until the block ends."""
    command = [sys.executable, "-m", "torchbook", "live", "--no-browser", "--site", str(site), *options]
    with started(command, folder, **variables) as book:
        yield book


@contextlib.contextmanager
def started(command: Sequence[str], folder: Path, **variables: str) -> Iterator[Book]:
    """A Jupyter server that a command starts, until the block ends; what it keeps is kept in a folder."""
    environment = {
        **os.environ,
        "TORCHBOOK_PROGRESS": str(folder / "progress.json"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "TMPDIR": str(folder),
        **variables,
    }
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        try:
            yield Book(_said(process, re.compile(r"http://127\.0\.0\.1:\d+/\S*token=\w+")), process)
        finally:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=20)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _said(process: subprocess.Popen[str], pattern: re.Pattern[str]) -> str:
    """The first words of a process that match."""
    lines: Queue[str] = Queue()
    assert process.stdout

    def read() -> None:
        assert process.stdout
        for line in process.stdout:
            lines.put(line)

    threading.Thread(target=read, daemon=True).start()
    heard = ""
    while True:
        try:
            heard += (line := lines.get(timeout=60 * PATIENCE))
        except Empty:
            pytest.fail(f"it does not say where the book is:\n{heard}")
        if match := pattern.search(line):
            return match[0]


@pytest.fixture(autouse=True)
def patient() -> Iterator[None]:
    """A kernel starts in seconds, and on a busy machine in more than tests of pages wait."""
    expect.set_options(timeout=30_000 * PATIENCE)
    yield
    expect.set_options(timeout=5_000 * PATIENCE)


Visit = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Open the one page of a book, ready to run, in a context of its own."""
    with contextlib.ExitStack() as contexts:

        def opened(book: Book, path: str = "book/one.html", **options: object) -> Page:
            tab = contexts.enter_context(context(browser, **options))  # type: ignore[arg-type]
            tab.set_default_timeout(30_000 * PATIENCE)
            page = tab.new_page()
            page.log = listen(page)  # type: ignore[attr-defined]
            page.goto(book.at(path))
            page.wait_for_selector("html[data-live=ready]")
            return page

        yield opened


def run_all(page: Page) -> None:
    """Run all cells, and wait until they have run or one has failed."""
    page.get_by_role("button", name="Run all").click()
    page.wait_for_function(
        "() => document.querySelector('.live-bar button').textContent === 'Run all'"
        " && !document.querySelector('[data-state=running]') && document.querySelector('.live-summary').textContent"
    )


def status(page: Page, cell: int) -> str:
    """What the page says of a cell; the first, of parameters, is 1."""
    return page.locator("div.cell").nth(cell - 1).locator(".live-status").inner_text()
