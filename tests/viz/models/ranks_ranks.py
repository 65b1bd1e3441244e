"""What test_ranks.py holds the stepper to: programs of collectives, run by four real processes each, with gloo on CPU.

`python ranks_ranks.py FOLDER` reads programs as a JSON list from stdin, forks four ranks for each, and prints what each
rank saw: calls that returned, how it ended, its numbers, its flight recorder.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

RANKS = 4
TIMEOUT = 2.0  # seconds that a call may wait
APART = 0.08  # seconds before a call: what can still finish elsewhere has done so
AT_ONCE = 6  # programs


def call(letter: str, held: dict[str, torch.Tensor]) -> None:
    """The call that a letter of a program stands for."""
    if letter in "ab":
        dist.all_reduce(held[letter])
    elif letter == "A":
        dist.all_reduce(torch.cat([held["a"], held["a"]]))
    elif letter in "cC":
        dist.broadcast(held["w"], 0 if letter == "c" else 1)
    elif letter == "w":
        dist.barrier()
    else:
        time.sleep(1.0)  # by then the others stand at their calls
        raise ValueError("this rank's own mistake")


def rank_main(rank: int, program: str, folder: Path) -> None:
    """One rank; it stays until all that wait have waited long enough, unless it dies."""
    torch.set_num_threads(1)
    store = dist.FileStore(str(folder / "store"), RANKS)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=RANKS, timeout=timedelta(seconds=TIMEOUT))
    held = {
        name: torch.full((8,), float(x)) for name, x in {"a": rank + 1, "b": 10 * (rank + 1), "w": 5 + rank}.items()
    }
    told: dict[str, Any] = {"done": 0, "end": "running"}

    def tell() -> None:
        flight = json.loads(torch._C._distributed_c10d._dump_fr_trace_json())
        told["held"] = {name: one.unique().tolist() for name, one in held.items()}
        told["flight"] = [
            [e["collective_seq_id"], e["profiling_name"], e["input_sizes"], e["state"]]
            for e in flight.get("entries", [])
        ]
        (folder / f"{rank}.new").write_text(json.dumps(told))
        (folder / f"{rank}.new").rename(folder / f"{rank}.json")

    dies = False
    try:
        for letter in re.sub("-.", "", program):
            time.sleep(APART)
            tell()
            call(letter, held)
            told["done"] += 1
        told["end"] = "finished"
    except ValueError:
        told["end"], dies = "raised", True
    except RuntimeError as error:
        told["end"], dies = ("timeout", False) if "Timed out" in str(error) else ("closed", True)
        told["message"] = str(error)[-200:]
    tell()
    if not dies:
        time.sleep(max(0.0, TIMEOUT + 1.0))  # it goes on with other work


def start(program: str, folder: Path) -> list[int]:
    """Forks the ranks of a program."""
    folder.mkdir(parents=True)
    pids = []
    for rank, text in enumerate(program.split()):
        pid = os.fork()
        if pid == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            try:
                rank_main(rank, text, folder)
            finally:
                os._exit(0)
        pids.append(pid)
    return pids


def gather(pids: list[int], folder: Path) -> list[dict[str, Any]]:
    """What the ranks of a program saw, once all have ended."""
    seen = []
    for rank, pid in enumerate(pids):
        status = os.waitpid(pid, 0)[1]
        told = json.loads((folder / f"{rank}.json").read_text())
        if os.WIFSIGNALED(status):
            assert os.WTERMSIG(status) == signal.SIGABRT, status
            told["end"] = "aborted"
        seen.append(told)
    return seen


def main() -> None:
    programs = json.load(sys.stdin)
    folder = Path(sys.argv[1])
    seen = []
    for first in range(0, len(programs), AT_ONCE):
        part = [(start(p, folder / str(first + i)), folder / str(first + i))
                for i, p in enumerate(programs[first : first + AT_ONCE])]  # fmt: skip
        seen += [gather(*one) for one in part]
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
