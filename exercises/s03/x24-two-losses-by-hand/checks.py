import random

import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode


class _Refuse(TorchDispatchMode):
    """Notes calls of the operations that are to be written by hand."""

    def __init__(self):
        super().__init__()
        self.used = set()

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        name = op.name().split("::")[1].split(".")[0]
        if any(word in name for word in ("softmax", "logsumexp", "nll_loss", "huber", "smooth_l1")):
            self.used.add(name)
        return op(*args, **(kwargs or {}))


def _asked(loss, *given):
    with _Refuse() as watch:
        out = loss(*given)
    assert isinstance(out, torch.Tensor) and out.shape == (), "return one number, as a tensor of shape ()"
    assert not watch.used, f"{', '.join(sorted(watch.used))} did it for you: write it from exp, log, sum, abs and where"
    return out


def _near(a, b):
    return torch.allclose(a, b, rtol=1e-4, atol=1e-5)


def test_value(cross_entropy):
    out = _asked(cross_entropy, torch.tensor([[2.0, 0.0, 0.0]]), torch.tensor([0]))
    assert abs(out.item() - 0.2395) < 1e-3, f"scores 2, 0, 0 give p = 0.787 to class 0, and −ln p = 0.24, not {out:.3f}"


def test_mean(cross_entropy):
    logits, labels = torch.tensor([[1.0, 2.0], [0.0, 0.0], [3.0, -1.0]]), torch.tensor([0, 1, 0])
    expected = F.cross_entropy(logits, labels)
    found = _asked(cross_entropy, logits, labels)
    assert _near(found, expected), f"the mean over three rows is {expected:.3f}, not {found:.3f}"


def test_large(cross_entropy):
    out = _asked(cross_entropy, torch.tensor([[10000.0, 9999.0]]), torch.tensor([0]))
    assert out.isfinite(), "exp overflowed: subtract the largest logit of each row first"
    assert abs(out.item() - 0.3133) < 1e-3, "logits of 10000 and 9999 cost as much as 1 and 0: only differences count"


def test_tiny(cross_entropy):
    out = _asked(cross_entropy, torch.tensor([[0.0, 200.0]]), torch.tensor([0]))
    assert out.isfinite() and abs(out.item() - 200) < 1e-2, (
        f"a logit 200 below the largest costs 200, not {out.item()}: its probability rounds to 0, "
        "so never take the logarithm of it alone"
    )


def test_gradient(cross_entropy):
    logits = torch.tensor([[1.0, 2.0, 0.0], [0.0, 5.0, 1.0]], requires_grad=True)
    labels = torch.tensor([2, 1])
    out = cross_entropy(logits, labels)
    assert out.requires_grad, "the result has no history: something on the way was detached"
    (found,) = torch.autograd.grad(out, logits)
    expected = (logits.softmax(1) - F.one_hot(labels, 3)) / 2
    assert _near(found, expected.detach()), "the gradient of a row is its softmax, minus 1 at the right class, over B"


def test_huber(huber):
    for error, expected in ((0.5, 0.125), (1.0, 0.5), (3.0, 2.5), (-3.0, 2.5)):
        found = _asked(huber, torch.tensor([error]), torch.zeros(1), 1.0)
        assert abs(found.item() - expected) < 1e-5, f"an error of {error} costs {expected} at delta 1, not {found:.3f}"


def test_huber_gradient(huber):
    pred, target = torch.tensor([0.5, -3.0, 1.0, 0.0], requires_grad=True), torch.zeros(4)
    out = huber(pred, target, 2.0)
    assert out.requires_grad, "the result of huber has no history: something on the way was detached"
    (found,) = torch.autograd.grad(out, pred)
    assert _near(found, torch.tensor([0.5, -2.0, 1.0, 0.0]) / 4), (
        f"the gradient of huber is e where |e| <= delta and delta times the sign of e elsewhere, over the number of "
        f"elements, not {found.tolist()}"
    )


def test_delta(huber):
    pred = torch.tensor([[-4.0, 0.1], [2.0, 5.0]])
    for delta in (0.5, 2.0, 3.0):
        expected = F.huber_loss(pred, torch.zeros(2, 2), delta=delta)
        found = _asked(huber, pred, torch.zeros(2, 2), delta)
        assert _near(found, expected), f"at delta {delta} the mean is {expected:.3f}, not {found:.3f}"


def test_shapes(huber):
    try:
        huber(torch.zeros(4, 1), torch.zeros(4), 1.0)
    except ValueError:
        return
    raise AssertionError("(4, 1) against (4) broadcasts to (4, 4): every prediction met every target; raise ValueError")


def test_hidden_random(cross_entropy, huber, reference, seed):
    draw = random.Random(seed)
    for case in range(20):
        torch.manual_seed(100 * seed + case)
        b, c, size = draw.randint(1, 8), draw.randint(1, 8), 10 ** draw.uniform(-1, 4)
        logits, labels = size * torch.randn(b, c), torch.randint(c, (b,))
        assert _near(cross_entropy(logits, labels), reference.cross_entropy(logits, labels)), (
            f"cross_entropy differs for {b} rows, {c} classes and logits of about {size:.1f}"
        )
        pred, target, delta = torch.randn(b, c) * 3, torch.randn(b, c), draw.uniform(0.1, 4)
        assert _near(huber(pred, target, delta), reference.huber(pred, target, delta)), (
            f"huber differs for the shape {(b, c)} and delta {delta:.2f}"
        )
