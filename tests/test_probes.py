"""The probes report what PyTorch does, and change nothing about it."""

import torch

from torchbook.probes import bytes_kept, floats_read


def test_bytes_kept_counts_what_backward_needs() -> None:
    x = torch.ones(10, requires_grad=True)
    assert bytes_kept(x.sin) == 40
    assert bytes_kept(lambda: x + 1) == 0
    with torch.no_grad():
        assert bytes_kept(x.sin) == 0


def test_floats_read_counts_floats_alone() -> None:
    x = torch.tensor(2.0)
    assert floats_read(x.item) == 1
    assert floats_read(lambda: bool(x > 1)) == 0  # a bool is fetched, not a float
    assert floats_read(lambda: x + 1) == 0
    assert floats_read(lambda: [float(x), x.item()]) == 2
