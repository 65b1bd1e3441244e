"""The run key changes with everything an output depends on, and with nothing else."""

import shutil
from pathlib import Path

import pytest

from torchbook import data
from torchbook.press import key as key_module
from torchbook.press.chapters import chapters
from torchbook.press.key import PACKAGE, package_digest, run_key

from .conftest import Book, cell

PARAMETERS = {"DEVICE": "cpu", "FAST": False, "SEED": 0}


def key(book: Book, parameters: dict[str, object] = PARAMETERS, lane: str = "cpu", package: Path = PACKAGE) -> str:
    (chapter,) = chapters(book.root)
    return run_key(chapter, dict(parameters), lane, package)


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
    [("1 + 1", "1 + 2"), ("memory_gb: 2", "memory_gb: 2\n  threads: 2")],
    ids=["code", "threads"],
)
def test_what_can_change_an_output_changes_the_key(book: Book, source: Path, old: str, new: str) -> None:
    before = key(book)
    change(source, old, new)
    assert key(book) != before


def test_parameters_and_lane_change_the_key(book: Book, source: Path) -> None:
    keys = {key(book), key(book, {**PARAMETERS, "FAST": True}), key(book, lane="gpu")}
    assert len(keys) == 3


def test_lock_file_changes_the_key(book: Book, source: Path) -> None:
    before = key(book)
    (book.root / "requirements.txt").write_text("torch==2.14.0\n")
    assert key(book) != before


def test_installed_versions_change_the_key(book: Book, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key(book)
    monkeypatch.setattr(key_module, "environment", lambda: {"torch": "2.11.0"})
    assert key(book) != before


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("runtime.py", True),
        ("press/normal.py", True),
        ("press/site/stamp.py", False),
        ("press/paper/pdf.py", False),
        ("press/ship/drift.py", False),
        ("cli.py", False),
    ],
)
def test_the_package_counts_where_chapters_can_see_it(tmp_path: Path, file: str, changes: bool) -> None:
    package = tmp_path / "torchbook"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    before = package_digest(package)
    package_digest.cache_clear()
    (package / file).write_text((package / file).read_text() + "\n# changed\n")
    assert (package_digest(package) != before) is changes


def test_data_changes_the_key(book: Book, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change(source, "memory_gb: 2", "memory_gb: 2\n  data: [fashion-mnist]")
    keys = set()
    for fingerprint in ("real", "stand-in"):
        found = data.Source(name="fashion-mnist", real=True, path=None, fingerprint=fingerprint, note="")
        monkeypatch.setattr(data, "prepare", lambda name, found=found: found)
        keys.add(key(book))
    assert len(keys) == 2


@pytest.mark.parametrize(("lane", "changes"), [("cpu", True), ("gpu", False)])
def test_which_cells_the_cpu_leaves_out_counts_there(book: Book, lane: str, changes: bool) -> None:
    keys = set()
    for tags in (("device",), ("gpu-only",)):
        book.chapter("one", cell("1", *tags))
        keys.add(run_key(*chapters(book.root), {}, lane))
    assert (len(keys) == 2) is changes
