from typing import Any

import torch
from torch import nn


class Predictor:
    """Answers for `model`, in eval mode, unrecorded, and without a trace."""

    def __init__(self, model: nn.Module) -> None:
        ### BEGIN SOLUTION
        self.model = model
        ### END SOLUTION

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        ### BEGIN SOLUTION
        modes = [(module, module.training) for module in self.model.modules()]
        self.model.eval()
        try:
            with torch.no_grad():
                return self.model(*args, **kwargs)
        finally:
            for module, training in modes:
                module.training = training
        ### END SOLUTION
