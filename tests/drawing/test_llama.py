"""Drawings of Llama's parts say what torch computes."""

from __future__ import annotations

import math
import re

import pytest
import torch
from torch import nn

from torchbook.drawing import Drawing, llama


def texts(drawing: Drawing) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawing.svg())


def test_tokens_end_where_rms_norm_puts_them() -> None:
    drawing = llama.equal_lengths([(3.0, 4.0), (-4.0, 2.0), (0.5, -0.5)])
    a, b = nn.RMSNorm(2)(torch.tensor([3.0, 4.0])).tolist()
    assert f"(3, 4) becomes ({a:.2f}, {b:.2f})" in drawing.words
    assert "(−4, 2) becomes (−1.26, 0.63); (0.5, −0.5) becomes (1.00, −1.00)." in drawing.words
    assert drawing.svg().count("<polygon") == 3 * 2
    assert {"(0.5, −0.5)", "(1.00, −1.00)", "(0.85, 1.13)"} <= set(texts(drawing))


@pytest.mark.parametrize("tokens", [[], [(0.0, 0.0)], [(6.0, 1.0)]])
def test_tokens_that_cannot_be_drawn_are_refused(tokens: list[tuple[float, float]]) -> None:
    with pytest.raises(ValueError, match="between -5 and 5, and not 0"):
        llama.equal_lengths(tokens)


def test_a_gate_multiplies_what_it_guards() -> None:
    drawing = llama.gated([2.0, -6.0], [10.0, 10.0])
    assert "channel 0: the gate's 2 becomes 1.76 by SiLU, and times 10 this is 17.6" in drawing.words
    said = texts(drawing)
    assert {"1.76", "17.6", "−0.01", "−0.1"} <= set(said)
    assert [said.count(f"{name} (matrix)") for name in ("gate", "up", "down")] == [1, 1, 1]


@pytest.mark.parametrize(("gate", "up"), [([1.0], [1.0, 2.0]), ([1.0] * 4, [1.0] * 4), ([], [])])
def test_gates_that_cannot_be_drawn_are_refused(gate: list[float], up: list[float]) -> None:
    with pytest.raises(ValueError, match="1 to 3 of them"):
        llama.gated(gate, up)


def test_each_position_turns_the_arrow_once_more() -> None:
    drawing = llama.turned_by_position((2.0, 0.0), 1.0)
    assert drawing.title == "An arrow at four positions"
    assert f"at position 1 it ends at ({2 * math.cos(1):.2f}, {2 * math.sin(1):.2f})" in drawing.words
    assert "at position 3 it ends at (−1.98, 0.28)." in drawing.words
    assert drawing.svg().count("<polygon") == 4 + 3  # an arrow a position, an arc from each to the next


@pytest.mark.parametrize(
    ("point", "angle", "count"),
    [((0.0, 1.0), 1.0, 3), ((1.0, 0.0), 1.0, 5), ((1.0, 0.0), 0.1, 3), ((1.0, 0.0), 1.0, 1)],
)
def test_turns_that_cannot_be_drawn_are_refused(point: tuple[float, float], angle: float, count: int) -> None:
    with pytest.raises(ValueError, match="half a circle of turns"):
        llama.turned_by_position(point, angle, count)


def test_a_clock_for_each_pair_and_distance() -> None:
    drawing = llama.clocks([1.0, 0.01], [1, 2, 45])
    assert "turns by 1 for each position: cosine 0.54 at distance 1, cosine −0.42" in drawing.words
    assert "turns by 0.01 for each position: cosine 1.00 at distance 1" in drawing.words
    assert drawing.svg().count("<circle") == drawing.svg().count("<polygon") == 6


@pytest.mark.parametrize(("angles", "distances"), [([], [1]), ([1.0], []), ([1.0], [1, 2, 3, 4])])
def test_clocks_that_cannot_be_drawn_are_refused(angles: list[float], distances: list[int]) -> None:
    with pytest.raises(ValueError, match="one to three distances"):
        llama.clocks(angles, distances)


def test_reordered_halves_are_the_pairs_of_the_paper() -> None:
    words = llama.pairings([1.0, 2.0, 3.0, 4.0]).words
    assert words.count("the fast pair is 1 and 2, the slow pair 3 and 4") == 2
    assert "halves: the fast pair is 1 and 3, the slow pair 2 and 4" in words


def test_a_head_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="not of 6"):
        llama.pairings([0.0] * 6)
