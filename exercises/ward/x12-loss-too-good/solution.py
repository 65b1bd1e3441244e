import math

import torch
from torch import nn
from torch.nn import functional as F

SYMBOLS = 8  # after symbol s comes 3 s + 1, or, less often, 3 s + 2, both modulo 8
ENTROPY = -0.7 * math.log(0.7) - 0.3 * math.log(0.3)  # of the next symbol, when the present one is known


def sequences(count: int, length: int) -> torch.Tensor:
    """Sequences of the language, (count, length)."""
    columns = [torch.randint(SYMBOLS, (count,))]
    for _ in range(length - 1):
        rare = (torch.rand(count) < 0.3).long()
        columns.append((3 * columns[-1] + 1 + rare) % SYMBOLS)
    return torch.stack(columns, 1)


class Model(nn.Module):
    """A transformer of one layer: at each position, logits for the next symbol."""

    def __init__(self, width: int = 32, longest: int = 32) -> None:
        super().__init__()
        self.embed, self.place = nn.Embedding(SYMBOLS, width), nn.Embedding(longest, width)
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 64), nn.GELU(), nn.Linear(64, SYMBOLS))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:  # (B, T) -> (B, T, SYMBOLS)
        length = tokens.shape[1]
        x = self.embed(tokens) + self.place.weight[:length]
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        seen = torch.arange(1, length + 1)  # position t sees t + 1 symbols: those before it, and itself
        ### BEGIN SOLUTION
        visible = torch.arange(length) < seen[:, None]  # (T, T)
        ### INSTEAD
        # visible = torch.arange(length) <= seen[:, None]  # (T, T)
        ### END SOLUTION
        scores = (q @ k.transpose(1, 2) / q.shape[-1] ** 0.5).masked_fill(~visible, -torch.inf)
        return self.head(x + self.out(scores.softmax(-1) @ v))


def train(steps: int = 150, seed: int = 0) -> tuple[Model, float]:
    """A trained model, and the mean loss of its last ten steps."""
    torch.manual_seed(seed)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(steps):
        tokens = sequences(32, 17)
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, sum(losses[-10:]) / 10


@torch.no_grad()
def generate(model: Model, tokens: torch.Tensor, count: int) -> torch.Tensor:
    """The tokens, (B, T), and `count` more, each drawn from what the model predicts."""
    for _ in range(count):
        chances = model(tokens)[:, -1].softmax(-1)
        tokens = torch.cat([tokens, chances.multinomial(1)], 1)
    return tokens


def allowed(tokens: torch.Tensor) -> float:
    """The share of the steps from one symbol to the next that the language allows."""
    rest = (tokens[:, 1:] - 3 * tokens[:, :-1] - 1) % SYMBOLS
    return (rest < 2).double().mean().item()


def diagnosis() -> str:
    """The disease, by its name in `torchbook.practice.ward.DISEASES`."""
    ### BEGIN SOLUTION
    return "mask-off-by-one"
    ### END SOLUTION


if __name__ == "__main__":
    model, loss = train()
    print(f"loss {loss:.2f}, entropy {ENTROPY:.2f}")
    print(f"allowed steps: {allowed(generate(model, sequences(64, 1), 16)):.0%}")
