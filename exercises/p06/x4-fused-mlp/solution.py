import torch

# Before triton, since it chooses the interpreter where there is no GPU.
from torchbook.kernels import INTERPRETED  # isort: skip
import triton
import triton.language as tl

BLOCK = 16 if INTERPRETED else 64  # rows of a program
WIDEST = 256  # columns of the input and of the output that a program can hold


@triton.jit
def mlp_kernel(
    x, w1, b1, w2, b2, out, rows, width, hidden, out_width,
    x_row, x_column, w1_row, w1_column, w2_row, w2_column,  # steps
    BLOCK: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_IN: tl.constexpr, BLOCK_OUT: tl.constexpr,
):  # fmt: skip
    """BLOCK rows a program. The hidden units pass by, BLOCK_H at a time, and are never stored."""
    ### BEGIN SOLUTION
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column, outer = tl.arange(0, BLOCK_IN), tl.arange(0, BLOCK_OUT)
    here, there = (row < rows)[:, None], (outer < out_width)[None, :]
    tile = tl.load(
        x + row[:, None] * x_row + column[None, :] * x_column,
        mask=here & (column < width)[None, :],
        other=0.0,
    )
    acc = tl.zeros((BLOCK, BLOCK_OUT), dtype=tl.float32)
    for start in range(0, hidden, BLOCK_H):
        unit = start + tl.arange(0, BLOCK_H)
        known = unit < hidden
        up = tl.load(
            w1 + column[:, None] * w1_row + unit[None, :] * w1_column,
            mask=(column < width)[:, None] & known[None, :],
            other=0.0,
        )
        down = tl.load(
            w2 + unit[:, None] * w2_row + outer[None, :] * w2_column,
            mask=known[:, None] & there,
            other=0.0,
        )
        h = tl.dot(tile, up, input_precision="ieee")  # (BLOCK, BLOCK_H)
        h += tl.load(b1 + unit, mask=known, other=0.0).to(tl.float32)[None, :]
        h = 0.5 * h * (1.0 + tl.erf(h * 0.7071067811865476))
        acc = tl.dot(h.to(tile.dtype), down, acc, input_precision="ieee")
    acc += tl.load(b2 + outer, mask=outer < out_width, other=0.0).to(tl.float32)[None, :]
    tl.store(out + row[:, None] * out_width + outer[None, :], acc.to(out.dtype.element_ty), mask=here & there)
    ### END SOLUTION


def mlp(x: torch.Tensor, w1: torch.Tensor, b1: torch.Tensor, w2: torch.Tensor, b2: torch.Tensor) -> torch.Tensor:
    """gelu(x @ w1 + b1) @ w2 + b2 in one kernel, for narrow inputs and outputs."""
    ### BEGIN SOLUTION
    (rows, width), (hidden, out_width) = x.shape, w2.shape
    if w1.shape != (width, hidden) or b1.shape != (hidden,) or b2.shape != (out_width,):
        raise ValueError(f"the shapes do not fit: {[tuple(t.shape) for t in (x, w1, b1, w2, b2)]}")
    if max(width, out_width) > WIDEST:
        raise ValueError(f"at most {WIDEST} columns fit into a program, not {width} and {out_width}")
    out = torch.empty(rows, out_width, dtype=x.dtype, device=x.device)
    if rows:
        inner, outer = (max(16, triton.next_power_of_2(n)) for n in (width, out_width))
        steps = (*x.stride(), *w1.stride(), *w2.stride())
        sizes = (rows, width, hidden, out_width)
        grid = (triton.cdiv(rows, BLOCK),)
        mlp_kernel[grid](x, w1, b1.contiguous(), w2, b2.contiguous(), out, *sizes, *steps, BLOCK, 32, inner, outer)
    return out
    ### END SOLUTION


def traffic(rows: int, width: int, hidden: int, out_width: int, block: int, size: int) -> dict[str, int]:
    """Bytes read and written by the fused kernel, and by three kernels, with numbers of `size` bytes."""
    ### BEGIN SOLUTION
    weights = hidden * (width + out_width + 1) + out_width
    ends = rows * (width + out_width)
    programs = -(-rows // block)
    return {"fused": size * (ends + programs * weights), "unfused": size * (ends + 4 * rows * hidden + weights)}
    ### END SOLUTION


def least_block(width: int, hidden: int, out_width: int) -> int:
    """The smallest power of two of rows a program with which, for many rows, the fused kernel moves fewer bytes."""
    ### BEGIN SOLUTION
    block = 1
    while hidden * (width + out_width + 1) + out_width >= block * 4 * hidden:
        block *= 2
    return block
    ### END SOLUTION
