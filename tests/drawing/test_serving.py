"""Drawings of models in service say what their tables, tokens and times say."""

from __future__ import annotations

import re

import pytest
import torch

from torchbook.drawing import serving


def test_a_pool_names_the_owner_of_each_page() -> None:
    drawing = serving.paged_cache({"a": [3, 0], "b": [2]}, {"a": 6, "b": 4}, size=4, count=5)
    assert "Of 5 pages 2 are free." in drawing.words
    assert re.findall(r">([ab]\d)<", drawing.svg()) == ["a1", "b0", "a0"]


@pytest.mark.parametrize(("pages", "length"), [([5], 2), ([0], 5), ([0, 1], 3)])
def test_a_table_that_does_not_fit_is_refused(pages: list[int], length: int) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        serving.paged_cache({"a": pages}, {"a": length}, size=4, count=5)


@pytest.mark.parametrize(("kept", "marks"), [(0, "✗"), (2, "✓✓✗"), (4, "✓✓✓✓")])
def test_a_round_keeps_a_beginning_and_adds_one(kept: int, marks: str) -> None:
    drawing = serving.speculative_round(["t", "u", "v", "w"], kept, "z")
    assert "".join(re.findall("[✓✗]", drawing.svg())) == marks
    assert f"{kept + 1} tokens from one forward" in drawing.words


@pytest.mark.parametrize(("proposals", "kept"), [(0, 0), (6, 2), (2, 3)])
def test_rounds_that_cannot_be_are_refused(proposals: int, kept: int) -> None:
    with pytest.raises(ValueError, match="1 to 5 can be drawn"):
        serving.speculative_round(["t"] * proposals, kept, "z")


@pytest.mark.parametrize(
    ("arrivals", "sizes", "end"),
    [
        ([0, 1, 2], "3", 11),  # patience runs out at 5
        ([0, 0, 0, 0, 0], "4, 1", 12),  # full at once; the fifth waits for the worker, longer than its patience
        ([0, 20], "1, 1", 31),
    ],
)
def test_a_batch_starts_when_it_is_full_or_patience_ends(arrivals: list[float], sizes: str, end: int) -> None:
    drawing = serving.dynamic_batches(arrivals, largest=4, patience=5, cost=6)
    assert f"The batches have {sizes} requests." in drawing.words
    assert f"{end:g} ms in all" in drawing.svg()


@pytest.mark.parametrize("arrivals", [[], [2, 1], [0] * 9])
def test_arrivals_that_cannot_be_drawn_are_refused(arrivals: list[float]) -> None:
    with pytest.raises(ValueError, match="in order"):
        serving.dynamic_batches(arrivals, largest=4, patience=5, cost=6)


def test_numbers_move_to_the_nearest_level() -> None:
    few = torch.tensor([-0.7, 0.04, 0.1, 0.36])
    drawing = serving.quantisation_grid(few, {"fine": 0.1, "coarse": 0.4}, low=-8, high=7)
    assert "fine: a step of 0.1 moves them by at most 0.04; 4 different values are left" in drawing.words
    assert "coarse: a step of 0.4 moves them by at most 0.1; 3 different values are left" in drawing.words


@pytest.mark.parametrize(("numbers", "scale"), [(0, 0.1), (13, 0.1), (3, 0.0)])
def test_grids_that_cannot_be_drawn_are_refused(numbers: int, scale: float) -> None:
    with pytest.raises(ValueError, match="1 to 12 numbers and positive scales"):
        serving.quantisation_grid(torch.ones(numbers), {"grid": scale})


def test_each_road_has_its_tool_file_and_place() -> None:
    drawing = serving.roads("a module", "a graph", [("ONNX", "net.onnx", "in another runtime")])
    assert drawing.words == "a module becomes a graph; from it ONNX makes net.onnx, which runs in another runtime."
