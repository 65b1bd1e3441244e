import random

import torch
from torch import nn


def _mlp(hidden=256, dropout=0.0):
    return nn.Sequential(
        nn.Flatten(), nn.Linear(28 * 28, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, 10)
    )


def _batch(size=64):
    return torch.randn(size, 1, 28, 28), torch.randint(10, (size,))


def _loss(model, x, y):
    with torch.no_grad():
        return nn.functional.cross_entropy(model(x), y).item()


def _curve(bug, lr=0.01, hidden=64):
    """A hundred steps with a planted bug, on random points of ten classes."""
    x, y = torch.randn(64, 32), torch.randint(10, (64,))
    model = nn.Sequential(nn.Linear(32, hidden), nn.ReLU(), nn.Linear(hidden, 10))
    if bug == "softmax":
        model.append(nn.Softmax(1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.0 if bug == "rate" else lr)
    losses = []
    for _ in range(100):
        labels = y[torch.randperm(64)] if bug == "labels" else y
        loss = nn.functional.cross_entropy(model(x), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_one_number_a_step(overfit):
    losses = overfit(_mlp(), *_batch(), steps=7)
    assert len(losses) == 7, f"steps=7 must give 7 losses, not {len(losses)}"
    assert all(type(loss) is float for loss in losses), (
        "the losses must be floats: a list of tensors keeps the graph of every step in memory; note loss.item()"
    )


def test_first_loss(overfit):
    model, (x, y) = _mlp(), _batch()
    before = _loss(model, x, y)
    assert abs(overfit(model, x, y, steps=2)[0] - before) < 1e-4, (
        "the first loss must be that of the untouched model: note it before the update"
    )


def test_dropout_off(overfit):
    model, (x, y) = _mlp(dropout=0.5), _batch()
    before = _loss(model.eval(), x, y)
    assert abs(overfit(model.train(), x, y, steps=2)[0] - before) < 1e-4, (
        "dropout was on: half of the activations were missing"
    )


def test_learns_by_heart(overfit):
    losses = overfit(_mlp(dropout=0.2), *_batch())
    assert losses[-1] < 0.05, f"after 100 steps the loss is {losses[-1]:.2f}: learn the batch by heart, below 0.05"


def test_changes_this_model(overfit):
    model, (x, y) = _mlp(), _batch()
    losses = overfit(model, x, y, steps=20)
    assert _loss(model, x, y) < losses[0], "the model itself must be trained: the curve falls, its loss does not"


def test_mode_restored(overfit):
    for training in (True, False):
        model = _mlp().train(training)
        overfit(model, *_batch(), steps=1)
        came, left = ("train", "eval") if training else ("eval", "train")
        assert model.training == training, f"the model came in {came} mode and is left in {left} mode"


def test_old_gradients(overfit):
    model, (x, y) = _mlp(), _batch()
    start = {name: value.clone() for name, value in model.state_dict().items()}
    clean = overfit(model, x, y, steps=3)
    model.load_state_dict(start)
    for p in model.parameters():
        p.grad = torch.full_like(p, 1e3)
    again = overfit(model, x, y, steps=3)
    assert max(abs(a - b) for a, b in zip(clean, again, strict=True)) < 1e-3, (
        "gradients from before took part in the first update: clear them before each backward()"
    )


def test_fine(diagnose):
    assert diagnose(_curve("fine")) == "fine", (
        "a loss below 0.05 is fine: cross entropy tends to zero and does not arrive there"
    )


def test_rate(diagnose):
    assert diagnose(_curve("rate")) == "rate", "a curve that is level to the last digit was never updated"


def test_softmax(diagnose):
    assert diagnose(_curve("softmax")) == "softmax", (
        "this curve falls steadily towards ln(e + 9) - 1 = 1.46 and stops there: a softmax before the loss"
    )


def test_labels(diagnose):
    assert diagnose(_curve("labels")) == "labels", (
        "this curve goes up and down near ln 10 = 2.30: what one step learned, the next labels contradict"
    )


def test_hidden_overfit(overfit, seed):
    draw = random.Random(seed)
    for _ in range(3):
        inner = nn.Sequential(nn.Linear(784, draw.randint(200, 300)), nn.ReLU(), nn.Dropout(0.9))
        model = nn.Sequential(nn.Flatten(), inner, nn.Linear(inner[0].out_features, 10))
        x, y = _batch(draw.randint(30, 64))
        losses = overfit(model, x, y)
        assert len(losses) == 100, "100 steps are the default"
        end = _loss(model.eval(), x, y)
        assert losses[-1] < 0.05 and end < 0.05, (
            f"a model with nested dropout ends at {losses[-1]:.2f}: switch off every dropout layer"
        )


def test_hidden_curves(diagnose, reference, seed):
    draw = random.Random(seed)
    for lr in (0.002, 0.004, 0.01, 0.02):
        for bug in ("fine", "rate", "softmax", "labels"):
            # At the smallest rate the good curve is still on its way.
            losses = _curve(bug, lr=max(lr, 0.01) if bug == "fine" else lr, hidden=draw.randint(64, 256))
            told, right = diagnose(losses), reference.diagnose(losses)
            assert told == right == bug, f"a curve from {losses[0]:.2f} to {losses[-1]:.2f} is {bug!r}, not {told!r}"
