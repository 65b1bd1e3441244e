import copy
import math

import torch
from torch import nn


class Adapter(nn.Module):
    """A frozen linear layer plus a trainable product of rank r."""

    def __init__(self, linear: nn.Linear, r: int, alpha: float):
        super().__init__()
        ### BEGIN SOLUTION
        self.frozen = linear.requires_grad_(False)
        self.factor = alpha / r
        self.A = nn.Parameter(linear.weight.new_empty(r, linear.in_features))
        self.B = nn.Parameter(linear.weight.new_zeros(linear.out_features, r))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        return self.frozen(x) + self.factor * nn.functional.linear(nn.functional.linear(x, self.A), self.B)
        ### END SOLUTION


def add(model: nn.Module, names: list[str], r: int, alpha: float) -> nn.Module:
    """Freeze the model, and put an adapter around each linear layer with one of these names."""
    ### BEGIN SOLUTION
    model.requires_grad_(False)
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear) and name in names:
                setattr(parent, name, Adapter(child, r, alpha))
    return model
    ### END SOLUTION


def merge(model: nn.Module) -> nn.Module:
    """Return a new model whose linear layers contain what the adapters learned."""
    ### BEGIN SOLUTION
    return _without(model, keep=True)
    ### END SOLUTION


def strip(model: nn.Module) -> nn.Module:
    """Return a new model as it was before the adapters learned."""
    ### BEGIN SOLUTION
    return _without(model, keep=False)


def _without(model: nn.Module, keep: bool) -> nn.Module:
    twin = copy.deepcopy(model)
    for parent in list(twin.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, Adapter):
                if keep:
                    child.frozen.weight.data.addmm_(child.B.data, child.A.data, alpha=child.factor)
                setattr(parent, name, child.frozen)
    return twin
    ### END SOLUTION
