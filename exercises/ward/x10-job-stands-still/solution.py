import datetime
import time
from collections.abc import Iterable, Iterator

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F


def batches(rank: int, steps: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """This rank's batches; now and then a sensor fails, and sends infinity."""
    generator = torch.Generator().manual_seed(rank)
    for step in range(steps):
        x = torch.randn(16, 3, generator=generator)
        y = x.sum(1, keepdim=True) + 0.1 * torch.randn(16, 1, generator=generator)
        if rank == 1 and step % 10 == 6:
            x[3, 2] = torch.inf
        yield x, y


def train(model: nn.Module, data: Iterable[tuple[torch.Tensor, torch.Tensor]], lr: float = 0.1) -> list[float]:
    """Train on this rank's batches with the gradients' mean over all ranks; this rank's losses."""
    losses = []
    for x, y in data:
        loss = F.mse_loss(model(x), y)
        ### BEGIN SOLUTION
        finite = loss.detach().isfinite().float()
        dist.all_reduce(finite, op=dist.ReduceOp.MIN)
        if not finite:
            continue
        ### INSTEAD
        # if not loss.isfinite():
        #     continue  # one bad reading must not spoil the weights
        ### END SOLUTION
        model.zero_grad()
        loss.backward()
        flat = torch.cat([p.grad.flatten() for p in model.parameters()])
        dist.all_reduce(flat)
        flat /= dist.get_world_size()
        with torch.no_grad():
            for p, mean in zip(model.parameters(), flat.split([p.numel() for p in model.parameters()]), strict=True):
                p -= lr * mean.view_as(p)
        losses.append(loss.item())
    return losses


def diagnosis() -> str:
    """The disease, by its name in `torchbook.practice.ward.DISEASES`."""
    ### BEGIN SOLUTION
    return "collective-skipped"
    ### END SOLUTION


def main() -> None:
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=5))
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    try:
        losses = train(model, batches(dist.get_rank(), 20))
        print(f"rank {dist.get_rank()}: {len(losses)} steps, loss {losses[-1]:.3f}", flush=True)
    except RuntimeError as error:
        print(f"rank {dist.get_rank()}: {str(error).rpartition('] ')[2][:70]}", flush=True)
    else:
        time.sleep(8)  # writes a checkpoint
    dist.destroy_process_group()


if __name__ == "__main__" and dist.is_torchelastic_launched():
    main()
