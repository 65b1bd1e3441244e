"""Drawings of a layer on two ranks hold the numbers that torch computes."""

from __future__ import annotations

import re

import pytest
import torch

from torchbook.drawing import Drawing, splits

X = torch.tensor([[1.0, 2]])
A = torch.tensor([[3.0, 1, 0, 1], [-1, 1, 2, 0]])
B = torch.tensor([[1.0, 2], [2, 0], [1, 1], [0, 3]])


def texts(drawing: Drawing) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawing.svg())


def test_pieces_lie_side_by_side_and_partial_sums_are_summed() -> None:
    drawing = splits.cut_product(X, A)
    assert "rank 0 computes (1, 3) and rank 1 (4, 1)" in drawing.words
    assert "rank 0 computes (3, 1, 0, 1) and rank 1 (−2, 2, 4, 0); an all-reduce adds them up to (1, 3, 4, 1)" in (
        drawing.words
    )
    svg = drawing.svg()
    owned = [svg.count(f"--viz-{number},") for number in (1, 3, 2)]  # rank 0, rank 1, the sum; a legend's box has one
    assert owned == [(4 + 2) + (1 + 4 + 4) + 1, (4 + 2) + (1 + 4 + 4) + 1, 4 + 1]


@pytest.mark.parametrize(("x", "a"), [(torch.ones(2), A), (X, B), (X, torch.ones(2, 6))])
def test_a_product_of_other_shapes_is_refused(x: torch.Tensor, a: torch.Tensor) -> None:
    with pytest.raises(ValueError, match="a row of 2 and a matrix of 2 rows"):
        splits.cut_product(x, a)


def test_columns_then_rows_need_one_sum() -> None:
    drawing = splits.columns_then_rows(X, A, B)
    out = ((X @ A).relu() @ B).tolist()[0]
    assert f"the sum ({out[0]:g}, {out[1]:g})" in drawing.words
    assert "rank 1 computes the hidden units (4, 1) and from them (4, 7)" in drawing.words
    assert {"11", "9", "−1", "partial sum"} <= set(texts(drawing))


def test_an_mlp_of_other_shapes_is_refused() -> None:
    with pytest.raises(ValueError, match="can be drawn, not"):
        splits.columns_then_rows(X, B, B)


def test_g_sums_forward_and_f_backward() -> None:
    parts = [torch.tensor([[7.0, 2]]), torch.tensor([[4.0, 7]])]
    back = [torch.tensor([[11.0, -1]]), torch.tensor([[3.0, 4]])]
    drawing = splits.both_passes(X, parts, back, torch.ones(1, 2))
    assert "g adds them up to (11, 9)" in drawing.words
    assert "f adds them up to (14, 3)" in drawing.words
    said = texts(drawing)
    assert [said.count(word) for word in ("sums", "copies", "passes")] == [2, 1, 1]


def test_passes_of_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="two ranks"):
        splits.both_passes(X, [X], [X, X], X)
    with pytest.raises(ValueError, match=r"shape \(1, 2\)"):
        splits.both_passes(X, [A, A], [X, X], X)


def test_each_rank_has_whole_heads() -> None:
    said = texts(splits.heads_on_ranks())
    assert all(f"{part}{head}" in said for part in "qkv" for head in range(4))
    assert [said.count(f"head {n}") for n in range(4)] == [1] * 4
