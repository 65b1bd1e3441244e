import torch
from torch import nn

from torchbook.practice import ward

AGAINST = {
    "vanishing-gradient": "the query's gradient is as large as those of the other parameters",
    "graph-cut": "the query has a gradient after backward, and it is not zero",
    "dead-units": "there is no ReLU here, and every parameter has a gradient that is not zero somewhere",
    "gradients-not-cleared": "zero_grad() is called in every step",
    "shared-weights-cloned": "embedding and norm are the same modules wherever they are used",
}


def test_diagnosis(diagnosis):
    ward.confirm(
        diagnosis, "ward-x5", "88e66f101e7b39e4", AGAINST, "does it explain a parameter that does not move at all?"
    )


def test_attention(diagnosis, make_data, train):
    diagnosis()
    model, losses = train(steps=150)
    x, _, place = make_data(300, seed=1)
    with torch.no_grad():
        on_it = model.attention(x)[torch.arange(300), place].mean().item()
    assert on_it > 0.6, f"the token that matters gets a weight of {on_it:.3f}, and one in eight is 0.125"
    assert sum(losses[-10:]) / 10 < 0.2, "attention has learnt where to look, and the loss is still high"


def _held(optimizer):
    return [id(p) for group in optimizer.param_groups for p in group["params"]]


def test_every_parameter(diagnosis, make_optimizer, Pooled):
    diagnosis()
    model = Pooled()
    held = _held(make_optimizer(model))
    lacking = [name for name, p in model.named_parameters() if id(p) not in held]
    assert not lacking, f"{len(lacking)} of the model's parameters never move, whatever their gradient"
    assert len(held) == len(set(held)) == len(list(model.parameters())), "each parameter belongs to one group"


class _Other(nn.Module):
    """Parameters of many names."""

    def __init__(self, width):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, 2)
        self.norm = nn.LayerNorm(width)
        self.words = nn.Embedding(7, width)
        self.scale = nn.Parameter(torch.ones(()))
        self.places = nn.Parameter(torch.zeros(5, width))  # a matrix that is not called a weight
        self.layers = nn.Sequential(nn.Linear(width, 3), nn.PReLU(), nn.Linear(3, 1, bias=False))


def test_hidden_groups(diagnosis, make_optimizer, seed):
    diagnosis()
    model = _Other(4 + 2 * (seed % 5))
    lr = 0.001 * (1 + seed % 3)
    optimizer = make_optimizer(model, lr)
    held = _held(optimizer)
    assert sorted(held) == sorted(id(p) for p in model.parameters()), "of another model, parameters are left out"
    decay = {id(p): group["weight_decay"] for group in optimizer.param_groups for p in group["params"]}
    for label, p in model.named_parameters():
        if p.dim() < 2:
            assert decay[id(p)] == 0, "something that is no matrix decays: a bias, a scale or the weight of a norm"
        elif label.endswith("weight"):
            assert decay[id(p)] == 0.01, "a matrix no longer decays"
    assert {group["lr"] for group in optimizer.param_groups} == {lr}, (
        "all parameters have the learning rate that is given"
    )
