import contextlib

import torch

from torchbook.practice.devices import misplaced


def _draw(seed=0):
    return torch.Generator().manual_seed(seed)


def _x(*shape, seed=0):
    return torch.randn(*shape, generator=_draw(seed), dtype=torch.float64)


def _exact(positions, head_dim, base=10_000.0):
    """Angles in float64."""
    channel = torch.arange(0, head_dim, 2, dtype=torch.float64)
    return positions[..., None].double() * base ** (-channel / head_dim)


def _turned(x, angles, neighbours=False):
    """x (..., T, D) turned in float64."""
    cos, sin = angles.cos(), angles.sin()
    if neighbours:
        first, second = x[..., ::2].double(), x[..., 1::2].double()
        return torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1).flatten(-2)
    first, second = x.double().chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)


def _near(found, expected, within=1e-5):
    same = found.shape == expected.shape
    return same and torch.allclose(found.double(), expected.double(), rtol=0, atol=within)


@contextlib.contextmanager
def _default(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _tried(call):
    """What a call gives, or nothing if PyTorch refuses it."""
    try:
        return call()
    except NotImplementedError:
        raise
    except (RuntimeError, IndexError):
        return None


def test_tables(tables):
    positions = torch.arange(6)
    cos, sin = tables(positions, 8)
    assert tuple(cos.shape) == tuple(sin.shape) == (6, 4), "8 channels are 4 pairs: (T, D/2), one number for each pair"
    assert _near(cos[:, 0], positions.cos()) and _near(sin[:, 0], positions.sin()), (
        "pair 0 turns by one radian per position; the tables are the cosine and the sine of this, in this order"
    )
    angles = _exact(positions, 8)
    assert _near(cos, angles.cos()) and _near(sin, angles.sin()), (
        "pair i turns by position * base ** (-2 * i / D): with D = 8, by 1, 1/10, 1/100 and 1/1000 radians per position"
    )


def test_base(tables):
    cos, sin = tables(torch.arange(6), 8, base=500_000.0)
    angles = _exact(torch.arange(6), 8, 500_000.0)
    assert _near(cos, angles.cos()) and _near(sin, angles.sin()), (
        "base=500_000.0 was given, and the angles do not follow from it"
    )


def test_positions_from_100(tables):
    positions = torch.tensor([100, 101, 105])
    cos, sin = tables(positions, 8)
    angles = _exact(positions, 8)
    assert _near(cos, angles.cos(), 1e-4) and _near(sin, angles.sin(), 1e-4), (
        "positions 100, 101 and 105 got the wrong angles: positions need not begin at 0 or be consecutive"
    )


def test_positions_of_each_sequence(tables, rotate):
    positions = torch.tensor([[[0, 1, 2]], [[7, 8, 9]]])  # (B, 1, T)
    cos, sin = tables(positions, 4)
    assert tuple(cos.shape) == tuple(sin.shape) == (2, 1, 3, 2), (
        "positions of shape (B, 1, T) give tables of shape (B, 1, T, D/2)"
    )
    x = _x(2, 3, 3, 4).float()
    for pairs in (False, True):
        assert _near(rotate(x, cos, sin, pairs), _turned(x, _exact(positions, 4), pairs)), (
            "each sequence of the batch has its own positions, which all of its heads share"
        )


def test_default_dtype(tables):
    positions = torch.arange(2000, 2006)
    for dtype in (torch.float64, torch.bfloat16):
        with _default(dtype):
            cos, sin = tables(positions, 8)
        assert cos.dtype == sin.dtype == torch.float32, f"the tables are float32, even if the default dtype is {dtype}"
        assert _near(cos, _exact(positions, 8).cos(), 1e-3), (
            f"angles were computed in {dtype}, the default dtype, and not in float32"
        )


def test_float32_angles(tables):
    positions = torch.tensor([257, 1001, 4097])
    cos, sin = tables(positions, 64)
    angles = _exact(positions, 64)
    assert _near(cos, angles.cos(), 2e-3) and _near(sin, angles.sin(), 2e-3), (
        "large positions got the wrong angles: something was rounded to fewer digits than float32 has"
    )


def test_device_of_tables(tables):
    positions = torch.arange(3)
    problem = misplaced(lambda: tables(positions, 4))
    assert not problem, problem


_QUARTER = torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 0.0]])  # pair 0 makes a quarter turn, pair 1 none


def test_halves(rotate):
    x = torch.tensor([[[[1.0, 2.0, 3.0, 4.0]]]])
    found = rotate(x, *_QUARTER)
    assert found.shape == x.shape, "the result has the shape of x"
    assert found.flatten().tolist() == [-3, 2, 1, 4], (
        f"channels 0 and 2 make a quarter turn: 1 2 3 4 becomes -3 2 1 4, not {found.flatten().tolist()}"
    )


def test_neighbours(rotate):
    x = torch.tensor([[[[1.0, 2.0, 3.0, 4.0]]]])
    found = rotate(x, *_QUARTER, neighbours=True)
    assert found.shape == x.shape, "the result has the shape of x"
    assert found.flatten().tolist() == [-2, 1, 3, 4], (
        f"channels 0 and 1 make a quarter turn: 1 2 3 4 becomes -2 1 3 4, not {found.flatten().tolist()}"
    )


def test_distance(tables, rotate):
    q, k = _x(2, 1, 1, 1, 16)
    for pairs in (False, True):

        def score(m, n, pairs=pairs):
            turned = [rotate(t, *tables(torch.tensor([p]), 16), pairs) for t, p in ((q, m), (k, n))]
            return (turned[0] @ turned[1].mT).item()

        assert abs(score(105, 100) - score(9, 4)) < 1e-4, "a score depends on two positions only through their distance"
        assert abs(score(9, 4) - score(4, 9)) > 1e-3, "a score depends on which of the two positions comes first"


def test_bfloat16(tables, rotate):
    x, positions = _x(2, 4, 300, 16).to(torch.bfloat16), torch.arange(200, 500)
    for pairs in (False, True):
        found = rotate(x, *tables(positions, 16), pairs)
        assert found.dtype == torch.bfloat16, "the result has the dtype of x"
        exact = _turned(x, _exact(positions, 16), pairs)
        gap = (found.double() - exact).abs() - 2.0**-8 * exact.abs()
        assert gap.max() < 1e-4, "the result was rounded more than once: compute in float32, and round at the end"


def test_float64(tables, rotate):
    x, (cos, sin) = _x(2, 3, 5, 8), tables(torch.arange(5), 8)
    for pairs in (False, True):
        found = rotate(x, cos, sin, pairs)
        assert found.dtype == torch.float64, "the result has the dtype of x"
        wide = torch.complex(cos.double(), sin.double())
        first, second = (x[..., ::2], x[..., 1::2]) if pairs else x.chunk(2, dim=-1)
        turned = torch.complex(first, second) * wide
        parts = (turned.real, turned.imag)
        expected = torch.stack(parts, dim=-1).flatten(-2) if pairs else torch.cat(parts, dim=-1)
        assert _near(found, expected, 1e-12), "if x is float64, products are computed in float64"


def test_arguments_are_left(tables, rotate, to_halves, to_neighbours):
    positions, x, weight = torch.arange(5), _x(2, 3, 5, 8).float(), _x(24, 4)
    cos, sin = tables(positions, 8)
    before = [t.clone() for t in (positions, x, weight, cos, sin)]
    for pairs in (False, True):
        rotate(x, cos, sin, pairs)
    to_halves(weight, 3), to_neighbours(weight, 3)
    for name, t, old in zip(
        ("positions", "x", "a weight", "cos", "sin"), (positions, x, weight, cos, sin), before, strict=True
    ):
        assert t.equal(old), f"{name} was changed in place"


def test_views(tables, rotate):
    x, (cos, sin) = _x(2, 5, 3, 8).float().transpose(1, 2), tables(torch.arange(5), 8)
    odd = torch.stack((x, x), dim=-1)[..., 0]  # no two channels side by side
    for pairs in (False, True):
        for view in (x, odd):
            found = _tried(lambda view=view, pairs=pairs: rotate(view, cos, sin, pairs))
            assert found is not None, "x may be a view of any strides"
            assert _near(found, _turned(x, _exact(torch.arange(5), 8), pairs)), (
                "the same numbers with different strides gave a different result"
            )


def test_gradient(tables, rotate):
    cos, sin = tables(torch.arange(5), 8)
    for pairs in (False, True):
        x, weights = _x(1, 2, 5, 8).requires_grad_(), _x(1, 2, 5, 8, seed=1)
        out = rotate(x, cos, sin, pairs)
        assert out.requires_grad, "the result has no grad_fn"
        (slope,) = torch.autograd.grad((out * weights).sum(), x)
        assert _near(slope, _turned(weights, -_exact(torch.arange(5), 8), pairs)), (
            "the gradient is wrong: it is the incoming gradient, turned back"
        )


def test_device_of_rotation(tables, rotate):
    x, (cos, sin) = _x(1, 2, 5, 8), tables(torch.arange(5), 8)
    for pairs in (False, True):
        problem = misplaced(lambda pairs=pairs: rotate(x, cos, sin, pairs))
        assert not problem, problem


def test_conversion(to_halves):
    weight = torch.arange(16.0)[:, None] * torch.ones(3)
    found = to_halves(weight, 2)
    assert tuple(found.shape) == (16, 3), "the converted weight has the shape of the weight"
    assert found[:, 0].tolist() == [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15], (
        "in each head of 8 rows, the even rows come first, then the odd ones"
    )


def test_inverse(to_halves, to_neighbours):
    weight = _x(24, 5)
    assert to_neighbours(to_halves(weight, 2), 2).equal(weight), "to_halves, then to_neighbours gives back the weight"
    assert to_halves(to_neighbours(weight, 2), 2).equal(weight), "to_neighbours, then to_halves gives back the weight"


def test_bias(to_halves, to_neighbours):
    bias = torch.arange(8).to(torch.float16)
    for convert, expected in ((to_halves, [0, 2, 4, 6, 1, 3, 5, 7]), (to_neighbours, [0, 4, 1, 5, 2, 6, 3, 7])):
        found = _tried(lambda convert=convert: convert(bias, 1))
        assert found is not None and found.tolist() == expected, "a bias, (H·D,), is permuted like the rows of a weight"
        assert found.dtype == torch.float16, "the result has the dtype of the bias"


def test_conversion_keeps_scores(tables, rotate, to_halves):
    x, w_q, w_k = _x(2, 6, 5), _x(24, 5, seed=1), _x(24, 5, seed=2)
    both = []
    for pairs in (True, False):
        weights = (w_q, w_k) if pairs else (to_halves(w_q, 3), to_halves(w_k, 3))
        cos, sin = tables(torch.arange(40, 46), 8)
        q, k = ((x @ w.T).unflatten(-1, (3, 8)).transpose(1, 2) for w in weights)
        both.append(rotate(q, cos, sin, pairs) @ rotate(k, cos, sin, pairs).mT)
    assert _near(*both, 1e-4), "with converted weights, a model that turns halves has different scores"


def test_hidden_any_positions(tables, rotate, to_halves, to_neighbours, reference, seed):
    sizes = _draw(seed + 5)
    for case in range(10):
        batch, heads, steps, pairs = torch.randint(1, 6, (4,), generator=sizes).tolist()
        positions = torch.randint(0, 3000, (batch, 1, steps), generator=sizes)
        base = 10.0 ** torch.randint(2, 6, (), generator=sizes).item()
        x = _x(batch, heads, steps, 2 * pairs, seed=seed + case).float()
        right = reference.tables(positions, 2 * pairs, base)
        for a, b in zip(tables(positions, 2 * pairs, base), right, strict=True):
            assert _near(a, b, 2e-3), f"wrong table for positions {positions.tolist()}, D = {2 * pairs}, base {base}"
        for flag in (False, True):
            found, expected = rotate(x, *right, flag), reference.rotate(x, *right, flag)
            assert _near(found, expected), f"x {tuple(x.shape)}, neighbours={flag}: turned to the wrong numbers"
        weight = _x(2 * pairs * heads, 3, seed=seed + case)
        assert to_halves(weight, heads).equal(reference.to_halves(weight, heads)), (
            f"to_halves is wrong for {heads} heads of {2 * pairs} channels"
        )
        back = reference.to_neighbours(weight, heads)
        assert to_neighbours(weight, heads).equal(back), (
            f"to_neighbours is wrong for {heads} heads of {2 * pairs} channels"
        )
