import copy
from collections.abc import Callable

import torch
from torch import nn


@torch.no_grad()
def sample(model: nn.Module, batch: int, length: int) -> torch.Tensor:
    """Texts from the model, (batch, 1 + length): a start, then tokens until the end, then zeros."""
    x = torch.zeros(batch, 1, dtype=torch.long)
    running = torch.ones(batch, 1, dtype=torch.long)
    for _ in range(length):
        token = torch.multinomial(model(x)[:, -1].softmax(-1), 1) * running
        running = running * (token != 0)
        x = torch.cat([x, token], 1)
    return x


def token_log_probs(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Log-probability of each written token, (B, T - 1)."""
    ### BEGIN SOLUTION
    log_p = model(x[:, :-1]).log_softmax(-1)
    return log_p.gather(-1, x[:, 1:, None]).squeeze(-1)
    ### END SOLUTION


def written(x: torch.Tensor) -> torch.Tensor:
    """1 for each written token up to the first end, 0 after it, (B, T - 1)."""
    ### BEGIN SOLUTION
    ends = (x[:, 1:] == 0).long()
    return (ends.cumsum(1) - ends == 0).float()
    ### END SOLUTION


def rlhf_loss(
    log_p: torch.Tensor, ref_log_p: torch.Tensor, mask: torch.Tensor, reward: torch.Tensor, beta: float
) -> torch.Tensor:
    """Minus the mean over the texts of advantage times log-probability."""
    ### BEGIN SOLUTION
    gain = (reward - beta * ((log_p - ref_log_p) * mask).sum(1)).detach()  # (B,)
    advantage = gain - (gain.sum() - gain) / (len(gain) - 1)
    return -(advantage * (log_p * mask).sum(1)).mean()
    ### END SOLUTION


def train(
    model: nn.Module,
    reward_of: Callable[[torch.Tensor], torch.Tensor],
    beta: float,
    steps: int,
    batch: int,
    length: int,
    lr: float,
) -> nn.Module:
    """A copy of the model, trained on the reward, with the model itself as the reference."""
    ### BEGIN SOLUTION
    policy = copy.deepcopy(model)
    optimizer = torch.optim.Adam(policy.parameters(), lr=lr)
    for _ in range(steps):
        x = sample(policy, batch, length)
        with torch.no_grad():
            ref_log_p = token_log_probs(model, x)
        loss = rlhf_loss(token_log_probs(policy, x), ref_log_p, written(x), reward_of(x), beta)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return policy
    ### END SOLUTION
