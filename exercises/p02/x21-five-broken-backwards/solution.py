from collections.abc import Iterable

import torch
from torch import nn
from torch.nn import functional as F

CAUSES = (
    "PyTorch does not record where a gradient is wanted",
    "PyTorch records where no gradient is wanted",
    "a leaf is edited while PyTorch records",
    "a saved tensor is edited",
    "an earlier graph is used again",
)


def causes() -> dict[str, str]:
    """Return the entry of CAUSES for each of the five names."""
    ### BEGIN SOLUTION
    names = ("tune", "evaluate", "descend", "softened", "in_chunks")
    return dict(zip(names, CAUSES, strict=True))
    ### END SOLUTION


def softened(x: torch.Tensor) -> torch.Tensor:
    """Return exp(x) divided by its sum."""
    y = x.exp()
    ### BEGIN SOLUTION
    return y / y.sum()
    ### INSTEAD
    # y /= y.sum()
    # return y
    ### END SOLUTION


def descend(
    weight: torch.Tensor,
    x: torch.Tensor,
    y: torch.Tensor,
    lr: float,
) -> float:
    """Take one step of gradient descent in place.

    Return the loss before the step.
    """
    loss = F.mse_loss(x @ weight, y)
    loss.backward()
    ### BEGIN SOLUTION
    with torch.no_grad():
        weight -= lr * weight.grad
    weight.grad = None
    return loss.item()
    ### INSTEAD
    # weight -= lr * weight.grad
    # return loss
    ### END SOLUTION


def in_chunks(
    cell: nn.RNNCell,
    chunks: Iterable[torch.Tensor],
    h: torch.Tensor,
) -> torch.Tensor:
    """Run a backward pass for each chunk, of shape (T, B, D).

    Each pass stays inside its chunk. Return the last state, without
    history.
    """
    for chunk in chunks:
        ### BEGIN SOLUTION
        h = h.detach()
        ### INSTEAD
        #
        ### END SOLUTION
        for x in chunk:
            h = cell(x, h)
        h.square().mean().backward()
    ### BEGIN SOLUTION
    return h.detach()
    ### INSTEAD
    # return h
    ### END SOLUTION


def evaluate(
    model: nn.Module,
    batches: Iterable[tuple[torch.Tensor, torch.Tensor]],
) -> float:
    """Return the mean loss of all batches, without building a graph."""
    total, count = 0.0, 0
    ### BEGIN SOLUTION
    with torch.no_grad():
        for x, y in batches:
            total += F.mse_loss(model(x), y).item()
            count += 1
    return total / count
    ### INSTEAD
    # for x, y in batches:
    #     total += F.mse_loss(model(x), y)
    #     count += 1
    # return total / count
    ### END SOLUTION


def tune(
    prompt: torch.Tensor,
    backbone: nn.Module,
    x: torch.Tensor,
) -> torch.Tensor:
    """Return the mean square of backbone(x + prompt).

    Only the prompt learns.
    """
    ### BEGIN SOLUTION
    backbone.requires_grad_(False)
    out = backbone(x + prompt)
    ### INSTEAD
    # with torch.no_grad():
    #     out = backbone(x + prompt)
    ### END SOLUTION
    return out.square().mean()
