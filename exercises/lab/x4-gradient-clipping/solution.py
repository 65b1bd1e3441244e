from collections.abc import Iterable

import torch
from torch import nn


def total_norm(parameters: Iterable[torch.Tensor]) -> float:
    """Norm of all gradients together."""
    ### BEGIN SOLUTION
    squares = [p.grad.square().sum() for p in parameters if p.grad is not None]
    return torch.stack(squares).sum().sqrt().item() if squares else 0.0
    ### END SOLUTION


def clipped_step(
    model: nn.Module, loss: torch.Tensor, optimizer: torch.optim.Optimizer, max_norm: float
) -> tuple[float, float]:
    """One update with the clipped gradient; the total norm before and after clipping."""
    ### BEGIN SOLUTION
    optimizer.zero_grad()
    loss.backward()
    before = total_norm(model.parameters())
    if before > max_norm:
        for p in model.parameters():
            if p.grad is not None:
                p.grad.mul_(max_norm / before)
    after = total_norm(model.parameters())
    optimizer.step()
    return before, after
    ### END SOLUTION
