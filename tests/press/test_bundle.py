"""The offline bundle: what is in it, that it checks itself, and that the same files make the same bytes."""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from torchbook.cli import app
from torchbook_press.ship import bundle
from torchbook_press.ship.environment import SOURCE, ShipError


@pytest.fixture
def book(tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A book with a small site, whose wheel needs no building."""
    site = {"index.html": "<p>A book", "web/a.png": "picture", "notebooks/book/one.ipynb": "{}"}
    for name, text in site.items():
        path = tmp_path / "_build" / "html" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "_config.yml").write_text((repo / "_config.yml").read_text())

    def wheel(source: Path, folder: Path) -> Path:
        (folder / "torchbook-1-py3-none-any.whl").write_text("wheel")
        return folder / "torchbook-1-py3-none-any.whl"

    monkeypatch.setattr(bundle, "wheel", wheel)
    return tmp_path


def made(book: Path) -> Path:
    return bundle.bundle(book, SOURCE, book / "made.zip")


def unpacked(book: Path) -> Path:
    with zipfile.ZipFile(made(book)) as archive:
        archive.extractall(book / "unpacked")
    (folder,) = (book / "unpacked").iterdir()
    return folder


def test_site_notebooks_wheel_sums_and_guide_are_there(book: Path) -> None:
    folder = unpacked(book)
    assert folder.name == bundle.name_of(book)
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == {
        "README.md",
        "SHA256SUMS",
        "notebooks/book/one.ipynb",
        "site/index.html",
        "site/notebooks/book/one.ipynb",
        "site/web/a.png",
        "torchbook-1-py3-none-any.whl",
    }


def test_the_sums_are_those_of_the_files(book: Path) -> None:
    folder = unpacked(book)
    lines = (folder / bundle.SUMS).read_text().splitlines()
    assert len(lines) == 6
    for line in lines:
        digest, name = line.split("  ", 1)
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest


def test_the_guide_names_the_wheel_and_leaves_no_blank(book: Path) -> None:
    guide = (unpacked(book) / "README.md").read_text()
    title = yaml.safe_load((book / "_config.yml").read_text())["title"]
    assert guide.startswith(f"# {title}, version ")
    assert "./torchbook-1-py3-none-any.whl" in guide
    assert "$" not in guide


def test_the_same_files_make_the_same_bytes(book: Path) -> None:
    first = made(book).read_bytes()
    for path in (book / "_build").rglob("*.html"):
        path.touch()
    assert made(book).read_bytes() == first


def test_a_bundle_on_the_site_is_not_packed_again(book: Path) -> None:
    inside = book / "_build" / "html" / f"{bundle.name_of(book)}.zip"
    bundle.bundle(book, SOURCE, inside)
    first = inside.read_bytes()
    assert bundle.bundle(book, SOURCE, inside).read_bytes() == first
    assert not list(inside.parent.glob("*.part"))


def test_without_a_site_it_says_what_to_do(tmp_path: Path, repo: Path) -> None:
    (tmp_path / "_config.yml").write_text((repo / "_config.yml").read_text())
    done = CliRunner().invoke(app, ["bundle", "--root", str(tmp_path)])
    assert (done.exit_code, "_build/html/index.html:1: missing; build the book first" in done.output) == (2, True)


def test_without_a_clone_there_is_no_wheel(tmp_path: Path) -> None:
    with pytest.raises(ShipError, match="the wheel is built from a clone"):
        bundle.wheel(tmp_path, tmp_path)


def test_what_hatchling_says_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").touch()
    failed = subprocess.CompletedProcess([], 1, "", "no such backend")
    monkeypatch.setattr(bundle.subprocess, "run", lambda *arguments, **named: failed)
    with pytest.raises(ShipError, match="hatchling builds no wheel: no such backend"):
        bundle.wheel(tmp_path, tmp_path)
