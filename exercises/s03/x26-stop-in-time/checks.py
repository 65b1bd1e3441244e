import math
import random

import torch
from torch import nn


class _Run:
    """A model that counts its epochs in a weight and in a buffer, and losses that are given beforehand."""

    def __init__(self, losses):
        self.model = nn.Linear(2, 1)
        self.model.register_buffer("seen", torch.zeros(1))
        with torch.no_grad():
            self.model.weight.zero_()
        self.losses, self.calls = losses, []

    def train_epoch(self, model):
        assert model is self.model, "train_epoch gets the model itself, not a copy"
        with torch.no_grad():
            model.weight.add_(1.0)
            model.seen.add_(1.0)
        self.calls.append("train")

    def judge(self, model):
        assert model is self.model, "judge gets the model itself, not a copy"
        self.calls.append("judge")
        return self.losses[self.calls.count("judge") - 1]

    def fit(self, fit, patience, epochs=None):
        found = fit(self.model, self.train_epoch, self.judge, len(self.losses) if epochs is None else epochs, patience)
        assert isinstance(found, list), "return the list of the validation losses"
        return found

    def after(self):
        return self.model.weight[0, 0].item(), self.model.seen.item()


def test_order(fit):
    run = _Run([3.0, 2.0, 1.0])
    assert run.fit(fit, 2) == [3.0, 2.0, 1.0], "three epochs, each better than the last: return their three losses"
    assert run.calls == ["train", "judge"] * 3, "in each epoch first train, then judge, once each"


def test_epochs(fit):
    run = _Run([3.0, 2.0, 1.0, 0.5])
    assert len(run.fit(fit, 2, epochs=2)) == 2, "epochs=2 means two at most"


def test_stops(fit):
    run = _Run([3.0, 2.0, 2.5, 2.4, 1.0])
    assert run.fit(fit, 2) == [3.0, 2.0, 2.5, 2.4], (
        "with patience 2 the run stops after two epochs that are not better than 2.0"
    )


def test_counts_in_a_row(fit):
    run = _Run([3.0, 3.5, 2.0, 2.5, 1.0, 1.5])
    assert len(run.fit(fit, 2)) == 6, "only epochs in a row count: an improvement begins the count anew"


def test_equal(fit):
    run = _Run([2.0, 2.0, 2.0, 2.0])
    assert len(run.fit(fit, 2)) == 3, "an equal loss is no improvement"
    assert run.after()[0] == 1, "the state is that of the first of several equal losses"


def test_best_is_back(fit):
    run = _Run([3.0, 1.0, 2.0])
    run.fit(fit, 5)
    assert run.after()[0] != 3, "the weights are those of the last epoch; the second was the best"
    assert run.after()[0] == 2, f"the weights are those of epoch {run.after()[0]:.0f}; the second was the best"


def test_copies(fit):
    run = _Run([5.0, 4.0, 1.0, 2.0, 2.0, 2.0])
    run.fit(fit, 3)
    assert run.after()[0] == 3, (
        "the state that was kept changed with the model: state_dict() holds the living tensors, so copy them"
    )


def test_buffers(fit):
    run = _Run([3.0, 1.0, 2.0])
    run.fit(fit, 5)
    assert run.after()[1] == 2, "the buffer is not that of the best epoch: buffers are state, too"


def test_same_parameters(fit):
    run = _Run([3.0, 1.0, 2.0])
    weight = run.model.weight
    run.fit(fit, 5)
    assert run.model.weight is weight, "the model has a new parameter, which the optimizer does not know"
    assert weight.requires_grad, "the parameter no longer asks for a gradient"


def test_nan(fit):
    run = _Run([3.0, math.nan, 2.0, math.nan, math.nan, 1.0])
    assert len(run.fit(fit, 2)) == 5, "nan is no improvement, so two of them in a row end a run with patience 2"
    assert run.after()[0] == 3, "an epoch whose loss is nan is never the best"
    run = _Run([math.nan, 2.0, 3.0])
    run.fit(fit, 5)
    assert run.after()[0] == 2, "a nan at the start must not stay the best for ever"
    run = _Run([math.nan, math.nan])
    run.fit(fit, 5)
    assert run.after()[0] == 2, "if there was no improvement, the model stays as it is"


def test_none_at_the_start(fit):
    for first in (math.nan, math.inf):
        run = _Run([first, first, 1.0])
        assert len(run.fit(fit, 2)) == 2, (
            f"a run that begins with {first} twice ends there with patience 2: count from 0, before the first epoch too"
        )


def test_hidden_random(fit, reference, seed):
    draw = random.Random(seed)
    for _ in range(40):
        losses = [draw.choice([0.0, 1.0, 2.0, 3.0, 4.0, math.nan]) for _ in range(draw.randint(1, 12))]
        patience = draw.randint(1, 4)
        ours, theirs = _Run(losses), _Run(losses)
        found, expected = ours.fit(fit, patience), theirs.fit(reference.fit, patience)
        assert len(found) == len(expected), f"losses {losses}, patience {patience}: {len(expected)} epochs"
        assert ours.after() == theirs.after(), f"losses {losses}, patience {patience}: another epoch's state"
