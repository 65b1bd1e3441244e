"""Mixtures of experts: the layer that the page on them writes, the router of DeepSeek-V3 (2024), a training loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812


class SwiGLUExperts(nn.Module):
    """Several SwiGLU MLPs, one after another; a grouped product would compute them at once.

    Args:
        width: channels of a token.
        inner: hidden units of an expert.
        count: number of experts.
    """

    def __init__(self, width: int, inner: int, count: int) -> None:
        super().__init__()
        self.gate_up = nn.Parameter(torch.randn(count, 2 * inner, width) / width**0.5)
        self.down = nn.Parameter(torch.randn(count, width, inner) / inner**0.5)

    def mlp(self, e: int, x: Tensor) -> Tensor:
        """The answer of one expert, from (n, C) to (n, C)."""
        gate, up = (x @ self.gate_up[e].T).chunk(2, dim=-1)
        return (F.silu(gate) * up) @ self.down[e].T

    def forward(self, x: Tensor, weights: Tensor, chosen: Tensor) -> Tensor:
        """x (N, C), and for each token its weights and experts, both (N, k), to (N, C)."""
        out = torch.zeros_like(x)
        for e in range(len(self.down)):
            token, slot = (chosen == e).nonzero(as_tuple=True)
            out.index_add_(0, token, weights[token, slot, None] * self.mlp(e, x[token]))
        return out


class Mixture(nn.Module):
    """A router and its experts, in the place of an MLP.

    Args:
        router: gives weights and experts, both (N, k), of tokens (N, C).
        experts: give the outputs (N, C) of tokens, weights and experts.
    """

    def __init__(self, router: nn.Module, experts: nn.Module) -> None:
        super().__init__()
        self.router, self.experts = router, experts

    def forward(self, x: Tensor) -> Tensor:
        """(…, C) to (…, C)."""
        flat = x.flatten(0, -2)  # a router sees tokens, not sequences
        out: Tensor = self.experts(flat, *self.router(flat))
        return out.view_as(x)


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


def v3_router(config: Any) -> V3Router:
    """The router of one layer, with random weights and without biases.

    Args:
        config: a `DeepseekV3Config` of transformers.
    """
    experts, k = config.n_routed_experts, config.num_experts_per_tok
    factor = config.routed_scaling_factor
    return V3Router(config.hidden_size, experts, k, groups=config.n_group, kept=config.topk_group, factor=factor)


def learn(
    model: nn.Module,
    draw: Callable[[int], tuple[Tensor, ...]],
    *,
    seed: int,
    extra: Callable[[nn.Module], Tensor] | None = None,
    after: Callable[[nn.Module], None] | None = None,
    steps: int = 400,
    batch: int = 256,
    lr: float = 5e-3,
) -> list[float]:
    """Train a network with Adam on the squared error; runs with one seed see the same tokens.

    Args:
        model: is changed in place.
        draw: gives that many tokens x, what is to be computed from them y, and whatever else, from torch's generator.
        seed: of torch's generator, set before the first step.
        extra: a second loss, computed from the model after it has seen the batch.
        after: is called with the model after each step of the optimizer.
        steps: number of updates.
        batch: tokens of an update.
        lr: learning rate.

    Returns:
        The squared error of each step, without the second loss.
    """
    torch.manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    errors = []
    for _ in range(steps):
        x, y, *_others = draw(batch)
        error = F.mse_loss(model(x), y)
        loss = error if extra is None else error + extra(model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if after is not None:
            after(model)
        errors.append(error.item())
    return errors
