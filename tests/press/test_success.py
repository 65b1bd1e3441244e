"""A build does what is left to do and no less: nothing, the pages that changed, or all of it."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest

from torchbook.practice import shelf
from torchbook_press import build, files
from torchbook_press.chapters import Chapter

from .conftest import Book, as_if_it_ran, cell, small_book, write_exercises

GLOSSARY = "# Glossary\n\n```{glossary}\nleaf\n  A tensor that no operation made.\n```\n"
LINKS = "# Links\n\nA leaf, see {ref}`ex-t01-x1` and {doc}`prose`.\n"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Iterator[Book]:
    """A book whose pages show each other's titles, terms and exercises, built once."""
    root = tmp_path_factory.mktemp("success")
    write_exercises(root / "own")
    book = small_book(root, repo)
    book.page("prose", "# Prose\n\nOld prose.\n")
    book.page("blocks", "# Blocks\n\n:::{exercise} t01-x1\n:::\n")
    book.page("all", "# All\n\n:::{exercise-list}\n:::\n")
    book.page("links", LINKS)
    book.page("glossary", GLOSSARY)
    book.chapter("code", cell("6 * 7"))
    printed(root, "forty-two")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(shelf.ROOTS, str(root / "own"))
        assert build.html(root) == 0
        yield book


def edit(path: Path, old: str, new: str) -> None:
    """Change a file; its dates stay, as if it had been put back from elsewhere."""
    touched(path, lambda path: change(path, old, new))


def change(path: Path, old: str, new: str) -> None:
    """Change a file."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def printed(root: Path, text: str) -> None:
    """What the chapter `code` would be, had its second cell printed a text."""
    chapter = Chapter(root, "book/code")
    nb = nbformat.v4.new_notebook(cells=[nbformat.from_dict(code) for code in chapter.code_cells])
    nb.cells[1].outputs = [nbformat.v4.new_output("stream", text=text)]
    as_if_it_ran(chapter, nb)


def texts(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its name; as one text would say nothing of which differs."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def no_sphinx(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Sphinx only notes whether it would have started on what the last build left, and fails."""
    starts: list[bool] = []

    def start(work: build.Work) -> int:
        starts.append(work.doctrees.exists())
        return 1

    monkeypatch.setattr(build, "_sphinx", start)
    return starts


@pytest.fixture
def copy(small: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Book:
    """The book as it was built; what is done to it is undone by nothing but the next build."""
    for name in ("_build", "book", "executed", "web", "own"):
        shutil.copytree(small.root / name, tmp_path / name)
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy2(small.root / name, tmp_path / name)
    monkeypatch.setenv(shelf.ROOTS, str(small.root / "own"))
    return Book(tmp_path)


def test_nothing_changed_is_known_at_once_and_without_sphinx(
    copy: Book, no_sphinx: list[bool], capsys: pytest.CaptureFixture[str]
) -> None:
    start = time.process_time()
    assert build.html(copy.root) == 0
    assert time.process_time() - start < 1
    assert (no_sphinx, capsys.readouterr().out) == ([], "_build/html is up to date\n")


def test_a_second_build_waits_for_the_first_and_says_so(
    copy: Book, no_sphinx: list[bool], capsys: pytest.CaptureFixture[str]
) -> None:
    said = ""
    with ThreadPoolExecutor(1) as pool:
        with build.alone(copy.root):
            assert build.html(copy.root) == 0  # of the one that holds it
            capsys.readouterr()
            second = pool.submit(build.html, copy.root)
            while not said:
                time.sleep(0.01)
                said = capsys.readouterr().out
            assert not second.done()
        assert (second.result(), said) == (0, "another build of this book runs: waiting for it\n")


@pytest.mark.parametrize("command", [("book",), ("run", "--fast")], ids=" ".join)
def test_a_book_is_run_and_built_by_one_at_a_time(
    book: Book, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setattr("torchbook_press.cli._run", lambda *_: 3)
    with ThreadPoolExecutor(1) as pool:
        with build.alone(book.root):
            second = pool.submit(book.torchbook, *command)
            time.sleep(0.5)
            assert not second.done()
        done = second.result()
        assert (done.exit_code, done.output) == (3, "another build of this book runs: waiting for it\n")


@pytest.mark.parametrize("command", ["book", "run"])
def test_where_no_book_is_nothing_is_left(tmp_path: Path, command: str) -> None:
    done = Book(tmp_path).torchbook(command)
    assert (done.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert "run from the root of the book" in done.output


@pytest.mark.parametrize("command", ["book", "run"])
def test_a_folder_that_takes_no_lock_is_named(book: Book, command: str) -> None:
    (book.root / "_build").write_text("a file")
    done = book.torchbook(command)
    assert (done.exit_code, len(done.output.splitlines())) == (2, 1)
    assert done.output.startswith(f"error {book.root}/_build: nothing can be written there (File exists)")


def test_a_full_disk_is_named_last(
    copy: Book, no_sphinx: list[bool], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(dir: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    FOLLOWED["prose"](copy.root)
    monkeypatch.setattr(files.tempfile, "TemporaryFile", full)
    before = texts(copy.root / "_build/html")
    assert build.html(copy.root) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.endswith("_build/.press: nothing can be written there (No space left on device): free some space there")
    assert (no_sphinx, texts(copy.root / "_build/html") == before) == ([], True)


@pytest.mark.parametrize(
    ("error", "complaint"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "nothing can be written there (No space left on device): free some space there",
        ),
        (
            shutil.Error([("one", "other", "[Errno 28] No space left on device: 'other'")] * 2),
            "the site cannot be copied: [Errno 28] No space left on device: 'other'",
        ),
    ],
    ids=["at once", "file by file"],
)
def test_a_disk_that_fills_while_the_site_is_copied_is_named(
    copy: Book, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: OSError, complaint: str
) -> None:
    def full(source: Path, target: Path) -> None:
        target.mkdir()
        raise error

    monkeypatch.setattr(build, "_sphinx", lambda work: 0)
    monkeypatch.setattr(shutil, "copytree", full)
    FOLLOWED["prose"](copy.root)
    before = texts(copy.root / "_build/html")
    assert build.html(copy.root) == 1
    (said,) = capsys.readouterr().err.splitlines()
    assert said == f"{copy.root}/_build/.press: {complaint}"
    assert texts(copy.root / "_build/html") == before
    assert not build.Work(copy.root).stamp.exists()


def touched(path: Path, action: Callable[[Path], object]) -> None:
    """Change a file, and put its dates back."""
    status = path.stat()
    action(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


CLEAN = {
    "edited page": lambda root: edit(root / "_build/html/book/prose.html", "Old prose", "My prose"),
    "deleted page": lambda root: (root / "_build/html/book/prose.html").unlink(),
    "file too many": lambda root: (root / "_build/html/more.html").write_text("more"),
    "work touched": lambda root: (
        edit(root / "book/prose.md", "Old", "New"),
        touched(root / "_build/.press/.doctrees/book/prose.doctree", lambda path: path.write_bytes(b"")),
    ),
    "interrupted build": lambda root: (root / "_build/.stamp.json").unlink(),
    "stamp cut short": lambda root: (root / "_build/.stamp.json").write_text("{"),
    "configuration": lambda root: edit(root / "_config.yml", "default_mode: auto", "default_mode: dark"),
    "style sheet taken away": lambda root: (root / "web/print.css").unlink(),
}
FOLLOWED = {
    "prose": lambda root: edit(root / "book/prose.md", "Old prose", "New prose"),
    "style": lambda root: edit(root / "web/site.css", "{", "{ orphans: 3;"),
    "contents": lambda root: edit(root / "_toc.yml", "- file: book/prose\n", ""),
    "output": lambda root: edit(root / "executed/book/code.ipynb", "6 * 7", "6 * 8"),
}


@pytest.mark.parametrize("drill", CLEAN)
def test_what_something_else_touched_is_built_anew(copy: Book, no_sphinx: list[bool], drill: str) -> None:
    CLEAN[drill](copy.root)
    assert build.html(copy.root) == 1
    assert no_sphinx == [False]


@pytest.mark.parametrize("drill", FOLLOWED)
def test_a_change_is_seen_though_its_dates_are_old(copy: Book, no_sphinx: list[bool], drill: str) -> None:
    FOLLOWED[drill](copy.root)
    assert build.html(copy.root) == 1
    assert no_sphinx == [True]


def test_a_failed_build_leaves_the_last_site_and_no_stamp(copy: Book, no_sphinx: list[bool]) -> None:
    edit(copy.root / "book/prose.md", "Old prose", "New prose")
    before = texts(copy.root / "_build/html")
    assert [build.html(copy.root) for _ in range(2)] == [1, 1]
    assert texts(copy.root / "_build/html") == before
    assert no_sphinx == [True, False]


def test_a_build_that_is_cut_off_is_begun_anew(copy: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it is cut off: its stamp is gone before Sphinx starts."""
    starts: list[tuple[bool, bool]] = []

    def cut_off(work: build.Work) -> int:
        starts.append((work.stamp.exists(), work.doctrees.exists()))
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "_sphinx", cut_off)
    FOLLOWED["output"](copy.root)
    before = texts(copy.root / "_build/html")
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            build.html(copy.root)
    assert starts == [(False, True), (False, False)]
    assert texts(copy.root / "_build/html") == before


def test_what_a_build_warned_of_is_named_again_when_it_was_cut_off(
    copy: Book, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its pages were read and kept by then, so that another build would not read them."""
    edit(copy.root / "book/prose.md", "Old prose.", ":::{exercise} t01-nope\n:::")
    sphinx, statuses = build._sphinx, []

    def cut_off(work: build.Work) -> int:
        statuses.append(sphinx(work))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(build, "_sphinx", cut_off)
        with pytest.raises(KeyboardInterrupt):
            build.html(copy.root)
    assert (statuses, "t01-nope" in capsys.readouterr().err) == ([1], True)
    assert build.html(copy.root) == 1
    assert "book/prose.md:3: ERROR: no exercise 't01-nope'" in capsys.readouterr().err


def test_a_page_that_left_the_book_is_named_where_it_is_linked_to(
    copy: Book, capsys: pytest.CaptureFixture[str]
) -> None:
    FOLLOWED["contents"](copy.root)
    assert build.html(copy.root) == 1
    assert "book/links.md:3: WARNING: unknown document: 'prose'" in capsys.readouterr().err


def test_a_label_that_is_gone_is_named_on_the_pages_that_link_there(
    copy: Book, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(copy.root / "book/blocks.md", ":::{exercise} t01-x1\n:::", "Gone.")
    assert build.html(copy.root) == 1
    assert "book/links.md:3: WARNING: undefined label: 'ex-t01-x1'" in capsys.readouterr().err


# What is handed on.


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda root: None, ""),
        (CLEAN["edited page"], "not what a build that succeeded left there"),
        (CLEAN["interrupted build"], "not what a build that succeeded left there"),
        (FOLLOWED["prose"], "the book has changed since it was built"),
        (FOLLOWED["output"], "the book has changed since it was built"),
        (lambda root: shutil.rmtree(root / "_build/html"), "build the book first"),
    ],
    ids=["as it is", "edited page", "interrupted build", "other prose", "other output", "no site"],
)
def test_what_is_in_the_way_of_handing_the_site_on(
    copy: Book, change: Callable[[Path], object], complaint: str
) -> None:
    change(copy.root)
    hindrance = build.hindrance(copy.root)
    assert complaint in hindrance
    assert bool(hindrance) == bool(complaint)


@pytest.mark.parametrize("command", ["pdf", "epub", "bundle"])
def test_no_command_hands_on_another_site(copy: Book, command: str) -> None:
    FOLLOWED["prose"](copy.root)
    done = copy.torchbook(command)
    assert (done.exit_code, "the book has changed since it was built" in done.output) == (2, True)


# One book, edited again and again; each line says what its pages show then.
STEPS: list[tuple[str, Callable[[Path], object], dict[str, str]]] = [
    (
        "what one page shows",
        lambda root: (
            edit(root / "book/prose.md", "Old prose", "New prose"),
            edit(root / "web/site.css", "{", "{ orphans: 3;"),
            change(root / "own/t01/x1-add/exercise.md", "*plain* Python", "*very plain* Python"),
            change(root / "own/t01/x2-words/exercise.md", "stars: 5", "stars: 4"),
            edit(root / "book/links.md", "A leaf", "Moved down.\n\nA leaf"),
        ),
        {"prose": "New prose", "blocks": "very plain", "all": "4 of 5 stars", "links": "Moved down."},
    ),
    ("a term", lambda root: edit(root / "book/glossary.md", "no operation", "nothing"), {"links": "that nothing made"}),
    (
        "an output",
        lambda root: touched(root / "executed/book/code.ipynb", lambda _: printed(root, "forty-one")),
        {"code": "forty-one"},
    ),
    (
        "a title",
        lambda root: edit(root / "book/prose.md", "# Prose", "# Another"),
        {"links": "Another", "all": "Another"},
    ),
    (
        "an exercise's place, and a new page",
        lambda root: (
            edit(root / "book/blocks.md", ":::{exercise} t01-x1\n:::", "Gone."),
            edit(root / "book/prose.md", "prose.", "prose.\n\n:::{exercise} t01-x1\n:::"),
            Book(root).page("more", "# More\n\nA leaf.\n"),
        ),
        {"links": "prose.html#ex-t01-x1", "all": "prose.html#ex-t01-x1", "more": "that nothing made"},
    ),
]


def test_any_edits_give_byte_for_byte_the_site_of_a_clean_build(
    small: Book, capsys: pytest.CaptureFixture[str]
) -> None:
    site = small.root / "_build/html"
    for name, step, shown in STEPS:
        step(small.root)
        assert build.html(small.root) == 0, f"{name}: {capsys.readouterr().err}"
        assert [page for page, text in shown.items() if text not in small.html(page)] == [], name
        if name in (STEPS[0][0], STEPS[-1][0]):
            followed = texts(site)
            shutil.rmtree(small.root / "_build")
            assert build.html(small.root) == 0
            clean = texts(site)
            assert [path for path in sorted(followed | clean) if followed.get(path) != clean.get(path)] == [], name
    small.toc.write_text(small.toc.read_text().replace("- file: book/more\n", ""))
    assert build.html(small.root) == 0
    assert {path for path in texts(site) if "more" in path} == set()
