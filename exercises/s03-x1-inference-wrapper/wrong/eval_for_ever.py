# test_mode_is_put_back: leaves the model in eval mode
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
        try:
            with torch.no_grad():
                return self.model(*args, **kwargs)
        finally:
            modes.clear()
