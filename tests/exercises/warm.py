"""What makes many wrong answers cheap: processes that have imported torch already, and C++ headers that are parsed.

Both are stand-ins for what costs every learner a few seconds once and these tests minutes. The exercises' first
reference does without them, so that its time is a learner's.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import runpy
import shlex
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any
from unittest import mock

from torchbook.practice import ranks
from torchbook.practice.exercise import Exercise

EXERCISES = Path(__file__).resolve().parents[2] / "exercises"
READ_AT_START = re.compile("PYTHON|OMP_|MKL_|KMP_|LD_")  # variables that come too late for a process that is forked


@contextlib.contextmanager
def processes() -> Iterator[None]:
    """Within the block, Python programs that `torchbook.practice.ranks` starts are forked from a warm process.

    That process imports and does nothing else; it ends with this one. How processes are watched and ended is left to
    `ranks`, which sees what it would see of its own.
    """
    if sys.platform != "linux":
        yield
        return
    stand_in = types.SimpleNamespace(Popen=_popen, DEVNULL=subprocess.DEVNULL, TimeoutExpired=subprocess.TimeoutExpired)
    with mock.patch.object(ranks, "subprocess", stand_in):
        yield


def _popen(command: Sequence[str], **how: Any) -> subprocess.Popen[bytes] | _Forked:
    program = command[0] == sys.executable and (command[1] == "-m" or not command[1].startswith("-"))
    if program and _at_start(how["env"]) == _at_start(ranks.on_loopback()):
        return _Forked(command[1:], how["env"], how["cwd"])
    return subprocess.Popen(command, **how)


def _at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if READ_AT_START.match(name)}


class _Forked:
    """As much of a `Popen` as `ranks` and the checks use."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        context = _warm()
        ours, theirs = context.Pipe(duplex=False)
        arguments = theirs, list(words), dict(environment), str(folder)
        self._process = context.Process(target=_become, args=arguments)
        self._process.start()
        theirs.close()
        try:
            with ours, contextlib.suppress(EOFError):  # which says that it ended at once
                ours.recv()  # it leads a group of its own by now, which can be ended
        except BaseException:  # the check's time is over
            self._process.kill()
            raise
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("a forked process", timeout or 0.0)
        return self._process.exitcode


@cache
def _warm() -> ForkServerContext:
    """What forks from a process with all of torch that cases of checks import."""
    texts = [path.read_text(encoding="utf-8") for path in EXERCISES.glob("*/checks.py")]
    started = [text for text in texts if "torchbook.practice.ranks" in text]
    modules = {name for text in started for name in re.findall(r"^(?:import|from) (torch\b[\w.]*)", text, re.MULTILINE)}
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, *sorted(modules)])
    with mock.patch.dict(os.environ, ranks.on_loopback()):
        forkserver.ensure_running()
    return context


def _become(ready: Connection, words: list[str], environment: dict[str, str], folder: str) -> None:
    """Go on as `python *words`."""
    os.setsid()
    ready.send(None)
    ready.close()
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    if words[0] == "-m":
        sys.argv = words[1:]
        sys.path[0] = folder
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        sys.path[0] = os.path.dirname(words[0])
        runpy.run_path(words[0], run_name="__main__")


@contextlib.contextmanager
def headers(exercise: Exercise) -> Iterator[None]:
    """Within the block, the headers that the exercise's C++ begins with are parsed already, where g++ is the compiler.

    Flags that differ from those of the exercise's builds make g++ read the headers as ever.
    """
    named = re.findall(r"^#include <(.+)>$", exercise.reference, re.MULTILINE)
    with mock.patch.dict(os.environ, {"CPATH": _parsed(tuple(named)).name} if named else {}):
        yield


@cache
def _parsed(headers: tuple[str, ...]) -> tempfile.TemporaryDirectory[str]:
    """A folder in which g++ finds all of the headers in place of the first, with the flags of torch's own builds."""
    from torch.utils import cpp_extension

    kept = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    folder = Path(kept.name)
    (folder / "empty.cpp").touch()
    (folder / "all.h").write_text("".join(f"#include <{name}>\n" for name in headers), encoding="utf-8")
    how: dict[str, Any] = {"is_python_module": False, "extra_cflags": ["-O1"]}
    cpp_extension.load("empty", [str(folder / "empty.cpp")], build_directory=str(folder), **how)
    rules = dict(re.findall(r"^(\w+) = (.*)$", (folder / "build.ninja").read_text(encoding="utf-8"), re.MULTILINE))
    flags = [flag for flag in shlex.split(rules["cflags"]) if not flag.startswith("-DTORCH_EXTENSION_NAME")]
    target = folder / f"{headers[0]}.gch"
    target.parent.mkdir(parents=True)
    command = [*shlex.split(rules["cxx"]), *flags, "-x", "c++-header", str(folder / "all.h"), "-o", str(target)]
    subprocess.run(command, check=True, capture_output=True)
    return kept
