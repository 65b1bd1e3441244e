import torch

# Before triton, since it chooses the interpreter where there is no GPU.
from torchbook.kernels import INTERPRETED  # isort: skip
import triton
import triton.language as tl


def tile_of(program: int, tile_rows: int, tile_columns: int, group: int) -> tuple[int, int]:
    """Row and column of the tile that a program computes."""
    ### BEGIN SOLUTION
    in_group = group * tile_columns
    first = program // in_group * group
    height = min(tile_rows - first, group)
    inside = program % in_group
    return first + inside % height, inside // height
    ### END SOLUTION


@triton.jit
def matmul_kernel(
    a, b, c, m, n, k, a_row, a_column, b_row, b_column, c_row,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    UPCAST: tl.constexpr,
):  # fmt: skip
    """One tile of the product a program. UPCAST: the interpreter multiplies bfloat16 wrongly."""
    ### BEGIN SOLUTION
    tile_rows, tile_columns = tl.cdiv(m, BM), tl.cdiv(n, BN)
    in_group = GROUP * tile_columns
    first = (tl.program_id(0) // in_group) * GROUP
    height = min(tile_rows - first, GROUP)
    inside = tl.program_id(0) % in_group
    rows = (first + inside % height) * BM + tl.arange(0, BM)
    columns = (inside // height) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        inner = start + tl.arange(0, BK)
        left = tl.load(
            a + rows[:, None] * a_row + inner[None, :] * a_column,
            mask=(rows < m)[:, None] & (inner < k)[None, :],
            other=0.0,
        )
        right = tl.load(
            b + inner[:, None] * b_row + columns[None, :] * b_column,
            mask=(inner < k)[:, None] & (columns < n)[None, :],
            other=0.0,
        )
        if UPCAST:
            left, right = left.to(tl.float32), right.to(tl.float32)
        acc = tl.dot(left, right, acc, input_precision="ieee")
    tl.store(
        c + rows[:, None] * c_row + columns[None, :],
        acc.to(c.dtype.element_ty),
        mask=(rows < m)[:, None] & (columns < n)[None, :],
    )
    ### END SOLUTION


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a @ b of two matrices, tile by tile."""
    ### BEGIN SOLUTION
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or a.dtype != b.dtype:
        raise ValueError(f"no product of {tuple(a.shape)} {a.dtype} and {tuple(b.shape)} {b.dtype}")
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    if INTERPRETED:
        bm, bn, bk, warps, stages = 32, 32, 32, 4, 2
    elif a.dtype == torch.float32:
        bm, bn, bk, warps, stages = 64, 64, 32, 4, 2
    else:
        bm, bn, bk, warps, stages = 128, 128, 64, 8, 3
    programs = triton.cdiv(m, bm) * triton.cdiv(n, bn)
    if programs:
        matmul_kernel[(programs,)](
            a, b, c, m, n, k, *a.stride(), *b.stride(), c.stride(0),
            BM=bm, BN=bn, BK=bk, GROUP=8, UPCAST=INTERPRETED, num_warps=warps, num_stages=stages,
        )  # fmt: skip
    return c
    ### END SOLUTION
