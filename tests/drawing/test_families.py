"""Drawings of recent models say what their numbers say."""

from __future__ import annotations

import re

import pytest
import torch

from torchbook.drawing import Drawing, families


def texts(drawing: Drawing) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawing.svg())


@pytest.mark.parametrize("norm", [True, False])
def test_queries_and_keys_pass_a_norm_and_values_do_not(norm: bool) -> None:
    said = texts(families.attention_path(64, heads=4, key_heads=2, head_dim=32, norm=norm))
    assert said.count("RMSNorm") == 2 * norm
    assert said.count("rotate") == 2


def test_sizes_of_queries_and_keys_are_drawn() -> None:
    said = texts(families.attention_path(64, heads=4, key_heads=2, head_dim=32))
    assert [said.count(what) for what in ("64 → 128", "64 → 64", "q: 4 × 32", "v: 2 × 32")] == [1, 2, 1, 1]


def test_slots_are_named_until_they_are_filled() -> None:
    empty, filled = texts(families.slot_map({})), texts(families.slot_map({"window": "6: window", "norm": "2: one"}))
    assert "attention_after" in empty
    assert "2: one" not in empty
    assert (filled.count("2: one"), filled.count("6: window"), filled.count("window")) == (2, 1, 0)


def test_a_slot_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="no slot rope"):
        families.slot_map({"rope": "slower"})


def test_turns_of_the_longer_text_are_said() -> None:
    drawing = families.seen_angles({"fast": (49, 392), "slow": (0.07, 0.55)})
    assert [text for text in texts(drawing) if text.endswith("turns")] == ["392 turns", "0.55 turns"]
    assert drawing.words.endswith("slow: 0.07 turns in training, 0.55 in the longer text.")


@pytest.mark.parametrize(("seen", "spokes"), [(0.5, 37 + 37), (1.0, 73), (3.0, 73)])
def test_each_angle_is_drawn_once(seen: float, spokes: int) -> None:
    svg = families.seen_angles({"a": (seen, 3.0), "b": (0.0, 0.0)}).svg()
    assert svg.count("<polyline") == spokes


@pytest.mark.parametrize("cases", [{"a": (1.0, 2.0)}, {"a": (-1.0, 2.0), "b": (1.0, 2.0)}])
def test_angles_that_cannot_be_drawn_are_refused(cases: dict[str, tuple[float, float]]) -> None:
    with pytest.raises(ValueError, match="two or three pairs"):
        families.seen_angles(cases)


def test_each_head_is_a_box() -> None:
    drawing = families.head_widths(64, {"plain": (4, 16), "wide": (4, 32)})
    assert drawing.svg().count("<rect") == 1 + 4 + 4
    assert [text for text in texts(drawing) if "channels" in text] == ["64 channels", "64 channels", "128 channels"]


@pytest.mark.parametrize("ways", [{}, {"none": (0, 16)}])
def test_heads_without_size_are_refused(ways: dict[str, tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="positive sizes"):
        families.head_widths(64, ways)


def test_lengths_of_a_turned_vector_are_said() -> None:
    circle = torch.tensor([[2.0, 0.0], [0.0, 2.0], [-2.0, 0.0]])
    drawing = families.tips({"kept": circle, "stretched": circle * torch.tensor([1.0, 0.5])})
    assert drawing.words == "kept: lengths between 2.00 and 2.00; stretched: lengths between 1.00 and 2.00."
    assert drawing.svg().count("<circle") == 2 * 3  # the dashed one, and two later positions


@pytest.mark.parametrize("shape", [(3, 3), (0, 2), (2,)])
def test_vectors_of_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="two channels"):
        families.tips({"a": torch.ones(3, 2), "b": torch.ones(shape)})


def test_each_layer_says_how_much_it_reads() -> None:
    read = torch.tensor([[False, False, True], [False, True, True]])
    assert families.window_reach(read, ["out", "in"]).words == "out: 1 of 3 tokens; in: 2 of 3 tokens."


@pytest.mark.parametrize(("shape", "names"), [((2, 3), ["one"]), ((1, 21), ["one"])])
def test_a_reach_that_cannot_be_drawn_is_refused(shape: tuple[int, int], names: list[str]) -> None:
    with pytest.raises(ValueError, match="one name a row"):
        families.window_reach(torch.ones(shape, dtype=torch.bool), names)


def test_memory_of_a_cache_is_summed() -> None:
    drawing = families.cached_layers(
        {"a": {"global layers": 4.0}, "b": {"global layers": 1.0, "local layers": 1.0}}, ""
    )
    assert [text for text in texts(drawing) if ":" in text] == ["a: 4", "b: 2"]


@pytest.mark.parametrize("rows", [{}, {"a": {"other layers": 1.0}}])
def test_a_cache_of_other_layers_is_refused(rows: dict[str, dict[str, float]]) -> None:
    with pytest.raises(ValueError, match="kinds are global layers, local layers"):
        families.cached_layers(rows, "")


def test_blocks_are_whole_partial_or_skipped() -> None:
    some, whole = torch.tensor([[1, 0], [1, 1]]).bool(), torch.tensor([[0, 0], [1, 0]]).bool()
    drawing = families.score_blocks(some, whole)
    assert drawing.words == "row 0: part of block 0; row 1: all of block 0, part of block 1."
    assert [text for text in texts(drawing) if text in ("all", "part")] == ["part", "all", "part"]


def test_blocks_of_two_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="two masks of one shape"):
        families.score_blocks(torch.ones(2, 2).bool(), torch.ones(2, 3).bool())


def test_a_sandwich_has_one_norm_more() -> None:
    assert texts(families.norm_sandwich()).count("norm") == 1 + 2
