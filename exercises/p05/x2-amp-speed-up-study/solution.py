import math
from collections.abc import Iterable

import torch
from torch import nn
from torch.nn import functional as F


def study(t: torch.Tensor, dtype: torch.dtype, scale: float = 1.0) -> dict[str, float]:
    """What rounding to `dtype` does to the elements that are not zero: shares lost at both ends, largest error."""
    ### BEGIN SOLUTION
    scaled = t[t != 0].double() * scale
    if not len(scaled):
        return {"zero": 0.0, "infinite": 0.0, "error": 0.0}
    rounded = scaled.to(dtype).double()
    zero, infinite = rounded == 0, rounded.isinf()
    kept = ~zero & ~infinite
    errors = (rounded[kept] / scaled[kept] - 1).abs()
    return {
        "zero": zero.double().mean().item(),
        "infinite": infinite.double().mean().item(),
        "error": errors.max().item() if len(errors) else 0.0,
    }
    ### END SOLUTION


def largest_scale(gradients: Iterable[torch.Tensor], dtype: torch.dtype) -> float:
    """The largest power of two with which no gradient becomes infinite in `dtype`."""
    ### BEGIN SOLUTION
    largest = max(g.abs().max().item() for g in gradients)
    if largest == 0:
        return 1.0
    scale = 2.0 ** math.floor(math.log2(torch.finfo(dtype).max / largest))
    if torch.tensor(2 * scale * largest, dtype=torch.float64).to(dtype).isfinite():
        scale *= 2
    return scale
    ### END SOLUTION


def scales(overflowed: Iterable[bool], start: float = 65536.0, interval: int = 2000) -> list[float]:
    """The dynamic loss scale that each step uses."""
    ### BEGIN SOLUTION
    used, scale, good = [], start, 0
    for bad in overflowed:
        used.append(scale)
        good = 0 if bad else good + 1
        if bad:
            scale /= 2
        elif good == interval:
            scale, good = scale * 2, 0
    return used
    ### END SOLUTION


def amp_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    x: torch.Tensor,
    y: torch.Tensor,
    dtype: torch.dtype,
    max_norm: float = 1.0,
) -> float:
    """One step of training in mixed precision; the loss."""
    ### BEGIN SOLUTION
    with torch.autocast(x.device.type, dtype=dtype, enabled=dtype != torch.float32):
        loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.item()
    ### END SOLUTION
