"""From executed notebooks to pages: a page shows what ran, or the build fails and says where."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
import urllib3

from torchbook.press import build
from torchbook.press.site.reader import merge

from .conftest import Book, cell

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
        assert [found for found, _, _ in warnings] == expected


def test_book_builds_and_says_where_its_numbers_come_from(book: Book) -> None:
    book.page("runs", "# Runs\n\n```{provenance}\n```\n")
    glue = "from torchbook import glue\nglue('answer', 6 * 7)\n'shown'"
    book.chapter("one", "The answer is {glue:text}`answer`.", cell(glue), "$x^2$")
    done = book.torchbook("book")
    assert done.returncode == 0, done.stdout + done.stderr
    html = book.html("one")
    assert "The answer is 42" in html.replace('<span class="pasted-text">', "").replace("</span>", "")
    assert "Every output on this page comes from one run" in html
    assert "Counts." in html
    assert "CPU lane" in html
    assert 'href="one.html"' in book.html("runs")


def test_a_page_taken_out_of_the_book_is_taken_out_of_the_site(book: Book) -> None:
    book.chapter("one", cell("1"))
    book.chapter("two", cell("2"))
    assert book.torchbook("book").returncode == 0
    book.toc.write_text(book.toc.read_text().replace("- file: book/two\n", ""))
    assert book.torchbook("book").returncode == 0
    left = {path.name for path in (book.root / "_build/html").rglob("*.*") if path.stem in ("one", "two")}
    assert left == {"one.html", "one.ipynb", "one.md"}


def test_nothing_to_do_is_said_and_nothing_runs(book: Book) -> None:
    book.chapter("one", cell("1"))
    book.torchbook("book")
    assert "0 ran, 1 up to date, 0 failed" in book.torchbook("book").stdout


def test_corrupted_source_of_an_output_fails_the_build_and_names_the_line_every_time(book: Book) -> None:
    book.chapter("one", "Text.", cell("6 * 7"))
    book.torchbook("run")
    executed = book.executed("one")
    executed.write_text(executed.read_text().replace("6 * 7", "6 * 8"))
    for _ in range(2):  # Sphinx alone would forget the warning of a page that has not changed
        done = book.torchbook("book")
        assert done.returncode != 0
        assert "book/one.md:23: WARNING: not the code that papermill ran" in done.stdout + done.stderr
    assert ">42<" not in book.html("one")


def test_page_that_never_ran_fails_the_build(book: Book) -> None:
    book.chapter("one", cell("1"))
    done = subprocess.run([sys.executable, "-c", f"import sys; sys.exit({_HTML})"], cwd=book.root, **_CAUGHT)
    assert done.returncode != 0
    assert "never run: `torchbook run` makes its outputs" in done.stdout + done.stderr


_HTML = "__import__('torchbook.press.build', fromlist=['x']).html(__import__('pathlib').Path('.').resolve())"
_CAUGHT = {"capture_output": True, "text": True, "timeout": 120}


def test_a_failing_chapter_stops_the_book_before_the_site(book: Book) -> None:
    book.chapter("one", cell("1 / 0"))
    assert book.torchbook("book").returncode == 1
    assert not (book.root / "_build" / "html").exists()


def test_plain_sphinx_builds_the_book(book: Book, tmp_path: Path) -> None:
    """The way out of Jupyter Book: the same pages from `sphinx-build` and the installed extension alone."""
    book.chapter("one", cell("'from papermill'"), "$x^2$", ":::{note}\nA note.\n:::")
    book.torchbook("run")
    conf = tmp_path / "conf"
    conf.mkdir()
    text = build.sphinx_conf(book.root)
    assert "'jupyter_book'" not in text
    (conf / "conf.py").write_text(text)
    command = [sys.executable, "-m", "sphinx", "-n", "-W", "--keep-going", "-b", "html", "-c", str(conf)]
    done = subprocess.run([*command, str(book.root), str(tmp_path / "html")], **_CAUGHT)
    assert done.returncode == 0, done.stderr
    assert "from papermill" in (tmp_path / "html" / "book" / "one.html").read_text()


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
            said = next(line for line in lines if "Serving on" in line)
            address = re.search(r"http://[\d.:]+", said)
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


def test_page_and_notebook_show_numbers_as_they_were_formatted(book: Book) -> None:
    """The page's reader takes a bare 5,000 for a tuple and drops a sign."""
    glue = "from torchbook import glue\nglue('size', 5000, ',')\nglue('gain', 3.4, '+.2f')"
    book.chapter("one", "It has {glue:text}`size`, {glue:text}`gain`.", cell(glue))
    assert book.torchbook("book").returncode == 0
    html = (book.root / "_build/html/book/one.html").read_text(encoding="utf-8")
    assert "It has 5,000, +3.40." in html.replace('<span class="pasted-text">', "").replace("</span>", "")
    nb = nbformat.read(book.root / "_build/html/notebooks/book/one.ipynb", as_version=4)
    assert any("It has 5,000, +3.40." in c.source for c in nb.cells)


def test_published_notebook_installs_the_packages_of_its_contract(book: Book) -> None:
    path = book.chapter("one", cell("1 + 1"))
    path.write_text(path.read_text().replace("  minutes:", "  packages: [gymnasium]\n  minutes:"), encoding="utf-8")
    assert book.torchbook("book").returncode == 0
    nb = nbformat.read(book.root / "_build/html/notebooks/book/one.ipynb", as_version=4)
    assert 'if "gymnasium" not in there:\n    %pip install -q "gymnasium"' in nb.cells[0].source


def test_published_notebook_is_clean(book: Book) -> None:
    glue = "from torchbook import glue\nglue('answer', 6 * 7)"
    predict = ":::{predict} Is it `42`?\n- [x] yes\n- [ ] no\n\nCounted.\n:::"
    book.chapter("one", "It is {glue:text}`answer`; see {doc}`the front page <index>`.", predict, cell(glue))
    assert book.torchbook("book").returncode == 0
    nb = nbformat.read(book.root / "_build/html/notebooks/book/one.ipynb", as_version=4)
    nbformat.validate(nb)
    assert nb.cells[0].source.count("torchbook") >= 2
    assert "%pip install" in nb.cells[0].source
    assert "torch " not in nb.cells[0].source.replace("torch is", "").replace("torchbook ", "")
    assert all(not c.get("outputs") for c in nb.cells)
    text = "\n".join(c.source for c in nb.cells if c.cell_type == "markdown")
    assert "It is 42; see [the front page](" in text
    assert "**Predict: Is it `42`?**" in text
    assert "{" not in text.replace("{#", "")
    assert json.dumps(nb.metadata["kernelspec"]["language"]) == '"python"'


def test_launch_buttons_point_at_the_published_notebook(book: Book) -> None:
    book.chapter("one", cell("1"))
    assert book.torchbook("book").returncode == 0
    html = book.html("one")
    assert "colab.research.google.com/github/" in html
    assert "/blob/notebooks/notebooks/book/one.ipynb" in html
    assert "urlpath=lab/tree/notebooks/book/one.ipynb" in html
    assert 'href="../notebooks/book/one.ipynb"' in html
    assert "/edit/main/book/one.md" in html
