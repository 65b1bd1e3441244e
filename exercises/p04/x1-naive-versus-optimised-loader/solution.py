import statistics
import time
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler


class Naive(Dataset):
    """Picture by picture, as in most tutorials."""

    def __init__(self, pictures: torch.Tensor, labels: torch.Tensor):
        self.pictures, self.labels = pictures, labels  # (N, H, W) uint8, (N) int64

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        picture = self.pictures[i].float() / 255
        return ((picture - 0.286) / 0.353)[None], self.labels[i]  # (1, H, W), ()


def samples_per_second(
    loader: Iterable[Any], batches: int = 20, warmup: int = 2, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Throughput of a loader, after a warm-up."""
    ### BEGIN SOLUTION
    iterator = iter(loader)
    for _ in islice(iterator, warmup):
        pass
    start = clock()
    count = sum(len(batch[0]) for batch in islice(iterator, batches))
    if not count:
        raise ValueError("the loader ended within the warm-up")
    return count / (clock() - start)
    ### END SOLUTION


def best_workers(
    make: Callable[[int], Any],
    candidates: Iterable[int],
    needed: float | None = None,
    rounds: int = 3,
    measure: Callable[[Any], float] = samples_per_second,
) -> tuple[int, dict[int, float]]:
    """The fewest workers that suffice, and the median rate of every candidate."""
    ### BEGIN SOLUTION
    found: dict[int, list[float]] = {n: [] for n in sorted(candidates)}
    for _ in range(rounds):
        for n, measured in found.items():
            measured.append(measure(make(n)))
    rates = {n: statistics.median(measured) for n, measured in found.items()}
    best = max(rates.values())
    limit = 0.95 * best if needed is None or needed > best else needed
    return next(n for n, rate in rates.items() if rate >= limit), rates
    ### END SOLUTION


### BEGIN SOLUTION
class _Whole(Dataset):
    def __init__(self, pictures: torch.Tensor, labels: torch.Tensor):
        self.pictures, self.labels = pictures, labels

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, indices: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        pictures = self.pictures[indices].float().div_(255).sub_(0.286).div_(0.353)
        return pictures[:, None], self.labels[indices]


### END SOLUTION
def fast_loader(
    pictures: torch.Tensor, labels: torch.Tensor, batch_size: int, generator: torch.Generator
) -> Iterable[tuple[torch.Tensor, torch.Tensor]]:
    """The shuffled batches of the naive dataset, made whole."""
    ### BEGIN SOLUTION
    dataset = _Whole(pictures, labels)
    lists = BatchSampler(RandomSampler(dataset, generator=generator), batch_size, drop_last=False)
    return DataLoader(dataset, batch_size=None, sampler=lists)
    ### END SOLUTION
