"""What makes many answers cheap: processes that have imported torch already, and C++ headers that are parsed.

Both are stand-ins for what costs every learner a few seconds once, and a class, or a matrix of many answers, minutes.
The matrix shows the public checks of the reference without them, so that its time is a learner's. In a box this file
lies beside the runner; all that it starts ends with the exercise.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import runpy
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from torchbook.practice import ranks

READ_AT_START = re.compile("PYTHON|OMP_|MKL_|KMP_|LD_")  # variables that come too late for a process that is forked
_MESSAGE = 1 << 17  # bytes of a command with its environment
_PR_SET_PDEATHSIG = 1


@contextlib.contextmanager
def processes() -> Iterator[None]:
    """Within the block, Python programs that `torchbook.practice.ranks` starts are forked from a warm process.

    That process is forked from this one by the first block, has what this one has imported by then, and does nothing
    else; it ends with this one. How processes are watched and ended is left to `ranks`, which sees what it would see
    of its own.
    """
    if sys.platform != "linux":
        yield
        return
    _zygote()
    stand_in = types.SimpleNamespace(Popen=_popen, DEVNULL=subprocess.DEVNULL, TimeoutExpired=subprocess.TimeoutExpired)
    with mock.patch.object(ranks, "subprocess", stand_in):
        yield


def _popen(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes] | _Forked:
    words = command[2:] if command[1] == "-P" else command[1:]  # which keeps a script's folder from the modules' path
    is_program = command[0] == sys.executable and (words[0] == "-m" or not words[0].startswith("-"))
    if is_program and _at_start(options["env"]) == _at_start(ranks.on_loopback()):
        return _zygote().start(words, options["env"], options["cwd"])
    return subprocess.Popen(command, **options)


def _at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if READ_AT_START.match(name)}


_MOST_FILES = 4096


@cache
def _zygote() -> _Zygote:
    return _Zygote()


class _Zygote:
    """A process that forks programs."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if not os.fork():
            try:
                # Pipes of whoever forks are none of its business: their other ends would never see them closed.
                os.closerange(3, theirs.fileno())
                os.closerange(theirs.fileno() + 1, _MOST_FILES)
                _serve(theirs)
            finally:
                os._exit(1)
        theirs.close()

    def start(self, words: Sequence[str], environment: Mapping[str, str], folder: str | os.PathLike[str]) -> _Forked:
        reading, writing = os.pipe()
        message = json.dumps([list(words), dict(environment), str(folder)]).encode()
        try:
            socket.send_fds(self._socket, [message], [writing])
        finally:
            os.close(writing)
        return _Forked(reading)


class _Forked:
    """As much of a `Popen` as `ranks` and the checks use."""

    def __init__(self, reading: int) -> None:
        self._reading = reading
        self._code: int | None = None
        self.pid = int(os.read(reading, 32))  # which it says when it leads a group of its own, which can be ended

    @property
    def returncode(self) -> int | None:
        return self._ended(0.0)

    def poll(self) -> int | None:
        return self._ended(0.0)

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("a forked process", timeout or 0.0)
        return code

    def _ended(self, timeout: float | None) -> int | None:
        if self._code is None and select.select([self._reading], [], [], timeout)[0]:
            self._code = int(os.read(self._reading, 32) or b"-9")  # nothing is said by who was killed
            os.close(self._reading)
        return self._code


def _serve(requests: socket.socket) -> None:
    """Fork a process for each request, until nobody can ask any more."""
    _end_with_parent()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the watchers
    while True:
        message, pipes, *_ = socket.recv_fds(requests, _MESSAGE, 1)
        if not message:
            os._exit(0)
        if not os.fork():
            requests.close()
            _watch(message, pipes[0])
        os.close(pipes[0])


def _watch(message: bytes, pipe: int) -> None:
    """Run a program in a process, and say on the pipe how it ended."""
    try:
        _end_with_parent()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        pid = os.fork()
        if not pid:
            _become(pipe, *json.loads(message))
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.write(pipe, str(code).encode())
    finally:
        os._exit(0)


def _become(pipe: int, words: list[str], environment: dict[str, str], folder: str) -> None:
    """Go on as `python *words`, and end as it does."""
    _end_with_parent()
    os.setsid()
    os.write(pipe, f"{os.getpid()}\n".encode())
    os.close(pipe)
    devnull = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(devnull, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for name in ("runner", "harness", "warm"):
        sys.modules.pop(name, None)
    code = 1
    try:
        if words[0] == "-m":
            sys.argv = words[1:]
            sys.path[0] = folder
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = words
            runpy.run_path(words[0], run_name="__main__")
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        os._exit(code)


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


@contextlib.contextmanager
def headers(source: str) -> Iterator[None]:
    """Within the block, the headers that C++ in a source begins with are parsed already, where g++ is the compiler.

    Flags that differ from those of torch's own builds make g++ read the headers as ever.
    """
    names = re.findall(r"^#include <(.+)>$", source, re.MULTILINE)
    with mock.patch.dict(os.environ, {"CPATH": _parsed(tuple(names)).name} if names else {}):
        yield


@cache
def _parsed(names: tuple[str, ...]) -> tempfile.TemporaryDirectory[str]:
    """A folder in which g++ finds all of the headers in place of the first, with the flags of torch's own builds."""
    from torch.utils import cpp_extension

    directory = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    folder = Path(directory.name)
    (folder / "empty.cpp").touch()
    (folder / "all.h").write_text("".join(f"#include <{name}>\n" for name in names), encoding="utf-8")
    options: dict[str, Any] = {"is_python_module": False, "extra_cflags": ["-O1"]}
    cpp_extension.load("empty", [str(folder / "empty.cpp")], build_directory=str(folder), **options)
    rules = dict(re.findall(r"^(\w+) = (.*)$", (folder / "build.ninja").read_text(encoding="utf-8"), re.MULTILINE))
    flags = [flag for flag in shlex.split(rules["cflags"]) if not flag.startswith("-DTORCH_EXTENSION_NAME")]
    target = folder / f"{names[0]}.gch"
    target.parent.mkdir(parents=True)
    command = [*shlex.split(rules["cxx"]), *flags, "-x", "c++-header", str(folder / "all.h"), "-o", str(target)]
    subprocess.run(command, check=True, capture_output=True)
    return directory
