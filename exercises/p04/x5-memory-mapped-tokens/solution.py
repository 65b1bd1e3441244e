import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset


def write_tokens(
    path: str | Path, texts: Iterable[str], encode: Callable[[str], list[int]], vocab_size: int, end: int
) -> Any:
    """Write the tokens of all texts, each followed by `end`; returns the dtype of the file."""
    ### BEGIN SOLUTION
    dtype = np.uint16 if vocab_size <= 2**16 else np.uint32
    with open(path, "wb") as file:
        for text in texts:
            tokens = np.array([*encode(text), end], dtype=np.int64)
            if tokens.min() < 0 or tokens.max() >= vocab_size:
                raise ValueError(f"tokens from {tokens.min()} to {tokens.max()} in a vocabulary of {vocab_size}")
            tokens.astype(dtype).tofile(file)
    return dtype
    ### END SOLUTION


class Tokens(Dataset):
    """Windows of `block` tokens and their successors, from a file that is not read as a whole."""

    def __init__(self, path: str | Path, dtype: Any, block: int, stride: int | None = None):
        ### BEGIN SOLUTION
        self.path, self.dtype, self.block, self.stride = str(path), np.dtype(dtype), block, stride or block
        self.n = os.path.getsize(path) // self.dtype.itemsize
        self.file: Any = None
        ### END SOLUTION

    def __len__(self) -> int:
        ### BEGIN SOLUTION
        return max(0, (self.n - self.block - 1) // self.stride + 1)
        ### END SOLUTION

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        ### BEGIN SOLUTION
        if not 0 <= i < len(self):
            raise IndexError(i)
        if self.file is None:
            self.file = np.memmap(self.path, self.dtype, "r")
        start = i * self.stride
        window = torch.from_numpy(self.file[start : start + self.block + 1].astype(np.int64))  # (T + 1)
        return window[:-1], window[1:]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"file": None}
        ### END SOLUTION


def random_batch(
    path: str | Path, dtype: Any, block: int, batch_size: int, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Windows (B, T) at random starts, and their successors (B, T)."""
    ### BEGIN SOLUTION
    tokens = np.memmap(path, dtype, "r")
    starts = torch.randint(len(tokens) - block, (batch_size,), generator=generator)
    rows = np.stack([tokens[start : start + block + 1] for start in starts.tolist()])
    windows = torch.from_numpy(rows.astype(np.int64))  # (B, T + 1)
    return windows[:, :-1], windows[:, 1:]
    ### END SOLUTION
