import random
from itertools import pairwise

import torch
from torch import nn


def _layers(model, plan):
    """The linear layers, member by member."""
    found = [m for m in model.modules() if isinstance(m, nn.Linear)]
    members = []
    for widths in plan:
        n = len(widths) - 1
        members.append(found[:n])
        found = found[n:]
    return members


def _expected(model, plan, x, mean, std):
    outs = []
    for layers in _layers(model, plan):
        h = (x - mean) / std
        for i, layer in enumerate(layers):
            h = h @ layer.weight.T + layer.bias
            if i < len(layers) - 1:
                h = h.clamp(min=0)
        outs.append(h)
    return sum(outs) / len(outs)


def _same(a, b):
    return a.shape == b.shape and torch.allclose(a, b, rtol=1e-4, atol=1e-5)


def _made(Ensemble, plan, mean=0.0, std=1.0):
    torch.manual_seed(3)
    model = Ensemble(plan, mean, std)
    assert isinstance(model, nn.Module), "Ensemble is to be an nn.Module"
    return model


def test_parameters(Ensemble):
    plan = [[5, 4, 3], [5, 2, 2, 3]]
    wanted = sum(n * m + m for widths in plan for n, m in pairwise(widths))
    found = sum(p.numel() for p in _made(Ensemble, plan).parameters())
    assert found == wanted, (
        f"the plan asks for {wanted} parameters and the module lists {found}: a plain list is not looked into, "
        "and buffers are no parameters"
    )


def test_buffers(Ensemble):
    model = _made(Ensemble, [[5, 3]], 0.5, 2.0)
    saved = [t.item() for t in model.state_dict().values() if t.numel() == 1]
    assert 0.5 in saved and 2.0 in saved, "mean and std are not in the state dict, so a loaded model would miss them"


def test_moves(Ensemble):
    model = _made(Ensemble, [[5, 3]], 0.5, 2.0).to("meta")
    try:
        out = model(torch.ones(2, 5, device="meta"))
    except RuntimeError as refusal:
        raise AssertionError(f"after model.to(device) something stayed behind: {refusal}") from None
    assert out.device.type == "meta" and all(t.device.type == "meta" for t in model.state_dict().values())


def test_one_member(Ensemble):
    plan, x = [[4, 6, 3]], torch.linspace(-2, 2, 8).view(2, 4)
    model = _made(Ensemble, plan, 0.5, 2.0)
    found = model(x)
    assert not _same(found, _expected(model, plan, x, 0.0, 1.0)), "the input is not normalised"
    assert _same(found, _expected(model, plan, x, 0.5, 2.0)), (
        "one member with two layers: normalise, layer, ReLU, layer"
    )


def test_negative_logits(Ensemble):
    model = _made(Ensemble, [[4, 6, 3], [4, 3]])
    with torch.no_grad():
        for layers in _layers(model, [[4, 6, 3], [4, 3]]):
            layers[-1].weight.zero_()
            layers[-1].bias.fill_(-1.0)
    assert model(torch.ones(1, 4)).eq(-1).all(), "a logit may be negative: no ReLU after the last layer"


def test_depth(Ensemble):
    plan, x = [[4, 5, 5, 5, 3]], torch.linspace(-2, 2, 8).view(2, 4)
    model = _made(Ensemble, plan)
    assert _same(model(x), _expected(model, plan, x, 0.0, 1.0)), "four layers have a ReLU between each two of them"


def test_mean(Ensemble):
    plan, x = [[4, 6, 3], [4, 3], [4, 2, 3]], torch.linspace(-2, 2, 8).view(2, 4)
    model = _made(Ensemble, plan)
    assert model(x).shape == (2, 3), f"two examples and three classes give (2, 3), not {tuple(model(x).shape)}"
    assert _same(model(x), _expected(model, plan, x, 0.0, 1.0)), "the output is the mean of the members' logits"


def test_members_differ(Ensemble):
    first, second = _layers(_made(Ensemble, [[4, 3], [4, 3]]), [[4, 3], [4, 3]])
    assert second, "two members of the same widths are still two members"
    assert not first[0].weight.equal(second[0].weight), "both members have the same weights, so they give one opinion"


def test_hidden_random(Ensemble, reference, seed):
    draw = random.Random(seed)
    for case in range(16):
        n, c = draw.randint(1, 6), draw.randint(1, 5)
        plan = [[n, *[draw.randint(1, 6) for _ in range(draw.randint(0, 3))], c] for _ in range(draw.randint(1, 6))]
        mean, std = draw.uniform(-2, 2), draw.uniform(0.2, 3)
        torch.manual_seed(case)
        x, theirs = torch.randn(draw.randint(1, 5), n), reference.Ensemble(plan, mean, std)
        ours = Ensemble(plan, mean, std)
        with torch.no_grad():
            for mine, other in zip(_layers(ours, plan), _layers(theirs, plan), strict=True):
                for a, b in zip(mine, other, strict=True):
                    a.weight.copy_(b.weight)
                    a.bias.copy_(b.bias)
        assert _same(ours(x), theirs(x)), f"for the plan {plan} the output differs"
