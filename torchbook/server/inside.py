"""What a page's kernel is told before its first cell: it works in an empty folder, with as many threads as the book."""

from __future__ import annotations

import atexit
import importlib.metadata
import os
import shutil
import tempfile


def begin(threads: int) -> dict[str, str]:
    """Prepare the kernel in which this is called.

    Args:
        threads: how many torch gets, by the page's contract: sums of floating-point numbers depend on it.

    Returns:
        The version of `torch`, "" where it is missing.
    """
    # OpenMP and MKL read these when torch is imported.
    os.environ.update(OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads))
    folder = tempfile.mkdtemp(prefix="torchbook-page-", dir=os.environ.get("TORCHBOOK_LIVE"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.chdir(folder)
    try:
        return {"torch": importlib.metadata.version("torch")}
    except importlib.metadata.PackageNotFoundError:
        return {"torch": ""}
