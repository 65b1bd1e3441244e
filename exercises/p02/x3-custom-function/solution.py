from typing import Any

import torch


class ReLU(torch.autograd.Function):
    """The function max(x, 0), with slope 0 at 0."""

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        return x.clamp(min=0)
        ### END SOLUTION

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ### BEGIN SOLUTION
        (x,) = inputs
        ctx.save_for_backward(x)
        ### END SOLUTION

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        (x,) = ctx.saved_tensors
        return upstream * (x > 0)
        ### END SOLUTION


class Sigmoid(torch.autograd.Function):
    """The function 1 / (1 + exp(-x))."""

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        return 1 / (1 + torch.exp(-x))
        ### END SOLUTION

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ### BEGIN SOLUTION
        ctx.save_for_backward(output)
        ### END SOLUTION

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        (y,) = ctx.saved_tensors
        return upstream * y * (1 - y)
        ### END SOLUTION
