from unittest import mock

import torch

from torchbook.practice import ward

AGAINST = {
    "graph-cut": "in the first step all gradients are the same to the last digit, and none is missing later",
    "gradients-not-cleared": "gradients are returned, and nothing is added up between steps",
    "seed-not-set": "both runs get the same weights, batches and noise: their first steps agree",
    "wrong-mode": "no module here has a mode",
    "schedule-per-batch": "in the eager run the warm-up does what it should; what differs is whether it is heard of",
    "state-not-restored": "nothing is resumed; both runs start at step 0",
    "buffer-aliased": "the weights are updated in place on purpose, and both runs do it",
    "overflow": "all numbers are small and finite",
}


def _part(captured, eager):
    """The first step at which two runs part, and what they have there."""
    for step, (one, other) in enumerate(zip(captured, eager, strict=True)):
        if not torch.allclose(torch.tensor(one), torch.tensor(other), rtol=1e-3):
            return (
                f"in step {step} the captured run has the error {one[0]:.3f} and the divergence {one[1]:.3f}, the "
                f"eager run {other[0]:.3f} and {other[1]:.3f}"
            )
    return ""


def test_diagnosis(diagnosis):
    ward.confirm(
        diagnosis,
        "ward-x11",
        "32f2f6bf9bf0ae8a",
        AGAINST,
        "does it explain why the runs agree at first, and part later?",
    )


def test_captured_is_eager(diagnosis, train):
    diagnosis()
    part = _part(train(captured=True, steps=70), train(captured=False, steps=70))
    assert not part, f"{part}: what was recorded does not know that time goes on"


def test_captured_once(diagnosis, train):
    diagnosis()
    with mock.patch.object(torch.nn.functional, "mse_loss", wraps=torch.nn.functional.mse_loss) as loss:
        train(captured=True, steps=5)
    # A recording goes through it once, in two layers of the dispatch of functions.
    assert loss.call_count < 4, (
        "a captured run still goes through the Python of the loss in every step: it should to record, and never again"
    )


def test_hidden_longer(diagnosis, train, seed):
    diagnosis()
    part = _part(train(captured=True, steps=120, seed=seed + 1), train(captured=False, steps=120, seed=seed + 1))
    assert not part, part


def test_hidden_same_eager_run(diagnosis, train, WarmUp, reference, seed):
    diagnosis()
    found, expected = (one(captured=False, steps=100, seed=seed) for one in (train, reference.train))
    assert torch.allclose(torch.tensor(found), torch.tensor(expected), rtol=1e-3), (
        f"the eager run has changed: after 100 steps it has {found[-1]}, and it had {expected[-1]}"
    )
    warm_up, factors = WarmUp(4), []
    for _ in range(6):
        factors.append(float(warm_up.factor))
        warm_up.step()
    assert factors == [0.0, 0.25, 0.5, 0.75, 1.0, 1.0], f"a warm-up of 4 steps goes 0, 1/4, 1/2, 3/4, 1, not {factors}"
