import re
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist


def standing(dump: str) -> tuple[str | None, str]:
    """The collective in which the main thread stands, or None, and "file:line" of the script."""
    ### BEGIN SOLUTION
    thread = re.split("(?m)^(?:Current thread|Thread) 0x", dump)[-1]
    frames = []  # (file, line, function), innermost first
    for row in thread.splitlines():
        if row.startswith('  File "'):
            file, _, rest = row.removeprefix('  File "').rpartition('", line ')
            line, _, function = rest.partition(" in ")
            frames.append((file, line, function))
    collective = None
    for file, line, function in frames:
        if "/torch/" in file or "/lib/python" in file:
            if file.endswith("/torch/distributed/distributed_c10d.py"):
                collective = function
        else:
            return collective, f"{file}:{line}"
    raise ValueError("no frame of a script")
    ### END SOLUTION


def waiting(groups: dict[str, list[int]], journals: list[list[dict]]) -> dict[int, tuple[str, int, str, list[int]]]:
    """For each rank in a call that is not done: group, number, call, and the members that have not made it."""
    ### BEGIN SOLUTION
    begun = [{(entry["group"], entry["number"]) for entry in journal} for journal in journals]
    found = {}
    for rank, journal in enumerate(journals):
        for entry in journal:
            if not entry["done"]:
                group, number = entry["group"], entry["number"]
                absent = [other for other in groups[group] if (group, number) not in begun[other]]
                found[rank] = group, number, entry["call"], absent
    return found
    ### END SOLUTION


def verdict(groups: dict[str, list[int]], journals: list[list[dict]]) -> tuple[str, list[int]] | None:
    """ "absent", "mismatch" or "cycle", and the ranks to look at; None if nobody waits in vain."""
    ### BEGIN SOLUTION
    stuck = waiting(groups, journals)
    absent = {other for *_, others in stuck.values() for other in others}
    if absent - set(stuck):
        return "absent", sorted(absent - set(stuck))
    apart = set()
    for group, number, _, _ in stuck.values():
        members = groups[group]
        calls = {
            rank: entry["call"]
            for rank in members
            for entry in journals[rank]
            if (entry["group"], entry["number"]) == (group, number)
        }
        if len(calls) == len(members) and len(set(calls.values())) > 1:
            apart |= set(members)
    if apart:
        return "mismatch", sorted(apart)
    cycle = sorted(rank for rank in stuck if rank in _awaited(rank, stuck))
    return ("cycle", cycle) if cycle else None


def _awaited(rank: int, stuck: dict[int, tuple[str, int, str, list[int]]]) -> set[int]:
    """All for whom a rank waits, directly or through others."""
    seen: set[int] = set()
    stack = [rank]
    while stack:
        one = stack.pop()
        for other in stuck[one][3] if one in stuck else []:
            if other not in seen:
                seen.add(other)
                stack.append(other)
    return seen
    ### END SOLUTION


def hanging_means(metrics: dict[str, float]) -> dict[str, float]:
    """The mean of each metric over the ranks."""
    means = {}
    for name, value in metrics.items():
        total = torch.tensor([value, 1.0], dtype=torch.float64)
        dist.all_reduce(total)
        means[name] = (total[0] / total[1]).item()
    return means


def means(metrics: dict[str, float]) -> dict[str, float]:
    """The same, on every rank for all metrics that any rank has."""
    ### BEGIN SOLUTION
    known: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(known, metrics)
    names = sorted({name for one in known for name in one})
    found = {}
    for name in names:
        values = [one[name] for one in known if name in one]
        found[name] = sum(values) / len(values)
    return found
    ### END SOLUTION


def hanging_together(work: Callable[[], Any]) -> Any:
    """Every rank does its work, and waits until all are ready."""
    result = work()
    dist.barrier()
    return result


def together(work: Callable[[], Any]) -> Any:
    """The same; if the work of some ranks fails, every rank raises a RuntimeError that names them."""
    ### BEGIN SOLUTION
    result, error = None, None
    try:
        result = work()
    except Exception as caught:
        error = caught
    failed = torch.zeros(dist.get_world_size())
    failed[dist.get_rank()] = error is not None
    dist.all_reduce(failed)
    if failed.any():
        raise RuntimeError(f"failed on ranks {failed.nonzero()[:, 0].tolist()}") from error
    return result
    ### END SOLUTION
