import contextlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler


def train(
    model: nn.Module, dataset: Dataset, *, epochs: int, batch_size: int, accumulate: int, lr: float, path: str
) -> list[float]:
    """Train on all ranks, save on rank 0, and return the mean loss of each epoch."""
    ### BEGIN SOLUTION
    device = next(model.parameters()).device
    ddp = DistributedDataParallel(model)
    sampler = DistributedSampler(dataset, shuffle=True, drop_last=True)
    loader = DataLoader(dataset, batch_size // (accumulate * dist.get_world_size()), sampler=sampler)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=lr)
    losses = []
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        total = torch.zeros(2, device=device)
        for number, (x, y) in enumerate(loader, 1):
            x, y = x.to(device), y.to(device)
            last = number % accumulate == 0
            with contextlib.nullcontext() if last else ddp.no_sync():
                loss = F.cross_entropy(ddp(x), y)
                (loss / accumulate).backward()
            total += torch.stack([loss.detach() * len(y), torch.tensor(float(len(y)), device=device)])
            if last:
                optimizer.step()
                optimizer.zero_grad()
        dist.all_reduce(total)
        losses.append((total[0] / total[1]).item())
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
    dist.barrier()
    return losses
    ### END SOLUTION
