"""Warm processes: they are what cold ones are, and none of them is left."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from torchbook.practice import ranks
from torchbook.practice.ranks import Ranks, on_loopback, started
from torchbook_course import warm

CASES = """
import os


def cases(answer):
    def total():
        t = torch.tensor([rank + 1.0])
        answer.add(t)
        return [t.item(), __name__, os.environ["THIS_TEST"], os.getcwd() == str(folder), torch.get_num_threads()]

    yield "total", total
    yield "raises", lambda: 1 / 0
"""
ADD = "def add(t):\n    dist.all_reduce(t)\n"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="ranks are forked on Linux only")


def test_warm_ranks_say_what_cold_ones_say(tmp_path: Path) -> None:
    cold = Ranks(variables={"THIS_TEST": "x"}).run(CASES, ADD)
    with warm.processes():
        assert Ranks(variables={"THIS_TEST": "x"}).run(CASES, ADD) == cold


def popen(words: list[str], folder: Path, **more: str) -> subprocess.Popen[bytes]:
    """As `ranks` starts a process."""
    with warm.processes():
        environment = on_loopback() | more
        return ranks.subprocess.Popen(
            [sys.executable, *words], env=environment, cwd=folder, start_new_session=True, stdout=subprocess.DEVNULL
        )


def test_a_process_that_is_warm_has_torch(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys\nsys.exit('torch' not in sys.modules)", encoding="utf-8")
    assert popen([str(script)], tmp_path).wait(60) == 0


def test_an_exit_status_is_handed_on(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys\nsys.exit(3)", encoding="utf-8")
    assert popen([str(script)], tmp_path).wait(60) == 3


def test_a_module_is_run_with_its_arguments(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import sys\nsys.exit(len(sys.argv[1:]))", encoding="utf-8")
    assert popen(["-m", "mine", "a", "b"], tmp_path).wait(60) == 2


def test_variables_that_python_reads_when_it_starts_start_another(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys\nsys.exit('torch' in sys.modules)", encoding="utf-8")
    assert popen([str(script)], tmp_path, PYTHONHASHSEED="1").wait(60) == 0


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_nothing_is_left_of_a_group(tmp_path: Path) -> None:
    script, pid_file = tmp_path / "script.py", tmp_path / "said"
    text = f"import os, time\nos.fork()\nopen({str(pid_file)!r}, 'a').write(f'{{os.getpid()}}\\n')\ntime.sleep(600)"
    script.write_text(text, encoding="utf-8")
    with warm.processes(), started([[sys.executable, str(script)]], [on_loopback()], tmp_path):
        end = time.monotonic() + 60
        while time.monotonic() < end and (not pid_file.exists() or pid_file.read_text().count("\n") < 2):
            time.sleep(0.05)
        pids = [int(line) for line in pid_file.read_text().split()]
        assert [alive(pid) for pid in pids] == [True, True]
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(alive, pids))
