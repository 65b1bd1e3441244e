"""Kernels that say less than they could: no value for what a mask leaves out, no precision of a product."""

import triton
import triton.language as tl


@triton.jit
def sum_kernel(x, filled, unknown, size, BLOCK: tl.constexpr):  # noqa: N803
    lane = tl.arange(0, BLOCK)
    known = tl.load(x + lane, mask=lane < size, other=0).to(tl.float32)
    tl.store(filled, tl.sum(known, axis=0))
    tl.store(unknown, tl.sum(tl.load(x + lane, mask=lane < size).to(tl.float32), axis=0))


@triton.jit
def product_kernel(x, out, PRECISION: tl.constexpr):  # noqa: N803
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tile = tl.load(x + at)
    tl.store(out + at, tl.dot(tile, tile, input_precision=PRECISION))
