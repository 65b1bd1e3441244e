from typing import Any

import torch


class _Round(torch.autograd.Function):
    """A place for a Function; it may stay empty if you need none."""

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        return x.round()
        ### END SOLUTION

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep nothing, unless your rule needs it."""

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        return upstream
        ### END SOLUTION


def round_ste(x: torch.Tensor) -> torch.Tensor:
    """Return `x.round()`, with the gradient of the identity."""
    ### BEGIN SOLUTION
    return _Round.apply(x)
    ### END SOLUTION


def quantize(
    x: torch.Tensor,
    scale: float,
    low: int,
    high: int,
) -> torch.Tensor:
    """Return the nearest multiple of `scale`, clamped.

    The multiples go from `low * scale` to `high * scale`. The gradient
    passes unchanged where nothing was clamped.
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
    """Find weights whose quantised version maps `x` to `y`.

    The shapes are (B, D) and (B,). Return the unquantised weights, and
    the loss before each step.
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
