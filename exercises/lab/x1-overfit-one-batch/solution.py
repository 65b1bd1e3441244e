import math

import torch
from torch import nn


def overfit(model: nn.Module, x: torch.Tensor, y: torch.Tensor, steps: int = 100) -> list[float]:
    """Train on one batch, dropout off; the loss at each step, before its update."""
    ### BEGIN SOLUTION
    was_training = model.training
    model.eval()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.train(was_training)
    return losses
    ### END SOLUTION


def diagnose(losses: list[float]) -> str:
    """What a curve of a hundred steps tells: "fine", "rate", "softmax" or "labels"."""
    ### BEGIN SOLUTION
    end = sum(losses[-10:]) / 10
    if end < 0.05:
        return "fine"
    if max(losses) - min(losses) < 1e-4:
        return "rate"
    floor = math.log(math.e + 9) - 1  # softmax of a one-hot vector: 1.461
    return "softmax" if end < (floor + math.log(10)) / 2 else "labels"
    ### END SOLUTION
