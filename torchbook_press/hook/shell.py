"""Runs when a chapter's kernel starts: a line of shell that fails, fails its cell; the press hears of fatal errors."""

import faulthandler
import subprocess
import sys
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.utils.process import get_output_error_code
from IPython.utils.text import LSString, SList


def _watch(shell: Any) -> None:
    run = shell.system

    def system(command: str) -> None:
        """`!command`."""
        run(command)
        _ended(command, shell.user_ns.get("_exit_code", 0))

    def getoutput(command: str, split: bool = True, depth: int = 0) -> Any:
        """`lines = !command`."""
        out, _, code = get_output_error_code(shell.var_expand(command, depth=depth + 1))
        _ended(command, code)
        return SList(out.splitlines()) if split else LSString(out)

    shell.system, shell.getoutput = system, getoutput


def _ended(command: str, code: int | None) -> None:
    if code:
        raise subprocess.CalledProcessError(code, command)


_watch(get_ipython())
faulthandler.enable(file=sys.stderr)  # whose number is the process's own stderr; 2 is a pipe to the notebook by now
