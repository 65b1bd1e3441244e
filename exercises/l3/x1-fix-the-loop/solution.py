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
        ### BEGIN SOLUTION
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        x = x + self.attention(h, h, h, attn_mask=future, need_weights=False)[0]
        ### INSTEAD
        # x = x + self.attention(h, h, h, need_weights=False)[0]
        ### END SOLUTION
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Model(nn.Module):
    """Ids (B, T) to logits (B, T, vocab)."""

    def __init__(self, vocab: int, width: int = 32, heads: int = 2, longest: int = 64) -> None:
        super().__init__()
        self.block = Block(width, heads)
        ### BEGIN SOLUTION
        self.tokens, self.places = nn.Embedding(vocab, width), nn.Embedding(longest, width)
        self.head = nn.Linear(width, vocab)
        ### INSTEAD
        ### END SOLUTION

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        places = torch.arange(ids.shape[1], device=ids.device)
        return self.head(self.block(self.tokens(ids) + self.places(places)))
        ### INSTEAD
        # return self.block(ids)
        ### END SOLUTION


def loss_of(model: nn.Module, ids: torch.Tensor) -> torch.Tensor:
    """The mean surprise at the next token; ids (B, T) are padded with PAD on the right."""
    ### BEGIN SOLUTION
    logits, targets = model(ids[:, :-1]), ids[:, 1:]
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)
    ### INSTEAD
    # outputs = model(ids)
    # return F.cross_entropy(outputs.view(-1, outputs.size(-1)), ids.view(-1))
    ### END SOLUTION


def rate(step: int, steps: int, warmup: int) -> float:
    """The share of the peak learning rate at a step that is counted from 0."""
    ### BEGIN SOLUTION
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(1, steps - warmup)
    return 0.1 + 0.45 * (1 + math.cos(math.pi * min(1.0, done)))
    ### INSTEAD
    # return 1.0
    ### END SOLUTION


def update(model: nn.Module, optimizer: torch.optim.Optimizer, loss: torch.Tensor, clip: float = 1.0) -> float:
    """One step; returns the norm of the gradient before it was clipped."""
    optimizer.zero_grad()
    loss.backward()
    ### BEGIN SOLUTION
    norm = nn.utils.clip_grad_norm_(model.parameters(), clip).item()
    ### INSTEAD
    # norm = float(clip)
    ### END SOLUTION
    optimizer.step()
    return norm


### BEGIN SOLUTION
PEAK = 3e-3
### INSTEAD
# PEAK = 5e-5
### END SOLUTION


def train(model: nn.Module, batches: list[dict], peak: float = PEAK, warmup: int = 10) -> list[float]:
    """The loss of each step, one for each batch; a batch holds "input_ids", (B, T) and padded."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak)
    losses = []
    ### BEGIN SOLUTION
    model.train()
    device = next(model.parameters()).device
    ### INSTEAD
    ### END SOLUTION
    for step, batch in enumerate(batches):
        ### BEGIN SOLUTION
        ids = batch["input_ids"].to(device)
        ### INSTEAD
        # ids = batch["input_ids"].to("cuda")
        ### END SOLUTION
        for group in optimizer.param_groups:
            group["lr"] = peak * rate(step, len(batches), warmup)
        loss = loss_of(model, ids)
        update(model, optimizer, loss)
        losses.append(loss.item())
    return losses


def defects() -> set[str]:
    """The names of what is wrong, from the list of the exercise."""
    ### BEGIN SOLUTION
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
    ### END SOLUTION
