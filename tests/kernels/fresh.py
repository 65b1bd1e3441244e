"""Processes of Python that have imported torch, once for all of them, and nothing of triton yet."""

from __future__ import annotations

import functools
import json
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import torch  # noqa: F401

REPO = Path(__file__).resolve().parents[2]
_ENVIRONMENT = {"CUDA_VISIBLE_DEVICES": ""}  # also on a GPU machine; the benchmark is what runs there


def python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What `python -m module …` or `python -c code` says in the repository, without a GPU."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, name)) for name in ("output", "errors")]
        server = _server()
        assert server.stdin
        assert server.stdout
        print(json.dumps([arguments, environment, paths]), file=server.stdin, flush=True)
        status = int(server.stdout.readline())
        return subprocess.CompletedProcess(arguments, status, *(Path(path).read_text() for path in paths))


@functools.cache
def _server() -> subprocess.Popen[str]:
    """What starts them; it ends when this process does."""
    kept = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    command = [sys.executable, "-m", __name__]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=REPO, env=kept | _ENVIRONMENT, **pipes)


def main() -> None:
    """Fork for each line of the input, and say how the child ended; a child goes on as what it was asked to be."""
    assert "triton" not in sys.modules
    for line in sys.stdin:
        child = os.fork()
        if not child:
            return _become(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _become(arguments: list[str], environment: dict[str, str], paths: list[str]) -> None:
    for descriptor, path in enumerate(paths, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    os.environ.update(environment)
    option, what, *sys.argv[1:] = arguments
    if option == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(what, {"__name__": "__main__"})


if __name__ == "__main__":
    main()
