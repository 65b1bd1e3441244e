import copy

import torch
from torch import nn
from torch.nn import functional as F


class Network(nn.Module):
    """A backbone, and a head for one task."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Linear(12, 48),
            nn.BatchNorm1d(48),
            nn.ReLU(),
            nn.Linear(48, 24),
            nn.BatchNorm1d(24),
            nn.ReLU(),
        )
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(24, classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.backbone(x))


def make_task(classes: int, shift: float, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """1000 examples of so many classes, whose inputs lie around `shift`."""
    g = torch.Generator().manual_seed(seed)
    centres = 1.5 * torch.randn(classes, 12, generator=g)
    y = torch.randint(classes, (1000,), generator=g)
    return shift + centres[y] + torch.randn(1000, 12, generator=g), y


def fit(model: Network, x: torch.Tensor, y: torch.Tensor, steps: int) -> None:
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=0.01)
    for _ in range(steps):
        batch = torch.randint(len(y), (64,))
        loss = F.cross_entropy(model(x[batch]), y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def pretrain(x: torch.Tensor, y: torch.Tensor, steps: int = 150) -> Network:
    """A network for the first task."""
    torch.manual_seed(0)
    model = Network(int(y.max()) + 1).train()
    fit(model, x, y, steps)
    return model


def add_task(old: Network, x: torch.Tensor, y: torch.Tensor, steps: int = 150) -> Network:
    """A network for a second task: a new head on the old backbone, shared and frozen."""
    torch.manual_seed(1)
    model = Network(int(y.max()) + 1)
    model.backbone = old.backbone.requires_grad_(False)
    model.train()
    ### BEGIN SOLUTION
    model.backbone.eval()
    ### INSTEAD
    ### END SOLUTION
    fit(model, x, y, steps)
    return model


@torch.no_grad()
def accuracy(model: Network, x: torch.Tensor, y: torch.Tensor) -> float:
    return (model.eval()(x).argmax(1) == y).float().mean().item()


def diagnosis() -> str:
    """The disease, by its name in `torchbook.practice.ward.DISEASES`."""
    ### BEGIN SOLUTION
    return "wrong-mode"
    ### END SOLUTION


if __name__ == "__main__":
    first = make_task(6, shift=0.0, seed=1)
    second = make_task(4, shift=2.0, seed=2)
    old = pretrain(*first)
    weights = copy.deepcopy(list(old.parameters()))
    print(f"first task  {accuracy(old, *first):.3f} after its training")
    new = add_task(old, *second)
    print(f"second task {accuracy(new, *second):.3f}")
    same = all(a.equal(b) for a, b in zip(weights, old.parameters(), strict=True))
    print(f"first task  {accuracy(old, *first):.3f} now; same parameters: {same}")
