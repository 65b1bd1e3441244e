import math

import torch
from torch import nn
from torch.nn import functional as F


class Plateau:
    """Halves the learning rate when the smoothed validation loss has not fallen for some looks."""

    def __init__(self, optimizer: torch.optim.Optimizer, patience: int = 4, keep: float = 0.9) -> None:
        self.optimizer, self.patience, self.keep = optimizer, patience, keep
        self.smooth: torch.Tensor | None = None
        self.best, self.waited = math.inf, 0

    def look(self, loss: torch.Tensor) -> float:
        ### BEGIN SOLUTION
        loss = loss.detach()
        ### INSTEAD
        ### END SOLUTION
        self.smooth = loss if self.smooth is None else self.keep * self.smooth + (1 - self.keep) * loss
        if self.smooth < self.best:
            self.best, self.waited = self.smooth.item(), 0
        else:
            self.waited += 1
        if self.waited == self.patience:
            for group in self.optimizer.param_groups:
                group["lr"] *= 0.5
            self.waited = 0
        return self.smooth.item()


class Training:
    """A small network that learns a function of eight numbers, looked at after every fifth step."""

    def __init__(self, valid: int, seed: int = 0) -> None:
        torch.manual_seed(seed)
        self.x = torch.randn(256 + valid, 8)  # the first 256 for training, the others for validation
        self.y = torch.sin(2 * self.x[:, :1]) + self.x[:, 1:2] + 0.3 * torch.randn(256 + valid, 1)
        self.model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.2)
        self.plateau = Plateau(self.optimizer)

    def evaluate(self) -> torch.Tensor:
        """The mean loss on validation data."""
        self.model.eval()
        loss = F.mse_loss(self.model(self.x[256:]), self.y[256:])
        self.model.train()
        return loss

    def run(self, looks: int) -> list[float]:
        """Train for five steps per look; the smoothed validation loss at each look."""
        history = []
        for step in range(5 * looks):
            batch = torch.randint(256, (32,))
            loss = F.mse_loss(self.model(self.x[batch]), self.y[batch])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if step % 5 == 4:
                history.append(self.plateau.look(self.evaluate()))
        return history


def diagnosis() -> str:
    """The disease, by its name in `torchbook.practice.ward.DISEASES`."""
    ### BEGIN SOLUTION
    return "graph-kept-alive"
    ### END SOLUTION


if __name__ == "__main__":
    import gc

    training = Training(valid=8192)
    for _look in range(4):
        history = training.run(looks=25)
        alive = [one.nbytes for one in gc.get_objects() if type(one) is torch.Tensor]
        print(f"loss {history[-1]:.2f}, {len(alive)} tensors alive, {sum(alive) / 1e6:.0f} MB")
