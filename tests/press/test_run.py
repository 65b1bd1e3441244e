"""Running the chapters: only what changed, side by side, and nothing lost."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import joblib
import psutil
import pytest
from rich.console import Console

from torchbook_press import box, files
from torchbook_press import run as press
from torchbook_press.chapters import chapters
from torchbook_press.execute import Job
from torchbook_press.run import REQUIRE_COMPILER, Options, Report, run_metadata
from torchbook_proofs.store import FOLDER

from .conftest import Book, cell, kernels, until, without_compiler

# Starting processes would take these tests most of their time; those of the command start them.
THREADS = Options(backend="threading")


def run(book: Book, options: Options = THREADS) -> Report:
    return press.run(chapters(book.root), options, Console(quiet=True))


def test_what_is_up_to_date_is_kept(book: Book) -> None:
    book.chapter("one", cell("1"))
    book.chapter("two", cell("2"))
    assert set(run(book).ran) == {"book/one", "book/two"}
    again = run(book)
    assert (again.ran, again.kept) == ({}, ["book/one", "book/two"])


def test_a_changed_cell_runs_its_chapter_alone(book: Book) -> None:
    book.chapter("one", cell("1"))
    book.chapter("two", cell("2"))
    run(book)
    book.chapter("two", cell("3"))
    assert set(run(book).ran) == {"book/two"}


def test_force_runs_all(book: Book) -> None:
    book.chapter("one", cell("1"))
    run(book)
    assert set(run(book, replace(THREADS, force=True)).ran) == {"book/one"}


@pytest.mark.parametrize("left", ['{"cells": [', None], ids=["cut short", "deleted"])
def test_an_executed_notebook_that_cannot_be_read_is_made_again(book: Book, left: str | None) -> None:
    book.chapter("one", cell("1"))
    run(book)
    book.executed("one").unlink()
    if left:
        book.executed("one").write_text(left)
    assert run(book).reused == ["book/one"]
    assert json.loads(book.executed("one").read_text())["cells"]


def test_the_run_is_recorded(book: Book) -> None:
    book.chapter("one", cell("1"))
    run(book, Options(fast=True, seed=3))
    (chapter,) = chapters(book.root)
    record = run_metadata(chapter)
    assert record["parameters"] == {"DEVICE": "cpu", "FAST": True, "SEED": 3}
    assert re.fullmatch(r"[0-9a-f]{64}", record["key"])
    assert {"commit", "date", "device", "lane", "peak_gb", "seconds", "threads", "versions"} <= record.keys()
    assert len(record["cell_seconds"]) == 2


def test_a_failing_chapter_does_not_discard_the_others(book: Book) -> None:
    book.chapter("bad", cell("1 / 0"))
    book.chapter("good", cell("1"))
    report = run(book)
    assert [f.docname for f in report.failed] == ["book/bad"]
    assert list(report.ran) == ["book/good"]


def test_former_outputs_of_a_chapter_that_now_fails_stay_and_the_attempt_is_kept(book: Book) -> None:
    book.chapter("one", cell("1"))
    run(book)
    before = book.executed("one").read_text()
    book.chapter("one", cell("1 / 0"))
    run(book)
    assert book.executed("one").read_text() == before
    assert "ZeroDivisionError" in (book.root / "executed/_failed/book/one.ipynb").read_text()


def test_failures_are_one_line_each_and_the_exit_status_says_so(book: Book) -> None:
    book.chapter("bad", cell("1 / 0"))
    book.chapter("worse", "Text.", cell("raise ValueError('two\\nlines')"))
    done = book.torchbook("run")
    assert done.exit_code == 1
    assert sorted(done.stderr.splitlines()) == [
        "error book/bad.md:23: cell 2: ZeroDivisionError: division by zero",
        "error book/worse.md:24: cell 2: ValueError: two lines",
    ]


def test_brackets_of_a_message_are_no_markup(book: Book) -> None:
    book.chapter("bad", cell("raise ValueError('shape [batch, seq] and [/data/x]')"))
    assert "cell 2: ValueError: shape [batch, seq] and [/data/x]" in book.torchbook("run").stderr


def test_what_the_machine_cannot_run_is_named_with_the_remedy(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    without_compiler(book, monkeypatch)
    report = run(book)
    assert not report.failed
    assert not report.ran
    assert "no no-such-compiler on the PATH: install one" in report.lacking["book/kernels"]


def test_what_the_machine_could_not_run_is_tried_again(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    without_compiler(book, monkeypatch)
    run(book)
    assert list(run(book).lacking) == ["book/kernels"]


def test_where_a_compiler_is_required_its_absence_is_a_failure(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    without_compiler(book, monkeypatch)
    monkeypatch.setenv(REQUIRE_COMPILER, "1")
    assert [failure.docname for failure in run(book).failed] == ["book/kernels"]


def test_a_malformed_chapter_stops_the_run_before_it_starts(book: Book) -> None:
    book.page("one", "---\nfile_format: mystnb\n---\n# One\n")
    done = book.torchbook("run")
    assert done.exit_code == 2
    assert "book/one.md:1: no `torchbook:` block" in done.stderr


# Ends when the book's folder has a file, which a kernel can see there and not make.
WAITS = "import pathlib, time\nwhile not pathlib.Path({0!r}).exists(): time.sleep(0.02)"


def test_a_killed_run_leaves_no_kernel_and_resumes(book: Book) -> None:
    """Kill -9 while the second chapter runs: the next run keeps the first and runs the second alone."""
    book.chapter("one", cell("1"), minutes=2)
    book.chapter("two", cell(WAITS.format(str(book.root / "go"))), minutes=2)
    command = [sys.executable, "-m", "torchbook", "run", "--jobs", "2", "--root", str(book.root)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: book.executed("one").exists() and len(kernels(book)) == 1)
    process.kill()
    assert process.wait(timeout=60) == -signal.SIGKILL
    until(lambda: kernels(book) == [])
    (book.root / "go").touch()
    resumed = run(book)
    assert (resumed.kept, list(resumed.ran), resumed.failed) == (["book/one"], ["book/two"], [])


def test_a_killed_press_leaves_no_worker(book: Book) -> None:
    """Its workers would wait for ever to hand over what nobody reads."""
    book.chapter("one", cell("import time\ntime.sleep(90)"), minutes=2)
    command = [sys.executable, "-m", "torchbook", "run", "--jobs", "2", "--root", str(book.root)]
    process = psutil.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    family: list[psutil.Process] = []
    while not any("ipykernel_launcher" in _called(child) for child in family):
        assert time.monotonic() < deadline, "no kernel was started within a minute"
        time.sleep(0.2)
        family = process.children(recursive=True)
    process.kill()
    process.wait(timeout=10)
    assert [_called(child) for child in psutil.wait_procs(family, timeout=30)[1]] == []


def _called(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):  # it has just ended
        return ""


def test_parts_of_files_are_never_left(book: Book) -> None:
    book.chapter("one", cell("1"))
    run(book)
    assert [path.name for path in (book.root / "executed").rglob("*") if path.is_file()] == ["one.ipynb"]


def test_chapters_with_the_longest_run_start_first(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def outcomes(jobs: list[Job], options: Options) -> Iterator[None]:
        order.extend(job.docname for job in jobs)
        return iter(())

    monkeypatch.setattr(press, "_outcomes", outcomes)
    for name, minutes in (("short", 1), ("long", 9), ("middle", 5)):
        book.chapter(name, minutes=minutes)
    run(book)
    assert order == ["book/long", "book/middle", "book/short"]


@pytest.mark.parametrize(
    ("memory_gb", "threads", "count"), [(1.0, 1, 4), (1.0, 2, 2), (10**6, 1, 1), (1.0, 64, 1)], ids=str
)
def test_side_by_side_as_cores_threads_and_memory_allow(
    monkeypatch: pytest.MonkeyPatch, memory_gb: float, threads: int, count: int
) -> None:
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
    jobs = [Job("x", "", {}, (), 60, memory_gb, threads) for _ in range(6)]
    assert press._side_by_side(jobs, Options()) == count


def test_two_chapters_run_at_the_same_time(book: Book) -> None:
    """Run one after the other, there would never be two kernels."""
    for name in ("one", "two"):
        book.chapter(name, cell(WAITS.format(str(book.root / "go"))), minutes=2)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(run, book, replace(THREADS, jobs=2))
        until(lambda: len(kernels(book)) == 2)
        (book.root / "go").touch()
        assert running.result().failed == []


@pytest.fixture
def dask_cluster() -> Iterator[str]:
    """Address of a scheduler with two worker processes."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


def test_the_workers_of_a_dask_scheduler_run_the_chapters(book: Book, dask_cluster: str) -> None:
    for name in ("one", "two"):
        book.chapter(name, cell(WAITS.format(str(book.root / "go"))), minutes=2)
    book.chapter("bad", cell("1 / 0"))
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(run, book, Options(backend="dask", scheduler=dask_cluster))
        until(lambda: len(kernels(book)) == 2)
        workers = {next(p for p in kernel.parents() if p.name() != "bwrap").pid for kernel in kernels(book)}
        (book.root / "go").touch()
        report = running.result()
    assert set(report.ran) == {"book/one", "book/two"}
    assert [f.reason for f in report.failed] == ["ZeroDivisionError: division by zero"]
    assert len(workers - {os.getpid()}) == 2


def test_no_scheduler_at_the_address_is_said(book: Book) -> None:
    book.chapter("one", cell("1"))
    done = book.torchbook("run", "--backend", "dask", "--scheduler", "tcp://127.0.0.1:9")
    assert done.exit_code == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in done.stderr


def test_progress_shows_the_running_cell(book: Book) -> None:
    output = io.StringIO()
    book.chapter("one", cell("import time; time.sleep(1)"))
    press.run(chapters(book.root), Options(), Console(force_terminal=True, file=output, width=120))
    assert re.search(r"book/one cell.*2/2", output.getvalue())


# Where there is no box.


def test_what_is_not_held_without_a_box_is_said_once(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box, "why_not", lambda: "bubblewrap is not installed")
    for name in ("one", "two"):
        book.chapter(name, cell("1"))
    output = io.StringIO()
    report = press.run(chapters(book.root), THREADS, Console(file=output, width=80))
    assert len(report.ran) == 2
    assert output.getvalue().count(box.note("bubblewrap is not installed") + "\n") == 1


# Where nothing can be written.


def test_a_folder_that_takes_nothing_is_named_before_chapters_run(book: Book) -> None:
    book.chapter("one", cell("open('ran', 'w')"))
    (book.root / "executed").write_text("a file")
    done = book.torchbook("run")
    assert done.exit_code == 2
    message = f"error {book.root}/executed/book: nothing can be written there"
    assert done.stderr.startswith(message)
    assert "make the folder writable" in done.stderr


def test_a_home_that_takes_nothing_is_in_no_way(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    (book.root / "home").write_text("a file")
    monkeypatch.setenv("HOME", str(book.root / "home"))
    monkeypatch.delenv(FOLDER)
    book.chapter("one", cell("1"))
    done = book.typed("run")
    assert (done.returncode, "1 ran, 0 failed" in done.stdout) == (0, True), done.stderr


def test_what_could_not_be_written_whole_is_not_left_in_part(tmp_path: Path) -> None:
    (tmp_path / "one.ipynb").mkdir()
    with pytest.raises(IsADirectoryError):
        files.write(tmp_path / "one.ipynb", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["one.ipynb"]


def test_a_full_disk_is_named_with_its_remedy(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(dir: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.tempfile, "TemporaryFile", full)
    book.chapter("one")
    done = book.torchbook("run")
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
    assert "(No space left on device): free some space there" in done.stderr


# What is kept, and what is said.


def test_an_interrupted_run_says_what_is_kept_and_how_to_go_on(book: Book) -> None:
    book.chapter("one", cell("1"), minutes=2)
    book.chapter("two", cell(WAITS.format(str(book.root / "go"))), minutes=2)
    command = [sys.executable, "-m", "torchbook", "run", "--jobs", "2", "--root", str(book.root)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: book.executed("one").exists() and len(kernels(book)) == 1)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=120)
    until(lambda: kernels(book) == [])
    assert process.returncode == 130
    assert "stopped: 1 of 2 chapters ran and are kept; not finished: two, of which former outputs stay" in said
    assert "the same command goes on" in said


def test_without_a_terminal_lines_say_what_runs(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(press, "_SAY_EVERY", 0.5)
    book.chapter("one", cell("import time; time.sleep(2)"))
    output = io.StringIO()
    press.run(chapters(book.root), THREADS, Console(file=output, width=120))
    assert re.search(r"0 of 1 chapters after 0\.\d min; book/one at cell 2 of 2", output.getvalue())


def test_a_module_that_is_missing_is_told_how_to_install(book: Book) -> None:
    (book.root / "pyproject.toml").write_text(
        '[project.optional-dependencies]\nchapters = [\n  "nosuch-thing>=1",\n]\n'
    )
    book.chapter("bad", cell("import nosuch_thing"))
    book.chapter("worse", cell("import neither.this"))
    reasons = {failure.docname: failure.reason for failure in run(book).failed}
    assert reasons["book/bad"].endswith("'nosuch_thing': pyproject.toml lists it, so `make setup` installs it")
    assert "name its package in pyproject.toml (extra `chapters`)" in reasons["book/worse"]


def test_outputs_of_a_chapter_that_is_gone_go_too_and_are_named(book: Book) -> None:
    book.chapter("one", cell("1"))
    gone = book.chapter("two", cell("2"))
    book.torchbook("run")
    toc = book.root / "_toc.yml"
    toc.write_text("".join(line for line in toc.read_text().splitlines(True) if "book/two" not in line))
    gone.unlink()
    done = book.torchbook("run")
    assert "executed/book/two.ipynb: its chapter is gone, and so are these outputs now" in done.stderr
    assert not book.executed("two").exists()
    assert book.executed("one").exists()


def test_the_failing_line_is_named_and_not_the_first_of_its_cell(book: Book) -> None:
    path = book.chapter("bad", cell("a = 1\nb = 2\n\nassert a == b, 'no'", "varies"))
    (failure,) = run(book).failed
    assert path.read_text().splitlines()[failure.line - 1] == "assert a == b, 'no'"


def test_a_syntax_error_names_its_line_and_no_file_of_the_kernels(book: Book) -> None:
    path = book.chapter("bad", cell("a = 1\nb = = 2"))
    (failure,) = run(book).failed
    assert path.read_text().splitlines()[failure.line - 1] == "b = = 2"
    assert failure.reason == "SyntaxError: invalid syntax"
