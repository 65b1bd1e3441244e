"""What the wrappers share: what an operand must be, and how many multiprocessors there are."""

from __future__ import annotations

import math
from functools import cache

import torch

FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def same_kind(name: str, *tensors: torch.Tensor) -> None:
    """All operands on one device and of one supported floating type, small enough for 32-bit offsets.

    Raises:
        ValueError: they are not; a kernel given wrong operands would not notice, but read what lies there.
    """
    first = tensors[0]
    for tensor in tensors:
        if tensor.device != first.device:
            raise ValueError(f"{name}: operands on {first.device} and {tensor.device}")
        if tensor.dtype != first.dtype or tensor.dtype not in FLOATS:
            raise ValueError(f"{name}: one of float32, float16, bfloat16 for all, got {first.dtype} and {tensor.dtype}")
        if sum((size - 1) * abs(step) for size, step in zip(tensor.shape, tensor.stride(), strict=True)) >= 2**31:
            raise ValueError(f"{name}: offsets are 32-bit, and {tuple(tensor.shape)} reaches further")


def result_fits(name: str, *shape: int) -> None:
    """A contiguous result of this shape is small enough for 32-bit offsets, as small operands do not promise.

    Raises:
        ValueError: it is not; a kernel would write the last elements over others.
    """
    if math.prod(shape) > 2**31:
        raise ValueError(f"{name}: offsets are 32-bit, and a result of shape {shape} reaches further")


@cache
def multiprocessors(device: int | None) -> int:
    """Multiprocessors of a CUDA device."""
    return torch.cuda.get_device_properties(device).multi_processor_count


def tma_can_read(matrix: torch.Tensor) -> bool:
    """Whether a tensor-map descriptor can hold it: 16-bit, last step 1, base and other steps multiples of 16 bytes."""
    size = matrix.element_size()
    return (
        size == 2
        and matrix.stride(-1) == 1
        and matrix.data_ptr() % 16 == 0
        and all(step > 0 and step * size % 16 == 0 for step in matrix.stride()[:-1])
    )


def has_tma(device: torch.device) -> bool:
    """Whether the device has the copy engine for tiles: Hopper (9.0) and newer."""
    return device.type == "cuda" and torch.cuda.get_device_capability(device)[0] >= 9
