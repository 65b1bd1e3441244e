"""One rank, forked from a process that has imported torch: its environment, its output, its script.

`multiprocessing` imports this in its fork server, so that no launch after the first waits for torch.
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Mapping

import torch
import torch._dynamo
import torch.distributed.fsdp

from torchbook.ranks._member import output_to_files, run


def be(script: str, home: str, environment: Mapping[str, str]) -> None:
    """Run the script as a program of its own would: in this folder, with this environment, output into files."""
    with contextlib.suppress(OSError):
        os.setsid()  # what it starts ends with its group
    os.chdir(home)
    os.environ.clear()
    os.environ.update(environment)
    torch.set_num_threads(int(environment.get("OMP_NUM_THREADS", "1")))
    torch.distributed.set_debug_level_from_env()  # torch has read it when it was imported
    output_to_files(home)
    code = 1
    try:
        run(script)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # whatever threads are left
