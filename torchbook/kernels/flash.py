"""FlashAttention, forward (sections "Can a softmax be computed in pieces?" and "How does attention fit on the chip?").

After Dao et al. 2022 and Dao 2023: a program owns a block of queries, walks over keys and values in blocks, and keeps
the maximum, the sum and the weighted values of each row. Scores are never in device memory. As in `tiles`, one kernel
walks pointers with any strides and one reads tiles by descriptor.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from torchbook.kernels._common import has_tma, result_fits, same_kind, tma_can_read
from torchbook.kernels._start import INTERPRETED
from torchbook.kernels.tiles import dot

HEAD_DIMS = (16, 32, 64, 128, 256)


@triton.jit
def online(
    q, k, v, acc, peak, total, scale, allowed, MASK: tl.constexpr, PRECISION: tl.constexpr, UPCAST: tl.constexpr
):
    """One step of the online softmax: a block of keys and values joins what the rows hold. Powers are of 2."""
    scores = dot(q, k.T, tl.zeros((q.shape[0], k.shape[0]), dtype=tl.float32), PRECISION, UPCAST)
    if MASK:
        scores = tl.where(allowed, scores, -float("inf"))
    higher = tl.maximum(peak, tl.max(scores, axis=1) * scale)
    powers = tl.math.exp2(scores * scale - higher[:, None])
    shrink = tl.math.exp2(peak - higher)
    total = total * shrink + tl.sum(powers, axis=1)
    acc = dot(powers.to(v.dtype), v, acc * shrink[:, None], PRECISION, UPCAST)
    return acc, higher, total


@triton.jit
def spans(row, keys, CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Up to which key no mask is needed, and up to which there is anything to see."""
    free = keys // BLOCK_N * BLOCK_N
    end = keys
    if CAUSAL:
        free = min(free, (row + 1) // BLOCK_N * BLOCK_N)
        end = min(keys, row + BLOCK_M)
    return free, end


@triton.jit
def attention_kernel(
    q,
    k,
    v,
    out,
    heads,
    queries,
    keys,
    scale,
    q_batch,
    q_head,
    q_row,
    q_column,
    k_batch,
    k_head,
    k_row,
    k_column,
    v_batch,
    v_head,
    v_row,
    v_column,
    out_batch,
    out_head,
    out_row,
    HEAD_DIM: tl.constexpr,
    CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    PRECISION: tl.constexpr,
    UPCAST: tl.constexpr,
):
    """BLOCK_M queries of one head a program. Causal rows are longest last, so those programs start first."""
    block = tl.program_id(0)
    if CAUSAL:
        block = tl.num_programs(0) - 1 - block
    batch = tl.program_id(1) // heads
    head = tl.program_id(1) % heads
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    wide = tl.arange(0, HEAD_DIM)
    here = (rows < queries)[:, None]
    q += batch * q_batch + head * q_head
    k += batch * k_batch + head * k_head
    v += batch * v_batch + head * v_head
    tile = tl.load(q + rows[:, None] * q_row + wide[None, :] * q_column, mask=here, other=0.0)
    steps = tl.arange(0, BLOCK_N)
    k += steps[:, None] * k_row + wide[None, :] * k_column
    v += steps[:, None] * v_row + wide[None, :] * v_column
    acc = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    peak = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    free, end = spans(block * BLOCK_M, keys, CAUSAL, BLOCK_M, BLOCK_N)
    for start in range(0, free, BLOCK_N):
        left, right = tl.load(k + start * k_row), tl.load(v + start * v_row)
        acc, peak, total = online(tile, left, right, acc, peak, total, scale, None, False, PRECISION, UPCAST)
    for start in range(free, end, BLOCK_N):
        columns = start + steps
        there = (columns < keys)[:, None]
        left = tl.load(k + start * k_row, mask=there, other=0.0)
        right = tl.load(v + start * v_row, mask=there, other=0.0)
        allowed = (columns < keys)[None, :]
        if CAUSAL:
            allowed = allowed & (rows[:, None] >= columns[None, :])
        acc, peak, total = online(tile, left, right, acc, peak, total, scale, allowed, True, PRECISION, UPCAST)
    out += batch * out_batch + head * out_head + rows[:, None] * out_row + wide[None, :]
    tl.store(out, (acc / total[:, None]).to(out.dtype.element_ty), mask=here)


@triton.jit
def attention_descriptor_kernel(
    q,
    k,
    v,
    out,
    heads,
    queries,
    keys,
    scale,
    HEAD_DIM: tl.constexpr,
    CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    UPCAST: tl.constexpr,
):
    """As `attention_kernel`; descriptors of (batch, head, row, column) know the strides and the edges."""
    block = tl.program_id(0)
    if CAUSAL:
        block = tl.num_programs(0) - 1 - block
    batch = tl.program_id(1) // heads
    head = tl.program_id(1) % heads
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    tile = q.load([batch, head, block * BLOCK_M, 0]).reshape(BLOCK_M, HEAD_DIM)
    acc = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    peak = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    free, end = spans(block * BLOCK_M, keys, CAUSAL, BLOCK_M, BLOCK_N)
    for start in range(0, free, BLOCK_N):
        left = k.load([batch, head, start, 0]).reshape(BLOCK_N, HEAD_DIM)
        right = v.load([batch, head, start, 0]).reshape(BLOCK_N, HEAD_DIM)
        acc, peak, total = online(tile, left, right, acc, peak, total, scale, None, False, "tf32", UPCAST)
    for start in range(free, end, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        left = k.load([batch, head, start, 0]).reshape(BLOCK_N, HEAD_DIM)
        right = v.load([batch, head, start, 0]).reshape(BLOCK_N, HEAD_DIM)
        allowed = (columns < keys)[None, :]
        if CAUSAL:
            allowed = allowed & (rows[:, None] >= columns[None, :])
        acc, peak, total = online(tile, left, right, acc, peak, total, scale, allowed, True, "tf32", UPCAST)
    result = (acc / total[:, None]).to(out.dtype)
    out.store([batch, head, block * BLOCK_M, 0], result.reshape(1, 1, BLOCK_M, HEAD_DIM))


def _blocks(m: int, n: int, stages: int, warps: int, **more: Any) -> triton.Config:
    return triton.Config({"BLOCK_M": m, "BLOCK_N": n}, num_stages=stages, num_warps=warps, **more)


def _shape_descriptors(arguments: dict[str, Any]) -> None:
    m, n, width = (arguments[name] for name in ("BLOCK_M", "BLOCK_N", "HEAD_DIM"))
    for name, rows in (("q", m), ("k", n), ("v", n), ("out", m)):
        arguments[name].block_shape = [1, 1, rows, width]


# Two warpgroups of 64 queries each. Larger blocks of keys mean fewer corrections; smaller ones, more stages in flight.
SHAPES = ((128, 128, 2, 8), (128, 64, 2, 8), (128, 64, 3, 8), (128, 64, 4, 8), (64, 64, 3, 4), (64, 128, 2, 4))
CONFIGS = [_blocks(*shape) for shape in SHAPES[:-1]]  # by pointers the last one spills registers
FULL = [_blocks(64, 32, 2, 4), _blocks(32, 32, 2, 4), _blocks(32, 32, 1, 8)]
DESCRIPTORS = [_blocks(*shape, pre_hook=_shape_descriptors) for shape in SHAPES]
KEY = ["queries", "keys", "HEAD_DIM", "CAUSAL"]
tuned_attention = triton.autotune(CONFIGS, key=KEY)(attention_kernel)
tuned_attention_full = triton.autotune(FULL, key=KEY)(attention_kernel)
tuned_attention_descriptor = triton.autotune(DESCRIPTORS, key=KEY)(attention_descriptor_kernel)
SMALL = {"BLOCK_M": 32, "BLOCK_N": 16}


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool = False,
    scale: float | None = None,
    descriptors: bool | None = None,
) -> torch.Tensor:
    """softmax(q kᵀ · scale) v as `scaled_dot_product_attention` defines it, forward only, summed in float32.

    Args:
        q, k, v: (B, H, T, D) of one type, with any strides; D one of 16, 32, 64, 128, 256. k and v may have another T.
        causal: query i sees keys 0 to i.
        scale: 1/√D when not given; positive.
        descriptors: read tiles by descriptor; None: where device and operands allow it.

    Raises:
        ValueError: shapes, types or devices that do not fit, or operands that no descriptor can hold.
    """
    same_kind("attention", q, k, v)
    if q.ndim != 4 or k.shape != v.shape or q.shape[:2] != k.shape[:2] or q.shape[3] != k.shape[3]:
        shapes = [tuple(tensor.shape) for tensor in (q, k, v)]
        raise ValueError(f"attention: shapes (B, H, T, D) with equal B, H and D, got {shapes}")
    batch, heads, queries, width = q.shape
    keys = k.shape[2]
    scale = 1 / math.sqrt(width) if scale is None else scale
    if width not in HEAD_DIMS or not keys or scale <= 0:
        raise ValueError(f"attention: D one of {HEAD_DIMS}, keys and a positive scale; got {width}, {keys}, {scale}")
    result_fits("attention", *q.shape)
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if not out.numel():
        return out
    fits = all(map(tma_can_read, (q, k, v, out)))
    if descriptors is None:
        descriptors = fits and has_tma(q.device)
    if descriptors and not fits:
        raise ValueError("attention: a descriptor needs 16-bit types and rows that begin at multiples of 16 bytes")
    numbers = (heads, queries, keys, scale * math.log2(math.e))
    settings: dict[str, Any] = {"HEAD_DIM": width, "CAUSAL": causal, "UPCAST": INTERPRETED}

    def grid(meta: dict[str, Any]) -> tuple[int, int]:
        return triton.cdiv(queries, meta["BLOCK_M"]), batch * heads

    if descriptors:
        tensors = [TensorDescriptor.from_tensor(tensor, [1, 1, 16, width]) for tensor in (q, k, v, out)]
        if INTERPRETED:
            _shape_descriptors({**dict(zip(("q", "k", "v", "out"), tensors, strict=True)), **settings, **SMALL})
            attention_descriptor_kernel[grid(SMALL)](*tensors, *numbers, **settings, **SMALL)
        else:
            tuned_attention_descriptor[grid](*tensors, *numbers, **settings)
        return out
    strides = (*q.stride(), *k.stride(), *v.stride(), *out.stride()[:3])
    settings["PRECISION"] = "ieee" if q.dtype == torch.float32 else "tf32"
    if INTERPRETED:
        attention_kernel[grid(SMALL)](q, k, v, out, *numbers, *strides, **settings, **SMALL)
    else:
        kernel = tuned_attention_full if q.dtype == torch.float32 else tuned_attention
        kernel[grid](q, k, v, out, *numbers, *strides, **settings)
    return out
