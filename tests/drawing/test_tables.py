"""Drawings of tables say of indexing, reductions and broadcasting what torch does."""

from __future__ import annotations

import operator
import re

import pytest
import torch

from torchbook.drawing import tables

TABLE = torch.tensor([[2.0, 5.0, 3.0], [1.0, 6.0, 4.0]])


def _colored(svg: str, role: int) -> int:
    return svg.count(f"var(--viz-{role},")


def test_what_an_index_picks_is_what_torch_picks() -> None:
    drawing = tables.picked(TABLE, {"t[1]": 1, "t[:, 0]": (slice(None), 0), "t[t > 3]": TABLE > 3})
    assert drawing.words == (
        "t[1] picks 1, 6, 4, shape (3,); t[:, 0] picks 2, 1, shape (2,); t[t > 3] picks 5, 6, 4, shape (3,)."
    )
    assert _colored(drawing.svg(), 1) == 3 + 2 + 3


def test_nothing_picked_is_said() -> None:
    assert "t[t > 9] picks nothing, shape (0,)" in tables.picked(TABLE, {"t[t > 9]": TABLE > 9}).words


def test_an_element_is_found_again() -> None:
    drawing = tables.moved({"t": TABLE, "t.view(3, 2)": TABLE.view(3, 2), "t.flatten()": TABLE.flatten()}, 1)
    assert "t.view(3, 2), shape (3, 2), has 1 at row 1 column 1" in drawing.words
    assert "t.flatten(), shape (6,), has 1 at row 0 column 3" in drawing.words
    assert _colored(drawing.svg(), 1) == 3


def test_sums_are_those_of_torch() -> None:
    drawing = tables.summed(TABLE)
    assert "dim 0 adds down each column and gives 3, 11, 7" in drawing.words
    assert "dim 1 adds along each row and gives 10, 11" in drawing.words


@pytest.mark.parametrize(
    ("b", "copies"), [(torch.ones(3), 3), (torch.ones(2, 1), 4), (torch.tensor(1.0), 5), (torch.ones(2, 3), 0)]
)
def test_what_is_repeated_is_dashed(b: torch.Tensor, copies: int) -> None:
    svg = tables.stretched(TABLE, b, "+", operator.add).svg()
    dashed = re.findall(r"<rect [^>]*stroke-dasharray", svg)
    assert len(dashed) == copies + 1  # and the legend's


def test_drawings_fit_a_phone() -> None:
    names = {f"prices[[0, 1], [{n}, 1]]": ([0, 1], [n, 1]) for n in range(3)}
    assert tables.picked(TABLE, names).svg()
    assert tables.stretched(torch.ones(3, 4), torch.ones(4), "+", operator.add).svg()


@pytest.mark.parametrize("make", [lambda t: tables.picked(t, {}), tables.summed, lambda t: tables.moved({"t": t}, 0)])
def test_what_is_no_table_is_refused(make) -> None:
    with pytest.raises(ValueError, match="two dimensions"):
        make(torch.ones(2, 2, 2))


def test_a_table_says_its_names_and_colours_what_it_is_told_to() -> None:
    largest = TABLE.amax(1, keepdim=True) == TABLE
    drawing = tables.named("Costs", TABLE, ["a", "b"], ["x", "y", "z"], spec=".1f", roles={"read": largest})
    assert drawing.words == "a: x 2.0, y 5.0, z 3.0; b: x 1.0, y 6.0, z 4.0."
    assert _colored(drawing.svg(), 1) == 2


def test_a_cell_has_the_first_colour_that_it_is_given() -> None:
    drawing = tables.named("Costs", TABLE, "ab", "xyz", roles={"read": TABLE > 5, "write": TABLE > 4})
    assert (_colored(drawing.svg(), 1), _colored(drawing.svg(), 2)) == (1, 1)


def test_a_table_with_other_names_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 3\) has not 2 rows and 2 columns"):
        tables.named("Costs", TABLE, "ab", "xy")
