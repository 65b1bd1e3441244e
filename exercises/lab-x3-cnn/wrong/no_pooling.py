# test_hidden_beats_the_mlp: two filters that skip every second pixel, then an MLP instead of pooling
from torch import nn


def make_cnn():
    return nn.Sequential(
        nn.Conv2d(1, 2, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(392, 100),
        nn.ReLU(),
        nn.Linear(100, 10),
    )
