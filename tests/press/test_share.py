"""What a page hands to others: its twin in Markdown, the preview of a link to it, and the form for what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import nbformat
import pytest
import yaml
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from tests.browser import context, listen, serving
from torchbook import __version__
from torchbook_press.chapters import Chapter
from torchbook_press.normal import WIDGET_STATE, WIDGET_VIEW
from torchbook_press.site import share

from .conftest import Book, as_if_it_ran, cell, small_book

GLUED = "application/papermill.record/text/plain"
BASE = "https://pytorch-inside-out.github.io/pytorch-inside-out"
PROSE = """\
It is {glue:text}`answer`; see {doc}`/book/notes`, {ref}`here <there>`, {ref}`there` and $x^2$.

```{code-cell} ipython3
:tags: [remove-input]

hidden
```
"""
NOTES = '# Notes\n\nWhat is *noted*, & a "word".\n\n(there)=\n## A place\n\nSome words of a sentence.\n'


@dataclass(frozen=True)
class Built:
    """A small book that was printed, as if its chapter had run."""

    book: Book
    repo: Path

    @property
    def site(self) -> Path:
        return self.book.root / "_build" / "html"

    def text(self, name: str) -> str:
        return (self.site / name).read_text(encoding="utf-8")

    def report(self, page: str) -> dict[str, str]:
        """The fields of a page's form for what is wrong."""
        (address,) = re.findall(r'class="report-link" href="([^"]+)"', self.text(page))
        return fields(unescape(address))


def fields(address: str) -> dict[str, str]:
    return {name: value for name, (value,) in parse_qs(urlsplit(address).query).items()}


def shown(**data: object) -> nbformat.NotebookNode:
    return nbformat.v4.new_output("display_data", data=data)


def outputs() -> list[list[nbformat.NotebookNode]]:
    """Of the parameters, of a cell of each kind, and of one whose code is not shown."""
    error = nbformat.v4.new_output("error", ename="ValueError", evalue="[no]", traceback=["far away"])
    record = {"scrapbook": {"name": "answer", "text": "42", "mime_prefix": "application/papermill.record/"}}
    glued = nbformat.v4.new_output("display_data", data={GLUED: "'42'"}, metadata=record)
    words = {"text/html": "<table></table>", "text/plain": "a b"}
    return [
        [],
        [nbformat.v4.new_output("stream", text="\x1b[1mone\x1b[0m\n"), nbformat.v4.new_output("stream", text="two\n")],
        [glued, shown(**words), shown(**{WIDGET_VIEW: {"model_id": "m"}, "text/plain": "<Figure>"})],
        [error],
        [nbformat.v4.new_output("stream", text="of hidden code\n")],
    ]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Built:
    book = small_book(tmp_path_factory.mktemp("share"), repo)
    book.page("notes", NOTES)
    code = [cell("print('```')"), cell("glue('answer', 42)"), cell("raise ValueError", raises="ValueError")]
    book.chapter("one", *code, PROSE)
    chapter = Chapter(book.root, "book/one")
    cells = [nbformat.v4.new_code_cell(one.source, metadata=one.metadata) for one in chapter.code_cells]
    for one, given in zip(cells, outputs(), strict=True):
        one.outputs = given
    nb = nbformat.v4.new_notebook(cells=cells)
    state = {"words": "Two dots, one of them red.", "_esm": "export default { render() {} }"}
    nb.metadata["widgets"] = {WIDGET_STATE: {"state": {"m": {"model_module": "anywidget", "state": state}}}}
    as_if_it_ran(chapter, nb, key="0123456789abcdef", commit="c0ffee")
    done = book.printed()
    assert done.returncode == 0, done.stdout + done.stderr
    return Built(book, repo)


# The twin.


@pytest.mark.parametrize(
    "passage",
    [
        "# One\n",
        "````python\nprint('```')\n````\n\n```text\none\ntwo\n```\n",
        "```text\na b\n```\n\n*Figure: Two dots, one of them red.*\n",
        "```text\nValueError: [no]\n```\n",
        f"It is 42; see [Notes]({BASE}/book/notes.html), [here]({BASE}/book/notes.html#there), "
        f"[A place]({BASE}/book/notes.html#there) and $x^2$.\n\n```text\nof hidden code\n```\n",
        f"\n---\n\nFrom *PyTorch Inside Out*: {BASE}/book/one.html\n\n"
        "Every output on this page comes from one run: torch 2, Python 3,",
    ],
)
def test_a_chapters_twin_has_its_words_its_code_and_what_the_code_showed(built: Built, passage: str) -> None:
    assert passage in built.text("book/one.md")


@pytest.mark.parametrize("left_over", ["{", "\x1b", "far away", "<table>", "%pip", "hidden\n```\n\n```"])
def test_a_twin_is_plain(built: Built, left_over: str) -> None:
    assert left_over not in built.text("book/one.md")


def test_prose_has_a_twin_too(built: Built) -> None:
    twin = built.text("book/notes.md")
    assert twin.startswith('# Notes\n\nWhat is *noted*, & a "word".\n')
    assert "(there)=" not in twin


def test_a_head_names_the_twin(built: Built) -> None:
    assert 'type="text/markdown" title="This page as Markdown" href="one.md"' in built.text("book/one.html")


def test_llms_txt_lists_the_twins_with_what_each_is_about(built: Built) -> None:
    lines = built.text("llms.txt").splitlines()
    assert lines[:3] == ["# PyTorch Inside Out", "", "> Its front page."]
    assert lines[-2:] == [
        f"- [Notes]({BASE}/book/notes.md): What is noted, & a “word”.",
        f"- [One]({BASE}/book/one.md): Counts.",
    ]


# Previews of links.


def head(text: str) -> dict[str, str]:
    """What a page says to those who show links to it."""
    return dict(re.findall(r'<meta (?:name|property)="((?:og:|twitter:|desc)[^"]*)" content="([^"]*)"', text))


def test_a_preview_has_title_description_and_picture(built: Built) -> None:
    said = head(built.text("book/notes.html"))
    assert said["og:title"] == "Notes"
    assert said["description"] == said["og:description"] == "What is noted, &amp; a “word”."
    assert said["og:url"] == f"{BASE}/book/notes.html"
    assert said["og:image"] == f"{BASE}/{share.CARD}"


def test_the_sites_own_address_has_the_preview_of_the_first_page(built: Built) -> None:
    front = built.text("index.html")
    assert head(front) == head(built.text("book/index.html"))
    assert head(front)["og:title"] == "PyTorch Inside Out"
    assert "url=book/index.html" in front


def test_the_picture_is_small_and_of_the_size_that_is_said(built: Built) -> None:
    path = built.site / share.CARD
    with Image.open(path) as picture:
        assert picture.size == share.CARD_SIZE
        assert len(picture.getcolors() or []) > 3
    assert path.stat().st_size < 40_000


# What is wrong.


def test_the_form_is_filled_in_with_the_page_and_its_run(built: Built) -> None:
    assert built.report("book/one.html") == {
        "template": "problem.yml",
        "title": "One: ",
        "where": f"One ({BASE}/book/one.html)",
        "run": f"PyTorch Inside Out {__version__}, commit c0ffee; torch 2, Python 3; run key 0123456789ab",
    }
    assert built.report("book/notes.html")["run"] == f"PyTorch Inside Out {__version__}"


def test_the_repository_has_that_form_with_those_fields(built: Built) -> None:
    form = yaml.safe_load((built.repo / ".github/ISSUE_TEMPLATE" / share.FORM).read_text(encoding="utf-8"))
    known = {field["id"] for field in form["body"]} | {"template", "title"}
    assert {*built.report("book/one.html"), "what"} <= known


# In the browser.


Open = Callable[..., Page]


@pytest.fixture(scope="module", params=["http", "file"])
def root(request: pytest.FixtureRequest, built: Built) -> Iterator[str]:
    """The address of the site, served or as files."""
    if request.param == "file":
        yield built.site.as_uri()
        return
    with serving(built.site) as address:
        yield address


@pytest.fixture
def open_page(browser: Browser, root: str) -> Iterator[Open]:
    with context(browser) as visit:
        log = listen(visit)

        def opened(name: str) -> Page:
            page = visit.new_page()
            page.goto(f"{root}/book/{name}.html")
            page.wait_for_load_state("load")
            return page

        visit.grant_permissions(["clipboard-read", "clipboard-write"])
        yield opened
        assert (log.foreign, log.errors) == ([], [])


def test_the_button_copies_the_page_and_says_so(open_page: Open, built: Built, root: str) -> None:
    page = open_page("one")
    button = page.get_by_role("button", name="Copy this page as Markdown")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Page copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    if root.startswith("http"):
        assert copied == built.text("book/one.md")
    else:
        for passage in ("# One\n", "```\nprint('```')\n```", "*Figure: Two dots, one of them red.*", "$x^2$"):
            assert passage in copied


def test_a_browser_that_refuses_is_told_of(open_page: Open) -> None:
    page = open_page("one")
    page.evaluate("() => { navigator.clipboard.write = () => Promise.reject(new Error('no')) }")
    page.get_by_role("button", name="Copy this page as Markdown").click()
    expect(page.get_by_role("status").filter(has_text="Not copied")).to_be_visible()


SELECT = """(words) => {
  const text = [...document.querySelectorAll("article p")].find((one) => one.textContent.includes(words)).firstChild;
  const at = text.data.indexOf(words);
  getSelection().setBaseAndExtent(text, at, text, at + words.length);
}"""


def test_selected_words_bring_a_link_that_quotes_them(open_page: Open) -> None:
    page = open_page("notes")
    chip = page.locator(".report-chip")
    expect(chip).to_be_hidden()
    page.evaluate(SELECT, "words of a sentence")
    expect(chip).to_be_visible()
    asked = fields(chip.get_attribute("href") or "")
    assert asked["what"] == "> words of a sentence\n\n"
    assert asked["where"] == f"“A place”, Notes ({BASE}/book/notes.html#a-place)"
    page.evaluate("getSelection().removeAllRanges()")
    expect(chip).to_be_hidden()


def test_the_keyboard_reaches_the_link_and_only_enter_opens_it(open_page: Open) -> None:
    page = open_page("notes")
    page.keyboard.press("w")
    expect(page.locator(".report-link")).to_be_focused()
    page.evaluate(SELECT, "words of a sentence")
    expect(page.locator(".report-chip")).to_be_visible()
    page.keyboard.press("w")
    expect(page.locator(".report-chip")).to_be_focused()
    assert page.evaluate("getSelection().toString()") == "words of a sentence"
    assert len(page.context.pages) == 1


def test_the_link_at_the_end_takes_what_is_selected_along(open_page: Open) -> None:
    page = open_page("notes")
    link = page.locator(".report-link")
    assert "what" not in fields(link.get_attribute("href") or "")
    page.evaluate(SELECT, "words of a sentence")
    link.dispatch_event("pointerdown")
    assert fields(link.get_attribute("href") or "")["what"].startswith("> words of")
