import functools
import math
import random
import warnings

import torch
from torch import nn


class _Log(nn.Module):
    def forward(self, x):
        return x.log()


class _Call(nn.Module):
    """A function as a module."""

    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, *args):
        return self.f(*args)


class _Swapped(nn.Module):
    """Runs first the module that it defines last."""

    def __init__(self):
        super().__init__()
        self.late, self.early = nn.Tanh(), _Log()

    def forward(self, x):
        return self.late(self.early(x))


class _Own(nn.Module):
    """Divides by zero in its own code, outside its modules."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        return self.linear(x) / (x - x)


def _named(found, expected, why):
    assert found == expected, f"{why}: {expected!r}, not {found!r}"


def test_first_module(first_nonfinite):
    model = nn.Sequential(nn.Sequential(nn.Tanh(), _Log()), nn.Tanh(), nn.Linear(2, 2))
    _named(
        first_nonfinite(model, -torch.ones(3, 2)),
        "0.1",
        "the logarithm makes the NaN, and all later modules pass it on",
    )
    _named(first_nonfinite(model, -torch.zeros(3, 2)), "0.1", "an infinity counts too")


def test_order_of_execution(first_nonfinite):
    _named(first_nonfinite(_Swapped(), -torch.ones(2)), "early", "`early` is defined last and runs first")


def test_own_code(first_nonfinite):
    _named(
        first_nonfinite(_Own(), torch.ones(2)), "", "the modules inside are healthy, but the model's own code is not"
    )
    _named(
        first_nonfinite(nn.Tanh(), torch.ones(2)), None, "nothing is wrong, so it is not the model, whose name is empty"
    )


def test_takes_gradients(first_nonfinite):
    model = nn.Sequential(_Call(lambda t: torch.autograd.grad(t.square().sum(), t)[0]), _Log())
    try:
        found = first_nonfinite(model, torch.ones(2, requires_grad=True))
    except NotImplementedError:
        raise
    except RuntimeError as error:
        raise AssertionError(
            f"a model that computes a gradient in its forward pass must work too, but: {error}"
        ) from None
    _named(found, None, "the gradient is 2, whose logarithm is finite")


def test_outputs(first_nonfinite):
    class Many(nn.Module):
        def __init__(self):
            super().__init__()
            self.ints = _Call(lambda x: (x.long(), x > 0, None))
            self.pair = _Call(lambda x: {"out": [x, (x / 0, 3)]})

        def forward(self, x):
            self.ints(x)
            return self.pair(x)["out"][0]

    _named(first_nonfinite(Many(), torch.ones(2)), "pair", "a module returned a list with a tuple inside a dictionary")


def test_leaves_no_hook(first_nonfinite):
    model = nn.Sequential(nn.Linear(2, 2), _Call(lambda x: x @ torch.ones(3)))
    try:
        first_nonfinite(model, torch.ones(2, 2))
    except RuntimeError:
        pass  # as it should be: the shapes do not fit
    else:
        raise AssertionError("the model raised an error, which must be passed on")
    first_nonfinite(model[0], torch.ones(2, 2))
    left = [name for name, m in model.named_modules() if m._forward_hooks or m._forward_pre_hooks]
    assert not left, f"after an error, hooks stay behind on {len(left)} modules: remove them in a `finally` block"


def test_first_op(first_bad_op):
    x = torch.tensor([-1.0, 4.0])
    _named(first_bad_op(lambda: (x.sqrt() * 2).log()), "aten.sqrt.default", "the root makes the NaN; others pass it on")
    _named(first_bad_op(lambda: (x * 100).exp().sum()), "aten.exp.default", "the exponential makes an infinity")
    _named(
        first_bad_op(lambda: torch.full((2,), math.inf) * torch.zeros(2)),
        "aten.mul.Tensor",
        "infinity times zero makes a NaN from operands without one",
    )
    _named(
        first_bad_op(lambda: torch.slogdet(torch.zeros(2, 2))),
        "aten._linalg_slogdet.default",
        "one of several results is infinite: the logarithm of 0",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch, about the degrees of freedom
        found = first_bad_op(lambda: torch.var_mean(torch.ones(1)))
    _named(found, "aten.var_mean.correction", "one of two results is NaN: the variance of a single number")
    _named(first_bad_op(lambda: x * 2), None, "nothing is wrong here")
    one = torch.ones(1)
    _named(first_bad_op(lambda: torch.sub(one, one, alpha=0.5).log()), None, "1 - 0.5 * 1 has a logarithm")


def test_on_purpose(first_bad_op):
    scores, mask = torch.randn(3, 3), torch.ones(3, 3).triu(1) > 0
    _named(
        first_bad_op(lambda: scores.masked_fill(mask, -math.inf).softmax(-1).log_softmax(-1)),
        None,
        "a mask of minus infinity was asked for, by a number among the operands, and softmax turns it into zeros",
    )
    _named(first_bad_op(lambda: scores + math.nan), None, "a NaN was passed in, as a Python number")
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)  # fills new memory with NaN
    try:
        found = first_bad_op(
            lambda: [f(torch.ones(3)).fill_(1.0) for f in (torch.empty_like, lambda t: t.new_empty(3))]
        )
    finally:
        torch.use_deterministic_algorithms(before)
    _named(found, None, "memory that was only allocated may hold anything, for example a NaN")


def test_in_place(first_bad_op):
    _named(
        first_bad_op(lambda: torch.tensor([-1.0]).log_().add_(1)),
        "aten.log_.default",
        "in place, the operand is NaN afterwards, but was not before",
    )


def test_in_backward(first_bad_op):
    x = torch.zeros(2, requires_grad=True)
    _named(
        first_bad_op(lambda: torch.autograd.grad((x.sqrt() * 0).sum(), x)),
        "aten.div.Tensor",
        "backward of the root at 0 divides by it, zero by zero",
    )


def test_reports(anomaly_report):
    x = torch.zeros(2, requires_grad=True)
    _named(
        anomaly_report(lambda: (x.sqrt() * 0).sum()),
        "SqrtBackward0",
        "the gradient of the root at 0 is 0 times infinity",
    )
    y = torch.ones(2, requires_grad=True)
    _named(
        anomaly_report(lambda: (x.sqrt() * 0).sum() + y.sum()), "SqrtBackward0", "the first of two branches has the NaN"
    )
    _named(
        anomaly_report(lambda: (x - 1).log().sum()),
        None,
        "log(-1) has the gradient -1: the loss is NaN, and no gradient",
    )
    _named(
        anomaly_report(lambda: (1 / x).sum()), None, "an infinite gradient is not a NaN, and anomaly mode lets it pass"
    )


class _Raises(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise RuntimeError("an error of its own")


def test_report_is_careful(anomaly_report):
    x = torch.ones(2, requires_grad=True)
    try:
        anomaly_report(lambda: _Raises.apply(x).sum())
    except RuntimeError:
        pass
    else:
        raise AssertionError("the backward pass raised an error that has nothing to do with NaN, but it was swallowed")
    assert not torch.is_anomaly_enabled(), "anomaly mode is still on afterwards, which slows every step down"
    torch.autograd.set_detect_anomaly(True)
    try:
        anomaly_report(lambda: (x * 2).sum())
        assert torch.is_anomaly_enabled(), "anomaly mode was on before, but has been switched off"
    finally:
        torch.autograd.set_detect_anomaly(False)
    assert x.grad is None, "`.grad` was None before: `torch.autograd.grad` writes into none"


def _cases(w, x):
    """Programs, what is wrong with each, and what anomaly mode says about it."""
    return [
        (lambda: (w * x).sum(), ("none", None), "nothing is wrong"),
        (lambda: (w * x - 9).log().sum(), ("forward", None), "a NaN in the forward pass, with a finite gradient"),
        (lambda: (w * 0).sqrt().sum() * 0, ("backward", "SqrtBackward0"), "a finite loss with a gradient of NaN"),
        (lambda: (w * 1e-3).reciprocal().clamp(max=1).sum(), ("none", None), "everything is finite"),
        (lambda: (w - 1).sqrt().sum(), ("backward", None), "a finite loss with an infinite gradient, but no NaN"),
        (
            lambda: ((x - 9).log() * w).sum(),
            ("forward", "MulBackward0"),
            "the logarithm makes the NaN, but anomaly mode names the product that passes it to w",
        ),
        (
            lambda: torch.where(w > 2, (w - 2).sqrt(), w).sum(),
            ("backward", "SqrtBackward0"),
            "the loss is finite, the branch not chosen has a root of -1, and its gradient is NaN times 0",
        ),
    ]


def test_verdict(verdict):
    w, x = torch.ones(2, requires_grad=True), torch.ones(2)
    for fn, expected, why in _cases(w, x):
        found = tuple(verdict(fn, [w]))
        assert found == expected, f"{why}: {expected}, not {found}"


def test_gradients_stay(verdict):
    w, unused = (torch.ones(2, requires_grad=True) for _ in range(2))
    w.grad = torch.full((2,), 7.0)
    found = tuple(verdict(lambda: (w * 2).sum(), iter([unused, w])))
    assert found == ("none", None), (
        f"a parameter that the loss does not use has no gradient, which is not a fault: {found}"
    )
    assert getattr(w.grad, "tolist", list)() == [7, 7], "`.grad` held gradients of the caller, but was changed"
    assert unused.grad is None, "`.grad` of a parameter was None, but was changed"


def test_hidden_forensics(first_nonfinite, first_bad_op, reference, seed):
    draw = random.Random(seed)
    healthy = [torch.tanh, torch.sigmoid, lambda t: t * 2, lambda t: t.softmax(-1)]
    sick = [torch.log, lambda t: t.sqrt(), lambda t: t / (t - t), lambda t: (t * 1e30).exp(), lambda t: t.acosh()]
    for case in range(20):
        steps = [draw.choice(healthy) for _ in range(draw.randint(2, 7))]
        for _ in range(draw.randint(0, 2)):
            steps.insert(draw.randrange(len(steps) + 1), draw.choice(sick))
        layers = [nn.Sequential(_Call(f)) if draw.random() < 0.5 else _Call(f) for f in steps]
        model, x = nn.Sequential(*layers), torch.randn(3, generator=torch.Generator().manual_seed(seed + case))
        found, expected = first_nonfinite(model, x), reference.first_nonfinite(model, x)
        assert found == expected, f"of {len(steps)} layers, the first to go wrong is {expected!r}, not {found!r}"
        fn = functools.partial(model, x)
        found, expected = first_bad_op(fn), reference.first_bad_op(fn)
        assert found == expected, f"of {len(steps)} steps, the one that makes it is {expected!r}, not {found!r}"


def test_hidden_verdict(verdict, anomaly_report, seed):
    draw = random.Random(seed)
    w, x = torch.ones(draw.randint(1, 5), requires_grad=True), torch.ones(1)
    for fn, expected, _ in _cases(w, x):
        scale = draw.uniform(0.5, 2)
        found = tuple(verdict(lambda f=fn, s=scale: f() * s, [w]))
        assert found == expected, f"for the same program with scaled numbers, the verdict is {expected}, not {found}"
        named = anomaly_report(lambda f=fn, s=scale: s * f())
        assert named == expected[1], f"anomaly mode names {expected[1]} here, not {named}"
