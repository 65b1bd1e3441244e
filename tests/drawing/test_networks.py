"""Drawings of small networks show the numbers that torch computes."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
import torch
from torch import nn

from torchbook.drawing import networks

EDGE = torch.tensor([[-1.0, 0.0, 1.0]] * 3)


def _picture() -> torch.Tensor:
    picture = torch.zeros(5, 5)
    picture[:, 3:] = 1
    return picture


def test_lines_are_told_with_what_they_make_of_each_point() -> None:
    words = networks.line_fits([(1, 5), (3, 9)], {"start": (1, 0), "end": (2, 2)}).words
    assert words == (
        "start: y = 1 x + 0; end: y = 2 x + 2; at x = 1 the point is 5 and the last line 4; "
        "at x = 3 the point is 9 and the last line 8."
    )


def test_axes_and_the_dashed_distances_are_named() -> None:
    drawing = networks.line_fits([(1, 5)], {"one": (1, 0), "two": (2, 2)}, xlabel="distance", ylabel="price")
    assert all(f">{words}<" in drawing.svg() for words in ("distance", "price", "distance to the line two"))
    assert drawing.words.startswith("price over distance; ")


def test_a_point_on_the_last_line_has_no_error() -> None:
    def strokes(fit: tuple[float, float]) -> int:
        return networks.line_fits([(1, 5), (3, 9)], {"fit": fit}).svg().count("stroke-dasharray")

    assert strokes((1, 0)) - strokes((2, 3)) == 2


def test_names_of_lines_that_end_at_one_height_do_not_cover_each_other() -> None:
    svg = networks.line_fits([(1, 5)], {"one": (2, 3), "two": (2, 3), "three": (2, 3)}).svg()
    heights = [float(re.search(rf'y="([^"]*)"[^>]*>{name}<', svg)[1]) for name in ("one", "two", "three")]  # type: ignore[index]
    assert min(abs(a - b) for a, b in ((heights[0], heights[1]), (heights[1], heights[2]))) >= 17


@pytest.mark.parametrize("fits", [{}, {str(n): (1.0, 0.0) for n in range(4)}])
def test_no_lines_or_too_many_are_refused(fits: dict[str, tuple[float, float]]) -> None:
    with pytest.raises(ValueError, match="one to three lines"):
        networks.line_fits([(1, 5)], fits)


def test_a_window_makes_what_conv2d_makes() -> None:
    drawing = networks.window(_picture(), EDGE, (1, 1))
    assert "the sum is 3" in drawing.words
    assert "covers rows 1 to 3 and columns 1 to 3" in drawing.words


def test_a_window_marks_its_pixels_and_its_output() -> None:
    svg = networks.window(_picture(), EDGE, (0, 2)).svg()
    assert svg.count("--viz-1") == 9 + 1  # and the legend's
    assert svg.count("--viz-2") == 1 + 1


@pytest.mark.parametrize("place", [(3, 0), (0, -1)])
def test_a_place_outside_of_the_output_is_refused(place: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=r"shape \(3, 3\)"):
        networks.window(_picture(), EDGE, place)


def test_a_picture_that_no_phone_shows_is_refused() -> None:
    with pytest.raises(ValueError, match="6 × 6"):
        networks.window(torch.zeros(7, 7), EDGE, (0, 0))


def test_shapes_are_those_of_the_run() -> None:
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 2))
    words = networks.shapes(model, torch.zeros(5, 1, 8, 8)).words
    assert "Conv2d gives (5, 4, 6, 6) and has 40 parameters" in words
    assert "Linear gives (5, 2) and has 290 parameters" in words


def test_a_drawn_model_keeps_no_hooks_and_no_graph() -> None:
    model = nn.Sequential(nn.Linear(2, 2))
    networks.shapes(model, torch.zeros(1, 2))
    assert not model[0]._forward_hooks
    assert model[0].weight.grad is None


def test_hooks_are_taken_away_when_the_model_refuses() -> None:
    model = nn.Sequential(nn.Linear(2, 2))
    with pytest.raises(RuntimeError):
        networks.shapes(model, torch.zeros(1, 3))
    assert not model[0]._forward_hooks


def test_labels_of_prices_that_are_close_do_not_cover_each_other() -> None:
    points = [(float(x), 2.0 * x + 3) for x in range(1, 9)] + [(9.0, 45.0)]
    svg = networks.line_fits(points, {"fit": (2, 3)}).svg()
    heights = sorted(float(y) for y in re.findall(r'y="([^"]*)" text-anchor="end"', svg))
    assert len(heights) > 2
    assert min(b - a for a, b in pairwise(heights)) > 14
