"""Starts a script on several ranks, for the tests of code that visualizers give away; no process outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil


def torchrun(script: Path, ranks: int, seconds: float = 300) -> str:
    """What the ranks print.

    Raises:
        AssertionError: a rank failed, or they took too long; the message holds what they wrote.
    """
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", str(script)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    with subprocess.Popen(
        command, cwd=script.parent, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as agent:  # fmt: skip
        try:
            output, complaints = agent.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{ranks} ranks took longer than {seconds:g} s") from None
        finally:
            _end(agent)
    assert agent.returncode == 0, complaints[-3000:]
    return output


def _end(agent: subprocess.Popen[str]) -> None:
    """Ends what still runs: the agent first, which ends its ranks, then whatever is left."""
    if agent.poll() is not None:
        return
    ranks = psutil.Process(agent.pid).children(recursive=True)
    agent.send_signal(signal.SIGTERM)
    try:
        agent.wait(20)
    except subprocess.TimeoutExpired:
        agent.kill()
    left = psutil.wait_procs(ranks, timeout=5)[1]
    for process in left:
        process.kill()
    psutil.wait_procs(left, timeout=5)
