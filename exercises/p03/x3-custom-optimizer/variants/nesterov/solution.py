from collections.abc import Callable, Iterable
from typing import Any

import torch


class NesterovSGD(torch.optim.Optimizer):
    """SGD with Nesterov momentum, as `torch.optim.SGD(params, lr, momentum, weight_decay=..., nesterov=True)`."""

    def __init__(self, params: Iterable[Any], lr: float = 0.01, momentum: float = 0.9, weight_decay: float = 0.0):
        ### BEGIN SOLUTION
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})
        ### END SOLUTION

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update; the closure's value, if there is one."""
        ### BEGIN SOLUTION
        loss = closure() if closure is not None else None
        with torch.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self._update(p, group)
        return loss

    def _update(self, p: torch.Tensor, group: dict[str, Any]) -> None:
        state = self.state[p]
        if "velocity" not in state:
            state["velocity"] = torch.zeros_like(p)
        gradient = p.grad + group["weight_decay"] * p
        state["velocity"].mul_(group["momentum"]).add_(gradient)
        p.sub_(group["lr"] * (gradient + group["momentum"] * state["velocity"]))
        ### END SOLUTION
