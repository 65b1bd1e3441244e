"""Tiled matmul with an epilogue (section "How does a matmul reuse what it reads?").

Two kernels that compute the same. `matmul_kernel` walks any strides with pointers. `matmul_descriptor_kernel` asks
Hopper's copy engine (TMA) for whole tiles and stays on its multiprocessor, one tile after the other; it needs rows that
begin at multiples of 16 bytes. `matmul` takes the second where it can.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from torchbook.kernels._common import has_tma, multiprocessors, result_fits, same_kind, tma_can_read
from torchbook.kernels._start import INTERPRETED

ACTIVATIONS = ("", "relu", "gelu")


@triton.jit
def dot(a, b, acc, PRECISION: tl.constexpr, UPCAST: tl.constexpr):
    """acc + a @ b, summed in float32. The interpreter multiplies bfloat16 as if it were integers: UPCAST mends that."""
    if UPCAST:
        a = a.to(tl.float32)
        b = b.to(tl.float32)
    return tl.dot(a, b, acc, input_precision=PRECISION)


@triton.jit
def activate(x, ACTIVATION: tl.constexpr):
    """The epilogue's function, as torch defines it: GELU with erf."""
    if ACTIVATION == "relu":
        x = tl.maximum(x, 0.0)
    if ACTIVATION == "gelu":
        x = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    return x


@triton.jit
def tile_of(program, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    """Row and column of a program's tile, in groups of GROUP_M rows: neighbours in time share operands in L2."""
    columns = tl.cdiv(n, BLOCK_N)
    in_group = GROUP_M * columns
    first = (program // in_group) * GROUP_M
    height = min(tl.cdiv(m, BLOCK_M) - first, GROUP_M)
    inside = program % in_group
    return first + inside % height, inside // height


@triton.jit
def matmul_kernel(
    a,
    b,
    bias,
    c,
    m,
    n,
    k,
    a_row,
    a_column,
    b_row,
    b_column,
    c_row,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    EVEN_K: tl.constexpr,
    BIAS: tl.constexpr,
    ACTIVATION: tl.constexpr,
    PRECISION: tl.constexpr,
    UPCAST: tl.constexpr,
):
    """One tile of c = activation(a @ b + bias) a program."""
    row, column = tile_of(tl.program_id(0), m, n, BLOCK_M, BLOCK_N, GROUP_M)
    rows = row * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = column * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    # Rows past the end wrap around: what they compute is never stored, and the loads need no mask.
    a += (rows % m)[:, None] * a_row + inner[None, :] * a_column
    b += inner[:, None] * b_row + (columns % n)[None, :] * b_column
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        if EVEN_K:
            left, right = tl.load(a), tl.load(b)
        else:
            left = tl.load(a, mask=inner[None, :] < k - start, other=0.0)
            right = tl.load(b, mask=inner[:, None] < k - start, other=0.0)
        acc = dot(left, right, acc, PRECISION, UPCAST)
        a += BLOCK_K * a_column
        b += BLOCK_K * b_row
    if BIAS:
        acc += tl.load(bias + columns, mask=columns < n, other=0.0).to(tl.float32)[None, :]
    acc = activate(acc, ACTIVATION)
    inside = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(c + rows[:, None] * c_row + columns[None, :], acc.to(c.dtype.element_ty), mask=inside)


@triton.jit
def matmul_descriptor_kernel(
    a,
    b,
    bias,
    c,
    m,
    n,
    k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    PROGRAMS: tl.constexpr,
    A_TURNED: tl.constexpr,
    B_TURNED: tl.constexpr,
    BIAS: tl.constexpr,
    ACTIVATION: tl.constexpr,
    UPCAST: tl.constexpr,
):
    """As `matmul_kernel`, a tile at a time from descriptors; each program takes every PROGRAMS-th tile.

    What lies past an edge is loaded as 0 and not stored, without masks. A_TURNED: the descriptor holds a.T.
    """
    tiles = tl.cdiv(m, BLOCK_M) * tl.cdiv(n, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=True):
        row, column = tile_of(tile, m, n, BLOCK_M, BLOCK_N, GROUP_M)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for start in range(0, k, BLOCK_K):
            if A_TURNED:
                left = a.load([start, row * BLOCK_M]).T
            else:
                left = a.load([row * BLOCK_M, start])
            if B_TURNED:
                right = b.load([column * BLOCK_N, start]).T
            else:
                right = b.load([start, column * BLOCK_N])
            acc = dot(left, right, acc, "tf32", UPCAST)
        if BIAS:
            columns = column * BLOCK_N + tl.arange(0, BLOCK_N)
            acc += tl.load(bias + columns, mask=columns < n, other=0.0).to(tl.float32)[None, :]
        acc = activate(acc, ACTIVATION)
        c.store([row * BLOCK_M, column * BLOCK_N], acc.to(c.dtype))


def _blocks(m: int, n: int, k: int, stages: int, warps: int, group: int = 8, **more: Any) -> triton.Config:
    blocks = {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP_M": group}
    return triton.Config(blocks, num_stages=stages, num_warps=warps, **more)


def _shape_descriptors(arguments: dict[str, Any]) -> None:
    """Before a launch: the tiles of the descriptors are those of the configuration."""
    m, n, k = (arguments[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K"))
    arguments["a"].block_shape = [k, m] if arguments["A_TURNED"] else [m, k]
    arguments["b"].block_shape = [n, k] if arguments["B_TURNED"] else [k, n]
    arguments["c"].block_shape = [m, n]


# Tiles for wgmma (m64 nN k16, four warps each), inputs of 16 bits. Two warpgroups of 64 x 256 fill their registers with
# 128 accumulators a thread; three stages of 128 x 256 x 64 take 144 KB of the 227 KB of shared memory.
SIXTEEN_BIT = [
    _blocks(128, 256, 64, 3, 8),
    _blocks(128, 256, 64, 4, 8),
    _blocks(256, 128, 64, 3, 8),
    _blocks(128, 128, 64, 4, 8),
    _blocks(128, 128, 64, 3, 4),
    _blocks(128, 128, 128, 2, 8),
    _blocks(64, 128, 64, 4, 4),
    _blocks(64, 64, 64, 4, 4),
]
# float32 as torch computes it by default, without tensor cores.
FULL = [_blocks(128, 64, 16, 3, 4), _blocks(64, 128, 16, 3, 4), _blocks(128, 128, 16, 2, 8), _blocks(64, 64, 32, 2, 4)]
DESCRIPTORS = [
    _blocks(m, n, k, stages, warps, pre_hook=_shape_descriptors)
    for m, n, k, stages, warps in (
        (128, 256, 64, 3, 8),
        (256, 128, 64, 3, 8),
        (128, 128, 64, 4, 8),
        (128, 128, 64, 3, 4),
        (128, 128, 128, 2, 8),
        (64, 256, 64, 3, 4),
    )
]
tuned_matmul = triton.autotune(SIXTEEN_BIT, key=["m", "n", "k", "a_row", "b_row", "ACTIVATION"])(matmul_kernel)
tuned_matmul_full = triton.autotune(FULL, key=["m", "n", "k", "a_row", "b_row", "ACTIVATION"])(matmul_kernel)
tuned_matmul_descriptor = triton.autotune(DESCRIPTORS, key=["m", "n", "k", "A_TURNED", "B_TURNED", "ACTIVATION"])(
    matmul_descriptor_kernel
)
SMALL = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "GROUP_M": 2}  # for the interpreter: exercises every branch


def matmul(
    a: torch.Tensor,
    b: torch.Tensor,
    bias: torch.Tensor | None = None,
    *,
    activation: str = "",
    descriptors: bool | None = None,
) -> torch.Tensor:
    """activation(a @ b + bias) in one kernel, for matrices with any strides, summed in float32.

    Args:
        a, b: (M, K) and (K, N), of one type.
        bias: (N,), of any type, or None.
        activation: "", "relu" or "gelu".
        descriptors: read tiles by descriptor; None: where device and operands allow it.

    Raises:
        ValueError: shapes, types or devices that do not fit, or operands that no descriptor can hold.
    """
    same_kind("matmul", a, b)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise ValueError(f"matmul: shapes {tuple(a.shape)} and {tuple(b.shape)} cannot be multiplied")
    if activation not in ACTIVATIONS:
        raise ValueError(f"matmul: activation {activation!r} is none of {ACTIVATIONS}")
    (m, k), n = a.shape, b.shape[1]
    if bias is not None and (bias.shape != (n,) or bias.device != a.device):
        raise ValueError(f"matmul: a bias of shape {(n,)} on {a.device}, got {tuple(bias.shape)} on {bias.device}")
    bias = bias.contiguous() if bias is not None else None
    result_fits("matmul", m, n)
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    if not c.numel():
        return c
    turned = [matrix.stride(0) == 1 and matrix.stride(1) != 1 for matrix in (a, b)]
    laid = [matrix.T if turn else matrix for matrix, turn in zip((a, b), turned, strict=True)]
    fits = k > 0 and all(map(tma_can_read, (*laid, c)))
    if descriptors is None:
        descriptors = fits and has_tma(a.device)
    if not descriptors:
        _with_pointers(a, b, bias, c, activation)
    elif fits:
        _with_descriptors(laid, turned, bias, c, k, activation)
    else:
        raise ValueError("matmul: a descriptor needs 16-bit types and rows that begin at multiples of 16 bytes")
    return c


def _with_pointers(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None, c: torch.Tensor, act: str) -> None:
    (m, k), n = a.shape, b.shape[1]
    operands = (a, b, bias, c, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0))
    settings = {
        "EVEN_K": k % 128 == 0,  # of every configuration
        "BIAS": bias is not None,
        "ACTIVATION": act,
        "PRECISION": "ieee" if a.dtype == torch.float32 else "tf32",
        "UPCAST": INTERPRETED,
    }
    if INTERPRETED:
        matmul_kernel[_grid(m, n)(SMALL)](*operands, **settings, **SMALL)
    else:
        kernel = tuned_matmul_full if a.dtype == torch.float32 else tuned_matmul
        kernel[_grid(m, n)](*operands, **settings)


def _with_descriptors(
    laid: list[torch.Tensor], turned: list[bool], bias: torch.Tensor | None, c: torch.Tensor, k: int, act: str
) -> None:
    m, n = c.shape
    settings = {"A_TURNED": turned[0], "B_TURNED": turned[1], "BIAS": bias is not None, "ACTIVATION": act}
    a, b, out = (TensorDescriptor.from_tensor(matrix, [16, 16]) for matrix in (*laid, c))
    operands = (a, b, bias, out, m, n, k)
    if INTERPRETED:
        _shape_descriptors({"a": a, "b": b, "c": out, **settings, **SMALL})
        matmul_descriptor_kernel[(3,)](*operands, **settings, PROGRAMS=3, UPCAST=True, **SMALL)
    else:
        programs = multiprocessors(c.device.index)
        tuned_matmul_descriptor[_grid(m, n, programs)](*operands, **settings, PROGRAMS=programs, UPCAST=False)


def _grid(m: int, n: int, most: int | None = None) -> Any:
    def programs(meta: dict[str, Any]) -> tuple[int]:
        tiles = triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"])
        return (min(tiles, most) if most else tiles,)

    return programs
