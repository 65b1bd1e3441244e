import math

import torch

from torchbook.practice import ward

AGAINST = {
    "leaky-split": "on new sequences the loss is as low, and no sequence can be learnt by heart for that",
    "labels-shuffled": "a model whose labels were permuted could not have a low loss",
    "double-softmax": "the loss is given logits, once; and it would make the loss too high, not too low",
    "wrong-reduction-axis": "the loss is a mean over positions, the attention's softmax one over what is attended to",
    "scrambled-axes": "change another sequence of the batch: nothing moves; batches and positions stay in place",
    "wrong-mode": "no layer here behaves differently when it is evaluated",
    "capacity-too-small": "the loss is lower than a perfect model's",
    "metric-of-means": "all batches have the same size",
}


def _changed(model, tokens, place):
    """At which positions the logits change when the symbol at a place does."""
    other = tokens.clone()
    other[:, place] = (other[:, place] + 1) % 8
    with torch.no_grad():
        difference = (model(tokens) - model(other)).abs().amax((0, 2))
    return [t for t, d in enumerate(difference.tolist()) if not d <= 1e-6]


def test_diagnosis(diagnosis):
    ward.confirm(
        diagnosis, "ward-x12", "7d7e089e045ddb3d", AGAINST, "does it explain a loss that no honest model can have?"
    )


def test_sees_no_future(diagnosis, Model):
    diagnosis()
    model, tokens = Model(), torch.randint(8, (4, 6))
    for place in (5, 2):
        early = [t for t in _changed(model, tokens, place) if t < place]
        assert not early, (
            f"the symbol at position {place} changes the logits at {', '.join(map(str, early))}: there it is what is "
            "to be predicted, or comes later still"
        )


def test_writes(diagnosis, train, generate):
    diagnosis()
    model, loss = train(steps=100)
    tokens = generate(model, torch.arange(8).repeat(16)[:, None], 12)
    share = ((tokens[:, 1:] - 3 * tokens[:, :-1] - 1) % 8 < 2).double().mean().item()
    assert share > 0.93, f"after 100 steps, {1 - share:.0%} of the steps that it writes are forbidden"
    entropy = -0.7 * math.log(0.7) - 0.3 * math.log(0.3)
    assert loss > 0.9 * entropy, (
        f"the loss is {loss:.2f}, and the next symbol cannot be known better than {entropy:.2f}"
    )


def test_hidden_sees_the_past(diagnosis, Model, seed):
    diagnosis()
    torch.manual_seed(seed)
    model, length = Model(), 7 + seed % 3
    tokens = torch.randint(8, (4, length))
    for place in range(length):
        found, expected = _changed(model, tokens, place), list(range(place, length))
        assert found == expected, (
            f"the symbol at position {place} of {length} should count from there to the end, and it counts at {found}"
        )


def test_hidden_same_model(diagnosis, Model, reference, seed):
    diagnosis()
    models = []
    for one in (Model, reference.Model):
        torch.manual_seed(seed)
        models.append(one())
    found, expected = (model.state_dict() for model in models)
    assert list(found) == list(expected) and all(found[name].equal(expected[name]) for name in found), (
        "the model has other weights than before: its layers and their order were to stay"
    )
    tokens = torch.randint(8, (3, 9))
    with torch.no_grad():
        found, expected = (model(tokens) for model in models)
    assert torch.allclose(found, expected, atol=1e-4), (
        "with the same weights, the logits are others than with the one repair"
    )
