import torch
from torch.overrides import TorchFunctionMode


def _close(found, expected):
    assert len(found) == 4, "four numbers are asked for: the value, and the slopes of a, b and c"
    return all(abs(one - other) < 1e-6 for one, other in zip(found, expected, strict=True))


def test_value(by_hand):
    found = by_hand(2.0, 3.0, 1.0)
    assert abs(found[0] - 14) < 1e-9, "relu(2 · 3 + 1) · 2 is 14"
    assert not isinstance(found[1], torch.Tensor), "plain floats are asked for, worked out on paper"


def test_a_is_used_twice(by_hand):
    found = by_hand(2.0, 3.0, 1.0)
    assert abs(found[1] - 13) < 1e-9, (
        f"the slope of a is 7 directly and 2 · 3 through relu, together 13; yours is {found[1]}"
    )


def test_b_and_c(by_hand):
    found = by_hand(2.0, 3.0, 1.0)
    assert abs(found[2] - 4) < 1e-9, "from b the way leads through the product with a, and then times a again: 2 · 2"
    assert abs(found[3] - 2) < 1e-9, "c is added, and the result is multiplied by a: 2"


def test_closed(by_hand):
    assert _close(by_hand(2.0, -3.0, 1.0), (0, 0, 0, 0)), (
        "where a · b + c is negative, relu is 0 and stays 0: value and slopes are 0"
    )


def test_same_as_backward(by_hand):
    for numbers in ((-1.5, -2.0, 0.25), (0.5, 4.0, -1.0), (-2.0, 1.0, 5.0)):
        a, b, c = (torch.tensor(n, dtype=torch.float64, requires_grad=True) for n in numbers)
        result = torch.relu(a * b + c) * a
        result.backward()
        expected = (result.item(), a.grad.item(), b.grad.item(), c.grad.item())
        assert _close(by_hand(*numbers), expected), f"at {numbers} backward() finds other numbers: {expected}"


class _Watch(TorchFunctionMode):
    """Notes what torch is asked for."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.seen.append(function.__name__)
        return function(*args, **kwargs or {})


def test_on_paper(by_hand):
    with _Watch() as watch:
        by_hand(2.0, 3.0, 1.0)
    assert not watch.seen, f"no tensor is to be used, and torch was asked for: {', '.join(watch.seen[:3])}"


def _f(t):
    return (t**2).sum() + t[0, 0] * t[1, 1]


def test_at_the_corner(by_hand):
    assert tuple(by_hand(2.0, -1.0, 2.0)) == (0.0, 0.0, 0.0, 0.0), (
        "a * b + c is 0 here, which is not positive: relu lets no gradient through"
    )


def test_one_at_a_time(by_moving):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    found = by_moving(_f, x, 1e-4)
    assert found.shape == x.shape, "one slope for each element is asked for, in the shape of x"
    expected = torch.tensor([[6.0, 4.0], [6.0, 9.0]], dtype=torch.float64)
    assert torch.allclose(found, expected, atol=1e-5), (
        f"the slopes of x² summed, plus x[0, 0] · x[1, 1], are {expected.tolist()}"
    )


def test_x_stays(by_moving):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    before, seen = x.clone(), []

    def watched(t):
        seen.append(t.data_ptr() == x.data_ptr() and not t.equal(before))
        return _f(t)

    by_moving(watched, x, 1e-2)
    assert x.equal(before) and not any(seen), "x was changed: move an element of a copy"


def test_both_sides(by_moving):
    x = torch.tensor([2.0], dtype=torch.float64)
    found = by_moving(lambda t: (t**2).sum(), x, 0.5)
    assert abs(found.item() - 4) < 1e-9, (
        "moved to both sides, the slope of a square is exact with any step; to one side it is not"
    )


def test_from_two_values(by_moving):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    found = by_moving(lambda t: (t**3).sum(), x, 0.5)
    assert torch.allclose(found, 3 * x**2 + 0.25), (
        f"of a cube, a step of 0.5 to both sides gives 3x² + 0.25, that is 3.25 and 12.25, not {found.tolist()}: "
        "ask for the two values"
    )


def test_operations(operations):
    x = torch.tensor(2.0, requires_grad=True)
    assert operations(3 * x**2 + 1) == ["AddBackward0", "MulBackward0", "PowBackward0"], (
        "an addition, a multiplication and a power were recorded; the end of the graph does not count"
    )


def test_both_inputs(operations):
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor(3.0, requires_grad=True)
    assert operations(x.sin() * y.cos()) == ["CosBackward0", "MulBackward0", "SinBackward0"], (
        "a node may have several next_functions: follow all of them"
    )


def test_shared_node(operations):
    x = torch.tensor(2.0, requires_grad=True)
    s = x.sin()
    assert operations(s * s + s) == ["AddBackward0", "MulBackward0", "SinBackward0"], (
        "the sine was recorded once and is used three times: count each node once"
    )


def test_constants(operations):
    x = torch.tensor(2.0, requires_grad=True)
    why = "data have no node: next_functions says None there"
    try:
        found = operations(x.sin() * torch.tensor(3.0))
    except AttributeError as error:
        raise AssertionError(why) from error
    assert found == ["MulBackward0", "SinBackward0"], why


def test_hidden_random(by_hand, by_moving, reference, seed):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(20):
        numbers = torch.randn(3, generator=generator).tolist()
        assert _close(by_hand(*numbers), reference.by_hand(*numbers)), f"by_hand is wrong at {numbers}"
    x = torch.randn(2, 3, 2, generator=generator, dtype=torch.float64)
    found = by_moving(lambda t: t.sin().sum(), x, 1e-4)
    assert torch.allclose(found, x.cos(), atol=1e-6), "by_moving is wrong for a tensor of three dimensions"
