from typing import Any

import torch


class ReLU(torch.autograd.Function):
    """max(x, 0), with slope 0 at 0."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        ctx.save_for_backward(x)
        return x.clamp(min=0)
        ### END SOLUTION

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        (x,) = ctx.saved_tensors
        return upstream * (x > 0)
        ### END SOLUTION


class Sigmoid(torch.autograd.Function):
    """1 / (1 + exp(-x))."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y
        ### END SOLUTION

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        (y,) = ctx.saved_tensors
        return upstream * y * (1 - y)
        ### END SOLUTION
