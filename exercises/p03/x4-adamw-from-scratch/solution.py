from collections.abc import Callable, Iterable
from typing import Any

import torch


class MyAdamW(torch.optim.Optimizer):
    """AdamW, as `torch.optim.AdamW(params, lr, betas, eps, weight_decay)`."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ):
        ### BEGIN SOLUTION
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        ### END SOLUTION

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update; the closure's value, if there is one."""
        ### BEGIN SOLUTION
        loss = closure() if closure is not None else None
        with torch.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self._update(p, p.grad, group)
        return loss

    def _update(self, p: torch.Tensor, g: torch.Tensor, group: dict[str, Any]) -> None:
        state = self.state[p]
        if not state:
            state["t"] = 0
            state["m"], state["s"] = torch.zeros_like(p), torch.zeros_like(p)
        state["t"] += 1
        t, m, s = state["t"], state["m"], state["s"]
        (beta1, beta2), lr = group["betas"], group["lr"]
        p.mul_(1 - lr * group["weight_decay"])
        m.mul_(beta1).add_(g, alpha=1 - beta1)
        s.mul_(beta2).addcmul_(g, g, value=1 - beta2)
        root = (s / (1 - beta2**t)).sqrt() + group["eps"]
        p.sub_(lr * (m / (1 - beta1**t)) / root)
        ### END SOLUTION
