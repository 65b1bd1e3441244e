"""Drawings of sharded models say what their numbers say."""

from __future__ import annotations

import re

import pytest

from torchbook.drawing import sharding


def test_stages_of_zero_hold_what_its_paper_says() -> None:
    words = sharding.zero_stages(7.5e9, 64).words
    assert re.findall(r"stage \d ([\d.]+) GB", words) == ["120.0", "31.4", "16.6", "1.9"]


def test_bars_have_the_lengths_of_their_bytes() -> None:
    svg = sharding.zero_stages(1e9, 4, weight=2, gradient=2, state=4).svg()
    bars = [float(w) for w, h in re.findall(r'<rect [^>]*width="([\d.]+)" height="([\d.]+)"', svg) if h == "26"]
    assert len(bars) == 12
    assert [sum(bars[i : i + 3]) / sum(bars[:3]) for i in (0, 3, 6, 9)] == pytest.approx(
        [1, 5 / 8, 3.5 / 8, 2 / 8], rel=1e-4
    )


def test_nothing_held_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        sharding.zero_stages(0, 4)


def test_what_is_held_is_as_long_as_it_is_large() -> None:
    rows = {"one": {"parameters": 1.0, "optimizer": 2.0}, "two": {"parameters": 1.0, "buckets": 0.5}}
    drawing = sharding.memory_bars(rows, limit=3.5, unit=" GB")
    assert drawing.words == (
        "one: parameters 1 GB, optimizer 2 GB; two: parameters 1 GB, buckets 0.5 GB. The memory ends at 3.5 GB."
    )
    found = re.findall(r'<rect [^>]*width="([\d.]+)" height="([\d.]+)"', drawing.svg())
    bars = [float(width) for width, height in found if height == "26"]
    assert [bar / bars[0] for bar in bars] == pytest.approx([1, 2, 1, 0.5], rel=1e-4)


@pytest.mark.parametrize("rows", [{}, {"one": {"tea": 1.0}}])
def test_unknown_kinds_are_refused(rows: dict[str, dict[str, float]]) -> None:
    with pytest.raises(ValueError, match="kinds are"):
        sharding.memory_bars(rows)


def test_rows_lie_where_a_rank_has_them() -> None:
    drawing = sharding.cut_rows({"by rows": [(0, 64), (128, 64)]}, rows=256)
    assert drawing.words == "by rows: rank 0 has 0–63, rank 1 has 128–191."
    first, second = re.findall(r'<rect x="([\d.]+)"[^>]* width="([\d.]+)"', drawing.svg())
    assert first[1] == second[1]
    assert float(second[0]) - float(first[0]) == pytest.approx(2 * float(first[1]), rel=1e-3)


@pytest.mark.parametrize("held", [[], [(200, 64)], [(0, 0)], [(-1, 4)]])
def test_rows_that_the_matrix_lacks_are_refused(held: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="rows"):
        sharding.cut_rows({"by rows": held}, rows=256)


@pytest.mark.parametrize("ranks", [2, 3])
def test_each_rank_has_its_columns_and_rows(ranks: int) -> None:
    svg = sharding.split_mlp(ranks).svg()
    assert [svg.count(f">{what}{rank}<") for what in "AB" for rank in range(ranks)] == [1] * (2 * ranks)
    assert svg.count("<polygon") == 4 * ranks


def test_more_ranks_than_can_be_read_are_refused() -> None:
    with pytest.raises(ValueError, match="2 or 3"):
        sharding.split_mlp(8)


def test_f_and_g_take_turns() -> None:
    drawing = sharding.mirrored_mlp()
    assert "Forward: f passes on, g sums. Backward, from right to left: g passes on, f sums." in drawing.words
    assert drawing.svg().count(">all-reduce<") == drawing.svg().count(">passes on<") == 2


def test_placements_show_what_each_rank_holds() -> None:
    held = {"Partial(sum)": [[[0, 0], [0, 2]], [[2, 3], [6, 9]]], "Shard(dim=0)": [[[2, 3]], [[6, 11]]]}
    drawing = sharding.placements(held)
    assert drawing.words == (
        "Partial(sum): rank 0 has 0 0 / 0 2, rank 1 has 2 3 / 6 9; Shard(dim=0): rank 0 has 2 3, rank 1 has 6 11."
    )
    assert [drawing.svg().count(f"var({color},") for color in ("--viz-2", "--viz-1")] == [8 + 1, 4 + 1]


@pytest.mark.parametrize("held", [{}, {"Cut(0)": [[[1.0]]]}, {"Replicate()": [[[1.0]]] * 4}])
def test_other_placements_are_refused(held: dict[str, list[list[list[float]]]]) -> None:
    with pytest.raises(ValueError, match="placements are"):
        sharding.placements(held)


def test_halves_of_a_fused_matrix_are_no_heads() -> None:
    assert sharding.fused_qkv(2).words == (
        "cut in halves: rank 0 has q0 q1 k0, rank 1 has k1 v0 v1; "
        "cut by heads: rank 0 has q0 k0 v0, rank 1 has q1 k1 v1."
    )
    assert sharding.fused_qkv(4).svg()
    with pytest.raises(ValueError, match="2 or 4"):
        sharding.fused_qkv(3)
