import torch
from torch import nn


@torch.no_grad()
def influence(model: nn.Module, ids: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """Return (T, T): how far output t (row) moves when token s (column) of ids (1, T) is replaced."""
    ### BEGIN SOLUTION
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        return _table(model, ids, vocab_size)
    finally:
        for module, training in modes:
            module.training = training


def _table(model: nn.Module, ids: torch.Tensor, vocab_size: int) -> torch.Tensor:
    length = ids.shape[1]
    before = model(ids)[0]  # (T, V)
    moved = torch.zeros(length, length, device=ids.device)
    for s in range(length):
        changed = ids.clone()
        changed[0, s] = (changed[0, s] + 1) % vocab_size
        after = model(changed)[0]
        gap = (after - before).abs().masked_fill(after == before, 0.0)  # -inf in both has not moved
        moved[:, s] = gap.amax(dim=-1)
    return moved.masked_fill(moved.isnan(), torch.inf)
    ### END SOLUTION


def first_leak(model: nn.Module, ids: torch.Tensor, vocab_size: int, tolerance: float = 1e-5) -> tuple[int, int] | None:
    """Return the first (t, s), with s > t, for which token s moves output t; None if there is no such pair."""
    ### BEGIN SOLUTION
    leaks = (influence(model, ids, vocab_size).triu(1) > tolerance).nonzero()
    return tuple(leaks[0].tolist()) if len(leaks) else None
    ### END SOLUTION
