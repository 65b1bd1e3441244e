"""The MLP, two matmuls with a GELU between, in two kernels and in one (section "What does fusing save?")."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from torchbook.kernels._common import result_fits, same_kind
from torchbook.kernels._start import INTERPRETED
from torchbook.kernels.tiles import activate, dot, matmul

WIDEST = 256


@triton.jit
def mlp_kernel(
    x,
    w1,
    b1,
    w2,
    b2,
    out,
    m,
    width,
    hidden,
    out_width,
    x_row,
    x_column,
    w1_row,
    w1_column,
    w2_row,
    w2_column,
    BLOCK_M: tl.constexpr,
    BLOCK_H: tl.constexpr,
    BLOCK_IN: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    PRECISION: tl.constexpr,
    UPCAST: tl.constexpr,
):
    """BLOCK_M rows of gelu(x @ w1 + b1) @ w2 + b2 a program; the hidden row passes by in blocks and is never stored."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    inner = tl.arange(0, BLOCK_IN)
    outer = tl.arange(0, BLOCK_OUT)
    here = (rows < m)[:, None]
    tile = tl.load(
        x + rows[:, None] * x_row + inner[None, :] * x_column, mask=here & (inner < width)[None, :], other=0.0
    )
    acc = tl.zeros((BLOCK_M, BLOCK_OUT), dtype=tl.float32)
    for start in range(0, hidden, BLOCK_H):
        units = start + tl.arange(0, BLOCK_H)
        known = units < hidden
        up = tl.load(
            w1 + inner[:, None] * w1_row + units[None, :] * w1_column,
            mask=(inner < width)[:, None] & known[None, :],
            other=0.0,
        )
        down = tl.load(
            w2 + units[:, None] * w2_row + outer[None, :] * w2_column,
            mask=known[:, None] & (outer < out_width)[None, :],
            other=0.0,
        )
        h = dot(tile, up, tl.zeros((BLOCK_M, BLOCK_H), dtype=tl.float32), PRECISION, UPCAST)
        h = activate(h + tl.load(b1 + units, mask=known, other=0.0).to(tl.float32)[None, :], "gelu")
        acc = dot(h.to(tile.dtype), down, acc, PRECISION, UPCAST)
    acc += tl.load(b2 + outer, mask=outer < out_width, other=0.0).to(tl.float32)[None, :]
    tl.store(
        out + rows[:, None] * out_width + outer[None, :],
        acc.to(out.dtype.element_ty),
        mask=here & (outer < out_width)[None, :],
    )


CONFIGS = [
    triton.Config({"BLOCK_M": m, "BLOCK_H": h}, num_stages=stages, num_warps=warps)
    for m, h, stages, warps in ((128, 64, 2, 8), (128, 64, 3, 8), (128, 32, 3, 8), (64, 64, 2, 4), (64, 32, 3, 4))
]
tuned_mlp = triton.autotune(CONFIGS, key=["m", "width", "hidden", "out_width"])(mlp_kernel)


def mlp_two_kernels(
    x: torch.Tensor, w1: torch.Tensor, b1: torch.Tensor, w2: torch.Tensor, b2: torch.Tensor
) -> torch.Tensor:
    """gelu(x @ w1 + b1) @ w2 + b2 for any widths: bias and GELU ride on the first matmul, the bias on the second."""
    return matmul(matmul(x, w1, b1, activation="gelu"), w2, b2)


def mlp_one_kernel(
    x: torch.Tensor, w1: torch.Tensor, b1: torch.Tensor, w2: torch.Tensor, b2: torch.Tensor
) -> torch.Tensor:
    """The same in one kernel, for narrow inputs and outputs: a program holds a whole row of each.

    Wider ones would have to compute the hidden row again for every block of output columns.

    Raises:
        ValueError: wider than 256, or shapes, types or devices that do not fit.
    """
    same_kind("mlp_one_kernel", x, w1, b1, w2, b2)
    (m, width), hidden, out_width = x.shape, w1.shape[1], w2.shape[1]
    if w1.shape[0] != width or w2.shape[0] != hidden or b1.shape != (hidden,) or b2.shape != (out_width,):
        shapes = [tuple(tensor.shape) for tensor in (x, w1, b1, w2, b2)]
        raise ValueError(f"mlp_one_kernel: shapes {shapes} do not fit")
    if max(width, out_width) > WIDEST:
        raise ValueError(f"mlp_one_kernel: widths up to {WIDEST}, got {width} and {out_width}; use mlp_two_kernels")
    result_fits("mlp_one_kernel", m, out_width)
    out = torch.empty(m, out_width, dtype=x.dtype, device=x.device)
    operands = (x, w1, b1.contiguous(), w2, b2.contiguous(), out, m, width, hidden, out_width)
    strides = (x.stride(0), x.stride(1), w1.stride(0), w1.stride(1), w2.stride(0), w2.stride(1))
    settings = {
        "BLOCK_IN": max(16, triton.next_power_of_2(width)),
        "BLOCK_OUT": max(16, triton.next_power_of_2(out_width)),
        "PRECISION": "ieee" if x.dtype == torch.float32 else "tf32",
        "UPCAST": INTERPRETED,
    }
    if m and INTERPRETED:
        mlp_kernel[(triton.cdiv(m, 32),)](*operands, *strides, **settings, BLOCK_M=32, BLOCK_H=32)
    elif m:
        tuned_mlp[lambda meta: (triton.cdiv(m, meta["BLOCK_M"]),)](*operands, *strides, **settings)
    return out
