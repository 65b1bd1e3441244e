"""Processes that others started: find them by a mark in their environment or by their group, and end them.

A process group is not enough to find what a launcher started, because torchrun puts every rank into a session of its
own. A mark is: whatever a process starts inherits its environment.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

MARK = "TORCHBOOK_STARTED_BY"  # the environment variable that holds the mark
STACK_AFTER = "TORCHBOOK_STACK_AFTER"  # seconds until a rank that is still there writes where it stands
_PROC = Path("/proc")


def marked(mark: str) -> list[int]:
    """Ids of the living processes of this user whose environment, as they were started with it, holds the mark.

    Raises:
        ModuleNotFoundError: the system has no /proc, and psutil is not installed.
    """
    return [pid for pid, environment in _environments() if environment.get(MARK) == mark]


def kill_marked(mark: str, patience: float = 10) -> int:
    """Kill every process that carries the mark, and wait until none is left; how many there were.

    Args:
        mark: its value.
        patience: seconds to wait for their end.
    """
    alive = marked(mark)
    for pid in alive:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + patience
    while marked(mark) and time.monotonic() < end:
        time.sleep(0.02)
    return len(alive)


def free_port() -> int:
    """A port of the loopback interface on which nothing listens now. Another program may take it before you do."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _environments() -> Iterator[tuple[int, dict[str, str]]]:
    """Process id and environment of all processes whose environment may be read and that have not ended."""
    if _PROC.is_dir():
        for path in _PROC.glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):  # another user's, or gone meanwhile; of a zombie it is empty
                pairs = (pair.partition(b"=") for pair in path.read_bytes().split(b"\0"))
                yield int(path.parent.name), {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
        return
    import psutil

    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                yield process.pid, process.environ()
