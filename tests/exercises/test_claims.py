"""What exercises say of PyTorch and no check of theirs runs."""

from __future__ import annotations

import pytest
import torch
from torch import nn


@pytest.fixture(params=["meta", "cuda"])
def elsewhere(request: pytest.FixtureRequest) -> str:
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip(reason="no GPU on this machine")
    return request.param


def mixed(elsewhere: str) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.ones(3, 4), torch.ones(3, 4, device=elsewhere)


@pytest.mark.parametrize("shape", [(3, 4), (1,)])
def test_s04_x1_tensors_of_two_devices_do_not_add(elsewhere: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(RuntimeError, match="device"):
        torch.ones(shape) + mixed(elsewhere)[1]


def test_s04_x1_tensors_of_two_devices_do_not_concatenate(elsewhere: str) -> None:
    with pytest.raises(RuntimeError, match="device"):
        torch.cat(mixed(elsewhere))


def test_s04_x1_cpu_tensor_of_no_dimension_adds(elsewhere: str) -> None:
    assert (torch.tensor(2.0) + mixed(elsewhere)[1]).device.type == elsewhere


def test_s04_x1_tensor_of_no_dimension_elsewhere_does_not(elsewhere: str) -> None:
    with pytest.raises(RuntimeError, match="device"):
        mixed(elsewhere)[0] + torch.tensor(2.0, device=elsewhere)


def test_s04_x1_to_takes_over_the_dtype_of_a_tensor(elsewhere: str) -> None:
    b = torch.ones(2, dtype=torch.float16, device=elsewhere)
    assert torch.ones(2).to(b).dtype == torch.float16


def test_s04_x1_to_moves_a_module_and_copies_a_tensor(elsewhere: str) -> None:
    model, x = nn.Linear(2, 2), torch.ones(2)
    model.to(elsewhere)
    x.to(elsewhere)
    assert (model.weight.device.type, x.device.type) == (elsewhere, "cpu")
