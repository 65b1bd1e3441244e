import torch
from torch import Tensor, nn


def fit(
    X: Tensor,
    y: Tensor,
    epochs: int,
    lr: float,
    clip: float | None = None,
) -> tuple[nn.Module, list[float]]:
    """The trained layer, and each epoch's loss before its update."""
    ### BEGIN SOLUTION
    model = nn.Linear(X.shape[1], y.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(X), y)
        loss.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(loss.item())
    return model, losses
    ### END SOLUTION


rate: float | None = None
### BEGIN SOLUTION
rate = 0.2  # 0.01, a usual first guess, leaves 100 epochs far above the noise
### END SOLUTION
