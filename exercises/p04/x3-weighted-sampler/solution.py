from collections.abc import Iterator, Sequence

import torch
from torch.utils.data import Sampler


def probabilities(labels: Sequence[int] | torch.Tensor) -> torch.Tensor:
    """The probability of each sample with which all classes are equally probable."""
    ### BEGIN SOLUTION
    _, place, counts = torch.as_tensor(labels).unique(return_inverse=True, return_counts=True)
    return (1 / counts.double())[place] / len(counts)
    ### END SOLUTION


class BalancedSampler(Sampler[int]):
    """The draws of one of `world` processes, with all classes equally probable."""

    def __init__(
        self, labels: Sequence[int] | torch.Tensor, num_samples: int, rank: int = 0, world: int = 1, seed: int = 0
    ):
        ### BEGIN SOLUTION
        self.weights, self.num_samples = probabilities(labels), num_samples
        self.rank, self.world, self.seed, self.epoch = rank, world, seed, 0
        ### END SOLUTION

    def set_epoch(self, epoch: int) -> None:
        """Choose the draws of this epoch."""
        ### BEGIN SOLUTION
        self.epoch = epoch
        ### END SOLUTION

    def __len__(self) -> int:
        ### BEGIN SOLUTION
        return self.num_samples // self.world
        ### END SOLUTION

    def __iter__(self) -> Iterator[int]:
        ### BEGIN SOLUTION
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        draws = torch.multinomial(self.weights, self.num_samples, replacement=True, generator=generator)
        mine = draws[self.rank :: self.world]
        yield from mine[: len(self)].tolist()
        ### END SOLUTION


def as_in_the_world(logits: torch.Tensor, frequencies: torch.Tensor) -> torch.Tensor:
    """Probabilities (B, C) where classes have these frequencies, from logits trained on equally frequent ones."""
    ### BEGIN SOLUTION
    return (logits + frequencies.to(logits.dtype).log()).softmax(dim=1)
    ### END SOLUTION
