import warnings
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def first_nonfinite(model: nn.Module, *args: Any) -> str | None:
    """Name of the first module, in the order of execution, with an output that is not finite."""
    ### BEGIN SOLUTION
    found: list[str] = []

    def look(name: str) -> Callable:
        def hook(_module: nn.Module, _args: tuple, output: Any) -> None:
            if any(_bad(leaf) for leaf in tree_leaves(output)):
                found.append(name)

        return hook

    with ExitStack() as stack:
        for name, module in model.named_modules():
            stack.callback(module.register_forward_hook(look(name)).remove)
        model(*args)
    return found[0] if found else None


def _bad(value: Any) -> bool:
    """Whether a tensor or number is NaN or infinite somewhere."""
    return _nan(value) or _infinite(value)


def _nan(value: Any) -> bool:
    return isinstance(value, torch.Tensor | float) and bool(torch.as_tensor(value).isnan().any())


def _infinite(value: Any) -> bool:
    return isinstance(value, torch.Tensor | float) and bool(torch.as_tensor(value).isinf().any())
    ### END SOLUTION


def first_bad_op(fn: Callable[[], Any]) -> str | None:
    """The first operation under `fn()` that makes a NaN, or an infinity, of operands without."""
    ### BEGIN SOLUTION
    found: list[str] = []

    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
            operands = tree_leaves((args, kwargs or {}))
            nan, infinite = any(map(_nan, operands)), any(map(_infinite, operands))  # before they are overwritten
            out = func(*args, **(kwargs or {}))
            results = tree_leaves(out)
            makes = (not nan and any(map(_nan, results))) or (not nan and not infinite and any(map(_infinite, results)))
            if makes and not func.__name__.startswith(("empty", "new_empty")):
                found.append(str(func))
            return out

    with Look():
        fn()
    return found[0] if found else None
    ### END SOLUTION


def anomaly_report(fn: Callable[[], torch.Tensor]) -> str | None:
    """The backward node that anomaly mode names for the loss `fn()`, or None."""
    ### BEGIN SOLUTION
    with warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True):
        warnings.simplefilter("ignore")  # the stack of the forward comes as a warning
        loss = fn()
        leaves = _leaves(loss)
        try:
            torch.autograd.grad(loss, leaves, allow_unused=True)
        except RuntimeError as error:
            if "returned nan values" not in str(error):
                raise
            return str(error).split("'")[1]
    return None


def _leaves(loss: torch.Tensor) -> list[torch.Tensor]:
    """The tensors into whose `.grad` backward would write."""
    found, seen, stack = [], set(), [loss.grad_fn]
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        stack += [other for other, _ in node.next_functions]
    return found
    ### END SOLUTION


def verdict(fn: Callable[[], torch.Tensor], parameters: Iterable[torch.Tensor]) -> tuple[str, str | None]:
    """Where it goes wrong, "forward", "backward" or "none", and what anomaly mode says."""
    ### BEGIN SOLUTION
    loss = fn()
    gradients = torch.autograd.grad(loss, list(parameters), allow_unused=True)
    if _bad(loss):
        where = "forward"
    elif any(map(_bad, gradients)):
        where = "backward"
    else:
        where = "none"
    return where, anomaly_report(fn)
    ### END SOLUTION
