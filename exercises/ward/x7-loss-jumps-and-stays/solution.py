import torch
from torch import nn


def make_items(n: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Items (n, 10), and the family that each belongs to, one of twelve."""
    g = torch.Generator().manual_seed(seed)
    family = torch.arange(n) % 12
    centres = torch.randn(12, 10, generator=g)
    return centres[family] + 0.4 * torch.randn(n, 10, generator=g), family


def draw_pairs(family: torch.Tensor, pairs: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Two indices each: half of the pairs at random, half of them from one family."""
    first = torch.randint(len(family), (pairs,))
    second = torch.randint(len(family), (pairs,))
    for i in range(pairs // 2):
        relatives = (family == family[first[i]]).nonzero().squeeze(1)
        second[i] = relatives[torch.randint(len(relatives), ())]
    return first, second


def distance(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Euclidean distance of the rows of `a` and `b`; 0 where they are the same."""
    squared = (a - b).square().sum(dim=1)
    ### BEGIN SOLUTION
    differ = squared > 0
    root = torch.where(differ, squared, 1.0).sqrt()  # of a number whose root has a derivative
    return torch.where(differ, root, 0.0)
    ### INSTEAD
    # return torch.where(squared > 0, squared.sqrt(), 0.0)
    ### END SOLUTION


def loss_of(a: torch.Tensor, b: torch.Tensor, alike: torch.Tensor) -> torch.Tensor:
    """Contrastive loss: a family is drawn together, others are kept 1 apart."""
    d = distance(a, b)
    return torch.where(alike, d.square(), (1 - d).clamp(min=0).square()).mean()


def train(steps: int = 120, lr: float = 0.5, seed: int = 0) -> tuple[nn.Module, list[float]]:
    """A trained embedding, and the loss of each step."""
    items, family = make_items(6000, seed)
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        i, j = draw_pairs(family, pairs=24)
        loss = loss_of(model(items[i]), model(items[j]), family[i] == family[j])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


def diagnosis() -> str:
    """The disease, by its name in `torchbook.practice.ward.DISEASES`."""
    ### BEGIN SOLUTION
    return "gradient-of-where"
    ### END SOLUTION


if __name__ == "__main__":
    for lr in (0.5, 0.05):
        model, losses = train(lr=lr)
        shown = ", ".join(f"{loss:.2f}" for loss in losses[::10])
        print(f"lr {lr}: {shown}")
