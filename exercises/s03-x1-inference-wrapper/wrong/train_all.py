# test_each_mode_is_put_back: puts the mode of the whole back
from typing import Any

import torch
from torch import nn


class Predictor:
    """Answers for `model`: always in eval mode, never recorded, and without a trace."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        training = self.model.training
        self.model.eval()
        try:
            with torch.no_grad():
                return self.model(*args, **kwargs)
        finally:
            self.model.train(training)
