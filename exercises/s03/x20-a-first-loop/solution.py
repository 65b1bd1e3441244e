import torch
from torch import Tensor, nn


def train(model: nn.Module, x: Tensor, y: Tensor, epochs: int, lr: float, batch_size: int) -> list[float]:
    """Train in place; the loss of each batch before its update."""
    ### BEGIN SOLUTION
    model.train()
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for _ in range(epochs):
        for xb, yb in zip(x.split(batch_size), y.split(batch_size), strict=True):
            loss = loss_fn(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses
    ### END SOLUTION


def accuracy(model: nn.Module, x: Tensor, y: Tensor) -> float:
    """The fraction of rows that the model gets right."""
    ### BEGIN SOLUTION
    model.eval()
    with torch.no_grad():
        right = model(x).argmax(1) == y
    return right.float().mean().item()
    ### END SOLUTION
