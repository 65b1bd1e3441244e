"""Two networks on one machine: ranks in different ones reach each other by the cable."""

from __future__ import annotations

import pytest

from torchbook import ranks

SCRIPT = """
import os
import torch, torch.distributed as dist
from torchbook.ranks.inside import rank, report
dist.init_process_group("gloo")
t = torch.tensor([float(rank)])
dist.all_reduce(t)
report([t.item(), os.readlink("/proc/self/ns/net")])
dist.destroy_process_group()
"""


def test_ranks_in_two_networks_add_up() -> None:
    with ranks.two_networks() as nodes:
        if nodes is None:
            pytest.skip(reason="no user namespaces here")
        run = ranks.launch("nodes", SCRIPT, 2, nodes=nodes, env={"GLOO_SOCKET_IFNAME": "eth0"})
    assert [total for total, _ in run.reports] == [1.0, 1.0]
    assert len({network for _, network in run.reports}) == 2
