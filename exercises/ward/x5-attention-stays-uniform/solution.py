import torch
from torch import nn
from torch.nn import functional as F

LENGTH, WIDTH = 8, 16


def make_data(n: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rows of tokens (n, 8, 16), a class each, and the place of the token that says it."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, LENGTH, WIDTH, generator=g)
    place = torch.randint(LENGTH, (n,), generator=g)
    y = torch.randint(2, (n,), generator=g)
    every = torch.arange(n)
    x[:, :, 1] *= 2
    x[every, place, 0] = 4.0  # by which the token can be told
    x[every, place, 1] = 2.0 * y - 1.0  # what it says
    return x, y, place


class Pooled(nn.Module):
    """Attention by one learnt query over all tokens, and a classifier on what it gathers."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.query = nn.Parameter(torch.zeros(WIDTH))
        self.out = nn.Linear(WIDTH, 2)

    def attention(self, x: torch.Tensor) -> torch.Tensor:
        """Weights of the tokens, which add up to 1: (n, 8)."""
        return (self.norm(self.embed(x)) @ self.query).softmax(dim=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gathered = self.attention(x).unsqueeze(1) @ self.norm(self.embed(x))  # (n, 1, 16)
        return self.out(gathered.squeeze(1))


def make_optimizer(model: nn.Module, lr: float = 0.02) -> torch.optim.Optimizer:
    """AdamW, which lets matrices decay and nothing else."""
    named = list(model.named_parameters())
    decay = [p for name, p in named if name.endswith("weight") and p.dim() > 1]
    ### BEGIN SOLUTION
    plain = [p for name, p in named if not (name.endswith("weight") and p.dim() > 1)]
    ### INSTEAD
    # plain = [p for name, p in named if name.endswith("bias")]
    ### END SOLUTION
    groups = [{"params": decay, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=lr)


def train(steps: int = 200, seed: int = 0) -> tuple[nn.Module, list[float]]:
    """A trained network, and the loss of each step."""
    x, y, _ = make_data(1024, seed)
    torch.manual_seed(seed)
    model = Pooled()
    optimizer = make_optimizer(model)
    losses = []
    for _ in range(steps):
        batch = torch.randint(len(y), (64,))
        loss = F.cross_entropy(model(x[batch]), y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


def diagnosis() -> str:
    """The disease, by its name in `torchbook.practice.ward.DISEASES`."""
    ### BEGIN SOLUTION
    return "parameters-left-out"
    ### END SOLUTION


if __name__ == "__main__":
    model, losses = train()
    x, y, place = make_data(1000, seed=1)
    with torch.no_grad():
        weights, right = model.attention(x), (model(x).argmax(1) == y).float().mean()
    on_it = weights[torch.arange(len(x)), place].mean()
    print(f"loss {losses[0]:.2f} -> {sum(losses[-20:]) / 20:.2f}, accuracy {right:.2f}")
    print(f"weight of the token that matters {on_it:.3f}, of one in eight {1 / LENGTH:.3f}")
