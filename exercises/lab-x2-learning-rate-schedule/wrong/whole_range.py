# test_all_seeds_count: takes the whole range for the scatter, which grows with every seed
import statistics

import torch
from torch import nn
from torch.optim.lr_scheduler import LRScheduler


def step_lr(initial: float, epochs: int, step_size: int, gamma: float) -> list[float]:
    return [initial * gamma ** (epoch // step_size) for epoch in range(epochs)]


def train_with_schedule(
    model: nn.Module,
    batches: list[tuple[torch.Tensor, torch.Tensor]],
    optimizer: torch.optim.Optimizer,
    scheduler: LRScheduler,
    epochs: int,
) -> list[float]:
    rates = []
    for _ in range(epochs):
        rates.append(optimizer.param_groups[0]["lr"])
        for x, y in batches:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step()
    return rates


def is_better(with_scores: list[float], without_scores: list[float]) -> bool:
    gain = statistics.mean(with_scores) - statistics.mean(without_scores)
    return gain > max(max(with_scores) - min(with_scores), max(without_scores) - min(without_scores))
