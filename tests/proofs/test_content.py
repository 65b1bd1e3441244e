"""Digests: they change with names and bytes, and with nothing else."""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from torchbook_proofs import digest, installed, processor


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "folder"
    (root / "inner").mkdir(parents=True)
    (root / "a.py").write_text("a = 1\n")
    (root / "inner" / "b.js").write_text("b\n")
    return root


def test_dates_do_not_count(folder: Path) -> None:
    before = digest(folder)
    os.utime(folder / "a.py", (1, 1))
    assert digest(folder) == before


def test_what_python_writes_does_not_count(folder: Path) -> None:
    before = digest(folder)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "a.pyc").write_bytes(b"x")
    assert digest(folder) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "a.py").write_text("a = 2\n"),
        lambda root: (root / "a.py").rename(root / "c.py"),
        lambda root: (root / "inner" / "b.js").unlink(),
        lambda root: (root / "inner" / "new").touch(),
    ],
    ids=["bytes", "name", "gone", "new"],
)
def test_a_change_counts(folder: Path, change: Callable[[Path], object]) -> None:
    before = digest(folder)
    change(folder)
    assert digest(folder) != before


def test_bytes_count_where_size_and_date_were_restored(folder: Path) -> None:
    before, dates = digest(folder), (folder / "a.py").stat()
    (folder / "a.py").write_text("a = 9\n")
    os.utime(folder / "a.py", ns=(dates.st_atime_ns, dates.st_mtime_ns))
    assert digest(folder) != before


def test_what_is_missing_counts_when_it_appears(folder: Path) -> None:
    before = digest(folder / "later")
    (folder / "later").touch()
    assert digest(folder / "later") != before


def test_a_digest_is_the_same_elsewhere(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    before = digest(folder)
    folder.rename(elsewhere / "folder")
    assert digest(elsewhere / "folder") == before


def test_packages_and_processor_have_a_digest() -> None:
    assert len(installed()) == len(processor()) == 64


def test_a_package_counts_where_packages_are_installed_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = tmp_path / "extra-1.0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: extra\nVersion: 1.0\n")
    before = installed.__wrapped__()
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    assert installed.__wrapped__() == before
    folders = [*site.getsitepackages(), str(tmp_path)]
    monkeypatch.setattr(site, "getsitepackages", lambda: folders)
    assert installed.__wrapped__() != before
