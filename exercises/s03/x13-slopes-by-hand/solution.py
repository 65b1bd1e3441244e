from collections.abc import Callable

import torch


def by_hand(a: float, b: float, c: float) -> tuple[float, float, float, float]:
    """The value of relu(a * b + c) * a, and its slopes with respect to a, b and c."""
    ### BEGIN SOLUTION
    inside = a * b + c
    r, gate = max(inside, 0.0), float(inside > 0)
    return r * a, r + a * gate * b, a * gate * a, a * gate
    ### END SOLUTION


def by_moving(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor, h: float) -> torch.Tensor:
    """The slopes of f at x, each from two values of f; of x's shape."""
    ### BEGIN SOLUTION
    slopes = torch.zeros_like(x)
    for i in range(x.numel()):
        up, down = x.clone().flatten(), x.clone().flatten()
        up[i] += h
        down[i] -= h
        slopes.view(-1)[i] = (f(up.view(x.shape)) - f(down.view(x.shape))) / (2 * h)
    return slopes
    ### END SOLUTION


def operations(result: torch.Tensor) -> list[str]:
    """Names of the recorded operations, each node once, sorted."""
    ### BEGIN SOLUTION
    seen, waiting = set(), [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen or "AccumulateGrad" in node.name():
            continue
        seen.add(node)
        waiting += [after for after, _ in node.next_functions]
    return sorted(node.name() for node in seen)
    ### END SOLUTION
