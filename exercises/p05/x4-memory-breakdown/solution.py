from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    """A transformer block, (B, T, D) to (B, T, D)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = self.qkv(self.norm1(x)).unflatten(-1, (3, self.heads, -1))
        q, k, v = heads.permute(2, 0, 3, 1, 4)  # each (B, H, T, D / H)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def predict(layers: int, width: int, heads: int, batch: int, length: int, optimizer: str) -> dict[str, int]:
    """Bytes of parameters, gradients, state and activations, by arithmetic."""
    ### BEGIN SOLUTION
    parameters = 4 * layers * (12 * width**2 + 13 * width)
    state = {"sgd": 0, "momentum": parameters, "adamw": 2 * parameters + 4 * 12 * layers}
    activations = 4 * layers * batch * length * (16 * width + 4 + heads)
    return {
        "parameters": parameters,
        "gradients": parameters,
        "state": state[optimizer],
        "activations": activations,
    }
    ### END SOLUTION


def measure(model: nn.Module, optimizer: torch.optim.Optimizer, loss: Callable[[], torch.Tensor]) -> dict[str, int]:
    """Bytes of the same four, of one training step."""
    ### BEGIN SOLUTION
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    saved: dict[int, tuple[int, torch.Tensor]] = {}

    def pack(t: torch.Tensor) -> torch.Tensor:
        storage = t.untyped_storage()
        if storage.data_ptr() not in own:
            saved[storage.data_ptr()] = storage.nbytes(), t  # kept alive, so that no address is used again
        return t

    model.zero_grad()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        value = loss()
    activations = sum(size for size, _ in saved.values())
    saved.clear()
    value.backward()
    gradients = sum(p.grad.nbytes for p in model.parameters() if p.grad is not None)
    optimizer.step()
    kept = [t for of in optimizer.state.values() for t in of.values() if isinstance(t, torch.Tensor)]
    model.zero_grad()
    return {
        "parameters": sum(p.nbytes for p in model.parameters()),
        "gradients": gradients,
        "state": sum(t.nbytes for t in kept),
        "activations": activations,
    }
    ### END SOLUTION


def peak(breakdown: dict[str, int]) -> int:
    """The largest number of bytes that exist at one time."""
    ### BEGIN SOLUTION
    always = breakdown["parameters"] + breakdown["state"]
    return always + max(breakdown["activations"], breakdown["gradients"])
    ### END SOLUTION


def largest_batch(memory: int, layers: int, width: int, heads: int, length: int, optimizer: str) -> int:
    """The largest batch whose predicted peak fits into this many bytes."""
    ### BEGIN SOLUTION
    one = predict(layers, width, heads, 1, length, optimizer)
    if peak(one) > memory:
        return 0
    return int((memory - one["parameters"] - one["state"]) // one["activations"])
    ### END SOLUTION
