"""A test of pages is kept until something changes that it has read, or itself."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.site import built, keeping
from torchbook_proofs import Store

FILES = {"one.html": "<p class='a'>One.</p>", "two.html": "<p>Two, which is longer.</p>", "style.css": ""}


@pytest.fixture
def ledger(tmp_path: Path) -> keeping.Ledger:
    """Proofs of a small site."""
    root = tmp_path / "site"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    return keeping.Ledger(Store(tmp_path / "proofs"), root)


@pytest.fixture
def item(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.Item]:
    """A test that reads through the site's own hands: the one that runs, taken for such."""
    monkeypatch.setattr(keeping, "may_read_anything", lambda item: False)
    keeping._parts.cache_clear()
    yield request.node
    keeping._parts.cache_clear()


def is_kept(ledger: keeping.Ledger, item: pytest.Item) -> bool:
    """Whether another process, which remembers nothing, would keep the test."""
    for remembered in (keeping._parts, keeping._repository, built._having, built._soup):
        remembered.cache_clear()
    return keeping.is_kept(ledger, item)


def test_what_was_not_read_does_not_matter(ledger: keeping.Ledger, item: pytest.Item) -> None:
    keeping.keep(ledger, item, built.Notes(files={"one.html"}))
    (ledger.root / "two.html").write_text("changed")
    (ledger.root / "three.html").write_text("new")
    assert is_kept(ledger, item)


@pytest.mark.parametrize("name", ["one.html", "style.css"])
def test_a_file_that_was_read(ledger: keeping.Ledger, item: pytest.Item, name: str) -> None:
    keeping.keep(ledger, item, built.Notes(files={"one.html", "style.css"}))
    assert is_kept(ledger, item)
    (ledger.root / name).write_text("changed")
    assert not is_kept(ledger, item)


def test_a_page_that_was_chosen(ledger: keeping.Ledger, item: pytest.Item) -> None:
    keeping.keep(ledger, item, built.Notes(files={"one.html"}, choices={"p": "one.html"}))
    assert is_kept(ledger, item)
    (ledger.root / "none.html").write_text("<p>")
    assert not is_kept(ledger, item)


def test_the_list_of_pages(ledger: keeping.Ledger, item: pytest.Item) -> None:
    keeping.keep(ledger, item, built.Notes(files={"one.html"}, pages=True))
    assert is_kept(ledger, item)
    (ledger.root / "three.html").write_text("new")
    assert not is_kept(ledger, item)


def test_any_file_for_a_test_that_may_have_read_any(ledger: keeping.Ledger, item: pytest.Item) -> None:
    keeping.keep(ledger, item, built.Notes(whole=True))
    assert is_kept(ledger, item)
    (ledger.root / "two.html").write_text("changed")
    assert not is_kept(ledger, item)


@pytest.fixture
def exercise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page of an exercise beside another one, below the root of a repository."""
    monkeypatch.setattr(keeping, "_REPOSITORY", tmp_path)
    for name in ("x1-one", "x2-two"):
        (tmp_path / "exercises/p01" / name).mkdir(parents=True)
        (tmp_path / "exercises/p01" / name / "exercise.md").touch()
    return tmp_path / "exercises/p01/x1-one/exercise.md"


@pytest.mark.parametrize("looked_into", ["x1-one", "x2-two"])
def test_an_exercise_that_was_looked_into(
    ledger: keeping.Ledger, item: pytest.Item, exercise: Path, looked_into: str
) -> None:
    keeping.keep(ledger, item, built.Notes(exercises={f"p01/{looked_into}"}))
    exercise.write_text("changed")
    assert is_kept(ledger, item) == (looked_into == "x2-two")


def test_who_asks_for_names_looks_into_no_exercise_and_who_finds_one_does(exercise: Path) -> None:
    notes = built.Notes()
    keeping.look_for_exercises(notes)
    assert len(list((exercise.parents[2]).glob("*/x*-*/exercise.md"))) == 2
    assert notes.exercises == set()
    list(exercise.parent.iterdir())
    assert notes.exercises == {"p01/x1-one"}


@pytest.mark.parametrize("what", ["chromium_version", "installed", "processor", "_data"])
def test_browser_packages_processor_and_data(
    ledger: keeping.Ledger, item: pytest.Item, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    keeping.keep(ledger, item, built.Notes(files={"one.html"}))
    assert is_kept(ledger, item)
    monkeypatch.setattr(keeping, what, lambda *arguments: "another")
    assert not is_kept(ledger, item)


@pytest.fixture
def copied(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of a few files, in which `test_search.py` leans on the rooms and `test_reading.py` does not."""
    tests = tmp_path / "copy" / "tests"
    shutil.copytree(repo / "tests" / "site", tests / "site")
    for name in ("browser.py", "axe.py", "conftest.py"):
        shutil.copy(repo / "tests" / name, tests)
    for folder in ("torchbook", "torchbook_press", "exercises/p01/x1-one", "book", "tests/press", "_build"):
        (tmp_path / "copy" / folder).mkdir(parents=True)
        (tmp_path / "copy" / folder / "conftest.py").touch()
    monkeypatch.setattr(keeping, "_TESTS", tests)
    monkeypatch.setattr(keeping, "_REPOSITORY", tests.parent)
    return tests.parent


_HELPERS = ("tests/browser.py", "tests/axe.py", "tests/conftest.py", "tests/site/conftest.py", "tests/site/built.py")


@pytest.mark.parametrize(
    ("module", "changed", "matters"),
    [
        *(("test_reading.py", name, True) for name in (*_HELPERS, "tests/site/test_reading.py")),
        *(("test_reading.py", name, False) for name in ("tests/site/test_print.py", "torchbook/conftest.py")),
        *(("test_search.py", f"{room}/conftest.py", True) for room in ("torchbook", "torchbook_press")),
        ("test_search.py", "exercises/p01/x9-new", True),
        ("test_search.py", "exercises/p01/x1-one/conftest.py", False),
        ("test_search.py", "book/conftest.py", False),
    ],
)
def test_the_sources_of_a_test(copied: Path, module: str, changed: str, matters: bool) -> None:
    keeping._parts.cache_clear()
    before = keeping._parts(copied / "tests" / "site" / module)
    (copied / changed).write_text("# changed")
    keeping._parts.cache_clear()
    assert (keeping._parts(copied / "tests" / "site" / module) != before) == matters


@pytest.mark.parametrize(("changed", "matters"), [("book", True), ("tests/press", True), ("_build", False)])
def test_the_repository_for_a_test_that_may_read_any_of_it(copied: Path, changed: str, matters: bool) -> None:
    keeping._repository.cache_clear()
    before = keeping._repository()
    (copied / changed / "conftest.py").write_text("# changed")
    keeping._repository.cache_clear()
    assert (keeping._repository() != before) == matters
    keeping._repository.cache_clear()


def test_a_fixture_that_lasts_or_the_browser_itself_may_read_anything(request: pytest.FixtureRequest) -> None:
    assert keeping.may_read_anything(request.node)
