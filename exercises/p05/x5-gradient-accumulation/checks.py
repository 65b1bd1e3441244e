import copy
import random

import torch
from torch import nn
from torch.nn import functional as F


class _Tagger(nn.Module):
    """Logits for each token, (N, T, F) to (N, T, C), and a diary of what was alive at which time."""

    def __init__(self, features=5, classes=4, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.net = nn.Sequential(nn.Linear(features, 7), nn.Tanh(), nn.Linear(7, classes)).double()
        self.alive = self.most_alive = self.most_rows = 0

    def forward(self, x):
        self.most_rows = max(self.most_rows, len(x))
        self.alive += len(x)
        self.most_alive = max(self.most_alive, self.alive)
        out = self.net(x)
        if out.requires_grad:
            n = len(x)
            out.register_hook(lambda _: self.went(n))
        return out

    def went(self, n):
        self.alive -= n


def _batch(rows, length=6, features=5, classes=4, lengths=None, seed=0):
    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, length, features, generator=draw, dtype=torch.float64)
    y = torch.randint(classes, (rows, length), generator=draw)
    if lengths is not None:
        y[torch.arange(length) >= torch.tensor(lengths)[:, None]] = -100
    return x, y


def _whole(model, x, y):
    """Loss and gradients of the whole batch, in one go."""
    model = copy.deepcopy(model)
    model.zero_grad()
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    loss.backward()
    return loss.item(), [p.grad for p in model.parameters()]


def _distance(model, expected):
    found = [p.grad for p in model.parameters()]
    assert all(g is not None for g in found), "after the call there is a gradient in every .grad"
    found, expected = (torch.cat([g.flatten() for g in gs]) for gs in (found, expected))
    return ((found - expected).norm() / expected.norm()).item()


def _same(accumulate, batch, size, message, model=None):
    model = model or _Tagger()
    _, expected = _whole(model, *batch)
    accumulate(model, *batch, size)
    assert _distance(model, expected) < 1e-10, message


def test_equal_parts(accumulate):
    _same(
        accumulate,
        _batch(8),
        2,
        "four equal parts, no padding: backward adds, so four means add up to four times the mean of all",
    )


def test_last_part(accumulate):
    _same(accumulate, _batch(7), 3, "7 rows in parts of 3: the last has one row, which counts as much as any other")


def test_padding(accumulate):
    _same(
        accumulate,
        _batch(8, lengths=[6, 6, 5, 6, 1, 2, 1, 1]),
        4,
        "23 tokens in one part and 5 in the other: each token should weigh the same, not each part",
    )


def test_part_of_padding(accumulate):
    model, batch = _Tagger(), _batch(6, lengths=[6, 3, 0, 0, 2, 5])
    loss, expected = _whole(model, *batch)
    found = accumulate(model, *batch, 2)
    assert abs(found - loss) < 1e-6, (
        f"a part of nothing but padding adds nothing, and the loss is {float(found):.3g}: a mean over no tokens is NaN"
    )
    assert _distance(model, expected) < 1e-10, "a part of nothing but padding must add nothing to the gradient"


class _Words(nn.Module):
    """Logits for each token of (N, T)."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.net = nn.Sequential(nn.Embedding(9, 5), nn.Linear(5, 4)).double()

    def forward(self, x):
        return self.net(x)


def test_tokens(accumulate):
    x, (_, y) = torch.arange(30).reshape(5, 6) % 9, _batch(5, lengths=[6, 1, 3, 2, 5])
    try:
        _same(accumulate, (x, y), 2, "for a batch of shape (N, T) the gradient is not that of the whole", _Words())
    except NotImplementedError:
        raise  # it is a RuntimeError, too
    except (ValueError, IndexError, RuntimeError) as error:
        raise AssertionError(f"a batch of tokens has the shape (N, T), and here it raises: {error}") from None


def test_old_gradients(accumulate):
    model, batch = _Tagger(), _batch(4)
    for p in model.parameters():
        p.grad = torch.full_like(p, 3.0)
    _same(accumulate, batch, 2, "gradients from before the call are still in .grad", model)


def test_one_part_at_a_time(accumulate):
    model = _Tagger()
    accumulate(model, *_batch(12), 3)
    assert model.most_rows <= 3, f"the model was called with {model.most_rows} rows, and 3 fit"
    assert model.most_alive <= 3, (
        f"at one time graphs of {model.most_alive} rows were waiting for backward: the memory of the whole batch"
    )


def test_returns_the_loss(accumulate):
    model, batch = _Tagger(), _batch(8, lengths=[6, 6, 5, 6, 1, 2, 1, 1])
    expected, _ = _whole(model, *batch)
    found = accumulate(model, *batch, 4)
    assert isinstance(found, float), "return the loss as a Python float, which holds no graph"
    assert abs(found - expected) < 1e-6, "the loss returned is not the mean over all tokens of the whole batch"


def _step_of_all(model, batch, max_norm, optimizer):
    copied = copy.deepcopy(model)
    optimizer = optimizer(copied.parameters())
    _, grads = _whole(copied, *batch)
    for p, g in zip(copied.parameters(), grads, strict=True):
        p.grad = g
    norm = nn.utils.clip_grad_norm_(copied.parameters(), max_norm).item()
    optimizer.step()
    return norm, list(copied.parameters())


def _sgd(parameters):
    return torch.optim.SGD(parameters, lr=1.0)


def _adam(parameters):
    return torch.optim.Adam(parameters, lr=0.01)


def test_clips_the_sum(step):
    model, batch = _Tagger(), _batch(8, lengths=[6, 6, 5, 6, 1, 2, 1, 1])
    _, expected = _step_of_all(model, batch, 0.05, _sgd)
    step(model, _sgd(model.parameters()), *batch, 2, 0.05)
    assert all(torch.allclose(p, q, rtol=1e-4) for p, q in zip(model.parameters(), expected, strict=True)), (
        "the weights are not those after one clipped step of the whole batch: clip the complete gradient, once"
    )


def test_no_clipping_below(step):
    model, batch = _Tagger(), _batch(8)
    _, expected = _step_of_all(model, batch, 1e9, _sgd)
    step(model, _sgd(model.parameters()), *batch, 2, 1e9)
    assert all(torch.allclose(p, q, rtol=1e-9) for p, q in zip(model.parameters(), expected, strict=True)), (
        "a gradient whose norm is below `max_norm` is not clipped: the step is that of the whole batch"
    )


def test_one_update(step):
    model, batch = _Tagger(), _batch(8)
    optimizer = _adam(model.parameters())
    step(model, optimizer, *batch, 2, 1e9)
    updates = {int(state["step"]) for state in optimizer.state.values()}
    assert updates == {1}, f"one batch is one update of the optimizer; Adam counted {sorted(updates)}"


def test_norm(step):
    model, batch = _Tagger(), _batch(8)
    expected, _ = _step_of_all(model, batch, 0.01, _sgd)
    found = step(model, _sgd(model.parameters()), *batch, 2, 0.01)
    assert isinstance(found, float), "return the norm as a Python float"
    assert abs(found / expected - 1) < 1e-6, "the norm returned is not that of the whole gradient before clipping"


class _LessMean(nn.Module):
    """A batch normalisation of somebody's own."""

    def forward(self, x):
        return x - x.mean(0)


class _Pairs(nn.Module):
    """Adds to each row the row after it, as a contrastive loss might."""

    def forward(self, x):
        return x + x.roll(-1, 0)


class _Before(nn.Module):
    """Adds to each row the rows before it."""

    def forward(self, x):
        return x.cumsum(0)


class _After(nn.Module):
    """Adds to each row the rows after it."""

    def forward(self, x):
        return x.flip(0).cumsum(0).flip(0)


def _says(found, expected, message):
    assert found is not None, "return True or False"
    assert bool(found) == expected, message


def _net(inner):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(5, 6), inner, nn.Tanh(), nn.Linear(6, 3))


def test_batch_norm_mixes(mixes_rows):
    x, model = torch.randn(8, 5), _net(nn.BatchNorm1d(6))
    _says(mixes_rows(model, x), True, "batch normalisation in training mode uses the mean of all rows")
    _says(mixes_rows(model.eval(), x), False, "in evaluation mode batch normalisation uses running statistics only")


def test_mixes_by_any_name(mixes_rows):
    x = torch.randn(8, 5)
    for inner in (_LessMean(), nn.Softmax(0), _Pairs()):
        _says(mixes_rows(_net(inner), x), True, f"{type(inner).__name__} over the rows mixes them, whatever its name")
    _says(mixes_rows(_Before(), x), True, "a sum over the rows so far leaves the first row alone, and no other")
    _says(mixes_rows(_Before(), x[:2]), True, "of two rows, the second gets the first added")
    _says(mixes_rows(_After(), x[:2]), True, "of two rows, the first gets the second added")
    _says(mixes_rows(_Before(), x[:1]), False, "where there is one row, there is no other")
    _says(mixes_rows(_LessMean(), torch.ones(4, 5)), True, "equal rows less their mean are zero, and would not be else")
    for inner in (nn.LayerNorm(6), nn.GroupNorm(2, 6), nn.Softmax(1)):
        _says(mixes_rows(_net(inner), x), False, f"{type(inner).__name__} looks at one row at a time")


def test_normalised_output(mixes_rows):
    model = nn.Sequential(_net(nn.BatchNorm1d(6)), nn.Softmax(1))
    _says(mixes_rows(model, torch.randn(8, 5)), True, "rows are mixed, though each output sums to one whatever happens")


def test_dropout_mixes_nothing(mixes_rows):
    _says(
        mixes_rows(_net(nn.Dropout(0.5)), torch.randn(8, 5)), False, "dropout draws a mask for each row, and mixes none"
    )


def test_leaves_the_model(mixes_rows):
    model = _net(nn.BatchNorm1d(6))
    model[1].eval()
    model[0].weight.grad = torch.ones(6, 5)
    before, modes = copy.deepcopy(model.state_dict()), [m.training for m in model.modules()]
    mixes_rows(model, torch.randn(8, 5))
    model[1].train()
    mixes_rows(model, torch.randn(8, 5))
    model[1].eval()
    assert modes == [m.training for m in model.modules()], "the mode of a module has changed"
    assert all(before[k].equal(v) for k, v in model.state_dict().items()), "running statistics or weights have changed"
    grads = [p.grad for p in model.parameters()]
    assert grads[0].equal(torch.ones(6, 5)) and grads[1] is None, "looking has written into .grad"


def test_hidden_random(accumulate, step, seed):
    draw = random.Random(seed)
    for case in range(8):
        rows, length = draw.randint(2, 12), draw.randint(1, 7)
        lengths = [draw.randint(0, length) for _ in range(rows)]
        lengths[draw.randrange(rows)] = length
        batch, size = _batch(rows, length, lengths=lengths, seed=seed + case), draw.randint(1, rows + 2)
        told = f"{rows} rows of {lengths} tokens in parts of {size}"
        model = _Tagger(seed=case)
        loss, expected = _whole(model, *batch)
        assert abs(accumulate(model, *batch, size) - loss) < 1e-6, f"the loss is wrong for {told}"
        assert _distance(model, expected) < 1e-10, f"the gradient is wrong for {told}"
        norm, weights = _step_of_all(model, batch, 0.1, _sgd)
        assert abs(step(model, _sgd(model.parameters()), *batch, size, 0.1) / norm - 1) < 1e-6, (
            f"the norm is wrong for {told}"
        )
        assert all(torch.allclose(p, q, rtol=1e-4) for p, q in zip(model.parameters(), weights, strict=True)), (
            f"the update is wrong for {told}"
        )


def test_hidden_mixing(mixes_rows, seed):
    draw = random.Random(seed)
    kinds = [(nn.BatchNorm1d(6), True), (_LessMean(), True), (_Pairs(), True), (nn.Softmax(0), True)]
    kinds += [(nn.LayerNorm(6), False), (nn.Dropout(0.3), False), (nn.ReLU(), False), (nn.Softmax(1), False)]
    for _ in range(16):
        inner, expected = draw.choice(kinds)
        model = nn.Sequential(_net(copy.deepcopy(inner)), *draw.choice(([], [nn.Softmax(1)], [nn.Dropout(0.1)])))
        says = "mixes" if expected else "does not mix"
        message = f"a model with {type(inner).__name__} inside {says} rows"
        _says(mixes_rows(model, torch.randn(draw.randint(4, 9), 5)), expected, message)
