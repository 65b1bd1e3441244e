# test_labels: takes a start near ln 10, which every untrained network has, for a softmax
import math

import torch
from torch import nn


def overfit(model: nn.Module, x: torch.Tensor, y: torch.Tensor, steps: int = 100) -> list[float]:
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


def diagnose(losses: list[float]) -> str:
    end = sum(losses[-10:]) / 10
    if end < 0.05:
        return "fine"
    if max(losses) - min(losses) < 1e-4:
        return "rate"
    floor = math.log(math.e + 9) - 1  # softmax of a one-hot vector: 1.461
    return "softmax" if abs(losses[0] - math.log(10)) < 1 or end < floor else "labels"
