"""What a rank can read off itself: bytes that it keeps and sends, collectives that it called, the order of a stage.

A script that `torchbook.ranks` starts imports it; nothing here communicates.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor
from torch.profiler import ProfilerActivity, profile

if TYPE_CHECKING:
    from torch.distributed.tensor.debug import CommDebugMode
    from torch.nn.parallel import DistributedDataParallel

_KEEP_NOTHING = -3, 2**20  # glibc's M_MMAP_THRESHOLD: blocks from this size on go back to the system when freed
_ENDINGS = re.compile("_(into_tensor|tensor|single|base)$")
_TOGETHER = {"allreduce": "all_reduce", "allgather": "all_gather", "alltoall": "all_to_all"}


def stored(tensors: Iterable[Tensor | None]) -> int:
    """Bytes of memory behind some tensors on this rank: each storage once, of a DTensor what is here.

    Args:
        tensors: None among them counts nothing, such as a gradient that is not there.
    """
    storages = {}
    for tensor in tensors:
        if tensor is not None:
            local = tensor.to_local() if isinstance(tensor, DTensor) else tensor
            storages[local.untyped_storage().data_ptr()] = local.untyped_storage().nbytes()
    return sum(storages.values())


def unreduced(model: nn.Module) -> list[Tensor]:
    """Whole gradients that wait in a model under `fully_shard` until they are reduced; read by private names."""
    wrapped: list[Any] = [module for module in model.modules() if hasattr(module, "_get_fsdp_state")]
    states = [module._get_fsdp_state() for module in wrapped]
    parameters = [one for state in states for group in state._fsdp_param_groups for one in group.fsdp_params]
    waiting = [one.unsharded_accumulated_grad for one in parameters]
    return [gradient for gradient in waiting if gradient is not None]


def ddp_buckets(model: DistributedDataParallel) -> dict[str, list[Any]]:
    """The buckets of a model under DDP: `first`, their bytes in the first step, and `later`, after it has rebuilt them.

    `later` lists for each bucket the numbers of its parameters, in the order in which their gradients became ready;
    it is there from the third step on. Read by a private method.
    """
    data = model._get_ddp_logging_data()
    later = data.get("rebuilt_per_bucket_param_indices", "")
    return {
        "first": [int(size) for size in data["bucket_sizes"].split(",")],
        "later": [[int(number) for number in one.split()] for one in later.split(",") if one],
    }


def events_of(call: Callable[..., Any], *args: Any) -> list[Any]:
    """What the profiler sees on this rank's processor while something is called: its events, with names and times."""
    with profile(activities=[ProfilerActivity.CPU], acc_events=True) as prof:
        call(*args)
    return list(prof.events())


def whole_blocks(blocks: Sequence[nn.Module], step: Callable[[], Any]) -> list[tuple[int, list[int]]]:
    """Which blocks under `fully_shard` are whole each time that one of them runs in a step, forward or backward.

    A block is whole while its first parameter is a plain tensor and not a DTensor.

    Args:
        blocks: of a model, each a unit; the input of the first must require a gradient.
        step: a forward and a backward of the model.

    Returns:
        In order, the number of the block that runs and the numbers of all that are whole then.
    """
    moments: list[tuple[int, list[int]]] = []

    def note(number: int) -> None:
        whole = [i for i, block in enumerate(blocks) if not isinstance(next(block.parameters()), DTensor)]
        moments.append((number, whole))

    def noting(number: int) -> Callable[..., None]:
        return lambda *_: note(number)

    for number, block in enumerate(blocks):
        first = next(module for module in block.modules() if module._parameters)
        first.register_forward_hook(noting(number))
        first.register_full_backward_hook(noting(number))
    step()
    return moments


def written() -> int:
    """Bytes that this process has written so far: with gloo, what it has sent, where it writes no files. Linux only."""
    return int(Path("/proc/self/io").read_text().split("wchar: ")[1].split()[0])


def limit_memory(more: int) -> None:
    """Let this process have so many bytes more than it has now, as a GPU has an end, too. Linux only."""
    import resource  # Windows has none

    ctypes.CDLL(None).mallopt(*_KEEP_NOTHING)
    data = Path("/proc/self/status").read_text().split("VmData:")[1].split()[0]
    end = 1024 * int(data) + more
    resource.setrlimit(resource.RLIMIT_DATA, (end, end))


def peak_memory() -> int:
    """The most bytes of memory that this process has had so far, on Linux."""
    import resource

    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def peak_by_kind(model: nn.Module, step: Callable[[nn.Module], Any]) -> dict[str, int]:
    """Bytes alive at the highest moment of a step of a model under `fully_shard` with Adam, by kind.

    Uses a private tracker of torch.

    Args:
        model: sharded.
        step: a forward and a backward.
    """
    from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker

    adam = torch.optim.AdamW(model.parameters())
    tracker = FSDPMemTracker(model, adam)
    step(model)
    adam.step()  # makes Adam's state
    adam.zero_grad()
    with tracker:
        step(model)
    (kinds,) = tracker.get_tracker_snapshot("peak").values()
    return {str(getattr(kind, "value", kind)): bytes_ for kind, bytes_ in kinds.items() if bytes_}


def called(mode: CommDebugMode) -> dict[str, int]:
    """How often each collective was called under `CommDebugMode`, by its plain name: `all_gather`, `all_reduce`, …"""
    counts: dict[str, int] = {}
    for kind, count in mode.get_comm_counts().items():
        name = _ENDINGS.sub("", str(kind).rsplit(".", 1)[-1].strip("_"))
        name = _TOGETHER.get(name, name)
        counts[name] = counts.get(name, 0) + count
    return counts


def order_of(stage: Any) -> list[tuple[str, int]]:
    """A list to which a `PipelineStage` writes from now on what it computes: ("F", 0) is micro-batch 0's forward."""
    order: list[tuple[str, int]] = []

    def noted(kind: str, compute: Callable[..., Any]) -> Callable[..., Any]:
        def computed(number: int, *args: Any, **kwargs: Any) -> Any:
            order.append((kind, number))
            return compute(number, *args, **kwargs)

        return computed

    stage.forward_one_chunk = noted("F", stage.forward_one_chunk)
    stage.backward_one_chunk = noted("B", stage.backward_one_chunk)
    return order
