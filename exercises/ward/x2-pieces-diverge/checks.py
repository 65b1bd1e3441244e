import torch

from torchbook.practice import ward

AGAINST = {
    "learning-rate-too-high": "with the same learning rate whole batches train well",
    "gradients-not-cleared": "after the very first update, before which there were no gradients, it is wrong already",
    "overflow": "the numbers grow for many updates before any of them is infinite: that is the end, not the beginning",
    "schedule-per-batch": "within the first epoch the learning rate is constant, and pieces differ there already",
    "clipping-after-step": "nothing is clipped here",
}


def test_diagnosis(diagnosis):
    ward.confirm(
        diagnosis, "ward-x2", "373ec5fdc612ab27", AGAINST, "does it explain why the smaller pieces diverge sooner?"
    )


def _updated(step, make_model, make_data, n, piece, seed=0):
    """The parameters after one update without momentum, and the loss that `step` returned."""
    x, y = make_data(n, seed)
    model = make_model(seed)
    loss = step(model, torch.optim.SGD(model.parameters(), lr=0.1), x, y, piece)
    return torch.cat([p.detach().flatten() for p in model.parameters()]), loss


def test_training(diagnosis, train):
    diagnosis()
    _, whole = train(piece=120)
    _, pieces = train(piece=20)
    assert sum(whole[-8:]) / 8 < 0.01, "with whole batches it no longer trains as it did"
    assert max(pieces) < 2, f"in pieces of 20, the loss rises to {max(pieces):.3g}"
    apart = max(abs(a - b) for a, b in zip(whole, pieces, strict=True))
    assert apart < 0.01, f"losses of the same update differ by up to {apart:.2g} between whole batches and pieces of 20"


def test_one_update(diagnosis, step, make_model, make_data):
    diagnosis()
    whole, _ = _updated(step, make_model, make_data, 48, 48)
    pieces, _ = _updated(step, make_model, make_data, 48, 12)
    torch.testing.assert_close(
        pieces, whole, rtol=1e-3, atol=1e-4, msg="one update leads elsewhere in four pieces than with the whole batch"
    )


def test_hidden_uneven(diagnosis, step, make_model, make_data, reference, seed):
    diagnosis()
    theirs = reference.step, reference.make_model, reference.make_data
    for n, piece in ((50, 16), (7, 6), (30, 30), (5, 1)):
        mine, loss = _updated(step, make_model, make_data, n, piece, seed)
        right, expected = _updated(*theirs, n, piece, seed)
        assert mine.shape == right.shape and torch.allclose(mine, right, rtol=1e-3, atol=1e-4), (
            f"{n} examples in pieces of {piece}: each example should count as much as any other in the update"
        )
        assert abs(loss - expected) < 1e-3, "the loss that `step` returns is the mean over the batch"
