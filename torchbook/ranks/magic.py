"""`%%ranks`: a cell of a notebook that is a script for several ranks."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import Any, NoReturn

from torchbook.ranks.launching import launch


class _Words(argparse.ArgumentParser):
    """The words after `%%ranks`; wrong ones are an error of the cell, not the end of the kernel."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"%%ranks: {message}\n{self.format_usage()}")


def words() -> argparse.ArgumentParser:
    """What may follow `%%ranks`."""
    parser = _Words(prog="%%ranks", add_help=False, allow_abbrev=False)
    parser.add_argument("ranks", type=int, help="how many ranks run the cell")
    parser.add_argument("--name", default="script", help="the file's name without .py")
    parser.add_argument("--into", default="run", help="the variable that gets what is left of the run")
    parser.add_argument("--limit", type=float, default=120, help="seconds, after which it is ended")
    parser.add_argument("--fails", action="store_true", help="that it fails is what the cell shows")
    parser.add_argument("--torchrun", action="store_true", help="by torchrun itself, each rank a program of its own")
    parser.add_argument("--agents", type=int, default=1, help="torchruns, as if on so many machines")
    parser.add_argument("--max-restarts", type=int, help="how often torchrun starts all ranks anew when one fails")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="an environment variable")
    parser.add_argument("--quiet", action="store_true", help="show nothing of what the ranks print")
    return parser


def ranks(line: str, cell: str, names: dict[str, Any]) -> None:
    """Run a cell on several ranks, show what they print, and leave the run among the notebook's names.

    Args:
        line: what follows `%%ranks`.
        cell: the script.
        names: the notebook's variables; a value of `--env` may be one of them, as in `--env PORT={port}`.

    Raises:
        ValueError: the words are wrong; the message says which may be used.
        RanksError: a rank failed, and `--fails` is not among the words.
    """
    asked = words().parse_args(shlex.split(line))
    pairs = [pair.partition("=") for pair in asked.env]
    if unnamed := [name for name, equals, _ in pairs if not (name and equals)]:
        raise ValueError(f"%%ranks: --env takes NAME=VALUE, not {unnamed[0]!r}")
    run = names[asked.into] = launch(
        asked.name,
        cell,
        asked.ranks,
        limit=asked.limit,
        env={name: value for name, _, value in pairs},
        fails=asked.fails,
        torchrun=asked.torchrun,
        agents=asked.agents,
        options=[] if asked.max_restarts is None else [f"--max-restarts={asked.max_restarts}"],
    )
    if not asked.quiet:
        errors = [f"[{rank}] {error}" for rank, error in run.errors.items()]
        print("\n".join(filter(None, [run.stdout, *errors])) or "(no rank has printed anything)")


def register() -> None:
    """Make `%%ranks` known, where a notebook runs."""
    if "IPython" not in sys.modules:
        return
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if shell is not None:
        shell.register_magic_function(lambda line, cell: ranks(line, cell, shell.user_ns), "cell", "ranks")
