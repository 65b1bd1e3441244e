"""Vector add (section "What is a program?")."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from torchbook.kernels._common import result_fits, same_kind

BLOCK = 1024


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    """out[i] = x[i] + y[i], one block of consecutive elements a program. Knows nothing of strides: see `add`."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    total = tl.load(x + offsets, mask=inside) + tl.load(y + offsets, mask=inside)
    tl.store(out + offsets, total, mask=inside)


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x + y for tensors of one shape and type, whatever their strides.

    Operands that lie in memory in the same order without gaps are walked as they lie; others are copied first.

    Raises:
        ValueError: shapes, types or devices differ.
    """
    same_kind("add", x, y)
    if x.shape != y.shape:
        raise ValueError(f"add: shapes {tuple(x.shape)} and {tuple(y.shape)} differ; this kernel does not broadcast")
    result_fits("add", *x.shape)
    out = torch.empty_like(x)  # keeps the order of a dense x
    if not x.stride() == y.stride() == out.stride():
        x, y, out = x.contiguous(), y.contiguous(), torch.empty_like(x, memory_format=torch.contiguous_format)
    n = x.numel()
    if n:
        add_kernel[(triton.cdiv(n, BLOCK),)](x, y, out, n, BLOCK=BLOCK)
    return out
