import io

import torch

from torchbook.practice import ward

AGAINST = {
    "checkpoint-outdated": "the weights that are loaded are those of the moment at which the run was stopped",
    "seed-not-set": "two uninterrupted runs agree in every digit",
    "wrong-mode": "there is no evaluation, and dropout is on before the stop and after it",
    "stale-workers": "batches are made in the process that trains",
    "buffer-aliased": "it happens as well when the checkpoint has gone through a file",
    "schedule-per-batch": "the learning rates of both runs are the same in every epoch",
    "labels-shuffled": "each example keeps its label; the losses fall",
}


def _resumed(Run, seed, *epochs):
    """The losses and the weights of a run that is stopped after so many epochs each time."""
    losses, state = [], None
    for number, count in enumerate(epochs):
        run = Run(seed)
        torch.manual_seed(100 + number)  # another process, whose generator is elsewhere
        if state is not None:
            run.load_state_dict(torch.load(state))
        elif number == 0:
            run = Run(seed)
        losses += run.train(count)
        state = io.BytesIO()
        torch.save(run.state_dict(), state)
        state.seek(0)
    return losses, [p.detach().clone() for p in run.model.parameters()], run


def _compare(Run, seed, *epochs):
    whole, weights, _ = _resumed(Run, seed, sum(epochs))
    parts, others, run = _resumed(Run, seed, *epochs)
    for epoch, (one, other) in enumerate(zip(whole, parts, strict=True), 1):
        assert one == other, (
            f"stopped after {' and '.join(map(str, epochs[:-1]))} epochs, the run has the loss {other:.6f} in epoch "
            f"{epoch}; in one go it is {one:.6f}"
        )
    assert all(a.equal(b) for a, b in zip(weights, others, strict=True)), "the losses agree, and the weights differ"
    assert run.epochs == sum(epochs), f"the resumed run says that it has seen {run.epochs} of {sum(epochs)} epochs"


def test_diagnosis(diagnosis):
    ward.confirm(
        diagnosis, "ward-x9", "1a20b2f8d8396e1a", AGAINST, "does it explain why only a run that was stopped differs?"
    )


def test_resumed_run(diagnosis, Run):
    diagnosis()
    _compare(Run, 0, 2, 2)


def test_hidden_interrupted_twice(diagnosis, Run, seed):
    diagnosis()
    _compare(Run, seed, 1, 2, 2)


def test_hidden_same_run(diagnosis, Run, reference, seed):
    diagnosis()
    found, expected = (one(seed).train(3) for one in (Run, reference.Run))
    assert torch.allclose(torch.tensor(found), torch.tensor(expected), rtol=1e-5), (
        f"the uninterrupted run has changed: its losses are {found}, and they were {expected}"
    )
