import torch
from torch.nn import functional as F

Params = dict[str, torch.Tensor]


def loss_and_gradients(
    params: Params,
    x: torch.Tensor,
    y: torch.Tensor,
) -> tuple[torch.Tensor, Params]:
    """Return the loss on a batch, and the gradient of each parameter.

    Autograd is not used.
    """
    ### BEGIN SOLUTION
    with torch.no_grad():
        before = x @ params["w1"] + params["b1"]  # (B, H)
        h = before.relu()
        log_p = F.log_softmax(h @ params["w2"] + params["b2"], dim=1)  # (B, C)
        loss = -log_p[torch.arange(len(y)), y].mean()

        dz = (log_p.exp() - F.one_hot(y, log_p.shape[1])) / len(y)  # (B, C)
        dh = dz @ params["w2"].T * (before > 0)  # (B, H)
        gradients = {"w1": x.T @ dh, "b1": dh.sum(0), "w2": h.T @ dz, "b2": dz.sum(0)}
    return loss, gradients
    ### END SOLUTION


def train(
    params: Params,
    x: torch.Tensor,
    y: torch.Tensor,
    steps: int,
    lr: float,
) -> tuple[Params, list[float]]:
    """Train by gradient descent.

    Return the new parameters, and the loss before each step.
    """
    ### BEGIN SOLUTION
    losses = []
    for _ in range(steps):
        loss, gradients = loss_and_gradients(params, x, y)
        params = {name: p - lr * gradients[name] for name, p in params.items()}
        losses.append(loss.item())
    return params, losses
    ### END SOLUTION
