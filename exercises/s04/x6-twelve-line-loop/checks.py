import random

import torch
from torch import nn


def _data(n=100, inputs=5, outputs=1, noise=0.1, scale=1.0):
    """Rows of a linear rule with noise, drawn from the seeded generator."""
    x = torch.randn(n, inputs)
    return x, scale * (x @ torch.randn(inputs, outputs) + 0.5) + noise * torch.randn(n, outputs)


def _fitted(fit, *given, **named):
    """The model's weights as one vector, and the losses; every call starts from the same initial weights."""
    torch.manual_seed(11)
    found = fit(*given, **named)
    assert isinstance(found, tuple) and len(found) == 2, "return two things: the model, and the list of losses"
    model, losses = found
    assert isinstance(model, nn.Module), f"the first thing returned is the model, not {type(model).__name__}"
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone(), losses


def _errors(v, x, y):
    """What a linear layer, given as the vector of its parameters, predicts too much."""
    weight, b = v[: -y.shape[1]].view(y.shape[1], -1), v[-y.shape[1] :]
    return x @ weight.T + b - y


def _loss(v, x, y):
    return _errors(v, x, y).square().mean().item()


def _gradient(v, x, y):
    errors = _errors(v, x, y)
    return torch.cat([(errors.T @ x).flatten(), errors.sum(0)]) * 2 / errors.numel()


def _after(v, x, y, epochs, lr, clip=None, summed=False):
    """The weights after some epochs, from the formula of the gradient; `summed` as if nothing were cleared."""
    total = torch.zeros_like(v)
    for _ in range(epochs):
        g = _gradient(v, x, y)
        total = total + g if summed else g
        factor = 1.0 if clip is None else min(1.0, clip / total.norm().item())
        v = v - lr * factor * total
    return v


def _near(a, b):
    return a.shape == b.shape and bool((a - b).norm() <= 1e-3 * b.norm())


def test_layer(fit):
    x, y = _data(20, 4, 3)
    v, losses = _fitted(fit, x, y, 0, 0.1)
    assert v.numel() == 15, (
        f"for 4 columns of X and 3 of y one nn.Linear has 12 weights and 3 biases, and not {v.numel()} numbers"
    )
    assert list(losses) == [], "epochs=0 trains nothing: the fresh model and an empty list"


def test_losses(fit):
    x, y = _data(20)
    losses = _fitted(fit, x, y, 7, 0.05)[1]
    assert isinstance(losses, list) and len(losses) == 7, "losses is a list with one number for each epoch"
    assert not any(torch.is_tensor(loss) for loss in losses), (
        "the list holds tensors: each keeps the graph of its epoch alive, or at least a place on the device. "
        "loss.item() is the number"
    )
    assert all(isinstance(loss, float) for loss in losses), "each loss is a float"


def test_loss_before_step(fit):
    x, y = _data(20, 4, 3)
    start = _fitted(fit, x, y, 0, 0.1)[0]
    first = _fitted(fit, x, y, 1, 0.1)[1][0]
    expected = _loss(start, x, y)
    if abs(first - _loss(_after(start, x, y, 1, 0.1), x, y)) < 1e-3 * first:
        raise AssertionError("the first loss is that after the first update; note the one from before it")
    assert abs(first - expected) < 1e-3 * expected, (
        f"the fresh model's mean squared error is {expected:.3f}, and the first loss says {first:.3f}: "
        "the mean runs over all elements"
    )


def test_one_step(fit):
    x, y = _data(20, 4, 3)
    start = _fitted(fit, x, y, 0, 0.1)[0]
    found = _fitted(fit, x, y, 1, 0.1)[0]
    assert not torch.equal(found, start), "one epoch changed nothing: is the gradient there when step() looks at it?"
    assert _near(found, _after(start, x, y, 1, 0.1)), "one epoch is one step, w - lr * gradient, on all rows at once"


def test_plain(fit):
    x, y = torch.zeros(20, 4), 3 + torch.zeros(20, 1)
    start = _fitted(fit, x, y, 0, 0.1)[0]
    found = _fitted(fit, x, y, 30, 0.1)[0]
    assert torch.equal(found[:4], start[:4]), (
        "the rows are zeros, so the weights have no gradient, and they changed: plain SGD has no weight decay"
    )
    assert _near(found, _after(start, x, y, 30, 0.1)), "plain SGD has no momentum"


def test_clears(fit):
    x, y = _data(20)
    start = _fitted(fit, x, y, 0, 0.1)[0]
    found = _fitted(fit, x, y, 4, 0.1)[0]
    assert not _near(found, _after(start, x, y, 4, 0.1, summed=True)), (
        "each step applied the sum of all gradients so far: backward() adds, and nobody clears"
    )
    assert _near(found, _after(start, x, y, 4, 0.1)), "the first step is right, the next ones are not: four are wanted"


def test_clip(fit):
    x, y = _data(20, scale=100.0)
    start = _fitted(fit, x, y, 0, 0.1)[0]
    found = _fitted(fit, x, y, 1, 0.1, clip=1.0)[0]
    assert not _near(found, _after(start, x, y, 1, 0.1)), (
        "with clip=1.0 the whole gradient was applied: clip between backward() and step()"
    )
    length = (found - start).norm().item()
    assert abs(length - 0.1) < 1e-3, (
        f"with clip=1.0 and lr=0.1 the step has length 0.1, not {length:.4f}: "
        "the norm is that of weight and bias together"
    )
    assert _near(found, _after(start, x, y, 1, 0.1, clip=1.0)), (
        "the step has another direction than the gradient: multiply all of it by one factor"
    )


def test_clip_is_a_bound(fit):
    x, y = _data(20)
    start = _fitted(fit, x, y, 0, 0.1)[0]
    assert _near(_fitted(fit, x, y, 1, 0.1, clip=1e4)[0], _after(start, x, y, 1, 0.1)), (
        "a gradient shorter than clip must stay as it is: clip is a bound, not a target"
    )


def test_unclipped_by_default(fit):
    x, y = _data(20, scale=100.0)
    start = _fitted(fit, x, y, 0, 0.1)[0]
    assert _near(_fitted(fit, x, y, 1, 0.1)[0], _after(start, x, y, 1, 0.1)), (
        "without clip the gradient must not change"
    )


def test_data_stays(fit):
    x, y = _data(20)
    kept = x.clone(), y.clone()
    _fitted(fit, x, y, 2, 0.1)
    assert x.equal(kept[0]) and y.equal(kept[1]), "X and y are the caller's: leave them as they are"
    assert not x.requires_grad, "the data need no gradient, the weights do"


def _floor(x, y):
    """The least loss that any linear layer has on these rows."""
    ones = torch.cat([x, torch.ones(len(x), 1)], 1)
    return (ones @ torch.linalg.lstsq(ones, y).solution - y).square().mean().item()


def test_reaches_the_noise(fit):
    x, y = _data()
    losses = _fitted(fit, x, y, 200, 0.1)[1]
    assert losses[-1] < 1.01 * _floor(x, y), (
        f"after 200 epochs at lr 0.1 the loss is at the noise, here {_floor(x, y):.4f}, and not at {losses[-1]:.4f}"
    )


def _judge(rate, x, y):
    if rate is None:
        raise NotImplementedError
    assert isinstance(rate, float | int), "rate is a number"
    losses = [_loss(_after(torch.zeros(x.shape[1] + 1), x, y, epochs, rate), x, y) for epochs in (99, 100)]
    assert losses[1] < 100, f"with lr {rate:g} the loss grows to {losses[1]:.1e}: each step jumps over the minimum"
    assert losses[0] < 1.01 * _floor(x, y), (
        f"with lr {rate:g} the last of 100 losses is {losses[0]:.4f}, and the noise allows {_floor(x, y):.4f}"
    )


def test_rate(rate):
    _judge(rate, *_data())


def test_hidden_rate(rate, seed):
    for case in range(4):
        torch.manual_seed(100 * seed + case)
        _judge(rate, *_data())


def test_hidden_like_torch(fit, reference, seed):
    draw = random.Random(seed)
    for case in range(8):
        x, y = _data(draw.randint(8, 60), draw.randint(1, 7), draw.randint(1, 4), scale=10 ** draw.uniform(-1, 2))
        epochs, lr = draw.randint(1, 30), draw.uniform(0.005, 0.1)
        clip = None if case % 2 else 10 ** draw.uniform(-2, 1)
        (found, ours), (expected, theirs) = (_fitted(one, x, y, epochs, lr, clip) for one in (fit, reference.fit))
        how = "without clip" if clip is None else f"with clip={clip:.3g}"
        assert torch.allclose(torch.tensor(ours), torch.tensor(theirs), rtol=1e-3), (
            f"the losses differ from torch's, {how}, for other sizes and rates"
        )
        assert _near(found, expected), f"the weights after the last epoch differ from torch's, {how}"
