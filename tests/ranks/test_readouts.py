"""What a rank reads off itself."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from torchbook import ranks
from torchbook.ranks import readouts

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_a_storage_counts_once() -> None:
    a = torch.zeros(10)
    assert readouts.stored([a, a[:3], a.view(2, 5), None, torch.zeros(2)]) == 40 + 8


@linux
def test_what_is_written_is_counted() -> None:
    before = readouts.written()
    with open(os.devnull, "wb", buffering=0) as file:
        file.write(bytes(1000))
    assert readouts.written() - before == 1000


@linux
def test_a_process_has_no_more_memory_than_its_limit() -> None:
    script = """
import torch
from torchbook.ranks.inside import report
from torchbook.ranks.readouts import limit_memory, peak_memory
limit_memory(200_000_000)
before = peak_memory()
some = torch.zeros(25_000_000)
some.fill_(1)
try:
    torch.zeros(50_000_000)
except RuntimeError as error:
    report([peak_memory() - before, str(error)])
"""
    grown, error = ranks.launch("limited", script, 1)[0]
    assert 80e6 < grown < 200e6
    assert "can't allocate memory" in error


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("c10d_functional.all_reduce", "all_reduce"),
        ("c10d_functional.all_gather_into_tensor", "all_gather"),
        ("c10d_functional.reduce_scatter_tensor", "reduce_scatter"),
        ("c10d._allgather_base_", "all_gather"),
        ("c10d._reduce_scatter_base_", "reduce_scatter"),
        ("c10d.allreduce_", "all_reduce"),
        ("c10d_functional.all_to_all_single", "all_to_all"),
    ],
)
def test_collectives_have_plain_names(kind: str, name: str) -> None:
    mode: Any = SimpleNamespace(get_comm_counts=lambda: {kind: 2, "c10d.broadcast_": 1})
    assert readouts.called(mode) == {name: 2, "broadcast": 1}


def test_a_stage_says_in_which_order_it_computes() -> None:
    stage = SimpleNamespace(forward_one_chunk=lambda m, x: x + m, backward_one_chunk=lambda m, loss=None: loss)
    order = readouts.order_of(stage)
    assert stage.forward_one_chunk(1, 2) == 3
    assert stage.backward_one_chunk(0, loss="l") == "l"
    assert order == [("F", 1), ("B", 0)]


def test_ddp_says_its_buckets_and_the_profiler_its_events() -> None:
    script = """
import torch.distributed as dist
import torch
from torchbook.ranks.inside import report
from torchbook.ranks.readouts import ddp_buckets, events_of

dist.init_process_group("gloo")
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 4, bias=False))


def step(x):
    net(x).sum().backward()


step(torch.ones(2, 3))
step(torch.ones(2, 3))
names = [event.name for event in events_of(step, torch.ones(2, 3))]
report([ddp_buckets(net), names.count("MmBackward0"), "c10d::allreduce_" in names])
"""
    assert ranks.launch("buckets", script, 2)[0] == [{"first": [48], "later": [[0]]}, 1, True]


def test_a_sharded_model_says_which_blocks_are_whole() -> None:
    script = """
import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torchbook.ranks.inside import report
from torchbook.ranks.readouts import whole_blocks

dist.init_process_group("gloo")
x = torch.ones(2, 4, requires_grad=True)
seen = []
for by_block in (True, False):
    net = torch.nn.Sequential(*(torch.nn.Sequential(torch.nn.Linear(4, 4)) for _ in range(2)))
    for unit in (*net, net) if by_block else (net,):
        fully_shard(unit)
    seen.append(whole_blocks(net, lambda: net(x).sum().backward()))
report(seen)
"""
    by_block, root_only = ranks.launch("whole", script, 2)[0]
    assert by_block == [(0, [0]), (1, [1]), (1, [1]), (0, [0])]
    assert root_only == [(i, [0, 1]) for i in (0, 1, 1, 0)]


def test_a_sharded_model_says_what_waits_and_what_is_alive_at_the_peak() -> None:
    script = """
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torchbook.ranks.inside import report
from torchbook.ranks.readouts import peak_by_kind, stored, unreduced
dist.init_process_group("gloo")
def fresh():
    return fully_shard(nn.Sequential(nn.Linear(8, 8, bias=False)))
def step(net):
    net(torch.ones(2, 8, requires_grad=True)).sum().backward()
net = fresh()
net.set_requires_gradient_sync(False)
step(net)
report([stored(net.parameters()), stored(unreduced(net)), peak_by_kind(fresh(), step)])
"""
    for kept, waiting, peak in ranks.launch("sharded", script, 2).reports:
        assert kept == 4 * 32
        assert waiting == 4 * 64
        assert peak["Sharded Param"] == 4 * 32
        assert peak["OptState"] >= 8 * 32
        assert peak["Total"] == max(peak.values())
