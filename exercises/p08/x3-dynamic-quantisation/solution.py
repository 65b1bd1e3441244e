import copy
from collections.abc import Collection

import torch
from torch import nn
from torch.nn import functional as F


def quantise_rows(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Codes (N, K) int8 and scales (N, 1) of a tensor (N, K)."""
    ### BEGIN SOLUTION
    scales = (x.abs().amax(1, keepdim=True) / 127).clamp(min=torch.finfo(torch.float32).tiny)
    return (x / scales).round().clamp(-127, 127).to(torch.int8), scales
    ### END SOLUTION


class Int8Linear(nn.Module):
    """A linear layer with weights in int8, which quantises its input row by row."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        codes, scales = quantise_rows(linear.weight.detach())
        self.register_buffer("codes", codes)  # (out, K)
        self.register_buffer("scales", scales.squeeze(1))  # (out,)
        self.register_buffer("bias", None if linear.bias is None else linear.bias.detach().clone())
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        codes, scales = quantise_rows(x.flatten(0, -2) if x.dim() > 1 else x[None])
        sums = torch._int_mm(codes, self.codes.T)  # (N, out) int32
        y = sums * scales * self.scales
        y = y if self.bias is None else y + self.bias
        return y.view(*x.shape[:-1], -1)
        ### END SOLUTION


def quantised(model: nn.Module, keep: Collection[str] = ()) -> nn.Module:
    """A copy whose linear layers, but for those in `keep`, are Int8Linear."""
    ### BEGIN SOLUTION
    small = copy.deepcopy(model)
    made: dict[nn.Module, Int8Linear] = {}  # a module with two names is one here, too
    for name, module in model.named_modules(remove_duplicate=False):
        if type(module) is nn.Linear and name not in keep:
            parent, _, last = name.rpartition(".")
            setattr(small.get_submodule(parent), last, made.setdefault(module, Int8Linear(module)))
    return small
    ### END SOLUTION


def size(model: nn.Module) -> int:
    """Bytes of parameters and buffers, each storage once."""
    ### BEGIN SOLUTION
    storages = [t.untyped_storage() for t in (*model.parameters(), *model.buffers())]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())
    ### END SOLUTION


def next_token_loss(model: nn.Module, tokens: torch.Tensor) -> float:
    """Mean cross entropy of each token, predicted from those before it."""
    ### BEGIN SOLUTION
    frozen = copy.deepcopy(model).eval()
    with torch.no_grad():
        logits = frozen(tokens)  # (B, T, V)
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()).item()
    ### END SOLUTION
