"""Drawings of a GPU's memory count its sectors as the hardware does."""

from __future__ import annotations

import pytest

from torchbook.drawing import hardware


@pytest.mark.parametrize(("stride", "sectors", "share"), [(1, 1, "100"), (2, 2, "50"), (4, 4, "25"), (8, 8, "12.5")])
def test_a_stride_costs_its_sectors(stride: int, sectors: int, share: str) -> None:
    drawing = hardware.coalescing([stride])
    assert f"touch {sectors} sector" in drawing.words
    assert f"stride {stride}: {32 * sectors} bytes fetched, {share} % used" in drawing.svg()


def test_what_is_fetched_and_not_read_is_marked() -> None:
    svg = hardware.coalescing([2]).svg()
    assert [svg.count(color) for color in ("--viz-1", "--viz-2")] == [2 * (8 + 1), 2 * (8 + 1)] or [
        svg.count(f"var({color},") for color in ("--viz-1", "--viz-2")
    ] == [8 + 1, 8 + 1]


@pytest.mark.parametrize("strides", [[], [0], [1, -2]])
def test_strides_that_are_none_are_refused(strides: list[int]) -> None:
    with pytest.raises(ValueError, match="1 or more"):
        hardware.coalescing(strides)


def test_the_last_multiprocessor_is_named() -> None:
    assert "… SM 131" in hardware.memory_levels(132).svg()


def test_a_chip_of_two_multiprocessors_is_refused() -> None:
    with pytest.raises(ValueError, match="3 are drawn"):
        hardware.memory_levels(2)
