"""Several ranks on this machine, for checks of exercises on distributed training.

    RANKS = Ranks(world=2)
    CASES = '''
    def cases(answer):                  # answer: the learner's module
        def mean():                     # runs on every rank, within a process group of its own
            t = torch.full((3,), float(rank))
            answer.average(t)
            return t.tolist()           # anything that JSON can hold

        yield "mean", mean
        yield "alone", mean, 1          # each rank in a group of one
        yield "by itself", start, 0     # without a group
    '''

    def test_mean(average, source):
        first, second = RANKS.values(CASES, source, "mean")

The ranks are processes of their own, which know the learner's text and not this notebook. On Linux one of them forks
the others, so that torch is imported once; they meet by a file, without a port. All cases of an answer share one start.
The standard library is all that this module needs: the grader's box has no more of this package than learners have.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torchbook.ranks.processes import MARK, kill_marked

Said = dict[str, dict[str, Any]]  # of one rank, by case: {"value": …}, {"error": …} or {"unsolved": True}

_PROGRAM = Path(__file__).with_name("_rank.py")


@dataclass
class Ranks:
    """Runs cases in several ranks, and remembers what they said.

    Keep one in a module of checks: what it remembers lives as long as that, and a next `check` starts anew.

    Attributes:
        world: the number of ranks.
        limit: seconds that a collective waits for the other ranks.
        case_seconds: limit of one case.
        seconds: limit of all; then the ranks are ended, and the cases that they finished count.
        variables: more environment variables of the ranks.
    """

    world: int = 2
    limit: int = 15
    case_seconds: int = 60
    seconds: float = 150.0
    variables: Mapping[str, str] = field(default_factory=dict)
    _said: dict[tuple[str, str], list[Said]] = field(default_factory=dict, repr=False)

    def run(self, cases: str, source: str) -> list[Said]:
        """What each rank said of each case; a case that it did not come to is missing."""
        if (cases, source) not in self._said:
            self._said[cases, source] = self._run(cases, source)
        return self._said[cases, source]

    def values(self, cases: str, source: str, case: str) -> list[Any]:
        """What the case returned, rank by rank.

        Raises:
            NotImplementedError: the answer is the stub still.
            AssertionError: a rank raised, hung or ended; the message says which and where.
        """
        reports = self.run(cases, source)
        results = [report.get(case) or report.get("") or {"error": self._nothing} for report in reports]
        if any("unsolved" in result for result in results):
            raise NotImplementedError
        errors = [(rank, result["error"]) for rank, result in enumerate(results) if "error" in result]
        if errors:
            rank, error = min(errors, key=lambda failure: _is_a_consequence(failure[1]))
            raise AssertionError(f"rank {rank}: {error}")
        return [result["value"] for result in results]

    @property
    def _nothing(self) -> str:
        return "the process ended by itself, or was too slow"

    def _run(self, cases: str, source: str) -> list[Said]:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            folder = Path(name)
            for file, text in (("answer.py", source), ("cases.py", cases)):
                (folder / file).write_text(text, encoding="utf-8")
            ranks = [-1] if sys.platform == "linux" else range(self.world)
            numbers = self.world, self.limit, self.case_seconds
            program = [sys.executable, "-P", str(_PROGRAM), name]  # -P: what lies beside the program is not to be found
            commands = [[*program, *map(str, (rank, *numbers))] for rank in ranks]
            with started(commands, [on_loopback(self.variables)] * len(commands), folder) as processes:
                waited(processes, self.seconds)
            files = [folder / f"{rank}.json" for rank in range(self.world)]
            return [json.loads(file.read_text()) if file.exists() else {} for file in files]


def _is_a_consequence(error: str) -> bool:
    """Whether an error says only that another rank went away."""
    return any(
        words in error
        for words in ("Connection closed", "Connection reset", "Broken pipe", "Timed out", "Wait timeout")
    )


def on_loopback(variables: Mapping[str, str] = {}) -> dict[str, str]:
    """This process' environment for ranks that talk on this machine only: gloo's interface, one thread, no GPU."""
    interface = {"linux": "lo", "darwin": "lo0"}.get(sys.platform)
    environment = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    return environment | ({"GLOO_SOCKET_IFNAME": interface} if interface else {}) | dict(variables)


@contextlib.contextmanager
def started(
    commands: Sequence[Sequence[str]], environments: Sequence[Mapping[str, str]], folder: Path
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start processes without input or output, and end them and all that they started when the block is left."""
    token = secrets.token_hex(8)
    processes: list[subprocess.Popen[bytes]] = []
    streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    try:
        for command, environment in zip(commands, environments, strict=True):
            marked = {**environment, MARK: token}
            processes.append(subprocess.Popen(command, env=marked, cwd=folder, start_new_session=True, **streams))
        yield processes
    finally:
        for process in processes:
            _kill(process)
        with contextlib.suppress(ModuleNotFoundError):  # of psutil, where there is no /proc
            kill_marked(token, patience=1)  # torchrun's workers leave the group
        for process in processes:
            process.wait()


def waited(processes: Sequence[subprocess.Popen[bytes]], seconds: float) -> bool:
    """Wait until all have ended, for some seconds at most; whether they have."""
    end = time.monotonic() + seconds
    for process in processes:
        try:
            process.wait(max(end - time.monotonic(), 0.01))
        except subprocess.TimeoutExpired:
            return False
    return True


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and its group."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
