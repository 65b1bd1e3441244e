"""`make check` looks at the rooms that a change touches."""

from __future__ import annotations

import pytest

from tests.touched import ALWAYS, selection


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("torchbook/data/fashion.py", {"tests/data/test_fashion.py"}),
        ("torchbook/data/new.py", {"tests/data"}),
        ("torchbook_press/chapters.py", {"tests/press/test_chapters.py"}),
        ("torchbook_proofs/store.py", {"tests/proofs/test_store.py"}),
        ("torchbook/practice/harness.py", {"tests/practice/test_harness.py"}),
        ("exercises/p01/x3-manual-indexing/checks.py", {"tests/exercises"}),
        ("tests/data/test_cache.py", {"tests/data/test_cache.py"}),
        ("tests/data/conftest.py", {"tests/data"}),
        (".github/workflows/cpu.yml", {"tests/test_workflows.py"}),
        ("README.md", set()),
    ],
)
def test_a_file_leads_to_the_tests_of_its_room(path: str, tests: set[str]) -> None:
    assert set(selection([path])) == tests | set(ALWAYS)


def test_what_a_folder_holds_is_not_named_again() -> None:
    paths = ["torchbook/data/new.py", "torchbook/data/fashion.py"]
    assert set(selection(paths)) == {"tests/data", *ALWAYS}
