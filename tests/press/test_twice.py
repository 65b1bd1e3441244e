"""A second run gives the same, or says which cell does not."""

from __future__ import annotations

import pytest
from typer.testing import Result

from .conftest import Book, cell


@pytest.fixture
def done(book: Book) -> Result:
    book.chapter("same", cell("6 * 7"), cell("object()"))
    book.chapter(
        "other",
        cell("import random; random.random()", "varies"),
        cell("1 + 1"),
        cell("import tempfile; 1 < 2, tempfile.mkdtemp()"),
    )
    return book.torchbook("run", "--twice")


def test_a_cell_that_differs_is_named(done: Result) -> None:
    lines = [line for line in done.stderr.splitlines() if "error" in line]
    assert len(lines) == 1
    assert lines[0].startswith("error book/other.md:34: cell 4: ")
    assert "the first time" in lines[0]


def test_the_command_fails_and_counts(done: Result) -> None:
    assert done.exit_code == 1
    assert "2 ran twice, 1 cells differ, 0 failed" in done.stdout
