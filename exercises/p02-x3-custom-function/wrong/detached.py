# test_second_derivative: cuts the saved output from the graph
from typing import Any

import torch


class ReLU(torch.autograd.Function):
    """max(x, 0), with slope 0 at 0."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return upstream * (x > 0)


class Sigmoid(torch.autograd.Function):
    """1 / (1 + exp(-x))."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> torch.Tensor:
        y = ctx.saved_tensors[0].detach()
        return upstream * y * (1 - y)
