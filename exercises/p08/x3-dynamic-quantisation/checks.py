import math
import random

import torch
from torch import nn
from torch.nn import functional as F


class _Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.mix = nn.LayerNorm(width), nn.Linear(width, width, bias=False)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Dropout(0.3), nn.Linear(4 * width, width))

    def forward(self, x):
        before = x.cumsum(1) / torch.arange(1, x.shape[1] + 1, device=x.device)[:, None]  # the mean of the past
        return x + self.mlp(self.norm(x + self.mix(before)))


class _Model(nn.Module):
    """A language model of sorts: (B, T) to (B, T, V)."""

    def __init__(self, vocabulary=50, width=32, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList([_Block(width) for _ in range(layers)])
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def _noise(found, expected):
    return ((found - expected).norm() / expected.norm()).item()


def _nearest(codes, scales, x):
    """Check what `quantise_rows` returns."""
    assert codes.dtype == torch.int8, f"codes are int8, not {codes.dtype}"
    assert codes.shape == x.shape, f"codes have the shape of x, {tuple(x.shape)}, not {tuple(codes.shape)}"
    assert scales.shape == (len(x), 1), f"there is one scale per row, {(len(x), 1)}, not {tuple(scales.shape)}"
    expected = x.abs().amax(1, keepdim=True) / 127
    assert torch.allclose(scales, expected, rtol=1e-4), "a scale is the largest absolute value of its row over 127"
    off = ((codes.float() * scales - x).abs() / scales).max().item()
    assert off <= 0.501, (
        f"an error is at most half a step, but one is {off:.2f} steps: did you round, or cut off decimals?"
    )
    assert codes.min() >= -127, "symmetric codes lie between -127 and 127"


def test_rows(quantise_rows):
    x = torch.randn(6, 40) * torch.logspace(-3, 3, 6)[:, None]
    x[2] = -x[2].abs()
    _nearest(*quantise_rows(x), x)


def test_zero_row(quantise_rows):
    codes, scales = quantise_rows(torch.stack([torch.zeros(8), torch.ones(8)]))
    assert codes[0].eq(0).all(), f"a row of zeros has codes of zero, not {codes[0].tolist()}"
    assert scales.isfinite().all(), "the scale of a row of zeros is not a number"
    assert scales.gt(0).all(), "the scale of a row of zeros is 0: dividing by it gives nan"


def test_outlier_weight(Int8Linear):
    linear, x = nn.Linear(64, 10), torch.randn(30, 64)
    with torch.no_grad():
        linear.weight[3, 5] = 100.0
        noise = _noise(Int8Linear(linear)(x)[:, 4:], linear(x)[:, 4:])
    assert noise < 0.03, (
        f"one weight of output 3 is large, but other outputs have an error of {noise:.0%}: each output needs a scale"
    )


def test_loud_token(Int8Linear):
    linear, x = nn.Linear(64, 10), torch.randn(2, 5, 64)
    x[1, 2] *= 1000
    with torch.no_grad():
        layer = Int8Linear(linear)
        layer(100 * x[:1])  # what came before makes no difference
        found, expected = layer(x), linear(x)
        alone = layer(x[0])
    assert found.shape == expected.shape, f"(2, 5, 64) becomes (2, 5, 10), not {tuple(found.shape)}"
    try:
        shape = tuple(layer(x[0, 0]).shape)
    except (IndexError, RuntimeError) as error:
        raise AssertionError(f"inputs have the shape (…, K), which may be just (64,): {error}") from None
    assert shape == (10,), f"an input of shape (64,) becomes (10,), not {shape}"
    noise = _noise(found[0], expected[0])
    assert noise < 0.03, (
        f"one token is loud, but other tokens have an error of {noise:.0%}: each row needs a scale, in each call"
    )
    assert torch.allclose(found[0], alone, atol=1e-5), "a token's result depends on the other tokens in the batch"


def test_sums(Int8Linear):
    linear = nn.Linear(4097, 1, bias=False)
    with torch.no_grad():
        linear.weight.fill_(0.5)
        x = torch.ones(1, 4097)
        found = Int8Linear(linear)(x).item()
    assert abs(found / 2048.5 - 1) < 1e-4, f"4097 * 0.5 is 2048.5, not {found:.1f}: a sum of codes wrapped around"


def test_input_is_quantised(Int8Linear):
    linear = nn.Linear(2, 2, bias=False)
    with torch.no_grad():
        linear.weight.copy_(torch.eye(2))
        found = Int8Linear(linear)(torch.tensor([[127.0, 0.4]]))[0].tolist()
    assert abs(found[1]) < 1e-3 and abs(found[0] - 127) < 0.1, (
        f"the row 127, 0.4 has the scale 1 and the codes 127, 0; the identity turns it into {found}: quantise the input"
    )


def test_sums_are_of_integers(Int8Linear):
    a, b = torch.randint(-127, 128, (2, 2000)).float()
    a[0] = b[0] = 127.0
    x, row, one = torch.cat([a, a]), torch.cat([b, -b]), torch.ones(1)  # whose products add up to 0
    linear = nn.Linear(4001, 8, bias=False)
    orders = [torch.cat([torch.randperm(4000), torch.tensor([4000])]) for _ in range(8)]
    with torch.no_grad():
        for place, order in enumerate(orders):
            linear.weight[place] = 0.01 * torch.cat([row, one])[order]
        found = [Int8Linear(linear)(0.1 * torch.cat([x, one])[order][None])[0, n] for n, order in enumerate(orders)]
    off = max(abs(value.item() / 0.001 - 1) for value in found)
    assert off < 0.01, (
        f"of 4001 products of codes, all but one cancel, and the rest is off by {off:.1%}: sum integers, and "
        "scale the sum once"
    )


def test_state(Int8Linear):
    linear, other = nn.Linear(40, 20), nn.Linear(40, 20)
    layer = Int8Linear(linear)
    assert not list(layer.parameters()), (
        "the layer has parameters, perhaps of the float layer: codes, scales and bias are buffers"
    )
    assert not any(buffer.requires_grad for buffer in layer.buffers()), (
        "a buffer has a grad_fn, which keeps the float weights: keep codes, scales and bias, and nothing else"
    )
    held = sum(t.nbytes for t in layer.state_dict().values())
    assert held <= 800 + 20 * 4 + 20 * 4, f"800 codes, 20 scales and 20 biases take 960 bytes, but the state has {held}"
    x = torch.randn(3, 40)
    with torch.no_grad():
        expected, second = layer(x), Int8Linear(other)
        second.load_state_dict(layer.state_dict())
        assert second(x).equal(expected), (
            "with the state of a different layer, it does not compute the same: what is missing from the state?"
        )
        linear.weight.zero_()
        linear.bias.zero_()
        assert layer(x).equal(expected), "it shares memory with the float layer"


def test_replaces(quantised, Int8Linear):
    model = _Model()
    before = {name: t.clone() for name, t in model.state_dict().items()}
    small = quantised(model, keep=("head", "blocks.0.mlp.3"))
    assert small is not model, "return a copy, not the given model"
    left = [name for name, module in small.named_modules() if type(module) is nn.Linear]
    assert left == ["blocks.0.mlp.3", "head"], f"the remaining float layers are blocks.0.mlp.3 and head, not {left}"
    made = [name for name, module in small.named_modules() if isinstance(module, Int8Linear)]
    assert len(made) == 5, f"five layers are replaced, at any depth, not {made}"
    kinds = [type(module) for module in model.modules()]
    assert Int8Linear not in kinds, "the given model has int8 layers now: replace them in a copy"
    for name, tensor in model.state_dict().items():
        assert tensor.equal(before[name]), f"{name} of the given model has changed"
    with torch.no_grad():
        model.embed.weight.zero_()
    assert small.embed.weight.abs().max() > 0, "the copy shares its embedding with the given model"


class _Twice(nn.Module):
    """One layer under two names."""

    def __init__(self):
        super().__init__()
        self.first = self.second = nn.Linear(8, 8)


def test_two_names(quantised, Int8Linear):
    small = quantised(_Twice())
    assert isinstance(small.first, Int8Linear), "a layer with two names was not replaced"
    assert small.second is small.first, (
        "a layer with two names is one layer, but it was replaced under only one of them"
    )


def test_size(size):
    model = nn.Sequential(nn.Embedding(10, 8), nn.BatchNorm1d(8), nn.Linear(8, 10, bias=False))
    model[2].weight = model[0].weight
    expected = 320 + 4 * 32 + 8
    found = size(model)
    assert found == expected, (
        f"a weight in two places, a norm with two parameters and three buffers: {expected} bytes, not {found}"
    )
    codes = nn.Module()
    codes.register_buffer("codes", torch.zeros(7, 3, dtype=torch.int8))
    assert size(codes) == 21, f"21 codes of int8 are 21 bytes, not {size(codes)}"


_RECORDED = []  # whether a graph was recorded, of each call of the model below


class _Repeats(nn.Module):
    """Is sure that the next token is the one that it sees."""

    def forward(self, tokens):
        _RECORDED.append(torch.is_grad_enabled())
        return 20.0 * F.one_hot(tokens, 6).float()


def test_loss(next_token_loss):
    _RECORDED.clear()
    tokens = torch.tensor([[1, 1, 1, 1, 1], [2, 2, 2, 2, 2]])
    assert next_token_loss(_Repeats(), tokens) < 1e-3, (
        "every token equals the one before it, and this model knows that, so its loss is near 0"
    )
    found = next_token_loss(_Repeats(), torch.tensor([[0, 1, 2, 3, 4]]))
    assert isinstance(found, float), f"the loss is a float, not {type(found).__name__}"
    assert not any(_RECORDED), "the model must run without a graph, but one was recorded"
    assert abs(found - 20) < 0.01, (
        f"no token equals the one before it, so the loss is 20, not {found:.3g}: is it shifted?"
    )
    model = _Model()
    tokens = torch.randint(50, (2, 12))
    losses = next_token_loss(model, tokens), next_token_loss(model, tokens)
    assert losses[0] == losses[1], "two calls differ: dropout is on"
    assert model.training, "the model was left in eval mode"


def test_mode_of_each_module(next_token_loss):
    model = _Model()
    model.blocks[0].eval()
    before = [module.training for module in model.modules()]
    next_token_loss(model, torch.randint(50, (2, 12)))
    assert [module.training for module in model.modules()] == before, (
        "a block that arrived in eval mode, perhaps frozen, was left in training mode"
    )


def test_hidden_models(quantised, size, next_token_loss, seed):
    draw = random.Random(seed)
    vocabulary, width, layers = draw.randint(20, 80), 8 * draw.randint(4, 8), draw.randint(1, 3)
    model = _Model(vocabulary, width, layers)
    with torch.no_grad():
        model.blocks[0].mix.weight[0, 0] = 30.0
        model.embed.weight[draw.randrange(vocabulary)] *= 200
    small = quantised(model)
    tokens = torch.randint(vocabulary, (4, 20))
    told = f"vocabulary {vocabulary}, width {width}, {layers} layers"
    model.eval(), small.eval()
    with torch.no_grad():
        expected, found = model(tokens), small(tokens)
    noise = ((found - expected).norm(dim=-1) / expected.norm(dim=-1)).median().item()
    assert noise < 0.05, f"{told}: the logits of a token are off by {noise:.0%}"
    logits = expected[:, :-1].flatten(0, 1)
    loss = F.cross_entropy(logits, tokens[:, 1:].flatten()).item()
    given = next_token_loss(model, tokens)
    assert math.isclose(given, loss, rel_tol=1e-4), f"{told}: the loss is {loss:.4f}, not {given:.4f}"
    weights = sum(m.weight.numel() for m in model.modules() if type(m) is nn.Linear)
    rows = sum(m.out_features for m in model.modules() if type(m) is nn.Linear)
    saved = size(model) - size(small)
    assert saved == 3 * weights - 4 * rows, (
        f"{told}: three of four bytes of each weight are saved, minus a scale for each output, not {saved}"
    )
