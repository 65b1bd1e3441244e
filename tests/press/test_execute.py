"""One chapter under watch: its limits hold, and its one error names chapter, line, cell and cause."""

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from torchbook_press.chapters import chapters
from torchbook_press.execute import Job, Outcome, execute

from ..conftest import PATIENCE
from .conftest import Book, cell, small_book


def job(book: Book, *parts: str, seconds: float = 60, memory_gb: float = 2) -> Job:
    book.chapter("one", *parts)
    (chapter,) = chapters(book.root)
    lines = tuple(chapter.line_of(i) for i in range(len(chapter.code)))
    parameters = {"DEVICE": "cpu", "FAST": True, "SEED": 7}
    source, protected = nbformat.writes(chapter.notebook), (str(book.root),)
    return Job(chapter.docname, source, parameters, lines, seconds, memory_gb, threads=1, protected=protected)


def run(book: Book, *parts: str, seconds: float = 60, memory_gb: float = 2) -> Outcome:
    return execute(job(book, *parts, seconds=seconds, memory_gb=memory_gb))


def in_threads(jobs: Sequence[Job]) -> list[Outcome]:
    """All at once in this process, as a worker of Dask runs them that has several threads."""
    with ThreadPoolExecutor(len(jobs)) as threads:
        return list(threads.map(execute, jobs))


def shown(outcome: Outcome, code_cell: int = -1) -> str:
    """What a code cell gave, by its number among them; papermill's own, below the parameters, is counted."""
    assert outcome.failure is None, outcome.failure
    assert outcome.notebook
    cells = [cell for cell in nbformat.reads(outcome.notebook, as_version=4).cells if cell.cell_type == "code"]
    return str(cells[code_cell].outputs[0].data["text/plain"])


# One run, and what it shows. Each cell is one that a test below asks about.


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Outcome:
    book = small_book(tmp_path_factory.mktemp("ran"), repo)
    return run(
        book,
        cell("DEVICE, FAST, SEED"),
        cell("import os; os.listdir()"),
        cell('os.environ["OMP_NUM_THREADS"], os.environ["OMP_WAIT_POLICY"]'),
        cell("hog = bytearray(4 * 10**8); import time; time.sleep(3); del hog"),
        cell("1 / 0", raises="ZeroDivisionError"),
        cell("import ipykernel; ipykernel.get_connection_info(unpack=True)['transport']"),
        cell('os.environ["TORCHINDUCTOR_VEC_ISA_OK"]'),
        cell("'after'"),
    )


def test_parameters_reach_the_chapter(ran: Outcome) -> None:
    assert shown(ran, 2) == "('cpu', True, 7)"


def test_the_chapter_runs_in_an_empty_folder(ran: Outcome) -> None:
    assert shown(ran, 3) == "[]"


def test_no_other_process_can_take_its_ports(ran: Outcome) -> None:
    assert shown(ran, 7) == "'ipc'"


def test_threads_are_those_of_the_contract_and_waiting_threads_sleep(ran: Outcome) -> None:
    assert shown(ran, 4) == "('1', 'PASSIVE')"


def test_compiled_code_needs_no_trial_of_the_processor(ran: Outcome) -> None:
    assert shown(ran, 8) == "'1'"


def test_time_and_memory_are_measured(ran: Outcome) -> None:
    assert 0.4 < ran.peak_gb < 1
    assert ran.cell_seconds[4] >= 3


def test_expected_error_is_shown_and_the_rest_runs(ran: Outcome) -> None:
    assert shown(ran) == "'after'"


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Outcome:
    book = small_book(tmp_path_factory.mktemp("failed"), repo)
    return run(book, "Text.", cell("6 * 7"), cell("1 / 0"), cell("1"))


def test_unexpected_error_names_line_cell_and_cause(failed: Outcome) -> None:
    assert str(failed.failure) == "book/one.md:28: cell 3: ZeroDivisionError: division by zero"


def test_the_notebook_so_far_is_kept_when_a_cell_fails(failed: Outcome) -> None:
    assert failed.notebook
    assert "42" in failed.notebook


def test_chapter_that_outlives_its_minutes_is_killed(book: Book) -> None:
    outcome = run(book, cell("while True: pass"), seconds=2 * PATIENCE)
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


@pytest.fixture(scope="module")
def died(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Outcome:
    book = small_book(tmp_path_factory.mktemp("died"), repo)
    return run(book, cell("6 * 7"), cell("import ctypes; ctypes.string_at(0)"))


def test_kernel_that_dies_says_why(died: Outcome) -> None:
    assert str(died.failure) == "book/one.md:27: cell 3: the kernel died: Fatal Python error: Segmentation fault"


def test_the_notebook_so_far_is_kept_when_the_kernel_dies(died: Outcome) -> None:
    assert died.notebook
    assert "42" in died.notebook


@pytest.mark.parametrize("code", ["raise SystemExit(3)", "import os; os._exit(0)"], ids=["SystemExit", "_exit"])
def test_leaving_early_is_a_failure(book: Book, code: str) -> None:
    assert run(book, cell(code), cell("1")).failure is not None


def test_jobs_in_threads_of_one_process_have_their_own_variables_and_folders(book: Book) -> None:
    """Each leaves a file in its folder; what it sees there is its own alone."""
    code = "import os; open(os.environ['WHO'], 'w').close(); os.environ['WHO'], os.listdir()"
    template = job(book, cell(code))
    outcomes = in_threads([replace(template, variables=(("WHO", name),)) for name in ("ann", "bob")])
    assert [shown(outcome) for outcome in outcomes] == ["('ann', ['ann'])", "('bob', ['bob'])"]


def test_the_press_keeps_its_own_variables_while_a_chapter_runs(book: Book) -> None:
    before = dict(os.environ)
    during: list[dict[str, str]] = []
    watched = replace(job(book, cell("1")), variables=(("WHO", "ann"),))
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(execute, watched)
        while not running.done():
            during.append(dict(os.environ))
            time.sleep(0.01)
    assert running.result().failure is None
    assert all(seen == before for seen in during)


@pytest.mark.parametrize("kind", ["DeprecationWarning", "FutureWarning"])
def test_a_deprecation_in_a_cell_is_a_failure(book: Book, kind: str) -> None:
    outcome = run(book, cell(f"import warnings\nwarnings.warn('use another', {kind})"))
    assert str(outcome.failure) == f"book/one.md:22: cell 2: {kind}: use another"


def test_a_deprecation_in_a_program_that_a_cell_starts_is_a_failure_of_the_program(book: Book) -> None:
    program = "import warnings; warnings.warn('use another', FutureWarning)"
    code = (
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {program!r}], capture_output=True).returncode"
    )
    assert shown(run(book, cell(code))) == "1"
