# test_norm_of_all: takes the largest of the parameters' norms
from collections.abc import Iterable

import torch
from torch import nn


def total_norm(parameters: Iterable[torch.Tensor]) -> float:
    return max(p.grad.norm().item() for p in parameters if p.grad is not None)


def clipped_step(
    model: nn.Module, loss: torch.Tensor, optimizer: torch.optim.Optimizer, max_norm: float
) -> tuple[float, float]:
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
