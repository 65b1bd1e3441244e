"""The accessibility statement: each claim names tests that are there, or says that nothing was tested."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "book/appendix/accessibility.md"
TESTS = PAGE.parents[2] / "tests"
_NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")
_ITEM = re.compile(r"^- \*\*(\d\.\d\.\d+.*?)\*\*(.*?)(?=^- \*\*|^## |\Z)", re.MULTILINE | re.DOTALL)
# What the book has nothing of, so that there is nothing to test.
_NOTHING = ("There is no", "No field", "Nothing has", "Nothing reacts", "There is nothing", "All is in English")
# Levels A and AA of WCAG 2.2; 4.1.1 is no criterion any more.
CRITERIA = """
1.1.1 1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.3.1 1.3.2 1.3.3 1.3.4 1.3.5 1.4.1 1.4.2 1.4.3 1.4.4 1.4.5 1.4.10 1.4.11 1.4.12
1.4.13 2.1.1 2.1.2 2.1.4 2.2.1 2.2.2 2.3.1 2.4.1 2.4.2 2.4.3 2.4.4 2.4.5 2.4.6 2.4.7 2.4.11
2.5.1 2.5.2 2.5.3 2.5.4 2.5.7 2.5.8
3.1.1 3.1.2 3.2.1 3.2.2 3.2.3 3.2.4 3.2.6 3.3.1 3.3.2 3.3.3 3.3.4 3.3.7 3.3.8 4.1.2 4.1.3
"""

TEXT = PAGE.read_text(encoding="utf-8")
ITEMS = dict(_ITEM.findall(TEXT))


@pytest.mark.parametrize(("file", "name"), sorted(set(_NAMED.findall(TEXT))))
def test_a_test_that_is_named_is_there(file: str, name: str) -> None:
    assert f"def {name}(" in (TESTS / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("item", ITEMS)
def test_a_claim_is_shown_or_says_that_it_was_not_tested(item: str) -> None:
    claim = " ".join(ITEMS[item].split())
    assert _NAMED.search(claim) or "ot tested*" in claim or claim.startswith(_NOTHING)


def test_every_criterion_has_a_line() -> None:
    named = " ".join(ITEMS).replace("1.2.1 to 1.2.5", "1.2.1 1.2.2 1.2.3 1.2.4 1.2.5")
    assert set(CRITERIA.split()) == set(re.findall(r"\d\.\d\.\d+", named))
