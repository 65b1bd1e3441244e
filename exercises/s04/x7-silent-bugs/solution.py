import copy
from collections.abc import Callable

import torch
from torch import nn
from torch.optim import Optimizer


def left_in_eval(model: nn.Module) -> bool:
    """Whether a module of the model, however deep, is in evaluation mode."""
    ### BEGIN SOLUTION
    return any(not module.training for module in model.modules())
    ### END SOLUTION


def not_in_optimizer(model: nn.Module, optimizer: Optimizer) -> bool:
    """Whether the optimizer lacks a trainable parameter of the model."""
    ### BEGIN SOLUTION
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    return any(p.requires_grad and id(p) not in held for p in model.parameters())
    ### END SOLUTION


def cut_off(loss: torch.Tensor, model: nn.Module) -> bool:
    """Whether backward from the loss misses a trainable parameter."""
    ### BEGIN SOLUTION
    if not loss.requires_grad:
        return True
    weights = [p for p in model.parameters() if p.requires_grad]
    found = torch.autograd.grad(loss, weights, retain_graph=True, allow_unused=True)
    return any(g is None for g in found)
    ### END SOLUTION


def never_cleared(step: Callable[[], object], model: nn.Module) -> bool:
    """Whether a step's gradients still contain those of the step before."""
    ### BEGIN SOLUTION
    step()
    left = [p for p in model.parameters() if p.grad is not None and p.grad.any()]
    for p in left:
        p.grad.fill_(torch.nan)  # whatever is added to it stays NaN; whoever clears it loses the mark
    step()
    return any(p.grad is not None and bool(p.grad.isnan().any()) for p in left)
    ### END SOLUTION


def ends_in_softmax(model: nn.Module, x: torch.Tensor) -> bool:
    """Whether the model returns probabilities instead of logits."""
    ### BEGIN SOLUTION
    with torch.no_grad():
        out = copy.deepcopy(model).eval()(x)  # (B, C, ...)
    sums = out.sum(1)
    return bool((out >= 0).all()) and torch.allclose(sums, torch.ones_like(sums), atol=1e-4)
    ### END SOLUTION


def paired_wrongly(pred: torch.Tensor, target: torch.Tensor) -> bool:
    """Whether `pred - target` uses an element more than once."""
    ### BEGIN SOLUTION
    try:
        shape = torch.broadcast_shapes(pred.shape, target.shape)
    except RuntimeError:
        return False  # the subtraction raises: not silent
    return not pred.numel() == target.numel() == shape.numel()
    ### END SOLUTION
