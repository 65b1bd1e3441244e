from collections.abc import Callable, Sequence

import torch


def pack(lengths: Sequence[int], capacity: int) -> list[list[int]]:
    """Return rows of document indices, by best-fit decreasing."""
    ### BEGIN SOLUTION
    bins: list[list[int]] = []
    room: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        fitting = [b for b in range(len(bins)) if room[b] >= lengths[i]]
        if fitting:
            chosen = min(fitting, key=lambda b: room[b])
        else:
            chosen = len(bins)
            bins.append([])
            room.append(capacity)
        bins[chosen].append(i)
        room[chosen] -= lengths[i]
    return bins
    ### END SOLUTION


def layout(lengths: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return mask (T, T) and positions (T,) of one row that holds documents of these lengths."""
    ### BEGIN SOLUTION
    blocks = [torch.ones(n, n, dtype=torch.bool).tril() for n in lengths]
    return torch.block_diag(*blocks).bool(), torch.cat([torch.arange(n) for n in lengths])
    ### END SOLUTION


def labels(documents: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return labels (T,), not shifted, -100 where a token would be predicted across a border."""
    ### BEGIN SOLUTION
    parts = [d.clone() for d in documents]
    for part in parts:
        part[:1] = -100
    return torch.cat(parts)
    ### END SOLUTION


def leak(
    model: Callable[..., torch.Tensor],
    first: torch.Tensor,
    other: torch.Tensor,
    second: torch.Tensor,
    isolated: bool,
) -> float:
    """Return how much the logits of `second` depend on what comes before it."""
    ### BEGIN SOLUTION
    sizes = [len(first), len(second)] if isolated else [len(first) + len(second)]
    mask, positions = layout(sizes)
    with torch.no_grad():
        seen = [model(torch.cat([d, second])[None], mask, positions)[0, len(d) :] for d in (first, other)]
    return (seen[0] - seen[1]).abs().max().item()
    ### END SOLUTION
