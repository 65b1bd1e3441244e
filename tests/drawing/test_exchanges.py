"""Drawings of collectives show where each number came from."""

from __future__ import annotations

import pytest

from torchbook.drawing import exchanges

BEFORE = [[10 * r + i for i in range(4)] for r in range(4)]
SUMS = [60, 64, 68, 72]


def test_the_numbers_of_a_rank_are_found_again_and_sums_are_told_apart() -> None:
    turned = [list(column) for column in zip(*BEFORE, strict=True)]
    drawing = exchanges.exchanged({"all_to_all": (BEFORE, turned), "all_reduce": (BEFORE, [SUMS] * 4)}, rank=1)
    assert "all_to_all: rank 0 has 0 10 20 30, rank 1 has 1 11 21 31" in drawing.words
    assert "all_reduce: rank 0 has 60 64 68 72" in drawing.words
    svg = drawing.svg()
    assert svg.count("var(--viz-1,") == 4 + 4 + 4 + 1  # before and after, before, the legend
    assert svg.count("var(--viz-3,") == 16 + 1


def test_a_rank_may_be_left_with_nothing() -> None:
    drawing = exchanges.exchanged({"gather to 0": ([[1], [2]], [[1, 2], []])}, rank=1)
    assert "rank 1 has nothing" in drawing.words
    assert drawing.svg()


def test_five_collectives_fit_a_phone() -> None:
    one = [[number] for number in SUMS]
    names = ("broadcast from 1", "all_reduce", "reduce_scatter", "all_gather", "all_to_all")
    drawing = exchanges.exchanged(dict.fromkeys(names, (BEFORE, one)), rank=0)
    assert drawing.svg()


def test_examples_of_two_ranks_are_marked() -> None:
    drawing = exchanges.shares({"own": [[1, 2], [3, 4]], "same": [[1, 2], [2, 5]]})
    assert drawing.words == (
        "own: rank 0 has 1 2, rank 1 has 3 4; 0 twice. same: rank 0 has 1 2, rank 1 has 2 5; 1 twice."
    )
    assert [drawing.svg().count(f"var({color},") for color in ("--viz-1", "--viz-6")] == [6 + 1, 2 + 1]


def test_eight_examples_fit_a_phone() -> None:
    assert exchanges.shares({"shuffle=True, the same seed": [list(range(50, 58))] * 2}).svg()


@pytest.mark.parametrize("ways", [{}, {"none": []}])
def test_no_examples_are_refused(ways: dict[str, list[list[int]]]) -> None:
    with pytest.raises(ValueError, match="at least one rank"):
        exchanges.shares(ways)


@pytest.mark.parametrize(("after", "rank"), [([[1]], 0), ([[1], [2]], 2)])
def test_ranks_that_are_not_there_are_refused(after: list[list[int]], rank: int) -> None:
    with pytest.raises(ValueError, match="ranks before"):
        exchanges.exchanged({"broadcast": ([[1], [2]], after)}, rank=rank)


def test_a_call_that_a_rank_lacks_is_dashed() -> None:
    drawing = exchanges.calls([{1: "all_reduce", 2: "barrier"}, {1: "all_reduce"}])
    assert drawing.words == "rank 0: 1 all_reduce, 2 barrier; rank 1: 1 all_reduce, 2 missing."
    assert drawing.svg().count("stroke-dasharray") == 1


@pytest.mark.parametrize("recorded", [[{}], [dict.fromkeys(range(4), "barrier")]])
def test_calls_that_cannot_be_read_are_refused(recorded: list[dict[int, str]]) -> None:
    with pytest.raises(ValueError, match="1 to 3"):
        exchanges.calls(recorded)


def test_groups_of_a_rank_have_the_colour() -> None:
    mesh = {"data": [(0, 2), (1, 3)], "tensor": [(0, 1), (2, 3)]}
    drawing = exchanges.groups(mesh, rank=3)
    assert drawing.words == "data: 0 2, 1 3; tensor: 0 1, 2 3."
    assert drawing.svg().count("var(--viz-1,") == 2 * 2 + 1


def test_many_groups_wrap() -> None:
    assert exchanges.groups({"pipeline": [(rank, rank + 8) for rank in range(8)]}, rank=0).svg()


def test_a_rank_outside_of_the_mesh_is_refused() -> None:
    with pytest.raises(ValueError, match="no group with rank 4"):
        exchanges.groups({"data": [(0, 1)]}, rank=4)


def test_each_rank_that_waits_points_to_each_that_does_not() -> None:
    drawing = exchanges.waits(["all_reduce", "sleeps", "all_reduce"], {0, 2})
    assert drawing.words == (
        "rank 0 (all_reduce) waits for rank 1; rank 2 (all_reduce) waits for rank 1; rank 1 (sleeps) waits for nobody."
    )
    assert drawing.svg().count("<polygon") == 2


@pytest.mark.parametrize("waiting", [set(), {0, 1}, {0, 5}])
def test_waits_that_are_none_are_refused(waiting: set[int]) -> None:
    with pytest.raises(ValueError, match="some must wait"):
        exchanges.waits(["all_reduce", "sleeps"], waiting)


def test_a_stack_that_is_shorter_has_dashed_places() -> None:
    drawing = exchanges.stacks([["train", "wrapper", "all_reduce"]] * 3 + [["train"]])
    assert "rank 2: train, in it wrapper, in it all_reduce; rank 3: train." in drawing.words
    svg = drawing.svg()
    assert svg.count("stroke-dasharray") == 2 + 1  # and the legend
    assert svg.count("var(--viz-1,") == 3 * 2 + 1


@pytest.mark.parametrize("frames", [[], [["train"], []]])
def test_stacks_without_a_function_are_refused(frames: list[list[str]]) -> None:
    with pytest.raises(ValueError, match="at least one function"):
        exchanges.stacks(frames)
