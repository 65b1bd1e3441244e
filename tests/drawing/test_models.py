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


def test_a_branch_leaves_the_stream_before_it_returns() -> None:
    assert models.norm_placements().words.startswith("In a pre-norm block the stream runs straight from top to bottom")


def test_what_a_token_collects_is_computed() -> None:
    keys, values = torch.tensor([[2.0, 0], [0, 2]]), torch.tensor([[10.0, 0], [0, 10]])
    drawing = models.collected(["cat", "saw"], 1, torch.tensor([3.0, 0]), keys, values)
    weight = (keys @ torch.tensor([3.0, 0]) / 2**0.5).softmax(0)[0].item()
    assert f"{weight:.2f} from cat" in drawing.words
    assert "(9.9, 0.1)" in texts(drawing)


def test_keys_without_values_collect_nothing() -> None:
    with pytest.raises(ValueError, match=r"2 words, keys of \(2, 2\) and values of \(3, 2\)"):
        models.collected("ab", 0, torch.ones(2), torch.ones(2, 2), torch.ones(3, 2))


def test_heads_have_the_elements_that_the_split_gives_them() -> None:
    said = texts(models.heads_in_memory(2, 6, 3))
    split = torch.arange(12).view(2, 6).unflatten(-1, (3, 2)).transpose(0, 1)
    below = [text for text in said if text.isdigit()][12:]
    assert below == [str(n) for n in split.flatten().tolist()]


@pytest.mark.parametrize(("tokens", "width", "heads"), [(5, 12, 5), (5, 10, 3), (6, 12, 3), (5, 24, 3)])
def test_heads_that_a_phone_does_not_show_are_refused(tokens: int, width: int, heads: int) -> None:
    with pytest.raises(ValueError, match="cannot be drawn"):
        models.heads_in_memory(tokens, width, heads)


def steps(*vectors: list[float]) -> list[tuple[str, torch.Tensor]]:
    return [(f"step {number}", torch.tensor(vector).float()) for number, vector in enumerate(vectors)]


def test_a_token_is_followed_through_a_block() -> None:
    vectors = [[1.0, 3], [-1, 1], [2, -0.5], [3, 2.5], [1, -1], [0, 0], [3, 2.5]]
    drawing = models.by_hand(steps(*vectors))
    assert "step 2: 2, \N{MINUS SIGN}0.5;" in drawing.words
    assert texts(drawing).count("+") == 2


def test_a_sum_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="'step 3' and 'step 5' do not add up to 'step 6'"):
        models.by_hand(steps([1.0, 3], [-1, 1], [1, 1], [2, 4], [-1, 1], [1, 1], [2, 4]))


def test_half_a_block_is_refused() -> None:
    with pytest.raises(ValueError, match="seven vectors"):
        models.by_hand(steps([1.0, 3], [-1, 1]))


def test_outputs_that_moved_are_named() -> None:
    table = torch.tensor([[False, False], [True, False]])
    drawing = models.reached({"one": table, "other": ~table & False}, edited=(1, 0))
    assert "one: token 0 of sequence 1; other: nothing." in drawing.words
    assert texts(drawing).count("E") == 2


def test_an_edit_outside_the_batch_is_refused() -> None:
    with pytest.raises(ValueError, match=r"do not fit a change at \(2, 0\)"):
        models.reached({"one": torch.ones(2, 2)}, edited=(2, 0))


def test_two_masks_are_drawn_as_they_are() -> None:
    lower = torch.ones(2, 3).tril(1).bool()
    drawing = models.masks({"left": lower, "right": ~lower}, ["q0", "q1"], ["k0", "k1", "k2"])
    assert drawing.words.startswith("left: q0 reads k0, k1; q1 reads k0, k1, k2. right: q0 reads k2; q1 reads nothing")


def test_a_single_mask_is_refused() -> None:
    with pytest.raises(ValueError, match="two masks of 1 queries and 1 keys"):
        models.masks({"left": torch.ones(1, 1)}, ["q"], ["k"])


def test_shapes_are_written_beside_the_parts() -> None:
    assert "(2, 5, 11)" in texts(models.from_ids_to_logits(2, 5, 8, 11))
    assert texts(models.through_attention(2, 5, 8, 4)).count("(2, 4, 5, 2)") == 2


def test_attention_refuses_heads_that_do_not_divide_the_width() -> None:
    with pytest.raises(ValueError, match="3 heads do not divide 8 channels"):
        models.through_attention(2, 5, 8, 3)


def test_a_tied_table_gives_the_logits() -> None:
    table = torch.tensor([[1.0, 0], [2, 1]])
    drawing = models.tied("ab", table, 1, {"attention": torch.tensor([1.0, 0]), "MLP": torch.tensor([-2.0, 1])})
    assert "attention adds (1, 0). MLP adds (\N{MINUS SIGN}2, 1). At the end, the sum (1, 2)" in drawing.words
    assert "the logits: a 1, b 4." in drawing.words
    assert texts(drawing).count("· (1, 2) =") == 2


def test_an_id_outside_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit 2 words"):
        models.tied("ab", torch.ones(2, 2), 2, {"attention": torch.ones(2), "MLP": torch.ones(2)})


def test_parameters_are_counted_by_name() -> None:
    model = torch.nn.ModuleDict({"table": torch.nn.Embedding(3, 2), "mlp": torch.nn.Linear(2, 6)})
    assert models.parameter_bars({"m": model}, {"rest": "", "MLP": "mlp"}).words == "m: rest 25 %, MLP 75 %."


def test_a_parameter_of_no_part_is_refused() -> None:
    with pytest.raises(ValueError, match="weight of m belongs to no part"):
        models.parameter_bars({"m": torch.nn.Linear(1, 1)}, {"MLP": "mlp"})
