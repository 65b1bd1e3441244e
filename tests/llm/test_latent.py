"""The parts of latent attention have the sizes of their description, and turn the pairs that they should."""

from __future__ import annotations

import torch

from torchbook.llm import rotary_tables
from torchbook.llm.latent import Latent, LatentSizes


def test_sizes_are_those_of_the_matrices() -> None:
    layer = Latent(LatentSizes(width=6, heads=3, latent=5, query_latent=7, plain=4, turned=2, value=8))
    shapes = {name: tuple(p.shape) for name, p in layer.named_parameters() if p.dim() == 2}
    assert shapes == {
        "query_down.weight": (7, 6),
        "query_up.weight": (3 * 6, 7),
        "down.weight": (5 + 2, 6),
        "up.weight": (3 * 12, 5),
        "output.weight": (6, 3 * 8),
    }


def test_at_position_0_nothing_turns() -> None:
    still = rotary_tables(torch.zeros(1), 8)
    x = torch.arange(8.0)[None]
    assert Latent(LatentSizes(interleaved=False)).turn(x, still).tolist() == x.tolist()
    assert Latent(LatentSizes()).turn(x, still).tolist() == [[0, 2, 4, 6, 1, 3, 5, 7]]


def test_interleaved_pairs_are_neighbours() -> None:
    x = torch.zeros(1, 8)
    x[0, 2] = 1.0
    turned = Latent(LatentSizes()).turn(x, rotary_tables(torch.tensor([1]), 8))
    assert turned[0].nonzero().flatten().tolist() == [1, 5]
    torch.testing.assert_close(turned.norm(), torch.tensor(1.0))
