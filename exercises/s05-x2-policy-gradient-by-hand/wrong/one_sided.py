# test_finite_needs_both_sides: takes a difference to one side
from collections.abc import Callable

import torch


def score(logits: torch.Tensor, action: int) -> torch.Tensor:
    """Gradient of log softmax(logits)[action] with respect to the logits."""
    out = -logits.softmax(0)
    out[action] += 1
    return out


def exact_gradient(logits: torch.Tensor, rewards: torch.Tensor) -> torch.Tensor:
    """Gradient of the expected reward with respect to the logits."""
    p = logits.softmax(0)
    return p * (rewards - (p * rewards).sum())


def finite_difference(
    expected: Callable[[torch.Tensor], torch.Tensor], logits: torch.Tensor, step: float = 1e-5
) -> torch.Tensor:
    """Central differences of `expected` at `logits`, one component after another."""
    moves = step * torch.eye(len(logits), dtype=logits.dtype)
    return torch.stack([(expected(logits + d) - expected(logits)) / step for d in moves])


def sampled_gradient(
    logits: torch.Tensor, actions: torch.Tensor, rewards: torch.Tensor, baseline: float = 0.0
) -> torch.Tensor:
    """Estimate of the gradient from actions that the policy drew, and the rewards that they got."""
    scores = torch.eye(len(logits), dtype=logits.dtype)[actions] - logits.softmax(0)  # (batch, n)
    return ((rewards - baseline)[:, None] * scores).mean(0)
