# test_clears_old_gradients: clears the gradients only after the step
from collections.abc import Iterable

import torch
from torch import nn


def total_norm(parameters: Iterable[torch.Tensor]) -> float:
    squares = [p.grad.square().sum() for p in parameters if p.grad is not None]
    return torch.stack(squares).sum().sqrt().item()


def clipped_step(
    model: nn.Module, loss: torch.Tensor, optimizer: torch.optim.Optimizer, max_norm: float
) -> tuple[float, float]:
    loss.backward()
    before = total_norm(model.parameters())
    if before > max_norm:
        for p in model.parameters():
            if p.grad is not None:
                p.grad.mul_(max_norm / before)
    after = total_norm(model.parameters())
    optimizer.step()
    optimizer.zero_grad()
    return before, after
