"""What a rank of test_cluster.py measures: the collectives that torch is given, and what stays on the rank.

The ranks write what they saw as JSON beside this file's copy; the test compares it with the simulator's prediction.
"""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

NAMES = {"allreduce": "all_reduce", "all_reduce": "all_reduce", "allgather": "all_gather",
         "reduce_scatter": "reduce_scatter"}  # fmt: skip


class Collectives(TorchDispatchMode):
    """Kind, elements and bytes of an element of every collective, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, int, int]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(func)
        kind = next((kind for word, kind in NAMES.items() if word in name), None)
        if "c10d" in name and kind:
            tensors = [t for t in tree_leaves((args, kwargs)) if isinstance(t, Tensor)]
            largest = max(tensors, key=Tensor.numel)  # the whole tensor: output of a gather, input of a reduction
            self.seen.append((kind, largest.numel(), largest.element_size()))
        return func(*args, **(kwargs or {}))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(30), nn.Linear(30, 70), nn.Linear(70, 30)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Net(nn.Sequential):
    def __init__(self) -> None:  # widths that no number of ranks divides: padding shows
        super().__init__(nn.Linear(10, 30), Block(), Block(), nn.Linear(30, 7))


def local(tensor: Any) -> Tensor:
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def step(net: nn.Module, micros: int = 1) -> dict[str, Any]:
    """The third step: in its first DDP learns the order of the gradients, in its second it tells all ranks."""
    optimizer = torch.optim.AdamW(net.parameters())
    x = torch.randn(4, 10)
    for _ in range(3):
        counts = CommDebugMode() if micros == 1 else None  # torch 2.11's counts one forward alone
        with Collectives() as mode, counts or nullcontext():
            for _ in range(micros):
                net(x).square().mean().backward()
        gradients = sum(local(p.grad).nbytes for p in net.parameters())
        optimizer.step()
        optimizer.zero_grad()
    states = [t for state in optimizer.state.values() for t in state.values() if isinstance(t, Tensor) and t.ndim]
    return {
        "seen": mode.seen,
        "calls": counts.get_total_counts() if counts else len(mode.seen),
        "parameters": sum(local(p).nbytes for p in net.parameters()),
        "gradients": gradients,
        "optimizer": sum(local(t).nbytes for t in states),
    }


def sharded(**options: Any) -> nn.Module:
    net = Net()
    for block in (net[1], net[2]):
        fully_shard(block, **options)
    fully_shard(net, **options)
    return net


def main() -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    results: dict[str, Any] = {
        "ddp": step(DistributedDataParallel(Net())),
        "small buckets": step(DistributedDataParallel(Net(), bucket_cap_mb=0.01)),
        "fsdp": step(sharded()),
        "fsdp bf16": step(sharded(mp_policy=policy)),
        "zero2": step(sharded(reshard_after_forward=False)),
        "two micro-batches": step(sharded(), 2),
    }
    mlp = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 8))
    parallelize_module(mlp, init_device_mesh("cpu", (ranks,)), {"0": ColwiseParallel(), "2": RowwiseParallel()})
    for name, needed in (("mlp", True), ("first mlp", False)):
        x = torch.randn(3, 5, 8, requires_grad=needed)
        with Collectives() as mode, CommDebugMode() as counts:
            mlp(x).sum().backward()
        held = sum(local(p).nbytes for p in mlp.parameters())
        results[name] = {"seen": mode.seen, "calls": counts.get_total_counts(), "parameters": held, "optimizer": 0,
                       "gradients": sum(local(p.grad).nbytes for p in mlp.parameters())}  # fmt: skip
        mlp.zero_grad()
    stage = PipelineStage(nn.Linear(6, 6), rank, ranks, torch.device("cpu"))
    schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=nn.functional.mse_loss)
    inputs = {"args": (torch.randn(8, 6),)} if rank == 0 else {"args": ()}
    target: dict[str, Any] = {"target": torch.randn(8, 6)} if rank == ranks - 1 else {}
    for _ in range(2):
        sends.clear()
        schedule.step(*inputs["args"], **target)
    results["pipeline"] = {"seen": list(sends)}
    Path(f"rank{rank}.json").write_text(json.dumps(results))
    dist.destroy_process_group()


sends: list[tuple[str, int, int]] = []  # what a pipeline gives to batch_isend_irecv, which calls no op that a mode sees
_init = dist.P2POp.__init__


def _counted(self: Any, op: Any, tensor: Tensor, *args: Any, **more: Any) -> None:
    if op is dist.isend:
        sends.append(("send", tensor.numel(), tensor.element_size()))
    _init(self, op, tensor, *args, **more)


dist.P2POp.__init__ = _counted  # type: ignore[method-assign]

if __name__ == "__main__":
    main()
