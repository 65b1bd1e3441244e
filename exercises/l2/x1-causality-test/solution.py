import torch
from torch import nn


@torch.no_grad()
def influence(model: nn.Module, ids: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """(T, T): how far output t (row) moves when token s (column) of ids (1, T) becomes another one."""
    ### BEGIN SOLUTION
    was_training = model.training
    model.eval()
    length = ids.shape[1]
    before = model(ids)
    moved = torch.zeros(length, length)
    for s in range(length):
        changed = ids.clone()
        changed[0, s] = (changed[0, s] + 1) % vocab_size
        moved[:, s] = (model(changed) - before)[0].abs().amax(dim=-1)
    model.train(was_training)
    return moved
    ### END SOLUTION


def first_leak(model: nn.Module, ids: torch.Tensor, vocab_size: int, tolerance: float = 1e-5) -> tuple[int, int] | None:
    """The smallest t, and for it the smallest s > t, whose change moves output t; None if there is none."""
    ### BEGIN SOLUTION
    leaks = (influence(model, ids, vocab_size).triu(1) > tolerance).nonzero()
    return tuple(leaks[0].tolist()) if len(leaks) else None
    ### END SOLUTION
