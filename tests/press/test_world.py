"""A kernel's world: what it sees is declared, what it may not do is refused, and nothing of it is left."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import nbformat
import psutil
import pytest

from torchbook_press.chapters import chapters
from torchbook_press.execute import Outcome, execute

from ..conftest import PATIENCE
from .conftest import Book, cell, small_book
from .test_execute import job, run, shown

# A process that leaves its session and its parent, as a daemon does, and then lasts.
DAEMON = """\
import os, subprocess, sys
sleeper = {code!r}
start = "import os, subprocess, sys; os.setsid(); os.fork() and os._exit(0);"
start += "quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL);"
start += "print(subprocess.Popen([sys.executable, '-c', sys.argv[1]], **quiet).pid, flush=True)"
subprocess.run([sys.executable, "-c", start, sleeper], capture_output=True, text=True).stdout
"""
REFUSED = """\
try:
    {code}
except OSError as error:
    message = str(error)
message"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Outcome:
    """One run, whose cells the tests below ask about, by this process's environment."""
    home = tmp_path_factory.mktemp("home")
    startup = home / ".ipython" / "profile_default" / "startup" / "00-mine.py"
    startup.parent.mkdir(parents=True)
    startup.write_text("mine = 'found'")
    book = small_book(tmp_path_factory.mktemp("world"), repo)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for name, value in (("FOO", "mine"), ("LANG", "tr_TR.UTF-8"), ("TZ", "Asia/Tokyo"), ("PYTHONHASHSEED", "7")):
            patch.setenv(name, value)
        return run(
            book,
            cell("import os, time; [os.environ.get(n) for n in ('FOO', 'LANG', 'TZ', 'PYTHONHASHSEED')]"),
            cell("'mine' in globals(), os.listdir(os.path.expanduser('~')), time.tzname"),
            cell(REFUSED.format(code=f"open({str(book.root / 'book' / 'x.md')!r}, 'w')")),
            cell(REFUSED.format(code=f"os.remove({str(book.root / '_toc.yml')!r})")),
            cell("import tempfile; len(tempfile.NamedTemporaryFile().name) > 0, open('mine', 'w').write('1')"),
            cell(REFUSED.format(code="__import__('socket').create_connection(('192.0.2.1', 80), timeout=5)")),
            cell(
                "import socket; s = socket.create_server(('127.0.0.1', 0))\n"
                "socket.create_connection(s.getsockname()).close()"
            ),
            cell("!true\nlines = !echo two words\nlines[0]"),
            cell("!exit 3", raises="'CalledProcessError: exit status 3'"),
            cell("lines = !false", raises="CalledProcessError"),
            cell(DAEMON.format(code="import time; time.sleep(100)")),
        )


def test_its_variables_are_the_declared_ones(ran: Outcome) -> None:
    assert shown(ran, 2) == "[None, 'C.UTF-8', 'UTC', '0']"


def test_its_home_is_empty(ran: Outcome) -> None:
    assert shown(ran, 3) == "(False, ['.ipython'], ('UTC', 'UTC'))"


@pytest.mark.parametrize("number", [4, 5], ids=["writing", "removing"])
def test_it_changes_nothing_of_the_book(ran: Outcome, number: int) -> None:
    assert "a chapter writes in its own folder, not in the book's" in shown(ran, number)


def test_it_writes_in_its_own_folders(ran: Outcome) -> None:
    assert shown(ran, 6) == "(True, 1)"


def test_it_connects_to_no_other_machine(ran: Outcome) -> None:
    assert "a chapter that connects to 192.0.2.1 says so in its contract: needs: [network]" in shown(ran, 7)


def test_lines_of_shell_that_end_well_are_as_ever(ran: Outcome) -> None:
    assert shown(ran, 9) == "'two words'"


def test_what_it_left_behind_is_ended(ran: Outcome) -> None:
    pid = int(shown(ran, 12).strip("'\\n"))
    for _ in range(100):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return
        time.sleep(0.05)
    pytest.fail("a process that left its session outlived the run")


def test_the_network_that_is_declared_is_let_through(book: Book) -> None:
    """An address that nobody has: the attempt is made, and it is not the press that ends it."""
    attempt = cell(REFUSED.format(code="__import__('socket').create_connection(('192.0.2.1', 80), timeout=0.2)"))
    outcome = execute(replace(job(book, attempt), needs=("cpu", "network")))
    assert "says so in its contract" not in shown(outcome)


def test_a_contract_may_need_the_network(book: Book) -> None:
    path = book.chapter("one")
    path.write_text(path.read_text().replace("  minutes:", "  needs: [cpu, network]\n  minutes:"))
    (chapter,) = chapters(book.root)
    assert chapter.contract.needs == ("cpu", "network")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("!exit 3", "CalledProcessError: Command 'exit 3' returned non-zero exit status 3."),
        ("import sys; sys.exit(0)", "SystemExit: 0"),
        ("for _ in range(400): print('x' * 1_000_000)", "its output is more than 5 MB: show less"),
    ],
    ids=["a line of shell", "leaving", "output without end"],
)
def test_a_cell_fails(book: Book, code: str, reason: str) -> None:
    outcome = run(book, cell(code))
    assert str(outcome.failure) == f"book/one.md:22: cell 2: {reason}"


def test_memory_of_a_daemon_counts(book: Book) -> None:
    hog = "import time; hog = bytearray(9 * 10**8); time.sleep(60)"
    outcome = run(book, cell(DAEMON.format(code=hog) + "import time; time.sleep(60)"), memory_gb=0.6)
    assert "more than its memory_gb: 0.6" in str(outcome.failure)


def test_a_daemon_does_not_outlive_a_chapter_that_is_ended(
    book: Book, tmp_path_factory: pytest.TempPathFactory
) -> None:
    sign = tmp_path_factory.mktemp("signs") / "alive"
    beat = f"import time, pathlib\nwhile True: pathlib.Path({str(sign)!r}).touch(); time.sleep(0.05)"
    outcome = run(book, cell(DAEMON.format(code=beat) + "while True: pass"), seconds=4 * PATIENCE)
    assert "ran longer than its minutes" in str(outcome.failure)
    assert sign.exists()
    sign.unlink()
    time.sleep(1)
    assert not sign.exists()


def test_a_kernel_that_the_user_registered_is_not_used(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = book.root / "home/.local/share/jupyter/kernels/python3/kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text('{"argv": ["/bin/false"], "display_name": "Mine", "language": "python"}')
    monkeypatch.setenv("HOME", str(book.root / "home"))
    assert shown(run(book, cell("6 * 7"))) == "42"


def test_notebooks_of_runs_are_notebooks(ran: Outcome) -> None:
    assert ran.notebook
    nbformat.validate(nbformat.reads(ran.notebook, as_version=4))
