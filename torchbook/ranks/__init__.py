"""Several ranks on this machine: start a script on them, read what they report, leave no process behind.

    from torchbook import ranks

    %%ranks 4
    import torch.distributed as dist
    ...

A cell that begins with `%%ranks` is a script: it runs once for each rank, in processes of their own, and what it prints
is shown rank by rank. The notebook finds in `run` what is left of it (`Run`). Importing this package in a notebook
makes the magic known.
"""

from torchbook.ranks.launching import Node, RanksError, Run, folder, launch
from torchbook.ranks.magic import register
from torchbook.ranks.networks import two_networks
from torchbook.ranks.processes import MARK, free_port, kill_marked, marked

__all__ = [
    "MARK",
    "Node",
    "RanksError",
    "Run",
    "folder",
    "free_port",
    "kill_marked",
    "launch",
    "marked",
    "two_networks",
]

register()
