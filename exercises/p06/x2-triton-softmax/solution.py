from typing import Any

import torch

# Before triton, since it chooses the interpreter where there is no GPU.
from torchbook.kernels import INTERPRETED  # noqa: F401  # isort: skip
import triton
import triton.language as tl


@triton.jit
def forward_kernel(x, out, columns, x_row, x_column, out_row, BLOCK: tl.constexpr):
    """The softmax of one row a program."""
    ### BEGIN SOLUTION
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    scores = tl.load(x + row * x_row + offsets * x_column, mask=inside, other=-float("inf")).to(tl.float32)
    powers = tl.exp(scores - tl.max(scores, axis=0))
    share = powers / tl.sum(powers, axis=0)
    tl.store(out + row * out_row + offsets, share.to(out.dtype.element_ty), mask=inside)
    ### END SOLUTION


def softmax(x: torch.Tensor) -> torch.Tensor:
    """softmax(x, dim=-1) of a matrix, computed in float32."""
    ### BEGIN SOLUTION
    if x.ndim != 2:
        raise ValueError(f"a matrix, not a tensor of shape {tuple(x.shape)}")
    rows, columns = x.shape
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    if x.numel():
        block = triton.next_power_of_2(columns)
        warps = 4 if block < 2048 else 8
        forward_kernel[(rows,)](x, out, columns, *x.stride(), out.stride(0), BLOCK=block, num_warps=warps)
    return out
    ### END SOLUTION


@triton.jit
def backward_kernel(
    out, upstream, gradient, columns, out_row, out_column, up_row, up_column, gradient_row, BLOCK: tl.constexpr
):
    """The gradient of one row of scores a program."""
    ### BEGIN SOLUTION
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    share = tl.load(out + row * out_row + offsets * out_column, mask=inside, other=0.0).to(tl.float32)
    above = tl.load(upstream + row * up_row + offsets * up_column, mask=inside, other=0.0).to(tl.float32)
    below = share * (above - tl.sum(share * above, axis=0))
    tl.store(gradient + row * gradient_row + offsets, below.to(gradient.dtype.element_ty), mask=inside)
    ### END SOLUTION


def softmax_backward(out: torch.Tensor, upstream: torch.Tensor) -> torch.Tensor:
    """The gradient of the scores, from the result of softmax and the gradient of that."""
    ### BEGIN SOLUTION
    rows, columns = out.shape
    gradient = torch.empty_like(out, memory_format=torch.contiguous_format)
    if out.numel():
        steps = *out.stride(), *upstream.stride(), gradient.stride(0)
        block = triton.next_power_of_2(columns)
        warps = 4 if block < 2048 else 8
        backward_kernel[(rows,)](out, upstream, gradient, columns, *steps, BLOCK=block, num_warps=warps)
    return gradient
    ### END SOLUTION


### BEGIN SOLUTION
class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        out = softmax(x)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> torch.Tensor:
        (out,) = ctx.saved_tensors
        if torch.is_grad_enabled():  # the gradient is to have a graph of its own, which no kernel makes
            return out * (upstream - (out * upstream).sum(-1, keepdim=True))
        return softmax_backward(out, upstream)


### END SOLUTION
def differentiable_softmax(x: torch.Tensor) -> torch.Tensor:
    """softmax(x), whose backward is softmax_backward."""
    ### BEGIN SOLUTION
    return Softmax.apply(x)
    ### END SOLUTION
