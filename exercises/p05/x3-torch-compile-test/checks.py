import copy
import math
import random
import warnings

import torch
from torch import nn
from torch.nn import functional as F


class _Block(nn.Module):
    """A transformer block, (B, T, D) to (B, T, D)."""

    def __init__(self, width=16, heads=2, dropout=0.0):
        super().__init__()
        self.heads, self.dropout = heads, nn.Dropout(dropout)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.dropout(self.out(mixed.transpose(1, 2).flatten(2)))
        return x + self.dropout(self.down(F.gelu(self.up(self.norm2(x)))))


def _one(x):
    return (x + 1) * 2


def _in_two(x):
    y = torch.tanh(x + 1)
    torch._dynamo.graph_break()
    return (y * 2).sin() * y


class _Pieces(nn.Module):
    """Two layers, with a break between them if asked."""

    def __init__(self, first="tanh", second="relu", broken=True):
        super().__init__()
        self.one, self.two = nn.Linear(3, 4), nn.Linear(4, 2)
        self.first, self.second, self.broken = getattr(torch, first), getattr(torch, second), broken

    def forward(self, x):
        x = self.first(self.one(x))
        if self.broken:
            torch._dynamo.graph_break()
        return self.second(self.two(x))


def test_counts_operations(ops_per_graph):
    found = list(ops_per_graph(_one, torch.ones(3)))
    assert found == [2], f"an addition and a multiplication are 2 operations; inputs and output are none: {found}"


def test_counts_graphs(ops_per_graph):
    found = list(ops_per_graph(_in_two, torch.ones(3)))
    assert found == [2, 3], f"2 operations before the break and 3 behind it are [2, 3], not {found}"


def test_one_block_one_graph(ops_per_graph):
    found = list(ops_per_graph(_Block(), torch.randn(2, 5, 16)))
    assert len(found) == 1 and found[0] > 10, f"the transformer block is one graph of many operations, not {found}"


def _by_size(x):
    return x * (x.shape[0] + 1) * x.shape[0]


def test_starts_afresh(ops_per_graph):
    for n in range(3, 14):
        found = list(ops_per_graph(_by_size, torch.ones(n)))
        assert found == [2], (
            f"two multiplications; the answer for {n} elements is {found}: forget what was compiled for others"
        )


def test_backward_too(training_graphs):
    x, w = torch.randn(5, 3), torch.randn(3, 2, requires_grad=True)
    forward, backward = training_graphs(lambda x, w: torch.tanh(x @ w), x, w)
    assert len(forward) == 1 and forward[0] >= 2, f"there is one forward graph, with a product and a tanh: {forward}"
    assert len(backward) == 1 and backward[0] >= 2, f"there is one backward graph, of several operations: {backward}"


def test_backward_of_the_sum(training_graphs):
    x, w = torch.randn(5, 3), torch.randn(3, 2, requires_grad=True)
    training_graphs(lambda x, w: torch.tanh(x @ w), x, w)
    assert w.grad is not None, "backward() of the result leaves a gradient in .grad, and here is none"
    (expected,) = torch.autograd.grad(torch.tanh(x @ w).sum(), w)
    assert torch.allclose(w.grad, expected, atol=1e-5), "f runs once, and backward once, on the sum of the result"


def test_training_starts_afresh(training_graphs):
    first = [list(part) for part in training_graphs(_by_size, torch.ones(3, requires_grad=True))]
    for n in range(4, 14):
        found = [list(part) for part in training_graphs(_by_size, torch.ones(n, requires_grad=True))]
        assert found == first, f"for {n} elements it is {found}, and {first} for 3: forget what was compiled for others"


def test_two_of_each(training_graphs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what goes over a break is no leaf, and Dynamo looks at its .grad
        forward, backward = training_graphs(_Pieces(), torch.ones(2, 3))
    assert (len(forward), len(backward)) == (2, 2), (
        f"with a break there are two forward and two backward graphs, not {len(forward)} and {len(backward)}"
    )


def test_nothing_to_differentiate(training_graphs):
    try:
        forward, backward = training_graphs(_one, torch.ones(3))
    except NotImplementedError:
        raise
    except RuntimeError:
        raise AssertionError("nothing requires a gradient: then there is no backward, and no error either") from None
    assert (list(forward), list(backward)) == ([2], []), "without gradients there are a forward and no backward graphs"


def _counted(f, *args):
    """Only reads: what another instrument says."""
    found = []

    def backend(graph, _):
        found.append(sum(n.op in ("call_function", "call_method", "call_module") for n in graph.graph.nodes))
        return graph.forward

    torch._dynamo.reset()
    torch.compile(f, backend=backend)(*args)
    return found


def _model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))


def _equal(pair):
    assert pair is not None and len(pair) == 2, "return two floats: of outputs, and of gradients"
    assert all(isinstance(part, float) for part in pair), "the two are Python floats, and no tensors"
    return list(pair)


def test_same_model(differences):
    torch._dynamo.reset()
    block, x = _Block(), torch.randn(2, 5, 16)
    outputs, gradients = _equal(differences(block, torch.compile(block, backend="aot_eager"), x))
    assert outputs < 1e-5 and gradients < 1e-4, "a block and its graphs, run as they are, agree up to rounding"
    assert all(p.grad is None for p in block.parameters()), "comparing has written into .grad"


def test_other_output(differences):
    model, x = _model(), torch.randn(6, 4)
    outputs, _ = _equal(differences(model, lambda x: model(x) * 1.5, x))
    assert abs(outputs - 0.5) < 1e-5, f"all outputs are half as large again: 0.5, not {outputs:.3g}"


def test_nothing_to_divide_by(differences):
    model, x = _model(), torch.randn(6, 4)
    for parameter in model[2].parameters():
        nn.init.zeros_(parameter)
    outputs, gradients = _equal(differences(model, lambda x: model(x) + 0.25, x))
    assert outputs == 0.25, f"where the model gave 0 a difference is divided by 1: 0.25, not {outputs:.3g}"
    assert abs(gradients - 3.0) < 1e-5, (
        f"each of the three biases has a gradient of 6 times 2 times 0.25, and had one of 0: 3, not {gradients:.3g}"
    )


def test_missing_gradient(differences):
    model, x = _model(), torch.randn(6, 4)

    def cut(x):
        return model[2](model[1](model[0](x)).detach())

    outputs, gradients = _equal(differences(model, cut, x))
    assert outputs == 0, "the outputs are equal"
    assert gradients > 0.99, "gradients that never reach the first layer count as zeros: a difference of 1"


def test_gradient_of_x(differences):
    model, x = _model(), torch.randn(6, 4)
    _, gradients = _equal(differences(model, lambda x: model(x.detach()), x))
    assert gradients > 0.99, "the gradient with respect to the input is missing, and only that"


def test_relative(differences):
    model, x = _model(), torch.randn(6, 4)
    with torch.no_grad():
        model[2].weight.mul_(1e-4)
        model[2].bias.mul_(1e-4)
    outputs, gradients = _equal(differences(model, lambda x: model(x) * 1.5, x))
    assert abs(outputs - 0.5) < 1e-4 and abs(gradients - 1.25) < 1e-3, (
        "differences are relative: outputs of 1e-4 that are half as large again differ by 0.5, their gradients by 1.25"
    )


def test_same_masks(differences):
    block, x = _Block(dropout=0.5), torch.randn(2, 5, 16)
    outputs, gradients = _equal(differences(block, block.forward, x))
    assert outputs == gradients == 0, "with dropout, a model differs from itself: begin both from the same state"


class _Machine:
    """A clock that only work moves; a function returns at once where there is a queue."""

    def __init__(self, queue=False):
        self.now, self.waiting, self.queue, self.pace, self.calls = 0.0, 0.0, queue, 1.0, 0

    def clock(self):
        return self.now

    def synchronize(self):
        self.now, self.waiting = self.now + self.waiting, 0.0

    def work(self, *seconds):
        """Takes these times, one a call, and then the last one for ever."""
        state = list(seconds)

        def call():
            took = (state.pop(0) if len(state) > 1 else state[0]) * self.pace
            self.calls += 1
            if self.queue:
                self.waiting += took
            else:
                self.now += took

        return call


def _asked(break_even, message, expected, eager, compiled, **kwargs):
    machine = _Machine()
    found = break_even(machine.work(*eager), machine.work(*compiled), clock=machine.clock, **kwargs)
    assert found == expected, f"{message}: after {expected} calls, not {found}"


def test_break_even(break_even):
    _asked(break_even, "first call 20 s, later 1 s, eager 3 s", 10, [3.0], [20.0, 1.0])
    _asked(break_even, "first call 20.5 s, later 1 s, eager 3 s", 10, [3.0], [20.5, 1.0])


def test_never(break_even):
    _asked(
        break_even,
        "compiled is as slow as eager once it is compiled, so it never catches up",
        math.inf,
        [3.0],
        [20.0, 3.0],
    )
    _asked(break_even, "compiled is slower than eager", math.inf, [3.0], [20.0, 4.0])


def test_at_once(break_even):
    _asked(break_even, "the first call is already faster than eager", 1, [3.0], [2.0, 1.0])
    _asked(break_even, "the first call is as fast as eager", 1, [3.0], [3.0, 3.0])


def test_rounds(break_even):
    for rounds in (1, 4, 5):
        machine, calls = _Machine(), []
        work = {"eager": machine.work(3.0), "compiled": machine.work(20.0, 1.0)}

        def noted(name, work=work, calls=calls):
            calls.append(name)
            work[name]()

        break_even(lambda: noted("eager"), lambda: noted("compiled"), rounds=rounds, clock=machine.clock)
        for name in work:
            found = calls.count(name)
            assert found == 1 + rounds, (
                f"once first, and then once in each of {rounds} rounds: not {found} times {name}"
            )


def test_cold_eager(break_even):
    _asked(break_even, "the first eager call, 100 s, only warms up", 10, [100.0, 3.0], [20.0, 1.0], rounds=1)


def test_median(break_even):
    _asked(break_even, "one interrupted call of five", 10, [3.0, 3.0, 900.0, 3.0], [20.0, 1.0, 1.0, 1.0, 700.0, 1.0])


def test_slower_half_way(break_even):
    machine = _Machine()
    eager, compiled = machine.work(3.0), machine.work(20.0, 1.0)

    def slowing(function):
        def call():
            machine.pace = 1.0 if machine.calls < 12 else 5.0
            function()

        return call

    found = break_even(slowing(eager), slowing(compiled), rounds=9, clock=machine.clock)
    assert found == 10, f"from the 12th call on all is slower, for both: after 10 calls, not {found}: time them in turn"


def test_waits(break_even):
    machine = _Machine(queue=True)
    machine.waiting = 500.0
    found = break_even(machine.work(3.0), machine.work(20.0, 1.0), clock=machine.clock, synchronize=machine.synchronize)
    assert found == 10, f"calls return before their work is done: after 10 calls, not {found}; wait at both ends"


def test_real_clock(break_even):
    started = []

    def compiled():
        sum(range(200 if started else 2_000_000))
        started.append(1)

    found = break_even(lambda: sum(range(40_000)), compiled, rounds=15)
    assert 5 < found < 500, f"with the real clock, about 50 calls pay for the first one here, not {found}"


def test_hidden_graphs(ops_per_graph, training_graphs, reference, seed):
    draw = random.Random(seed)
    for _ in range(3):
        kinds = draw.choice(["tanh", "relu", "exp"]), draw.choice(["sin", "sigmoid"]), draw.random() < 0.5
        model, x = _Pieces(*kinds), torch.randn(2, 3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            operations, counted = list(ops_per_graph(model, x)), _counted(model, x)
            found = [list(part) for part in training_graphs(model, x)]
            expected = [list(part) for part in reference.training_graphs(copy.deepcopy(model), x)]
        assert operations == counted, f"wrong numbers of operations for {kinds}: {operations} instead of {counted}"
        assert found == expected, f"wrong forward or backward graphs for {kinds}: {found} instead of {expected}"


def test_hidden_differences(differences, reference, seed):
    draw = random.Random(seed)
    for _ in range(10):
        model, x = _model(), torch.randn(6, 4)
        factors = [draw.choice([1.0, 1.0, 1.25]) for _ in model]

        def other(x, factors=factors, model=model):
            for factor, layer in zip(factors, model, strict=True):
                x = layer(x) * factor
            return x

        found, expected = _equal(differences(model, other, x)), reference.differences(model, other, x)
        assert all(abs(a - b) < 1e-4 for a, b in zip(found, expected, strict=True)), (
            f"for layers that are scaled by {factors} the differences are {expected}, not {found}"
        )


def test_hidden_break_even(break_even, seed):
    draw = random.Random(seed)
    for _ in range(30):
        eager, later, rounds = draw.randint(2, 9), draw.randint(1, 9), draw.randint(1, 6)
        first = later + draw.randint(0, 50)
        n = next((n for n in range(1, 200) if first + (n - 1) * later <= n * eager), math.inf)
        machine = _Machine(queue=True)
        found = break_even(
            machine.work(50, eager), machine.work(first, later), rounds, machine.clock, machine.synchronize
        )
        assert found == n, f"eager {eager} s, first call {first} s, later {later} s: after {n} calls, not {found}"
