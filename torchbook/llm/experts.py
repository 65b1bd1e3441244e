"""The router of DeepSeek-V3 (DeepSeek-AI 2024), which the page on experts follows step by step for one token."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812


class V3Router(nn.Module):
    """Sigmoid scores, the best groups by score plus bias, the best experts in them; weights without the bias.

    Args:
        width: channels of a token.
        experts: number of experts, a multiple of `groups`, at least 2 in a group.
        k: experts of a token.
        groups: number of groups; neighbouring experts are a group.
        kept: groups that a token's experts may come from, with at least k experts together.
        factor: sum of a token's weights.
    """

    def __init__(self, width: int, experts: int, k: int, *, groups: int, kept: int, factor: float = 2.5) -> None:
        super().__init__()
        self.k, self.groups, self.kept, self.factor = k, groups, kept, factor
        self.weight = nn.Parameter(0.02 * torch.randn(experts, width))
        self.bias: Tensor
        self.register_buffer("bias", torch.zeros(experts))

    def choose(self, scores: Tensor) -> Tensor:
        """The chosen experts: (N, E) to (N, k) int64."""
        choice = (scores + self.bias).unflatten(-1, (self.groups, -1))
        of_group = choice.topk(2, dim=-1).values.sum(-1)  # (N, groups)
        kept = of_group.topk(self.kept, dim=-1).indices
        ruled_out = torch.ones_like(of_group).scatter(1, kept, 0.0).bool()
        choice = choice.masked_fill(ruled_out[..., None], -torch.inf)
        return choice.flatten(1).topk(self.k, dim=-1).indices

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x (N, C) to weights and experts, both (N, k)."""
        scores = F.linear(x, self.weight).sigmoid()
        experts = self.choose(scores)
        weights = scores.gather(1, experts)
        return self.factor * weights / weights.sum(-1, keepdim=True), experts
