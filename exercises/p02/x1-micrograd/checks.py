import random

import torch


def _near(found, expected):
    return abs(found - expected) <= 1e-9 * max(1.0, abs(expected))


def test_values(Value):
    a, b = Value(3.0), Value(-2.0)
    found = [(a + b).data, (a - b).data, (a * b).data, (a / b).data, (-a).data, (a**2).data, b.relu().data]
    assert found == [1.0, 5.0, -6.0, -1.5, -3.0, 9.0, 0.0], "the forward must compute the plain numbers"
    assert _near(Value(1.0).exp().data, 2.718281828459045), "exp() is the exponential function"
    assert type(Value(3).data) is float, f"data is a Python float, and Value(3).data is {Value(3).data!r}"


def test_gradients(Value):
    a, b = Value(3.0), Value(-2.0)
    (a * b + a / b).backward()
    assert _near(a.grad, -2.5), "the slope of a*b + a/b with respect to a is b + 1/b"
    assert _near(b.grad, 2.25), "the slope of a*b + a/b with respect to b is a - a/b**2"


def test_numbers_on_the_left(Value):
    a = Value(4.0)
    try:
        out = 2 * a + (1 - a) + 8 / a
        more = 3 + a
    except (TypeError, AttributeError):
        raise AssertionError("a plain number may stand on the left: 2 * a, 1 - a, 8 / a, 3 + a") from None
    assert _near(more.data, 7.0), "3 + a is 7 where a is 4"
    out.backward()
    assert _near(out.data, 7.0), "1 - a and 8 / a are not a - 1 and a / 8"
    assert _near(a.grad, 0.5), "the slope of 2*a + (1 - a) + 8/a at 4 is 2 - 1 - 1/2"


def test_used_twice(Value):
    a = Value(3.0)
    (a * a + a).backward()
    assert _near(a.grad, 7.0), "each use of a value contributes: gradients add, they do not replace each other"


def test_diamond(Value):
    a = Value(2.0)
    b = a + a
    (b * b + b).backward()
    assert _near(a.grad, 18.0), "a node ran before all of its uses had brought their part, or ran more than once"


def test_runs_once(Value):
    a = Value(1.0)
    b = a
    for _ in range(60):
        b = b * 0.5 + b * 0.5
    b.backward()
    assert _near(a.grad, 1.0), "in a ladder of diamonds every node still runs once, not once for each path"


def test_accumulates(Value):
    a = Value(3.0)
    (a * 2).backward()
    (a * 5).backward()
    assert _near(a.grad, 7.0), "a second expression adds to the gradient that is there, as in PyTorch"


def test_shared_by_two_expressions(Value):
    a = Value(2.0)
    b = a * a
    (b * 2).backward()
    (b * 2).backward()
    assert _near(b.grad, 4.0) and _near(a.grad, 16.0), (
        "both expressions use b, and the second sent on what the first had left in b.grad: "
        "what flows is not what is stored"
    )


def test_new_values(Value):
    a = Value(3.0)
    for what, made in {"a.relu()": a.relu(), "a + 0": a + 0, "a * 1": a * 1, "a**1": a**1, "a / 1": a / 1}.items():
        assert made is not a, f"{what} is a itself: each result is a new Value, with a gradient of its own"
    b = a.relu()
    (b * a).backward()
    assert _near(b.grad, 3.0) and _near(a.grad, 6.0), "of b * a, where b is a.relu(), the slope of b is 3, that of a 6"


def test_relu_at_zero(Value):
    a = Value(0.0)
    a.relu().backward()
    assert a.grad == 0.0, "the slope of relu at 0 is 0, as in PyTorch"


def test_power_zero(Value):
    a = Value(0.0)
    try:
        out = a**0
        out.backward()
    except ZeroDivisionError:
        raise AssertionError("the slope of a**0 is 0 for every a: do not compute 0.0 ** -1") from None
    assert out.data == 1.0, "a**0 is 1, also where a is 0"
    assert a.grad == 0.0, "the slope of a**0 is 0, as in PyTorch"


def test_deep(Value):
    a = Value(1.0)
    total = a
    for _ in range(5000):
        total = total + a
    try:
        total.backward()
    except RecursionError:
        raise AssertionError(
            "5,000 nodes deep is too much for recursion: keep your own list of nodes to visit"
        ) from None
    assert _near(a.grad, 5001.0), "every term of a long sum counts"


def _expression(draw, leaves):
    """The same random expression in terms of anything that has the operators."""
    pool = list(leaves)
    for _ in range(draw.randint(4, 14)):
        a, b, c = draw.choice(pool), draw.choice(pool), draw.uniform(0.5, 2)
        made = draw.choice(
            [
                lambda a=a, b=b: a * b,
                lambda a=a, b=b: a + b,
                lambda a=a, b=b: a - b,
                lambda a=a, c=c: c - a,
                lambda a=a, c=c: a / c,
                lambda a=a: (a * 0.1).exp(),
                lambda a=a: a.relu(),
                lambda a=a: (a * a + 1) ** -0.5,
                lambda a=a, c=c: c / (a * a + 1),
            ]
        )
        pool.append(made())
    return pool[-1] + pool[-2] * pool[len(leaves)]


def test_hidden_random_expressions(Value, reference, seed):
    for case in range(150):
        numbers = [random.Random(f"{seed}{case}{i}").uniform(-2, 2) for i in range(3)]
        ours, theirs = [Value(n) for n in numbers], [reference.Value(n) for n in numbers]
        out = _expression(random.Random(seed + case), ours)
        expected = _expression(random.Random(seed + case), theirs)
        out.backward()
        expected.backward()
        assert _near(out.data, expected.data), "the value of a random expression is wrong"
        for a, b in zip(ours, theirs, strict=True):
            assert _near(a.grad, b.grad), "the gradient of a random expression is wrong"


def test_hidden_against_torch(Value, reference, seed):
    draw = random.Random(seed)
    for case in range(30):
        numbers = [draw.uniform(-2, 2) for _ in range(2)]
        ours = [Value(n) for n in numbers]
        theirs = [torch.tensor(n, dtype=torch.float64, requires_grad=True) for n in numbers]
        _expression(random.Random(case), ours).backward()
        _expression(random.Random(case), theirs).backward()
        for a, b in zip(ours, theirs, strict=True):
            assert _near(a.grad, 0.0 if b.grad is None else b.grad.item()), "PyTorch finds another gradient"
