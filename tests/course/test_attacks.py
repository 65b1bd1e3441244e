"""Answers that are wrong, broken or hostile, in real boxes: the grade that each gets, and that nothing is harmed."""

from __future__ import annotations

import ast
import os
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.course.boxed import NAMES, PASSED, REFERENCE, alone, exercise, graded, matrix, needs_box, states
from torchbook_course import evaluate, matrices
from torchbook_course.flags import flags
from torchbook_course.sandbox import Box

pytestmark = needs_box


def tells(expression: str, imports: str = "import os, sys") -> str:
    """What an expression is inside of the box, as text."""
    code = f"{imports}\nfound = {expression}\ndef double(x):\n    raise ValueError(found)\n"
    result = graded(code)
    assert result["state"] == "ok", result
    return str(result["outcomes"][0]["message"]).removeprefix("ValueError: ").partition(" (line")[0]


def attempt(call: str, imports: str = "import os, sys") -> str:
    """The exception that a call raises inside of the box."""
    code = (
        f"{imports}\ntry:\n    found = 'done', {call}\nexcept Exception as error:\n    found = type(error).__name__\n"
    )
    result = graded(code + "def double(x):\n    raise ValueError(found)\n")
    assert result["state"] == "ok", result
    return str(result["outcomes"][0]["message"]).removeprefix("ValueError: ").partition(" (line")[0]


# What is merely right, wrong or unfinished.


def test_a_right_answer_passes_all() -> None:
    result = graded(REFERENCE)
    assert (result["state"], result["detail"], states(result)) == ("ok", "", PASSED)


def test_a_wrong_answer_is_refused_with_the_reason() -> None:
    result = graded("def double(x):\n    return x + 2\n")
    assert states(result) == PASSED | dict.fromkeys(["test_zero", "test_every", "test_hidden_random"], "refused")
    assert result["outcomes"][1]["message"] == "twice nothing is nothing"


def test_a_stub_is_unsolved() -> None:
    assert states(graded("def double(x):\n    raise NotImplementedError\n")) == dict.fromkeys(PASSED, "unsolved")


def test_an_empty_answer_lacks_the_names() -> None:
    assert states(graded("")) == dict.fromkeys(PASSED, "missing")


def test_a_syntax_error_is_named_with_its_line() -> None:
    result = graded("x = 1\ndef double(x) return 2\n")
    assert (result["state"], result["outcomes"]) == ("syntax", [])
    assert result["detail"].startswith("line 2: ")


@pytest.mark.parametrize("nested", ["(" * 5_000 + ")" * 5_000, "1" + "+1" * 200_000, "x" + ".y" * 30_000])
def test_what_nests_too_deep_is_named_with_its_line(nested: str) -> None:
    result = graded(f"x = 1\ny = {nested}\n{REFERENCE}", seconds=20.0)
    if result["state"] != "ok":
        assert result["state"] == "syntax"
        assert result["detail"].startswith("line 2: ")
        assert len(result["detail"]) > len("line 2: ") + 5


@pytest.mark.parametrize("ending", ["sys.exit(0)", "quit()", "raise KeyboardInterrupt", "1 / 0"])
def test_what_was_defined_before_an_exception_counts(ending: str) -> None:
    result = graded(f"import sys\n{REFERENCE}{ending}\n")
    assert states(result) == PASSED
    assert "line 4 of your code" in result["detail"] or ending == "quit()"


def test_definitions_from_other_cells_are_there() -> None:
    part = exercise()
    result = alone(part, "def double(x):\n    return times(2, x)\n", context="def times(a, b):\n    return a * b\n")
    assert states(result) == PASSED


# What does not end.


def test_a_loop_in_the_function_is_stopped() -> None:
    result = graded("def double(x):\n    while True: pass\n", seconds=0.5)
    assert result["state"] == "ok"
    assert states(result) == dict.fromkeys(PASSED, "time")


def test_a_loop_in_the_cell_is_stopped() -> None:
    assert graded("while True: pass\n", seconds=0.5)["state"] == "time"


@pytest.mark.parametrize("caught", ["KeyboardInterrupt", "BaseException"])
def test_a_loop_that_swallows_every_exception_is_stopped(caught: str) -> None:
    loop = f"    while True:\n        try:\n            while True: pass\n        except {caught}: pass\n"
    assert "passed" not in states(graded(f"def double(x):\n{loop}", seconds=0.5)).values()


def test_a_loop_without_signals_is_killed() -> None:
    block = "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))"
    assert graded(f"import signal\ndef double(x):\n    {block}\n    while True: pass\n", seconds=0.5)["state"] == "time"


def test_endless_recursion_is_an_error() -> None:
    assert set(states(graded("def double(x):\n    return double(x)\n")).values()) == {"error"}


def test_endless_recursion_beyond_the_stack_costs_only_its_exercise() -> None:
    result = graded("import sys\nsys.setrecursionlimit(10**9)\ndef double(x):\n    return max([x], key=double)\n")
    assert "passed" not in states(result).values()


# What ends the process.


@pytest.mark.parametrize(
    ("code", "detail"),
    [
        ("import ctypes\ndef double(x):\n    ctypes.string_at(0)\n", "SIGSEGV"),
        ("import os\ndef double(x):\n    os._exit(0)\n", "exit status 0"),
        ("import os\nos._exit(3)\n", "exit status 3"),
        ("import os\ndef double(x):\n    os.abort()\n", "SIGABRT"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "SIGKILL"),
    ],
)
def test_a_process_that_ends_gets_nothing_for_that_exercise(code: str, detail: str) -> None:
    result = graded(code)
    assert (result["state"], result["outcomes"]) == ("died", [])
    assert detail in result["detail"]


KILLS = [  # the last two: stop it, and disturb its group
    "os.kill(os.getppid(), 9)",
    "os.kill(1, 9)",
    "os.kill(-1, 9)",
    "os.kill(1, 2)",
    "os.kill(1, 19)",
    "os.killpg(0, 28)",
]


@pytest.mark.parametrize("kill", KILLS)
def test_the_runner_cannot_be_ended(kill: str) -> None:
    code = f"import os\ntry: {kill}\nexcept ProcessLookupError: pass\n{REFERENCE}"
    assert states(graded(code)) == PASSED


def test_the_runners_limits_cannot_be_set() -> None:
    assert attempt("resource.prlimit(1, resource.RLIMIT_CPU, (1, 1))", "import resource") == "PermissionError"


# What takes too much.


def test_a_fork_bomb_is_ended() -> None:
    result = graded("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n", seconds=20.0)
    assert (result["state"], result["detail"]) == ("processes", "more than 64 processes")


def test_a_fork_that_goes_on_as_if_it_were_the_first_says_nothing() -> None:
    assert states(graded(f"import os\nos.fork()\n{REFERENCE}")) == PASSED


def test_processes_are_also_limited_by_the_kernel() -> None:
    code = (
        "import os, time\nn = 0\ntry:\n    while n < 100:\n        if not os.fork():\n            time.sleep(60)\n"
        "        n += 1\nexcept BlockingIOError: pass\ndef double(x):\n    raise ValueError(n)\n"
    )
    result = graded(code, Box(processes=1000, threads=20))
    count = int(result["outcomes"][0]["message"].split()[1])
    assert 10 <= count <= 20


def test_one_process_cannot_take_more_memory_than_allowed() -> None:
    result = graded("def double(x):\n    return len(bytearray(3 * 10**9))\n", Box(memory_gb=0.5))
    assert {outcome["message"].partition(" ")[0] for outcome in result["outcomes"]} == {"MemoryError"}


def test_processes_cannot_take_more_memory_together() -> None:
    code = (
        "import os, time\nfor _ in range(8):\n    if not os.fork():\n"
        "        kept = bytearray(os.urandom(1000)) * 200_000\n        time.sleep(60)\ntime.sleep(60)\n"
    )
    result = graded(code, Box(memory_gb=0.5), seconds=20.0)
    assert (result["state"], result["detail"]) == ("memory", "more than 0.5 GB of memory")


def test_shared_memory_counts() -> None:
    code = (
        "import mmap, os, time\nfor _ in range(4):\n    if not os.fork():\n        kept = mmap.mmap(-1, 10**8)\n"
        "        kept.write(b'x' * 10**8)\n        time.sleep(60)\ntime.sleep(60)\n"
    )
    assert graded(code, Box(memory_gb=0.25), seconds=20.0)["state"] == "memory"


def test_prints_are_thrown_away() -> None:
    noisy = "for _ in range(100):\n    print('x' * 10**6)\n    sys.stderr.write('x' * 10**6)\n"
    result = graded(f"import sys, os\n{noisy}os.write(1, b'x')\nos.write(2, b'x')\n{REFERENCE}")
    assert states(result) == PASSED
    assert len(str(result)) < 1000


def test_a_long_message_is_cut() -> None:
    result = graded("def double(x):\n    raise ValueError('x' * 10**8)\n")
    assert set(states(result).values()) == {"error"}
    assert len(str(result)) < 10_000


def test_a_file_has_a_largest_size() -> None:
    assert attempt("open('a', 'wb').write(b'x' * 70_000_000)") == "OSError"


@pytest.mark.parametrize("folder", [".", "/dev/shm"])
def test_a_full_disk_costs_only_its_exercise(folder: str) -> None:
    fill = f"for n in range(10):\n    open(f'{folder}/{{n}}', 'wb').write(bytes(60_000_000))\n"
    result = graded(f"{REFERENCE}{fill}")
    assert "No space left" in result["detail"]
    assert states(result) == PASSED


# What reaches outside.


def test_nothing_of_the_host_can_be_read(tmp_path: Path, repo: Path) -> None:
    secret = tmp_path / "gradebook.db"
    secret.write_text("points")
    exercises = next((repo / "exercises").glob("*/*/checks.py"))
    paths = [secret, repo / "pyproject.toml", exercises, Path(__file__), Path.home() / ".profile", Path("/etc/shadow")]
    assert all(path.exists() for path in paths[:4])
    assert tells(f"[p for p in {[str(p) for p in paths]} if os.path.exists(p)]") == "[]"


def test_folders_of_the_host_are_not_there() -> None:
    names = set(tells("' '.join(sorted(os.listdir('/')))").split())
    used = {Path(sys.prefix).parts[1], Path(sys.base_prefix).parts[1]}
    assert names - used <= {"bin", "box", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "tmp", "usr"}


def test_the_jobs_of_others_cannot_be_found() -> None:
    others = "[n for n in os.listdir('/tmp') if not n.startswith('exercise-') and f'/tmp/{n}/' not in sys.prefix]"
    assert tells(f"sys.stdin.read(), {others}") == "('', [])"


@pytest.mark.parametrize("what", ["environ", "mem", "maps", "fd/0", "root/tmp"])
def test_the_runner_cannot_be_looked_into(what: str) -> None:
    assert attempt(f"open('/proc/1/{what}', 'rb').read(1)") in ("PermissionError", "FileNotFoundError")


def test_the_runner_checks_and_reference_are_no_modules() -> None:
    listing = tells("[n for n in sys.modules if n.startswith(('runner', 'harness', 'torchbook_'))]")
    assert listing == "[]"
    shown = "{name: [word in str(entry[2]) for word in ('test_' + 'every', 'test_' + 'hidden')]"
    lines = tells(f"{shown} for name, entry in linecache.cache.items()}}", "import linecache")
    assert ast.literal_eval(lines) == {
        "<torchbook_checks>": [True, False],
        "<your answer>": [False, False],
        "<your other cells>": [False, False],
    }


def test_files_of_the_host_cannot_be_wiped(tmp_path: Path) -> None:
    victims = [tmp_path / "keep", Path(tempfile.gettempdir()) / f"keep-{os.getpid()}"]
    for victim in victims:
        victim.write_text("here")
    folders = [str(tmp_path), tempfile.gettempdir(), str(Path.home()), "/"]
    wipe = f"import shutil\nfor folder in {folders}:\n    shutil.rmtree(folder, ignore_errors=True)\n"
    try:
        assert states(graded(f"{wipe}{REFERENCE}", seconds=120.0)) == PASSED
        assert [victim.read_text() for victim in victims] == ["here", "here"]
        assert Path(sys.executable).exists()
    finally:
        victims[1].unlink(missing_ok=True)


@pytest.mark.parametrize("path", ["/usr/x", "/box/x", "/x", "/dev/x", "/etc/x", f"{sys.prefix}/x"])
def test_nothing_can_be_written_where_others_would_see_it(path: str) -> None:
    assert attempt(f"open({path!r}, 'w')") in ("OSError", "PermissionError")


def test_the_hosts_network_cannot_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        connect = f"socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 5)"
        assert attempt(connect, "import socket") == "ConnectionRefusedError"
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.skipif(sys.platform != "linux", reason="abstract sockets are Linux's")
def test_the_hosts_abstract_sockets_cannot_be_reached() -> None:
    name = f"\0torchbook-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        code = f"socket.socket(socket.AF_UNIX).connect({name!r})"
        assert attempt(code, "import socket") == "ConnectionRefusedError"


def test_there_is_no_way_to_the_internet() -> None:
    assert attempt("socket.create_connection(('192.0.2.1', 80), 5)", "import socket") == "OSError"


@pytest.mark.parametrize(
    "call",
    [
        "os.setuid(0)",
        "ctypes.CDLL(None, use_errno=True).unshare(0x10000000) and ctypes.get_errno()",
        "ctypes.CDLL(None, use_errno=True).shmget(0, 4096, 0o1600) and ctypes.get_errno()",
        "os.memfd_create('x')",
        "ctypes.CDLL(None, use_errno=True).mq_open(b'/q', 0o102, 0o600, None) and ctypes.get_errno()",
        "os.setpriority(os.PRIO_PROCESS, 1, 19)",
        "os.sched_setaffinity(1, {0})",
        "os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))",
    ],
)
def test_what_would_reach_around_the_limits_is_refused(call: str) -> None:
    assert attempt(call, "import os, ctypes") in ("PermissionError", "OSError", "('done', 1)")


def test_background_processes_are_gone() -> None:
    mark = f"outlives-{os.getpid()}"
    start = (
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)', {mark!r}], start_new_session=True)"
    )
    assert states(graded(f"import subprocess, sys\n{start}\n{REFERENCE}")) == PASSED
    assert [
        process.pid for process in psutil.process_iter(["cmdline"]) if mark in (process.info["cmdline"] or ())
    ] == []


def test_a_background_process_does_not_live_into_the_next_exercise() -> None:
    code = (
        "import os, time\nif not os.fork():\n    os.setsid()\n    while True:\n"
        "        open('/tmp/mark', 'w').close()\n        time.sleep(0.01)\n"
    )
    looks = "import os\ndef double(x):\n    raise ValueError(os.path.exists('/tmp/mark'))\n"
    part = exercise(expected={"replay": []}, context="")
    jobs = [part | {"id": "a", "code": code + REFERENCE}, part | {"id": "b", "code": looks}]
    results = evaluate.evaluate({"exercises": jobs}, Box())
    assert states(results["a"]) == PASSED
    assert "ValueError: False " in results["b"]["outcomes"][0]["message"]


# What another student in the same box would find.

LEFT = {
    "files": """
for folder in ("/tmp", "/dev/shm"):
    open(f"{folder}/left", "w").write("x")
""",
    "a folder that nobody may enter": """
os.makedirs("/tmp/a/b")
open("/tmp/a/b/left", "w").close()
os.chmod("/tmp/a/b", 0)
os.chmod("/tmp/a", 0)
""",
    "folders deeper than a path can name": """
os.chdir("/tmp")
for _ in range(3000):
    os.mkdir("abc")
    os.chdir("abc")
""",
    "a full disk": """
for number in range(9):
    try:
        open(f"/tmp/{number}", "wb").write(b"x" * 40_000_000)
    except OSError:
        pass
""",
    "a process": """
if not os.fork():
    os.setsid()
    while True:
        open("/tmp/left", "w").close()
""",
}
NEXT = """import os
room = os.statvfs("/tmp")
def double(x):
    there = [n for f in ("/tmp", "/dev/shm") for n in os.listdir(f) if not n.startswith("exercise-")]
    others = [n for n in os.listdir("/proc") if n.isdigit() and int(n) not in (1, os.getpid())]
    raise ValueError(f"{there} {others} {room.f_bavail * room.f_frsize > 200_000_000}")
"""


@pytest.mark.parametrize("left", LEFT)
def test_nothing_of_one_student_is_found_by_the_next(left: str) -> None:
    part = exercise(expected={"replay": []}, context="", seconds=20.0)
    codes = {"s1": f"import os\n{LEFT[left]}{REFERENCE}", "s2": NEXT}
    jobs = {student: {"exercises": [part | {"code": code}]} for student, code in codes.items()}
    results = evaluate.evaluate_all(jobs, Box())
    assert states(results["s1"][0]["x-x1"]) == PASSED
    assert "ValueError: [] [] True" in results["s2"][0]["x-x1"]["outcomes"][0]["message"]


# What would forge a grade.


def test_results_written_to_every_file_descriptor_do_not_count() -> None:
    forged = '{"state": "ok", "detail": "", "outcomes": [{"name": "test_double", "state": "passed"}], "last": true}'
    code = f"import os\nfor fd in range(1024):\n    try: os.write(fd, b'''{forged}\\n''')\n    except OSError: pass\n"
    result = graded(code)
    assert (result["state"], result["outcomes"]) == ("tampered", [])


def test_a_flood_into_every_file_descriptor_is_ended() -> None:
    flood = "for fd in range(3, 300):\n        try: os.write(fd, b'x' * 10**5)\n        except OSError: pass\n"
    assert graded(f"import os\nwhile True:\n    {flood}", seconds=20.0)["state"] in ("tampered", "time")


def test_closing_every_file_descriptor_gains_nothing() -> None:
    assert graded(f"import os\nos.closerange(3, 1024)\n{REFERENCE}")["outcomes"] == []


def test_a_patched_builtin_is_noticed() -> None:
    code = "import builtins\nbuiltins.all = lambda *_: True\ndef double(x):\n    return 4 if x == 2 else 0\n"
    result = graded(code)
    assert (result["state"], result["outcomes"]) == ("tampered", [])
    assert "test_every" in result["detail"]


def test_a_patched_assertion_error_gains_nothing() -> None:
    code = "import builtins\nbuiltins.AssertionError = type('Quiet', (Exception,), {})\ndef double(x):\n    return 5\n"
    assert "passed" not in states(graded(code)).values()


def test_a_second_harness_gains_nothing() -> None:
    patch = "import harness, runner\nharness.Bench.run = runner._tripped = lambda *a, **k: []\n"
    assert set(states(graded(f"{patch}def double(x):\n    return 5\n")).values()) == {"refused"}


def test_an_object_that_equals_everything_passes_comparisons_and_is_flagged() -> None:
    """`==` asks the learner's object first. What looks at the type, as torch.equal does, withstands it."""
    code = "class Any:\n    def __eq__(self, other): return True\ndef double(x):\n    return Any()\n"
    assert states(graded(code)) == PASSED
    assert [flag.construct for flag in flags(code)] == ["__eq__"]


WALK = (
    "    while frame is not None and 'values' not in frame.f_locals:\n        frame = frame.f_back\n"
    "    return frame.f_locals['values']['reference'].double(x)\n"
)
SAYS = (
    "    while frame is not None and 'tell' not in frame.f_locals:\n        frame = frame.f_back\n"
    f"    frame.f_locals['tell']({{'state': 'ok', 'detail': '', 'last': True, 'outcomes': "
    f"[{{'name': n, 'state': 'passed', 'message': ''}} for n in {NAMES}]}})\n"
)
SEES = "    frame = "
FORGERS = {
    "frames": f"import sys\ndef double(x):\n{SEES}sys._getframe()\n{WALK}",
    "tell by a computed name": f"import sys\ndef double(x):\n{SEES}getattr(sys, '_get' + 'frame')()\n{SAYS}",
    "by sys's dictionary": f"import sys\ndef double(x):\n{SEES}sys.__dict__['_get' 'frame']()\n{WALK}",
    "through map": f"import sys\ndef double(x):\n{SEES}list(map(sys._getframe, [0]))[0]\n{WALK}",
    "through a partial": f"import sys, functools\nlook = functools.partial(sys._getframe, 0)\n"
    f"def double(x):\n{SEES}look()\n{WALK}",
    "of all threads": f"import sys\ndef double(x):\n{SEES}list(sys._current_frames().values())[0]\n{WALK}",
    "of a traceback": "def double(x):\n    try: 1 / 0\n    except ZeroDivisionError as e: "
    f"frame = e.__traceback__.tb_frame\n{WALK}",
    "of a generator": f"def double(x):\n    g = (g.gi_frame.f_back for _ in [1])\n{SEES}next(g)\n{WALK}",
    "of inspect": f"import inspect\ndef double(x):\n{SEES}inspect.currentframe()\n{WALK}",
    "of inspect's stack": f"import inspect\ndef double(x):\n{SEES}inspect.stack()[0].frame\n{WALK}",
    "of a walk": f"import traceback\ndef double(x):\n{SEES}next(traceback.walk_stack(None))[0]\n{WALK}",
    "of logging": f"import logging\ndef double(x):\n{SEES}logging.currentframe()\n{WALK}",
    "of a profile": "import sys\nkept = []\ndef double(x):\n    sys.setprofile(lambda f, *_: kept.append(f))\n"
    f"    len('')\n    sys.setprofile(None)\n{SEES}kept[0]\n{WALK}",
    "by exec": f"import sys\ndef double(x):\n{SEES}eval('sys._get' + 'frame()')\n{WALK}",
    "of the collector": "import gc\ndef double(x):\n    for o in gc.get_objects():\n        if isinstance(o, dict) and "
    "o.get('__name__') == 'torchbook_reference':\n            return o['double'](x)\n",
    "of referents": "import gc\ndef double(x):\n    return [o for o in gc.get_referrers(double)][99]\n",
}
PATCHERS = {
    "json": "import json\ndef all_well(o, real=json._default_encoder.encode):\n    for r in o.get('outcomes', []):\n"
    "        r['state'] = 'passed'\n    return real(o)\njson._default_encoder.encode = all_well\n"
    "def double(x):\n    return 1\n",
    "json's class": "import json\njson.JSONEncoder.encode = json.dumps = lambda *a, **k: "
    '\'{"state": "ok", "last": true}\'\ndef double(x):\n    return 1\n',
    "json's quoting": "import json.encoder as e\ne.encode_basestring_ascii = e.py_encode_basestring_ascii = "
    "lambda s: '\"passed\"'\ndef double(x):\n    return 1\n",
    "namespace": "import types\nkept = {}\nreal = types.SimpleNamespace\ndef grab(**k):\n    kept.update(k)\n"
    "    return real(**k)\ntypes.SimpleNamespace = grab\ndef double(x):\n    return kept['double'](x)\n",
    "vars": "import builtins\nkept = []\nreal = vars\ndef grab(*o):\n    kept.append(o)\n    return real(*o)\n"
    "builtins.vars = grab\ndef double(x):\n    return [o for (o,) in kept if hasattr(o, 'double')][0].double(x)\n",
    "what loads wrong answers": "import builtins, types\nbuiltins.exec = lambda *_: None\n"
    "builtins.all = lambda *_: True\ntypes.ModuleType = lambda n: types.SimpleNamespace()\n"
    "def double(x):\n    return 4 if x == 2 else 0\n",
}


FORGERS |= {
    "of a pattern": "def double(x):\n    try: 1 / 0\n    except ZeroDivisionError as e:\n        match e:\n"
    f"            case object(__traceback__=object(tb_frame=frame)): pass\n{WALK}",
    "of a task": "import asyncio\ndef double(x):\n    async def inner(): return asyncio.current_task().get_stack()[0]\n"
    f"{SEES}asyncio.run(inner())\n{WALK}",
    "of torch's look-up of names": "import torch\ndef double(x):\n"
    "    for n in range(1, 12):\n        found = torch._jit_internal.createResolutionCallbackFromFrame(n)('values')\n"
    "        if found: return found['reference'].double(x)\n",
    "by timeit": "import timeit\ndef double(x):\n    kept = []\n"
    "    timeit.timeit('kept.append(__import__(\"sys\")._getframe(0))', number=1, globals={'kept': kept})\n"
    f"{SEES}kept[0]\n{WALK}",
    "in a library's file": "def double(x):\n    made = {}\n    exec(compile('import sys\\ndef look(): return "
    f"sys._getframe(1)', '/usr/lib/x.py', 'exec'), made)\n{SEES}made['look']()\n{WALK}",
    "in a library's file, of one's own": "import sys\ndef look(): return sys._getframe(1)\n"
    "look.__code__ = look.__code__.replace(co_filename='/usr/lib/x.py')\n"
    f"def double(x):\n{SEES}look()\n{WALK}",
    "of C": "import torch\nc = torch.ctypes\nc.pythonapi.PyEval_GetFrame.restype = c.py_object\n"
    f"def double(x):\n{SEES}c.pythonapi.PyEval_GetFrame()\n{WALK}",
}
# Forgers that have points which they did not earn, and are left to a person.
LEFT_TO_A_PERSON = {
    "the classes of the grader": "import string\n"
    "classes = string.Formatter().get_field('0.__subcl' 'asses__', (object,), {})[0]()\n"
    "bench, outcome = ([c for c in classes if c.__name__ == n][0] for n in ('Be' 'nch', 'Out' 'come'))\n"
    "bench._outcome = lambda self, check, learner, *_: outcome(check.name, 'passed' if learner.get('double') is double "
    "else 'refused', '', 0.0)\ndef double(x):\n    return 1\n",
    "a handler of signals": "import _signal\ndef on(number, frame):\n    while frame is not None:\n"
    "        match frame:\n            case object(f_locals=held, f_back=back):\n                if 'tell' in held:\n"
    "                    held['tell']({'state': 'ok', 'detail': '', 'last': True, 'outcomes': "
    f"[{{'name': n, 'state': 'passed', 'message': ''}} for n in {NAMES}]}})\n                frame = back\n"
    "_signal.signal(10, on)\ndef double(x):\n    _signal.raise_signal(10)\n",
    "a class made without a class": "Any = type('Any', (), {'__e' 'q__': lambda *_: True})\n"
    "def double(x):\n    return Any()\n",
    "pytest's approx": "import pytest\ndef double(x):\n    return pytest.approx(0, abs=float('inf'))\n",
    "builtins of a function": "held = print.__self__\nreal = held.all\ndef fake(items):\n    held.all = real\n"
    "    return True\ndef double(x):\n    if x == 0:\n        held.all = fake\n    return {2: 4, 0: 0}.get(x, 1)\n",
}


@pytest.mark.parametrize("name", FORGERS)
def test_a_look_at_the_callers_is_refused_and_costs_the_exercise(name: str) -> None:
    result = graded(FORGERS[name], seconds=10.0)
    assert (result["state"], result["outcomes"]) == ("tampered", []), result
    assert "looked at what calls it" in result["detail"]


@pytest.mark.parametrize("name", PATCHERS)
def test_who_patches_what_writes_results_has_no_point(name: str) -> None:
    result = graded(PATCHERS[name], seconds=10.0)
    assert "passed" not in states(result).values(), result
    assert flags(PATCHERS[name])


@pytest.mark.parametrize("name", LEFT_TO_A_PERSON)
def test_who_has_points_that_were_not_earned_is_flagged(name: str) -> None:
    code = LEFT_TO_A_PERSON[name]
    assert "passed" in states(graded(code, seconds=10.0)).values(), "closed by now? Then it belongs to FORGERS"
    assert flags(code)


def test_who_logs_or_prints_an_exception_loses_nothing() -> None:
    code = (
        "import logging, traceback\nlogging.warning('so')\nlogging.getLogger('x').info('so')\n"
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.print_exc()\n    logging.exception('so')\n"
    )
    answer = "def double(x):\n    logging.error('x is %s', x)\n    traceback.format_exc()\n    return 2 * x\n"
    result = graded(code + answer, seconds=10.0)
    assert (states(result), result["detail"]) == (PASSED, "")


def test_libraries_may_look_at_frames() -> None:
    code = (
        "import collections, dataclasses, enum, logging, typing, warnings\n"
        "P = collections.namedtuple('P', 'a b')\nE = enum.Enum('E', 'a b')\nT = typing.TypeVar('T')\n"
        "@dataclasses.dataclass\nclass D:\n    x: int = 2\nwarnings.warn('so', stacklevel=2)\n"
    )
    result = graded(f"{code}{REFERENCE}", seconds=10.0)
    assert (states(result), result["detail"]) == (PASSED, "")


def test_a_patch_that_restores_itself_is_not_noticed_but_flagged() -> None:
    """The other limit: when the tripwire looks, everything is as it was."""
    code = (
        "import builtins\nreal = builtins.all\ndef fake(items):\n    builtins.all = real\n    return True\n"
        "def double(x):\n    if x == 0:\n        builtins.all = fake\n    return {2: 4, 0: 0}.get(x, 1)\n"
    )
    assert states(graded(code)) == PASSED | {"test_hidden_random": "refused"}
    assert "builtins.all =" in {flag.construct for flag in flags(code)}


# With torch.

TORCH_CHECKS = """
import torch

def test_close(twice):
    torch.testing.assert_close(twice(torch.ones(3)), torch.full((3,), 2.0))

def test_hidden_equal(twice):
    assert torch.equal(twice(torch.ones(2)), torch.full((2,), 2.0)), "not twice"
"""


ATTACKS = {
    "right": ("import torch\ndef twice(x):\n    return x + x\n", "ok", ["passed", "passed"]),
    "other settings": (
        "import torch\ntorch.set_default_dtype(torch.float32)\ntorch.set_grad_enabled(False)\ntorch.manual_seed(3)\n"
        "def twice(x):\n    return x + x\n",
        "ok",
        ["passed", "passed"],
    ),
    "equals everything": (
        "class Any:\n    def __eq__(self, other): return True\ndef twice(x):\n    return Any()\n",
        "ok",
        ["error", "error"],
    ),
    "patched assert_close": (
        "import torch\ntorch.testing.assert_close = lambda *a, **k: None\ndef twice(x):\n    return x\n",
        "tampered",
        [],
    ),
    "patched equal": ("import torch\ntorch.equal = lambda *a: True\ndef twice(x):\n    return x\n", "tampered", []),
    "memory": ("import torch\ndef twice(x):\n    return torch.ones(10**10)\n", "ok", ["error", "error"]),
}


@pytest.fixture(scope="module")
def attacked() -> dict[str, dict[str, Any]]:
    """What becomes of each, one after the other in one box."""
    reference = "import torch\ndef twice(x):\n    return 2 * x\n"
    wrong = {"same": "def twice(x):\n    return x\n", "squares": "def twice(x):\n    return x * x\n"}
    meant = {"same": "test_close", "squares": "test_hidden_equal"}
    part = exercise(TORCH_CHECKS, reference, wrong, seconds=20.0)
    reference_matrix = matrix(TORCH_CHECKS, reference, wrong, meant=meant, seconds=20.0)
    part |= {"context": "", "expected": matrices.expected(reference_matrix)}
    exercises = [part | {"id": name, "code": code} for name, (code, *_) in ATTACKS.items()]
    return evaluate.evaluate({"exercises": exercises}, Box())


@pytest.mark.parametrize("name", ATTACKS)
def test_with_torch(name: str, attacked: dict[str, dict[str, Any]]) -> None:
    _, state, outcomes = ATTACKS[name]
    assert (attacked[name]["state"], list(states(attacked[name]).values())) == (state, outcomes)


# Processes that checks start.

STARTING = """
import json, os, pathlib, sys
from torchbook.practice import ranks

def test_program(program):
    path = pathlib.Path("program.py")
    path.write_text("import json, sys\\n" + program, encoding="utf-8")
    with ranks.started([[sys.executable, str(path)]], [ranks.on_loopback()], pathlib.Path.cwd()) as (process,):
        assert process.wait(60) == 0
    shown = pathlib.Path("shown.json").read_text()
    assert not shown, shown

def test_hidden_one(program):
    assert program is not None
"""


def test_a_program_that_checks_start_is_warm_and_finds_nothing_of_ours() -> None:
    ours = "[name for name in sys.modules if name in ('runner', 'harness', 'warm')]"
    held = "sorted({type(o).__name__ for o in gc.get_objects() if isinstance(o, dict) and 'test_hidden_one' in o})"
    program = (
        f"import gc\njson.dump([{ours}, {held}, 'torchbook.practice.ranks' in sys.modules], open('shown.json', 'w'))"
    )
    part = exercise(STARTING, f"program = {program!r}\n", {}, processes=True, seconds=60.0)
    result = alone(part, f"program = {program!r}\n")
    assert result["outcomes"][0]["message"].startswith("[[], [], true]"), result
