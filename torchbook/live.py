"""How many bytes of tensors are alive, counted operation by operation, on any device."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LiveBytes(TorchDispatchMode):
    """Counts the storages that operations make inside the block, until each of them dies.

    Views share a storage and count once; a storage that an operation was given, parameters for instance, is not
    counted. What a kernel needs only while it runs is not seen.

    Attributes:
        now: bytes alive at this moment.
        peak: the most that were alive at once.

    Example:
        >>> with LiveBytes() as live:
        ...     loss = model(batch).mean()
        ...     kept = live.now
        ...     loss.backward()
        >>> kept, live.peak
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self._alive: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        given = {_key(one) for one in tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)}
        for one in tree_leaves(out):
            if isinstance(one, torch.Tensor) and _key(one) not in given | self._alive:
                self._born(one.untyped_storage())
        return out

    def _born(self, storage: torch.UntypedStorage) -> None:
        size, key = storage.nbytes(), storage._cdata
        self._alive.add(key)
        self.now += size
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._died, key, size)

    def _died(self, key: int, size: int) -> None:
        self._alive.discard(key)
        self.now -= size


def _key(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata
