import os
import sys
from collections.abc import Callable, Mapping, Sequence

import torch
import torch.distributed as dist


def launch(
    node: int,
    addresses: Sequence[str],
    port: int,
    interface: str,
    per_node: int,
    script: str,
    arguments: Sequence[str],
) -> tuple[list[str], dict[str, str]]:
    """Return the command for one of the machines, and the environment variables to set for it."""
    ### BEGIN SOLUTION
    command = [sys.executable, "-m", "torch.distributed.run"]
    command += [f"--nnodes={len(addresses)}", f"--nproc-per-node={per_node}"]
    command += ["--rdzv-backend=c10d", f"--rdzv-endpoint={addresses[0]}:{port}", "--rdzv-id=job"]
    command += [f"--local-addr={addresses[node]}"]
    variables = dict.fromkeys(("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"), interface)
    return [*command, script, *arguments], variables
    ### END SOLUTION


def own_device(environment: Mapping[str, str], gpus: int) -> str:
    """Return the device of the process with these variables, on a machine with `gpus` GPUs."""
    ### BEGIN SOLUTION
    if not gpus:
        return "cpu"
    local = int(environment["LOCAL_RANK"])
    if local >= gpus:
        raise ValueError(f"local rank {local} has no GPU: there are {gpus}")
    return f"cuda:{local}"
    ### END SOLUTION


def work(fetch: Callable[[], None], train: Callable[[str], object], save: Callable[[object], None]) -> None:
    """Do what each process of the job has to do."""
    ### BEGIN SOLUTION
    mine = own_device(os.environ, torch.cuda.device_count())
    if mine != "cpu":
        torch.cuda.set_device(mine)
    dist.init_process_group("gloo" if mine == "cpu" else "nccl")
    try:
        if os.environ["LOCAL_RANK"] == "0":
            fetch()
        dist.barrier()
        result = train(mine)
        if dist.get_rank() == 0:
            save(result)
    finally:
        dist.destroy_process_group()
    ### END SOLUTION
