from collections import Counter
from collections.abc import Iterable

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F


def diagnose(dumps: list[dict]) -> tuple[int, list[int]] | None:
    """Return the first number at which the ranks part ways, and the ranks to look at."""
    ### BEGIN SOLUTION
    calls = [
        {
            entry["collective_seq_id"]: (entry["profiling_name"], str(entry["input_sizes"]), str(entry["input_dtypes"]))
            for entry in dump["entries"]
            if not entry["is_p2p"]
        }
        for dump in dumps
    ]
    known = [numbers for numbers in calls if numbers]
    if not known:
        return None
    first, last = max(map(min, known)), max(map(max, known))
    for number in range(first, last + 1):
        made = [numbers.get(number) for numbers in calls]
        absent = [rank for rank, call in enumerate(made) if call is None]
        if absent:
            return number, absent
        call, count = Counter(made).most_common(1)[0]
        if count <= len(dumps) / 2:
            return number, list(range(len(dumps)))
        if count < len(dumps):
            return number, [rank for rank, other in enumerate(made) if other != call]
    return None
    ### END SOLUTION


def hanging(model: nn.Module, batches: Iterable, *, lr: float, target: float, log: list[float]) -> None:
    """Train on the batches of this rank until the loss is below the target."""
    for x, y in batches:
        loss = F.mse_loss(model(x), y)
        model.zero_grad()
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.data -= lr * p.grad / dist.get_world_size()
        if dist.get_rank() == 0:
            mean = loss.detach().clone()
            dist.all_reduce(mean)
            log.append(mean.item() / dist.get_world_size())
        if loss < target:
            break


def train(model: nn.Module, batches: Iterable, *, lr: float, target: float, log: list[float]) -> None:
    """Do the same, but no rank ever waits for a call that a different rank does not make."""
    ### BEGIN SOLUTION
    world, batches = dist.get_world_size(), iter(batches)
    while True:
        batch = next(batches, None)
        ready = torch.tensor(int(batch is not None))
        dist.all_reduce(ready, op=dist.ReduceOp.MIN)
        if not ready:
            break
        x, y = batch
        loss = F.mse_loss(model(x), y)
        model.zero_grad()
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.data -= lr * p.grad / world
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        mean /= world
        if dist.get_rank() == 0:
            log.append(mean.item())
        if mean < target:
            break
    ### END SOLUTION
