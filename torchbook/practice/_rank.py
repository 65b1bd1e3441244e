"""The program of a rank that `torchbook.practice.ranks` starts: it runs cases on an answer and writes what they return.

    python -P _rank.py FOLDER WHICH SIZE LIMIT SECONDS

FOLDER holds the texts `cases.py` and `answer.py`; WHICH is the rank, or -1 for one that forks the others. It is a file
to be run by its path, because the package need not be importable where it runs. Cases find the modules that this file
imports (`torch`, `dist`, `nn`, `os`, …) among their names, and `folder`, `rank`, `size`
and `limit`, how long a collective waits.
"""

from __future__ import annotations

import contextlib
import ctypes
import datetime
import json
import os
import pathlib
import re
import signal
import sys
import types
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

Result = dict[str, Any]  # {"value": …}, {"error": …} or {"unsolved": True}
_PR_SET_PDEATHSIG = 1


class TooLong(BaseException):  # no error of the answer, and none that it may catch
    """The limit of a case was reached."""


class Rank:
    """One rank of several, and the answer that it runs cases on."""

    def __init__(self, folder: pathlib.Path, rank: int, size: int, limit: int, seconds: int) -> None:
        self.folder, self.rank, self.size = folder, rank, size
        self.limit, self.seconds = datetime.timedelta(seconds=limit), seconds
        self.text = (folder / "answer.py").read_text(encoding="utf-8")

    def run(self, names: dict[str, Any]) -> None:
        """Run the answer, then all cases on it; what was returned so far is written after each."""
        answer = sys.modules["answer"] = types.ModuleType("answer")
        vars(answer).update(torch=torch, dist=dist, nn=nn)
        results: dict[str, Result] = {}
        try:
            exec(compile(self.text, "<answer>", "exec", dont_inherit=True), vars(answer))
            for number, (name, case, *world) in enumerate(names["cases"](answer)):
                results[name] = self._during(number, case, *world or [self.size])
                self._write(results)
        except NotImplementedError:
            self._write(results | {"": {"unsolved": True}})
        except Exception as error:
            self._write(results | {"": {"error": self._worded(error)}})

    def _during(self, number: int, case: Callable[[], Any], world: int) -> Result:
        """What the case returns, within a process group of its own."""
        rank, size = (0, 1) if world == 1 else (self.rank, self.size)
        suffix = f"-{self.rank}" if world == 1 else ""
        store = dist.FileStore(str(self.folder / f"store{number}{suffix}"), size)
        failed = True
        try:
            _alarm(self.seconds)
            if world != 0:
                dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=self.limit)
            # a case that fails at once must not close what others still open
            _meet(store, "here", rank, size, self.limit)
            result = {"value": case()}
            failed = False
            return result
        except NotImplementedError as error:
            return {"error": self._worded(error)} if error.args else {"unsolved": True}
        except TooLong as error:
            return {"error": f"not finished after {self.seconds} s{self._line(error)}"}
        except Exception as error:
            return {"error": self._worded(error)}
        finally:
            _alarm(0)
            if failed:
                _leave()  # the others must not wait for this rank
            with contextlib.suppress(Exception):
                _meet(store, "done", rank, size, 2 * self.limit)
            _leave()

    def _worded(self, error: BaseException) -> str:
        """Type, message without addresses, and the learner's line."""
        text = re.sub(r"\[\S+\.(cc|cpp|h):\d+\] *| *\[[\w.:]+\]:\d+", "", str(error)).split("\n")[0]
        text = text.partition(" This is typically caused by")[0]
        return f"{type(error).__name__}: {text[:300]}{self._line(error)}"

    def _line(self, error: BaseException) -> str:
        step, line = error.__traceback__, ""
        while step:
            if step.tb_frame.f_code.co_filename == "<answer>":
                line = self.text.splitlines()[step.tb_lineno - 1].strip()
            step = step.tb_next
        return f" (at `{line}`)" if line else ""

    def _write(self, results: dict[str, Result]) -> None:
        part = self.folder / f"{self.rank}.part"
        part.write_text(json.dumps(results))
        part.replace(self.folder / f"{self.rank}.json")


def _alarm(seconds: int) -> None:
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(seconds)


def _too_long(*_: object) -> None:
    raise TooLong


def _meet(store: dist.Store, name: str, rank: int, size: int, limit: datetime.timedelta) -> None:
    store.set(f"{name}{rank}", "")
    store.wait([f"{name}{peer}" for peer in range(size)], limit)


def _leave() -> None:
    with contextlib.suppress(Exception):
        if dist.is_initialized():
            dist.destroy_process_group()


def main(folder: pathlib.Path, which: int, size: int, limit: int, seconds: int) -> None:
    """Be one rank, or the first, which forks the others."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # not to outlive the process that asked
    torch.set_num_threads(1)
    names: dict[str, Any] = {name: module for name, module in globals().items() if isinstance(module, types.ModuleType)}
    names |= {"__name__": "__main__", "folder": folder, "size": size, "limit": datetime.timedelta(seconds=limit)}
    text = (folder / "cases.py").read_text(encoding="utf-8")
    exec(compile(text, "cases.py", "exec", dont_inherit=True), names)  # what it imports, it imports once
    rank = max(which, 0)
    if which < 0:
        for child in range(1, size):
            if os.fork() == 0:
                rank = child
                break
    names["rank"] = rank
    Rank(folder, rank, size, limit, seconds).run(names)
    if which < 0 and rank == 0:
        for _ in range(1, size):
            os.wait()
    os._exit(0)  # whatever threads are left


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), *(int(word) for word in sys.argv[2:]))
