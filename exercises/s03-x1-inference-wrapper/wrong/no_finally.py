# test_put_back_after_an_error: puts back only when all went well
from typing import Any

import torch
from torch import nn


class Predictor:
    """Answers for `model`: always in eval mode, never recorded, and without a trace."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        modes = [(module, module.training) for module in self.model.modules()]
        self.model.eval()
        with torch.no_grad():
            out = self.model(*args, **kwargs)
        for module, training in modes:
            module.training = training
        return out
