import copy
import importlib
import io
import random
from unittest import mock

import torch
from torch import nn


def _parameter(*values):
    return nn.Parameter(torch.tensor(values))


def _step(optimizer, p, *gradient):
    p.grad = torch.tensor(gradient)
    return optimizer.step()


def _is(p, *values):
    return torch.allclose(p.detach(), torch.tensor(values), rtol=1e-5, atol=1e-7)


def test_first_step(MomentumSGD):
    p = _parameter(1.0, 2.0)
    _step(MomentumSGD([p], lr=0.1), p, 0.5, -1.0)
    assert _is(p, 0.95, 2.1), f"the first step is plain SGD, p - lr * g: [0.95, 2.1], not {p.tolist()}"


def test_second_step(MomentumSGD):
    p = _parameter(1.0)
    optimizer = MomentumSGD([p], lr=0.1, momentum=0.5)
    for _ in range(3):
        _step(optimizer, p, 1.0)
    assert _is(p, 1.0 - 0.1 - 0.15 - 0.175), (
        f"three gradients of 1 give velocities 1, 1.5 and 1.75, so 0.575, not {p.item():.3f}"
    )


def test_weight_decay(MomentumSGD):
    p = _parameter(1.0)
    optimizer = MomentumSGD([p], lr=0.1, momentum=0.5, weight_decay=0.1)
    for _ in range(2):
        _step(optimizer, p, 0.0)
    assert _is(p, 0.9751), (
        f"weight decay is part of the gradient and enters the velocity: 0.9751 after two steps, not {p.item():.4f}"
    )


def test_rate_may_change(MomentumSGD):
    p = _parameter(1.0)
    optimizer = MomentumSGD([p], lr=0.1, momentum=0.5)
    _step(optimizer, p, 1.0)
    optimizer.param_groups[0]["lr"] = 0.01
    _step(optimizer, p, 1.0)
    assert _is(p, 1.0 - 0.1 - 0.015), (
        "a scheduler sets group['lr'] between steps: read it at every step, and keep the rate out of the velocity"
    )


def test_groups(MomentumSGD):
    p, q = _parameter(1.0), _parameter(1.0)
    optimizer = MomentumSGD([{"params": [p]}, {"params": [q], "lr": 0.01, "momentum": 0.0}], lr=0.1, momentum=0.5)
    for _ in range(2):
        p.grad = torch.ones(1)
        _step(optimizer, q, 1.0)
    assert _is(p, 1.0 - 0.1 - 0.15), "the group without settings of its own gets the constructor's"
    assert _is(q, 1.0 - 0.01 - 0.01), "a group has its own lr and momentum: read them from the group"


def test_skips_none(MomentumSGD):
    p, never = _parameter(1.0), _parameter(1.0)
    optimizer = MomentumSGD([never, p], lr=0.1)
    try:
        _step(optimizer, p, 1.0)
        p.grad = None
        optimizer.step()
    except (TypeError, AttributeError):
        raise AssertionError("a parameter whose .grad is None must be skipped") from None
    assert _is(never, 1.0) and _is(p, 0.9), "without a gradient a parameter stays, whatever its velocity"


def test_updates_in_place(MomentumSGD):
    p = _parameter(1.0, 2.0)
    view = p.detach()[:1]
    _step(MomentumSGD([p], lr=0.1), p, 1.0, 1.0)
    assert _is(view, 0.9), "a view of the parameter still shows the old value: change the parameter's memory in place"


def test_gradient_stays(MomentumSGD):
    p = _parameter(1.0)
    optimizer = MomentumSGD([p], lr=0.1, weight_decay=0.5)
    _step(optimizer, p, 1.0)
    assert _is(p.grad, 1.0), "the step must not write into .grad: weight decay makes a new tensor"


def test_velocity_is_its_own(MomentumSGD):
    p = _parameter(1.0)
    optimizer = MomentumSGD([p], lr=0.1, momentum=0.5)
    _step(optimizer, p, 1.0)
    optimizer.zero_grad(set_to_none=False)
    p.grad.add_(1.0)
    optimizer.step()
    assert _is(p, 1.0 - 0.1 - 0.15), "clearing .grad in place changed the velocity too: both are the same tensor"


def test_no_graph(MomentumSGD):
    p = _parameter(1.0)
    optimizer = MomentumSGD([p], lr=0.1, weight_decay=0.1)
    try:
        _step(optimizer, p, 1.0)
    except RuntimeError as error:
        raise AssertionError(f"update under torch.no_grad(): {error}") from None
    kept = [value for state in optimizer.state.values() for value in state.values() if torch.is_tensor(value)]
    assert not any(value.requires_grad for value in kept), (
        "the velocity carries a graph, which grows with every step: compute it under torch.no_grad()"
    )
    assert p.is_leaf and p.requires_grad, "the parameter must remain a leaf that requires grad"


def test_own_step(MomentumSGD):
    p = _parameter(1.0)
    optimizer = MomentumSGD([p], lr=0.1)
    assert not isinstance(optimizer, torch.optim.SGD), "torch's SGD does the work: derive from Optimizer alone"

    def used(*_, **__):
        raise AssertionError("torch's SGD does the update: write it yourself")

    module = importlib.import_module("torch.optim.sgd")  # what `sgd` calls, also where it was imported before
    names = "sgd", "_single_tensor_sgd", "_multi_tensor_sgd", "_fused_sgd"
    with mock.patch.multiple(module, **dict.fromkeys(names, used)):
        _step(optimizer, p, 1.0)


def test_closure(MomentumSGD):
    p, enabled = _parameter(1.0), []

    def closure():
        enabled.append(torch.is_grad_enabled())
        p.grad = torch.ones(1)
        return 7.0

    optimizer = MomentumSGD([p], lr=0.1)
    value = optimizer.step(closure)
    assert enabled and _is(p, 0.9), "step(closure) calls the closure, and then updates with its gradients"
    assert enabled == [True], "call the closure once, with gradients enabled: it runs backward"
    assert value == 7.0, "step(closure) returns the closure's loss"


def _run(optimizer, model, batches):
    for x, y in batches:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


def _restarted(make, model, optimizer):
    """A new optimizer of a new model, both loaded from a file."""
    file = io.BytesIO()
    torch.save([model.state_dict(), optimizer.state_dict()], file)
    file.seek(0)
    weights, state = torch.load(file, weights_only=True)
    fresh = copy.deepcopy(model)
    fresh.load_state_dict(weights)
    another = make(fresh)
    another.load_state_dict(state)
    return fresh, another


def test_resumes(MomentumSGD):
    model = nn.Linear(3, 1)
    batches = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(4)]

    def make(m):
        return MomentumSGD(m.parameters(), lr=0.1)

    optimizer = make(model)
    _run(optimizer, model, batches[:2])
    fresh, another = _restarted(make, model, optimizer)
    _run(optimizer, model, batches[2:])
    _run(another, fresh, batches[2:])
    assert torch.allclose(model.weight, fresh.weight), (
        "an optimizer loaded from state_dict() goes on differently: keep the velocity in self.state[p]"
    )


def test_hidden_like_torch(MomentumSGD, seed):
    draw = random.Random(seed)
    width = draw.randint(3, 9)
    mine = nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, 2)).double()
    twin = copy.deepcopy(mine)
    settings = [{"lr": draw.uniform(0.01, 0.1), "momentum": draw.uniform(0, 0.95)} for _ in range(2)]

    def make(kind, model):
        groups = [{"params": part.parameters(), **s} for part, s in zip((model[0], model[2]), settings, strict=True)]
        return kind(groups, lr=0.1, momentum=0.9, weight_decay=0.01)

    ours, theirs = make(MomentumSGD, mine), make(torch.optim.SGD, twin)
    for _ in range(2):
        batches = [(torch.randn(6, 4).double(), torch.randn(6, 2).double()) for _ in range(15)]
        _run(ours, mine, batches)
        _run(theirs, twin, batches)
        weights, expected = (nn.utils.parameters_to_vector(m.parameters()) for m in (mine, twin))
        error = (weights - expected).abs().max().item()
        assert error < 1e-12, f"after 15 steps with float64 parameters the weights are {error:.1e} off torch's SGD"
        mine, ours = _restarted(lambda model: make(MomentumSGD, model), mine, ours)
        for group in (*ours.param_groups, *theirs.param_groups):
            group["lr"] *= 0.5
