import random

import torch

from torchbook.practice import ward

AGAINST = {
    "labels-shuffled": "with labels that do not belong to the recordings, validation would be at 50 %",
    "wrong-mode": "the network has no layer that has a mode",
    "seed-not-set": "everything is seeded; with other seeds the gap stays where it is",
    "capacity-too-small": "what it was trained on it knows by heart",
    "metric-of-means": "accuracy is computed at once, over all recordings",
}


def test_diagnosis(diagnosis):
    ward.confirm(
        diagnosis, "ward-x3", "b91e95dd94c81093", AGAINST, "does it make validation better than the new clinic?"
    )


def test_validation(diagnosis, record, split, train, accuracy):
    diagnosis()
    for_training, for_validation = split(record(300))
    model = train(for_training)
    held_back, new = accuracy(model, for_validation), accuracy(model, record(300, seed=1))
    assert held_back - new < 0.13, f"validation promises {held_back:.2f}, and in the new clinic it is {new:.2f}"
    assert new > 0.6, f"in the new clinic it was right for about 70 %, and now it is for {new:.0%}"


def _complain(data, first, second, fraction):
    """About recordings that are lost, or on both sides, or of people on both sides."""
    for side in (first, second):
        assert side.x.dim() == 2, "a side with a single recording has lost its dimension"
    found = torch.cat([first.x[:, 0], second.x[:, 0]]).sort().values
    assert len(first.x) and len(second.x), "one side is empty"
    assert found.shape == data.x[:, 0].shape and found.equal(data.x[:, 0].sort().values), (
        "each recording is on one side, and on one only: some are lost, or used twice"
    )
    for side in (first, second):
        row = {value.item(): place for place, value in enumerate(data.x[:, 0])}
        place = torch.tensor([row[value.item()] for value in side.x[:, 0]])
        assert side.ill.equal(data.ill[place]), "recordings have lost what was known of them"
        assert side.person.equal(data.person[place]), "recordings have lost what was known of them"
    both = set(first.person.tolist()) & set(second.person.tolist())
    assert not both, f"{len(both)} people have recordings in training and in validation: these know each other"
    share = len(first.x) / len(data.x)
    assert abs(share - fraction) < 0.08, f"{fraction:.0%} were to be for training, and {share:.0%} are"


def test_each_once(diagnosis, record, split):
    diagnosis()
    data = record(60)
    _complain(data, *split(data), 0.75)
    data = record(2, each=1)
    _complain(data, *split(data, 0.5), 0.5)


def test_hidden_splits(diagnosis, record, split, seed):
    diagnosis()
    draw = random.Random(seed)
    for people, each, fraction in ((40, 5, 0.5), (30, 12, 0.8), (50, 1, 0.6)):
        data = record(people, each, seed=seed)
        names = torch.tensor(draw.sample(range(10_000), people))
        order = torch.tensor(draw.sample(range(len(data.x)), len(data.x)))
        data = data._replace(person=names[data.person]).at(order)
        first, second = split(data, fraction, seed)
        _complain(data, first, second, fraction)
        again, other = split(data, fraction, seed)[0], split(data, fraction, seed + 1)[0]
        assert set(again.person.tolist()) == set(first.person.tolist()), "the same seed gives the same split"
        assert set(other.person.tolist()) != set(first.person.tolist()), "another seed gives another split"
