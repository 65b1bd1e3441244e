"""Launches: the published notebook as a learner has it, in an environment that is not the book's."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import pytest
from rich.console import Console
from typer.testing import CliRunner

from torchbook.cli import app
from torchbook_press import seal
from torchbook_press.chapters import Chapter, chapters
from torchbook_press.execute import Failure
from torchbook_press.ship import comparison, launches
from torchbook_press.ship.environment import Environment, ShipError, fingerprints, touched
from torchbook_press.ship.launches import BINDER, How
from torchbook_press.site import launch
from torchbook_press.site.plain import Page

from .conftest import Book, as_if_it_ran, cell

HERE = Environment(Path(sys.prefix))  # no test installs anything: torchbook is there, and so its cell installs nothing


def published_chapter(book: Book, *parts: str, memory_gb: float = 2) -> Chapter:
    """A chapter whose notebook is published."""
    book.chapter("one", *parts, memory_gb=memory_gb)
    (chapter,) = chapters(book.root)
    made = launch.notebook(chapter, Page(""), "torchbook @ git+https://example.org/owner/name@main")
    path = book.root / launches.NOTEBOOKS / "book" / "one.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(made, path)
    return chapter


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In place of the clone that the package is of."""
    folder = tmp_path / "clone"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("[project]\n")
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    monkeypatch.setattr(launches, "SOURCE", folder)
    return folder


@pytest.fixture
def here(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Notebooks run in the environment of the tests."""

    @contextmanager
    def environments(root: Path, how: How) -> Iterator[Any]:
        @contextmanager
        def of(chapter: Chapter) -> Iterator[Environment]:
            yield HERE

        yield of

    monkeypatch.setattr(launches, "_environments", environments)


def shipped(book: Book, how: How) -> dict[str, Any]:
    (row,) = launches.shipped(book.root, chapters(book.root), how, Console(file=io.StringIO()))["chapters"]
    return dict(row)


AS_A_LEARNER = """\
import os, sys
assert os.listdir() == [], os.listdir()
assert DEVICE == "auto"
assert {"TORCHBOOK_PRESS", "PYTHONPATH", "OMP_NUM_THREADS"}.isdisjoint(os.environ)
assert os.environ["GIT_CONFIG_VALUE_0"] == "https://example.org/owner/name"
again = "again" in globals()"""


@pytest.mark.usefixtures("here")
def test_a_notebook_runs_as_a_learner_s_does_and_twice_in_one_kernel(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    published_chapter(book, cell(AS_A_LEARNER), cell("assert not again, 'what the first time left'"))
    row = shipped(book, How(twice=True))
    assert comparison.place(row) == "book/one.md:32: cell 3: the second time: AssertionError: what the first time left"
    kept = json.loads((book.root / "_build/shipped/empty-twice.json").read_text())
    assert (kept["label"], kept["chapters"]) == ("empty folder, twice in one kernel", [row])
    assert 0 < row["first_seconds"] < row["seconds"]


@pytest.mark.usefixtures("here")
def test_a_platform_that_is_touched_is_a_failure(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    states = iter([{"torch": ("2.15.0", "a", "b")}, {"torch": ("2.14.0", "c", "d")}])
    monkeypatch.setattr(launches, "fingerprints", lambda environment, names: next(states))
    published_chapter(book, cell("1"))
    row = shipped(book, How())
    assert comparison.place(row).endswith("one.ipynb: cell 1: the platform's own: torch was 2.15.0, is 2.14.0")


def test_what_was_never_published_is_named(book: Book) -> None:
    book.chapter("one", cell("1"))
    done = CliRunner().invoke(app, ["shipped", "--root", str(book.root)])
    assert (done.exit_code, "book/one.ipynb:1: never published" in done.output) == (2, True)


def test_modes_are_named(book: Book) -> None:
    assert CliRunner().invoke(app, ["shipped", "--mode", "other", "--root", str(book.root)]).exit_code == 2


@pytest.mark.parametrize(
    ("cell_number", "place"),
    [
        (1, "_build/html/notebooks/book/one.ipynb: cell 1: E"),
        (3, "book/one.md:22: cell 2: E"),
        (6, "book/one.md:22: cell 2: the second time: E"),
    ],
    ids=["install", "chapter", "again"],
)
def test_a_failure_is_said_where_its_cell_comes_from(book: Book, cell_number: int, place: str) -> None:
    chapter = published_chapter(book, cell("1"))
    notebook = nbformat.read(launches.published(book.root, chapter), 4)
    where = launches._where(chapter, notebook, Failure(chapter.docname, 1, cell_number, "E"))
    assert comparison.place({"chapter": "one", **where}) == place


def test_earlier_rows_of_other_chapters_are_kept(book: Book) -> None:
    path = book.root / launches.FOLDER / "empty.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"label": "empty folder", "chapters": [{"chapter": "p09"}]}')
    assert launches._former(book.root, How())["chapters"] == [{"chapter": "p09"}]
    assert launches.reports(book.root) == [path]


# What may not be touched.


@pytest.fixture
def platform(tmp_path: Path) -> Environment:
    """An environment in which something is installed."""
    made = Environment(tmp_path / "env")
    packages = tmp_path / "env" / "lib" / "python3.12" / "site-packages"
    info = packages / "torch-2.15.0.dist-info"
    info.mkdir(parents=True)
    (packages / "torch.py").write_text("1")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.15.0\n")
    (info / "RECORD").write_text("torch.py,sha256=x,1\ntorch-2.15.0.dist-info/METADATA,,\n")
    return made


def test_what_is_installed_is_read_without_its_python(platform: Environment) -> None:
    assert platform.versions() == {"python": "3.12", "torch": "2.15.0"}


def test_an_untouched_platform_is_as_it_was(platform: Environment) -> None:
    before = fingerprints(platform, ("torch",))
    assert touched(before, fingerprints(platform, ("torch",))) == []


@pytest.mark.parametrize(
    ("file", "text", "change"),
    [
        ("torch.py", "22", "files of torch 2.15.0 were changed"),
        ("torch-2.15.0.dist-info/RECORD", "torch.py,,\n", "files of torch 2.15.0 were changed"),
        ("torch-2.15.0.dist-info/METADATA", "Name: torch\nVersion: 2.14.0\n", "torch was 2.15.0, is 2.14.0"),
        ("torch-2.15.0.dist-info/METADATA", "Name: other\nVersion: 1\n", "torch 2.15.0 is gone"),
    ],
    ids=["file", "record", "version", "gone"],
)
def test_a_touched_platform_is_seen(platform: Environment, file: str, text: str, change: str) -> None:
    before = fingerprints(platform, ("torch",))
    (platform.packages / file).write_text(text)
    assert touched(before, fingerprints(platform, ("torch",))) == [change]


# Where torchbook comes from.


def test_the_clone_as_it_stands_is_what_git_finds(clone: Path, tmp_path: Path) -> None:
    (clone / ".gitignore").write_text("ignored\n")
    (clone / "ignored").touch()
    (clone / "new.py").write_text("new")
    launches.snapshot(clone, tmp_path / "origin", "main")
    git = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{(tmp_path / 'origin').as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://example.org/owner/name",
    }
    command = ["git", "clone", "--quiet", "--branch", "main", "https://example.org/owner/name", str(tmp_path / "got")]
    subprocess.run(command, env=git, check=True)
    got = {path.name for path in (tmp_path / "got").iterdir()} - {".git"}
    assert got == {".gitignore", "new.py", "pyproject.toml"}


# Binder.


def test_conda_s_environment_is_read_as_requirements() -> None:
    text = "dependencies: [python=3.12, pip, 'pytorch-cpu>=2.11', cxx-compiler, {pip: [plotly==7, ./a.whl]}]"
    wanted = ["ipykernel", "pip", "torch>=2.11", "plotly==7", "./a.whl"]
    assert launches.from_conda(text) == ("3.12", wanted)


def test_conda_s_environment_must_name_a_python() -> None:
    with pytest.raises(ShipError, match=r"environment.yml:1: names no version of python"):
        launches.from_conda("dependencies: [pip]")


def test_the_book_s_environment_is_read_as_requirements(repo: Path) -> None:
    python, wanted = launches.from_conda((repo / "environment.yml").read_text())
    assert python == "3.12"
    assert any(requirement.startswith("torch<") or requirement.startswith("torch>") for requirement in wanted)
    assert "-e ." in wanted


def test_a_notebook_says_how_the_outputs_of_its_page_came_about(book: Book) -> None:
    """Cells that run in the page start from the same parameters, with as many threads."""
    book.chapter("one", cell("1"))
    (chapter,) = chapters(book.root)
    as_if_it_ran(chapter, nbformat.v4.new_notebook(), cell_seconds=[0.1, 2.0], threads=2)
    made = launch.notebook(chapter, Page(""), "torchbook", seal.read(chapter.executed))
    parameters = {"DEVICE": "cpu", "FAST": False, "SEED": 0}
    assert made.metadata["torchbook"] == {"parameters": parameters, "threads": 2, "cell_seconds": [0.1, 2.0]}


def measured(chapter: Chapter, peak: float) -> None:
    as_if_it_ran(chapter, nbformat.v4.new_notebook(), peak_gb=peak)


@pytest.mark.parametrize(
    ("memory_gb", "peak", "limit"),
    [(2, None, 2.0), (4, None, 4), (4, 1.5, 2.0), (4, 1.9, 4), (2, 1.9, 2.0)],
    ids=["small contract", "large contract", "small run", "large run", "small contract, large run"],
)
def test_what_fits_binder_may_take_no_more_there(
    book: Book, memory_gb: float, peak: float | None, limit: float
) -> None:
    book.chapter("one", cell("1"), memory_gb=memory_gb)
    (chapter,) = chapters(book.root)
    if peak:
        measured(chapter, peak)
    assert launches.memory_limit(chapter, How(BINDER)) == limit
    assert launches.memory_limit(chapter, How()) == memory_gb


@pytest.mark.parametrize(("memory_gb", "label"), [(2, "Binder"), (4, f"Binder: {launch.MORE_THAN_BINDER}")])
def test_binder_s_button_says_where_it_has_too_little_memory(book: Book, memory_gb: float, label: str) -> None:
    book.chapter("one", cell("1"), memory_gb=memory_gb)
    (chapter,) = chapters(book.root)
    button = {"text": "Binder", "tooltip": "Launch on Binder"}
    launch._mark(chapter, button)
    assert button["text"] == label
