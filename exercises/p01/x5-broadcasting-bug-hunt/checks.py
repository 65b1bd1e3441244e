import math
import random

import torch

ALL = {"pads a", "pads b", "stretches a", "stretches b"}


def _solved(bugs):
    if not bugs:
        raise NotImplementedError
    return [(tuple(a), tuple(b), tuple(meant)) for a, b, meant in bugs]


def test_nothing_to_do(applied):
    assert set(applied((2, 3), (2, 3))) == set(), "equal shapes: broadcasting does nothing"


def test_stretched(applied):
    assert set(applied((4, 1), (4, 3))) == {"stretches a"}, "a size of 1 grows to the other size"
    assert set(applied((4, 3), (1, 3))) == {"stretches b"}, "say which of the two is stretched"


def test_padded_and_stretched(applied):
    found = set(applied((3,), (4, 3)))
    assert found == {"pads a", "stretches a"}, "the padded dimension has size 1, and grows to 4"
    assert set(applied((3,), (1, 3))) == {"pads a"}, "the padded 1 meets a 1: padded, and not stretched"


def test_ones(applied):
    assert set(applied((1, 1), (1, 1))) == set(), "a 1 that meets a 1 is not stretched"
    assert set(applied((1,), (0,))) == {"stretches a"}, "a size of 0 is a size: the 1 becomes 0"


def test_aligned_at_the_right(applied):
    try:
        applied((4, 3), (4,))
    except ValueError:
        return
    raise AssertionError("shapes are aligned at the right: (4, 3) and (4,) do not fit, and ValueError must be raised")


def test_five_bugs(bugs):
    assert len(set(_solved(bugs))) == 5, "five different bugs are asked for"


def test_bugs_have_another_shape(bugs):
    for a, b, meant in _solved(bugs):
        try:
            result = tuple(torch.broadcast_shapes(a, b))
        except RuntimeError:
            raise AssertionError(f"{a} and {b} do not fit: an error that is raised is not a silent bug") from None
        assert result != meant, f"{a} and {b} give {meant}, which is what was meant: no bug"


def test_bugs_could_be_meant(bugs):
    for a, b, meant in _solved(bugs):
        fits = all(_fits(math.prod(one), meant) for one in (a, b)) and math.prod(meant) <= math.prod(a) * math.prod(b)
        assert fits, f"no reshaping of {a} and {b} makes their sum have the shape {meant}"


def _fits(elements, meant):
    """Whether some choice of the sizes of `meant`, the others being 1, has this number of elements."""
    products = {1}
    for size in meant:
        products |= {p * size for p in products}
    return elements in products


def test_bugs_show_everything(bugs):
    seen = set()
    for a, b, _ in _solved(bugs):
        seen |= {f"pads {'a' if len(a) < len(b) else 'b'}"} if len(a) != len(b) else set()
        rank = max(len(a), len(b))
        for m, n in zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True):
            seen |= {"stretches a" if m == 1 else "stretches b"} if m != n else set()
    assert seen == ALL, f"the five bugs together do not show: {', '.join(sorted(ALL - seen))}"


def test_guard_lets_through(guarded):
    a, b = torch.full((3, 1), 5.0), torch.ones(2)
    try:
        found = guarded(torch.sub, a, b, (3, 2))
    except ValueError:
        raise AssertionError("a broadcast whose result has the shape that was meant must pass") from None
    assert torch.equal(found, torch.full((3, 2), 4.0)), "the guard must return what operation(a, b) returns: 5 - 1 is 4"


def test_guard_refuses(guarded):
    for b in (torch.zeros(4), torch.zeros(3)):
        try:
            guarded(torch.sub, torch.zeros(4, 1), b, (4,))
        except ValueError as error:
            assert "(4, 1)" in str(error) and "(4,)" in str(error), "the message must name the shapes"
            continue
        raise AssertionError("a result of another shape than the one that was meant must raise ValueError")


def test_guard_names_what_does_not_fit(guarded):
    try:
        guarded(torch.sub, torch.zeros(3), torch.zeros(4), (3, 4))
    except ValueError as error:
        missing = [shape for shape in ("(3,)", "(4,)", "(3, 4)") if shape not in str(error)]
        assert not missing, f"the message must name both shapes and the one that was meant, and lacks {missing[0]}"
    except NotImplementedError:
        raise
    except (RuntimeError, NameError) as error:
        raise AssertionError(
            f"(3,) and (4,) do not fit: ValueError must be raised, not {type(error).__name__}"
        ) from None
    else:
        raise AssertionError("(3,) and (4,) do not fit: ValueError must be raised")


def test_guard_is_early(guarded):
    called = []
    try:
        guarded(lambda a, b: called.append(1) or a + b, torch.zeros(4, 1), torch.zeros(4), (4,))
    except ValueError:
        assert not called, "the operation ran before the shapes were compared: a large result would have been made"


def test_hidden_random_shapes(applied, guarded, reference, seed):
    draw = random.Random(seed)
    for _ in range(300):
        a, b = (tuple(draw.choice([0, 1, 1, 2, 3]) for _ in range(draw.randint(0, 4))) for _ in range(2))
        try:
            expected = reference.applied(a, b)
        except ValueError:
            expected = None
        try:
            found = set(applied(a, b))
        except ValueError:
            found = None
        assert found == expected, "wrong for some pair of shapes"


def test_hidden_guard(guarded, reference, seed):
    draw = random.Random(seed)
    for _ in range(50):
        a, b = (torch.zeros([draw.choice([1, 2]) for _ in range(draw.randint(0, 3))]) for _ in range(2))
        shape = tuple(draw.choice([1, 2]) for _ in range(draw.randint(0, 3)))
        outcomes = []
        for function in (guarded, reference.guarded):
            try:
                outcomes.append(tuple(function(torch.add, a, b, shape).shape))
            except ValueError:
                outcomes.append(None)
        assert outcomes[0] == outcomes[1], "the guard lets some shape through, or refuses one that was meant"
