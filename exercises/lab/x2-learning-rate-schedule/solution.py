import statistics

import torch
from torch import nn
from torch.optim.lr_scheduler import LRScheduler


def step_lr(initial: float, epochs: int, step_size: int, gamma: float) -> list[float]:
    """The rate of each epoch."""
    ### BEGIN SOLUTION
    return [initial * gamma ** (epoch // step_size) for epoch in range(epochs)]
    ### END SOLUTION


def train_with_schedule(
    model: nn.Module,
    batches: list[tuple[torch.Tensor, torch.Tensor]],
    optimizer: torch.optim.Optimizer,
    scheduler: LRScheduler,
    epochs: int,
) -> list[float]:
    """Train; the rate that the updates of each epoch used."""
    ### BEGIN SOLUTION
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
    ### END SOLUTION


def is_better(with_scores: list[float], without_scores: list[float]) -> bool:
    """Whether the mean gained more than the seeds scatter."""
    ### BEGIN SOLUTION
    gain = statistics.mean(with_scores) - statistics.mean(without_scores)
    return gain > max(statistics.stdev(with_scores), statistics.stdev(without_scores))
    ### END SOLUTION
