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


MESH = {
    "pipeline": [(0, 4), (1, 5), (2, 6), (3, 7)],
    "data": [(0, 2), (1, 3), (4, 6), (5, 7)],
    "tensor": [(0, 1), (2, 3), (4, 5), (6, 7)],
}


def test_what_a_gpu_needs_is_added_up_and_compared() -> None:
    drawing = hardware.needs({"whole": {"state": 30, "rest": 10}, "cut": {"state": 20, "rest": 10}}, limit=36)
    assert "whole: state 30, rest 10, together 40 GB, which does not fit" in drawing.words
    assert "cut: state 20, rest 10, together 30 GB, which fits" in drawing.words
    assert drawing.svg()


@pytest.mark.parametrize(
    ("plans", "limit"), [({}, 1.0), ({"one": dict.fromkeys("abcde", 1.0)}, 1.0), ({"one": {"a": 1.0}}, 0.0)]
)
def test_needs_that_cannot_be_drawn_are_refused(plans: dict[str, dict[str, float]], limit: float) -> None:
    with pytest.raises(ValueError, match="1 to 4 kinds"):
        hardware.needs(plans, limit)


def test_a_gpu_that_several_ranks_use_is_marked() -> None:
    drawing = hardware.devices({"mistake": [0, 0, 0], "right": [0, 1, 2]}, gpus=3)
    assert "mistake: rank 0 uses GPU 0, rank 1 uses GPU 0" in drawing.words
    assert [drawing.svg().count(f"var({color},") for color in ("--viz-6", "--viz-3")] == [1, 3]


@pytest.mark.parametrize("ways", [{}, {"one": [3]}, {"one": [-1]}])
def test_gpus_that_are_not_there_are_refused(ways: dict[str, list[int]]) -> None:
    with pytest.raises(ValueError, match="0 to 2"):
        hardware.devices(ways, gpus=3)


def test_a_program_waits_later_than_its_gpu() -> None:
    assert ".item() waits" in hardware.queued().svg()


def test_partners_are_found_in_their_machines() -> None:
    drawing = hardware.machines(MESH, rank=5, per_machine=4)
    assert drawing.words == (
        "pipeline: rank 1, in another machine; data: rank 7, in the same machine; tensor: rank 4, in the same machine."
    )
    assert drawing.svg().count("<polygon") == 3
    assert hardware.machines(MESH, rank=0, per_machine=4).svg()


@pytest.mark.parametrize("rank", [8, -1])
def test_a_rank_without_groups_is_refused(rank: int) -> None:
    with pytest.raises(ValueError, match=f"group of rank {rank}"):
        hardware.machines(MESH, rank=rank, per_machine=4)


def test_ranks_meet_at_the_store() -> None:
    two = {"machine 0": [0, 1], "machine 1": [2, 3]}
    assert "Then they connect to each other." in hardware.meeting(two, "10.0.0.1").words
    assert "at 127.0.0.1, so it is sought" in hardware.meeting(two, "10.0.0.1", "127.0.0.1").words
    assert hardware.meeting(two, "10.0.0.1").svg()
    assert hardware.meeting(two, "10.0.0.1", "127.0.0.1").svg().count("127.0.0.1</text>") == 2


@pytest.mark.parametrize("ranks", [{"one": [0]}, {"one": [0], "two": []}])
def test_one_machine_does_not_meet(ranks: dict[str, list[int]]) -> None:
    with pytest.raises(ValueError, match="two machines"):
        hardware.meeting(ranks, "10.0.0.1")
