import copy
import random

import torch
from torch import nn
from torch.nn import functional as F

HALF, BRAIN, SINGLE = torch.float16, torch.bfloat16, torch.float32


def _near(found, expected, tolerance=1e-6):
    return abs(found - expected) <= tolerance * max(1e-12, abs(expected))


def test_both_ends(study):
    t = torch.tensor([1e-9, 1e-8, 1.0, 2.0, -3.0, 7e4, -1e5, 1e6, 4.0, 5.0])
    found = study(t, HALF)
    assert _near(found["zero"], 0.2), "of ten elements, 1e-9 and 1e-8 are zero in float16"
    assert _near(found["infinite"], 0.3), (
        "of ten elements, 7e4, -1e5 and 1e6 are infinite in float16, whatever the sign"
    )
    found = study(t, BRAIN)
    assert found["zero"] == found["infinite"] == 0, "bfloat16 has the range of float32: none of these is lost"


def test_floats(study):
    for t in (torch.tensor([1e-9, 1.0, 1e9]), torch.zeros(3), torch.tensor([1e-9])):
        kinds = {type(study(t, HALF)[key]) for key in ("zero", "infinite", "error")}
        assert kinds == {float}, "the three are Python floats, which can be printed and written to a file as they are"


def test_zeros_do_not_count(study):
    found = study(torch.tensor([0.0, 0.0, 0.0, 1e-9, 1.0]), HALF)
    assert _near(found["zero"], 0.5), f"one of the two elements that are not zero is lost: 0.5, not {found['zero']:.3g}"


def test_nothing_to_lose(study):
    found = study(torch.zeros(2, 3), HALF)
    assert [found[key] for key in ("zero", "infinite", "error")] == [0.0, 0.0, 0.0], (
        "where all is zero, nothing is lost"
    )


def test_scaled(study):
    t = torch.tensor([[1e-8, 1.0], [2e-8, 3.0]])
    assert study(t, HALF, 1024.0)["zero"] == 0, "multiply by the scale before rounding: 1e-8 times 1024 is there"
    assert _near(study(t, HALF, 2.0**15)["infinite"], 0.25), "3 times 2**15 is more than float16 has"


def test_error(study):
    t = torch.tensor([1.0 + 2.0**-11, 1e-9, 1e9, 0.0])
    found = study(t, HALF)["error"]
    expected = 1 - 1 / (1 + 2.0**-11)
    assert _near(found, expected), (
        f"1 + 2**-11 rounds to 1, an error of {expected:.3g}, not {found:.3g}; lost elements are counted elsewhere"
    )
    t = torch.full((3,), 3.0 + 2.0**-8)
    found = study(t, BRAIN)["error"]
    assert _near(found, 2.0**-8 / (3 + 2.0**-8)), f"the error is relative to the value: {found:.3g} is not it"


def test_scale(largest_scale):
    found = largest_scale([torch.tensor([0.5, -3.0]), torch.tensor([[0.0, 1e-3]])], HALF)
    assert found == 2.0**14, f"3 times 2**14 is 49152, and twice that is too much: 16384, not {found:g}"


def test_scale_of_negative(largest_scale):
    found = largest_scale([torch.tensor([0.5, 1.0]), torch.tensor([-100.0])], HALF)
    assert found == 512.0, f"-100 times 512 is finite and times 1024 is not; {found:g} looks at one tensor or one sign"


def test_scale_at_the_limit(largest_scale):
    assert largest_scale([torch.tensor([65504.0])], HALF) == 1.0, "65504 itself is finite in float16"
    assert largest_scale([torch.tensor([65519.0 / 8])], HALF) == 8.0, "65519 rounds to 65504, which is finite"
    assert largest_scale([torch.tensor([65520.0 / 8])], HALF) == 4.0, "65520 rounds to infinity"


def test_scale_of_others(largest_scale):
    found = largest_scale([torch.tensor([3.0])], BRAIN)
    assert found == 2.0**126, f"bfloat16 has the range of float32: 3 times 2**126 is finite in it, not {found:g}"
    gradients = [torch.tensor([-2.0, 1.0])]
    largest_scale(gradients, HALF)
    assert gradients[0].tolist() == [-2.0, 1.0], "asking for the scale has changed the gradients themselves"


def test_scale_of_large(largest_scale):
    found = largest_scale([torch.tensor([1e6])], HALF)
    assert found == 2.0**-4, f"1e6 fits into float16 only after a division by 16: 0.0625, not {found:g}"
    assert largest_scale([torch.zeros(3), torch.zeros(2)], HALF) == 1.0, "where all is zero, the scale is 1"


def test_scales_halve(scales):
    assert list(scales([True, True, False, True], 64.0)) == [64.0, 32.0, 16.0, 16.0], (
        "an overflow halves the scale of the steps after it, not its own"
    )


def test_scales_double(scales):
    assert list(scales([False] * 7, 1.0, 3)) == [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 4.0], (
        "after every 3 good steps the scale is doubled, and the counting begins anew"
    )


def test_scales_restart(scales):
    found = list(scales([False, False, True, False, False, False, False], 8.0, 3))
    assert found == [8.0, 8.0, 8.0, 4.0, 4.0, 4.0, 8.0], "good steps count in a row: an overflow begins the count anew"


class _Noting(nn.Module):
    """A small classifier that notes formats and where autocast is on."""

    def __init__(self, seed=0, size=1.0):
        super().__init__()
        torch.manual_seed(seed)
        self.net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 4))
        self.size, self.formats, self.modes, self.backwards = size, [], [], []

    def forward(self, x):
        self.modes.append(torch.is_autocast_enabled("cpu"))
        h = self.net(x)
        self.formats.append(h.dtype)
        h.register_hook(lambda _: self.backwards.append(torch.is_autocast_enabled("cpu")))
        return h * self.size


def _data(rows=32, seed=1):
    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, 6, generator=draw)
    return x, (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()


def _sgd(model, lr=0.1):
    return torch.optim.SGD(model.parameters(), lr=lr)


def _scaler(dtype, scale=2.0**10):
    return torch.amp.GradScaler("cpu", init_scale=scale, enabled=dtype == HALF)


def _moved(model, before):
    pairs = zip(model.parameters(), before.parameters(), strict=True)
    return torch.cat([(p - q).detach().flatten() for p, q in pairs])


def _ordinary(model, x, y, max_norm, lr):
    """How far an ordinary float32 step moves the weights."""
    other = copy.deepcopy(model)
    F.cross_entropy(other.net(x) * other.size, y).backward()
    nn.utils.clip_grad_norm_(other.parameters(), max_norm)
    _sgd(other, lr).step()
    return _moved(other, model)


def test_formats(amp_step):
    for dtype in (BRAIN, HALF, SINGLE):
        model = _Noting()
        amp_step(model, _sgd(model), _scaler(dtype), *_data(), dtype)
        assert model.formats == [dtype], f"asked for {dtype}, the last layer gave {model.formats}"
        assert {p.dtype for p in model.parameters()} == {SINGLE}, "the weights themselves stay float32"


def test_where_autocast_is(amp_step):
    model = _Noting()
    optimizer = _sgd(model)
    stepped = []
    optimizer.register_step_pre_hook(lambda *_: stepped.append(torch.is_autocast_enabled("cpu")))
    amp_step(model, optimizer, _scaler(HALF), *_data(), HALF)
    assert model.modes == [True], "the forward runs under autocast"
    assert model.backwards == [False] and stepped == [False], "backward and the step are outside of autocast"
    assert not torch.is_autocast_enabled("cpu"), "autocast is still on after the step"


def test_returns_the_loss(amp_step):
    model, (x, y) = _Noting(), _data()
    expected = F.cross_entropy(model.net(x), y).item()
    found = amp_step(model, _sgd(model), _scaler(HALF), x, y, HALF)
    assert isinstance(found, float), "return a Python float, which holds no graph"
    assert _near(found, expected, 0.02), f"the loss is {expected:.3f}, without the scale, not {found:.3f}"


def test_loss_is_under_autocast(amp_step):
    model = nn.Linear(4, 4, bias=False)
    nn.init.eye_(model.weight)
    x, y = torch.tensor([[0.0, 1.0, 2.0, 3.0], [4.0, 0.0, 1.0, 0.0]]), torch.tensor([0, 0])
    expected = F.cross_entropy(x, y).item()
    found = amp_step(model, _sgd(model), _scaler(BRAIN), x, y, BRAIN)
    assert _near(found, expected, 1e-5), (
        f"logits that 16 bits hold exactly have the loss {expected:.6f}, not {found:.6f}: under autocast, which takes "
        "cross entropy to float32, it is not rounded to 16 bits"
    )


def test_clips_what_is_unscaled(amp_step):
    for dtype in (HALF, BRAIN, SINGLE):
        model, (x, y) = _Noting(), _data()
        before = copy.deepcopy(model)
        expected = _ordinary(model, x, y, 0.2, 0.1)
        amp_step(model, _sgd(model), _scaler(dtype), x, y, dtype, 0.2)
        found = _moved(model, before)
        quotient = (found.norm() / expected.norm()).item()
        assert 0.9 < quotient < 1.1, (
            f"in {dtype} the weights move {quotient:.3g} times as far as in an ordinary clipped step: "
            "the norm that is clipped should be that of the gradient without its scale"
        )
        assert F.cosine_similarity(found, expected, 0) > 0.99, f"in {dtype} the step goes into another direction"


def test_uses_the_scaler(amp_step):
    model, (x, y) = _Noting(size=1e-7), _data()
    before = copy.deepcopy(model)
    expected = _ordinary(model, x, y, 1.0, 1e5)
    amp_step(model, _sgd(model, 1e5), _scaler(HALF, 2.0**20), x, y, HALF)
    found = _moved(model, before)
    assert (found.norm() / expected.norm()).item() > 0.9, (
        "gradients near 1e-8 became zero on their way through float16, though the scaler would have saved them"
    )


def test_old_gradients(amp_step):
    model, (x, y) = _Noting(), _data()
    before = copy.deepcopy(model)
    expected = _ordinary(model, x, y, 1e9, 0.1)
    for p in model.parameters():
        p.grad = torch.full_like(p, 5.0)
    amp_step(model, _sgd(model), _scaler(BRAIN), x, y, BRAIN, 1e9)
    assert (_moved(model, before) - expected).norm() < 0.1 * expected.norm(), "old gradients are in the step as well"


def test_overflow(amp_step):
    model, (x, y) = _Noting(), _data()
    optimizer, scaler = torch.optim.Adam(model.parameters()), _scaler(HALF, 2.0**10)
    before = copy.deepcopy(model)
    bad = x.clone()
    bad[0, 0] = torch.inf
    amp_step(model, optimizer, scaler, bad, y, HALF)
    assert all(p.isfinite().all() for p in model.parameters()), "an overflow got into the weights: let the scaler step"
    assert _moved(model, before).norm() == 0, "a step with inf or nan in its gradients must change no weight"
    assert scaler.get_scale() == 2.0**9, f"after an overflow the scale is halved; it is {scaler.get_scale():g}"
    amp_step(model, optimizer, scaler, x, y, HALF)
    assert _moved(model, before).norm() > 0, "the step after an overflow should move the weights again"


def test_hidden_study(study, largest_scale, reference, seed):
    draw = torch.Generator().manual_seed(seed)
    for _ in range(20):
        t = torch.randn(3, 40, generator=draw) * 10 ** (torch.rand(3, 40, generator=draw) * 16 - 10)
        t[torch.rand(3, 40, generator=draw) < 0.2] = 0
        for dtype in (HALF, BRAIN):
            scale = 2.0 ** int(torch.randint(-4, 12, (), generator=draw))
            found, expected = study(t, dtype, scale), reference.study(t, dtype, scale)
            for key, value in expected.items():
                assert _near(found[key], value, 1e-4), f'"{key}" is {found[key]:.6g} instead of {value:.6g} in {dtype}'
        t = t[:, :1] if torch.rand((), generator=draw) < 0.3 else t
        found, expected = largest_scale(list(t), HALF), reference.largest_scale(list(t), HALF)
        assert found == expected, f"the largest scale is {expected:g} for random gradients, not {found:g}"


def test_hidden_scales(scales, seed):
    draw = random.Random(seed)
    for _ in range(20):
        overflowed, interval = [draw.random() < 0.2 for _ in range(40)], draw.randint(1, 5)
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=interval)
        expected = []
        w = nn.Parameter(torch.ones(1))
        optimizer = torch.optim.SGD([w], lr=0.0)
        for bad in overflowed:
            expected.append(scaler.get_scale())
            w.grad = torch.full((1,), torch.inf if bad else 1.0)
            scaler.scale(torch.ones(()))
            scaler.step(optimizer)
            scaler.update()
        assert list(scales(overflowed, 1024.0, interval)) == expected, "torch's own GradScaler uses other scales"


def test_hidden_training(amp_step, seed):
    ends = {}
    for dtype in (SINGLE, BRAIN, HALF):
        model = _Noting(seed)
        optimizer, scaler = torch.optim.Adam(model.parameters(), lr=0.02), _scaler(dtype, 2.0**30)
        for i in range(80):
            amp_step(model, optimizer, scaler, *_data(64, seed + i), dtype)
        x, y = _data(512, seed + 1000)
        ends[dtype] = F.cross_entropy(model.net(x), y).item()
    for dtype in (BRAIN, HALF):
        assert abs(ends[dtype] / ends[SINGLE] - 1) < 0.3, (
            f"after 80 steps the loss is {ends[dtype]:.3f} in {dtype} and {ends[SINGLE]:.3f} in float32"
        )
