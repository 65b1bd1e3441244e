"""Drawings of a program's lines say what changed, and when Python works."""

from __future__ import annotations

import re

import pytest

from torchbook.drawing import steps


def test_what_a_line_changes_is_marked() -> None:
    drawing = steps.changes({"before": (1, None), "backward": (1, 0.5), "step": (2, 0.5)}, ["w", "grad"])
    assert drawing.words == "backward: grad becomes 0.5; step: w becomes 2."
    assert drawing.svg().count("--viz-2") == 2 + 1  # and the legend's


def test_a_line_without_effect_says_so() -> None:
    assert "out: nothing changes" in steps.changes({"before": (1,), "out": (1,)}, ["w"]).words


@pytest.mark.parametrize("states", [{"before": (1,)}, {"before": (1,), "step": (1, 2)}])
def test_states_that_do_not_fit_their_columns_are_refused(states: dict[str, tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match="a value for every column"):
        steps.changes(states, ["w"])


def test_python_passes_once_where_the_graph_is_built_first() -> None:
    svg = steps.run_or_build(lines=2, calls=2).svg()
    at_once, built = svg.split("built, then run")
    assert [len(re.findall(">line<", half)) for half in (at_once, built)] == [4, 2]
    assert [len(re.findall(">run<", half)) for half in (at_once, built)] == [4, 4]


@pytest.mark.parametrize(("lines", "calls"), [(0, 1), (1, 0), (3, 3)])
def test_programs_that_cannot_be_read_are_refused(lines: int, calls: int) -> None:
    with pytest.raises(ValueError, match="6 in all at most"):
        steps.run_or_build(lines, calls)
