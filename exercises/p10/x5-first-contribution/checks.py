import random
import unittest
import warnings

import torch


def _broken(x, dim=-1):
    """The function of the issue."""
    return x.cumsum(dim) / torch.arange(1, x.shape[dim] + 1)


def _count(x, dim):
    shape = [1] * x.ndim
    shape[dim] = -1
    return torch.arange(1, x.shape[dim] + 1, device=x.device).view(shape)


def _right(x, dim=-1):
    return x.cumsum(dim) / _count(x, dim)


def _kind(x):
    return x.dtype if x.dtype.is_floating_point else torch.get_default_dtype()


def _in_double(x, dim=-1):
    """Also right: adds in float64."""
    return (x.double().cumsum(dim) / _count(x, dim)).to(_kind(x))


def _moved(x, dim=-1):
    """Also right: adds in float64 along the first dimension, so that the result is a view of another order."""
    total = x.double().movedim(dim, 0).contiguous().cumsum(0)
    return (total / _count(total, 0)).movedim(0, dim).to(_kind(x))


def _rounded(x, dim=-1):
    """Also right: rounds otherwise in the last bit."""
    found = _right(x, dim)
    return found * (1 + torch.finfo(found.dtype).eps)


def _failing(make_test, instantiate, failures, function, device="cpu"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return failures(instantiate(make_test(function), device))


def _outcome(reproduce, function):
    try:
        reproduce(function)
    except NotImplementedError:
        raise
    except AssertionError:
        return "the assertion"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def test_reproduce(reproduce):
    found = _outcome(reproduce, _broken)
    assert found == "the assertion", (
        f"with the bug, an assertion about the numbers must fail, but what happened was: {found}. The issue is about "
        "results that are silently wrong"
    )
    for function in (_right, _rounded):
        found = _outcome(reproduce, function)
        assert found == "nothing", (
            "a right function must pass, whichever way it rounds, or nobody can tell when the bug is gone; "
            f"what happened was: {found}"
        )


def test_reproduce_small(reproduce):
    calls, state = [], torch.get_rng_state()

    def recorded(x, dim=-1):
        calls.append(x.numel())
        return _right(x, dim)

    _outcome(reproduce, recorded)
    assert len(calls) == 1, f"a minimal reproducer calls the function once; yours calls it {len(calls)} times"
    assert calls[0] <= 9, f"nine elements are enough, and can be checked by hand; yours has {calls[0]}"
    assert torch.get_rng_state().equal(state), (
        "write the numbers down instead of drawing them: the reproducer must fail every time"
    )


def test_fixed(fixed):
    x = torch.arange(9.0).view(3, 3)
    for dim in (0, 1, -1, -2):
        found = fixed(x, dim)
        assert torch.allclose(found, _right(x, dim)), f"along dim={dim}, the numbers are wrong: {found.tolist()}"
    assert fixed(torch.ones(2, 3, 4), 1).shape == (2, 3, 4), "an input with three dimensions must keep its shape"
    assert torch.allclose(fixed(x), _right(x)), "the default of dim is the last dimension"


def test_fixed_types(fixed):
    for dtype in (torch.float16, torch.float64, torch.int64, torch.bool):
        found = fixed(torch.ones(2, 2).to(dtype), 0).dtype
        assert found == _kind(torch.ones(1).to(dtype)), f"the result for {dtype} has the dtype {found}"
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        found = fixed(torch.tensor([1, 2])).dtype
    finally:
        torch.set_default_dtype(before)
    assert found == torch.float64, f"integers give the default floating type, which was float64 here, not {found}"
    found = fixed(torch.full((3,), 200, dtype=torch.uint8))
    assert found.tolist() == [200, 200, 200], (
        f"the mean of 200 and 200 is 200, although uint8 cannot hold their sum; found {found}"
    )
    assert fixed(torch.ones(0, 3), 0).shape == (0, 3), "a tensor without elements has a running mean without elements"


def test_fixed_gradients(fixed):
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=torch.float64, requires_grad=True)
    for dim in (0, 1):
        found = fixed(x, dim)
        assert found.requires_grad, "no gradient flows: what you compute from x must be recorded"
        expected = torch.autograd.grad(_right(x, dim)[:, 1].sum(), x)[0]
        found = torch.autograd.grad(found[:, 1].sum(), x)[0]
        assert torch.allclose(found, expected), f"along dim={dim}, the gradient is wrong: {found.tolist()}"


def test_fixed_device(fixed):
    try:
        found = fixed(torch.ones(3, 4, device="meta"), 0)
    except RuntimeError as error:
        if isinstance(error, NotImplementedError) and not error.args:
            raise
        said = str(error).splitlines()[0]
        raise AssertionError(f"the function must make its tensors on the device of its input: {said}") from None
    assert found.is_meta


def test_samples_as_asked(sample_inputs):
    for device, dtype, grad in (
        ("meta", torch.float32, True),
        ("cpu", torch.float64, False),
        ("cpu", torch.int64, False),
    ):
        for args, kwargs in sample_inputs(device, dtype, grad):
            x = args[0]
            assert x.device.type == device, f"a sample for {device} is on {x.device.type}"
            assert x.dtype == dtype, f"a sample for {dtype} has the dtype {x.dtype}"
            assert x.requires_grad == grad and x.is_leaf, "each sample must be a leaf with the given requires_grad"
            assert x.numel() <= 1000, (
                f"a sample has {x.numel()} elements: make samples small, because each test runs on all of them"
            )
            _right(*args, **kwargs)


def test_samples_cover(sample_inputs):
    samples = sample_inputs("cpu", torch.float32, False)
    given = [(args[0], args[1] if len(args) > 1 else kwargs.get("dim")) for args, kwargs in samples]
    wanted = {
        "a vector of several elements": any(x.ndim == 1 and x.numel() > 1 for x, _ in given),
        "three dimensions or more": any(x.ndim > 2 for x, _ in given),
        "dim left to its default": any(dim is None for _, dim in given),
        "a dim that is neither the first nor the last": any(
            x.ndim > 2 and d and 0 < d % x.ndim < x.ndim - 1 for x, d in given
        ),
        "a negative dim that is not the last": any(dim is not None and dim < -1 for _, dim in given),
        "no elements": any(x.numel() == 0 for x, _ in given),
        "one element along dim": any(x.ndim and x.shape[-1 if d is None else d] == 1 for x, d in given),
        "memory that is not contiguous": any(not x.is_contiguous() for x, _ in given),
    }
    missing = [name for name, there in wanted.items() if not there]
    assert not missing, f"no sample has {', and none '.join(missing)}"


def test_regression(make_test, instantiate, failures):
    cases = make_test(_right)
    assert issubclass(cases, unittest.TestCase), "make_test must return the class, not an instance or a result"
    found = _failing(make_test, instantiate, failures, _right)
    assert not found, f"the function is right, but your tests fail: {found}"
    found = _failing(make_test, instantiate, failures, _broken)
    assert found, "your tests also pass with the bug of the issue, so they would not keep it from coming back"


def test_no_false_alarm(make_test, instantiate, failures):
    for function in (_in_double, _moved, _rounded):
        found = _failing(make_test, instantiate, failures, function)
        assert not found, (
            f"a right implementation is refused ({function.__doc__}): bits and strides are not promised. {found}"
        )


def test_device_is_used(make_test, instantiate, failures):
    seen = []

    def recorded(x, dim=-1):
        seen.append(x.device.type)
        return _right(x, dim)

    _failing(make_test, instantiate, failures, recorded, "meta")
    assert seen and set(seen) == {"meta"}, (
        f"a test must make its tensors on the given device; here this was meta, but they were on {sorted(set(seen))}"
    )


def test_message(message):
    text = message()
    title, *rest = text.splitlines()
    assert 10 <= len(title) <= 72 and not title.endswith("."), (
        f"the title has 10 to 72 characters and no full stop; found {title!r}"
    )
    assert "running_mean" in title and "dim" in title, (
        f"the title must say what was fixed, and name running_mean and dim; found {title!r}"
    )
    assert rest and not rest[0].strip(), "git and GitHub expect the title, then an empty line, and then the description"
    assert max(map(len, text.splitlines())) <= 80, "lines have at most 80 characters, because logs do not wrap them"


def test_message_body(message):
    lines = [line.strip() for line in message().splitlines()[1:]]
    assert "Fixes #4321" in lines, "a separate line `Fixes #4321` closes the issue when the change is merged"
    plan = next((line for line in lines if line.lower().startswith("test plan:")), "")
    assert "python" in plan or "pytest" in plan, (
        f"`Test plan:` must name the command that a reviewer can run; found {plan!r}"
    )
    prose = [line for line in lines if line and line != "Fixes #4321" and line != plan]
    assert sum(map(len, prose)) >= 60, "say in a sentence or two what was wrong, and why the change fixes it"


def _mutants():
    def last_if_negative(x, dim=-1):
        return _right(x, dim if dim >= 0 else -1)

    def in_place(x, dim=-1):
        total = x.detach().cumsum_(dim) if x.dtype.is_floating_point and not x.requires_grad else x.cumsum(dim)
        return total / _count(x, dim)

    def truncated(x, dim=-1):
        found = _right(x, dim)
        return found if x.dtype.is_floating_point else found.floor()

    def always_single(x, dim=-1):
        return _right(x, dim).float()

    def cut_off(x, dim=-1):
        return _right(x.detach(), dim)

    def half_the_gradient(x, dim=-1):
        found = _right(x, dim)
        return found.detach() + (found - found.detach()) / 2 if x.requires_grad else found

    def empty_refused(x, dim=-1):
        if not x.numel():
            raise IndexError("nothing to average")
        return _right(x, dim)

    def walks_memory(x, dim=-1):
        steps = torch.empty(x.shape).stride()
        return _right(x if x.is_contiguous() else x.as_strided(x.shape, steps), dim)

    def two_dimensions(x, dim=-1):
        return _right(x, dim) if x.ndim < 3 else _right(x, 0)

    def first_by_default(x, dim=0):
        return _right(x, dim)

    def squeezed(x, dim=-1):
        return _right(x, dim).squeeze()

    def bool_refused(x, dim=-1):
        if x.dtype is torch.bool:
            raise TypeError("a bool is no number")
        return _right(x, dim)

    def in_float64(x, dim=-1):
        found = _right(x, dim)
        return found if x.dtype.is_floating_point else found.double()

    return {
        "a negative dim is taken for the last": last_if_negative,
        "without dim, the first dimension is taken": first_by_default,
        "dimensions of one element are dropped": squeezed,
        "means of integers come back as float64": in_float64,
        "a bool is refused": bool_refused,
        "the input is overwritten": in_place,
        "means of integers are cut to integers": truncated,
        "float64 comes back as float32": always_single,
        "no gradient flows": cut_off,
        "the gradient is half of what it should be": half_the_gradient,
        "an input without elements is refused": empty_refused,
        "a tensor that is not contiguous is misread": walks_memory,
        "with three dimensions, dim is ignored": two_dimensions,
    }


def test_hidden_mutants(make_test, instantiate, failures):
    survivors = [name for name, mutant in _mutants().items() if not _failing(make_test, instantiate, failures, mutant)]
    assert not survivors, f"your tests pass although {'; '.join(survivors)}"


def test_hidden_samples_tell(sample_inputs, seed):
    torch.manual_seed(seed)
    numbers = ["a negative dim is taken for the last", "a tensor that is not contiguous is misread"]
    numbers += ["with three dimensions, dim is ignored", "an input without elements is refused"]
    for name in numbers:
        differs = False
        for args, kwargs in sample_inputs("cpu", torch.float64, False):
            try:
                differs |= not torch.allclose(_mutants()[name](*args, **kwargs), _right(*args, **kwargs))
            except IndexError:
                differs = True
        assert differs, f"none of your samples shows that {name}"


def test_hidden_fixed_random(fixed, seed):
    coin = random.Random(seed)
    torch.manual_seed(seed)
    for _ in range(40):
        sizes = [coin.randint(0, 5) for _ in range(coin.randint(1, 4))]
        axis = coin.randrange(-len(sizes), len(sizes))
        tensor = torch.randn(sizes, dtype=torch.float64)
        if coin.random() < 0.4 and len(sizes) > 1:
            tensor = tensor.transpose(0, 1)
        kept = tensor.clone()
        given = f"shape {tuple(tensor.shape)}, strides {tensor.stride()}, dim={axis}"
        try:
            found = fixed(tensor, axis)
        except RuntimeError as error:
            if not error.args:  # of the stub
                raise
            raise AssertionError(f"{given}: {str(error).splitlines()[0]}") from None
        assert found.dtype == torch.float64 and torch.allclose(found, _right(tensor, axis)), f"{given}: wrong numbers"
        assert tensor.equal(kept), "the input was changed"
