"""What a run does without showing it in its result: what it keeps, what it reads."""

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


def bytes_kept(run: Callable[[], object]) -> int:
    """How many bytes autograd keeps for `backward` while `run` computes; a tensor that is kept twice counts twice."""
    sizes: list[int] = []

    def keep(saved: torch.Tensor) -> torch.Tensor:
        sizes.append(saved.nbytes)
        return saved

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda saved: saved):
        run()
    return sum(sizes)


class _Reads(TorchDispatchMode):
    count = 0

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if op is torch.ops.aten._local_scalar_dense.default:
            self.count += args[0].is_floating_point()
        return op(*args, **(kwargs or {}))


def floats_read(run: Callable[[], object]) -> int:
    """How often Python fetches a float from a tensor while `run` computes, by `item()` or `float()`."""
    with _Reads() as reads:
        run()
    return reads.count
