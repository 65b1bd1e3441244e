import io
from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional as F


class Batches:
    """The batches of one epoch after the other, each epoch in an order of its own."""

    def __init__(self, x: torch.Tensor, y: torch.Tensor, size: int, seed: int) -> None:
        self.x, self.y, self.size = x, y, size
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        order = torch.randperm(len(self.x), generator=self.generator)
        for index in order.split(self.size):
            yield self.x[index], self.y[index]


class Run:
    """A training that can be stopped after any epoch, and resumed in another process."""

    def __init__(self, seed: int = 0) -> None:
        torch.manual_seed(seed)
        x = torch.randn(256, 6)
        y = (x[:, :1] * x[:, 1:2]) + x[:, 2:3].sin()
        self.model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Dropout(0.1), nn.Linear(32, 1))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.02)
        self.schedule = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.95)
        self.batches = Batches(x, y, 32, seed)
        self.epochs = 0

    def train(self, epochs: int) -> list[float]:
        """The mean loss of each of the next epochs."""
        means = []
        for _ in range(epochs):
            losses = []
            for x, y in self.batches:
                loss = F.mse_loss(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                losses.append(loss.item())
            self.schedule.step()
            self.epochs += 1
            means.append(sum(losses) / len(losses))
        return means

    def state_dict(self) -> dict:
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "epochs": self.epochs,
            "random": torch.get_rng_state(),
            ### BEGIN SOLUTION
            "order": self.batches.generator.get_state(),
            ### INSTEAD
            ### END SOLUTION
        }

    def load_state_dict(self, state: dict) -> None:
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        self.epochs = state["epochs"]
        torch.set_rng_state(state["random"])
        ### BEGIN SOLUTION
        self.batches.generator.set_state(state["order"])
        ### INSTEAD
        ### END SOLUTION


def diagnosis() -> str:
    """The disease, by its name in `torchbook.practice.ward.DISEASES`."""
    ### BEGIN SOLUTION
    return "state-not-restored"
    ### END SOLUTION


if __name__ == "__main__":
    print("in one go:", [round(loss, 4) for loss in Run().train(6)])
    first, file = Run(), io.BytesIO()
    losses = first.train(3)
    torch.save(first.state_dict(), file)
    file.seek(0)
    second = Run()
    second.load_state_dict(torch.load(file))
    print("resumed:  ", [round(loss, 4) for loss in losses + second.train(3)])
