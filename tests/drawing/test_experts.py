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
