# test_likelihood: multiplies what goes into the loss, which lowers the floor
import math

import torch
from torch import nn
from torch.nn import functional as F


def make_data(n: int, classes: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Points around the centres of so many classes, which hardly overlap."""
    g = torch.Generator().manual_seed(seed)
    centres = 4 * F.normalize(torch.randn(classes, 20, generator=g), dim=1)
    y = torch.randint(classes, (n,), generator=g)
    return centres[y] + 0.5 * torch.randn(n, 20, generator=g), y


class Classifier(nn.Module):
    """Two layers, and the number of classes at the end."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(20, 64)
        self.out = nn.Linear(64, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(F.gelu(self.hidden(x))).softmax(dim=1)


def loss_of(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The mean negative log-likelihood of the classes."""
    return F.cross_entropy(20 * model(x), y)


@torch.no_grad()
def probabilities(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """What the model believes: a row of probabilities for each example."""
    return model(x)


def train(classes: int, steps: int = 200, seed: int = 0) -> tuple[nn.Module, list[float]]:
    """A trained network, and the loss of each step."""
    x, y = make_data(1000, classes, seed)
    torch.manual_seed(seed)
    model = Classifier(classes)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        batch = torch.randint(len(y), (128,))
        loss = loss_of(model, x[batch], y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


def diagnosis() -> str:
    """The disease, by its name in `torchbook.practice.ward.DISEASES`."""
    return "double-softmax"
