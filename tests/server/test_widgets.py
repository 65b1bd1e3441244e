"""Widgets and plots of a cell that runs in the page: connected to the kernel, drawn by the page's own starter."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.server.conftest import Book, Printed, Visit, live, make_site, run_all, status

pytestmark = pytest.mark.browser
COUNTER = '''\
import anywidget, traitlets

class Counter(anywidget.AnyWidget):
    _esm = """export default { render({ model, el }) {
      const button = document.createElement("button");
      const show = () => (button.textContent = `count ${model.get("n")}, ${model.get("raw").byteLength} bytes`);
      button.onclick = () => { model.set("n", model.get("n") + 1); model.save_changes(); };
      model.on("change:n change:raw", show);
      show();
      el.append(button);
    } }"""
    n = traitlets.Int(0).tag(sync=True)
    raw = traitlets.Bytes(b"abc").tag(sync=True)

counter = Counter()
counter'''
FIGURE = """\
<div class="output text_html"><figure class="viz-mount" data-kind="anywidget"><script type="application/json">{"state":
{"n": 5}, "esm": "export default {render() {}}"}</script><figcaption class="viz-words"></figcaption></figure></div>
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Book]:
    folder = tmp_path_factory.mktemp("live")
    cells = (
        Printed(COUNTER, html=FIGURE),
        Printed("counter.n += 10; counter.raw = b'abcde'\nprint(counter.n)", "10\n"),
        Printed("from torchbook.figures import curves\ncurves({'loss': [3, 2, 1]}, title='Falling')", ""),
    )
    with live(make_site(folder / "site", *cells), folder) as served:
        yield served


def test_a_widget_and_its_kernel_follow_each_other(book: Book, visit: Visit) -> None:
    page = visit(book)
    for number in (1, 2):
        page.get_by_role("button", name=f"Run: Cell {number}", exact=True).click()
        expect(page.locator("div.cell").nth(number - 1).locator(".live-status")).not_to_contain_text("…")
    button = page.locator(".live-output button")
    expect(button).to_have_text("count 0, 3 bytes")
    button.click()
    expect(button).to_have_text("count 1, 3 bytes")
    page.get_by_role("button", name="Run: Cell 3", exact=True).click()
    expect(button).to_have_text("count 11, 5 bytes")
    assert status(page, 3) == "differs: 11, the book has 10"
    assert status(page, 2) == "differs: a figure in another state, the book has its own"


def test_a_plot_says_its_words(book: Book, visit: Visit) -> None:
    page = visit(book)
    run_all(page)
    expect(page.locator("div.cell").nth(3).locator(".viz-words")).to_contain_text("loss")
