"""Start a script on several ranks, wait for them, read what they say, and leave no process behind."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import wait as any_of
from pathlib import Path
from typing import Any

from torchbook.ranks.processes import MARK, STACK_AFTER, free_port, kill_marked

_HERE = Path(__file__).resolve().parents[2]  # from where `torchbook` is imported
_PATIENCE = float(os.environ.get("TORCHBOOK_PATIENCE", "1"))  # of a slow machine: limits are so many times as long
_ERROR = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit)\b")
_SOURCE = re.compile(r"\[\S+\.(?:cc|cpp|h):\d+\] *| *\[[\w.:]+\]:\d+")
_GRACE = 1.0  # seconds that ranks get to end by themselves, when one of them has failed

Node = tuple[Sequence[str], str]  # what its command begins with, its address


class RanksError(RuntimeError):
    """A rank raised, ended or hung. The message holds the first failure's text."""


@dataclass(frozen=True)
class Run:
    """What is left of a launch.

    `run[rank]` is what that rank handed to `report`; a rank without one raises KeyError.

    Attributes:
        folder: where the script ran, and where its files are.
        returncode: 0 if all ranks ended well, a failing one's otherwise (a signal counts as its number, positive), and
            None where the limit was reached.
        seconds: from start to end.
        killed: how many processes were still there at the end, and were killed.
        launched: "forked" or "torchrun".
    """

    folder: Path
    returncode: int | None
    seconds: float
    killed: int
    launched: str

    def __getitem__(self, rank: int) -> Any:
        file = self.folder / f"{rank}.result"
        if not file.exists():
            raise KeyError(f"rank {rank} has reported nothing")
        return pickle.loads(file.read_bytes())

    @property
    def reports(self) -> list[Any]:
        """What the ranks reported, in their order."""
        files = sorted(self.folder.glob("*.result"), key=lambda file: int(file.stem))
        return [self[int(file.stem)] for file in files]

    @property
    def stderr(self) -> str:
        """What ranks and torchrun wrote to stderr."""
        return _texts(self.folder, "err")

    @property
    def errors(self) -> dict[int, str]:
        """By rank, the last line of its error, without places in the library's source; other ranks are missing."""
        found = {}
        for rank, file in sorted(_of_ranks(self.folder, "err")):
            lines = [line for line in file.read_text(errors="replace").splitlines() if _ERROR.match(line)]
            if lines:
                found[rank] = _SOURCE.sub("", lines[-1]).partition(" This is typically caused by")[0].strip()
        return found

    @property
    def stdout(self) -> str:
        """What the ranks printed, each line after its rank's number, rank by rank."""
        lines = []
        for rank, file in sorted(_of_ranks(self.folder, "out")):
            lines += [f"[{rank}] {line}" for line in file.read_text(errors="replace").splitlines()]
        return "\n".join(lines)


@cache
def folder() -> Path:
    """The folder of this process' launches: one below it for each, by its name. It is removed at the end."""
    import atexit

    made = Path(tempfile.mkdtemp(prefix="ranks-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def launch(
    name: str,
    script: str,
    ranks: int,
    *,
    limit: float = 120,
    env: Mapping[str, str] | None = None,
    fails: bool = False,
    torchrun: bool = False,
    options: Sequence[str] = (),
    agents: int = 1,
    nodes: Sequence[Node] | None = None,
) -> Run:
    """Run a script on so many ranks, wait for them, and leave no process behind.

    The ranks are processes with the environment that torchrun gives: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, ... On
    Linux and macOS they are forked from a process that has imported torch and has run nothing, so that a launch takes a
    fraction of a second; when one of them fails, the others are ended, as torchrun does. With `torchrun=True` it is
    torchrun itself, whose ranks are programs of their own.

    Args:
        name: of the script, a word: `train` is written to `train.py`, in a folder of its own, which is emptied before.
        script: its text.
        ranks: of all agents together.
        limit: seconds, after which whatever still runs is killed; at eight tenths of it each rank that imports
            `torchbook.ranks.inside` writes its stack to stderr.
        env: more environment variables.
        fails: whether the script is expected to fail, so that its failing raises nothing.
        torchrun: start torchrun. Options, agents and nodes ask for it, too.
        options: more options of torchrun.
        agents: torchruns on this machine, which meet as if each had a machine of its own.
        nodes: instead of agents, what each node's command begins with, and its address.

    Raises:
        ValueError: the name is no word, or the ranks are not the same number on all agents.
        RanksError: a rank failed, or the limit was reached, and `fails` is not set.
    """
    nodes = nodes or [([], "127.0.0.1")] * agents
    if not name.isidentifier():
        raise ValueError(f"{name!r} names a file of Python, so it has to be a word, such as train")
    if ranks < 1 or ranks % len(nodes):
        raise ValueError(f"{ranks} ranks cannot be dealt out to {len(nodes)} agents evenly")
    home = folder() / name
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    file = home / f"{name}.py"
    file.write_text(script, encoding="utf-8")
    limit *= _PATIENCE
    environment = _environment(limit) | dict(env or {})
    begin = time.monotonic()
    if torchrun or options or len(nodes) > 1 or nodes[0][0] or sys.platform == "win32":
        commands = _commands([sys.executable, "-m", "torch.distributed.run", *options], file, ranks, nodes)
        code, killed, launched = *_by_torchrun(commands, environment, home, limit), "torchrun"
    else:
        code, killed, launched = *_forked(file, ranks, environment, limit), "forked"
    run = Run(home, code, time.monotonic() - begin, killed, launched)
    if not fails and code != 0:
        how = f"was still running after {limit:.0f} s" if code is None else f"failed (exit status {code})"
        raise RanksError(f"{name}.py {how}\n{_said_of(run)}")
    return run


def _environment(limit: float) -> dict[str, str]:
    """The environment of ranks: one thread each, this package and modules of this folder to import, a stack in time."""
    path = os.pathsep.join([str(_HERE), os.getcwd(), *filter(None, [os.environ.get("PYTHONPATH")])])
    return os.environ | {
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": path,
        "PYTHONFAULTHANDLER": "1",
        STACK_AFTER: f"{0.8 * limit:.1f}",
    }


# Ranks that torchrun starts


def _commands(start: Sequence[str], script: Path, ranks: int, nodes: Sequence[Node]) -> list[list[str]]:
    """One torchrun for each node."""
    end = [f"--nproc-per-node={ranks // len(nodes)}", "-m", "torchbook.ranks._member", str(script)]
    if len(nodes) == 1:
        return [[*nodes[0][0], *start, "--standalone", *end]]
    meet = [f"--nnodes={len(nodes)}", "--rdzv-backend=c10d", f"--rdzv-endpoint={nodes[0][1]}:{free_port()}"]
    return [
        [*before, *start, *meet, f"--rdzv-conf=is_host={int(number == 0)}", f"--local-addr={address}", *end]
        for number, (before, address) in enumerate(nodes)
    ]


def _by_torchrun(
    commands: Sequence[Sequence[str]], environment: Mapping[str, str], home: Path, limit: float
) -> tuple[int | None, int]:
    mark, agents = secrets.token_hex(8), []
    end, code, killed = time.monotonic() + limit, None, 0
    with (home / "agents.err").open("wb") as output:
        try:
            for command in commands:
                streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
                agents.append(
                    subprocess.Popen(
                        command, cwd=home, env={**environment, MARK: mark}, start_new_session=True, **streams
                    )
                )
            for agent in agents:
                agent.wait(timeout=max(0.1, end - time.monotonic()))
            code = max(abs(agent.returncode) for agent in agents)
        except subprocess.TimeoutExpired:
            pass
        finally:  # also when the cell is interrupted
            killed = kill_marked(mark)
            for agent in agents:
                agent.kill()
                agent.wait()
    return code, killed


# Ranks that are forked


@cache
def _server() -> multiprocessing.context.ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torchbook.ranks._forked"])
    return context


def _forked(script: Path, ranks: int, environment: dict[str, str], limit: float) -> tuple[int | None, int]:
    from torch.distributed import TCPStore

    from torchbook.ranks._forked import be

    # As with torchrun, the store at which ranks meet is none of theirs: rank 0 may end before the others.
    with _silent():  # of a machine that does not know its own name
        store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    common = {"WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks, "GROUP_RANK": 0, "MASTER_ADDR": "127.0.0.1"}
    common |= {"MASTER_PORT": store.port, "TORCHELASTIC_RESTART_COUNT": 0, "TORCHELASTIC_USE_AGENT_STORE": True}
    members = []
    end, killed = time.monotonic() + limit, 0
    with _unseen_main():
        for rank in range(ranks):
            own = {name: str(value) for name, value in {**common, "RANK": rank, "LOCAL_RANK": rank}.items()}
            member = _server().Process(target=be, args=(str(script), str(script.parent), environment | own))
            member.start()
            members.append(member)
    try:
        waiting = {member.sentinel: member for member in members}
        while waiting and (ready := any_of(list(waiting), timeout=max(0.0, end - time.monotonic()))):
            failed = [waiting.pop(sentinel).exitcode for sentinel in ready if isinstance(sentinel, int)]
            if any(failed):
                end = min(end, time.monotonic() + _GRACE)
        codes = [abs(member.exitcode) for member in members if member.exitcode is not None]
    finally:  # also when the cell is interrupted
        for member in members:
            killed += _end(member)
    first = next((code for code in codes if code), 0)
    return (first if first or len(codes) == ranks else None), killed


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Nothing that a library writes to stderr is seen meanwhile."""
    sys.stderr.flush()
    kept = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _end(member: multiprocessing.context.ForkServerProcess) -> bool:
    """End a rank and all of its session; whether it was still there."""
    alive = member.is_alive()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(member.pid or 0, signal.SIGKILL)
    if alive:
        member.kill()
    member.join()
    return alive


@contextlib.contextmanager
def _unseen_main() -> Iterator[None]:
    """A rank need not import the program that starts it: a script without `if __name__ == "__main__"` may, too."""
    main = sys.modules["__main__"]
    kept: dict[str, Any] = {name: main.__dict__.pop(name) for name in ("__file__", "__spec__") if name in main.__dict__}
    main.__dict__.setdefault("__spec__", None)
    try:
        yield
    finally:
        main.__dict__.update(kept)


# What they wrote


def _of_ranks(home: Path, kind: str) -> Iterator[tuple[int, Path]]:
    """Rank and file of what the ranks wrote to stdout ("out") or stderr ("err")."""
    for file in home.glob(f"[0-9]*.{kind}"):
        yield int(file.stem), file


def _texts(home: Path, kind: str) -> str:
    files = [file for _, file in sorted(_of_ranks(home, kind))]
    agents = home / f"agents.{kind}"
    return "".join(file.read_text(errors="replace") for file in [*files, agents] if file.exists())


_CONSEQUENCE = re.compile("Connection closed|Connection reset|Broken pipe|Timed out|Wait timeout|SIGTERM")


def _said_of(run: Run, most: int = 6000) -> str:
    """The first failure of a run, as its rank told it; not warnings, nor what only says that another rank has gone."""
    texts = [(rank, file.read_text(errors="replace").strip()) for rank, file in sorted(_of_ranks(run.folder, "err"))]
    told = [(rank, text) for rank, text in texts if text] or [(-1, run.stderr)]
    raised = [(rank, text) for rank, text in told if rank in run.errors]
    rank, text = min(raised or told, key=lambda each: bool(_CONSEQUENCE.search(each[1])))
    return (f"rank {rank}:\n" if rank >= 0 else "") + text[-most:]
