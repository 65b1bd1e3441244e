# test_softmax_inside: looks for a softmax module anywhere
import copy
from collections.abc import Callable

import torch
from torch import nn
from torch.optim import Optimizer


def left_in_eval(model: nn.Module) -> bool:
    """Whether a module of the model, however deep, is in evaluation mode."""
    return any(not module.training for module in model.modules())


def not_in_optimizer(model: nn.Module, optimizer: Optimizer) -> bool:
    """Whether the optimizer lacks a trainable parameter of the model."""
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    return any(p.requires_grad and id(p) not in held for p in model.parameters())


def cut_off(loss: torch.Tensor, model: nn.Module) -> bool:
    """Whether backward from the loss misses a trainable parameter."""
    if not loss.requires_grad:
        return True
    weights = [p for p in model.parameters() if p.requires_grad]
    found = torch.autograd.grad(loss, weights, retain_graph=True, allow_unused=True)
    return any(g is None for g in found)


def never_cleared(step: Callable[[], object], model: nn.Module) -> bool:
    """Whether a step's gradients still contain those of the step before."""
    step()
    left = [p for p in model.parameters() if p.grad is not None and p.grad.any()]
    for p in left:
        p.grad.fill_(torch.nan)  # whatever is added to it stays NaN; whoever clears it loses the mark
    step()
    return any(p.grad is not None and bool(p.grad.isnan().any()) for p in left)


def ends_in_softmax(model: nn.Module, x: torch.Tensor) -> bool:
    """Whether the model returns probabilities instead of logits."""
    return any(isinstance(m, nn.Softmax) for m in model.modules())


def paired_wrongly(pred: torch.Tensor, target: torch.Tensor) -> bool:
    """Whether `pred - target` uses an element more than once."""
    try:
        shape = torch.broadcast_shapes(pred.shape, target.shape)
    except RuntimeError:
        return False  # the subtraction raises: not silent
    return not pred.numel() == target.numel() == shape.numel()
