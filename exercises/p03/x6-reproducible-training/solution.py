import copy
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


def fingerprint(module: nn.Module) -> str:
    """Equal exactly if names and bits of both state dicts are."""
    ### BEGIN SOLUTION
    digest = hashlib.sha256()
    for name, value in module.state_dict().items():
        digest.update(repr((name, value.dtype, tuple(value.shape))).encode())
        digest.update(bytes(value.detach().contiguous().reshape(-1).view(torch.uint8).tolist()))
    return digest.hexdigest()
    ### END SOLUTION


class Run:
    """A training run that repeats bit by bit."""

    def __init__(self, make_net: Callable[[], nn.Module], x: torch.Tensor, y: torch.Tensor, seed: int):
        ### BEGIN SOLUTION
        self.x, self.y = x, y
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.net = make_net()
            self.generator = torch.get_rng_state()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=0.01)
        ### END SOLUTION

    def advance(self, steps: int) -> None:
        """Train for so many steps."""
        ### BEGIN SOLUTION
        with torch.random.fork_rng(devices=[]), _deterministic():
            torch.set_rng_state(self.generator)
            for _ in range(steps):
                rows = torch.randperm(len(self.x))[:16]
                self.optimizer.zero_grad()
                F.mse_loss(self.net(self.x[rows]), self.y[rows]).backward()
                self.optimizer.step()
            self.generator = torch.get_rng_state()
        ### END SOLUTION

    def state_dict(self) -> dict[str, Any]:
        """All that the rest of the run depends on."""
        ### BEGIN SOLUTION
        return {
            "net": self.net.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator,
        }
        ### END SOLUTION

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        ### BEGIN SOLUTION
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(copy.deepcopy(state["optimizer"]))  # it keeps the tensors that it is given
        self.generator = state["generator"]


@contextmanager
def _deterministic() -> Iterator[None]:
    before = torch.are_deterministic_algorithms_enabled()
    only_warn = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before, warn_only=only_warn)
        ### END SOLUTION
