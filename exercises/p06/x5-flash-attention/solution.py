import torch

# Before triton, since it chooses the interpreter where there is no GPU.
from torchbook.kernels import INTERPRETED  # isort: skip
import triton
import triton.language as tl

BLOCK = 32 if INTERPRETED else 64  # queries of a program
BLOCK_N = 32  # keys of a step


@triton.jit
def attention_kernel(
    q, k, v, out, lse, heads, queries, keys, scale,
    q_batch, q_head, q_row, q_column, k_batch, k_head, k_row, k_column,  # steps
    v_batch, v_head, v_row, v_column,
    D: tl.constexpr, CAUSAL: tl.constexpr, BLOCK: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """BLOCK queries of one head a program; out (B, H, T, D) and lse (B, H, T) are contiguous."""
    ### BEGIN SOLUTION
    first = tl.program_id(0) * BLOCK
    batch, head = tl.program_id(1) // heads, tl.program_id(1) % heads
    row, wide, step = first + tl.arange(0, BLOCK), tl.arange(0, D), tl.arange(0, BLOCK_N)
    here = row < queries
    q += batch * q_batch + head * q_head
    k += batch * k_batch + head * k_head
    v += batch * v_batch + head * v_head
    query = tl.load(q + row[:, None] * q_row + wide[None, :] * q_column, mask=here[:, None], other=0.0)
    peak = tl.full((BLOCK,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    acc = tl.zeros((BLOCK, D), dtype=tl.float32)
    end = keys
    if CAUSAL:
        end = min(keys, first + BLOCK)
    for start in range(0, end, BLOCK_N):
        column = start + step
        there = column < keys
        key = tl.load(k + column[:, None] * k_row + wide[None, :] * k_column, mask=there[:, None], other=0.0)
        value = tl.load(v + column[:, None] * v_row + wide[None, :] * v_column, mask=there[:, None], other=0.0)
        scores = tl.dot(query, key.T, input_precision="ieee") * scale  # (BLOCK, BLOCK_N)
        seen = there[None, :]
        if CAUSAL:
            seen = seen & (row[:, None] >= column[None, :])
        scores = tl.where(seen, scores, -float("inf"))
        higher = tl.maximum(peak, tl.max(scores, axis=1))
        powers = tl.exp(scores - higher[:, None])
        shrink = tl.exp(peak - higher)
        total = total * shrink + tl.sum(powers, axis=1)
        acc = tl.dot(powers.to(value.dtype), value, acc * shrink[:, None], input_precision="ieee")
        peak = higher
    at = tl.program_id(1) * queries + row
    tl.store(lse + at, peak + tl.log(total), mask=here)
    result = (acc / total[:, None]).to(out.dtype.element_ty)
    tl.store(out + at[:, None] * D + wide[None, :], result, mask=here[:, None])
    ### END SOLUTION


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scaled dot-product attention (B, H, T, D), and of each query's scores the log of the sum of exp (B, H, T)."""
    ### BEGIN SOLUTION
    batch, heads, queries, width = q.shape
    keys = k.shape[2]
    if k.shape != v.shape or k.shape != (batch, heads, keys, width) or not keys:
        raise ValueError(f"the shapes do not fit: {[tuple(t.shape) for t in (q, k, v)]}")
    if width not in (16, 32, 64, 128):
        raise ValueError(f"D is 16, 32, 64 or 128, not {width}")
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    if out.numel():
        steps = (*q.stride(), *k.stride(), *v.stride())
        grid = (triton.cdiv(queries, BLOCK), batch * heads)
        attention_kernel[grid](
            q, k, v, out, lse, heads, queries, keys, width**-0.5, *steps, width, causal, BLOCK, BLOCK_N
        )
    return out, lse
    ### END SOLUTION


def merge(
    out1: torch.Tensor, lse1: torch.Tensor, out2: torch.Tensor, lse2: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention over all keys, from attention over two parts of them; any of the two parts may be empty."""
    ### BEGIN SOLUTION
    lse = torch.logaddexp(lse1, lse2)
    first, second = (torch.exp(part - lse).nan_to_num(0.0).unsqueeze(-1) for part in (lse1, lse2))
    out = torch.where(first > 0, out1 * first, 0.0) + torch.where(second > 0, out2 * second, 0.0)
    return out.to(out1.dtype), lse
    ### END SOLUTION
