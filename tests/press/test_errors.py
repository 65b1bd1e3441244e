"""Cells that raise say what, and raise exactly that."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from rich.console import Console

from torchbook_press import errors
from torchbook_press import run as press
from torchbook_press.chapters import ChapterError, chapters
from torchbook_press.run import Options

from .conftest import Book, cell


def code(*outputs: Any, count: int | None = 1, **metadata: Any) -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell("x", outputs=list(outputs), execution_count=count, metadata=metadata)


def error(name: str, message: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_output("error", ename=name, evalue=message, traceback=[])


TAGGED = {"tags": ["raises-exception"]}
MISMATCH = error("RuntimeError", "The size of tensor a (3) must match")


@pytest.mark.parametrize(
    ("ran", "complaint"),
    [
        (code(), ""),
        (code(MISMATCH), "RuntimeError: The size of tensor a (3) must match"),
        (code(MISMATCH, **TAGGED, raises="RuntimeError"), ""),
        (code(MISMATCH, **TAGGED, raises="RuntimeError: size of tensor a"), ""),
        (
            code(MISMATCH, **TAGGED, raises="RuntimeError: no grad"),
            "raised RuntimeError without the words 'no grad': The size of tensor a (3) must match",
        ),
        (
            code(MISMATCH, **TAGGED, raises="KeyError"),
            "raised RuntimeError, not KeyError: The size of tensor a (3) must match",
        ),
        (code(**TAGGED, raises="KeyError"), "raised nothing, and is tagged raises-exception"),
        (code(count=None, tags=["raises-exception", "gpu-only"], raises="KeyError"), ""),
        (
            code(tags=["raises-exception", "gpu-only"], raises="KeyError"),
            "raised nothing, and is tagged raises-exception",
        ),
    ],
    ids=[
        "well",
        "untagged",
        "as named",
        "its words",
        "other words",
        "other error",
        "none",
        "left out",
        "none on a GPU",
    ],
)
def test_a_cell_ends_as_its_source_says(ran: nbformat.NotebookNode, complaint: str) -> None:
    assert errors.complaint(ran, ran) == complaint


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        (TAGGED, "tagged raises-exception without saying what it raises"),
        ({"raises": "KeyError"}, "`:raises:` needs the tag raises-exception"),
        ({**TAGGED, "raises": ["KeyError"]}, "tagged raises-exception without saying what it raises"),
        ({**TAGGED, "raises": "KeyError"}, ""),
        ({}, ""),
    ],
    ids=["no name", "no tag", "no text", "both", "neither"],
)
def test_a_source_names_its_errors(metadata: dict[str, Any], problem: str) -> None:
    assert errors.unnamed(code(**metadata)).startswith(problem)
    assert bool(errors.unnamed(code(**metadata))) == bool(problem)


def test_a_chapter_that_does_not_is_refused_before_it_runs(book: Book) -> None:
    book.chapter("one", cell("1"), cell("{}[1]", "raises-exception"))
    with pytest.raises(ChapterError, match=r"^book/one\.md:27: cell 3: tagged raises-exception without"):
        [chapter.notebook for chapter in chapters(book.root)]


def test_a_run_fails_where_a_cell_raises_nothing(book: Book) -> None:
    book.chapter("one", cell("{}", raises="KeyError"))
    report = press.run(chapters(book.root), Options(backend="threading"), Console(quiet=True))
    assert [str(failure) for failure in report.failed] == [
        "book/one.md:22: cell 2: raised nothing, and is tagged raises-exception"
    ]
    assert not book.executed("one").exists()


def test_the_option_is_read(book: Book) -> None:
    book.chapter("one", cell("{}[1]", raises="KeyError"))
    (chapter,) = chapters(book.root)
    assert chapter.code_cells[1].metadata == {"tags": ["raises-exception"], "raises": "KeyError"}
