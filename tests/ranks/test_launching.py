"""A launch is what torchrun does: its environment, its end when a rank fails; and it leaves nothing behind."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from torchbook import ranks
from torchbook.ranks import launching
from torchbook.ranks.processes import MARK

SUM = """
import os
import torch
import torch.distributed as dist
from torchbook.ranks.inside import rank, report, world

dist.init_process_group("gloo")
t = torch.arange(4) + 10 * rank
dist.all_reduce(t)
print("the sum is", t.tolist())
names = "RANK LOCAL_RANK GROUP_RANK LOCAL_WORLD_SIZE WORLD_SIZE".split()
report({"sum": t.tolist(), "threads": torch.get_num_threads(), "told": [os.environ[name] for name in names]})
dist.destroy_process_group()
"""
ONE_DIES = """
import os, time
from torchbook.ranks.inside import rank, report

report({"pid": os.getpid()})
if rank == 1:
    while not os.path.exists("0.result"):
        time.sleep(0.01)
    os.kill(os.getpid(), 9)
time.sleep(600)
"""
BOTH = pytest.mark.parametrize("torchrun", [False, True], ids=["forked", "torchrun"])


@pytest.fixture(autouse=True)
def _as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launching, "_PATIENCE", max(1.0, launching._PATIENCE))


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@BOTH
def test_every_rank_takes_part_and_reports(torchrun: bool) -> None:
    run = ranks.launch("sums", SUM, 3, torchrun=torchrun)
    assert run.launched == ("torchrun" if torchrun else "forked")
    assert [report["sum"] for report in run.reports] == [[30, 33, 36, 39]] * 3
    assert [report["told"] for report in run.reports] == [[str(r), str(r), "0", "3", "3"] for r in range(3)]
    assert {report["threads"] for report in run.reports} == {1}
    assert run.stdout.splitlines() == [f"[{rank}] the sum is [30, 33, 36, 39]" for rank in range(3)]


@BOTH
def test_a_rank_that_dies_takes_the_others_along(torchrun: bool) -> None:
    run = ranks.launch("dies", ONE_DIES, 2, fails=True, torchrun=torchrun)
    assert run.returncode == (1 if torchrun else 9)
    assert run.seconds < 100
    assert all(gone(report["pid"]) for report in run.reports)


def test_ranks_outlive_a_torchrun_that_is_killed_and_are_found_by_their_mark() -> None:
    script = """
import os, time
from torchbook.ranks.inside import rank, report
if rank == 1:
    report(os.getppid())
    os.kill(os.getppid(), 9)
time.sleep(600)
"""
    run = ranks.launch("orphans", script, 2, fails=True, torchrun=True)
    assert (run.returncode, run.killed) == (9, 2)
    assert gone(run[1])


def test_two_agents_number_their_ranks_through() -> None:
    script = "import os\nfrom torchbook.ranks.inside import report\n"
    script += "report([os.environ['LOCAL_RANK'], os.environ['GROUP_RANK']])"
    run = ranks.launch("agents", script, 4, agents=2)
    assert run.reports == [["0", "0"], ["1", "0"], ["0", "1"], ["1", "1"]]


def test_a_hang_ends_at_the_limit_and_says_where_each_rank_stands() -> None:
    script = "import time, torchbook.ranks.inside\ntime.sleep(600)  # for ever"
    with pytest.raises(ranks.RanksError, match=r"hangs\.py was still running after"):
        ranks.launch("hangs", script, 2, limit=2)
    run = ranks.launch("hangs", script, 2, limit=2, fails=True)
    assert run.returncode is None
    assert run.stderr.count('hangs.py", line 2 in <module>') == 2


def test_the_error_names_the_rank_that_failed_first() -> None:
    script = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
if dist.get_rank() == 1:
    raise ValueError("no data here")
dist.all_reduce(torch.ones(1))
"""
    with pytest.raises(ranks.RanksError, match=r"(?s)fails\.py failed \(exit status 1\)\nrank 1:.*no data here"):
        ranks.launch("fails", script, 2)


def test_a_warning_is_not_taken_for_the_error() -> None:
    script = """
import sys
from torchbook.ranks.inside import rank
if rank == 0:
    print("[W1128] the hostname cannot be retrieved", file=sys.stderr)
else:
    raise RuntimeError("Connection closed by peer")
"""
    with pytest.raises(ranks.RanksError, match=r"(?s)\nrank 1:.*RuntimeError: Connection closed by peer"):
        ranks.launch("warns", script, 2)


@pytest.mark.parametrize("code", ["raise SystemExit(3)", "import sys; sys.exit(3)", "import os; os._exit(3)"])
def test_an_exit_status_is_kept(code: str) -> None:
    assert ranks.launch("exits", code, 1, fails=True).returncode == 3


def test_a_later_launch_of_a_name_sees_nothing_of_the_former() -> None:
    ranks.launch("again", "open('left', 'w').close()", 1)
    run = ranks.launch("again", "import os; print(os.path.exists('left'))", 1)
    assert run.stdout == "[0] False"


def test_a_variable_reaches_the_ranks() -> None:
    run = ranks.launch("told", "import os; print(os.environ['LEVEL'])", 2, env={"LEVEL": "7"})
    assert run.stdout == "[0] 7\n[1] 7"


def test_a_rank_without_a_report_is_named() -> None:
    run = ranks.launch("silent", "pass", 1)
    with pytest.raises(KeyError, match="rank 0 has reported nothing"):
        run[0]


@pytest.mark.parametrize(
    ("name", "count", "agents", "message"),
    [("../x", 2, 1, "word"), ("two words", 2, 1, "word"), ("odd", 3, 2, "evenly"), ("none", 0, 1, "evenly")],
)
def test_what_cannot_be_started_is_said(name: str, count: int, agents: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ranks.launch(name, "pass", count, agents=agents)


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_the_second_launch_does_not_wait_for_torch() -> None:
    script = "import sys\nassert 'torch' in sys.modules"
    ranks.launch("first", script, 1)
    assert ranks.launch("second", script, 1).launched == "forked"


def test_kill_marked_finds_what_left_its_group() -> None:
    import subprocess

    process = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)"], env=os.environ | {MARK: "a"}, start_new_session=True
    )
    try:
        deadline = time.monotonic() + 20
        while process.pid not in ranks.marked("a") and time.monotonic() < deadline:
            time.sleep(0.02)
        assert ranks.kill_marked("a") == 1
        assert process.wait(10) == -9
        assert ranks.marked("a") == []
    finally:
        process.kill()


def test_a_free_port_can_be_bound() -> None:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", ranks.free_port()))


def test_what_is_printed_stands_by_the_number_in_the_whole_world() -> None:
    script = "import os\nprint(os.environ['RANK'])"
    assert ranks.launch("numbered", script, 4, agents=2).stdout == "[0] 0\n[1] 1\n[2] 2\n[3] 3"


@BOTH
def test_torch_reads_its_level_of_checks_from_the_variables_given(torchrun: bool) -> None:
    script = "import torch.distributed as dist\nprint(dist.get_debug_level().name)"
    run = ranks.launch("level", script, 1, torchrun=torchrun, env={"TORCH_DISTRIBUTED_DEBUG": "DETAIL"})
    assert run.stdout == "[0] DETAIL"


@BOTH
def test_a_script_imports_what_lies_beside_the_notebook(
    torchrun: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "beside.py").write_text("ANSWER = 42\n")
    monkeypatch.chdir(tmp_path)
    run = ranks.launch("imports", "from beside import ANSWER\nprint(ANSWER)", 1, torchrun=torchrun)
    assert run.stdout == "[0] 42"


def test_rank_0_may_end_while_the_others_still_make_groups() -> None:
    script = """
import time
import torch.distributed as dist
from torchbook.ranks.inside import rank
dist.init_process_group("gloo")
dist.barrier()
if rank:
    time.sleep(1)
    dist.new_group([1, 2], use_local_synchronization=True)
print("done")
"""
    assert ranks.launch("early", script, 3).stdout.count("done") == 3
