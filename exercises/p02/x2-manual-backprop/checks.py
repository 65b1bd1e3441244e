import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode


def _problem(seed, batch=7, features=5, hidden=6, classes=4):
    draw = torch.Generator().manual_seed(seed)
    shapes = {"w1": (features, hidden), "b1": (hidden,), "w2": (hidden, classes), "b2": (classes,)}
    params = {name: torch.randn(shape, generator=draw, dtype=torch.float64) for name, shape in shapes.items()}
    x = torch.randn(batch, features, generator=draw, dtype=torch.float64)
    return params, x, torch.randint(classes, (batch,), generator=draw)


def _by_autograd(params, x, y):
    leaves = {name: p.clone().requires_grad_() for name, p in params.items()}
    h = (x @ leaves["w1"] + leaves["b1"]).relu()
    loss = F.cross_entropy(h @ leaves["w2"] + leaves["b2"], y)
    loss.backward()
    return loss.detach(), {name: p.grad for name, p in leaves.items()}


def _agree(found, expected):
    return all(
        found[name].shape == g.shape and torch.allclose(found[name], g, atol=1e-9) for name, g in expected.items()
    )


def test_loss(loss_and_gradients):
    problem = _problem(0)
    loss, _ = loss_and_gradients(*problem)
    assert torch.allclose(loss, _by_autograd(*problem)[0]), "the loss is the mean of -log softmax at the right class"


def test_shapes(loss_and_gradients):
    params, x, y = _problem(1)
    _, gradients = loss_and_gradients(params, x, y)
    assert set(gradients) == set(params), "one gradient for each parameter: w1, b1, w2, b2"
    for name, p in params.items():
        assert gradients[name].shape == p.shape, f"the gradient of {name} must have its shape, {tuple(p.shape)}"


def test_no_autograd(loss_and_gradients):
    params, x, y = _problem(2)
    autograd, by_hand = torch.autograd, "autograd computes these gradients: work them out by hand"
    kept = autograd.grad, autograd.backward, autograd.forward_ad.make_dual

    def used(*_, **__):
        raise AssertionError(by_hand)

    autograd.grad = autograd.backward = autograd.forward_ad.make_dual = used  # which torch.func uses too
    try:
        with torch.inference_mode():
            loss_and_gradients(params, x, y)
    except RuntimeError as error:
        if "grad" in str(error) or "nference" in str(error):
            raise AssertionError(by_hand) from None
        raise
    finally:
        autograd.grad, autograd.backward, autograd.forward_ad.make_dual = kept


class _Operations(TorchDispatchMode):
    """Notes which operations run."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # which spares seconds for the import of torch's compiler

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.add(func.overloadpacket.__name__)
        return func(*args, **kwargs or {})


def test_no_ready_derivatives(loss_and_gradients):
    with _Operations() as operations:
        loss_and_gradients(*_problem(2))
    found = ", ".join(sorted(name for name in operations.seen if "backward" in name))
    assert not found, f"{found} is a derivative that PyTorch has ready: write it as products of matrices"


def test_nothing_is_recorded(loss_and_gradients):
    params, x, y = _problem(2)
    loss, gradients = loss_and_gradients({name: p.requires_grad_() for name, p in params.items()}, x, y)
    recorded = [name for name, g in {"the loss": loss, **gradients}.items() if g.requires_grad]
    assert not recorded, f"the parameters require gradients here, and autograd recorded {', '.join(recorded)}"


def test_relu_at_zero(loss_and_gradients):
    params, x, y = _problem(9)
    params = params | {"b1": torch.zeros_like(params["b1"])}
    _, gradients = loss_and_gradients(params, torch.zeros_like(x), y)
    assert not gradients["b1"].any(), "where the input of relu is exactly 0 its slope is 0, as in PyTorch"


def test_mean_over_batch(loss_and_gradients):
    params, x, y = _problem(3, batch=1)
    _, one = loss_and_gradients(params, x, y)
    _, four = loss_and_gradients(params, x.repeat(4, 1), y.repeat(4))
    assert torch.allclose(one["b2"], four["b2"]), "the same example four times: a mean, and its gradient, stay the same"


def test_last_layer(loss_and_gradients):
    problem = _problem(4)
    _, gradients = loss_and_gradients(*problem)
    expected = _by_autograd(*problem)[1]
    right = torch.allclose(gradients["b2"], expected["b2"])
    assert right, "the gradient of the logits is softmax minus 1 at the right class, for each example"
    assert torch.allclose(gradients["w2"], expected["w2"]), (
        "w2 was multiplied from the left by h: so is its gradient, by h.T"
    )


def test_first_layer(loss_and_gradients):
    problem = _problem(5)
    _, gradients = loss_and_gradients(*problem)
    expected = _by_autograd(*problem)[1]
    assert torch.allclose(gradients["b1"], expected["b1"]), (
        "the gradient passes the ReLU only where its input was above 0"
    )
    assert torch.allclose(gradients["w1"], expected["w1"]), (
        "w1 was multiplied from the left by x: so is its gradient, by x.T"
    )


def test_large_logits(loss_and_gradients):
    params, x, y = _problem(6)
    params = params | {"w2": params["w2"] * 1000}
    loss, gradients = loss_and_gradients(params, x, y)
    assert not loss.isinf(), "a softmax may be 0, whose logarithm is -inf: take log_softmax in one step"
    finite = loss.isfinite() and all(g.isfinite().all() for g in gradients.values())
    assert finite, "a softmax written as exp / sum(exp) overflows for large logits"
    expected = _by_autograd(params, x, y)[0]
    assert torch.allclose(loss, expected), (
        f"the loss is {expected:.1f}, not {loss:.1f}: a probability that underflows to 0 has no logarithm, "
        "so compute the logarithm of the softmax in one"
    )


def test_train(train):
    params, x, y = _problem(7, batch=40)
    before = {name: p.clone() for name, p in params.items()}
    new, losses = train(params, x, y, 60, 0.1)
    assert len(losses) == 60, "one loss for each step"
    assert losses[-1] < 0.8 * losses[0], "after 60 steps the loss is hardly smaller: is the sign of the step right?"
    assert all(params[name].equal(p) for name, p in before.items()), "the given parameters must stay as they are"
    assert not new["w1"].equal(before["w1"]), "the new parameters are returned"


def test_train_starts_before_the_first_step(train):
    problem = _problem(8)
    _, losses = train(*problem, 3, 0.1)
    assert abs(losses[0] - _by_autograd(*problem)[0].item()) < 1e-9, "the first loss is that of the given parameters"


def test_hidden_random_networks(loss_and_gradients, reference, seed):
    for case in range(20):
        problem = _problem(
            seed + case, batch=1 + case, features=1 + case % 4, hidden=2 + case % 5, classes=2 + case % 3
        )
        loss, gradients = loss_and_gradients(*problem)
        expected, wanted = reference.loss_and_gradients(*problem)
        assert torch.allclose(loss, expected), "the loss is wrong for a network of another size"
        assert _agree(gradients, wanted), "some gradient is wrong for a network of another size"


def test_hidden_training(train, reference, seed):
    problem = _problem(seed + 100, batch=30)
    found, expected = train(*problem, 25, 0.2), reference.train(*problem, 25, 0.2)
    assert torch.allclose(torch.tensor(found[1]), torch.tensor(expected[1])), "the losses of a run differ"
    assert _agree(found[0], expected[0]), "the parameters after a run differ"
