import contextlib
import random
import tempfile
import warnings
from pathlib import Path

import torch
from torch import nn

with warnings.catch_warnings():  # about others, from inside of executorch
    warnings.simplefilter("ignore")
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower
    from executorch.runtime import Runtime


class _Net(nn.Module):
    def __init__(self, inputs=6, width=8, sums=True):
        super().__init__()
        self.up, self.down, self.sums = nn.Linear(inputs, width), nn.Linear(width, 4), sums

    def forward(self, x):
        if self.training:
            x = x - x.mean(0)  # statistics of the batch
        h = torch.relu(self.up(x))
        return self.down(h.cumsum(1) if self.sums else h)


_LARGEST = 8
_done = {}


def _lowered(lower):
    """One lowering for several checks: (the model in eval mode, its mode afterwards, what `lower` returned)."""
    if lower not in _done:
        torch.manual_seed(1)
        net = _Net()
        net.up.eval()  # a part with a mode of its own
        edge = lower(net, torch.randn(2, 6), _LARGEST)
        mode = net.training and net.down.training and not net.up.training
        _done.clear()
        _done[lower] = net.eval(), mode, edge
    return _done[lower]


def _names(edge):
    """The calls in what is left of the graph."""
    return [n.target.__name__ for n in edge.exported_program().graph.nodes if n.op == "call_function"]


@contextlib.contextmanager
def _running(told):
    """Say what a file's refusal means; let pass that the bindings belong to another version of torch."""
    try:
        with torch.no_grad():
            yield
    except NotImplementedError:
        raise
    except RuntimeError as error:
        if "does not have a device" not in str(error):
            raise AssertionError(f"{told}: {str(error).splitlines()[0]}") from None


def _executed(edge, x, told):
    """What the written file answers; None if these bindings take no tensors."""
    with tempfile.TemporaryDirectory() as folder, _running(told):
        method = Runtime.get().load_program(_written(edge, folder)).load_method("forward")
        return method.execute([x])[0].clone()


def _written(edge, folder):
    path = Path(folder, "net.pte")
    with warnings.catch_warnings():  # about outputs that are resized, from inside
        warnings.simplefilter("ignore")
        path.write_bytes(edge.to_executorch().buffer)
    return path


def test_delegated(lower):
    _, _, edge = _lowered(lower)
    names = _names(edge)
    assert "executorch_call_delegate" in names, f"nothing was delegated, every operator stays: {names}"
    assert names.count("executorch_call_delegate") == 2, (
        f"two layers around a running sum make two delegated parts: {names}"
    )
    assert not any("linear" in n or "addmm" in n or "relu" in n for n in names), f"XNNPACK could take more: {names}"


def test_mode(lower):
    net, mode, edge = _lowered(lower)
    assert mode, "the model, in training mode except for one part, was left in a different mode"
    assert not any("mean" in n for n in _names(edge)), (
        "the mean of the batch is in the program: it was exported in training mode"
    )
    x = torch.randn(2, 6)
    found = _executed(edge, x, "the file refuses a batch of the example's size")
    if found is not None:
        gap = (found - net(x)).abs().max().item()
        assert gap < 1e-4, f"the file differs from the model in eval mode by {gap:.3g}"


def test_any_batch(lower):
    net, _, edge = _lowered(lower)
    planned = edge.exported_program().range_constraints
    assert planned, "no size can vary, because the size of the example became a constant"
    most = max(constraint.upper for constraint in planned.values())
    assert most <= _LARGEST, f"memory is planned for {most} rows, but the largest batch has {_LARGEST}"
    for size in (1, _LARGEST):
        x = torch.randn(size, 6)
        found = _executed(edge, x, f"{size} of {_LARGEST} rows are refused")
        if found is not None:
            assert torch.allclose(found, net(x), atol=1e-4), f"wrong answers for {size} rows"


class _Sums(nn.Module):
    def forward(self, x):
        return (x.cumsum(0) + x).cumsum(1) * x


class _SumLast(nn.Module):
    def forward(self, x):
        return (x + x).cumsum(1)


class _Twice(nn.Module):
    def forward(self, x):
        return x * 2


_known = {}


def _edge(kind, delegated):
    """A program of the check's own, for up to 4 rows."""
    if kind not in _known:
        shapes = ({0: torch.export.Dim("n", min=1, max=4)},)
        program = torch.export.export(kind(), (torch.ones(2, 6),), dynamic_shapes=shapes)
        _known[kind] = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()] if delegated else [])
    return _known[kind]


def test_outside(outside):
    for kind in (_Sums, _SumLast):
        edge = _edge(kind, delegated=True)
        found = [str(name) for name in outside(edge)]
        assert not any("delegate" in name or "getitem" in name for name in found), (
            f"calls of delegates and the unpacking of results are not operators outside: {found}"
        )
        calls = [n for n in _names(edge) if n not in ("executorch_call_delegate", "getitem")]
        assert calls and found == calls, f"the operators outside are {calls}, in this order and as often, not {found}"


def _asked(answer, x, misconception):
    with tempfile.TemporaryDirectory() as folder, _running(misconception):
        found = answer(_written(_edge(_Twice, delegated=False), folder), x)
        assert isinstance(found, torch.Tensor), f"return a tensor, not a {type(found).__name__}"
        assert found.shape == x.shape, f"{len(x)} rows went in and {tuple(found.shape)} came out"
        assert found.equal(2 * x), f"{misconception}, and some rows have wrong answers"


def test_more_than_planned(answer):
    for size in (3, 4, 5, 11):
        _asked(answer, torch.randn(size, 6), f"memory was planned for 4 rows, and {size} came")


def test_transposed(answer):
    _asked(answer, torch.randn(6, 4).t(), "the input is a transposed view, not contiguous")


def test_hidden_models(lower, outside, answer, seed):
    draw = random.Random(seed)
    inputs, width, largest, size = draw.randint(2, 9), draw.randint(2, 9), draw.randint(3, 6), draw.randint(7, 20)
    sums = draw.random() < 0.5
    net = _Net(inputs, width, sums)
    edge = lower(net, torch.randn(2, inputs), largest)
    net.eval()
    told = f"{inputs} inputs, width {width}, at most {largest} rows"
    expected = ["aten.cumsum.default"] if sums else []
    found = list(outside(edge))
    assert found == expected, f"{told}: the operators outside are {expected}, not {found}"
    x = torch.randn(size, inputs)
    with tempfile.TemporaryDirectory() as folder, _running(f"{told}: {size} rows are refused"):
        gap = (answer(_written(edge, folder), x) - net(x)).abs().max().item()
        assert gap < 1e-4, f"{told}: {size} rows are answered with an error of {gap:.3g}"
