import torch
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from torchbook.practice.devices import misplaced


def _draw(seed=0):
    return torch.Generator().manual_seed(seed)


def _case(batch=2, length=5, width=12, dtype=torch.float64, seed=0):
    draw = _draw(seed)
    x = torch.randn(batch, length, width, generator=draw, dtype=torch.float64)
    matrices = torch.randn(4, width, width, generator=draw, dtype=torch.float64) / width**0.5
    return x.to(dtype), [w.to(dtype) for w in matrices]


def _split(t, heads):
    return t.unflatten(-1, (heads, -1)).transpose(1, 2)


def _projected(x, matrices, heads):
    return [_split(F.linear(x, w), heads) for w in matrices[:3]]


def _visible(length, real=None):
    visible = torch.ones(length, length, dtype=torch.bool).tril()[None, None]
    return visible if real is None else visible & real[:, None, None]


def _near(found, expected, within=1e-6):
    return found.shape == expected.shape and torch.allclose(found, expected.to(found.dtype), rtol=0, atol=within)


def _left(*paddings, length=5):
    """Padding on the left, of the given length in each sequence."""
    return torch.arange(length) >= torch.tensor(paddings)[:, None]


def _tried(call):
    """What a call gives, or nothing if PyTorch refuses it."""
    try:
        return call()
    except NotImplementedError:
        raise
    except RuntimeError:
        return None


def test_shapes(attention):
    x, matrices = _case()
    found = attention(x, *matrices, 3)
    assert isinstance(found, tuple) and len(found) == 2, "return two results: the output and the weights"
    assert tuple(found[0].shape) == (2, 5, 12), f"the output is (B, T, C), not {tuple(found[0].shape)}"
    assert tuple(found[1].shape) == (2, 3, 5, 5), f"the weights are (B, H, T, T), not {tuple(found[1].shape)}"


def test_as_linear(attention):
    x, matrices = _case(batch=1, length=1)  # a single token takes its own value
    expected = F.linear(F.linear(x, matrices[2]), matrices[3])
    assert _near(attention(x, *matrices, 1)[0], expected), (
        "each matrix is used as nn.Linear uses its weight: it multiplies by w.T"
    )


def test_scale(attention):
    x, matrices = _case()
    q, k, _ = _projected(x, matrices, 3)
    _, found = attention(x, *matrices, 3)
    weights = found[:, 0, 4]  # the last token sees all
    expected = (q[:, 0, 4, None] @ k[:, 0].mT)[:, 0] / 2
    assert _near(weights, expected.softmax(-1)), "with D = 4 channels in a head, scores are divided by 2, the root of D"


def test_heads(attention):
    x, matrices = _case()
    q, k, _ = _projected(x, matrices, 3)
    scores = (q @ k.mT / 2).masked_fill(~_visible(5), -torch.inf)
    _, found = attention(x, *matrices, 3)
    assert _near(found, scores.softmax(-1)), "head h has the channels from h * D on of each token"


def test_output(attention):
    x, matrices = _case()
    found, weights = attention(x, *matrices, 3)
    v = _split(F.linear(x, matrices[2]), 3)
    expected = F.linear((weights @ v).transpose(1, 2).flatten(2), matrices[3])
    assert _near(found, expected), (
        "the output is w_o applied to the results of the heads, side by side in each token, under the returned weights"
    )


def test_causal(attention):
    x, matrices = _case()
    _, weights = attention(x, *matrices, 3)
    future = ~_visible(5).expand_as(weights)
    assert (weights[future] == 0).all(), "the future has a weight: it must be exactly 0"
    assert (weights[~future] > 0).all(), "a position sees itself and all earlier ones, each with a weight above 0"
    assert _near(weights.sum(-1), torch.ones(2, 3, 5)), (
        "each row adds up to 1: hide scores before the softmax, not after it"
    )


def test_large_scores(attention):
    x, matrices = _case(dtype=torch.float32)
    _, weights = attention(1000 * x, *matrices, 3)
    assert weights.isfinite().all(), "large scores overflowed: exp of 1000 is infinite"
    assert _near(weights.sum(-1), torch.ones(2, 3, 5), 1e-5), "each row adds up to 1, with large scores too"
    x, matrices = torch.full((1, 3, 1), 1e5), [torch.ones(1, 1) for _ in range(4)]
    matrices[0] = -matrices[0]  # every score is -1e10
    _, weights = attention(x, *matrices, 1)
    assert weights[0, 0, 0].tolist() == [1, 0, 0], (
        "the future has a weight if scores are far below 0: hide them with -inf"
    )


def test_padding_is_not_seen(attention):
    x, matrices = _case()
    real = torch.tensor([[True] * 5, [True, True, False, True, False]])
    found, weights = attention(x, *matrices, 3, real)
    assert (weights[1, :, :, [2, 4]] == 0).all(), "padding has a weight: real is True for tokens, False for padding"
    assert _near(weights.sum(-1), torch.ones(2, 3, 5)), "each row adds up to 1, without padding too"
    whole, _ = attention(x, *matrices, 3)
    assert _near(found[0], whole[0]), "sequence 0 has no padding: nothing changes for it"
    shorter, _ = attention(x[1:, [0, 1, 3]], *matrices, 3)
    assert _near(found[1:, [0, 1, 3]], shorter), "tokens have the same outputs as without the padding"


def test_padded_row_that_sees_a_token(attention):
    x, matrices = _case()
    real = torch.tensor([[True, True, False, False, True], [True] * 5])
    _, weights = attention(x, *matrices, 3, real)
    rows = weights[0, :, 2:4]
    assert (rows[..., 2:] == 0).all() and _near(rows.sum(-1), torch.ones(3, 2)), (
        "a padded position that can see a token sees tokens only, so it does not see itself"
    )


def test_row_that_sees_nothing(attention):
    x, matrices = _case(batch=3)
    found, weights = attention(x, *matrices, 3, _left(0, 2, 5))
    assert found.isfinite().all() and weights.isfinite().all(), "a row that may see nothing became nan"
    for sequence, empty in ((1, 2), (2, 5)):
        rows = weights[sequence, :, :empty]
        assert _near(rows, torch.eye(5)[:empty].expand_as(rows)), "a row that may see nothing sees itself alone"
    expected = F.linear(F.linear(x, matrices[2]), matrices[3])
    assert _near(found[2], expected[2]), "a position that sees itself alone takes its own value"
    assert _near(weights[1, :, 2:, :2], torch.zeros(3, 3, 2)), "tokens after the padding still do not see it"


def test_gradients(attention):
    x, matrices = _case()
    inputs = [t.clone().requires_grad_() for t in (x, *matrices)]
    out, weights = attention(*inputs, 3)
    assert out.requires_grad and weights.requires_grad, "both results need a grad_fn"
    found = torch.autograd.grad(out.sin().sum() + weights.square().sum(), inputs, allow_unused=True)
    q, k, v = _projected(inputs[0], inputs[1:], 3)
    right = (q @ k.mT / 2).masked_fill(~_visible(5), -torch.inf).softmax(-1)
    mixed = F.linear((right @ v).transpose(1, 2).flatten(2), inputs[4])
    expected = torch.autograd.grad(mixed.sin().sum() + right.square().sum(), inputs)
    for name, a, b in zip(("x", "w_q", "w_k", "w_v", "w_o"), found, expected, strict=True):
        assert a is not None and _near(a, b), f"the gradient of {name} is wrong"


def test_gradients_with_padding(attention):
    x, matrices = _case()
    inputs = [t.clone().requires_grad_() for t in (x, *matrices)]
    out, _ = attention(*inputs, 3, _left(2, 5))
    for name, slope in zip(("x", "w_q", "w_k", "w_v", "w_o"), torch.autograd.grad(out.sum(), inputs), strict=True):
        assert slope.isfinite().all(), f"a row that may see nothing makes the gradient of {name} nan"


def test_dtypes(attention):
    real = _left(0, 2)
    x, matrices = _case()
    expected = attention(x, *matrices, 3, real)
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        cast = [t.to(dtype) for t in (x, *matrices)]
        found = _tried(lambda cast=cast: attention(*cast, 3, real))
        assert found, f"it fails in {dtype}: is there a number that it cannot hold, or a tensor of a different dtype?"
        assert found[0].dtype == found[1].dtype == dtype, f"both results have the dtype of x, {dtype}"
        within = 1e-5 if dtype == torch.float32 else 0.05
        assert all(_near(a.double(), b, within) for a, b in zip(found, expected, strict=True)), f"{dtype} is far off"


def test_device(attention):
    x, matrices = _case()
    for real in (None, _left(0, 2)):
        problem = misplaced(lambda real=real: attention(x, *matrices, 3, real))
        assert not problem, problem


def test_arguments_are_left(attention):
    x, matrices = _case()
    real = _left(0, 2)
    attention(x, *matrices, 3, real)
    (same_x, same), same_real = _case(), _left(0, 2)
    assert x.equal(same_x) and all(a.equal(b) for a, b in zip(matrices, same, strict=True)), "x or a matrix was edited"
    assert real.equal(same_real), "the caller's mask was edited in place"


def test_views(attention):
    x, matrices = _case(batch=5, length=5, width=4)
    real = _left(0, 1, 2, 3, 5)
    expected = attention(x, *matrices, 2, real)[0]
    apart = torch.stack((x, x), dim=-1)[..., 0].transpose(0, 1).contiguous().transpose(0, 1)
    turned = [t.T.contiguous().T for t in (*matrices, real)]
    found = _tried(lambda: attention(apart, *turned[:4], 2, turned[4]))
    assert found, "x, the matrices and real may be views of any strides"
    assert _near(found[0], expected), "the same numbers with different strides gave a different output"


class _Calls(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.add(getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))


def test_written_by_hand(attention):
    x, matrices = _case(dtype=torch.float32)
    with _Calls() as calls:
        attention(x, *matrices, 3)
    ready = sorted(name for name in calls.names if "attention" in name)
    assert not ready, f"PyTorch's own attention was called ({', '.join(ready)}): write it yourself"


def test_hidden_any_shapes(attention, reference, seed):
    sizes = _draw(seed + 7)
    for case in range(12):
        batch, length, heads, width = torch.randint(1, 6, (4,), generator=sizes).tolist()
        x, matrices = _case(batch, length, heads * width, seed=seed + case)
        masks = (None, torch.rand(batch, length, generator=sizes) < 0.5)
        for real in masks:
            found, expected = attention(x, *matrices, heads, real), reference.attention(x, *matrices, heads, real)
            shape = f"x {tuple(x.shape)}, {heads} heads, real {None if real is None else real.int().tolist()}"
            assert _near(found[1], expected[1]), f"wrong weights for {shape}"
            assert _near(found[0], expected[0]), f"wrong output for {shape}"
