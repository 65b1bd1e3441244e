"""Drawings of recent models say what their numbers say."""

from __future__ import annotations

import re

import pytest

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


def test_a_sandwich_has_one_norm_more() -> None:
    assert texts(families.norm_sandwich()).count("norm") == 1 + 2
