import copy
import importlib
import io
import math
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
    return torch.allclose(p.detach(), torch.tensor(values), rtol=1e-4, atol=1e-6)


def test_first_step(MyAdamW):
    p = _parameter(1.0, 1.0)
    _step(MyAdamW([p], lr=0.1, weight_decay=0.0), p, 5.0, -0.001)
    assert _is(p, 0.9, 1.1), (
        f"corrected, the first step is lr against the sign of the gradient: [0.9, 1.1], not {p.tolist()}"
    )


def test_second_step(MyAdamW):
    p = _parameter(0.0)
    optimizer = MyAdamW([p], lr=1.0, betas=(0.5, 0.75), weight_decay=0.0)
    _step(optimizer, p, 1.0)
    _step(optimizer, p, 2.0)
    m, s = (0.25 + 1.0) / 0.75, (0.1875 + 1.0) / 0.4375
    assert _is(p, -1 - m / math.sqrt(s)), (
        "at the second step the corrections are 1 - beta1 ** 2 and 1 - beta2 ** 2, each average with its own beta"
    )


def test_own_counter(MyAdamW):
    early, late = _parameter(0.0), _parameter(0.0)
    optimizer = MyAdamW([early, late], lr=0.1, weight_decay=0.0)
    for _ in range(3):
        _step(optimizer, early, 1.0)
    late.grad = torch.ones(1)
    _step(optimizer, early, 1.0)
    assert _is(late, -0.1), "a parameter whose first gradient comes at the fourth step is at its own t = 1"


def test_decay_is_decoupled(MyAdamW):
    p = _parameter(1.0)
    _step(MyAdamW([p], lr=0.1, weight_decay=0.5), p, 0.0)
    assert _is(p, 0.95), (
        f"at zero gradient only the decay acts, p - lr * weight_decay * p: 0.95, not {p.item():.4f}; "
        "as a part of the gradient it would be divided by its own size"
    )


def test_decay_follows_the_rate(MyAdamW):
    p = _parameter(1.0)
    optimizer = MyAdamW([p], lr=0.1, weight_decay=0.5)
    optimizer.param_groups[0]["lr"] = 0.01
    _step(optimizer, p, 0.0)
    assert _is(p, 0.995), (
        "the decay is multiplied by the learning rate of the moment, which a scheduler may have changed"
    )


def test_eps(MyAdamW):
    p = _parameter(0.0)
    _step(MyAdamW([p], lr=1.0, eps=1e-3, weight_decay=0.0), p, 1e-3)
    assert _is(p, -0.5), (
        f"eps is added to the corrected root: a gradient of the size of eps moves by half of lr, not {-p.item():.4f}"
    )


def test_groups(MyAdamW):
    p, q = _parameter(1.0), _parameter(1.0)
    optimizer = MyAdamW([{"params": [p]}, {"params": [q], "lr": 0.01, "weight_decay": 0.0}], lr=0.1, weight_decay=0.5)
    p.grad = torch.zeros(1)
    _step(optimizer, q, 1.0)
    assert _is(p, 0.95), "the group without settings of its own gets the constructor's"
    assert _is(q, 0.99), "a group has its own lr and weight_decay: read them from the group"


def test_skips_none(MyAdamW):
    p, never = _parameter(1.0), _parameter(1.0)
    optimizer = MyAdamW([never, p], lr=0.1, weight_decay=0.5)
    try:
        _step(optimizer, p, 1.0)
    except (TypeError, AttributeError):
        raise AssertionError("a parameter whose .grad is None must be skipped") from None
    assert _is(never, 1.0), "without a gradient a parameter stays as it is: it does not decay either"


def test_counter_stands_still(MyAdamW):
    p = _parameter(0.0)
    optimizer = MyAdamW([p], lr=1.0, betas=(0.5, 0.75), weight_decay=0.0)
    _step(optimizer, p, 1.0)
    p.grad = None
    optimizer.step()
    _step(optimizer, p, 2.0)
    m, s = (0.25 + 1.0) / 0.75, (0.1875 + 1.0) / 0.4375
    assert _is(p, -1 - m / math.sqrt(s)), (
        "a step without a gradient lay between two with one: t counts a parameter's own updates, and this is its second"
    )


def test_in_place_unrecorded(MyAdamW):
    p = _parameter(1.0, 2.0)
    view = p.detach()[:1]
    optimizer = MyAdamW([p], lr=0.1, weight_decay=0.1)
    try:
        _step(optimizer, p, 1.0, 1.0)
    except RuntimeError as error:
        raise AssertionError(f"update under torch.no_grad(): {error}") from None
    kept = [value for state in optimizer.state.values() for value in state.values() if torch.is_tensor(value)]
    assert not any(value.requires_grad for value in kept), "an average carries a graph: compute under torch.no_grad()"
    assert torch.equal(view, p.detach()[:1]), "a view of the parameter shows the old value: change its memory in place"


def test_gradient_stays(MyAdamW):
    p = _parameter(1.0)
    optimizer = MyAdamW([p], lr=0.1, betas=(0.5, 0.5), weight_decay=0.5)
    for _ in range(2):
        _step(optimizer, p, 2.0)
        assert _is(p.grad, 2.0), "the step must not write into .grad"


def test_own_step(MyAdamW):
    p = _parameter(1.0)
    optimizer = MyAdamW([p], lr=0.1)
    assert not isinstance(optimizer, torch.optim.AdamW), "torch's AdamW does the work: derive from Optimizer alone"

    def used(*_, **__):
        raise AssertionError("torch's AdamW does the update: write it yourself")

    module = importlib.import_module("torch.optim.adam")  # what `adam` calls, also where it was imported before
    names = "adam", "_single_tensor_adam", "_multi_tensor_adam", "_fused_adam"
    with mock.patch.multiple(module, **dict.fromkeys(names, used)):
        _step(optimizer, p, 1.0)


def test_closure(MyAdamW):
    p, enabled = _parameter(1.0), []

    def closure():
        enabled.append(torch.is_grad_enabled())
        p.grad = torch.ones(1)
        return 7.0

    value = MyAdamW([p], lr=0.1, weight_decay=0.0).step(closure)
    assert enabled == [True], "call the closure once, first, with gradients enabled: it runs backward"
    assert _is(p, 0.9) and value == 7.0, "the update uses the closure's gradients, and its loss is returned"


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


def test_resumes(MyAdamW):
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    batches = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(4)]

    def make(m):
        return MyAdamW(m.parameters(), lr=0.1)

    optimizer = make(model)
    _run(optimizer, model, batches[:2])
    fresh, another = _restarted(make, model, optimizer)
    _run(optimizer, model, batches[2:])
    _run(another, fresh, batches[2:])
    assert torch.allclose(model.weight, fresh.weight), (
        "an optimizer loaded from state_dict() goes on differently: averages and t belong into self.state[p]"
    )


def test_hidden_like_torch(MyAdamW, seed):
    draw = random.Random(seed)
    torch.manual_seed(seed)
    mine = nn.Sequential(nn.Linear(4, draw.randint(3, 9)), nn.Tanh()).double()
    mine.append(nn.Linear(mine[0].out_features, 2).double())
    twin = copy.deepcopy(mine)
    settings = [
        {
            "lr": draw.uniform(0.001, 0.02),
            "betas": (draw.uniform(0.5, 0.95), draw.uniform(0.9, 0.999)),
            "eps": 10 ** draw.uniform(-8, -3),
            "weight_decay": draw.uniform(0, 0.5),
        }
        for _ in range(2)
    ]

    def make(kind, model):
        groups = [{"params": part.parameters(), **s} for part, s in zip((model[0], model[2]), settings, strict=True)]
        return kind(groups)

    ours, theirs = make(MyAdamW, mine), make(torch.optim.AdamW, twin)
    for _ in range(2):
        batches = [(torch.randn(6, 4).double(), torch.randn(6, 2).double()) for _ in range(15)]
        _run(ours, mine, batches)
        _run(theirs, twin, batches)
        weights, expected = (nn.utils.parameters_to_vector(m.parameters()) for m in (mine, twin))
        error = (weights - expected).abs().max().item()
        assert error < 1e-11, f"after 15 steps with float64 parameters the weights are {error:.1e} off torch's AdamW"
        mine, ours = _restarted(lambda model: make(MyAdamW, model), mine, ours)
        for group in (*ours.param_groups, *theirs.param_groups):
            group["lr"] *= 0.5


def test_hidden_defaults(MyAdamW):
    group = MyAdamW([_parameter(1.0)]).param_groups[0]
    found = [group.get(key) for key in ("lr", "betas", "eps", "weight_decay")]
    assert found == [1e-3, (0.9, 0.999), 1e-8, 0.01], f"the defaults, as settings of a group, are torch's; not {found}"
