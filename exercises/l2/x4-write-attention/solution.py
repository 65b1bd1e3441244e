import math

import torch
from torch.nn import functional as F


def attention(
    x: torch.Tensor,
    w_q: torch.Tensor,
    w_k: torch.Tensor,
    w_v: torch.Tensor,
    w_o: torch.Tensor,
    heads: int,
    real: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute causal attention of x (B, T, C); real (B, T) is True for tokens.

    Return the output (B, T, C) and the weights (B, H, T, T).
    """
    ### BEGIN SOLUTION
    q, k, v = (F.linear(x, w).unflatten(-1, (heads, -1)).transpose(1, 2) for w in (w_q, w_k, w_v))
    length = x.shape[1]
    visible = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
    if real is not None:
        visible = visible & real[:, None, None, :]  # (B, 1, T, T)
        empty = ~visible.any(dim=-1, keepdim=True)
        visible = visible | (empty & torch.eye(length, dtype=torch.bool, device=x.device))
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    weights = scores.masked_fill(~visible, -torch.inf).softmax(dim=-1)
    mixed = (weights @ v).transpose(1, 2).flatten(2)
    return F.linear(mixed, w_o), weights
    ### END SOLUTION
