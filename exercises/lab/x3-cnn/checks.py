from functools import cache

import torch
from torch import nn

BUDGET = 50_000
TRAIN, HELD_OUT, BATCH, RATE = 5_000, 2_000, 64, 3e-3
EPOCHS, POINTS = {True: 3, False: 6}, {True: 2, False: 1}  # for FashionMNIST, for the stand-in


def _out(model, x):
    """Logits in eval mode, or a refusal that says why there are none."""
    try:
        with torch.no_grad():
            return model.eval()(x)
    except (RuntimeError, ValueError) as error:
        raise AssertionError(f"images of shape {tuple(x.shape)}: {error}") from None


def test_shape(make_cnn):
    out = _out(make_cnn(), torch.randn(7, 1, 28, 28))
    assert tuple(out.shape) == (7, 10), f"7 images give 7 rows of 10 logits, shape (7, 10), not {tuple(out.shape)}"


def test_any_batch(make_cnn):
    model, x = make_cnn(), torch.randn(9, 1, 28, 28)
    together = _out(model, x)
    for size in (1, 2, 5):
        alone = _out(model, x[:size])
        assert alone.shape == together[:size].shape, f"a batch of {size} gives shape {tuple(alone.shape)}"
        assert torch.allclose(alone, together[:size], atol=1e-4), (
            "in eval mode the logits of an image depend on the other images of its batch"
        )


def test_budget(make_cnn):
    count = sum(p.numel() for p in make_cnn().parameters())
    assert 0 < count <= BUDGET, f"{count:,} parameters, where at most {BUDGET:,} are allowed"


def test_logits(make_cnn):
    out = _out(make_cnn(), 3 * torch.randn(16, 1, 28, 28)).double()
    total = out.exp().sum(1)
    probabilities = bool((out >= 0).all()) and bool(((out.sum(1) - 1).abs() < 1e-4).all())
    assert not probabilities, "the outputs are probabilities: leave the softmax to the loss"
    assert bool(((total - 1).abs() > 1e-4).any()), "the outputs are log-probabilities: leave the softmax to the loss"


def test_convolves(make_cnn):
    model, sliding = make_cnn(), []

    def note(layer, inputs, out):
        places = out.shape[-1] * out.shape[-2]
        sliding.append(max(layer.kernel_size) > 1 and places > 1)

    for layer in model.modules():
        if isinstance(layer, nn.Conv2d):
            layer.register_forward_hook(note)
    _out(model, torch.randn(2, 1, 28, 28))
    assert sliding, "no nn.Conv2d takes part in the forward pass"
    assert any(sliding), (
        "no convolution shares weights between places: a kernel must see neighbours and go over many places"
    )


def test_fresh(make_cnn):
    first, second = make_cnn(), make_cnn()
    shared = {id(p) for p in first.parameters()} & {id(p) for p in second.parameters()}
    assert not shared, "two calls return the same parameters: build the network inside the function"
    score = _accuracy(first, *_images(0)[1])
    assert score < 0.45, f"the new network already has {score:.0%} right: return it untrained"


@cache
def _clothes():
    from torchbook import data

    return data.fashion_mnist(train=True)


@cache
def _images(seed):
    """Images and labels for training, and held-out ones, drawn by the seed; normalised as in the lab."""
    clothes = _clothes()
    order = torch.randperm(len(clothes.targets), generator=torch.Generator().manual_seed(seed))
    order = order[: TRAIN + HELD_OUT]
    x = ((clothes.data[order].float() / 255 - 0.2860) / 0.3530).unsqueeze(1)
    y = clothes.targets[order]
    return (x[:TRAIN], y[:TRAIN]), (x[TRAIN:], y[TRAIN:])


def _accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        right = sum(int((model(a).argmax(1) == b).sum()) for a, b in zip(x.split(500), y.split(500), strict=True))
    return right / len(y)


def _moved(x, dx, dy):
    """The images moved by at most two pixels; what comes in is background."""
    framed = nn.functional.pad(x, (2, 2, 2, 2), value=-0.2860 / 0.3530)
    return framed[:, :, 2 - dy : 30 - dy, 2 - dx : 30 - dx]


def _trained_accuracy(make, seed):
    """Mean accuracy on the held-out images, in five places, after the recipe."""
    (x, y), (x_held, y_held) = _images(seed)
    torch.manual_seed(seed)
    model = make()
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    epochs = EPOCHS[_clothes().source.real]
    steps = epochs * -(-TRAIN // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    model.train()
    for _ in range(epochs):
        for index in torch.randperm(TRAIN).split(BATCH):
            loss = nn.functional.cross_entropy(model(x[index]), y[index])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    places = ((0, 0), (2, 0), (-2, 0), (0, 2), (0, -2))
    return sum(_accuracy(model, _moved(x_held, *place), y_held) for place in places) / len(places)


def _mlp():
    return nn.Sequential(
        nn.Flatten(),
        *(nn.Linear(784, 256), nn.ReLU(), nn.Dropout(0.2)),
        *(nn.Linear(256, 256), nn.ReLU(), nn.Dropout(0.2)),
        nn.Linear(256, 10),
    )


@cache
def _mlp_accuracy(seed):
    return _trained_accuracy(_mlp, seed)


def _beats_the_mlp(make_cnn, seed):
    for check in (test_shape, test_any_batch, test_budget, test_logits, test_convolves, test_fresh):
        check(make_cnn)
    mine, mlp = _trained_accuracy(make_cnn, seed), _mlp_accuracy(seed)
    points = POINTS[_clothes().source.real]
    assert mine >= mlp + points / 100, (
        f"mean accuracy in five places: your network {mine:.1%}, the lab's MLP {mlp:.1%}; {points} points more are "
        "asked for"
    )


def test_beats_the_mlp(make_cnn):
    _beats_the_mlp(make_cnn, seed=0)


def test_hidden_beats_the_mlp(make_cnn, seed):
    _beats_the_mlp(make_cnn, seed=1_000 + seed)
