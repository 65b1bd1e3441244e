import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

IGNORE = -100


def collate(
    rows: Sequence[Sequence[int]], end: int, max_length: int | None = None, side: str = "right"
) -> tuple[Tensor, Tensor, Tensor]:
    """ids, mask and labels, each (B, T), of lists of token ids."""
    ### BEGIN SOLUTION
    kept = [list(row)[:max_length] for row in rows]
    width = max(len(row) for row in kept)
    ids = torch.full((len(kept), width), end)
    mask = torch.zeros(len(kept), width, dtype=torch.bool)
    labels = torch.full((len(kept), width), IGNORE)
    for b, row in enumerate(kept):
        start = 0 if side == "right" else width - len(row)
        stop = start + len(row)
        ids[b, start:stop] = torch.tensor(row)
        mask[b, start:stop] = True
        labels[b, start + 1 : stop] = ids[b, start + 1 : stop]
    return ids, mask, labels
    ### END SOLUTION


def positions(mask: Tensor) -> Tensor:
    """Number of each token within its text, (B, T); 0 at padding."""
    ### BEGIN SOLUTION
    return (mask.long().cumsum(1) - 1) * mask
    ### END SOLUTION


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """Causal attention (B, T, D) that never looks at padding; zeros where nothing can be seen."""
    ### BEGIN SOLUTION
    size = q.shape[1]
    triangle = torch.ones(size, size, dtype=torch.bool, device=q.device).tril()
    seen = triangle & mask[:, None, :]  # (B, T, T)
    itself = torch.eye(size, dtype=torch.bool, device=q.device)
    scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
    mixed = scores.masked_fill(~(seen | itself), -math.inf).softmax(-1) @ v
    return mixed.masked_fill(~seen.any(-1, keepdim=True), 0.0)
    ### END SOLUTION


def next_token_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy of the next tokens, over all targets of the batch."""
    ### BEGIN SOLUTION
    wanted = labels[:, 1:].flatten()
    total = F.cross_entropy(logits[:, :-1].flatten(0, 1), wanted, ignore_index=IGNORE, reduction="sum")
    return total / (wanted != IGNORE).sum().clamp(min=1)
    ### END SOLUTION
