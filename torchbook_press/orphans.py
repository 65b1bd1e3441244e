"""A worker process ends when the press that started it has ended, be it killed: nothing would take what it gives.

loky's workers would wait for ever, each with the memory of a loaded press, to hand over an outcome that no one reads.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress

import psutil

_LOOK_EVERY = 1.0  # seconds
_GRACE = 5.0  # seconds in which what was running is put away


def end_with(press: int) -> None:
    """From now on end this process, and the kernels that run in it, when its parent has ended.

    Args:
        press: the number of the process that started it; where it is another's child, nothing is done.
    """
    if os.getppid() == press:
        threading.Thread(target=_end, args=(press,), daemon=True, name="orphans").start()


def _end(press: int) -> None:
    while os.getppid() == press:
        time.sleep(_LOOK_EVERY)
    try:
        if _end_kernels():
            time.sleep(_GRACE)
    finally:
        os._exit(1)


def _end_kernels() -> int:
    """End what runs in this process's threads; how many there are."""
    from torchbook_press.execute import Watch

    watches = [thread for thread in threading.enumerate() if isinstance(thread, Watch)]
    for watch in watches:
        with suppress(psutil.NoSuchProcess):
            watch.end("the press that ran it has ended")
    return len(watches)
