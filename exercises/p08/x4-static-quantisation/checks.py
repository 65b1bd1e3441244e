import copy

import torch
from torch import nn
from torch.nn import functional as F


def _raises(function, *args):
    """The words of a ValueError, or None."""
    try:
        function(*args)
    except ValueError as error:
        return str(error)
    return None


def test_range(observed):
    found = observed([torch.tensor([[-1.0, 2.0]]), torch.tensor([0.5]), torch.tensor([[0.0], [1.0]])])
    assert tuple(found) == (-1.0, 2.0), f"the range of all batches together is -1 to 2, not {found}"
    for numbers, expected in (([2.0, 6.0], (0.0, 6.0)), ([-3.0, -1.0], (-3.0, 0.0))):
        found = observed([torch.tensor(numbers)])
        assert tuple(found) == expected, f"the range of {numbers} with 0 in it is {expected}, not {found}"
        assert not any(isinstance(end, torch.Tensor) for end in found), f"return two Python floats, not {found}"


def test_percentile(observed):
    batches = [
        torch.linspace(-1, 3, 401),
        torch.linspace(0, 3, 301),
        torch.cat([torch.ones(297), torch.full((3,), 900.0)]),
    ]
    low, high = observed(batches, 0.99)
    together = torch.cat(batches)
    expected = tuple(together.quantile(q).item() for q in (0.005, 0.995))
    assert not isinstance(low, torch.Tensor), f"return two Python floats, not {low!r}"
    assert high < 10, f"three outliers of 900 in a thousand numbers decide the range: up to {high:g}"
    assert abs(low - expected[0]) < 1e-3 and abs(high - expected[1]) < 1e-3, (
        f"the middle 99 percent of all batches together are {expected[0]:.3f} to {expected[1]:.3f}, "
        f"not {low:.3f} to {high:.3f}"
    )
    assert observed([torch.linspace(2, 3, 101)], 0.9)[0] == 0.0, "a range without its tails must contain 0 too"


def test_refuses_no_data(observed):
    for batches, what in (
        ([], "no batch at all"),
        ([torch.ones(3), torch.tensor([1.0, float("nan")])], "nan"),
        ([torch.tensor([1.0, float("inf")])], "an infinite number"),
        ([torch.tensor([1.0, -float("inf")])], "an infinite number"),
        ([torch.zeros(4, 4)], "nothing but zeros"),
    ):
        for share in (1.0, 0.99):
            assert _raises(observed, batches, share) is not None, f"a range was made of {what}"


def test_parameters(parameters):
    for low, high in ((0.0, 6.0), (-1.0, 3.0), (-2.0, 0.0), (-0.8, 2.03)):
        scale, zero = parameters(low, high)
        assert isinstance(scale, float), f"the scale is a Python float, not {scale!r}"
        assert isinstance(zero, int) and -128 <= zero <= 127, (
            f"for {low} to {high}, the code of the number 0 is an int from -128 to 127, not {zero!r}"
        )
        assert abs(scale - (high - low) / 255) < 1e-6, (
            f"{low} to {high} has 255 steps of {(high - low) / 255:.5f}, not of {scale:.5f}: are codes unused?"
        )
        ends = low / scale + zero, high / scale + zero
        assert abs(ends[0] + 128) < 0.51 and abs(ends[1] - 127) < 0.51, (
            f"{low} and {high} get the codes {ends[0]:.1f} and {ends[1]:.1f}, not -128 and 127"
        )


def test_weights(Quantised):
    torch.manual_seed(0)
    layer = nn.Conv2d(2, 4, 3)
    with torch.no_grad():
        layer.weight[1] *= 100
        layer.weight[2] = 0
    before = layer.weight.detach().clone()
    made = Quantised(layer, 0.0, 2.55)
    assert layer.weight.equal(before), "the given layer must not be changed, but its weights were"
    codes = made.weight.int().flatten(1)
    assert made.weight.dtype == torch.int8, f"weights are kept as int8, not as {made.weight.dtype}"
    largest = codes.abs().amax(1).tolist()
    assert largest == [127, 127, 0, 127], (
        f"the largest codes of the channels are {largest}, not 127, 127, 0, 127: each channel has its own scale"
    )
    assert made.factor.shape == (4,), f"one factor for each channel, not the shape {tuple(made.factor.shape)}"
    for i in (0, 1, 3):
        expected = 0.01 * layer.weight[i].abs().max().item() / 127
        assert abs(made.factor[i].item() / expected - 1) < 1e-3, "the factor is the input's scale times the weight's"
    exact = before.flatten(1) * 127 / before.flatten(1).abs().amax(1, keepdim=True).clamp(min=1e-12)
    others = (codes != exact.round()).float().mean().item()
    assert others < 0.05, f"weights are rounded to the nearest code, but {others:.0%} of them have a different one"
    found = made(torch.rand(1, 2, 5, 5))
    assert not found.requires_grad and not made.factor.requires_grad, "keep numbers only, not the graph of the weights"
    assert torch.isfinite(found).all(), "a channel of zeros is divided by its scale, 0"


def _emulated(layer, low, high, x):
    """The layer on rounded inputs, weights and bias, in float64."""
    scale = (high - low) / 255
    zero = round(-128 - low / scale)
    weight = layer.weight.detach().double()
    scales = weight.flatten(1).abs().amax(1).clamp(min=1e-12) / 127
    by_channel = scales.view(-1, *[1] * (weight.dim() - 1))
    x = ((x.double() / scale + zero).round().clamp(-128, 127) - zero) * scale
    weight = (weight / by_channel).round() * by_channel
    bias = None if layer.bias is None else (layer.bias.detach().double() / (scale * scales)).round() * scale * scales
    if isinstance(layer, nn.Linear):
        return F.linear(x, weight, bias)
    return F.conv2d(x, weight, bias, layer.stride, layer.padding)


def _agree(Quantised, layer, low, high, x, words):
    made = Quantised(layer, low, high)
    with torch.no_grad():
        found, plain = made(x), layer(x)
    expected = _emulated(layer, low, high, x)
    assert found.shape == plain.shape, (
        f"{words}: the shape is {tuple(found.shape)}, the layer's is {tuple(plain.shape)}"
    )
    step = expected.abs().max().item()
    worst = (found - expected).abs().max().item() / step
    # one code that is rounded the other way in float32 is allowed
    assert worst < 0.02, f"{words}: off by {worst:.1%} of the largest output from the same computation in float64"
    return made


def test_padding(Quantised):
    torch.manual_seed(0)
    layer = nn.Conv2d(2, 3, 3, padding=1)
    x = torch.rand(2, 2, 4, 4) * 3 - 1
    _agree(Quantised, layer, -1.0, 2.0, x, "at the border, where the number 0 is padded and its code is not 0")


def test_integers(Quantised):
    torch.manual_seed(0)
    x = torch.rand(5, 300) * 4 - 1
    layer = nn.Linear(300, 6)
    with torch.no_grad():
        layer.bias.mul_(50)
    made = _agree(Quantised, layer, -1.0, 3.0, x, "sums over 300 inputs, and a large bias")
    assert made.bias.dtype == torch.int32, f"the bias is added to integers, as int32, not as {made.bias.dtype}"
    assert (made.bias * made.factor - layer.bias).abs().max() < 1e-3, "the unit of the integer bias is `factor`"
    _agree(Quantised, nn.Linear(300, 6, bias=False), -1.0, 3.0, x, "a layer without a bias")
    _agree(Quantised, nn.Linear(300, 6), 0.0, 1.0, x, "inputs outside the range, which are clamped to its ends")
    _agree(Quantised, nn.Conv2d(2, 3, 3, stride=2), -1.0, 3.0, x[:, :288].reshape(5, 2, 12, 12), "a stride of 2")
    square = x[:, :288].reshape(5, 2, 12, 12)
    uneven = nn.Conv2d(2, 3, (3, 2), stride=(2, 1), padding=(0, 1))
    _agree(Quantised, uneven, -1.0, 3.0, square, "a different stride and padding in each dimension")


class _Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU())
        self.wide = nn.Conv2d(4, 6, 3, stride=2, padding=1)
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(6 * 16, 5))

    def forward(self, x):
        return self.head(torch.relu(self.wide(self.body(x))))


def _images(n, seed=0):
    """Pictures from 0 to 1, half of them background, and the same as the model wants them."""
    torch.manual_seed(seed)
    x = torch.rand(n, 1, 8, 8) * (torch.rand(n, 1, 8, 8) > 0.5)
    return x, (x - 0.286) / 0.353


def _net(seed=0):
    torch.manual_seed(seed)
    model = _Net()
    for k in range(5):
        model(_images(32, k)[1])  # statistics for the batch norm
    return model  # in training mode


def _layer_inputs(model, batches):
    model = copy.deepcopy(model).eval()
    with torch.no_grad():
        bodies = [model.body(x) for x in batches]
        heads = [model.head[:2](torch.relu(model.wide(x))) for x in bodies]
    return {"body.0": list(batches), "wide": bodies, "head.2": heads}


def test_calibration(static):
    model = _net()
    before = copy.deepcopy(model.state_dict())
    batches = [_images(16, 1)[1], 3 * _images(16, 7)[1], _images(16, 2)[1]]
    later = 2 * _images(16, 3)[1]
    later[0, 0, 0, 0] = 30.0  # seen by the test of the ranges alone
    try:
        made = static(model, batches, later)
    except ValueError as error:
        raise AssertionError(f"all batches together cover the later data, except for one number: {error}") from None
    for name, parts in _layer_inputs(model, batches).items():
        layer = made.get_submodule(name)
        assert not isinstance(layer, nn.Conv2d | nn.Linear), f"{name} is still a float layer"
        everything = torch.cat([p.flatten() for p in parts])
        low, high = min(everything.min().item(), 0.0), max(everything.max().item(), 0.0)
        assert abs(layer.scale * 255 - (high - low)) < 1e-3 * (high - low), (
            f"the inputs of {name} in eval mode, over all batches, range over {high - low:.3f}; "
            f"its codes cover {layer.scale * 255:.3f}"
        )
    assert not made.training, "the copy is not in eval mode"
    assert all(before[k].equal(v) for k, v in model.state_dict().items()), "calibration changed the model's statistics"
    assert all(module.training for module in model.modules()), "the mode of the caller's model was changed"
    assert isinstance(model.wide, nn.Conv2d), "the layers of the caller's model were replaced"
    hooks = [m for m in (*model.modules(), *made.modules()) if m._forward_pre_hooks or m._forward_hooks]
    assert not hooks, "a hook was left on the model, which would keep the inputs of every later call"
    low, high = torch.cat(batches).quantile(torch.tensor([0.05, 0.95])).tolist()
    found = static(model, batches, batches[0], 0.9).get_submodule("body.0").scale * 255
    assert abs(found - (high - low)) < 1e-3 * (high - low), (
        f"the middle 90 percent of the inputs of body.0 range over {high - low:.3f}; its codes cover {found:.3f}"
    )


_recorded = []  # whether gradients were


class _Sides(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(4, 2), nn.Linear(4, 2)

    def forward(self, x):
        _recorded.append(torch.is_grad_enabled())
        return self.left(x[:, :4]) + self.right(x[:, 4:])


def test_names_and_gradients(static):
    torch.manual_seed(0)
    model, x = _Sides(), torch.randn(64, 8)
    _recorded.clear()
    assert _raises(static, model, [x], x) is None, "calibration with the right data is refused"
    assert not any(_recorded), "the model must run without gradients, but they were recorded"
    for name, part in {"left": slice(0, 4), "right": slice(4, 8)}.items():
        later = x.clone()
        later[:, part] *= 9
        words = _raises(static, model, [x], later)
        assert words is not None and name in words, (
            f"only the inputs of {name} do not fit, and the error must name it: {words!r}"
        )


def test_limits(static):
    model, calibration = nn.Sequential(nn.Linear(10, 3)), torch.linspace(-1, 1, 100).view(10, 10)
    step, middle = 2 / 255, torch.linspace(-0.9, 0.9, 100)

    def refused(*numbers):
        later = middle.clone()
        later[: len(numbers)] = torch.tensor(numbers)
        return _raises(static, model, [calibration], later.view(10, 10)) is not None

    for end in (1.0, -1.0):
        assert not refused(*[end] * 10), f"{end} belongs to the range from -1 to 1"
        assert not refused(*[end + end * 0.3 * step] * 10), "outside by less than half a scale: rounding's own error"
        assert refused(*[end + end * 0.7 * step] * 10), (
            "10 percent are outside by more than half a scale, which is too many"
        )
        assert not refused(*[5 * end] * 4), "4 percent outside the range are not too many"
        assert refused(*[5 * end] * 6), "6 percent are outside the range, which is too many"
        for low, high, told in (
            (0.0, 0.54, "27 percent of the range is more than a quarter"),
            (0.4, 0.54, "with 0 they span 27 percent of the range"),
        ):
            assert not refused(*(end * torch.linspace(low, high, 100)).tolist()), (
                f"{low} to {high}, times {end}: {told}"
            )
        assert refused(*(end * torch.linspace(0, 0.46, 100)).tolist()), "23 percent of the range is too little"


def test_refuses_wrong_data(static):
    model = _net()
    raw, right = _images(64, 1)
    later = _images(32, 2)[1]
    assert _raises(static, model, [right[:32], right[32:]], later) is None, "calibration with the right data is refused"
    words = _raises(static, model, [raw], later)
    assert words is not None, (
        "calibrated with pictures from 0 to 1 and used with normalised ones: half is clamped, but there is no error"
    )
    assert "body.0" in words, f"the message does not name the layer, body.0: {words!r}"
    words = _raises(static, model, [300 * right], later)
    assert words is not None, (
        "calibrated with a range 300 times too wide: one code is left for everything, but there is no error"
    )
    spoilt = right.clone()
    spoilt[0, 0, 0, 0] = 500.0
    assert _raises(static, model, [spoilt], later) is not None, (
        "a single outlier makes the range too wide, but there is no error"
    )
    assert _raises(static, model, [], later) is not None, "calibrated with nothing, but there is no error"


def test_against_dynamic(static, Dynamic):
    model = _net().eval()
    x = _images(64, 5)[1]
    still = static(model, [_images(64, 1)[1]], x)
    moving = copy.deepcopy(model)
    for name in ("body.0", "wide", "head.2"):
        moving.set_submodule(name, Dynamic(model.get_submodule(name)))
    with torch.no_grad():
        expected = model(x)
        noise = [((m(x) - expected).norm() / expected.norm()).item() for m in (still, moving)]
        assert noise[0] < 0.05 and noise[0] < 2 * noise[1] + 0.01, (
            f"relative error {noise[0]:.3f}, against {noise[1]:.3f} of the dynamic model: calibrated ranges "
            "should cost hardly any accuracy"
        )
        crowd = torch.cat([x[:4], 40 * x[4:5]])
        assert torch.allclose(still(crowd)[:4], still(x[:4]), atol=1e-5), (
            "an unusual neighbour changes the answers, but a static range is a constant"
        )


def test_hidden_layers(Quantised, seed):
    torch.manual_seed(seed)
    for case in range(6):
        low, high = -torch.rand(1).item() * (case % 3), 0.5 + torch.rand(1).item()
        x = low + (high - low) * torch.rand(3, 4, 9, 9)
        conv = nn.Conv2d(4, 5, 3, stride=1 + case % 2, padding=case % 3, bias=case != 2)
        _agree(Quantised, conv, low, high, x, "a convolution of random size")
        _agree(Quantised, nn.Linear(9, 4, bias=case != 1), low, high, x, "a linear layer on inputs of four dimensions")


def test_hidden_model(static, reference, seed):
    model = _net(seed)
    batches, later = [_images(32, seed + k)[1] for k in range(3)], _images(32, seed + 9)[1]
    for share in (1.0, 0.98):
        found, expected = static(model, batches, later, share), reference.static(model, batches, later, share)
        with torch.no_grad():
            a, b = found(later), expected(later)
        gap = (a - b).abs().max().item() / b.abs().max().item()
        assert gap < 0.02, f"with share={share} the outputs are off by {gap:.1%}"
    for wrong in ([0.1 * b for b in batches], [9 * b for b in batches]):
        assert _raises(static, model, wrong, later) is not None, "calibration with wrongly scaled data passes"
