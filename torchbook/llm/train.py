"""The training loop of the chapter "Pre-training a small GPT", for chapters that only need its result."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from torchbook.llm.model import GPT


@dataclass(frozen=True)
class Characters:
    """A codec that gives each different character of a text a number."""

    alphabet: str
    """The characters, sorted; the number of one is its place."""

    def encode(self, text: str) -> Tensor:
        """The characters' numbers: (len(text),) int64; `KeyError` for a character that is not in the alphabet."""
        place = {character: number for number, character in enumerate(self.alphabet)}
        return torch.tensor([place[character] for character in text], dtype=torch.int64)

    def decode(self, ids: Tensor) -> str:
        """The text of numbers (N,)."""
        return "".join(self.alphabet[number] for number in ids.tolist())


def characters(text: str) -> Characters:
    """The codec of all characters that occur in a text."""
    return Characters("".join(sorted(set(text))))


def windows(ids: Tensor, length: int, batch: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Random windows of a text and the tokens that follow: inputs and targets, (batch, length) int64 each.

    Args:
        ids: (N,) int64, N > length.
        length: tokens of a window.
        batch: number of windows, drawn with replacement.
        generator: draws the starts, on the CPU.

    Raises:
        ValueError: the text is not longer than a window.
    """
    if len(ids) <= length:
        raise ValueError(f"windows of {length} tokens and their targets need more than {len(ids)} tokens")
    starts = torch.randint(len(ids) - length, (batch,), generator=generator)
    rows = ids[starts[:, None] + torch.arange(length + 1)]
    return rows[:, :-1], rows[:, 1:]


def pretrain(
    model: GPT,
    ids: Tensor,
    *,
    steps: int,
    batch: int = 32,
    lr: float = 3e-3,
    warmup: int | None = None,
    length: int | None = None,
    weight_decay: float = 0.1,
    seed: int = 0,
) -> list[float]:
    """Train a model on random windows of a text: AdamW, linear warm-up, cosine down to a tenth, clipping at 1.

    Args:
        model: is changed in place, and left in evaluation mode.
        ids: (N,) int64 on the CPU.
        steps: number of updates.
        batch: windows an update.
        lr: the highest learning rate.
        warmup: updates until the highest rate; None for a twentieth of `steps`.
        length: tokens of a window; None for the model's context.
        weight_decay: of AdamW, on matrices only.
        seed: of the windows.

    Returns:
        The mean loss of each step, in nats per token.
    """
    device = next(model.parameters()).device
    length = model.config.context if length is None else length
    warmup = max(1, steps // 20) if warmup is None else warmup
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(_groups(model, weight_decay), lr=lr, betas=(0.9, 0.95))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, steps, warmup))
    losses = []
    model.train()
    for _ in range(steps):
        inputs, targets = (each.to(device) for each in windows(ids, length, batch, generator))
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.detach())
    model.eval()
    return torch.stack(losses).tolist() if losses else []


def _groups(model: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    matrices = [p for p in model.parameters() if p.requires_grad and p.dim() >= 2]
    rest = [p for p in model.parameters() if p.requires_grad and p.dim() < 2]
    return [{"params": matrices, "weight_decay": weight_decay}, {"params": rest, "weight_decay": 0.0}]


def _rate(step: int, steps: int, warmup: int) -> float:
    """The share of the highest learning rate at a step that is counted from 0."""
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(1, steps - warmup)
    return 0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))


@torch.inference_mode()
def evaluate(model: GPT, ids: Tensor, *, batch: int = 32, most: int = 8, length: int | None = None) -> float:
    """The mean loss in nats per token over consecutive windows of a text, at most `most` batches, evenly spread.

    Args:
        model: evaluated in evaluation mode, and put back into the mode it was in.
        ids: (N,) int64 on the CPU, N > length.
        batch: windows a batch.
        most: batches at most.
        length: tokens of a window; None for the model's context.

    Raises:
        ValueError: the text is not longer than a window.
    """
    length = model.config.context if length is None else length
    starts = torch.arange(0, len(ids) - length, length)
    if not len(starts):
        raise ValueError(f"windows of {length} tokens and their targets need more than {len(ids)} tokens")
    starts = starts[torch.linspace(0, len(starts) - 1, min(len(starts), batch * most)).long()]
    device, training = next(model.parameters()).device, model.training
    model.eval()
    total = 0.0
    for rows in _batches(ids, starts, length, batch):
        inputs, targets = rows[:, :-1].to(device), rows[:, 1:].to(device)
        total += F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), reduction="sum").item()
    model.train(training)
    return total / (len(starts) * length)


def _batches(ids: Tensor, starts: Tensor, length: int, batch: int) -> Iterator[Tensor]:
    for some in starts.split(batch):
        yield ids[some[:, None] + torch.arange(length + 1)]
