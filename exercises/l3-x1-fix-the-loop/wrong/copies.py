# test_next_token: shifts nothing, and hides the own position instead
import math

import torch
from torch import nn
from torch.nn import functional as F

PAD = 0


class Block(nn.Module):
    """A transformer block, (B, T, width) to (B, T, width)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.norm1(x)
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        x = x + self.attention(h, h, h, attn_mask=future, need_weights=False)[0]
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Model(nn.Module):
    """Ids (B, T) to logits (B, T, vocab)."""

    def __init__(self, vocab: int, width: int = 32, heads: int = 2, longest: int = 64) -> None:
        super().__init__()
        self.block = Block(width, heads)
        self.tokens, self.places = nn.Embedding(vocab, width), nn.Embedding(longest, width)
        self.head = nn.Linear(width, vocab)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        places = torch.arange(ids.shape[1], device=ids.device)
        return self.head(self.block(self.tokens(ids) + self.places(places)))


def loss_of(model: nn.Module, ids: torch.Tensor) -> torch.Tensor:
    """The mean surprise at the next token; ids (B, T) are padded with PAD on the right."""
    logits, targets = model(ids), ids
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)


def rate(step: int, steps: int, warmup: int) -> float:
    """The share of the peak learning rate at a step that is counted from 0."""
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(1, steps - warmup)
    return 0.1 + 0.45 * (1 + math.cos(math.pi * min(1.0, done)))


def update(model: nn.Module, optimizer: torch.optim.Optimizer, loss: torch.Tensor, clip: float = 1.0) -> float:
    """One step; returns the norm of the gradient before it was clipped."""
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), clip).item()
    optimizer.step()
    return norm


PEAK = 3e-3


def train(model: nn.Module, batches: list[dict], peak: float = PEAK, warmup: int = 10) -> list[float]:
    """The loss of each step, one for each batch; a batch holds "input_ids", (B, T) and padded."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak)
    losses = []
    model.train()
    device = next(model.parameters()).device
    for step, batch in enumerate(batches):
        ids = batch["input_ids"].to(device)
        for group in optimizer.param_groups:
            group["lr"] = peak * rate(step, len(batches), warmup)
        loss = loss_of(model, ids)
        update(model, optimizer, loss)
        losses.append(loss.item())
    return losses


def defects() -> set[str]:
    """The names of what is wrong, from the list of the exercise."""
    return {
        "no-embedding",
        "no-head",
        "no-mask",
        "not-shifted",
        "pads-counted",
        "rate-of-fine-tuning",
        "no-schedule",
        "no-clipping",
        "not-in-training-mode",
        "hard-coded-device",
    }
