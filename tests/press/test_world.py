"""A kernel's world: what it sees is declared, what it may not do is refused, and nothing of it is left."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpecManager

from torchbook import bubblewrap
from torchbook_press import box
from torchbook_press.chapters import chapters
from torchbook_press.execute import Outcome, execute, kernel_of

from ..conftest import PATIENCE
from .conftest import Book, cell, small_book, until
from .test_execute import job, run, shown

# A process that leaves its session and its parent, as a daemon does, and then lasts; `env` are its variables.
DAEMON = """\
import os, subprocess, sys
start = "import os, subprocess, sys; os.setsid(); os.fork() and os._exit(0);"
start += "quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL);"
start += "subprocess.Popen([sys.executable, '-c', sys.argv[1]], **quiet)"
_ = subprocess.run([sys.executable, "-c", start, {code!r}], env={env})
"""
REFUSED = """\
try:
    {code}
except OSError as error:
    message = str(error)
message"""
TOKEN = f"daemon_{secrets.token_hex(8)}"


def alive(token: str) -> bool:
    """Whether there is a process in whose command line the token stands, and which is no other's box."""
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or ()
        if any(word.startswith(token) for word in words) and process.status() != psutil.STATUS_ZOMBIE:
            return True
    return False


def gone(token: str) -> bool:
    """Whether there is none soon: a process that was killed may take a moment."""
    end = time.monotonic() + 5 * PATIENCE
    while alive(token) and time.monotonic() < end:
        time.sleep(0.05)
    return not alive(token)


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
            cell(DAEMON.format(code=f"{TOKEN} = 0; import time; time.sleep(100)", env=None)),
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
    assert ran.failure is None
    assert gone(TOKEN)


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
    outcome = run(book, cell(DAEMON.format(code=hog, env=None) + "import time; time.sleep(60)"), memory_gb=0.6)
    assert "more than its memory_gb: 0.6" in str(outcome.failure)


def test_a_daemon_does_not_outlive_a_chapter_that_is_ended(book: Book) -> None:
    token = f"daemon_{secrets.token_hex(8)}"
    daemon = DAEMON.format(code=f"{token} = 0; import time; time.sleep(100)", env=None)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(run, book, cell(daemon + "while True: pass"), seconds=6 * PATIENCE)
        assert seen(token, running)
        assert "ran longer than its minutes" in str(running.result().failure)
    assert gone(token)


def seen(token: str, running: Future[Any]) -> bool:
    """Whether a process with the token was there before something ended."""
    while not running.done():
        if alive(token):
            return True
        time.sleep(0.05)
    return False


def test_a_kernel_that_the_user_registered_is_not_used(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = book.root / "home/.local/share/jupyter/kernels/python3/kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text('{"argv": ["/bin/false"], "display_name": "Mine", "language": "python"}')
    monkeypatch.setenv("HOME", str(book.root / "home"))
    assert shown(run(book, cell("6 * 7"))) == "42"


def test_notebooks_of_runs_are_notebooks(ran: Outcome) -> None:
    assert ran.notebook
    nbformat.validate(nbformat.reads(ran.notebook, as_version=4))


# The box, where there is one: what no event of Python's tells of.

_why_not = box.why_not()
if _why_not and os.environ.get("TORCHBOOK_REQUIRE_SANDBOX"):
    raise RuntimeError(_why_not)
needs_box = pytest.mark.skipif(bool(_why_not), reason=_why_not)

# As C++ would, without an event.
C_OPEN = """\
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.open({path!r}.encode(), os.O_WRONLY | os.O_CREAT, 0o666), os.strerror(ctypes.get_errno())"""
# A Python that does not load what the press watches it with.
ALONE = """\
import subprocess, sys
subprocess.run([sys.executable, '-I', '-c', {code!r}], capture_output=True, text=True)"""
STATUS = """\
import os
lines = open('/proc/self/status').read().splitlines()
sorted(line.split()[1] for line in lines if line.startswith(('CapEff', 'NoNewPrivs')))"""
NOTEBOOKS = """\
import pathlib
[path.name for path in pathlib.Path.home().parent.iterdir() if path.suffix == '.ipynb']"""
# What may be written of the kernel's settings.
WRITABLE = """\
import os
found = []
for top in ('/proc', '/sys/kernel', '/sys/fs'):
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if not (folder == '/proc' and name.isdigit())]
        for path in (os.path.join(folder, name) for name in files):
            if not os.path.islink(path) and os.lstat(path).st_mode & 0o222:
                try:
                    os.close(os.open(path, os.O_WRONLY))
                    found.append(path)
                except OSError:
                    pass
found"""
CONNECT = "import socket; socket.create_connection(('127.0.0.1', {port}), timeout=5)"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, socket.socket]]:
    """A folder of this machine that is none of the book's, in /tmp, and a server."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield tmp_path_factory.mktemp("machine"), server


@pytest.fixture(scope="module")
def boxed(tmp_path_factory: pytest.TempPathFactory, repo: Path, machine: tuple[Path, socket.socket]) -> Outcome:
    """One run in a box, whose cells the tests below ask about."""
    folder, server = machine
    book = small_book(tmp_path_factory.mktemp("boxed"), repo)
    page, connect = book.root / "book" / "index.md", CONNECT.format(port=server.getsockname()[1])
    (folder / "mine").touch()
    return run(
        book,
        cell(C_OPEN.format(path=str(page))),
        cell(C_OPEN.format(path=str(Path(sys.prefix) / "from-a-cell"))),
        cell(f"import subprocess\nsubprocess.run(['touch', {str(page)!r}], capture_output=True, text=True).stderr"),
        cell(ALONE.format(code=f"open({str(page)!r}, 'a')") + ".stderr.splitlines()[-1]"),
        cell(ALONE.format(code=connect) + ".stderr.splitlines()[-1]"),
        cell(ALONE.format(code=connect.replace("127.0.0.1", "192.0.2.1")) + ".stderr.splitlines()[-1]"),
        cell(f"import os\nos.path.exists({str(folder)!r}), open('/tmp/from-a-cell', 'w').write('1')"),
        cell("import torch, torch.multiprocessing as mp\nx = torch.zeros(3).share_memory_(); x.is_shared()"),
        cell(STATUS),
        cell("import psutil, socket\nsocket.gethostbyname(socket.gethostname()), len(psutil.pids()) < 10", "varies"),
        cell(NOTEBOOKS, "varies"),
        cell(WRITABLE),
        cell(DAEMON.format(code=f"{TOKEN}_boxed = 0; import time; time.sleep(100)", env={})),
    )


@needs_box
@pytest.mark.parametrize("number", [2, 3], ids=["the book", "packages"])
def test_c_writes_nothing_of_this_machine(boxed: Outcome, number: int) -> None:
    assert shown(boxed, number) == "(-1, 'Read-only file system')"


@needs_box
@pytest.mark.parametrize("number", [4, 5], ids=["touch", "unwatched Python"])
def test_programs_write_nothing_of_it_either(boxed: Outcome, number: int) -> None:
    assert "Read-only file system" in shown(boxed, number)


@needs_box
def test_programs_reach_no_server_of_this_machine(boxed: Outcome, machine: tuple[Path, socket.socket]) -> None:
    assert "ConnectionRefusedError" in shown(boxed, 6)
    with pytest.raises(BlockingIOError):
        machine[1].accept()


@needs_box
def test_programs_reach_no_other_machine(boxed: Outcome) -> None:
    assert "Network is unreachable" in shown(boxed, 7)


@needs_box
def test_its_tmp_is_its_own(boxed: Outcome) -> None:
    assert shown(boxed, 8) == "(False, 1)"
    assert not Path("/tmp/from-a-cell").exists()


@needs_box
def test_memory_can_be_shared(boxed: Outcome) -> None:
    assert shown(boxed, 9) == "True"


@needs_box
def test_no_privilege_of_root_changes_what_it_may_write(boxed: Outcome) -> None:
    allowed = 1 << 31 | 1 << 1 if bubblewrap.is_root() else 0  # CAP_SETFCAP and CAP_DAC_OVERRIDE
    assert shown(boxed, 10) == str([f"{allowed:016x}", "1"])


@needs_box
def test_it_sees_its_own_processes_and_its_name_is_an_address(boxed: Outcome) -> None:
    assert shown(boxed, 11) == "('127.0.0.1', True)"


@needs_box
def test_what_the_press_writes_of_it_lies_elsewhere(boxed: Outcome) -> None:
    assert shown(boxed, 12) == "[]"


@needs_box
def test_no_setting_of_this_machine_is_written(boxed: Outcome) -> None:
    """Root may write some without a privilege."""
    assert shown(boxed, 13) == "[]"


@needs_box
def test_a_daemon_that_dropped_its_mark_is_ended(boxed: Outcome) -> None:
    assert boxed.failure is None
    assert gone(f"{TOKEN}_boxed")


@needs_box
def test_memory_of_a_daemon_that_dropped_its_mark_counts(book: Book) -> None:
    hog = "import time; hog = bytearray(9 * 10**8); time.sleep(60)"
    outcome = run(book, cell(DAEMON.format(code=hog, env={}) + "import time; time.sleep(60)"), memory_gb=0.6)
    assert "more than its memory_gb: 0.6" in str(outcome.failure)


@needs_box
def test_the_network_that_is_declared_is_this_machine_s(book: Book, machine: tuple[Path, socket.socket]) -> None:
    connect = CONNECT.format(port=machine[1].getsockname()[1])
    outcome = execute(replace(job(book, cell(ALONE.format(code=connect) + ".returncode")), needs=("cpu", "network")))
    assert shown(outcome) == "0"
    machine[1].accept()[0].close()


@needs_box
def test_it_can_be_interrupted_by_message_and_by_signal(book: Book, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder, own = tmp_path_factory.mktemp("kernel"), tmp_path_factory.mktemp("own")
    kernel = kernel_of(job(book), folder, own)
    manager = KernelManager(
        kernel_name="python3",
        transport="ipc",
        connection_file=str(folder / "connection.json"),
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(kernel.specs)]),
    )
    manager.start_kernel(cwd=str(kernel.work), env=kernel.variables)
    try:
        client = manager.client()
        client.start_channels()
        client.wait_for_ready(timeout=60 * PATIENCE)
        (first,) = psutil.Process(manager.provisioner.pid).children()
        (inside,) = first.children()
        for interrupt in (manager.interrupt_kernel, lambda: inside.send_signal(signal.SIGINT)):
            running = kernel.work / "running"  # a message that a cell is run comes before it runs, and may be missed
            message = client.execute("open('running', 'w').close()\nwhile True: pass")
            until(running.exists)
            running.unlink()
            interrupt()
            reply = client.get_shell_msg(timeout=60 * PATIENCE)
            while reply["parent_header"]["msg_id"] != message:  # to what was asked before
                reply = client.get_shell_msg(timeout=60 * PATIENCE)
            assert reply["content"]["ename"] == "KeyboardInterrupt"
        client.stop_channels()
    finally:
        manager.shutdown_kernel(now=True)
    assert not inside.is_running() or inside.status() == psutil.STATUS_ZOMBIE


@needs_box
def test_a_run_is_the_same_in_a_box_and_without(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it read, its outputs and its provenance; so that one taken from a machine of the other kind holds."""
    (book.root / "numbers.csv").write_text("1,2")
    code = f"import torch, torchbook.notices\nopen({str(book.root / 'numbers.csv')!r}).read(), torch.arange(3).sum()"
    child = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import torchbook.source']).returncode"
    inside = run(book, cell(code), cell(child))
    monkeypatch.setattr(box, "why_not", lambda: "said")
    outside = run(book, cell(code), cell(child))
    assert (inside.unboxed, outside.unboxed) == ("", "said")
    assert f"outside {book.root / 'numbers.csv'}" in inside.reads
    assert (inside.reads, inside.notebook, inside.facts) == (outside.reads, outside.notebook, outside.facts)


def test_what_is_needed_is_seen_in_the_folders_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing else of them: they may be among the paths themselves, where Python's own path has them."""
    monkeypatch.setattr(box, "_OWN", (str(tmp_path),))
    (tmp_path / "one" / "deeper").mkdir(parents=True)
    paths = [str(tmp_path), *(str(tmp_path / name) for name in ("one/deeper", "one", "missing")), "/usr", "", "here"]
    assert box._seen(paths) == [str(tmp_path / "one")]


@pytest.fixture
def fresh() -> Iterator[None]:
    box.why_not.cache_clear()
    yield
    box.why_not.cache_clear()


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    ("path", "platform", "words"),
    [(None, "linux", "apt install bubblewrap"), ("/usr/bin/bwrap", "darwin", "bubblewrap needs Linux")],
)
def test_where_there_is_no_box_it_is_said_why(
    path: str | None, platform: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap.shutil, "which", lambda _: path)
    monkeypatch.setattr(bubblewrap.sys, "platform", platform)
    assert words in box.why_not()
