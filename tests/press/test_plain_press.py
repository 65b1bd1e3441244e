"""The book printed without Jupyter Book: what is installed for it, which warnings count, and what the column says."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from packaging.requirements import Requirement
from typer.testing import CliRunner

from torchbook.cli import app
from torchbook_press.chapters import Chapter, chapters
from torchbook_press.ship import comparison, plain
from torchbook_press.ship.drift import Wanted
from torchbook_press.ship.environment import Environment, ShipError
from torchbook_press.site.contents import Contents

from .conftest import Book, as_if_it_ran, cell
from .test_drift import HERE
from .test_site import code, notebook

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment


def test_jupyter_book_is_not_among_what_is_installed(repo: Path) -> None:
    names = {Requirement(one).name for one in plain.requirements(repo / "pyproject.toml")}
    assert {"sphinx", "myst-nb", "sphinx-book-theme", "papermill", "plotly"} <= names
    assert not {"jupyter-book", "torch"} & names


def test_what_the_configuration_names_is_installed(book: Book) -> None:
    scope: dict[str, list[str]] = {}
    exec(plain.configuration(book.root), scope)
    brought = {name.replace("-", "_") for name in plain.SPHINX}
    ours = ("torchbook_press.site", "sphinx.")
    assert [name for name in scope["extensions"] if name not in brought and not name.startswith(ours)] == []
    assert "executed.stale" in scope["suppress_warnings"]


def test_what_a_page_depends_on_may_be_a_path_or_a_text(tmp_path: Path) -> None:
    """Sphinx 9 has both."""
    env = SimpleNamespace(srcdir=tmp_path, dependencies={"a": {Path("x.png"), "y.png"}}, domaindata={})
    contents = Contents(cast("BuildEnvironment", env))
    contents.note(["a"])
    assert sorted(contents.files["a"]) == ["a.md", "x.png", "y.png"]


def test_one_way_of_drifting_at_a_time() -> None:
    with pytest.raises(ShipError, match="--press"):
        Wanted(press=True, jupyter_only=True)


def ran(book: Book, name: str, *, changed: bool = False) -> Path:
    """A chapter with a printed cell, as if it had run, on another version of its package where it is changed."""
    path = book.chapter(name, cell("print(42)"))
    chapter = Chapter(book.root, f"book/{name}")
    parameters, printed = (one.source for one in chapter.code_cells)
    nb = notebook(code(parameters), code(printed, "42"))
    as_if_it_ran(chapter, nb, **({"declared": {"package": "another"}} if changed else {}))
    return path


@pytest.mark.filterwarnings("default")
def test_a_warning_fails_its_page_and_a_stale_run_does_not(book: Book, tmp_path: Path) -> None:
    ran(book, "good", changed=True)
    bad = ran(book, "bad")
    bad.write_text(bad.read_text() + "\nSee {doc}`nowhere`.\n")
    folder = tmp_path / "plain"
    folder.mkdir()
    report = plain.in_environment(book.root, chapters(book.root), HERE, folder)
    rows = {row["chapter"]: row for row in report["chapters"]}
    assert rows["good"] == {"chapter": "good", "status": comparison.PASSED}
    assert comparison.place(rows["bad"]).startswith("book/bad.md:26: unknown document: 'nowhere'")
    assert report["error"] == ""
    assert "| good | passed |" in comparison.table([report])


def test_a_sphinx_that_does_not_start_is_said_in_a_line(book: Book, tmp_path: Path) -> None:
    folder = tmp_path / "none"
    (folder / "bin").mkdir(parents=True)
    (folder / "lib/python3.12/site-packages").mkdir(parents=True)
    (folder / "bin/python").write_text("#!/bin/sh\necho no module named sphinx >&2\nexit 1\n")
    (folder / "bin/python").chmod(0o755)
    report = plain.in_environment(book.root, (), Environment(folder), folder)
    assert report["error"] == "Sphinx does not print the book there: no module named sphinx"
    assert comparison.failed([report])


def test_the_command_has_it(book: Book) -> None:
    done = CliRunner().invoke(app, ["drift", "--press", "--jupyter-only", "--root", str(book.root)])
    assert done.exit_code == 2
    assert "only one of" in done.output
