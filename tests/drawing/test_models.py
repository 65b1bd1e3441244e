"""Drawings of transformers say what their numbers say."""

from __future__ import annotations

import re

import pytest
import torch

from torchbook.drawing import Drawing, models


def texts(drawing: Drawing) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawing.svg())


def test_each_block_has_two_norms_and_two_sums() -> None:
    said = texts(models.norm_placements())
    assert [said.count(what) for what in ("norm", "+", "attention", "MLP")] == [4, 4, 2, 2]


@pytest.mark.parametrize(
    ("keys", "kind", "shared"), [(8, "multi-head", 1), (2, "grouped-query", 4), (1, "multi-query", 8)]
)
def test_each_query_head_reads_one_head_of_keys(keys: int, kind: str, shared: int) -> None:
    drawing = models.head_sharing(8, keys)
    assert drawing.title == f"{kind} attention"
    assert f"{shared} of them read each" in drawing.words
    assert drawing.svg().count("<polygon") == 8
    assert sum(text.startswith("k") for text in texts(drawing)) == keys


@pytest.mark.parametrize(("queries", "keys"), [(8, 3), (8, 0), (16, 4)])
def test_heads_that_cannot_be_shared_are_refused(queries: int, keys: int) -> None:
    with pytest.raises(ValueError, match="do not divide"):
        models.head_sharing(queries, keys)


def test_a_mask_is_drawn_as_it_is() -> None:
    drawing = models.mask_grid(torch.ones(3, 3, dtype=torch.bool).tril(), "abc")
    assert drawing.words == "a reads a; b reads a, b; c reads a, b, c."
    assert drawing.svg().count("stroke-dasharray") == 3 + 1  # and the legend's


def test_a_mask_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 2\) does not fit 3 names"):
        models.mask_grid(torch.ones(2, 2), "abc")


def test_lora_counts_what_it_trains() -> None:
    w, a, b = torch.zeros(64, 256), torch.zeros(4, 256), torch.zeros(64, 4)
    said = texts(models.lora_layer(64, 256, 4))
    assert f"{w.numel():,}" in said
    assert f"{a.numel() + b.numel():,}, or {(a.numel() + b.numel()) / w.numel():.1%} of it" in said


def test_lora_without_a_rank_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        models.lora_layer(64, 64, 0)


def test_a_hand_stands_where_the_tables_turn_it() -> None:
    angles = torch.arange(4)[:, None] * torch.tensor([1.0, 0.25])
    drawing = models.turns(angles.cos(), angles.sin(), [0, 1])
    assert "channel 0 is turned by 1 radians" in drawing.words
    assert "channel 1 is turned by 0.25 radians" in drawing.words
    assert drawing.svg().count("<polygon") == 2 * 4


def test_a_query_and_a_key_that_move_together_keep_their_angle() -> None:
    drawing = models.turned_together((2.0, 0.0), (1.0, 1.0), [(5, 3), (105, 103), (3, 5)])
    same = "the cosine of the angle between them is 0.35"
    assert f"query at 5 and the key at 3, {same}" in drawing.words
    assert f"query at 105 and the key at 103, {same}" in drawing.words
    assert f"query at 3 and the key at 5, {same}" not in drawing.words
    assert drawing.svg().count("<polygon") == 3 * 2


def test_a_single_pair_of_positions_is_refused() -> None:
    with pytest.raises(ValueError, match="two or three pairs"):
        models.turned_together((2.0, 0.0), (1.0, 1.0), [(5, 3)])


def test_dials_without_tables_of_equal_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="equal tables"):
        models.turns(torch.ones(4, 2), torch.ones(3, 2), [0, 1])
