import copy
import random

import torch
from torch import nn
from torch.nn import functional as F


def _task(seed=0, n=22, inputs=5, classes=3, width=8):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, classes))
    return model, torch.randn(n, inputs), torch.randint(classes, (n,))


def _vector(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def _after(model, batches, lr, summed=False):
    """The parameters after a step for each batch, from gradients taken one by one; `summed`: never cleared."""
    model = copy.deepcopy(model)
    total = [torch.zeros_like(p) for p in model.parameters()]
    for x, y in batches:
        slopes = torch.autograd.grad(F.cross_entropy(model(x), y), list(model.parameters()))
        total = [t + g for t, g in zip(total, slopes, strict=True)] if summed else list(slopes)
        with torch.no_grad():
            for p, g in zip(model.parameters(), total, strict=True):
                p -= lr * g
    return _vector(model)


def _near(a, b):
    return torch.allclose(a, b, rtol=1e-4, atol=1e-5)


class _Noting(nn.Module):
    """Answers with given logits, and notes how it was asked."""

    def __init__(self, logits):
        super().__init__()
        self.logits = nn.Parameter(logits)
        self.asked = []

    def forward(self, x):
        self.asked.append((self.training, torch.is_grad_enabled()))
        return self.logits[: len(x)] + 0 * x.sum()


def test_losses(train):
    model, x, y = _task()
    losses = train(model, x, y, 2, 0.1, 8)
    assert isinstance(losses, list) and len(losses) == 6, (
        "22 rows in batches of 8 are three steps an epoch, the last with 6 rows: for two epochs return six losses"
    )
    assert all(isinstance(loss, float) for loss in losses), "each loss is a float: loss.item(), not the tensor"


def test_first_loss(train):
    model, x, y = _task()
    expected = F.cross_entropy(model(x[:8]), y[:8]).item()
    found = train(model, x, y, 1, 0.1, 8)[0]
    assert abs(found - expected) < 1e-4, (
        f"the first batch costs {expected:.3f} before any update, and the list begins with {found:.3f}"
    )


def test_one_step(train):
    model, x, y = _task()
    before, expected = _vector(model), _after(model, [(x, y)], 0.1)
    train(model, x, y, 1, 0.1, 22)
    assert not _vector(model).equal(before), "one step changed nothing: is the gradient there when step() looks at it?"
    assert _near(_vector(model), expected), "one step of plain SGD moves each parameter by -lr times its gradient"


def test_steps(train):
    model, x, y = _task()
    batches = [(x[i : i + 8], y[i : i + 8]) for i in (0, 8, 16)] * 2
    expected, summed = _after(model, batches, 0.1), _after(model, batches, 0.1, summed=True)
    train(model, x, y, 2, 0.1, 8)
    assert not _near(_vector(model), summed), "every step applied the sum of all gradients so far: nobody clears them"
    assert _near(_vector(model), expected), (
        "a single step is right, six are not: each batch is one step, in the order of the rows"
    )


def test_leftover(train):
    model, x, y = _task()
    expected = _after(model, [(x, y)], 0.1)
    F.cross_entropy(model(x), y).backward()
    train(model, x, y, 1, 0.1, 22)
    assert _near(_vector(model), expected), (
        "somebody had tried the loss, and that gradient went into the first step: clear before backward()"
    )


def test_mode(train):
    model = _Noting(torch.zeros(4, 3)).eval()
    train(model, torch.ones(4, 2), torch.tensor([0, 1, 2, 0]), 1, 0.1, 4)
    assert model.asked[0][0], "the model came in eval mode, and was trained so: dropout and batch norm would be off"


def test_accuracy(accuracy):
    logits = torch.tensor([[5.0, 0, 0], [0, 1, 0], [0, 0, 2], [9, 0, 1]])
    found = accuracy(_Noting(logits), torch.ones(4, 2), torch.tensor([0, 1, 2, 2]))
    assert isinstance(found, float), f"return a float, not {type(found).__name__}"
    assert abs(found - 0.75) < 1e-6, f"three of four rows are right, that is 0.75, and not {found:.3f}"


def test_judges(accuracy):
    model = _Noting(torch.eye(3))
    accuracy(model, torch.ones(3, 2), torch.arange(3))
    training, recording = model.asked[-1]
    assert not training, "the model judged in train mode: dropout would draw"
    assert not recording, "the answers were recorded for a backward() that never comes"


def test_hidden_random(train, accuracy, reference, seed):
    draw = random.Random(seed)
    for case in range(6):
        n, size = draw.randint(5, 40), draw.randint(1, 12)
        ours, x, y = _task(100 * seed + case, n, draw.randint(1, 6), draw.randint(2, 5))
        theirs = copy.deepcopy(ours)
        epochs, lr = draw.randint(0, 4), draw.uniform(0.01, 0.5)
        found, expected = train(ours, x, y, epochs, lr, size), reference.train(theirs, x, y, epochs, lr, size)
        assert len(found) == len(expected), f"{n} rows, batches of {size}, {epochs} epochs: another number of losses"
        assert torch.allclose(torch.tensor(found), torch.tensor(expected), rtol=1e-3, atol=1e-4), (
            "the losses differ for other sizes and rates"
        )
        assert abs(accuracy(ours, x, y) - reference.accuracy(theirs, x, y)) < 1e-6, "the accuracy differs"
