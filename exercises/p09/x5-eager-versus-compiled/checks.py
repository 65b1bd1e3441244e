import copy
import math
import operator
import random

import torch
from torch import fx, nn
from torch.nn import functional as F


class _Backend:
    """Runs a graph as it is, but for one kind of operation; counts how often it was asked."""

    def __init__(self, sick=None, wrong=None, among=None, tries=False):
        self.sick, self.wrong, self.among, self.asked = sick, _named(wrong), among, 0
        self.tries = tries  # whether it runs the graph on the example inputs, while it compiles

    def __call__(self, graph, inputs):
        self.asked += 1
        graph = copy.deepcopy(graph)
        for number, node in enumerate(_operations(graph)):
            if node.target == self.sick and (self.among is None or number == self.among):
                node.target, node.op = self.wrong, "call_function"
        graph.recompile()
        if self.tries:
            graph(*inputs)
        return graph.forward


def _named(function):
    """The same under a name: of a lambda fx would look for the source, which need not be in a file."""

    def wrong(*args, **kwargs):
        return function(*args, **kwargs)

    return wrong


def _operations(graph):
    return [node for node in graph.graph.nodes if node.op.startswith("call_")]


def _graph(f):
    return fx.symbolic_trace(f)


def _layers(x):
    x = torch.tanh(x * 2)
    x = torch.sigmoid(x + 1)
    x = torch.exp(x) - 1
    x = torch.relu(x)
    x = torch.softmax(x, -1)
    return torch.log(x + 0.5).sum()


def _chain(functions):
    def f(x):
        for function in functions:
            x = function(x)
        return x

    return f


_X = torch.linspace(-2, 2, 12).reshape(3, 4)


def test_tolerance(agree):
    for dtype, small, large in ((torch.float32, 1e-6, 1e-4), (torch.bfloat16, 8e-3, 0.1), (torch.float64, 1e-8, 1e-5)):
        x = torch.linspace(1, 2, 8, dtype=torch.float64)
        a, near, far = (t.to(dtype) for t in (x, x * (1 + small), x * (1 + large)))
        assert agree(a, near), (
            f"in {dtype}, a relative difference of {small:.0e} is only rounding: compare with a tolerance"
        )
        assert not agree(a, far), f"in {dtype}, a relative difference of {large:.0e} is more than rounding"
    nan = torch.tensor([1.0, math.nan])
    assert agree(nan, nan.clone()), "a NaN at the same place is the same result"
    assert not agree(nan, torch.ones(2)), "a NaN on one side only is a difference"


def test_same_kind(agree):
    assert not agree(torch.ones(2, 1), torch.ones(2)), (
        "results with different shapes differ, even if they can be broadcast"
    )
    assert not agree(torch.ones(2), torch.ones(2, dtype=torch.float64)), "results with different dtypes differ"
    assert not agree(torch.tensor([100_000_000]), torch.tensor([100_000_001])), (
        "integers must be equal, without a tolerance"
    )
    assert agree((1, 2), (1, 2)), "values that are not tensors are compared with =="
    assert not agree(1.0, None), "a number is not None"
    assert not agree(torch.ones(()), 1.0), "a tensor is not a number"
    assert not agree(1.0, torch.ones(())), "a number is not a tensor"
    assert not agree(1, 1.0) and not agree((1, 2), [1, 2]), "values that are not tensors must also have the same type"


def test_closer_to_exact(agree):
    exact = torch.tensor([1.0, 2.0], dtype=torch.float64)
    eager, better = torch.tensor([1.1, 2.1]).bfloat16(), torch.tensor([1.0, 2.05]).bfloat16()
    worse = torch.tensor([1.0, 2.25]).bfloat16()
    assert agree(eager, better, exact), (
        "a result that differs from eager, but is closer to the result in float64, is not wrong"
    )
    below = torch.tensor([1.0, 1.75]).bfloat16()
    assert not agree(eager, below, exact), "smaller numbers are not automatically closer to the result in float64"
    assert not agree(eager, worse, exact), "the result differs from eager, and is further from the result in float64"
    other_side = (2 * exact - eager).bfloat16()
    assert agree(eager, other_side, exact), (
        "an error of the same size as that of eager, in the other direction, is not larger"
    )
    near = torch.tensor([1.0, 2.0 + 2.0**-6]).bfloat16()
    assert agree(exact.bfloat16(), near, exact), (
        "eager is exact, but a result within the tolerance around eager is good enough"
    )
    assert not agree(eager, better), "without a result in float64, nobody knows which one is right"
    assert not agree(eager, better.float(), exact), "a different dtype is still a difference"


class _Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x, scale):
        return torch.tanh(self.linear(x)) * scale


def test_captured(captured):
    torch.manual_seed(0)
    model = _Model()
    for n in (2, 3, 5):
        torch.compile(model, backend="eager")(torch.ones(n, 4), 2.0)
    graph, inputs = captured(model, _X, 3.0)
    assert isinstance(graph, fx.GraphModule), f"the first result must be the graph, not a {type(graph).__name__}"
    out = graph(*inputs)
    out = out[0] if isinstance(out, tuple | list) else out
    assert out.equal(model(_X, 3.0)), "the graph, called with the inputs, must give what the model gives"
    number = len(_operations(graph))
    assert number == 3, f"a linear layer, tanh, and a product are 3 operations, but the graph has {number}"


def test_prefix(prefix):
    graph = _graph(_layers)
    before = str(graph.graph)
    small = prefix(graph, 3)
    found = small(_X)
    assert isinstance(found, tuple), f"a prefix returns a tuple, not a {type(found).__name__}"
    assert len(found) == 3, f"a prefix of 3 operations returns 3 results, not {len(found)}"
    expected = _X * 2, torch.tanh(_X * 2), torch.tanh(_X * 2) + 1
    assert all(map(torch.equal, found, expected)), "the results must be those of the first 3 operations, in order"
    assert len(_operations(small)) == 3, "the prefix still contains later operations"
    assert str(graph.graph) == before, "the graph that was passed in has been changed"


def test_prefix_keeps_inputs(prefix):
    graph = _graph(lambda x, y: torch.sin(x) + torch.cos(y))
    try:
        found = prefix(graph, 1)(_X, _X + 1)
    except TypeError as error:
        raise AssertionError(
            f"a prefix has the same inputs as the graph, even those that it does not use: {error}"
        ) from None
    assert found[0].equal(torch.sin(_X)), "the first of two inputs must still come first"


def test_prefix_keeps_parameters(prefix):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))
    try:
        found = prefix(_graph(model), 2)(_X)
    except AttributeError as error:
        raise AssertionError(f"the prefix lacks modules or parameters that the graph has: {error}") from None
    assert found[1].equal(model[1](model[0](_X))), "with modules in the graph, the results are different"


def _found(culprit, f, backend, expected, why, inputs=None):
    graph = f if isinstance(f, fx.GraphModule) else _graph(f)
    found = culprit(graph, [_X.clone()] if inputs is None else inputs, backend)
    names = [node.name for node in _operations(graph)]
    named = "None" if found is None else f"{found}, {names[found]}"
    assert found == expected, f"{why}: among {', '.join(names)}, it is number {expected}, not {named}"


def test_culprit(culprit):
    wrong = _Backend(torch.exp, lambda x: torch.exp(x) * 1.01)
    _found(culprit, _layers, wrong, 4, "exp is wrong by one percent")
    _found(culprit, _layers, _Backend(), None, "nothing is wrong")
    _found(
        culprit, _layers, _Backend(torch.exp, lambda x: torch.exp(x) * (1 + 1e-7)), None, "exp differs only by rounding"
    )
    _found(culprit, _layers, _Backend(operator.mul, lambda a, b: a * b + 1), 0, "the first operation is wrong")


def test_one_of_many(culprit):
    def f(x):
        for _ in range(6):
            x = torch.sin(x) + 1
        return x

    _found(culprit, f, _Backend(torch.sin, torch.cos, among=8), 8, "only the fifth sine is wrong")


def test_hidden_by_relu(culprit):
    def f(x):
        return torch.relu(torch.neg(torch.exp(x) + 1)) + torch.sin(x)

    _found(
        culprit,
        f,
        _Backend(torch.exp, torch.expm1),
        0,
        "relu turns the wrong values into zeros, but exp is still wrong",
    )


def test_in_place(culprit):
    def f(x):
        y = torch.sin(x)
        x.mul_(2)
        y.add_(x)
        return torch.exp(y)

    x = _X.clone()
    _found(culprit, f, _Backend(torch.exp, torch.expm1), 3, "each run must start from the same inputs", [x])
    assert x.equal(_X), "an operation in place has changed the caller's input"
    backend = _Backend(torch.exp, torch.expm1, tries=True)
    _found(
        culprit, f, backend, 3, "the backend may run the graph on its example inputs, so these must not be the run's"
    )
    assert backend.asked <= 4, f"for 4 operations the backend was called {backend.asked} times; log2(4) + 2 is 4"


def test_random(culprit):
    def f(x):
        return F.dropout(torch.sin(x), 0.5) * 2

    state = torch.get_rng_state()
    _found(
        culprit,
        f,
        _Backend(operator.mul, lambda a, b: a * b * 1.1),
        2,
        "dropout must draw the same numbers in both runs",
    )
    _found(culprit, f, _Backend(tries=True), None, "a backend may draw numbers while it compiles")
    assert torch.get_rng_state().equal(state), "afterwards, the caller's generator is in a different state"


def test_tuples(culprit):
    def f(x):
        values, indices = torch.max(x, 1)
        return torch.sin(values) + indices

    _found(culprit, f, _Backend(torch.max, torch.min), 0, "max returns values and indices, and both are wrong")


def test_few_compilations(culprit):
    graph = _graph(_chain([torch.sin] * 30))
    for among in (0, 29):
        backend = _Backend(torch.sin, torch.tanh, among=among)
        found = culprit(graph, [_X.clone()], backend)
        assert found == among, f"of 30 operations, number {among} is wrong, not {found}"
        assert backend.asked <= 6, (
            f"for 30 operations the backend was called {backend.asked} times; log2(30) + 2 is less than 7"
        )


def test_repro(repro):
    graph = _graph(lambda x: torch.addcmul(torch.sin(x), x, torch.cos(x), value=3.0) + x)
    small, values = repro(graph, [_X.clone()], 2)
    assert [node.target for node in _operations(small)] == [torch.addcmul], "the only operation left must be addcmul"
    assert len(values) == len([node for node in small.graph.nodes if node.op == "placeholder"]), (
        "there must be one value for each input"
    )
    found = small(*values)
    assert isinstance(found, tuple), f"the graph returns a tuple, not a {type(found).__name__}"
    expected = torch.addcmul(torch.sin(_X), _X, torch.cos(_X), value=3.0)
    assert found[0].equal(expected), (
        "called with its values, the operation must give the same result as in the whole graph"
    )
    state, x = torch.get_rng_state(), _X.clone()
    noisy, values = repro(_graph(lambda x: F.dropout(x.mul_(2), 0.5) + x), [x], 2)
    assert torch.get_rng_state().equal(state), "afterwards, the caller's generator is in a different state"
    assert x.equal(_X), "an operation in place has changed the caller's input"
    assert len(values) == 2 and noisy(*values)[0].equal(values[0] + values[1]), (
        "the operation is a sum, with two values"
    )
    largest, values = repro(_graph(lambda x: torch.sin(torch.max(x, 1)[0])), [_X.clone()], 1)
    assert len(values) == 1 and largest(*values)[0].equal(_X.amax(1)), (
        "the operation takes the first item of a tuple, and the tuple is its only value"
    )
    twice, values = repro(_graph(lambda x: torch.sin(x) * 1 + x.mul_(x)), [_X.clone()], 2)
    assert twice(*values)[0].equal(_X * _X), (
        "x is multiplied by itself in place: its value from before the operation, listed once"
    )


def test_hidden_search(culprit, repro, seed):
    draw = random.Random(seed)
    kinds = [torch.sin, torch.tanh, torch.sigmoid, torch.relu, torch.neg, torch.square]
    for _ in range(6):
        chosen = [draw.choice(kinds) for _ in range(draw.randint(1, 30))]
        graph, number = _graph(_chain(chosen)), draw.randrange(len(chosen))
        backend = _Backend(chosen[number], lambda t, kind=chosen[number]: kind(t) + 0.5, among=number)
        found = culprit(graph, [_X.clone()], backend)
        assert found == number, f"of {len(chosen)} operations, number {number} is wrong, not {found}"
        most = math.log2(len(chosen)) + 2
        assert backend.asked <= most, f"for {len(chosen)} operations the backend was called {backend.asked} times"
        small, values = repro(graph, [_X.clone()], number)
        assert small(*values)[0].equal(chosen[number](values[0])), "the single operation gives a different result"


def test_hidden_agree(agree, seed):
    draw = torch.Generator().manual_seed(seed)
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        rtol, atol = {torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5)}.get(dtype, (1.3e-6, 1e-5))
        if dtype == torch.float64:
            rtol, atol = 1e-7, 1e-7
        a = (torch.rand(50, generator=draw, dtype=torch.float64) + 1).to(dtype)
        bound = (rtol * a.double() + atol).amin().item()
        for factor, expected in ((0.2, True), (8.0, False)):
            b = a.clone()
            b[seed % 50] = (a.double()[seed % 50] + factor * bound).to(dtype)
            if factor < 1 or not b.equal(a):
                assert agree(a, b) == expected, (
                    f"in {dtype}, a difference of {factor} times the tolerance is {'' if expected else 'not '}fine"
                )
