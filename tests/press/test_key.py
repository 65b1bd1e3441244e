"""What is known before a run changes its key where an output depends on it, and nowhere else.

What the run reads is in `tests/proofs/test_runs.py`.
"""

from pathlib import Path

import pytest

from torchbook import data
from torchbook_press.chapters import chapters
from torchbook_press.key import declared, run_key

from .conftest import Book, cell

PARAMETERS = {"DEVICE": "cpu", "FAST": False, "SEED": 0}


def key(book: Book, parameters: dict[str, object] = PARAMETERS, lane: str = "cpu") -> str:
    (chapter,) = chapters(book.root)
    return run_key(declared(chapter, parameters, lane))


@pytest.fixture
def source(book: Book) -> Path:
    return book.chapter("one", "Prose.", cell("1 + 1", "hide-input"))


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [("Prose.", "Other prose."), ("hide-input", "hide-output"), ("minutes: 1", "minutes: 2"), ("# One", "# Uno")],
    ids=["prose", "tag", "limit", "title"],
)
def test_what_changes_no_output_keeps_the_key(book: Book, source: Path, old: str, new: str) -> None:
    before = key(book)
    change(source, old, new)
    assert key(book) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [("1 + 1", "1 + 2"), ("1 + 1", "1 + 1  # two"), ("memory_gb: 2", "memory_gb: 2\n  threads: 2")],
    ids=["code", "comment", "threads"],
)
def test_what_can_change_an_output_changes_the_key(book: Book, source: Path, old: str, new: str) -> None:
    before = key(book)
    change(source, old, new)
    assert key(book) != before


def test_parameters_and_lane_change_the_key(book: Book, source: Path) -> None:
    keys = {key(book), key(book, {**PARAMETERS, "FAST": True}), key(book, lane="gpu")}
    assert len(keys) == 3


def test_who_runs_it_with_other_warnings_has_another_key(
    book: Book, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = key(book)
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    assert key(book) != before


def test_data_changes_the_key(book: Book, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change(source, "memory_gb: 2", "memory_gb: 2\n  data: [fashion-mnist]")
    keys = set()
    for fingerprint in ("real", "stand-in"):
        prepared = data.Source(name="fashion-mnist", real=True, path=None, fingerprint=fingerprint, note="")
        monkeypatch.setattr(data, "prepare", lambda name, prepared=prepared: prepared)
        keys.add(key(book))
    assert len(keys) == 2


@pytest.mark.parametrize(("lane", "changes"), [("cpu", True), ("gpu", False)])
def test_which_cells_the_cpu_leaves_out_counts_there(book: Book, lane: str, changes: bool) -> None:
    keys = set()
    for tags in (("device",), ("gpu-only",)):
        book.chapter("one", cell("1", *tags))
        keys.add(key(book, lane=lane))
    assert (len(keys) == 2) is changes
