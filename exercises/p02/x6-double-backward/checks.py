import torch
from torch.nn import functional as F


def _leaf(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_norm(squared_gradient_norm):
    a, b = _leaf(1.0, 2.0), _leaf(3.0)
    found = squared_gradient_norm(a.square().sum() + 5 * b.sum(), [a, b])
    assert found.shape == (), "one number, for all parameters together"
    assert found.item() == 45.0, "the gradients are (2, 4) and (5): their squares add to 4 + 16 + 25, without a root"


def test_can_be_differentiated(squared_gradient_norm):
    a = _leaf(1.0, 2.0)
    found = squared_gradient_norm(a.pow(3).sum(), [a])
    assert found.requires_grad, "the squared norm must be recorded, so that it can be differentiated"


def test_penalty(penalty_gradients):
    a = _leaf(1.0, 2.0)
    (found,) = penalty_gradients(a.square().sum(), [a])
    assert found.tolist() == [8.0, 16.0], "for a sum of squares the squared norm is 4 a**2, and its gradient 8 a"
    assert not found.requires_grad, "the gradients are returned without history"


def test_parameters_meet(penalty_gradients):
    a, b = _leaf(2.0), _leaf(3.0)
    found = [g.item() for g in penalty_gradients((a * b).sum(), [a, b])]
    assert found == [4.0, 6.0], "for a*b the squared norm is b**2 + a**2: its slopes are 2 a and 2 b"


def test_linear(penalty_gradients, hessian_vector):
    a, b = _leaf(2.0, 1.0), _leaf(1.0)
    results = []
    for call in (lambda s: penalty_gradients(s, [a, b]), lambda s: hessian_vector(s, [a, b], [a.detach(), b.detach()])):
        try:
            results += [g.tolist() for g in call(3 * a.sum() + b.sum())]
        except NotImplementedError:
            raise
        except RuntimeError:
            raise AssertionError(
                "a linear loss has a constant gradient, which has no history: the answer is zeros"
            ) from None
    assert results == [[0.0, 0.0], [0.0]] * 2, "a linear loss has no curvature"


def test_unused_parameter(squared_gradient_norm, penalty_gradients, hessian_vector):
    a, unused = _leaf(1.0), _leaf(7.0, 7.0)
    try:
        norm = squared_gradient_norm(a.square().sum(), [a, unused])
        gradients = penalty_gradients(a.square().sum(), [a, unused])
        products = hessian_vector(a.pow(3).sum() + 5 * unused.sum(), [a, unused], [torch.ones_like(a), _leaf(2.0, 2.0)])
        products += hessian_vector(a.pow(3).sum(), [a, unused], [torch.ones_like(a), _leaf(2.0, 2.0)])
    except NotImplementedError:
        raise
    except (RuntimeError, TypeError, AttributeError):
        raise AssertionError("a parameter that the loss does not use has gradient zero; it is no error") from None
    assert norm.item() == 4.0, "an unused parameter contributes 0"
    assert gradients[1].tolist() == [0.0, 0.0], "an unused parameter gets zeros, of its own shape"
    assert [p.tolist() for p in products] == [[6.0], [0.0, 0.0]] * 2, (
        "the Hessian of a**3 + 5 b, or of a**3 alone, is 6 a for a and 0 for b, of the shape of each"
    )


def test_grad_is_left_alone(squared_gradient_norm, penalty_gradients, hessian_vector):
    a = _leaf(1.0, 2.0)
    squared_gradient_norm(a.pow(3).sum(), [a])
    penalty_gradients(a.pow(3).sum(), [a])
    hessian_vector(a.pow(3).sum(), [a], [torch.ones_like(a)])
    assert a.grad is None, "the gradients belong to the caller: .grad must stay as it was"


def test_hessian_vector(hessian_vector):
    a = _leaf(1.0, 2.0)
    (found,) = hessian_vector(a[0] ** 2 * a[1], [a], [torch.tensor([1.0, 10.0], dtype=torch.float64)])
    assert found.tolist() == [24.0, 2.0], (
        "the Hessian of x**2 y at (1, 2) is [[4, 2], [2, 0]]; times (1, 10) is (24, 2)"
    )


def test_hessian_is_never_built(hessian_vector):
    a, passes = _leaf(*range(1, 31)), []
    a.register_hook(lambda slope: passes.append(slope.shape))
    hessian_vector((a.pow(3) * a.sum()).sum(), [a], [torch.ones_like(a)])
    assert len(passes) < 10, (
        f"for 30 numbers {len(passes)} gradients were computed, one for each row of the Hessian: that of the loss, and "
        "that of its product with the vector, are enough"
    )


def _model(seed):
    draw = torch.Generator().manual_seed(seed)
    shapes = [(4, 5), (5,), (5, 3), (3,)]
    parameters = [torch.randn(s, generator=draw, dtype=torch.float64).requires_grad_() for s in shapes]
    x, y = torch.randn(8, 4, generator=draw, dtype=torch.float64), torch.randint(3, (8,), generator=draw)
    h = (x @ parameters[0] + parameters[1]).tanh()
    return F.cross_entropy(h @ parameters[2] + parameters[3], y), parameters, draw


def test_hidden_random_models(squared_gradient_norm, penalty_gradients, hessian_vector, reference, seed):
    for case in range(5):
        loss, parameters, draw = _model(seed + case)
        vectors = [torch.randn(p.shape, generator=draw, dtype=torch.float64) for p in parameters]
        norm = squared_gradient_norm(loss, parameters)
        loss, parameters, _ = _model(seed + case)
        expected = reference.squared_gradient_norm(loss, parameters)
        assert torch.allclose(norm, expected), "the squared norm of a network is wrong"
        loss, parameters, _ = _model(seed + case)
        found = penalty_gradients(loss, parameters)
        loss, parameters, _ = _model(seed + case)
        expected = reference.penalty_gradients(loss, parameters)
        assert all(torch.allclose(g, e) for g, e in zip(found, expected, strict=True)), (
            "a gradient of the norm is wrong"
        )
        loss, parameters, _ = _model(seed + case)
        found = hessian_vector(loss, parameters, vectors)
        loss, parameters, _ = _model(seed + case)
        expected = reference.hessian_vector(loss, parameters, vectors)
        assert all(torch.allclose(g, e) for g, e in zip(found, expected, strict=True)), (
            "a product with the Hessian is wrong"
        )
