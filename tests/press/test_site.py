"""From executed notebooks to pages: a page shows what ran, or the build fails and says where."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
import urllib3
from sphinx.cmd.build import main as sphinx

from torchbook_press import build
from torchbook_press.site.reader import merge

from .conftest import Book, cell, small_book, without_compiler

Warnings = list[tuple[str, str, int]]


def code(source: str, *outputs: str, tags: tuple[str, ...] = ()) -> nbformat.NotebookNode:
    made = [nbformat.v4.new_output("stream", text=text) for text in outputs]
    return nbformat.v4.new_code_cell(source, outputs=made, metadata={"tags": list(tags)})


def notebook(*cells: nbformat.NotebookNode) -> nbformat.NotebookNode:
    nb = nbformat.v4.new_notebook(cells=list(cells))
    nb.metadata["source_map"] = [10 * (index + 1) for index in range(len(cells))]
    return nb


def merged(page: nbformat.NotebookNode, done: nbformat.NotebookNode) -> tuple[list[int], Warnings]:
    """How many outputs each cell got, and the warnings."""
    warnings: Warnings = []
    nb = merge(page, done, lambda kind, what, line: warnings.append((kind, what, line)))
    return [len(c.outputs) for c in nb.cells], warnings


def test_outputs_go_under_their_cells() -> None:
    assert merged(notebook(code("a"), code("b")), notebook(code("a", "1"), code("b", "2"))) == ([1, 1], [])


def test_injected_parameters_are_not_a_cell_of_the_page() -> None:
    injected = code("SEED = 1", tags=("injected-parameters",))
    assert merged(notebook(code("a"), code("b")), notebook(code("a"), injected, code("b", "2"))) == ([0, 1], [])


def test_a_stale_cell_and_what_follows_get_no_output() -> None:
    page, done = notebook(code("a"), code("B"), code("c")), notebook(code("a", "1"), code("b", "2"), code("c", "3"))
    counts, warnings = merged(page, done)
    assert counts == [1, 0, 0]
    assert [(kind, line) for kind, _, line in warnings] == [("stale", 20)]


@pytest.mark.parametrize(("page", "ran"), [("ab", "a"), ("a", "ab")], ids=["cell added", "cell removed"])
def test_another_number_of_cells_is_stale(page: str, ran: str) -> None:
    _, warnings = merged(notebook(*map(code, page)), notebook(*map(code, ran)))
    assert [kind for kind, _, _ in warnings] == ["stale"]


def error() -> nbformat.NotebookNode:
    return nbformat.v4.new_output("error", ename="E", evalue="e", traceback=["E: e"])


def picture() -> nbformat.NotebookNode:
    return nbformat.v4.new_output("display_data", data={"image/png": "iVBORw0KGgo="})


def plotly() -> nbformat.NotebookNode:
    return nbformat.v4.new_output("display_data", data={"application/vnd.plotly.v1+json": {"data": [], "layout": {}}})


def stderr() -> nbformat.NotebookNode:
    return nbformat.v4.new_output("stream", name="stderr", text="FutureWarning: soon\n")


@pytest.mark.parametrize(
    ("output", "tag", "kind"),
    [
        (error, "raises-exception", "error"),
        (stderr, "stderr", "stderr"),
        (picture, "remove-output", "alt"),
        (plotly, "remove-output", "static"),
    ],
)
def test_what_a_page_must_not_show_unsaid(output: Callable[[], nbformat.NotebookNode], tag: str, kind: str) -> None:
    for tags, expected in (((), [kind]), ((tag,), [])):
        cells = code("a", tags=tags), code("a", tags=tags)
        cells[1].outputs = [output()]
        _, warnings = merged(notebook(cells[0]), notebook(cells[1]))
        assert [warning_kind for warning_kind, _, _ in warnings] == expected


# A book with a chapter, whose site several tests look at.

GLUE = """\
from torchbook import glue
glue('answer', 6 * 7)
glue('size', 5000, ',')
glue('gain', 3.4, '+.2f')"""
PREDICT = (
    ":::{predict} Is it `42`, as on {doc}`page <index>`?\n"
    "- [x] yes, see {doc}`the start <index>`\n- [ ] no\n\nCounted.\n:::"
)


@dataclass(frozen=True)
class Built:
    """A book that was built twice: all of it, and without its page `gone`; what `torchbook book` said, in turn."""

    book: Book
    before: set[str]
    said: tuple[str, str]

    @property
    def site(self) -> Path:
        return self.book.root / "_build" / "html"

    @property
    def page(self) -> str:
        """The chapter as the reader sees its numbers."""
        return self.book.html("one").replace('<span class="pasted-text">', "").replace("</span>", "")

    @property
    def notebook(self) -> nbformat.NotebookNode:
        return nbformat.read(self.site / "notebooks/book/one.ipynb", as_version=4)


def files(book: Book, name: str) -> set[str]:
    """What the built site has of a page."""
    return {path.name for path in (book.root / "_build/html").rglob("*.*") if path.stem == name}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Built:
    book = small_book(tmp_path_factory.mktemp("built"), repo)
    book.page("runs", "# Runs\n\n```{provenance}\n```\n")
    prose = "It is {glue:text}`answer`, {glue:text}`size`, {glue:text}`gain`; see {doc}`the front page <index>`."
    path = book.chapter("one", prose, PREDICT, cell(GLUE), cell("'shown'"), "$x^2$")
    path.write_text(path.read_text().replace("  minutes:", "  packages: [gymnasium]\n  minutes:"), encoding="utf-8")
    book.chapter("gone", cell("1"))
    first = book.typed("book")
    assert first.returncode == 0, first.stdout + first.stderr
    before = files(book, "gone")
    book.toc.write_text(book.toc.read_text().replace("- file: book/gone\n", ""))
    second = book.torchbook("book")
    assert second.exit_code == 0, second.output
    return Built(book, before, (first.stdout, second.stdout))


def test_a_page_says_where_its_numbers_come_from(built: Built) -> None:
    for phrase in ("Every output on this page comes from one run", "Counts.", "CPU lane", "shown"):
        assert phrase in built.page
    assert 'href="one.html"' in built.book.html("runs")


def test_a_question_and_its_options_may_lead_to_other_pages(built: Built) -> None:
    question, options = built.page.partition("<fieldset")[2].partition("</legend>")[::2]
    assert 'href="index.html"' in question
    assert 'href="index.html"' in options.partition("</label>")[0]


def test_a_page_taken_out_of_the_book_is_taken_out_of_the_site(built: Built) -> None:
    assert (built.before, files(built.book, "gone")) == ({"gone.html", "gone.ipynb", "gone.md"}, set())
    assert files(built.book, "one") == {"one.html", "one.ipynb", "one.md"}


def test_nothing_to_do_is_said_and_nothing_runs(built: Built) -> None:
    first, second = built.said
    assert "0 up to date, 0 from kept runs, 2 ran, 0 failed" in first
    assert "1 up to date, 0 from kept runs, 0 ran, 0 failed" in second


def test_page_and_notebook_show_numbers_as_they_were_formatted(built: Built) -> None:
    """The page's reader takes a bare 5,000 for a tuple and drops a sign."""
    assert "It is 42, 5,000, +3.40" in built.page
    assert any("It is 42, 5,000, +3.40" in c.source for c in built.notebook.cells)


def test_published_notebook_installs_the_packages_of_its_contract(built: Built) -> None:
    assert 'if "gymnasium" not in there:\n    %pip install -q "gymnasium"' in built.notebook.cells[0].source


def test_published_notebook_is_clean(built: Built) -> None:
    nb = built.notebook
    nbformat.validate(nb)
    assert nb.cells[0].source.count("torchbook") >= 2
    assert "%pip install" in nb.cells[0].source
    assert "torch " not in nb.cells[0].source.replace("torch is", "").replace("torchbook ", "")
    assert all(not c.get("outputs") for c in nb.cells)
    text = "\n".join(c.source for c in nb.cells if c.cell_type == "markdown")
    assert "; see [the front page](" in text
    assert "**Predict: Is it `42`, as on [page](" in text
    assert "{" not in text.replace("{#", "")
    assert json.dumps(nb.metadata["kernelspec"]["language"]) == '"python"'


def test_launch_buttons_point_at_the_published_notebook(built: Built) -> None:
    html = built.book.html("one")
    assert "colab.research.google.com/github/" in html
    assert "/blob/notebooks/notebooks/book/one.ipynb" in html
    assert "urlpath=lab/tree/notebooks/book/one.ipynb" in html
    assert 'href="../notebooks/book/one.ipynb"' in html
    assert "/edit/main/book/one.md" in html


@pytest.mark.filterwarnings("default")  # the theme's own calls of docutils
def test_plain_sphinx_builds_the_book(built: Built, tmp_path: Path) -> None:
    """The way out of Jupyter Book: the same pages from `sphinx-build` and the installed extension alone."""
    root = built.book.root
    text = build.sphinx_conf(root)
    assert "'jupyter_book'" not in text
    (tmp_path / "conf.py").write_text(text)
    assert (
        sphinx(["-n", "-W", "--keep-going", "-b", "html", "-c", str(tmp_path), str(root), str(tmp_path / "html")]) == 0
    )
    assert "shown" in (tmp_path / "html" / "book" / "one.html").read_text()


# A book that must not be built.


MISTAKES = """\
# Mistakes

(twice)=
## Here

See {doc}`nowhere`.

See {numref}`zzz`.

See [it](missing.md).

See ![](here.png) and
![a plot](nowhere.png).

:::{predict} Is it?
- [ ] yes
- [ ] no

It is not.
:::
"""


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Book:
    """A page whose executed notebook is of other code, one that never ran, and mistakes in prose and glue."""
    book = small_book(tmp_path_factory.mktemp("broken"), repo)
    book.page("mistakes", MISTAKES)
    shutil.copy(repo / ".github/screenshot.png", book.root / "book/here.png")
    book.page("more", "# More\n\n(twice)=\n## There\n\nText.\n")
    glue = cell("from torchbook import glue\nglue('answer', 1)"), cell("glue('answer', 2)")
    loud = cell("import os, time\nos.system('echo loud >&2')\ntime.sleep(0.5)  # its reader is a thread")
    book.chapter("glued", "It is {glue:text}`nothing`, and {glue:text}`answer`.", *glue, loud)
    book.chapter("one", "Text.", cell("6 * 7"))
    assert book.torchbook("run").exit_code == 0
    source = book.root / "book" / "one.md"
    source.write_text(source.read_text().replace("6 * 7", "6 * 8"))
    book.chapter("never", "It is {glue:text}`unknown`.", cell("1"))
    (book.root / "book/rows.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    book.page("pictures", "# Pictures\n\nBefore.\n\n![](rows.svg)\n\n![Two rows.](rows.svg)\n")
    return book


@pytest.fixture(scope="module")
def refusals(broken: Book) -> list[str]:
    """What two builds in a row say: Sphinx alone would forget the warnings of pages that have not changed."""
    done = [broken.printed() for _ in range(2)]
    assert all(completed.returncode for completed in done)
    return [completed.stdout + completed.stderr for completed in done]


def test_of_a_page_that_never_ran_that_is_said_and_not_each_value_that_it_lacks(refusals: list[str]) -> None:
    assert "No key 'unknown'" not in refusals[0]


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize(
    "complaint",
    [
        "book/one.md:23: WARNING: not the code that papermill ran",
        "never run: `torchbook run never` makes its outputs",
        "book/pictures.md:5: WARNING: rows.svg has no words for those who do not see it: write ![its words](rows.svg)",
        "book/glued.md:34: WARNING: wrote to stderr (loud); mend it, or tag it [stderr]",
        "book/glued.md:30: WARNING: glue key 'answer' duplicate",
        "book/glued.md:21: WARNING: No key 'nothing' found in glue data",
        "book/more.md:4: WARNING: duplicate label twice, other instance in",
        "book/mistakes.md:6: WARNING: unknown document: 'nowhere'",
        "book/mistakes.md:8: WARNING: undefined label: 'zzz'",
        "book/mistakes.md:10: WARNING: 'myst' cross-reference target not found: 'missing.md'",
        "book/mistakes.md:12: WARNING: here.png has no words for those who do not see it: write ![its words](here.png)",
        "book/mistakes.md:12: WARNING: image file not readable: book/nowhere.png",
        "book/mistakes.md:15: ERROR: two or more options are needed, exactly one of them '- [x]'",
    ],
)
def test_a_page_that_must_not_be_printed_fails_the_build_every_time(
    refusals: list[str], complaint: str, turn: int
) -> None:
    assert complaint in refusals[turn]


def test_a_picture_without_words_is_complained_of_once(refusals: list[str]) -> None:
    assert [said.count("book/pictures.md:5: WARNING") for said in refusals] == [1, 1]


def test_a_page_that_must_not_be_printed_is_complained_of_without_a_traceback(refusals: list[str]) -> None:
    assert [said for said in refusals if "Traceback" in said] == []


def test_outputs_of_other_code_are_not_shown(broken: Book, refusals: list[str]) -> None:
    page = build.Work(broken.root).html / "book/one.html"
    assert ">42<" not in page.read_text(encoding="utf-8")
    assert not (broken.root / "_build/html").exists()


def test_a_failing_chapter_stops_the_book_before_the_site(book: Book) -> None:
    book.chapter("one", cell("1 / 0"))
    assert book.torchbook("book").exit_code == 1
    assert not (book.root / "_build" / "html").exists()


# A book that is being written.


def fetch(url: str) -> str:
    """The page, once the server listens."""
    retry = urllib3.Retry(total=20, backoff_factor=0.1)
    return urllib3.PoolManager(retries=retry).request("GET", url).data.decode()


def test_saved_prose_is_on_the_served_page(book: Book) -> None:
    path = book.chapter("one", "Old prose.", cell("1"))
    book.torchbook("run")
    command = [sys.executable, "-u", "-m", "torchbook", "serve", "--port", "0", "--root", str(book.root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            assert server.stdout
            lines = iter(server.stdout)
            announcement = next(line for line in lines if "Serving on" in line)
            address = re.search(r"http://[\d.:]+", announcement)
            assert address
            url = f"{address[0]}/book/one.html"
            assert "Old prose." in fetch(url)
            path.write_text(path.read_text().replace("Old prose.", "New prose."))
            next(line for line in lines if "build succeeded" in line)
            assert "New prose." in fetch(url)
        finally:
            server.terminate()
        assert server.wait(timeout=20) is not None
        with pytest.raises(urllib3.exceptions.HTTPError):  # nothing is left behind that serves
            urllib3.PoolManager(retries=False).request("GET", url)


def test_a_chapter_that_could_not_run_is_printed_without_outputs_and_says_so(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_compiler(book, monkeypatch)
    assert book.torchbook("book").exit_code == 0
    page = book.html("kernels")
    assert "This chapter was not run in this build" in page
    assert "The answer is (not computed)." in page
    assert "42" not in page
