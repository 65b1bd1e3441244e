from collections.abc import Callable

import torch


def score(logits: torch.Tensor, action: int) -> torch.Tensor:
    """Gradient of log softmax(logits)[action] with respect to the logits."""
    ### BEGIN SOLUTION
    out = -logits.softmax(0)
    out[action] += 1
    return out
    ### END SOLUTION


def exact_gradient(logits: torch.Tensor, rewards: torch.Tensor) -> torch.Tensor:
    """Gradient of the expected reward with respect to the logits."""
    ### BEGIN SOLUTION
    p = logits.softmax(0)
    return p * (rewards - (p * rewards).sum())
    ### END SOLUTION


def finite_difference(
    expected: Callable[[torch.Tensor], torch.Tensor], logits: torch.Tensor, step: float = 1e-5
) -> torch.Tensor:
    """Central differences of `expected` at `logits`, one component after another."""
    ### BEGIN SOLUTION
    moves = step * torch.eye(len(logits), dtype=logits.dtype)
    return torch.stack([(expected(logits + d) - expected(logits - d)) / (2 * step) for d in moves])
    ### END SOLUTION


def sampled_gradient(
    logits: torch.Tensor, actions: torch.Tensor, rewards: torch.Tensor, baseline: float = 0.0
) -> torch.Tensor:
    """Estimate of the gradient from actions that the policy drew, and the rewards that they got."""
    ### BEGIN SOLUTION
    scores = torch.eye(len(logits), dtype=logits.dtype)[actions] - logits.softmax(0)  # (batch, n)
    return ((rewards - baseline)[:, None] * scores).mean(0)
    ### END SOLUTION
