import copy

import torch
from torch import nn
from torch.nn import functional as F


def accumulate(model: nn.Module, x: torch.Tensor, y: torch.Tensor, size: int) -> float:
    """Leave the gradient of the whole batch's mean loss in `.grad`, at most `size` rows at a time; the mean loss."""
    ### BEGIN SOLUTION
    counted = (y != -100).sum()
    model.zero_grad()
    total = 0.0
    for rows, targets in zip(x.split(size), y.split(size), strict=True):
        logits = model(rows)  # (b, T, C)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum") / counted
        loss.backward()
        total += loss.item()
    return total
    ### END SOLUTION


def step(
    model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor, y: torch.Tensor, size: int, max_norm: float
) -> float:
    """Make one update from the whole batch, its gradient clipped; return the gradient's norm before clipping."""
    ### BEGIN SOLUTION
    accumulate(model, x, y, size)
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return norm.item()
    ### END SOLUTION


def mixes_rows(model: nn.Module, x: torch.Tensor) -> bool:
    """Whether an output of the model depends on other rows of the batch."""
    ### BEGIN SOLUTION
    probe = x.detach().clone().requires_grad_()
    out = copy.deepcopy(model)(probe)
    weights = torch.randn_like(out[0])
    for row in range(len(x)):
        (found,) = torch.autograd.grad((out[row] * weights).sum(), probe, retain_graph=True)
        found[row] = 0
        if found.any():
            return True
    return False
    ### END SOLUTION
