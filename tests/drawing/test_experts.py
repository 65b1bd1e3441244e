"""Drawings of mixtures and of latent attention say what their numbers say."""

from __future__ import annotations

import re

import pytest
import torch

from torchbook.drawing import Drawing, experts

WEIGHTS = torch.tensor([[0.75, 0.25], [0.5, 0.5], [0.9, 0.1]])
EXPERTS = torch.tensor([[2, 0], [0, 3], [2, 3]])


def texts(drawing: Drawing) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawing.svg())


def test_each_weight_is_drawn_at_its_expert() -> None:
    drawing = experts.routing(WEIGHTS, EXPERTS, 4)
    assert drawing.words.startswith("token 0 goes to expert 0 with weight 0.25 and expert 2 with weight 0.75;")
    assert [text for text in texts(drawing) if "." in text] == ["0.25", "0.75", "0.50", "0.50", "0.90", "0.10"]


def test_tokens_of_an_expert_are_counted() -> None:
    assert [text for text in texts(experts.routing(WEIGHTS, EXPERTS, 4)) if text.isdigit()] == ["2", "0", "2", "2"]


@pytest.mark.parametrize(("chosen", "count"), [(EXPERTS[:2], 4), (EXPERTS, 9)])
def test_routing_that_cannot_be_drawn_is_refused(chosen: torch.Tensor, count: int) -> None:
    with pytest.raises(ValueError, match="8 experts at most"):
        experts.routing(WEIGHTS, chosen, count)


def test_rows_are_sorted_by_expert_and_stay_in_order_within() -> None:
    said = texts(experts.sorted_rows(EXPERTS, 4))
    tokens = [text for text in said if re.fullmatch(r"t\d", text)]
    assert tokens[:6] == ["t0", "t0", "t1", "t1", "t2", "t2"]
    assert tokens[6:] == ["t0", "t1", "t0", "t2", "t1", "t2"]


def test_offsets_are_those_of_torch() -> None:
    ends = EXPERTS.flatten().bincount(minlength=4).cumsum(0).tolist()
    assert f"offs = {ends}" in texts(experts.sorted_rows(EXPERTS, 4))


@pytest.mark.parametrize("chosen", [torch.zeros(7, 2), torch.full((1, 2), 4), torch.zeros(0, 2)])
def test_rows_that_cannot_be_drawn_are_refused(chosen: torch.Tensor) -> None:
    with pytest.raises(ValueError, match="12 rows at most"):
        experts.sorted_rows(chosen.long(), 4)


def test_the_latent_cache_counts_what_it_keeps() -> None:
    said = texts(experts.latent_cache(width=64, heads=4, plain=16, turned=8, value=12, latent=20))
    assert "kept in the cache: 28 numbers" in said
    assert f"made when they are needed: {4 * (16 + 8 + 12)} numbers" in said


def test_specialists_are_shares_of_their_source() -> None:
    drawing = experts.specialists(torch.tensor([0, 0, 0, 0, 1]), torch.tensor([[1], [1], [1], [0], [2]]), 4)
    assert drawing.words == "source 0: 25 % to expert 0, 75 % to expert 1; source 1: 100 % to expert 2."
    assert [text for text in texts(drawing) if text.isdigit()] == ["25", "75", "100", "20", "60", "20", "0"]


@pytest.mark.parametrize(("source", "count"), [(torch.tensor([0, 1]), 4), (torch.tensor([0, 1, 8]), 4)])
def test_specialists_that_cannot_be_drawn_are_refused(source: torch.Tensor, count: int) -> None:
    with pytest.raises(ValueError, match="8 sources and 8 experts at most"):
        experts.specialists(source, EXPERTS, count)


def test_loads_are_drawn_in_percent() -> None:
    drawing = experts.loads({"a": torch.tensor([0.75, 0.25]), "b": torch.tensor([0.5, 0.5])})
    assert drawing.words == "a: 75 %, 25 %; b: 50 %, 50 %."
    assert "dashed: an even share, 50.0 %" in texts(drawing)


@pytest.mark.parametrize("runs", [{}, {"a": torch.ones(9)}, {"a": torch.ones(2), "b": torch.ones(3)}])
def test_loads_that_cannot_be_drawn_are_refused(runs: dict[str, torch.Tensor]) -> None:
    with pytest.raises(ValueError, match="8 at most"):
        experts.loads(runs)


def test_one_token_shows_scores_and_the_weight_of_the_chosen_expert() -> None:
    said = texts(experts.one_token({1: 0.7}, 3, scores=[0.2, 0.7, 0.1]))
    assert [text for text in said if "0." in text] == ["0.20", "0.70", "× 0.70", "0.10"]
    assert "shared" not in said


def test_only_the_chosen_expert_is_reached_by_an_arrow() -> None:
    assert experts.one_token({1: 0.7}, 3, scores=[0.2, 0.7, 0.1]).svg().count("<polygon") == 3  # to it, from it, above


def test_a_shared_expert_computes_every_token() -> None:
    drawing = experts.one_token({3: 0.6, 15: 0.4}, 16, shared=True)
    assert {"shared", "weights: 0.60, 0.40"} <= set(texts(drawing))
    assert "chooses 2 of 16 experts: expert 3 with weight 0.60 and expert 15 with weight 0.40" in drawing.words
    assert drawing.svg().count("stroke-dasharray") == 14 + 1  # and one in the legend


@pytest.mark.parametrize(("chosen", "count", "scores"), [({}, 3, []), ({3: 1.0}, 3, []), ({0: 1.0}, 3, [1.0])])
def test_a_token_that_cannot_be_drawn_is_refused(chosen: dict[int, float], count: int, scores: list[float]) -> None:
    with pytest.raises(ValueError, match="16 at most"):
        experts.one_token(chosen, count, scores=scores)


def test_experts_of_a_layer_are_boxes_in_rows() -> None:
    drawing = experts.expert_boxes([1, 3, 17], 24, row=8)
    assert drawing.words == "24 experts in 3 rows. The token uses 3 of them: 2 in row 0; 1 in row 2."
    assert drawing.svg().count("<rect") == 24 + 2  # and two in the legend
    assert [text for text in texts(drawing) if text.isdigit()] == ["0", "1", "2"]


@pytest.mark.parametrize(("chosen", "count", "row"), [([], 8, 8), ([8], 8, 8), ([0], 66, 33), ([0], 9, 8)])
def test_boxes_that_cannot_be_drawn_are_refused(chosen: list[int], count: int, row: int) -> None:
    with pytest.raises(ValueError, match="rows of 32 at most"):
        experts.expert_boxes(chosen, count, row)


def test_hidden_units_that_are_not_computed_are_dashed() -> None:
    drawing = experts.hidden_units({"dense": (2, [0, 1]), "mixture": (8, [5])}, 32)
    assert drawing.words == ("dense: 64 units, of which 64 are computed; mixture: 256 units, of which 32 are computed.")
    assert drawing.svg().count("stroke-dasharray") == 7 + 1  # and one in the legend


@pytest.mark.parametrize("networks", [{}, {"a": (9, [0])}, {"a": (2, [2])}])
def test_units_that_cannot_be_drawn_are_refused(networks: dict[str, tuple[int, list[int]]]) -> None:
    with pytest.raises(ValueError, match="8 blocks at most"):
        experts.hidden_units(networks, 32)


def test_rounded_scores_are_above_the_numbers_of_bfloat16() -> None:
    exact = {"e1": 0.1234, "e2": 0.1236}
    coarse = {name: torch.tensor(one).bfloat16().item() for name, one in exact.items()}
    drawing = experts.rounded(exact, coarse)
    assert drawing.words == "e1 is 0.12340, and 0.12354 in bfloat16; e2 is 0.12360, and 0.12354 in bfloat16."
    assert texts(drawing).count("e1") == 2


@pytest.mark.parametrize("coarse", [{"e2": 0.5}, {"e1": 0.6}, {"e1": -0.5}])
def test_scores_that_lie_apart_are_refused(coarse: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="lie close together"):
        experts.rounded({"e1": 0.5}, coarse)


def test_a_square_of_a_cache_is_a_head() -> None:
    drawing = experts.cache_squares({"all": 10 * 8, "small": 2 * 8 + 4}, 8, "small")
    assert drawing.words == "all: 80 numbers; small: 20 numbers."
    assert drawing.svg().count("<rect") == 10 + 3 + 2  # and two in the legend


@pytest.mark.parametrize(("head", "compressed"), [(8, "other"), (1, "all")])
def test_caches_that_cannot_be_drawn_are_refused(head: int, compressed: str) -> None:
    with pytest.raises(ValueError, match="among caches of"):
        experts.cache_squares({"all": 161}, head, compressed)


MATRIX, QUERY = torch.tensor([[1.0, 0], [1, 1]]), torch.tensor([2.0, 1])
LATENTS = torch.tensor([[1.0, 1], [2, -1]])


def test_both_ways_to_a_score_give_the_same_numbers() -> None:
    said = texts(experts.absorbed_query(MATRIX, QUERY, LATENTS))
    assert said.count("4") == said.count("5") == 2
    assert [said.count(one) for one in ("(1, 2)", "(2, 1)", "(3, 1)", "(2, −1)")] == [1, 1, 1, 2]
    assert [said.count(one) for one in ("W", "Wᵀ")] == [2, 1]


@pytest.mark.parametrize(("matrix", "many"), [(MATRIX, 2), (torch.ones(3, 2), 1)])
def test_vectors_that_cannot_be_drawn_are_refused(matrix: torch.Tensor, many: int) -> None:
    with pytest.raises(ValueError, match="three tokens at most"):
        experts.absorbed_query(matrix, QUERY, LATENTS.repeat(many, 1))


def test_vectors_are_named_and_said() -> None:
    drawing = experts.turned_away({"near": torch.tensor([3.0, 1]), "far": torch.tensor([-3.0, -1])})
    assert drawing.words == "near: (3, 1); far: (−3, −1)."
    assert texts(drawing) == ["near", "far"]


@pytest.mark.parametrize("vectors", [{}, {"a": torch.ones(3)}])
def test_arrows_that_cannot_be_drawn_are_refused(vectors: dict[str, torch.Tensor]) -> None:
    with pytest.raises(ValueError, match="vectors of two numbers"):
        experts.turned_away(vectors)


SCORES = torch.tensor([0.9, 0.1, 0.6, 0.5, 0.55, 0.3])


def test_groups_are_judged_by_the_sums_of_their_two_best() -> None:
    bias = torch.tensor([0.0, 0.0, -0.1, 0.0, 0.0, 0.2])
    drawing = experts.grouped_choice(SCORES, bias, kept=[2], chosen=[4, 5], groups=3)
    assert [text for text in texts(drawing) if "." in text] == ["1.00", "1.00", "1.05"]
    assert [texts(drawing).count(what) for what in ("out", "kept")] == [2, 1]
    assert drawing.words.endswith("Chosen are the experts 4, 5.")


@pytest.mark.parametrize(("bias", "groups"), [(torch.zeros(5), 3), (torch.zeros(6), 4)])
def test_choices_that_cannot_be_drawn_are_refused(bias: torch.Tensor, groups: int) -> None:
    with pytest.raises(ValueError, match="groups of one size"):
        experts.grouped_choice(SCORES, bias, [0], [0, 2], groups)
