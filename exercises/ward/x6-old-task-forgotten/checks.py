import torch
from torch import nn

from torchbook.practice import ward

AGAINST = {
    "buffer-aliased": "the backbone is shared on purpose; two may share what nobody writes to. What writes to it?",
    "shared-weights-cloned": "the backbone is one object in both networks, and its parameters stay what they are",
    "parameters-left-out": "the backbone's parameters are frozen on purpose, and the head's are all trained",
    "state-not-restored": "nothing is saved or loaded here: the first network changes while it is in memory",
    "updates-rounded-away": "the backbone's parameters are not updated at all, and should not be",
}


def test_diagnosis(diagnosis):
    ward.confirm(
        diagnosis, "ward-x6", "1fd7632089658291", AGAINST, "does it explain what changes where no parameter does?"
    )


def _both(make_task, pretrain, add_task, seed=1):
    """The first network's answers before and after a second task, the two networks, and that task."""
    first, second = make_task(6, shift=0.0, seed=seed), make_task(4, shift=2.0, seed=seed + 1)
    old = pretrain(*first, steps=40)
    before = _answers(old, first[0])
    new = add_task(old, *second, steps=80)
    return before, _answers(old, first[0]), old, new, second


@torch.no_grad()
def _answers(model, x):
    return model.eval()(x)


def test_first_task(diagnosis, make_task, pretrain, add_task):
    diagnosis()
    before, after, *_ = _both(make_task, pretrain, add_task)
    changed = (before.argmax(1) != after.argmax(1)).float().mean().item()
    assert before.equal(after), (
        f"the first network returns other numbers than before, and for {changed:.1%} of the examples another class"
    )


def test_second_task(diagnosis, make_task, pretrain, add_task):
    diagnosis()
    *_, old, new, (x, y) = _both(make_task, pretrain, add_task)
    right = (_answers(new, x).argmax(1) == y).float().mean().item()
    assert right > 0.6, f"the second network is right for {right:.2f} only: its head has not learnt"
    assert new.backbone is old.backbone, "the backbone is in memory twice: the two networks are to share it"
    frozen = [p.requires_grad for p in new.backbone.parameters()]
    assert frozen and not any(frozen), "the backbone is no longer frozen"


def test_hidden_modes(diagnosis, make_task, pretrain, add_task, seed):
    diagnosis()
    seen = []

    def note(module, *_):
        if isinstance(module, nn.BatchNorm1d | nn.Dropout) and torch.is_grad_enabled():
            seen.append((type(module), module.training))

    old = pretrain(*make_task(3, shift=0.0, seed=seed + 1), steps=10)
    handle = nn.modules.module.register_module_forward_hook(note)
    try:
        new = add_task(old, *make_task(5, shift=1.0, seed=seed + 2), steps=10)
    finally:
        handle.remove()
    assert (nn.BatchNorm1d, True) not in seen, (
        "while the second task is learnt, the backbone normalises by the batch: the head learns from other features "
        "than it gets later"
    )
    assert (nn.Dropout, True) in seen and (nn.Dropout, False) not in seen, "the new head is trained without dropout"
    x = make_task(5, shift=3.0, seed=seed)[0]
    features = [network.eval().backbone(x) for network in (old, new)]
    assert features[0].equal(features[1]), "for the two networks, the backbone says different things of the same input"
