"""Before triton is imported: choose between the compiler and the interpreter, and say what is missing."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any

import torch

LATE = (
    "triton was imported before its interpreter was chosen, and this machine has no CUDA device to compile for. "
    "Restart the kernel and import torchbook.kernels, or set TRITON_INTERPRET=1, before anything imports triton."
)


def choose() -> bool:
    """Whether kernels are interpreted: where there is no CUDA device, unless TRITON_INTERPRET says otherwise.

    Raises:
        ImportError: there is no triton.
        RuntimeError: triton was imported too early to be told.
    """
    if importlib.util.find_spec("triton") is None:
        raise ImportError(
            "torchbook.kernels needs triton, which is built for Linux only (on Windows, WSL): pip install triton"
        )
    if not torch.cuda.is_available():
        os.environ.setdefault("TRITON_INTERPRET", "1")
    wanted = os.environ.get("TRITON_INTERPRET", "0").lower() in ("1", "true", "yes", "on", "y")
    # a * b + c as one instruction; Triton 3.9 warns, once a compilation, that the default will change.
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    early = "triton.language" in sys.modules
    import triton.language as tl
    from triton.runtime.jit import JITFunction

    if wanted and early and isinstance(tl.sum, JITFunction):
        raise RuntimeError(LATE)
    if wanted:
        _mend_interpreter()
    return wanted


def _mend_interpreter() -> None:
    """Triton 3.6 turns a loop's bound into an integer in a way that NumPy 2.4 refuses; later versions do it like this.

    A line of Triton's own tutorials, `for k in range(0, K, BLOCK)`, fails without it.
    """
    from triton.runtime import interpreter

    patch = interpreter._patch_lang_tensor
    if getattr(patch, "mended", False):
        return

    def mended(tensor: Any, scope: Any) -> None:
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    mended.mended = True  # type: ignore[attr-defined]
    interpreter._patch_lang_tensor = mended


INTERPRETED = choose()
