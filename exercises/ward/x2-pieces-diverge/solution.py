import math

import torch
from torch import nn
from torch.nn import functional as F


def make_data(n: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Points in ten dimensions and their class, one of four."""
    g = torch.Generator().manual_seed(seed)
    centres = 1.5 * torch.randn(4, 10, generator=g)
    y = torch.randint(4, (n,), generator=g)
    return centres[y] + torch.randn(n, 10, generator=g), y


def make_model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))


def step(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor, y: torch.Tensor, piece: int) -> float:
    """One update from a batch, `piece` examples at a time; returns the loss."""
    optimizer.zero_grad()
    total = 0.0
    for xs, ys in zip(x.split(piece), y.split(piece), strict=True):
        loss = F.cross_entropy(model(xs), ys)
        ### BEGIN SOLUTION
        (loss * len(ys) / len(y)).backward()
        ### INSTEAD
        # loss.backward()
        ### END SOLUTION
        total += loss.item() * len(ys)
    optimizer.step()
    return total / len(y)


def train(piece: int, batch: int = 120, seed: int = 0) -> tuple[nn.Module, list[float]]:
    """A trained network, and the loss of each update, which does not depend on `piece`."""
    x, y = make_data(960, seed)
    model = make_model(seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.4, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 8)
    losses = []
    for _ in range(8):
        for chosen in torch.randperm(len(y)).split(batch):
            losses.append(step(model, optimizer, x[chosen], y[chosen], piece))
        schedule.step()
    return model, losses


def diagnosis() -> str:
    """The disease, by its name in `torchbook.practice.ward.DISEASES`."""
    ### BEGIN SOLUTION
    return "sum-for-mean"
    ### END SOLUTION


if __name__ == "__main__":
    print(f"guessing has a loss of {math.log(4):.2f}")
    for piece in (120, 60, 20, 4):
        model, losses = train(piece)
        last = sum(losses[-8:]) / 8
        print(f"{piece:3} at a time: ", end="")
        print(f"first {losses[0]:.2f}, highest {max(losses):.2g}, last {last:.2g}")
