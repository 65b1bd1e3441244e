"""Checks at the end of a cell, folded on the page."""

from __future__ import annotations

import pytest

from torchbook_press.site.checks import split, summary


@pytest.mark.parametrize(
    ("source", "shown", "checks"),
    [
        ("x = 1\nassert x", "x = 1", "assert x"),
        ("x = 1\n\n# so it is\nassert x\nglue('x', x)", "x = 1", "# so it is\nassert x\nglue('x', x)"),
        ("assert True", "", "assert True"),
        ("assert True\nx = 1", "assert True\nx = 1", ""),
        ("x\nfor y in z:\n    assert y", "x", "for y in z:\n    assert y"),
        ("x\nfor y in z:\n    assert y\n    print(y)", "x\nfor y in z:\n    assert y\n    print(y)", ""),
        ("x\nif y:\n    assert x", "x", "if y:\n    assert x"),
        ("x\nif y:\n    assert x\nelse:\n    y = x", "x\nif y:\n    assert x\nelse:\n    y = x", ""),
        ("x\ntorch.testing.assert_close(x, y)", "x", "torch.testing.assert_close(x, y)"),
        ("x = 1\nassert x\n\nx", "x = 1\nx", "assert x"),
        ("x = 1\nx", "x = 1\nx", ""),
        ("!ls\nassert True", "!ls\nassert True", ""),
    ],
)
def test_a_cell_is_cut_before_its_last_checks(source: str, shown: str, checks: str) -> None:
    assert split(source) == (shown, checks)


@pytest.mark.parametrize(
    ("checks", "said"),
    [
        ("assert x", "1 check"),
        ("assert x\nholds('a', 1)\nfor y in z:\n    assert y", "3 checks"),
        ("assert x\nglue('x', x)", "1 check and 1 number for the text"),
        ("glue('x', x)\nglue('y', y)", "2 numbers for the text"),
    ],
)
def test_the_line_counts_them(checks: str, said: str) -> None:
    assert summary(checks) == said
