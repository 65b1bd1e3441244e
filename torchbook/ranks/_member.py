"""One rank: its output goes into files of its own, `0.out` and `0.err`, and then it is its script.

torchrun starts it as `python -m torchbook.ranks._member SCRIPT`.
"""

from __future__ import annotations

import os
import runpy
import sys


def output_to_files(folder: str) -> None:
    """From now on what is printed goes to the files of this rank, whoever prints it."""
    for stream, kind in ((sys.stdout, "out"), (sys.stderr, "err")):
        stream.flush()
        with open(os.path.join(folder, f"{os.environ['RANK']}.{kind}"), "ab") as file:  # a restart goes on in it
            os.dup2(file.fileno(), stream.fileno())


def run(script: str) -> None:
    """Run a script as a program of its own would be."""
    sys.argv = [script]
    sys.path[:0] = [os.path.dirname(script), *os.environ["PYTHONPATH"].split(os.pathsep)]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    output_to_files(os.getcwd())
    run(sys.argv[1])
