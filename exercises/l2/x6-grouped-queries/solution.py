import math

import torch


def grouped_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
) -> torch.Tensor:
    """Compute causal attention of q (B, H, T, D), the last T of S tokens.

    Keys and values are (B, G, S, D) and are not repeated. Return
    (B, H, T, D).
    """
    ### BEGIN SOLUTION
    new, keys = q.shape[2], k.shape[2]
    q = q.unflatten(1, (k.shape[1], -1))  # (B, G, R, T, D)
    scores = torch.einsum("bgrtd,bgsd->bgrts", q, k) / math.sqrt(q.shape[-1])
    visible = torch.ones(new, keys, dtype=torch.bool, device=q.device).tril(keys - new)
    weights = scores.masked_fill(~visible, -torch.inf).softmax(dim=-1)
    return torch.einsum("bgrts,bgsd->bgrtd", weights, v).flatten(1, 2)
    ### END SOLUTION


def grouped_weight(
    weight: torch.Tensor,
    heads: int,
    kv_heads: int,
) -> torch.Tensor:
    """Average neighbouring heads of a weight (H·D, C) or bias (H·D,)."""
    ### BEGIN SOLUTION
    groups = weight.unflatten(0, (kv_heads, heads // kv_heads, -1))  # (G, R, D, C)
    return groups.mean(dim=1).flatten(0, 1)
    ### END SOLUTION
