"""The box: what it shows and allows, that it ends, and what is said where there is none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.course.boxed import BOX, NAMES, PASSED, REFERENCE, WRONG, alone, exercise, job, matrix, needs_box, states
from torchbook import bubblewrap
from torchbook_course import evaluate, matrices, sandbox, syscalls
from torchbook_course.sandbox import Box, Ended, SandboxError


def says(code: str, part: dict[str, Any] | None = None, box: Box = BOX) -> str:
    """What `found` is after code ran in a box."""
    checks = "def test_found(found):\n    raise AssertionError(str(found))\n"
    task = exercise(checks, "found = 0\n", {}, seconds=60.0) | (part or {})
    result = alone(task, code, box)
    assert result["outcomes"], result
    return str(result["outcomes"][0]["message"] + result["detail"])


# What is there.


@needs_box
def test_the_box_has_no_privileges() -> None:
    code = "import os\nlines = open('/proc/self/status').read().splitlines()\nuid = os.getuid()\n"
    printed = says(
        code + "found = uid, [l.split()[1] for l in lines if l.startswith(('CapEff', 'NoNewPrivs', 'Seccomp:'))]"
    )
    uid, values = eval(printed)
    assert uid != 0
    assert values == ["0" * 16, "1", "2"]


@needs_box
@pytest.mark.skipif(os.geteuid() != 0, reason="only root's boxes have user ids of their own")
def test_each_box_of_root_has_a_user_id_of_its_own() -> None:
    uids = {says("import os\nfound = os.getuid()") for _ in range(2)}
    assert len(uids) == 2
    assert all(int(uid) > 10**9 for uid in uids)


@needs_box
def test_what_learners_have_is_there_whole_and_nothing_else_of_this_repository() -> None:
    code = "import os, pkgutil, torchbook\n"
    code += "here = os.path.dirname(torchbook.__file__)\n"
    code += "modules = {m.name for m in pkgutil.iter_modules() if m.name.startswith('torchbook')}\n"
    names = eval(says(f"{code}found = sorted(os.listdir(here)), sorted(modules)"))
    ours = sorted(path.name for path in sandbox.LEARNERS.iterdir() if path.name != "__pycache__")
    assert [name for name in names[0] if name != "__pycache__"] == ours
    assert names[1] == ["torchbook"]


@needs_box
def test_every_package_of_a_learner_can_be_imported() -> None:
    packages = sorted(f"torchbook.{path.parent.name}" for path in sandbox.LEARNERS.glob("*/__init__.py"))
    assert "torchbook.llm" in packages
    code = f"import importlib\nfound = [importlib.import_module(name).__name__ for name in {packages}]"
    assert eval(says(code)) == packages


@needs_box
@pytest.mark.parametrize("name", ["fashion-mnist", "tiny-shakespeare"])
def test_data_that_an_exercise_names_are_there(name: str) -> None:
    """Also those of a data set that has no folder inside of its own."""
    if not sandbox.cache.load(sandbox.cache.dataset(name), download=False).files:
        pytest.skip(reason=f"{name} is not on this machine")
    code = f"import torchbook.data\nfound = torchbook.data.prepare({name!r}, download=False).real"
    assert says(code, {"data": [name]}) == "True"
    assert says(code) == "False"


@needs_box
def test_a_data_loader_has_workers() -> None:
    code = (
        "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n"
        "data = TensorDataset(torch.arange(8.0))\n"
        "found = sum(batch.sum().item() for batch, in DataLoader(data, batch_size=2, num_workers=2))\n"
    )
    assert says(code) == "28.0"


@needs_box
def test_processes_talk_through_gloo() -> None:
    code = """
import os, torch
import torch.distributed as dist
import torch.multiprocessing as mp

def work(rank, queue):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29500")
    dist.init_process_group("gloo", rank=rank, world_size=2)
    t = torch.tensor([float(rank + 1)])
    dist.all_reduce(t)
    queue.put(t.item())

context = mp.get_context("fork")
queue = context.Queue()
ranks = [context.Process(target=work, args=(rank, queue)) for rank in range(2)]
for rank in ranks: rank.start()
found = [queue.get(timeout=50) for _ in ranks]
for rank in ranks: rank.join()
"""
    assert says(code) == "[3.0, 3.0]"


@needs_box
def test_torchrun_runs() -> None:
    code = '''
import subprocess, sys
open("ranks.py", "w").write("""
import os, torch.distributed as dist
dist.init_process_group("gloo")
open(os.environ["RANK"], "w").write(str(dist.get_world_size()))
""")
command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "ranks.py"]
done = subprocess.run(command, capture_output=True, text=True)
found = done.stderr[-500:] if done.returncode else [open(rank).read() for rank in "01"]
'''
    assert says(code) == "['2', '2']"


# Evaluating.


@needs_box
def test_submissions_side_by_side_do_not_disturb_each_other() -> None:
    bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n"
    jobs = [job(bomb, seconds=20.0), job(REFERENCE, seconds=20.0), job(bomb, REFERENCE, seconds=20.0)]
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(lambda submission: evaluate.evaluate(submission, BOX), jobs))
    assert results[0]["0"]["state"] == "processes"
    assert states(results[1]["0"]) == states(results[2]["1"]) == PASSED


def test_exercises_behind_one_that_ended_the_box_get_a_new_box(monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[list[str]] = []

    def run(box: Box, payload: bytes, seconds: float, data: object) -> Ended:
        ids = [each["id"] for each in json.loads(payload)["exercises"]]
        batches.append(ids)
        lines = [{"ready": True}] + [
            {"state": "time", "detail": name} for name in ids[: ids.index("1") if "1" in ids else 4]
        ]
        output = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        return Ended(output, "", -9, "memory")

    monkeypatch.setattr(sandbox, "run", run)
    part = exercise(code="", context="", expected={"replay": []})
    results = evaluate.evaluate({"exercises": [part | {"id": str(n)} for n in range(4)]}, BOX)
    assert batches == [["0", "1", "2", "3"], ["2", "3"]]
    assert {name: result["state"] for name, result in results.items()} == {
        "0": "time",
        "1": "memory",
        "2": "time",
        "3": "time",
    }


def test_who_cannot_be_cleared_away_is_not_lost_and_the_next_gets_a_new_box(monkeypatch: pytest.MonkeyPatch) -> None:
    boxes: list[list[str]] = []

    def run(box: Box, payload: bytes, seconds: float, data: object) -> Ended:
        boxes.append([each["code"] for each in json.loads(payload)["exercises"]])
        lines = [{"ready": True}, {"state": "time", "detail": boxes[-1][0], "seconds": 2.0, "left": True}]
        return Ended(b"".join(json.dumps(line).encode() + b"\n" for line in lines), "", 0, "")

    monkeypatch.setattr(sandbox, "run", run)
    part = exercise(context="", expected={"replay": []})
    results = evaluate.evaluate_all({who: {"exercises": [part | {"code": who}]} for who in ("s1", "s2", "s3")}, BOX)
    assert boxes == [["s1", "s2", "s3"], ["s2", "s3"], ["s3"]]
    assert {who: (found["x-x1"]["detail"], took) for who, (found, took) in results.items()} == {
        "s1": ("s1", 2.0),
        "s2": ("s2", 2.0),
        "s3": ("s3", 2.0),
    }


@needs_box
def test_submissions_that_share_a_box_get_what_each_deserves() -> None:
    jobs = {
        "right": job(REFERENCE, REFERENCE),
        "wrong": job(WRONG["adds"]),
        "none": job(),
        "ends": job("raise SystemExit"),
    }
    shared = evaluate.evaluate_all(jobs, BOX)
    assert {who: found for who, (found, _) in shared.items()} == {
        who: evaluate.evaluate(asked, BOX) for who, asked in jobs.items()
    }
    assert shared["right"][1] > shared["none"][1] == 0


FORGED = [
    {},
    {"state": "lost", "detail": ""},
    {"state": ["ok"], "detail": ""},
    {"state": "ok", "detail": 3},
]


@pytest.mark.parametrize("message", FORGED)
def test_what_is_no_result_is_not_taken_for_one(message: dict[str, object]) -> None:
    assert evaluate._result(message, NAMES)["state"] == "tampered"


def test_outcomes_that_no_check_has_are_left_out() -> None:
    claimed = [
        {"name": "test_double", "state": "refused", "message": "x" * 10**5},
        {"name": "test_double", "state": "passed", "message": ""},
        {"name": "test_other", "state": "passed", "message": ""},
        {"name": "test_zero", "state": "best", "message": ""},
        {"name": ["test_every"], "state": "passed", "message": ""},
        "test_every",
    ]
    kept = evaluate._result({"state": "ok", "detail": "", "outcomes": claimed}, NAMES)["outcomes"]
    assert [(outcome["name"], outcome["state"], len(outcome["message"])) for outcome in kept] == [
        ("test_double", "refused", 2000)
    ]


# How it ends.


@needs_box
def test_a_box_is_ended_when_its_time_is_up() -> None:
    payload = json.dumps({"limits": sandbox.limits(BOX), "exercises": [_endless()]}).encode()
    before = _boxes()
    ended = sandbox.run(BOX, payload, 1.0)
    assert (ended.reason, ended.output) == ("time", b'{"ready": true}\n')
    assert _boxes() <= before


@needs_box
def test_nothing_lives_on_when_the_grader_is_killed(tmp_path: Path) -> None:
    """The answer reports through the process list, as it has no other way out."""
    mark = f"endless-{os.getpid()}"
    child = "import time; time.sleep(600)"
    code = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {child!r}, {mark!r}])\nwhile True: pass\n"
    grader = tmp_path / "grader.py"
    part = exercise(seconds=300.0, code=code, context="", expected={"replay": []})
    grader.write_text(
        "from torchbook_course import evaluate, sandbox\n"
        f"evaluate.evaluate({{'exercises': [{part!r}]}}, sandbox.Box())\n"
    )
    with subprocess.Popen([sys.executable, str(grader)], cwd=Path(__file__).parents[2]) as process:
        try:
            marked = _until_started(mark, process)
        finally:
            process.send_signal(signal.SIGKILL)
    assert psutil.wait_procs(marked, timeout=30)[1] == []


def _until_started(mark: str, grader: subprocess.Popen[bytes]) -> list[psutil.Process]:
    while grader.poll() is None:
        processes = [process for process in psutil.process_iter(["cmdline"]) if mark in (process.info["cmdline"] or ())]
        if processes:
            return processes
    raise AssertionError(f"the grader ended with {grader.returncode}")


def _endless() -> dict[str, Any]:
    return exercise(seconds=300.0, code="while True: pass\n", context="", expected={"replay": []})


def _boxes() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


# Where there is none.


@pytest.fixture
def fresh() -> object:
    sandbox.available.cache_clear()
    yield
    sandbox.available.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_without_bubblewrap_nothing_is_graded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox.shutil, "which", lambda _: None)
    with pytest.raises(SandboxError, match=r"apt install bubblewrap.*--unsafe"):
        evaluate.evaluate({"exercises": [_endless()]}, BOX)


@pytest.mark.usefixtures("fresh")
def test_other_systems_are_told_where_to_grade(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox.sys, "platform", "darwin")
    assert "Linux virtual machine" in str(sandbox.available())


@pytest.mark.usefixtures("fresh")
def test_an_unknown_processor_has_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syscalls.platform, "machine", lambda: "riscv64")
    assert "riscv64" in str(sandbox.available())


@pytest.mark.parametrize(
    ("switch", "value"),
    [
        ("kernel.apparmor_restrict_unprivileged_userns", "1"),
        ("kernel.unprivileged_userns_clone", "0"),
        ("user.max_user_namespaces", "0"),
    ],
)
def test_forbidden_user_namespaces_have_a_remedy(switch: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path("/proc/sys", *switch.split("."))
    monkeypatch.setattr(bubblewrap, "is_root", lambda: False)
    monkeypatch.setattr(Path, "read_text", lambda self, *_: value if self == path else "")
    assert f"sysctl -w {switch}=" in bubblewrap.remedy("bwrap: setting up uid map: Permission denied")


def test_an_old_bubblewrap_is_named() -> None:
    assert "0.7 or newer" in bubblewrap.remedy("bwrap: Unknown option --size")


@needs_box
def test_an_interpreter_without_torch_is_no_fault_of_the_student(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(SandboxError, match="interpreter"):
        evaluate.evaluate(job(REFERENCE), Box(python=str(broken)))


# Without one, on purpose.


UNSAFE = Box(unsafe=True)


@pytest.mark.parametrize(
    ("code", "state"),
    [
        (REFERENCE, "ok"),
        ("def double(x) x", "syntax"),
        ("while True: pass", "time"),
        ("import os\nos._exit(1)", "died"),
        (
            "import builtins\nbuiltins.all = lambda *_: True\ndef double(x):\n    return 4 if x == 2 else 0\n",
            "tampered",
        ),
    ],
)
def test_unsafe_boxes_grade_alike(code: str, state: str) -> None:
    part = exercise(seconds=1.0) | {"expected": matrices.expected(matrix(seconds=1.0, box=UNSAFE))}
    assert alone(part, code, UNSAFE)["state"] == state


def test_unsafe_boxes_leave_no_process_in_their_group() -> None:
    code = f"import os, time\nif not os.fork():\n    time.sleep(300)\n{REFERENCE}"
    assert states(alone(exercise(), code, UNSAFE)) == PASSED
    ours = str(sandbox._stage())  # which is on the command line of an unsafe runner
    processes = [
        process for process in psutil.process_iter(["cmdline"]) if ours in " ".join(process.info["cmdline"] or ())
    ]
    assert psutil.wait_procs(processes, timeout=30)[1] == []


@needs_box
def test_a_slow_reader_gets_the_whole_job() -> None:
    slow = "import sys, threading; threading.Event().wait(1.2); print(len(sys.stdin.buffer.read()))"
    with sandbox._started(BOX, ("-c", slow), (), b"x" * 500_000) as (process, leader):
        ended = sandbox._watched(process, leader, BOX, 60)
    assert ended.output == b"500000\n", ended
