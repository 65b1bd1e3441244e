"""The counter of live bytes, held to sizes that are known."""

import torch

from torchbook.live import LiveBytes


def test_counts_what_is_made_and_what_dies() -> None:
    with LiveBytes() as live:
        a = torch.ones(100)
        b = a * 2
        assert live.now == 800
        del a
        assert live.now == 400
        b = b + 1
    assert b.sum() == 300
    assert (live.now, live.peak) == (400, 800)


def test_a_view_and_an_edit_are_no_new_storage() -> None:
    with LiveBytes() as live:
        a = torch.ones(4, 25)
        a.t().contiguous().view(100)  # the copy dies at once
        a.add_(1)
        assert live.now == 400
    assert live.peak == 800


def test_what_was_there_before_is_not_counted() -> None:
    weight = torch.ones(100, requires_grad=True)
    with LiveBytes() as live:
        weight.detach().add_(1)
        assert live.now == 0
        out = weight.exp()
        assert live.now == 400
    assert out.requires_grad


def test_backward_frees_what_nodes_saved() -> None:
    weight = torch.ones(100, requires_grad=True)
    weight.grad = torch.zeros(100)
    with LiveBytes() as live:
        loss = (weight * 2).exp().sum()
        assert live.now == 404  # exp keeps its result, a sum keeps nothing
        loss.backward()
        assert live.now == 4
