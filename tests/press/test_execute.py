"""One chapter under watch: its limits hold, and its one error names chapter, line, cell and cause."""

import nbformat
import pytest

from torchbook.press.chapters import chapters
from torchbook.press.execute import Job, Outcome, execute

from .conftest import Book, cell


def run(book: Book, *parts: str, seconds: float = 60, memory_gb: float = 2) -> Outcome:
    book.chapter("one", *parts)
    (chapter,) = chapters(book.root)
    lines = tuple(chapter.line_of(i) for i in range(len(chapter.code)))
    parameters = {"DEVICE": "cpu", "FAST": True, "SEED": 7}
    return execute(
        Job(chapter.docname, nbformat.writes(chapter.notebook), parameters, lines, seconds, memory_gb, threads=1)
    )


def shown(outcome: Outcome) -> str:
    assert outcome.failure is None, outcome.failure
    assert outcome.notebook
    last = nbformat.reads(outcome.notebook, as_version=4).cells[-1]
    return str(last.outputs[0].data["text/plain"])


def test_parameters_reach_the_chapter(book: Book) -> None:
    assert shown(run(book, cell("DEVICE, FAST, SEED"))) == "('cpu', True, 7)"


def test_the_chapter_runs_in_an_empty_folder(book: Book) -> None:
    assert shown(run(book, cell("import os; os.listdir()"))) == "[]"


def test_threads_are_those_of_the_contract_and_waiting_threads_sleep(book: Book) -> None:
    code = 'import os; os.environ["OMP_NUM_THREADS"], os.environ["OMP_WAIT_POLICY"]'
    assert shown(run(book, cell(code))) == "('1', 'PASSIVE')"


def test_unexpected_error_names_line_cell_and_cause(book: Book) -> None:
    outcome = run(book, "Text.", cell("1 / 0"), cell("1"))
    assert str(outcome.failure) == "book/one.md:23: cell 2: ZeroDivisionError: division by zero"


def test_expected_error_is_shown_and_the_rest_runs(book: Book) -> None:
    assert shown(run(book, cell("1 / 0", "raises-exception"), cell("'after'"))) == "'after'"


def test_the_notebook_so_far_is_kept_when_a_cell_fails(book: Book) -> None:
    outcome = run(book, cell("6 * 7"), cell("1 / 0"))
    assert outcome.notebook
    assert "42" in outcome.notebook


def test_chapter_that_outlives_its_minutes_is_killed(book: Book) -> None:
    outcome = run(book, cell("while True: pass"), seconds=2)
    assert str(outcome.failure).startswith("book/one.md:22: cell 2: ran longer than its minutes:")


def test_chapter_that_outgrows_its_memory_is_killed(book: Book) -> None:
    outcome = run(book, cell("hog = bytearray(10**9)\nwhile True: pass"), memory_gb=0.5)
    assert "more than its memory_gb: 0.5" in str(outcome.failure)


def test_memory_of_child_processes_counts(book: Book) -> None:
    child = (
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'hog = bytearray(10**9)\\nwhile True: pass'])"
    )
    outcome = run(book, cell(child), memory_gb=0.5)
    assert "more than its memory_gb: 0.5" in str(outcome.failure)


def test_kernel_that_dies_says_why(book: Book) -> None:
    outcome = run(book, cell("import ctypes; ctypes.string_at(0)"))
    assert str(outcome.failure) == "book/one.md:22: cell 2: the kernel died: Fatal Python error: Segmentation fault"


def test_time_and_memory_are_measured(book: Book) -> None:
    outcome = run(book, cell("hog = bytearray(4 * 10**8); import time; time.sleep(0.5)"))
    assert 0.4 < outcome.peak_gb < 1
    assert outcome.cell_seconds[1] >= 0.5


@pytest.mark.parametrize("code", ["raise SystemExit(3)", "import os; os._exit(0)"], ids=["SystemExit", "_exit"])
def test_leaving_early_is_a_failure(book: Book, code: str) -> None:
    assert run(book, cell(code), cell("1")).failure is not None
