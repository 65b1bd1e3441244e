import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper
from torch import nn


class _Net(nn.Module):
    def __init__(self, width=16, classes=40, channels=1):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(channels, width, 3, padding=1), nn.BatchNorm2d(width)
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Dropout(0.5), nn.Linear(4 * width, classes))

    def forward(self, pictures):
        if self.training:
            pictures = pictures + torch.randn_like(pictures)  # noise against overfitting
        return self.head(torch.relu(self.norm(self.conv(pictures))))


def _net(*sizes):
    torch.manual_seed(1)
    net = _Net(*sizes)
    with torch.no_grad():
        net.norm.running_mean.add_(0.3)
        net.norm.running_var.mul_(2.0)
    net.train()
    net.conv.eval()  # a part with a mode of its own
    return net


def _run(path, x):
    """What the file answers, or the words in which it refuses."""
    try:
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        return torch.from_numpy(session.run(None, {session.get_inputs()[0].name: x.numpy()})[0])
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def _expected(net, x):
    modes = [module.training for module in net.modules()]
    net.eval()
    with torch.no_grad():
        found = net(x)
    for module, mode in zip(net.modules(), modes, strict=True):
        module.training = mode
    return found


_done = {}


def _exported(export_onnx):
    """One export for several checks: (the model, what it was before, the files)."""
    if export_onnx not in _done:
        folder = tempfile.TemporaryDirectory()
        net = _net()
        before = {name: t.clone() for name, t in net.state_dict().items()}, [m.training for m in net.modules()]
        files = [Path(file) for file in export_onnx(net, torch.randn(2, 1, 8, 8), Path(folder.name))]
        _done.clear()
        _done[export_onnx] = net, before, files, folder
    return _done[export_onnx][:3]


def _same(found, expected, what):
    assert isinstance(found, torch.Tensor), f"{what}: the file refuses, {found}"
    gap = (found - expected).abs().max().item() if found.shape == expected.shape else math.inf
    assert gap < 1e-5, (
        f"{what}: the file does not give the answer of the model in eval mode: was it exported in training mode?"
    )


def test_answers(export_onnx):
    net, _, files = _exported(export_onnx)
    x = torch.randn(2, 1, 8, 8)
    _same(_run(files[0], x), _expected(net, x), "a batch of the example's size")


def test_any_batch(export_onnx):
    _, _, files = _exported(export_onnx)
    for size in (1, 3, 11):
        x = torch.randn(size, 1, 8, 8)
        found = _run(files[0], x)
        refused = found if isinstance(found, str) else ""
        assert not refused, (
            f"exported with 2 rows, the file refuses {size}, because the size became a constant: {refused}"
        )
        assert len(found) == size, f"{size} rows went in and {len(found)} came out"


_FRESH = """
import json, sys
import numpy, onnxruntime
path, size = sys.argv[1], int(sys.argv[2])
x = numpy.ones((size, 1, 8, 8), numpy.float32)
try:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    said = session.run(None, {session.get_inputs()[0].name: x})[0].tolist()
except Exception as error:
    said = str(error)
print(json.dumps({"said": said, "torch": "torch" in sys.modules}))
"""


def test_travels(export_onnx):
    net, _, files = _exported(export_onnx)
    with tempfile.TemporaryDirectory() as elsewhere:
        for file in files:
            shutil.copy(file, elsewhere)
        command = [sys.executable, "-c", _FRESH, str(Path(elsewhere, files[0].name)), "2"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert ran.stdout, f"the process ended without an answer: {ran.stderr[-300:]}"
    said = json.loads(ran.stdout.splitlines()[-1])["said"]
    names = [file.name for file in files]
    assert len(set(names)) == len(names), f"return each file once, not {names}"
    assert not isinstance(said, str), f"copied into a different folder, {names} are not enough: {said[:200]}"
    _same(torch.tensor(said), _expected(net, torch.ones(2, 1, 8, 8)), "in a process without torch")


def test_model_is_left(export_onnx):
    net, (weights, modes), _ = _exported(export_onnx)
    assert [m.training for m in net.modules()] == modes, (
        "export changed the mode of the model or of a part, so dropout, for example, is now off in later training"
    )
    for name, tensor in net.state_dict().items():
        assert tensor.equal(weights[name]), f"export changed {name}: a forward pass in training mode updates statistics"


def _file(folder, name, *nodes, outputs=("y",)):
    """A file of a few operators, whose input is called `name`."""
    value = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 3]) for n in (name, *outputs)]
    graph = helper.make_graph(list(nodes), "g", value[:1], value[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    path = Path(folder, "small.onnx")
    onnx.save(model, path)
    return path


def test_name(onnx_answer):
    with tempfile.TemporaryDirectory() as folder:
        for name in ("x", "input_ids", "pixels"):
            path = _file(folder, name, helper.make_node("Add", [name, name], ["y"]))
            x = torch.randn(2, 3, requires_grad=True)
            try:
                found = onnx_answer(path, x)
            except ValueError as error:
                raise AssertionError(f"this file's input is called {name!r}, so ask the session: {error}") from None
            assert isinstance(found, torch.Tensor), f"return a tensor, not a {type(found).__name__}"
            assert found.equal(2 * x.detach()), "this file computes 2 * x, and the answer is different"


def test_first_output(onnx_answer):
    with tempfile.TemporaryDirectory() as folder:
        nodes = helper.make_node("Neg", ["x"], ["y"]), helper.make_node("Add", ["x", "x"], ["z"])
        path, x = _file(folder, "x", *nodes, outputs=("z", "y")), torch.ones(2, 3)
        assert onnx_answer(path, x).equal(2 * x), "return the first of two outputs, which this file calls z"


class _Twice(nn.Module):
    """2 * x, and in training something else; at one place off by `off`."""

    def __init__(self, off):
        super().__init__()
        self.off = off

    def forward(self, x):
        y = 2 * x
        y[0, 0] += self.off
        return y + 100 if self.training else y


def test_difference(largest_difference):
    with tempfile.TemporaryDirectory() as folder:
        path = _file(folder, "x", helper.make_node("Add", ["x", "x"], ["y"]))
        model = _Twice(-0.5)
        found = largest_difference(model, path, [torch.zeros(2, 3), torch.zeros(40, 3)])
        assert model.training, "the comparison left the model in eval mode"
        assert isinstance(found, float), f"return a float, not a {type(found).__name__}"
        assert abs(found - 0.5) < 1e-6, (
            f"one element of each batch is 0.5 smaller in the model: 0.5, not {found:.3g}; "
            "a mean or a signed difference would hide it, and training mode computes something different"
        )


class _Half(nn.Module):
    """x / 2, and nothing that is a number where x is 7."""

    def forward(self, x):
        return torch.where(x == 7, math.nan, x / 2)


def test_largest_of_all(largest_difference):
    with tempfile.TemporaryDirectory() as folder:
        path = _file(folder, "x", helper.make_node("Identity", ["x"], ["y"]))
        x = torch.tensor([[1.0, -8.0, 2.0]])
        for batches in ([x / 8, x, x / 4], [x, x / 4], [x / 4, x], [-x, x / 4]):
            found = largest_difference(_Half(), path, batches)
            assert found == 4, (
                f"8 in the file and 4 in the model differ by 4, with either sign and in any place, not by {found:.3g}"
            )


def test_not_a_number(largest_difference):
    with tempfile.TemporaryDirectory() as folder:
        path = _file(folder, "x", helper.make_node("Sqrt", ["x"], ["y"]))
        batches = [torch.ones(2, 3), -torch.ones(2, 3), torch.ones(1, 3)]
        found = largest_difference(_Twice(0.0), path, batches)
        assert not found < 1e9, f"the file answers nan to the second batch, but a tolerance would accept {found:.3g}"
        assert found == math.inf, f"return infinity, not {found}"
        found = largest_difference(_Half(), path, [torch.ones(2, 3), torch.tensor([[1.0, 7.0, 1.0]])])
        assert found == math.inf, f"here the model has one nan among numbers: return infinity, not {found}"


def test_hidden_networks(export_onnx, largest_difference, seed):
    draw = random.Random(seed)
    width, classes, channels, side = (draw.randint(2, 6) for _ in range(4))
    net = _net(width, classes, channels)
    with tempfile.TemporaryDirectory() as folder:
        files = export_onnx(net, torch.randn(2, channels, side, side), Path(folder))
        batches = [torch.randn(draw.randint(1, 9), channels, side, side) for _ in range(2)]
        told = f"{channels} channels, {side} by {side} pixels, {classes} classes"
        for x in batches:
            _same(_run(Path(files[0]), x), _expected(net, x), told)
        modes = [module.training for module in net.modules()]
        found = largest_difference(net, files[0], batches)
        assert [m.training for m in net.modules()] == modes, "the comparison changed the mode of a part"
        assert found < 1e-5, f"{told}: the file is right, but the difference is said to be {found:.3g}"
        with torch.no_grad():
            net.head[-1].bias[-1] += 0.01
        found = largest_difference(net, files[0], batches)
        assert abs(found - 0.01) < 1e-4, f"{told}: after one bias grew by 0.01, the difference is 0.01, not {found:.3g}"
