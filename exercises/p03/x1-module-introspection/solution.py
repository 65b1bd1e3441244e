from typing import Any

from torch import nn


def rows(model: nn.Module) -> list[tuple[str, str, dict[str, tuple[int, ...]]]]:
    """Name, class and parameter shapes of each module that holds parameters of its own."""
    ### BEGIN SOLUTION
    found = []
    for name, module in model.named_modules():
        shapes = {key: tuple(p.shape) for key, p in module.named_parameters(recurse=False)}
        if shapes:
            found.append((name, type(module).__name__, shapes))
    return found
    ### END SOLUTION


def totals(model: nn.Module) -> dict[str, int]:
    """Numbers of elements: "trainable", "frozen", "buffers"; what is shared counts once."""
    ### BEGIN SOLUTION
    parameters = list(model.parameters())
    return {
        "trainable": sum(p.numel() for p in parameters if p.requires_grad),
        "frozen": sum(p.numel() for p in parameters if not p.requires_grad),
        "buffers": sum(b.numel() for b in model.buffers()),
    }
    ### END SOLUTION


def overlooked(model: nn.Module) -> list[str]:
    """Sorted paths of attributes that hold modules or parameters where the registry does not look."""
    ### BEGIN SOLUTION
    return sorted(
        f"{name}.{attribute}" if name else attribute
        for name, module in model.named_modules()
        for attribute, value in vars(module).items()
        if attribute not in vars(nn.Module()) and _holds(value)
    )


def _holds(value: Any) -> bool:
    if isinstance(value, dict):
        return _holds(list(value.values()))
    if isinstance(value, list | tuple):
        return any(isinstance(item, nn.Module | nn.Parameter) or _holds(item) for item in value)
    return False
    ### END SOLUTION
