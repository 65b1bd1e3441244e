from collections.abc import Sequence

import torch
from torch.nn.utils.rnn import pad_sequence


def collate(
    samples: Sequence[tuple[Sequence[int] | torch.Tensor, int]], pad: int = 0
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Tokens (B, T), mask (B, T) and labels (B) of a list of samples (tokens, label)."""
    ### BEGIN SOLUTION
    rows = [torch.as_tensor(tokens, dtype=torch.int64) for tokens, _ in samples]
    lengths = torch.tensor([len(row) for row in rows])  # (B)
    tokens = pad_sequence(rows, batch_first=True, padding_value=pad)  # (B, T)
    mask = torch.arange(tokens.shape[1]) < lengths[:, None]  # (B, T)
    return tokens, mask, torch.tensor([int(label) for _, label in samples])
    ### END SOLUTION


def masked_mean(h: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Mean (B, D) over the positions of h (B, T, D) at which the mask (B, T) is True; zeros if there are none."""
    ### BEGIN SOLUTION
    total = h.masked_fill(~mask[..., None], 0).sum(1)  # (B, D)
    return total / mask.sum(1).clamp(min=1)[:, None]
    ### END SOLUTION


def within_budget(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Consecutive batches of indices, each of which has at most `budget` positions when padded."""
    ### BEGIN SOLUTION
    batches: list[list[int]] = []
    batch: list[int] = []
    longest = 0
    for i, length in enumerate(lengths):
        if batch and (len(batch) + 1) * max(longest, length) > budget:
            batches.append(batch)
            batch, longest = [], 0
        batch.append(i)
        longest = max(longest, length)
    if batch:
        batches.append(batch)
    return batches
    ### END SOLUTION
