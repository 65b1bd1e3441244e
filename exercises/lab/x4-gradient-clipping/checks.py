import copy
import importlib
import random
from unittest import mock

import torch
from torch import nn


class _Unused(nn.Module):
    """A network, and a layer that takes no part."""

    def __init__(self, hidden=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, hidden), nn.Tanh(), nn.Linear(hidden, 3))
        self.spare = nn.Linear(2, 2)

    def forward(self, x):
        return self.net(x)


def _example(scale=100.0, hidden=16):
    """A model and a function that computes its loss on one batch."""
    model = _Unused(hidden)
    x, y = torch.randn(8, 5), torch.randint(3, (8,))
    return model, lambda m: scale * nn.functional.cross_entropy(m(x), y)


def _gradient(model, loss_of):
    """The true gradient, as one vector."""
    twin = copy.deepcopy(model)
    used = list(twin.net.parameters())
    return torch.cat([g.flatten() for g in torch.autograd.grad(loss_of(twin), used)])


def _update(clipped_step, model, loss_of, max_norm):
    """The two numbers, and the gradient that SGD with rate 1 applied, as one vector."""
    before = nn.utils.parameters_to_vector(model.net.parameters()).detach().clone()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    norms = clipped_step(model, loss_of(model), optimizer, max_norm)
    return norms, before - nn.utils.parameters_to_vector(model.net.parameters()).detach()


def _near(a, b):
    return abs(a - b) <= 1e-3 * max(abs(b), 1e-3)


def test_norm_of_all(total_norm):
    three, four = nn.Parameter(torch.zeros(1, 1)), nn.Parameter(torch.zeros(2))
    three.grad, four.grad = torch.tensor([[3.0]]), torch.tensor([0.0, -4.0])
    norm = total_norm(p for p in (three, four))
    assert _near(norm, 5.0), f"gradients of length 3 and 4 have the total norm 5, not {norm:.2f}"


def test_norm_is_a_float(total_norm):
    p = nn.Parameter(torch.zeros(2))
    p.grad = torch.tensor([6.0, 8.0])
    norm = total_norm([p])
    assert isinstance(norm, float), f"the norm is asked for as a float, and is a {type(norm).__name__}"


def test_norm_without_gradient(total_norm):
    used, unused = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(2))
    used.grad = torch.tensor([6.0, 8.0])
    try:
        norm = total_norm([unused, used])
    except (AttributeError, TypeError):
        norm = None
    assert norm is not None and _near(norm, 10.0), "a parameter whose .grad is None must be left out"


def test_norm_of_nothing(total_norm):
    try:
        norm = total_norm([nn.Parameter(torch.zeros(2))])
    except (RuntimeError, ValueError, TypeError) as error:
        if isinstance(error, NotImplementedError):
            raise
        raise AssertionError(
            f"before the first backward no parameter has a gradient: the norm is 0, not {error}"
        ) from None
    assert norm == 0, f"where there is no gradient the norm is 0, not {norm}"


def test_norms(clipped_step):
    model, loss_of = _example()
    true = _gradient(model, loss_of).norm().item()
    before, after = _update(clipped_step, model, loss_of, 1.0)[0]
    assert _near(before, true), f"the norm before clipping is {true:.2f}, not {before:.2f}"
    assert _near(after, 1.0), f"the norm after clipping is 1, not {after:.2f}: measure again after it"


def test_by_hand(total_norm, clipped_step):
    def used(*_, **__):
        raise AssertionError("torch's own clipping measures the norm or clips: compute both yourself")

    module = importlib.import_module("torch.nn.utils.clip_grad")
    names = "_get_total_norm", "_clip_grads_with_norm_", "clip_grad_norm_"
    model, loss_of = _example()
    with (
        mock.patch.multiple(module, **dict.fromkeys(names, used)),
        mock.patch.multiple(nn.utils, get_total_norm=used, clip_grads_with_norm_=used, clip_grad_norm_=used),
    ):
        clipped_step(model, loss_of(model), torch.optim.SGD(model.parameters(), lr=0.1), 1.0)
        total_norm(model.parameters())


def test_update_is_clipped(clipped_step):
    model, loss_of = _example()
    length = _update(clipped_step, model, loss_of, 1.0)[1].norm().item()
    assert length < 1.001, f"the optimizer applied a gradient of norm {length:.1f}: clip after backward, before step"


def test_direction_is_kept(clipped_step):
    model, loss_of = _example()
    gradient = _gradient(model, loss_of)
    applied = _update(clipped_step, model, loss_of, 1.0)[1]
    cosine = torch.cosine_similarity(gradient, applied, dim=0).item()
    assert cosine > 0.999, "clipping turned the gradient: multiply all of it by one factor"


def test_every_gradient_is_clipped(clipped_step):
    model = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3))
    loss = 100 * nn.functional.cross_entropy(model(torch.randn(8, 5)), torch.randint(3, (8,)))
    whole = torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
    clipped_step(model, loss, torch.optim.SGD(model.parameters(), lr=0.1), 1.0)
    factors = [(p.grad.norm() / g.norm()).item() for p, g in zip(model.parameters(), whole, strict=True)]
    assert max(factors) <= 1.001 * min(factors), (
        f"one factor for all gradients, from the first parameter to the last: here {[round(f, 4) for f in factors]}"
    )


def test_small_gradients_stay(clipped_step):
    model, loss_of = _example(scale=0.01)
    gradient = _gradient(model, loss_of)
    (before, after), applied = _update(clipped_step, model, loss_of, 1.0)
    assert (applied - gradient).norm() < 1e-3 * gradient.norm(), (
        "a gradient below max_norm must stay as it is: max_norm is a bound, not a target"
    )
    assert before == after, "nothing was clipped, so both norms are the same"


def test_clears_old_gradients(clipped_step):
    model, loss_of = _example(scale=0.01)
    gradient = _gradient(model, loss_of)
    for p in model.net.parameters():
        p.grad = torch.full_like(p, 0.01)
    applied = _update(clipped_step, model, loss_of, 1.0)[1]
    assert (applied - gradient).norm() < 1e-3 * gradient.norm(), (
        "gradients from before are in the update: clear them before backward"
    )


def test_hidden_total_norm(total_norm, reference, seed):
    draw = random.Random(seed)
    for _ in range(20):
        parameters = [nn.Parameter(torch.zeros(draw.choice([(3,), (2, 4), (2, 1, 3), ()]))) for _ in range(6)]
        for p in parameters[1:]:
            p.grad = torch.randn_like(p) * 10 ** draw.uniform(-3, 3)
        parameters[draw.randint(2, 5)].grad = None
        kept = [None if p.grad is None else p.grad.clone() for p in parameters]
        norm = total_norm(iter(parameters))
        assert _near(norm, reference.total_norm(parameters)), "wrong for gradients of several shapes and sizes"
        assert all(p.grad is k or torch.equal(p.grad, k) for p, k in zip(parameters, kept, strict=True)), (
            "measuring must leave the gradients as they are"
        )


def test_hidden_like_torch(clipped_step, seed):
    draw = random.Random(seed)
    mine, loss_of = _example(scale=3.0, hidden=draw.randint(8, 32))
    twin = copy.deepcopy(mine)
    ours, theirs = (torch.optim.Adam(m.parameters(), lr=0.05) for m in (mine, twin))
    for _ in range(12):
        max_norm = draw.uniform(0.2, 4.0)
        before, after = clipped_step(mine, loss_of(mine), ours, max_norm)
        theirs.zero_grad()
        loss_of(twin).backward()
        expected = nn.utils.clip_grad_norm_(twin.parameters(), max_norm).item()
        theirs.step()
        assert _near(before, expected), "torch measures another norm before clipping"
        assert _near(after, min(expected, max_norm)), "the norm after clipping is at most max_norm, and exact"
    weights, expected = (nn.utils.parameters_to_vector(m.parameters()) for m in (mine, twin))
    assert torch.allclose(weights, expected, atol=1e-3), "after twelve steps with torch's clipping the weights differ"
