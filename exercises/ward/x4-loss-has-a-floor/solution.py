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
        ### BEGIN SOLUTION
        return self.out(F.gelu(self.hidden(x)))
        ### INSTEAD
        # return self.out(F.gelu(self.hidden(x))).softmax(dim=1)
        ### END SOLUTION


def loss_of(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The mean negative log-likelihood of the classes."""
    return F.cross_entropy(model(x), y)


@torch.no_grad()
def probabilities(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """What the model believes: a row of probabilities for each example."""
    ### BEGIN SOLUTION
    return model(x).softmax(dim=1)
    ### INSTEAD
    # return model(x)
    ### END SOLUTION


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
    ### BEGIN SOLUTION
    return "double-softmax"
    ### END SOLUTION


if __name__ == "__main__":
    for classes in (3, 10, 30):
        model, losses = train(classes)
        x, y = make_data(1000, classes)
        right = (probabilities(model, x).argmax(1) == y).float().mean()
        print(f"{classes:2} classes: guessing {math.log(classes):.2f}, ", end="")
        print(f"loss {losses[0]:.2f} -> {sum(losses[-10:]) / 10:.2f}, accuracy {right:.3f}")
