import torch

from torchbook.practice import ward

AGAINST = {
    "cache-without-limit": "the one list that grows holds floats; what stays is reached from a tensor's history",
    "gradients-not-cleared": "there is one gradient for each parameter, as large after a hundred looks as after one",
    "stale-workers": "everything happens in one process",
    "buffer-aliased": "what is shared costs nothing; here something is made anew at each look, and stays",
    "wrong-mode": "the mode decides what dropout does, and nothing of what stays in memory",
    "metric-of-means": "every look is at all of the validation data, and the numbers are right",
    "state-not-restored": "nothing is resumed here",
}


class _Saved:
    """A tensor that a graph keeps for backward; the graph alone refers to it."""

    alive = 0

    def __init__(self, tensor):
        self.tensor = tensor.detach()  # with its graph, an output that its own node saves would keep itself alive
        _Saved.alive += tensor.nbytes

    def __del__(self):
        _Saved.alive -= self.tensor.nbytes


def _nodes(tensor):
    """How many nodes of a graph hang on a tensor."""
    found, left = set(), [getattr(tensor, "grad_fn", None)]
    while left:
        node = left.pop()
        if node is not None and node not in found:
            found.add(node)
            left += [one for one, _ in node.next_functions]
    return len(found)


def test_diagnosis(diagnosis):
    ward.confirm(
        diagnosis, "ward-x8", "8cd0ab98a697e964", AGAINST, "does it explain why validation tensors outlive their look?"
    )


def test_memory_stays(diagnosis, Training):
    diagnosis()
    start = _Saved.alive
    with torch.autograd.graph.saved_tensors_hooks(_Saved, lambda saved: saved.tensor):
        training = Training(valid=50)
        found = []
        for looks in (3, 9):
            training.run(looks)
            kept = [one for one in vars(training.plateau).values() if isinstance(one, torch.Tensor)]
            found.append((_Saved.alive - start, sum(_nodes(one) for one in kept)))
    (few, short), (many, long) = found
    assert many <= few, (
        f"after 3 looks {few} bytes are alive that graphs saved for a backward, after 12 looks {many}: no "
        "backward will come for them"
    )
    assert long <= short, (
        f"the saved tensors are gone, and the graph itself still grows: what `Plateau` keeps has a history of {short} "
        f"nodes after 3 looks and of {long} after 12"
    )


def test_smoothing(diagnosis, Plateau):
    diagnosis()
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    plateau = Plateau(optimizer, patience=3, keep=0.75)
    found = [float(plateau.look(torch.tensor(loss))) for loss in (4.0, 8.0, 4.0, *[8.0] * 10)]
    expected = [4.0]
    for loss in (8.0, 4.0, *[8.0] * 10):
        expected.append(0.75 * expected[-1] + 0.25 * loss)
    for number, (one, other) in enumerate(zip(found, expected, strict=True), 1):
        assert abs(one - other) < 1e-4, (
            f"look {number} returns {one:.3f}; 3/4 of the last value and 1/4 of the new one are {other:.3f}"
        )
    rate = optimizer.param_groups[0]["lr"]
    assert rate == 1 / 16, f"4 times 3 looks without a lower value halve the rate 4 times, from 1 to 1/16, not {rate}"


def test_hidden_same_training(diagnosis, Training, reference, seed):
    diagnosis()
    found = Training(60, seed)
    mine = found.run(40)
    expected = reference.Training(60, seed)
    theirs = expected.run(40)
    assert len(mine) == 40, f"40 looks give {len(mine)} values"
    assert torch.allclose(torch.tensor(mine), torch.tensor(theirs), rtol=1e-4), (
        f"after 40 looks the smoothed loss is {mine[-1]:.4f}, and with the one repair {theirs[-1]:.4f}: only "
        "what stays in memory was to change"
    )
    rates = [one.optimizer.param_groups[0]["lr"] for one in (found, expected)]
    assert rates[0] == rates[1], f"the learning rate ends at {rates[0]}, and with the one repair at {rates[1]}"
