import torch
from torch import nn
from torch.nn import functional as F


class TinyGPT(nn.Module):
    """Ids (B, T) to logits (B, T, vocab) of the token that follows."""

    def __init__(self, vocab: int, context: int = 16, width: int = 32, heads: int = 2) -> None:
        super().__init__()
        self.context, self.heads = context, heads
        ### BEGIN SOLUTION
        self.tokens, self.places = nn.Embedding(vocab, width), nn.Embedding(context, width)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.head = nn.Linear(width, vocab, bias=False)
        nn.init.normal_(self.head.weight, std=0.02)
        ### END SOLUTION

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        x = self.tokens(ids) + self.places.weight[: ids.shape[1]]
        q, k, v = self.qkv(self.norm1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        x = x + self.mlp(self.norm2(x))
        return self.head(self.norm3(x))
        ### END SOLUTION


def fit(model: nn.Module, ids: torch.Tensor) -> list[float]:
    """Train on all windows of a short text (N,) until the model knows it; returns the losses."""
    ### BEGIN SOLUTION
    rows = ids.unfold(0, model.context + 1, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    model.train()
    for _ in range(80):
        loss = F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses
    ### END SOLUTION


def sample(
    model: nn.Module,
    ids: torch.Tensor,
    count: int,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """The ids (T,) and `count` more, each drawn from what the model predicts; the most probable at temperature 0."""
    ### BEGIN SOLUTION
    mode = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits = model(ids[None, -model.context :])[0, -1]
            if temperature == 0:
                one = logits.argmax(keepdim=True)
            else:
                one = (logits / temperature).softmax(-1).multinomial(1, generator=generator)
            ids = torch.cat([ids, one])
    model.train(mode)
    return ids
    ### END SOLUTION
