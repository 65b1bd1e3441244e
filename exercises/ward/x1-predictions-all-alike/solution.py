import torch
from torch import nn


def make_data(n: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """What is known of `n` journeys, and how many minutes each of them took."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 6, generator=g)  # (n, 6)
    y = 20 + 5 * x[:, 0] - 4 * x[:, 1] * x[:, 2] + 3 * x[:, 3].abs()
    return x, y


class Duration(nn.Module):
    """A small network on standardised features, with its output in minutes."""

    def __init__(self, features: int, hidden: int, start: float) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(features, hidden),
            nn.Tanh(),
            nn.Linear(hidden, hidden),
            nn.Tanh(),
            nn.Linear(hidden, 1),
        )
        nn.init.constant_(self.net[-1].bias, start)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(x)


def loss_of(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The mean squared error in minutes; what is more than 10 off counts linearly."""
    ### BEGIN SOLUTION
    error = (model(x).squeeze(1) - y).abs()
    ### INSTEAD
    # error = (model(x) - y).abs()
    ### END SOLUTION
    return torch.where(error < 10, error**2, 20 * error - 100).mean()


def train(hidden: int = 32, steps: int = 300, seed: int = 0) -> tuple[nn.Module, list[float]]:
    """A trained network, and the loss of each step."""
    x, y = make_data(512, seed)
    torch.manual_seed(seed)
    model = Duration(6, hidden, start=y.mean().item())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(steps):
        batch = torch.randint(512, (64,))
        loss = loss_of(model, x[batch], y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


def diagnosis() -> str:
    """The disease, by its name in `torchbook.practice.ward.DISEASES`."""
    ### BEGIN SOLUTION
    return "broadcast-loss"
    ### END SOLUTION


if __name__ == "__main__":
    x, y = make_data(1000, seed=1)
    print(f"the journeys: variance {y.var():.1f}, spread {y.std():.1f} minutes")
    for hidden in (32, 128):
        model, losses = train(hidden=hidden)
        with torch.no_grad():
            spread = model(x).std().item()
        first, last = sum(losses[:10]) / 10, sum(losses[-10:]) / 10
        print(f"{hidden:3} units: loss {first:.1f} -> {last:.1f}, spread {spread:.1f} minutes")
