from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F


class Recordings(NamedTuple):
    """Features of walking people (n, 24), whether they are ill, and who it is."""

    x: torch.Tensor
    ill: torch.Tensor
    person: torch.Tensor

    def at(self, index: torch.Tensor) -> "Recordings":
        return Recordings(self.x[index], self.ill[index], self.person[index])


def record(people: int, each: int = 8, seed: int = 0) -> Recordings:
    """Some recordings of each of so many people."""
    g = torch.Generator().manual_seed(seed)
    person = torch.arange(people).repeat_interleave(each)
    gait = 1.5 * torch.randn(people, 24, generator=g)
    ill = torch.randint(2, (people,), generator=g)
    gait[:, 0] += 1.2 * (2 * ill - 1)  # what the illness does
    x = gait[person] + 0.7 * torch.randn(len(person), 24, generator=g)
    return Recordings(x, ill[person], person)


def split(data: Recordings, fraction: float = 0.75, seed: int = 0) -> tuple[Recordings, Recordings]:
    """Two parts at random: about `fraction` to train on, the rest to validate."""
    g = torch.Generator().manual_seed(seed)
    ### BEGIN SOLUTION
    people = data.person.unique()
    shuffled = people[torch.randperm(len(people), generator=g)]
    first = torch.isin(data.person, shuffled[: round(fraction * len(people))])
    return data.at(first.nonzero().squeeze(1)), data.at((~first).nonzero().squeeze(1))
    ### INSTEAD
    # order = torch.randperm(len(data.x), generator=g)
    # cut = round(fraction * len(order))
    # return data.at(order[:cut]), data.at(order[cut:])
    ### END SOLUTION


def train(data: Recordings, steps: int = 150, seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.01)
    for _ in range(steps):
        batch = torch.randint(len(data.x), (64,))
        loss = F.cross_entropy(model(data.x[batch]), data.ill[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


@torch.no_grad()
def accuracy(model: nn.Module, data: Recordings) -> float:
    return (model(data.x).argmax(1) == data.ill).float().mean().item()


def diagnosis() -> str:
    """The disease, by its name in `torchbook.practice.ward.DISEASES`."""
    ### BEGIN SOLUTION
    return "leaky-split"
    ### END SOLUTION


if __name__ == "__main__":
    for_training, for_validation = split(record(80))
    model = train(for_training)
    print(f"training {accuracy(model, for_training):.2f}")
    print(f"validation {accuracy(model, for_validation):.2f}, ", end="")
    print(f"new clinic {accuracy(model, record(200, seed=1)):.2f}")
