import copy
import math
from collections.abc import Callable

from torch import nn


def fit(
    model: nn.Module,
    train_epoch: Callable[[nn.Module], None],
    judge: Callable[[nn.Module], float],
    epochs: int,
    patience: int,
) -> list[float]:
    """The validation losses; the model ends in its best epoch's state."""
    ### BEGIN SOLUTION
    losses: list[float] = []
    best, kept, since = math.inf, None, 0
    for _ in range(epochs):
        train_epoch(model)
        loss = judge(model)
        losses.append(loss)
        if loss < best:
            best, since = loss, 0
            kept = copy.deepcopy(model.state_dict())
        else:
            since += 1
            if since >= patience:
                break
    if kept is not None:
        model.load_state_dict(kept)
    return losses
    ### END SOLUTION
