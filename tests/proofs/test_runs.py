"""The key of a chapter's run: each thing that the run read makes it again when it changes, and nothing else does."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import grimp
import nbformat
import pytest
from rich.console import Console

from tests.press.conftest import Book, cell, small_book, write_exercises
from torchbook import data
from torchbook.practice import shelf
from torchbook_press import files, key, reads
from torchbook_press import run as press
from torchbook_press.chapters import chapters
from torchbook_press.key import changed, declared
from torchbook_press.run import Options, Report, RunError, run_metadata
from torchbook_proofs.store import FOLDER, FRESH

PARAMETERS = {"DEVICE": "cpu", "FAST": True, "SEED": 0}
FAST = Options(fast=True)

# A figure, an exercise, a module that only a child imports, and two questions about what is installed.
READS = """\
import importlib.metadata, importlib.util, subprocess, sys
from torchbook import (
    practice as exercises,
)
from torchbook.viz import SymptomFinder

assert exercises.reference(f"t01-x{len('1')}").add(1, 2) == 3
subprocess.run([sys.executable, "-c", "import torchbook.notices"], check=True)
importlib.metadata.version("rich"), importlib.util.find_spec("no_such_module")
SymptomFinder()
"""


def run(book: Book, options: Options = FAST) -> Report:
    report = press.run(chapters(book.root), options, Console(quiet=True))
    assert not report.failed, report.failed
    return report


@dataclass(frozen=True)
class Ran:
    """A chapter that ran once."""

    book: Book
    run: dict[str, Any]

    def changed(self) -> tuple[str, ...]:
        (chapter,) = chapters(self.book.root)
        return changed(self.run, declared(chapter, PARAMETERS, "cpu"))


@pytest.fixture(scope="module")
def ran_once(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Iterator[Ran]:
    root = tmp_path_factory.mktemp("ran")
    exercises = root / "exercises"
    with pytest.MonkeyPatch.context() as patch:
        write_exercises(exercises)
        patch.setenv(shelf.ROOTS, str(exercises))
        patch.setenv(FOLDER, str(root / "proofs"))
        book = small_book(root, repo)
        book.chapter("one", "Prose.", cell(READS))
        run(book)
        (chapter,) = chapters(book.root)
        yield Ran(book, run_metadata(chapter))


@pytest.fixture
def ran(ran_once: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ran:
    """The run, beside a copy of all that it read, for a test to change."""
    copy = tmp_path / "torchbook"
    shutil.copytree(reads.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "kernels"))
    shutil.copytree(ran_once.book.root / "exercises", tmp_path / "exercises")
    shutil.copytree(ran_once.book.root / "book", tmp_path / "book")
    for file in ("_toc.yml", "_config.yml"):
        shutil.copy(ran_once.book.root / file, tmp_path)
    monkeypatch.setattr(reads, "PACKAGE", copy)
    monkeypatch.setenv(shelf.ROOTS, str(tmp_path / "exercises"))
    ran = Ran(Book(tmp_path), ran_once.run)
    assert ran.changed() == ()
    return ran


def append(path: Path, text: str = "\n# changed\n") -> None:
    assert path.is_file(), path
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


@pytest.mark.parametrize(
    "file", ["notices.py", "practice/shelf.py", "viz/base.py", "viz/symptoms.py", "viz/src/symptoms/setup.json"]
)
def test_a_file_that_the_run_read_changes_the_key(ran: Ran, file: str) -> None:
    append(reads.PACKAGE / file)
    assert ran.changed() == (f"file {file}",)


@pytest.mark.parametrize(
    "file",
    [
        "cli.py",
        "llm/model.py",
        "viz/roofline.py",
        "viz/src/roofline/setup.json",
        "viz/src/roofline/style.js",
        "viz/src/symptoms/style.js",
        "viz/static/symptoms.js",
    ],
)
def test_a_file_that_it_did_not_read_does_not(ran: Ran, file: str) -> None:
    append(reads.PACKAGE / file)
    assert ran.changed() == ()


@pytest.mark.parametrize("name", [".notices.py.swp", "notices.py~", "#notices.py#", ".idea/notices.py"])
def test_what_an_editor_leaves_beside_does_not(ran: Ran, name: str) -> None:
    before = reads.now(reads.ALL)
    (reads.PACKAGE / name).parent.mkdir(exist_ok=True)
    (reads.PACKAGE / name).write_text("left")
    assert ran.changed() == ()
    assert reads.now(reads.ALL) == before, "nor where all of the package counts"


def test_a_file_that_is_gone_changes_the_key(ran: Ran) -> None:
    (reads.PACKAGE / "notices.py").unlink()
    assert ran.changed() == ("file notices.py",)


@pytest.mark.parametrize("file", ["exercise.md", "solution.py", "checks.py"])
def test_an_exercise_that_the_run_read_changes_the_key(ran: Ran, file: str) -> None:
    append(shelf.folders()["t01-x1"] / file)
    assert ran.changed() == ("exercise t01-x1",)


def test_an_exercise_that_is_gone_changes_the_key(ran: Ran) -> None:
    shutil.rmtree(shelf.folders()["t01-x1"])
    assert ran.changed() == ("exercise t01-x1",)


def test_wrong_answers_and_variants_do_not(ran: Ran) -> None:
    folder = shelf.folders()["t01-x1"]
    for file in ("wrong.md", "wrong/other.py", "variants/b/exercise.md"):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("changed")
    assert ran.changed() == ()


def test_another_exercise_does_not(ran: Ran) -> None:
    append(shelf.folders()["t01-x2"] / "exercise.md")
    assert ran.changed() == ()


@pytest.mark.parametrize("package", ["ipykernel", "anywidget", "traitlets", "rich"])
def test_another_version_of_what_was_imported_or_asked_for_changes_the_key(
    ran: Ran, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = reads.version
    monkeypatch.setattr(reads, "version", lambda name: "0.0" if name == package else installed(name))
    assert f"package {package}" in ran.changed()


@pytest.mark.parametrize("package", ["ruff", "mypy", "sphinx", "torchao"])
def test_another_version_of_what_it_never_looked_at_does_not(
    ran: Ran, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = reads.version
    assert installed(package) != "missing"
    monkeypatch.setattr(reads, "version", lambda name: "0.0" if name == package else installed(name))
    key._running.cache_clear()
    assert ran.changed() == ()


def test_what_it_looked_for_in_vain_changes_the_key_when_it_is_there(
    ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reads, "_SITE", [str(tmp_path)])
    (tmp_path / "no_such_module.py").touch()
    assert "module no_such_module" in ran.changed()


def test_a_recorded_version_in_the_runner_changes_the_key(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = reads.version
    monkeypatch.setattr(reads, "version", lambda name: "0.0" if name == "papermill" else installed(name))
    key._running.cache_clear()
    assert "running" in ran.changed()
    key._running.cache_clear()


@pytest.mark.parametrize("file", key.RUNNER)
def test_what_runs_the_chapters_changes_the_key(
    ran: Ran, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in key.RUNNER:
        (tmp_path / "press" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(key._PRESS / name, tmp_path / "press" / name)
    monkeypatch.setattr(key, "_PRESS", tmp_path / "press")
    assert ran.changed() == ()
    append(tmp_path / "press" / file)
    assert ran.changed() == ("press",)


def test_prose_does_not_change_the_key(ran: Ran) -> None:
    page = ran.book.root / "book" / "one.md"
    page.write_text(page.read_text().replace("Prose.", "Other prose."))
    assert ran.changed() == ()


def test_code_changes_the_key(ran: Ran) -> None:
    append(ran.book.root / "book" / "one.md", cell("1 + 1"))
    assert ran.changed() == ("cells",)


def test_a_run_is_told_by_its_parts(ran: Ran) -> None:
    assert key.run_key({**ran.run["declared"], **ran.run["observed"]}) == ran.run["key"]


def test_a_run_is_kept_without_the_scripts_of_its_figures(ran_once: Ran) -> None:
    assert '"_esm": "torchbook:bundle:symptoms"' in ran_once.book.executed("one").read_text()


# What runs do that the hook does not see.


@pytest.mark.parametrize(
    "start",
    [
        'subprocess.run([sys.executable, "-I", "-c", "import torchbook.notices"], check=True)',
        'subprocess.run([sys.executable, "-c", "import torchbook.notices"], env={"PATH": "/bin"}, check=True)',
        'os.system(f"{sys.executable} -sE -c pass")',
        'subprocess.run([f"{os.path.dirname(sys.executable)}/pygmentize", "-V"], env={"A": "b"}, stdout=-3)',
    ],
    ids=["isolated", "environment", "shell", "script"],
)
def test_where_a_child_cannot_be_watched_the_whole_package_counts(start: str, tmp_path: Path) -> None:
    log = tmp_path / "reads.txt"
    read_by(f"import os, subprocess, sys\n{start}", log)
    assert {reads.ALL, "package torchvision", "package transformers"} <= set(reads.names(log))


@pytest.mark.parametrize(
    "start",
    [
        'subprocess.run([sys.executable, "-c", "import torchbook.notices"], check=True)',
        'subprocess.run([sys.executable, "-c", "import torchbook.notices"], env={**os.environ, "A": "b"}, check=True)',
        'subprocess.run(["ls"], env={"PATH": "/bin"}, check=True); import torchbook.notices',
        "from multiprocessing import get_context\n"
        "child = get_context('fork').Process(target=exec, args=('import torchbook.notices',))\n"
        "child.start(); child.join()",
    ],
    ids=["child", "environment", "no Python", "fork"],
)
def test_what_a_child_reads_counts(start: str, tmp_path: Path) -> None:
    log = tmp_path / "reads.txt"
    read_by(f"import os, subprocess, sys\n{start}", log)
    names = reads.names(log)
    assert "file notices.py" in names
    assert reads.ALL not in names


def test_where_nothing_was_noted_the_whole_package_counts(tmp_path: Path) -> None:
    assert reads.ALL in reads.names(tmp_path / "missing.txt")


def test_the_whole_package_is_all_but_figures_scripts(ran: Ran) -> None:
    before = reads.now(reads.ALL)
    append(reads.PACKAGE / "viz/src/roofline/style.js")
    assert reads.now(reads.ALL) == before
    append(reads.PACKAGE / "viz/roofline.py")
    assert reads.now(reads.ALL) != before


def test_what_was_written_during_the_run_does_not_hold(ran: Ran) -> None:
    append(reads.PACKAGE / "notices.py")
    noted = key.observed(["file notices.py"], since=1.0)
    assert key.changed({"declared": {}, "observed": noted}, {}) == ("file notices.py",)


# What is neither the package's nor the run's own.


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder with a module and a file, beside the run's own."""
    (tmp_path / "own").mkdir()
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "helper_of_mine.py").write_text("ANSWER = 42")
    (folder / "numbers.csv").write_text("1,2")
    return folder


@pytest.mark.parametrize(
    ("code", "file"),
    [
        ("open({0!r} + '/numbers.csv').read()", "numbers.csv"),
        ("import sys; sys.path.append({0!r}); import helper_of_mine", "helper_of_mine.py"),
        ("import os; os.chdir({0!r}); os.close(os.open('numbers.csv', os.O_RDONLY))", "numbers.csv"),
    ],
    ids=["file", "module", "by its descriptor"],
)
def test_what_is_read_elsewhere_counts_by_its_path(code: str, file: str, elsewhere: Path) -> None:
    log = elsewhere.parent / "own" / "reads.txt"
    for _ in range(2):  # the second time a module is read as Python compiled it
        log.unlink(missing_ok=True)
        read_by(code.format(str(elsewhere)), log)
        assert [name for name in reads.names(log) if name.startswith("outside")] == [f"outside {elsewhere / file}"]
    before = reads.now(f"outside {elsewhere / file}")
    append(elsewhere / file)
    assert reads.now(f"outside {elsewhere / file}") != before
    assert reads.modified(f"outside {elsewhere / file}") > 0


def test_what_the_run_wrote_itself_does_not_count(elsewhere: Path) -> None:
    log = elsewhere.parent / "own" / "reads.txt"
    read_by(
        f"for folder in {[str(elsewhere), str(log.parent)]!r}:\n    name = folder + '/made'\n"
        "    open(name, 'w').write('1')\n    open(name).read()",
        log,
    )
    assert [name for name in reads.names(log) if name.startswith("outside")] == []


def test_data_count_by_their_name(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHBOOK_DATA", str(elsewhere))
    text = elsewhere / "tinyshakespeare" / "input.txt"
    text.parent.mkdir()
    text.write_text("To be")
    log = elsewhere.parent / "own" / "reads.txt"
    read_by(f"open({str(text)!r}).read()", log)
    names = [name for name in reads.names(log) if name.startswith(("data", "outside"))]
    assert names == ["data tiny-shakespeare"]
    found = data.Source("tiny-shakespeare", real=True, path=None, fingerprint="verified", note="")
    monkeypatch.setattr(data, "prepare", lambda name: found)
    assert reads.now("data tiny-shakespeare") == "verified"


def test_a_chapter_that_read_elsewhere_runs_again_when_that_changes(
    tmp_path: Path, repo: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "proofs"))
    monkeypatch.setenv("PYTHONPATH", str(elsewhere))  # so that a box, whose /tmp is its own, shows it
    (tmp_path / "root").mkdir()
    book = small_book(tmp_path / "root", repo)
    book.chapter("one", cell("from helper_of_mine import ANSWER; ANSWER"))
    here = replace(FAST, backend="threading")
    run(book, here)
    assert run(book, here).kept == ["book/one"]
    append(elsewhere / "helper_of_mine.py", "\nANSWER = 43\n")
    assert list(run(book, here).ran) == ["book/one"]


def read_by(code: str, log: Path) -> None:
    """Run code as a kernel is run, with its reads noted."""
    environment = {**os.environ, **reads.variables(log, os.environ)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=60)


def test_all_of_the_runner_is_in_its_list() -> None:
    """What `execute` imports of the press touches outputs, or is here for a reason."""
    exempt = {
        "torchbook_press.chapters",  # what is to run: its cells are a part
        "torchbook_press.reads",  # what was read: parts themselves
        "torchbook_press.varying",  # refuses cells, and changes none
        "torchbook_press.execute",
    }
    graph = grimp.build_graph("torchbook_press", cache_dir=None)
    modules = graph.find_upstream_modules("torchbook_press.execute") | {"torchbook_press.execute"}
    listed = {f"torchbook_press.{Path(name).stem}" for name in key.RUNNER if "/" not in name}
    assert modules <= exempt | listed
    assert listed <= modules


# Kept runs.


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Path:
    """A book that ran, here, another clone of it that did not, there, and the store of proofs."""
    folder = tmp_path_factory.mktemp("stored")
    for name in ("there", "here"):
        (folder / name).mkdir()
        book = small_book(folder / name, repo)
        book.chapter("one", cell("1"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER, str(folder / "proofs"))
        run(book)
    return folder


@pytest.fixture
def clone(stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Book, Book]:
    """Copies of both clones, with one store of proofs, for a test to change."""
    shutil.copytree(stored, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv(FOLDER, str(tmp_path / "proofs"))
    return Book(tmp_path / "here"), Book(tmp_path / "there")


def test_another_clone_takes_the_kept_run(clone: tuple[Book, Book]) -> None:
    here, there = clone
    assert run(there).reused == ["book/one"]
    assert there.executed("one").read_bytes() == here.executed("one").read_bytes()
    assert run(there).kept == ["book/one"]


def test_a_full_disk_is_named_before_a_kept_run_is_taken(
    clone: tuple[Book, Book], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    _, there = clone
    monkeypatch.setattr(files.tempfile, "TemporaryFile", full)
    monkeypatch.setattr(press, "write", full)
    with pytest.raises(RunError, match=r"executed/book: nothing can be written there \(No space left on device\)"):
        run(there)


def test_a_change_that_is_undone_takes_the_kept_run(clone: tuple[Book, Book]) -> None:
    here, _ = clone
    here.chapter("one", cell("2"))
    assert list(run(here).ran) == ["book/one"]
    here.chapter("one", cell("1"))
    assert run(here).reused == ["book/one"]
    assert nbformat.read(here.executed("one"), 4).cells[-1].source == "1"


def test_other_parameters_take_no_kept_run(clone: tuple[Book, Book]) -> None:
    _, there = clone
    assert list(run(there, Options(fast=True, seed=1)).ran) == ["book/one"]


def test_who_forces_a_run_takes_no_kept_one(clone: tuple[Book, Book]) -> None:
    _, there = clone
    assert list(run(there, Options(fast=True, force=True)).ran) == ["book/one"]


def test_fresh_runs_every_chapter_once_and_only_once(clone: tuple[Book, Book], monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = clone
    monkeypatch.setenv(FRESH, str(time.time()))
    assert list(run(here).ran) == ["book/one"]
    assert run(here).kept == ["book/one"]
    assert run(there).reused == ["book/one"]


def test_a_run_that_failed_is_not_kept(clone: tuple[Book, Book]) -> None:
    here, there = clone
    for book in (here, there):
        book.chapter("one", cell("1 / 0"))
        report = press.run(chapters(book.root), FAST, Console(quiet=True))
        assert [failure.docname for failure in report.failed] == ["book/one"]


def test_a_kept_run_does_not_hold_when_what_it_read_has_changed(
    clone: tuple[Book, Book], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, there = clone
    installed = reads.version
    monkeypatch.setattr(reads, "version", lambda name: "0.0" if name == "ipykernel" else installed(name))
    assert list(run(there).ran) == ["book/one"]


def test_the_command_says_what_was_kept(clone: tuple[Book, Book]) -> None:
    _, there = clone
    assert "0 up to date, 1 from kept runs, 0 ran, 0 failed" in there.torchbook("run", "--fast").stdout


def test_where_runs_cannot_be_kept_chapters_run_all_the_same(clone: tuple[Book, Book], tmp_path: Path) -> None:
    here, _ = clone
    shutil.rmtree(tmp_path / "proofs")
    (tmp_path / "proofs").write_text("a file where the folder should be")
    here.chapter("one", cell("2"))
    assert list(run(here).ran) == ["book/one"]


def test_kept_runs_are_json(clone: tuple[Book, Book], tmp_path: Path) -> None:
    (file,) = (tmp_path / "proofs" / "run").rglob("*.json")
    assert json.loads(file.read_text())["subject"].startswith("book/one cpu")
