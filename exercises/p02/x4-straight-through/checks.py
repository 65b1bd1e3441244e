import torch
from torch.autograd import grad


def test_rounds(round_ste):
    x = torch.tensor([0.4, 0.5, 1.5, -1.2])
    assert round_ste(x).tolist() == [0.0, 0.0, 2.0, -1.0], (
        "values are those of torch.round, which rounds halves to even"
    )


def test_gradient_passes(round_ste):
    x = torch.tensor([0.4, 2.6, -1.2], requires_grad=True)
    out = round_ste(x)
    assert out.requires_grad, "the result is cut off from x: nothing in front of it can learn"
    slope = grad((out * torch.tensor([1.0, 2.0, 3.0])).sum(), x)[0]
    assert slope.tolist() == [1.0, 2.0, 3.0], "the gradient that arrives must pass through, unchanged"


def test_everywhere(round_ste):
    x = torch.cat([torch.linspace(-9, 9, 20_001), torch.tensor([0.49999997, -2.5, 2.5, 8388609.0])])
    assert torch.equal(round_ste(x), x.round()), "some numbers are rounded to another neighbour than by torch.round"


def test_x_stays(round_ste):
    x = torch.tensor([0.4, 2.6])
    round_ste(x)
    assert x.equal(torch.tensor([0.4, 2.6])), "x was rounded in place"


def test_quantize_values(quantize):
    x = torch.tensor([-9.0, -0.3, 0.2, 0.26, 9.0])
    found = quantize(x, 0.5, -4, 3)
    assert found.tolist() == [-2.0, -0.5, 0.0, 0.5, 1.5], "scale * clamp(round(x / scale), low, high)"


def test_clamped_gradient(quantize):
    x = torch.tensor([-9.0, -0.3, 0.2, 9.0], requires_grad=True)
    slope = grad(quantize(x, 0.5, -4, 3).sum(), x)[0]
    assert slope[1] == slope[2] == 1, "inside of the range the gradient passes unchanged, whatever the scale"
    assert slope[0] == slope[3] == 0, "what was clamped cannot be moved by a small step: its gradient is 0"


def test_edge_of_the_range(quantize):
    x = torch.tensor([1.7], requires_grad=True)  # 3.4 rounds to 3, the highest
    slope = grad(quantize(x, 0.5, -4, 3).sum(), x)[0]
    assert slope.item() == 1, "3.4 rounds to 3, which lies in the range: clamp after rounding, not before"


def _problem(seed):
    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(200, 5, generator=draw)
    w = torch.randint(-6, 7, (5,), generator=draw) * 0.25
    return x, x @ w, w


def test_fit(fit, quantize):
    x, y, w = _problem(0)
    found, losses = fit(x, y, 0.25, 60, 0.1)
    assert len(losses) == 60, "one loss for each step"
    assert all(type(loss) is float for loss in losses), "the losses are asked for as Python floats"
    assert losses[-1] < 0.1 * losses[0], "the loss hardly falls: do small steps add up in the unquantised weights?"
    assert quantize(found, 0.25, -8, 7).equal(w), "the quantised weights are not the ones that made y"


def test_fit_returns_weights_to_go_on_with(fit):
    x, y, _ = _problem(1)
    found, _ = fit(x, y, 0.25, 3, 0.01)
    assert not found.requires_grad, "the weights are returned without history"
    on_the_grid = (found / 0.25).round().eq(found / 0.25).all()
    assert not on_the_grid, (
        "the unquantised weights are asked for: what was learnt between two steps of the grid is in them"
    )


def test_hidden_random(round_ste, quantize, reference, seed):
    draw = torch.Generator().manual_seed(seed)
    for case in range(20):
        x = (torch.randn(50, generator=draw) * (case + 1)).requires_grad_()
        scale, low, high = 0.1 + 0.2 * case, -case - 1, case
        for ours, theirs in (
            (round_ste(x), reference.round_ste(x)),
            (quantize(x, scale, low, high), reference.quantize(x, scale, low, high)),
        ):
            assert torch.allclose(ours, theirs, rtol=1e-6), "a value is wrong for other numbers"
            slopes = [grad(out.square().sum(), x, retain_graph=True)[0] for out in (ours, theirs)]
            assert torch.allclose(*slopes, rtol=1e-5), "a gradient is wrong for other numbers"


def test_hidden_range(fit, reference, seed):
    x, _, w = _problem(seed + 11)
    x, w = x.double(), w.double()
    w[:2] = torch.tensor([-2.5, 2.5])  # beyond -8 * 0.25 and 7 * 0.25
    found, expected = fit(x, x @ w, 0.25, 80, 0.1), reference.fit(x, x @ w, 0.25, 80, 0.1)
    assert torch.allclose(torch.tensor(found[1]), torch.tensor(expected[1]), rtol=1e-3, atol=1e-5), (
        "for weights beyond the range, in float64, the losses differ: `fit` quantises to the numbers from -8 to 7"
    )


def test_hidden_fit(fit, reference, seed):
    x, y, _ = _problem(seed + 7)
    found, expected = fit(x, y, 0.25, 40, 0.1), reference.fit(x, y, 0.25, 40, 0.1)
    assert torch.allclose(torch.tensor(found[1]), torch.tensor(expected[1]), rtol=1e-3, atol=1e-5), "the losses differ"
