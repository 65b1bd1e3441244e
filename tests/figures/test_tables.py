"""A table says the same as HTML and as text."""

from __future__ import annotations

import re

import pytest

from torchbook.tables import table

ROWS = [{"model": "a < b", "error": 0.5}, {"model": "c", "error": "none"}]


def test_html_has_a_head_and_names_each_row() -> None:
    html = table(ROWS, "errors")._repr_html_()
    assert re.findall(r'<th scope="col">(.*?)</th>', html) == ["model", "error"]
    assert re.findall(r'<th scope="row">(.*?)</th>', html) == ["a &lt; b", "c"]
    assert re.findall(r"<td>(.*?)</td>", html) == ["0.5", "none"]


def test_html_says_what_it_shows() -> None:
    assert "<caption>errors, in %</caption>" in table(ROWS, "errors, in %")._repr_html_()


def test_text_has_aligned_columns() -> None:
    assert repr(table(ROWS, "errors")).splitlines() == ["errors", "model  error", "a < b  0.5", "c      none"]


def test_no_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one row"):
        table([], "empty")


def test_rows_with_other_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="row 1 has the columns"):
        table([{"a": 1}, {"b": 2}], "mixed")
