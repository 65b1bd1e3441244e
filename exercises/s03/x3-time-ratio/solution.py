import statistics
import time
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F


def time_ratio(
    f: Callable[[], object],
    g: Callable[[], object],
    rounds: int = 9,
    warmup: int = 2,
    clock: Callable[[], float] = time.perf_counter,
    synchronize: Callable[[], None] | None = None,
) -> float:
    """The time of `f()` divided by that of `g()`: the median over rounds."""
    ### BEGIN SOLUTION
    wait = synchronize or (lambda: None)

    def seconds(function: Callable[[], object]) -> float:
        wait()
        start = clock()
        function()
        wait()
        return clock() - start

    for _ in range(warmup):
        f()
        g()
    return statistics.median(seconds(f) / seconds(g) for _ in range(rounds))
    ### END SOLUTION


def training_step(device: torch.device | str, batch_size: int) -> tuple[nn.Module, Callable[[], None]]:
    """A network for pictures (B, 3, 32, 32), and a step that trains it."""
    ### BEGIN SOLUTION
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * 8 * 8, 10),
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    x = torch.randn(batch_size, 3, 32, 32, device=device)
    y = torch.randint(10, (batch_size,), device=device)

    def step() -> None:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return model, step
    ### END SOLUTION
