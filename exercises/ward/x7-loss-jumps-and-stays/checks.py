import torch

from torchbook.practice import ward

AGAINST = {
    "overflow": "until the step where all is lost, no number of the forward is larger than ten",
    "learning-rate-too-high": "with a tenth of the learning rate it happens at the same step",
    "dead-units": "tanh has no dead units, and after that step not a single parameter is a number any more",
    "vanishing-gradient": "the gradients of the step before are of the usual size",
    "gradients-not-cleared": "zero_grad() is called in every step",
}


def test_diagnosis(diagnosis):
    ward.confirm(
        diagnosis, "ward-x7", "1c1605837af9306d", AGAINST, "does it explain why one step, with one batch, is enough?"
    )


def test_training(diagnosis, train):
    diagnosis()
    model, losses = train(steps=60)
    lost = sum(not p.isfinite().all() for p in model.parameters())
    assert not lost, f"after 60 steps, {lost} parameters hold what is no number, though every loss is finite"
    assert sum(losses[-10:]) / 10 < 0.2, "the loss of the last steps is that of a network which says nothing"


def _gradient(distance, a, b):
    a = a.clone().requires_grad_()
    d = distance(a, b)
    d.sum().backward()
    return d.detach(), a.grad


def test_gradient(diagnosis, distance):
    diagnosis()
    a = torch.tensor([[3.0, 4.0], [1.0, 2.0], [0.0, 1.0]])
    b = torch.tensor([[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]])
    d, gradient = _gradient(distance, a, b)
    torch.testing.assert_close(d, torch.tensor([5.0, 0.0, 1.0]), rtol=1e-3, atol=2e-3, msg="the distances are others")
    assert d[1] < 1e-5, f"two rows that are the same are 0 apart, as before, and not {d[1].item():.1e}"
    assert gradient.isfinite().all(), "for two rows that are the same, the distance is 0 and its gradient no number"
    expected = torch.tensor([[0.6, 0.8], [0.0, 0.0], [0.0, 1.0]])
    torch.testing.assert_close(
        gradient, expected, rtol=1e-3, atol=1e-3, msg="the gradient of a distance is the direction; of none, zero"
    )


def test_hidden_gradients(diagnosis, distance, loss_of, reference, seed):
    diagnosis()
    g = torch.Generator().manual_seed(seed)
    for same in (0, 1, 5, 12):
        a, b = (torch.randn(12, 4, generator=g) for _ in range(2))
        b[:same] = a[:same]
        alike = torch.rand(12, generator=g) < 0.5
        mine, theirs = _gradient(distance, a, b), _gradient(reference.distance, a, b)
        for found, expected in zip(mine, theirs, strict=True):
            assert torch.allclose(found, expected, rtol=1e-2, atol=2e-3), (
                f"{same} of 12 pairs are the same: distances or their gradients are not what they should be"
            )
        losses = [loss(a, b, alike).item() for loss in (loss_of, reference.loss_of)]
        assert abs(losses[0] - losses[1]) < 5e-3, "the loss is another one"
