import torch

from torchbook.practice import ward

AGAINST = {
    "capacity-too-small": "four times as many units stop at the same loss, and so does a batch of two examples",
    "vanishing-gradient": "the gradients of the first layer and of the last are of a size",
    "learning-rate-too-high": "with a hundredth of the learning rate the loss stops at the same value, only later",
    "wrong-reduction-axis": "the mean runs over all that is compared; count what is compared",
}


def test_diagnosis(diagnosis):
    ward.confirm(
        diagnosis, "ward-x1", "33a3c130134ab4ad", AGAINST, "does it explain why predictions shrink to the mean?"
    )


def test_predictions(diagnosis, make_data, train):
    diagnosis()
    model, losses = train(steps=150)
    x, y = make_data(500, seed=1)
    with torch.no_grad():
        error = (model(x).flatten() - y.flatten()).square().mean().item()
    assert error < 0.4 * y.var().item(), (
        f"after 150 steps the mean squared error on new journeys is {error:.1f}, and their variance {y.var():.1f}: "
        "the network still answers the mean, whatever it is asked"
    )
    assert sum(losses[-10:]) / 10 < 8, "the network has learnt, but the loss that is reported does not say so"


def test_hidden_loss(diagnosis, make_data, loss_of, Duration, seed):
    diagnosis()
    torch.manual_seed(seed)
    for n in (1, 2, 33):
        x, y = make_data(n, seed)
        model = Duration(6, 8, start=15.0)
        with torch.no_grad():
            loss = loss_of(model, x, y)
            error = (model(x).flatten() - y.flatten()).abs()
            expected = torch.where(error < 10, error**2, 20 * error - 100).mean()
        assert loss.shape == (), "the loss is one number"
        torch.testing.assert_close(
            loss, expected, msg=f"{n} journeys have {n} errors, and the loss is not the mean of what it makes of them"
        )


def test_hidden_same_training(diagnosis, train, reference, seed):
    diagnosis()
    (mine, losses), (theirs, expected) = (one(hidden=16, steps=20, seed=seed) for one in (train, reference.train))
    pairs = list(zip(mine.parameters(), theirs.parameters(), strict=False))
    same = all(a.shape == b.shape and torch.allclose(a, b, rtol=1e-3, atol=1e-4) for a, b in pairs)
    assert same and torch.allclose(torch.tensor(losses), torch.tensor(expected), rtol=1e-3), (
        "20 steps lead elsewhere than with the one repair: the network, its optimizer, its steps and what the loss "
        "makes of an error should be those of the script"
    )
