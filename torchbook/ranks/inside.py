"""What a script imports that `torchbook.ranks` starts: it hands results back, and leaves its stack when it hangs.

The rest of such a script is what runs under torchrun anywhere; started by torchrun alone, `report` writes its file all
the same.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
from pathlib import Path
from typing import Any

from torchbook.ranks.processes import STACK_AFTER

rank = int(os.environ.get("RANK", "0"))
world = int(os.environ.get("WORLD_SIZE", "1"))

if STACK_AFTER in os.environ:
    faulthandler.dump_traceback_later(float(os.environ[STACK_AFTER]))


def report(value: Any) -> None:
    """Hand a value to the notebook: `run[rank]` there. A second one replaces the first.

    Args:
        value: what pickle can write. A tensor is best handed over as numbers: `t.tolist()`.
    """
    part = Path(f"{rank}.part")
    part.write_bytes(pickle.dumps(value))
    part.replace(f"{rank}.result")  # never half a file
