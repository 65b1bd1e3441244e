import torch

from torchbook.practice import ward

AGAINST = {
    "capacity-too-small": "accuracy is 100 %: the network has all that it needs to tell the classes apart",
    "labels-shuffled": "with labels that do not belong to the inputs, accuracy would not be 100 %",
    "vanishing-gradient": "with two layers and any number of steps, the loss stops at a value that only classes decide",
    "learning-rate-too-high": "with a tenth of the learning rate the loss stops at the same value",
    "wrong-reduction-axis": "rows of `probabilities` add up to 1, as they should, and the loss is a mean over examples",
}


def test_diagnosis(diagnosis):
    ward.confirm(
        diagnosis, "ward-x4", "1f2f48388fea33da", AGAINST, "does it explain a floor that depends on the classes alone?"
    )


def test_loss_goes_down(diagnosis, train):
    diagnosis()
    _, losses = train(10, steps=120)
    last = sum(losses[-10:]) / 10
    assert last < 0.3, f"after 120 steps the loss is {last:.2f}, and all classes are told apart: it has a floor"


def test_likelihood(diagnosis, make_data, Classifier, loss_of, probabilities):
    diagnosis()
    x, y = make_data(64, 5)
    model = Classifier(5)
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(3)
        believed, loss = probabilities(model, x), loss_of(model, x, y)
    torch.testing.assert_close(
        believed.sum(1), torch.ones(64), rtol=1e-3, atol=1e-4, msg="rows of `probabilities` do not add up to 1"
    )
    likelihood = -believed[torch.arange(64), y].log().mean()
    torch.testing.assert_close(
        loss,
        likelihood,
        rtol=1e-2,
        atol=1e-3,
        msg=f"the loss says {loss:.2f}, and by what `probabilities` says it is {likelihood:.2f}",
    )


def test_hidden_same_training(diagnosis, train, reference, seed):
    diagnosis()
    (model, losses), (theirs, expected) = (one(7, steps=15, seed=seed) for one in (train, reference.train))
    parameters = zip(model.parameters(), theirs.parameters(), strict=False)
    assert all(a.shape == b.shape and torch.allclose(a, b, rtol=1e-2, atol=2e-3) for a, b in parameters), (
        "15 steps lead elsewhere than with the one repair: layers, optimizer and steps should be those of the script"
    )
    assert torch.allclose(torch.tensor(losses), torch.tensor(expected), rtol=1e-2, atol=1e-3), (
        "the losses of 15 steps are not those that the script has when it is well"
    )
