import torch
from torch.autograd import grad, gradcheck, gradgradcheck
from torch.utils._python_dispatch import TorchDispatchMode


def _points(seed, n=12):
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(n, generator=draw, dtype=torch.float64).requires_grad_()


def test_relu_values(ReLU):
    x = torch.tensor([-2.0, 0.0, 3.0])
    assert ReLU.apply(x).tolist() == [0.0, 0.0, 3.0], "ReLU is max(x, 0)"


def test_relu_gradient(ReLU):
    x = _points(0)
    slope = grad(ReLU.apply(x).sum(), x)[0]
    assert torch.equal(slope, (x > 0).double()), "the slope of ReLU is 1 above 0 and 0 below"


def test_relu_at_zero(ReLU):
    x = torch.zeros(2, requires_grad=True)
    assert grad(ReLU.apply(x).sum(), x)[0].tolist() == [0.0, 0.0], "the slope at exactly 0 is 0, as in torch.relu"


def test_sigmoid_values(Sigmoid):
    x = torch.tensor([-1000.0, 0.0, 1000.0])
    found = Sigmoid.apply(x)
    assert found.tolist() == [0.0, 0.5, 1.0], "Sigmoid is 1 / (1 + exp(-x)); exp(x) / (1 + exp(x)) overflows"


def test_sigmoid_gradient(Sigmoid):
    x = _points(1)
    y = x.sigmoid()
    assert torch.allclose(grad(Sigmoid.apply(x).sum(), x)[0], y * (1 - y)), "the slope of the sigmoid y is y * (1 - y)"


def test_upstream(ReLU, Sigmoid):
    for function in (ReLU, Sigmoid):
        x, weights = _points(2), torch.arange(12.0, dtype=torch.float64)
        one = grad(function.apply(x).sum(), x)[0]
        found = grad((function.apply(x) * weights).sum(), x)[0]
        assert torch.allclose(found, one * weights), "the gradient that arrives must be multiplied in"


def test_second_derivative(ReLU, Sigmoid):
    x = _points(3)
    try:
        right = gradcheck(Sigmoid.apply, x) and gradgradcheck(Sigmoid.apply, x) and gradgradcheck(ReLU.apply, x)
    except NotImplementedError:
        raise
    except RuntimeError:
        right = False
    assert right, "the backward cannot be differentiated again, or its derivative is wrong"


def test_edit_is_noticed(ReLU, Sigmoid):
    x = torch.ones(3, requires_grad=True)
    for name, function, at in (("ReLU", ReLU, 0), ("ReLU", ReLU, 1), ("Sigmoid", Sigmoid, 1)):
        expected = grad(function.apply(x * 1).sum(), x)[0]
        given = x * 1
        out = function.apply(given)
        with torch.no_grad():
            (given, out)[at].mul_(-1)
        try:
            found = grad(out.sum(), x)[0]
        except NotImplementedError:
            raise
        except RuntimeError:
            continue
        assert found.equal(expected), f"{name}: what backward needs was edited in place, and nobody noticed"


class _Operations(TorchDispatchMode):
    """Notes which operations run, those of a backward too."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # which spares seconds for the import of torch's compiler

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.add(func.overloadpacket.__name__)
        return func(*args, **kwargs or {})


def test_written_by_hand(ReLU, Sigmoid):
    ready = {"relu", "relu_", "sigmoid", "sigmoid_", "threshold", "threshold_backward", "sigmoid_backward"}
    for function in (ReLU, Sigmoid):
        x = _points(4)
        with _Operations() as operations:
            grad(function.apply(x).sum(), x)
        found = ", ".join(sorted(operations.seen & ready))
        assert not found, f"PyTorch's own {found} was called: write it with exp, clamp and arithmetic"


def test_sigmoid_saves_its_output(Sigmoid):
    saved = []
    x = torch.ones(5, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        out = Sigmoid.apply(x)
    assert len(saved) == 1, "the sigmoid needs one saved tensor"
    assert torch.equal(saved[0], out), "what it needs is its own output"


def test_hidden_random(ReLU, Sigmoid, reference, seed):
    for case in range(10):
        x = _points(seed + case, 30).reshape(5, 6)
        for ours, theirs in ((ReLU, reference.ReLU), (Sigmoid, reference.Sigmoid)):
            a, b = ours.apply(x), theirs.apply(x)
            assert torch.allclose(a, b), "a value is wrong"
            first = [grad(y.pow(2).sum(), x, create_graph=True)[0] for y in (a, b)]
            assert torch.allclose(*first), "a gradient is wrong"
            assert torch.allclose(*(grad(g.pow(3).sum(), x)[0] for g in first)), "a second derivative is wrong"
