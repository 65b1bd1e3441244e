# test_direction_is_kept: bounds each entry, as clip_grad_value_ does
from collections.abc import Iterable

import torch
from torch import nn


def total_norm(parameters: Iterable[torch.Tensor]) -> float:
    squares = [p.grad.square().sum() for p in parameters if p.grad is not None]
    return torch.stack(squares).sum().sqrt().item()


def clipped_step(
    model: nn.Module, loss: torch.Tensor, optimizer: torch.optim.Optimizer, max_norm: float
) -> tuple[float, float]:
    optimizer.zero_grad()
    loss.backward()
    before = total_norm(model.parameters())
    nn.utils.clip_grad_value_(model.parameters(), max_norm)
    after = total_norm(model.parameters())
    optimizer.step()
    return before, after
