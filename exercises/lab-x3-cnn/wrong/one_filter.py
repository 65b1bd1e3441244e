# test_beats_the_mlp: a single filter before an MLP
from torch import nn


def make_cnn():
    return nn.Sequential(
        nn.Conv2d(1, 1, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(784, 60),
        nn.ReLU(),
        nn.Linear(60, 10),
    )
