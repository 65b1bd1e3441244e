import random
import statistics
import time

import torch
from torch import nn


class _Slow(nn.Module):
    """The model of the exercise."""

    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.limit = 3.0

    def forward(self, x):
        h = torch.relu(self.up(x))
        if h.max() > self.limit:
            h = h.clamp(max=self.limit)
        rows = []
        for row in h:
            largest = row.max()
            rows.append(row / largest if largest > 1 else row)
        return x + self.down(torch.stack(rows))


def _branch(x):
    y = x.sin()
    if y.sum() > 0:
        y = y + 1
    return y * 2


def _two(x):
    y = x.sin()
    torch._dynamo.graph_break()
    y = y.cos()
    if y.sum() > 0:
        y = y + 1
    return y * 2


def _clipped(y):
    z = y * 3
    if z.max() > 1:
        z = z / 2
    return z


def _outer(x):
    y = x.cos()
    y = _clipped(y)
    return y + 1


def _whole(x):
    return (x.sin() + 1).clamp(min=0)


def test_finds_a_branch(breaks):
    found = list(breaks(_branch, torch.ones(3)))
    assert found == ["if y.sum() > 0:"], f"the branch needs the number of a sum, and breaks the graph there: {found}"


def test_in_order(breaks):
    found = list(breaks(_two, torch.ones(3)))
    assert found == ["torch._dynamo.graph_break()", "if y.sum() > 0:"], f"two lines break the graph, in order: {found}"


def test_inside_a_helper(breaks):
    found = list(breaks(_outer, torch.ones(3)))
    assert found == ["if z.max() > 1:"], f"the break is in the function that is called, on one line: {found}"


def test_no_break(breaks):
    found = breaks(_whole, torch.ones(3))
    assert list(found) == [], "this function is one graph"
    assert isinstance(found, list), f"the lines are asked for in a list, not in a {type(found).__name__}"


def test_breaks_again(breaks):
    compiled = torch.compile(_branch, backend="eager")
    for n in range(2, 5):
        compiled(torch.ones(n))
    first, second = list(breaks(_branch, torch.ones(3))), list(breaks(_branch, torch.ones(3)))
    assert first == second == ["if y.sum() > 0:"], f"what was compiled before makes a difference: {first}, {second}"


class _Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * 2


def test_same_calls(compilations):
    found = list(compilations(_whole, [(torch.ones(3),)] * 4))
    assert found == [1, 1, 1, 1], f"four equal calls use one graph: [1, 1, 1, 1], not {found}"


def test_python_number(compilations):
    found = list(compilations(_Counts(), [(torch.ones(3),)] * 4))
    assert found == [1, 2, 3, 4], f"a number that changes in each call makes a graph for each: {found}"


def test_counts_graphs(compilations):
    found = list(compilations(_branch, [(torch.ones(3),), (torch.ones(3),), (-torch.ones(3),)]))
    assert found == [2, 2, 3], (
        f"two graphs around a branch, nothing new for the same again, a third for the other way: [2, 2, 3], not {found}"
    )


def test_sizes(compilations):
    calls = [(torch.ones(n),) for n in (3, 4, 5, 6)]
    first, second = list(compilations(_whole, calls)), list(compilations(_whole, calls))
    assert first == [1, 2, 2, 2], f"the second size makes sizes a symbol, which serves the others: not {first}"
    assert second == first, f"asked again, the answer is {second}: what was learnt before must be forgotten"


def _pair(repaired, width=8, seed=0):
    torch.manual_seed(seed)
    slow, model = _Slow(width), repaired(width)
    names = list(model.state_dict())
    assert names == list(slow.state_dict()), f"the parameters have other names, or are others: {names}"
    model.load_state_dict(slow.state_dict())
    return slow, model


def _inputs(width=8, seed=0):
    """Rows with large, small and mixed numbers."""
    torch.manual_seed(seed)
    x = torch.randn(12, width)
    return {"large": 20 * x, "small": 0.1 * x, "mixed": x * torch.logspace(-2, 2, 12)[:, None], "zero": 0 * x}


def test_repaired_outputs(Repaired):
    slow, model = _pair(Repaired)
    for name, x in _inputs().items():
        with torch.no_grad():
            gap = (slow(x) - model(x)).abs().max().item()
        assert gap < 1e-4, f"for {name} inputs the outputs differ from those of Slow by {gap:.3g}"


def test_repaired_gradients(Repaired):
    slow, model = _pair(Repaired)
    x = _inputs()["mixed"].requires_grad_()
    expected = torch.autograd.grad(slow(x).square().sum(), [*slow.parameters(), x])
    found = torch.autograd.grad(model(x).square().sum(), [*model.parameters(), x], allow_unused=True)
    names = [*(name for name, _ in slow.named_parameters()), "x"]
    for name, a, b in zip(names, expected, found, strict=True):
        assert b is not None and torch.allclose(a, b, rtol=1e-3, atol=1e-3 * a.abs().max().item()), (
            f"the gradient of {name} is not that of Slow"
        )


def _compiled(model, x, fullgraph=True):
    """The compiled model after a call, and what its backend was handed."""
    handed = []

    def backend(graph, _):
        handed.append(graph)
        return graph.forward

    torch._dynamo.reset()
    compiled = torch.compile(model, backend=backend, fullgraph=fullgraph)
    with torch.no_grad():
        try:
            compiled(x)
        except torch._dynamo.exc.Unsupported as error:
            reason = str(error).splitlines()[0]
            raise AssertionError(f"with fullgraph=True it raises, so it is not one graph: {reason}") from None
    return compiled, handed


def test_repaired_is_one_graph(Repaired):
    _, model = _pair(Repaired)
    model(torch.randn(6, 8))  # an error of its own, first without the compiler
    _, handed = _compiled(model, torch.randn(6, 8))
    assert len(handed) == 1, f"one graph, not {len(handed)}"


def test_repaired_compiles_once(Repaired):
    _, model = _pair(Repaired)
    compiled, handed = _compiled(model, torch.randn(6, 8), fullgraph=False)
    before = len(handed)
    with torch.no_grad():
        for factor in (0.01, 1, 100, 100):
            compiled(factor * torch.randn(6, 8))
    assert len(handed) == before, f"{len(handed) - before} more graphs for four more calls of the same shape"


def test_repaired_is_faster(Repaired):
    slow, model = _pair(Repaired)
    x = torch.randn(128, 8)
    compiled, _ = _compiled(model, x, fullgraph=False)

    def seconds(f):
        start = time.perf_counter()
        f(x)
        return time.perf_counter() - start

    with torch.no_grad():
        for _ in range(3):  # warm up
            slow(x), compiled(x)
        quotient = statistics.median(seconds(slow) / seconds(compiled) for _ in range(15))
    assert quotient > 3, f"Slow takes {quotient:.1f} times as long on 128 rows; three times is the least"


def test_hidden_instruments(breaks, compilations, reference, seed):
    draw = random.Random(seed)
    for _ in range(4):
        f, n = draw.choice([_branch, _two, _outer, _whole]), draw.randint(2, 9)
        x = torch.randn(n)
        found, expected = list(breaks(f, x)), reference.breaks(f, x)
        assert found == expected, f"the breaks of {f.__name__} are {expected}, not {found}"
        calls = [(draw.choice([-1, 1]) * torch.ones(draw.choice([n, n, n + 1])),) for _ in range(4)]
        found, expected = list(compilations(f, calls)), reference.compilations(f, calls)
        assert found == expected, f"the graphs of {f.__name__} are {expected}, not {found}"


def test_hidden_repaired(Repaired, seed):
    for case in range(4):
        width = 3 + 4 * case
        slow, model = _pair(Repaired, width, seed + case)
        for name, x in _inputs(width, seed + case).items():
            with torch.no_grad():
                assert torch.allclose(slow(x), model(x), atol=1e-4), f"for {name} inputs of width {width} it is wrong"
