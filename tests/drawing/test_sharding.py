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


@pytest.mark.parametrize("ranks", [2, 3])
def test_each_rank_has_its_columns_and_rows(ranks: int) -> None:
    svg = sharding.split_mlp(ranks).svg()
    assert [svg.count(f">{what}{rank}<") for what in "AB" for rank in range(ranks)] == [1] * (2 * ranks)
    assert svg.count("<polygon") == 4 * ranks


def test_more_ranks_than_can_be_read_are_refused() -> None:
    with pytest.raises(ValueError, match="2 or 3"):
        sharding.split_mlp(8)
