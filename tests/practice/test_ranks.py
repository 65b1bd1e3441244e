"""Ranks: what they say, and that none of them is left."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from torchbook.practice import harness
from torchbook.practice.ranks import Ranks, Said, on_loopback, started, waited

CASES = """
import os, signal, time


def cases(answer):
    def total():
        t = torch.tensor([rank + 1.0])
        answer.add(t)
        return [t.item(), dist.get_world_size()]

    def one_raises():
        if rank == 1:
            raise ValueError("rank one")
        dist.barrier()

    def one_stays_away():
        if rank == 0:
            answer.add(torch.zeros(1))

    def slow():
        time.sleep(60)

    def no_group():
        return dist.is_initialized()

    def unsolved():
        raise NotImplementedError

    def dies():
        dist.barrier()
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    yield "total", total
    yield "alone", total, 1
    yield "raises", one_raises
    yield "away", one_stays_away
    yield "slow", slow
    yield "no group", no_group, 0
    yield "unsolved", unsolved
    yield "again", total
    yield "dies", dies
    yield "never", total
"""
ADD = "def add(t):\n    dist.all_reduce(t)\n"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="ranks are forked on Linux only")


class Run:
    """One start of the cases above."""

    def __init__(self) -> None:
        self.ranks = Ranks(limit=4, case_seconds=10, seconds=120.0)

    def values(self, case: str) -> list[object]:
        return self.ranks.values(CASES, ADD, case)

    @property
    def said(self) -> list[Said]:
        return self.ranks.run(CASES, ADD)


@pytest.fixture(scope="module")
def run() -> Run:
    return Run()


def test_ranks_talk(run: Run) -> None:
    assert run.values("total") == [[3.0, 2], [3.0, 2]]


def test_a_rank_can_be_alone(run: Run) -> None:
    assert run.values("alone") == [[1.0, 1], [2.0, 1]]


def test_the_rank_that_raised_is_named_and_not_the_one_that_waited(run: Run) -> None:
    with pytest.raises(AssertionError, match=r"^rank 1: ValueError: rank one$"):
        run.values("raises")


def test_a_hang_ends_and_names_the_line_without_addresses(run: Run) -> None:
    with pytest.raises(
        AssertionError, match=r"^rank 0: RuntimeError: Timed out.*\(at `dist\.all_reduce\(t\)`\)$"
    ) as raised:
        run.values("away")
    assert "127.0" not in str(raised.value)


def test_a_case_has_a_limit(run: Run) -> None:
    with pytest.raises(AssertionError, match="not finished after 10 s"):
        run.values("slow")


def test_a_case_without_a_group(run: Run) -> None:
    assert run.values("no group") == [False, False]


def test_the_stub_is_unsolved(run: Run) -> None:
    with pytest.raises(NotImplementedError):
        run.values("unsolved")


def test_after_all_that_ranks_still_talk(run: Run) -> None:
    assert run.values("again") == run.values("total")


def test_a_rank_that_dies_is_noticed(run: Run) -> None:
    with pytest.raises(AssertionError, match="rank 1: the process ended by itself"):
        run.values("dies")
    assert "total" in run.said[1]


def test_an_answer_that_does_not_run_is_named() -> None:
    with pytest.raises(AssertionError, match=r"rank 0: ZeroDivisionError: .*\(at `1 / 0`\)"):
        Ranks(seconds=120.0).values(CASES, "1 / 0\n", "total")


def test_cases_that_fail_at_once_do_not_disturb_the_next() -> None:
    cases = "def cases(answer):\n    def f():\n        raise NotImplementedError\n\n"
    cases += "    for number in range(40):\n        yield str(number), f\n"
    for report in Ranks(limit=5, seconds=120.0).run(cases, ADD):
        assert list(report.values()) == [{"unsolved": True}] * 40


def alive(token: str) -> list[int]:
    pids = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            pids += [int(path.parent.name)] if f"THIS_TEST={token}".encode() in path.read_bytes() else []
        except OSError:
            continue
    return pids


def test_nothing_is_left_of_processes_that_left_their_group(tmp_path: Path) -> None:
    program = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], "
    program += "start_new_session=True); open('up', 'w'); time.sleep(600)"
    token = str(os.getpid())
    with started([[sys.executable, "-c", program]], [on_loopback({"THIS_TEST": token})], tmp_path) as processes:
        while not (tmp_path / "up").exists():
            time.sleep(0.05)
        assert len(alive(token)) == 2
        assert not waited(processes, 0.1)
    time.sleep(0.2)
    assert alive(token) == []


def test_nothing_is_left_after_a_time_limit() -> None:
    token = f"limit{os.getpid()}"
    ranks = Ranks(variables={"THIS_TEST": token}, seconds=120.0)
    with pytest.raises(harness.TimeLimitError), harness.time_limit(1.0):
        ranks.run(CASES, ADD)
    time.sleep(0.2)
    assert alive(token) == []
