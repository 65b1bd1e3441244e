import copy
import hashlib
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class Careless:
    """Learns to tell rows with different labels apart. No two runs of it are the same."""

    def __init__(self, x: torch.Tensor, labels: list[str], seed: int) -> None:
        torch.manual_seed(seed)
        self.x = x
        self.classes = {name: number for number, name in enumerate(set(labels))}
        self.y = torch.tensor([self.classes[name] for name in labels])
        self.net = nn.Sequential(
            nn.Linear(x.shape[1], 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, len(self.classes))
        )
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)
        self.order: list[int] = []

    def advance(self, steps: int) -> None:
        """Train for so many steps of 16 rows; every epoch goes through all rows, in an order of its own."""
        for _ in range(steps):
            if not self.order:
                self.order = list(range(len(self.x)))
                random.shuffle(self.order)
            rows, self.order = self.order[:16], self.order[16:]
            x = self.x[rows] + torch.from_numpy(np.random.normal(0, 0.1, (len(rows), self.x.shape[1]))).float()
            x = x / x.square().mean().sqrt()
            self.optimizer.zero_grad()
            F.cross_entropy(self.net(x), self.y[rows]).backward()
            self.optimizer.step()

    def state_dict(self) -> dict[str, Any]:
        """What the rest of the run depends on?"""
        return {"net": self.net.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        self.net.load_state_dict(state["net"])


def audit(program: Callable[[], torch.Tensor]) -> dict[str, bool | None]:
    """On what the bits of `program()` depend: "random", "numpy", "torch", "threads", "other"."""
    ### BEGIN SOLUTION

    def bits(random_seed: int = 0, numpy_seed: int = 0, torch_seed: int = 0, threads: int = 1) -> tuple:
        with _put_back():
            random.seed(random_seed)
            np.random.seed(numpy_seed)
            torch.manual_seed(torch_seed)
            torch.set_num_threads(threads)
            result = program().detach()
            return result.dtype, result.shape, bytes(result.contiguous().reshape(-1).view(torch.uint8).tolist())

    usual = bits()
    if any(bits() != usual for _ in range(3)):
        return {"random": None, "numpy": None, "torch": None, "threads": None, "other": True}
    seeds = range(1, 30)  # a program that tosses one coin is not to be overlooked
    return {
        "random": any(bits(random_seed=seed) != usual for seed in seeds),
        "numpy": any(bits(numpy_seed=seed) != usual for seed in seeds),
        "torch": any(bits(torch_seed=seed) != usual for seed in seeds),
        "threads": any(bits(threads=threads) != usual for threads in (2, 3, 4)),
        "other": False,
    }


@contextmanager
def _put_back() -> Iterator[None]:
    """Leave generators and the number of threads as they were found."""
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    threads = torch.get_num_threads()
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.set_rng_state(states[2])
        torch.set_num_threads(threads)
    ### END SOLUTION


def augment(row: torch.Tensor, seed: int, epoch: int, index: int) -> torch.Tensor:
    """The row plus normal noise of standard deviation 0.1, which the three numbers decide and nothing else."""
    ### BEGIN SOLUTION
    digest = hashlib.sha256(f"{seed} {epoch} {index}".encode()).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))
    return row + 0.1 * torch.randn(row.shape, generator=generator)
    ### END SOLUTION


class Exact:
    """The same training, to the last bit again."""

    def __init__(self, x: torch.Tensor, labels: list[str], seed: int) -> None:
        ### BEGIN SOLUTION
        self.x, self.seed = x, seed
        self.classes = {name: number for number, name in enumerate(sorted(set(labels)))}
        self.y = torch.tensor([self.classes[name] for name in labels])
        with _put_back():
            torch.manual_seed(seed)
            self.net = nn.Sequential(
                nn.Linear(x.shape[1], 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, len(self.classes))
            )
            self.generator = torch.get_rng_state()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)
        self.epoch = 0
        self.order: list[int] = []
        ### END SOLUTION

    def advance(self, steps: int) -> None:
        """Train for so many steps of 16 rows; every epoch goes through all rows, in an order of its own."""
        ### BEGIN SOLUTION
        with _put_back():
            torch.set_num_threads(1)
            torch.set_rng_state(self.generator)
            for _ in range(steps):
                if not self.order:
                    self.epoch += 1
                    self.order = torch.randperm(len(self.x)).tolist()
                rows, self.order = self.order[:16], self.order[16:]
                x = torch.stack([augment(self.x[row], self.seed, self.epoch, row) for row in rows])
                x = x / x.square().mean().sqrt()
                self.optimizer.zero_grad()
                F.cross_entropy(self.net(x), self.y[rows]).backward()
                self.optimizer.step()
            self.generator = torch.get_rng_state()
        ### END SOLUTION

    def state_dict(self) -> dict[str, Any]:
        """All that the rest of the run depends on, of tensors, numbers and plain containers."""
        ### BEGIN SOLUTION
        state = {
            "net": self.net.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator,
            "seed": self.seed,
            "epoch": self.epoch,
            "order": self.order,
        }
        return copy.deepcopy(state)
        ### END SOLUTION

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        ### BEGIN SOLUTION
        state = copy.deepcopy(state)
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.generator, self.seed = state["generator"], state["seed"]
        self.epoch, self.order = state["epoch"], state["order"]
        ### END SOLUTION
