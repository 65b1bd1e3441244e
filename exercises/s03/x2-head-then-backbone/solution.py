import copy

import torch
from torch import nn
from torch.nn import functional as F


def with_new_head(model: nn.Module, num_classes: int) -> nn.Module:
    """A copy with a frozen backbone and a new head."""
    ### BEGIN SOLUTION
    model = copy.deepcopy(model)
    model.requires_grad_(False)
    old = model.head
    model.head = nn.Linear(old.in_features, num_classes).to(old.weight)
    return model
    ### END SOLUTION


def train(model: nn.Module, x: torch.Tensor, y: torch.Tensor, steps: int, lr: float) -> list[float]:
    """Steps of Adam on the whole batch, for what requires a gradient; the losses before each."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=lr)
    model.train()
    model.backbone.eval()
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
    ### END SOLUTION


def two_phases(
    model: nn.Module, num_classes: int, x: torch.Tensor, y: torch.Tensor, steps: int, lr: float, ratio: float
) -> tuple[nn.Module, list[float]]:
    """The head with `lr`, then everything with `lr / ratio`."""
    ### BEGIN SOLUTION
    model = with_new_head(model, num_classes)
    losses = train(model, x, y, steps, lr)
    model.backbone.requires_grad_(True)
    losses += train(model, x, y, steps, lr / ratio)
    return model.eval(), losses
    ### END SOLUTION
