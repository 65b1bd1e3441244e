import torch

from torchbook.practice import ward

AGAINST = {
    "labels-shuffled": "with batches of one it learns from the same data",
    "vanishing-gradient": "recurrent weights have gradients a few times smaller than those of the head, and not more",
    "learning-rate-too-high": "with a hundredth of the learning rate the loss stays where it is, too",
    "wrong-mode": "in both modes the network gives the same outputs: no layer of it has a mode",
    "capacity-too-small": "with batches of one the same network learns",
    "graph-cut": "every parameter has a gradient that is not zero",
    "parameters-left-out": "the optimizer has all parameters, and all of them change",
    "double-softmax": "the loss is given what `head` returns, logits of either sign",
    "leaky-split": "what leaks makes results too good, and these are too bad",
}


def test_diagnosis(diagnosis):
    ward.confirm(
        diagnosis, "ward-x13", "49b02e5c24f41bf4", AGAINST, "does it explain why a batch of one learns, and no other?"
    )


def test_alone_as_in_a_batch(diagnosis, Model):
    diagnosis()
    model, x = Model(), torch.randn(5, 7, 4)
    with torch.no_grad():
        together, alone = model(x), torch.cat([model(x[i : i + 1]) for i in range(5)])
    assert together.shape == (5, 4), f"for 5 signals the output has the shape {tuple(together.shape)}, not (5, 4)"
    others = [i for i in range(5) if not torch.allclose(together[i], alone[i], atol=1e-5)]
    assert not others, (
        f"in a batch of 5 the signals {', '.join(map(str, others))} get other outputs than alone: what is computed for "
        "one reaches another"
    )


def test_learns(diagnosis, train, signals):
    diagnosis()
    model, losses = train(steps=90)
    x, labels = signals(300)
    with torch.no_grad():
        share = (model(x).argmax(1) == labels).double().mean().item()
    loss = sum(losses[-10:]) / 10
    assert share > 0.8, (
        f"after 90 steps {share:.0%} of new signals are classified correctly, and the loss is {loss:.2f}"
    )


def test_hidden_what_the_head_gets(diagnosis, Model, reference, seed):
    diagnosis()
    torch.manual_seed(seed)
    model, other = Model(hidden=5), reference.Model(hidden=5)
    names = list(model.state_dict())
    assert names == list(other.state_dict()), f"the model has other parameters than before: {', '.join(names)}"
    other.load_state_dict(model.state_dict())
    for count, length in ((3, 4), (2, 9)):
        x = torch.randn(count, length, 4)
        with torch.no_grad():
            found, expected = model(x), other(x)
        assert torch.allclose(found, expected, atol=1e-5), (
            "the outputs are not those of the final states of both readings, forward first"
        )


def test_hidden_batch_size(diagnosis, train, reference, seed):
    diagnosis()
    found, expected = (one(steps=12, batch=6, seed=seed)[1] for one in (train, reference.train))
    assert len(found) == 12 and torch.allclose(torch.tensor(found), torch.tensor(expected), rtol=1e-2), (
        "12 steps with batches of 6 lead elsewhere than with the one repair: steps, batches and optimizer were to stay"
    )
