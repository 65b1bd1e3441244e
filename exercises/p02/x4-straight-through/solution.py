from typing import Any

import torch


class _Round(torch.autograd.Function):
    """The place to write a Function, if you like; it may stay empty."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        return x.round()
        ### END SOLUTION

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        return upstream
        ### END SOLUTION


def round_ste(x: torch.Tensor) -> torch.Tensor:
    """`x.round()`, with the gradient of the identity."""
    ### BEGIN SOLUTION
    return _Round.apply(x)
    ### END SOLUTION


def quantize(
    x: torch.Tensor,
    scale: float,
    low: int,
    high: int,
) -> torch.Tensor:
    """The nearest multiple of `scale`, from `low` to `high` times.

    The gradient passes where nothing was clamped.
    """
    ### BEGIN SOLUTION
    rounded = round_ste(x / scale)
    inside = (low <= rounded) & (rounded <= high)
    return scale * torch.where(inside, rounded, rounded.clamp(low, high).detach())
    ### END SOLUTION


def fit(
    x: torch.Tensor,
    y: torch.Tensor,
    scale: float,
    steps: int,
    lr: float,
) -> tuple[torch.Tensor, list[float]]:
    """Weights whose quantised version maps `x`, (B, D), to `y`, (B).

    Also the loss before each step.
    """
    ### BEGIN SOLUTION
    w = torch.zeros(x.shape[1], dtype=x.dtype, requires_grad=True)
    losses = []
    for _ in range(steps):
        loss = (x @ quantize(w, scale, -8, 7) - y).square().mean()
        (slope,) = torch.autograd.grad(loss, w)
        losses.append(loss.item())
        with torch.no_grad():
            w -= lr * slope
    return w.detach(), losses
    ### END SOLUTION
