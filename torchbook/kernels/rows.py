"""Softmax of the last dimension (section "How does a program see a whole row?")."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from torchbook.kernels._common import result_fits, same_kind

WIDEST = 2**16


@triton.jit
def softmax_kernel(x, out, columns, x_row, x_column, out_row, BLOCK: tl.constexpr):
    """One program a row; the row stays in registers between its maximum, its sum and its division."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    scores = tl.load(x + row * x_row + offsets * x_column, mask=inside, other=-float("inf")).to(tl.float32)
    powers = tl.exp(scores - tl.max(scores, axis=0))
    share = powers / tl.sum(powers, axis=0)
    tl.store(out + row * out_row + offsets, share.to(out.dtype.element_ty), mask=inside)


def softmax(x: torch.Tensor) -> torch.Tensor:
    """softmax(x, dim=-1) of a matrix with any strides, computed in float32. Columns: at most 2**16.

    Raises:
        ValueError: not a matrix, too wide, or of another type.
    """
    same_kind("softmax", x)
    if x.ndim != 2 or not 0 < x.shape[1] <= WIDEST:
        raise ValueError(f"softmax: a matrix of 1 to {WIDEST} columns, got the shape {tuple(x.shape)}")
    rows, columns = x.shape
    result_fits("softmax", *x.shape)
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    block = triton.next_power_of_2(columns)
    warps = 4 if block < 2048 else 8 if block < 8192 else 16
    if rows:
        softmax_kernel[(rows,)](x, out, columns, x.stride(0), x.stride(1), out.stride(0), BLOCK=block, num_warps=warps)
    return out
