"""Sentences that rest on what a cell measured, on the page, on paper and in the notebook."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest
from docutils import nodes

from tests.press.conftest import Book, cell, small_book
from torchbook_press import evidence
from torchbook_press.site import checks
from torchbook_press.site.evidence import disagreeing

HOLDS = "from torchbook import holds\n"


def record(**changes: object) -> nbformat.NotebookNode:
    """A record as `holds` leaves it."""
    usual = {"name": "it", "value": "2", "relation": ">", "bound": "1", "held": True, "timed": False, "tries": 1}
    return nbformat.v4.new_output(
        "display_data", data={}, metadata={evidence.KEY: usual | {"notices": [], "numbers": [2.0, 1.0]} | changes}
    )


def of(*outputs: nbformat.NotebookNode, **options: str) -> list[evidence.Evidence]:
    code = nbformat.v4.new_code_cell("1", metadata=options)
    return list(evidence.of_cell(code, outputs, 0))


def test_a_record_says_what_was_measured() -> None:
    assert of(record()) == [evidence.Evidence("it", 0, "2 > 1", numbers=(2.0, 1.0))]


def test_a_repeated_measurement_is_said() -> None:
    assert of(record(tries=2, notices=["stand-in data"]))[0].notes == ("in the second measurement", "stand-in data")


def test_an_error_is_evidence_where_its_cell_names_it() -> None:
    error = nbformat.v4.new_output("error", ename="RuntimeError", evalue="no  view", traceback=[])
    assert of(error, evidence="refused") == [evidence.Evidence("refused", 0, "RuntimeError: no view")]
    assert of(error) == []


def test_what_did_not_hold_is_listed() -> None:
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", outputs=[record(), record(held=False)])])
    assert evidence.unheld(json.dumps(nb)) == ["it: 2 > 1"]


@pytest.mark.parametrize(
    ("words", "numbers", "wrong"),
    [
        ("faster", (1.83,), ""),
        ("1.8 times faster", (1.83, 1.2), ""),
        ("1.9 times faster", (1.83, 1.2), "1.9"),
        ("more than 1.2 times", (1.83, 1.2), ""),
        ("12,345 bytes", (12345.0,), ""),
        ("12,346 bytes", (12345.0,), "12,346"),
        ("91 % right", (0.914,), ""),
        ("float32 is exact", (1.0,), ""),
        ("3 of them", (), ""),
    ],
)
def test_numbers_in_words_are_those_of_their_evidence(words: str, numbers: tuple[float, ...], wrong: str) -> None:
    assert disagreeing(words, numbers) == wrong


# On small books: run, then printed.


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Book:
    """A book whose sentences rest on something, run and printed."""
    book = small_book(tmp_path_factory.mktemp("good"), repo)
    measured = cell(f"{HOLDS}x = 2\nprint(x)\nholds('more', x, '>', 1, unit=' apples')\nassert x == 2")
    book.chapter("measured", "Two is {holds}``more than `one` <more>``.", measured)
    book.chapter(
        "timed", "It is {holds}`faster <speed>`.", cell(f"{HOLDS}holds('speed', lambda: 1.1, '>', 1.2, unit='×')")
    )
    book.chapter("cited", "It is {cited}`invariant <adam>`.", cell("1 + 1"))
    (book.root / "book" / "sources.yml").write_text(
        "adam:\n  title: Adam\n  date: '2014-12-22'\n  url: https://example.org/adam\n  quote: invariant\n"
    )
    done = book.typed("book")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "book/timed.md: did not hold in this run: speed: 1.1× > 1.2×" in " ".join(done.stderr.split())
    return book


def test_words_are_marked_and_listed_with_what_they_rest_on(good: Book) -> None:
    html = good.html("measured")
    mark = re.search(r'<a class="holds" id="mark-1" data-n="1" href="#(holds-\d+)">(.*?)</a>', html)
    assert mark is not None
    assert '<span class="pre">one</span>' in mark[2]
    assert '<span class="holds">' not in html
    assert f'id="{mark[1]}"' in html
    entry = re.search(r'<li id="evidence-1">(.*?)</li>', html)
    assert entry is not None
    assert "2 apples &gt; 1 apples, <a href=" in entry[1]


def test_a_notebook_has_the_words_alone(good: Book) -> None:
    notebook = json.loads(next(good.root.glob("_build/html/notebooks/**/measured.ipynb")).read_text())
    assert "Two is more than `one`." in "".join("".join(each["source"]) for each in notebook["cells"])


def test_checks_at_the_end_of_a_cell_are_folded(good: Book) -> None:
    html = good.html("measured")
    assert "<summary>2 checks</summary>" in html
    assert html.index("print") < html.index("<summary>2 checks</summary>") < html.index("assert")


def test_the_set_up_of_a_page_is_folded(good: Book) -> None:
    html = good.html("measured")
    (folded,) = re.findall(r"<summary>Set-up of this page</summary>(.*?)</details>", html, flags=re.DOTALL)
    assert "SEED" in folded
    assert "print" not in folded


FRAMES = """---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
Cell In[1], line 2
      1 # RuntimeError: none here
----> 2 x.view(6)"""
MESSAGE = "RuntimeError: no view\n\tof these strides"


def test_an_error_shows_its_message_and_folds_its_frames() -> None:
    page = nodes.section("", nodes.literal_block("", f"{FRAMES}\n\n{MESSAGE}", classes=["output", "traceback"]))
    checks.fold_frames(page)
    message, opening, frames, _ = page.children
    assert (message.astext(), frames.astext()) == (MESSAGE, FRAMES)
    assert "<summary>Traceback</summary>" in opening.astext()


def test_a_syntax_error_is_shown_whole() -> None:
    text = "  Cell In[1], line 1\n    x = = 1\nSyntaxError: invalid syntax"
    assert checks.split_traceback(text) == ("", text)


def test_the_line_of_the_set_up_names_what_the_run_was_given_instead() -> None:
    cell = nodes.container(
        "", nodes.literal_block("", 'DEVICE = "auto"\nFAST = False\nSEED = 0'), nb_element="cell_code"
    )
    cell["classes"].append("tag_parameters")
    page = nodes.section("", cell)
    checks.fold_set_up(page, {"DEVICE": "cpu", "FAST": True, "SEED": 0})
    assert "<summary>Set-up of this page (run here with FAST = True)</summary>" in page[0].astext()


def test_a_time_that_did_not_hold_is_said_beside_its_words(good: Book) -> None:
    assert "(did not hold in this run: 1.1× &gt; 1.2×)" in good.html("timed")


def test_a_strict_run_runs_it_again_and_fails(good: Book) -> None:
    done = good.typed("run", "timed", "--strict")
    assert done.returncode == 1
    assert "speed: 1.1× > 1.2× does not hold" in " ".join((done.stdout + done.stderr).split())


def test_a_source_is_named(good: Book) -> None:
    html = good.html("cited")
    assert '<a class="cited" id="mark-1" data-n="1" href="https://example.org/adam">' in html
    assert "“invariant” " in html


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> str:
    """What is said of a book none of whose pages is right."""
    book = small_book(tmp_path_factory.mktemp("bad"), repo)
    more = cell(f"{HOLDS}holds('more', 2, '>', 1)")
    book.chapter("without", "It is {holds}`faster <speed>`.", cell("1 + 1"))
    book.chapter("unused", more)
    book.chapter("twice", "It is {holds}`more <more>`.", more, more)
    book.chapter("removed", "It is {holds}`more <more>`.", cell(f"{HOLDS}holds('more', 2, '>', 1)", "remove-cell"))
    book.chapter("number", "It is {holds}`3 times more <more>`.", more)
    book.chapter("unnamed", "It is {holds}`more`.", cell("1 + 1"))
    book.chapter("unknown", "{cited}`So <adam>`.", cell("1 + 1"))
    done = book.typed("book")
    assert done.returncode == 1
    return " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("without", "no cell gives the evidence 'speed'"),
        ("unused", "no sentence uses the evidence 'more'"),
        ("twice", "the evidence 'more' is given twice, first at line"),
        ("removed", "no sentence can lead to the evidence 'more': its cell is removed"),
        ("number", "the text says 3, and 'more' is 2 > 1"),
        ("unnamed", "name what the words rest on: {holds}`words <name>`"),
        ("unknown", "no source 'adam' in book/sources.yml"),
    ],
)
def test_a_page_that_does_not_hold_fails_with_file_and_line(said: str, page: str, complaint: str) -> None:
    assert re.search(rf"book/{page}\.md:\d+: WARNING: {re.escape(complaint)}", said), said


def test_naming_a_cell_that_does_not_raise_fails(book: Book) -> None:
    book.chapter("claims", "\n```{code-cell} ipython3\n:evidence: it\n\n1 + 1\n```\n")
    done = book.torchbook("run")
    assert done.exit_code == 2
    assert "needs the tag raises-exception" in " ".join(done.output.split())
