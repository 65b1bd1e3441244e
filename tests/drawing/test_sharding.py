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


def test_placements_show_what_each_rank_holds() -> None:
    held = {"Partial(sum)": [[[0, 0], [0, 2]], [[2, 3], [6, 9]]], "Shard(dim=0)": [[[2, 3]], [[6, 11]]]}
    drawing = sharding.placements(held)
    assert drawing.words == (
        "Partial(sum): rank 0 has 0 0 / 0 2, rank 1 has 2 3 / 6 9; Shard(dim=0): rank 0 has 2 3, rank 1 has 6 11."
    )
    assert [drawing.svg().count(f"var({color},") for color in ("--viz-2", "--viz-1")] == [8 + 1, 4 + 1]


def test_a_long_name_is_written_above_its_cells() -> None:
    lefts = []
    for name in ("Shard(0)", "Shard(0): fully_shard"):
        svg = sharding.placements({name: [[[1.0]], [[2.0]]]}).svg()
        lefts.append(min(float(x) for x in re.findall(r'<rect x="([\d.]+)"[^>]*height="24"', svg)))
    assert lefts == [112, 0]


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


def test_a_step_of_zero_is_said_with_its_numbers() -> None:
    scattered = sharding.handed_over("reduce-scatter", [[2, 4, 6, 8], [4, 6, 0, 4]], [[3, 5], [3, 6]])
    assert "rank 0 begins with 2 4 6 8 and ends with 3 5; rank 1 begins with 4 6 0 4" in scattered.words
    gathered = sharding.handed_over("all-gather", [[7, 15, 30, 40], [10, 20, 27, 34]], [[7, 15, 27, 34]] * 2)
    assert [one.svg().count("<polygon") for one in (scattered, gathered)] == [4, 4]
    assert [one.svg().count("stroke-dasharray") for one in (scattered, gathered)] == [4 + 1, 0]
    assert gathered.svg().count('stroke-opacity="0.55"') == 4 + 1  # out of date, and the legend


def test_arrows_cross_to_the_owner() -> None:
    svg = sharding.handed_over("reduce-scatter", [[2, 4, 6, 8], [4, 6, 0, 4]], [[3, 5], [3, 6]]).svg()
    lines = [
        [float(x) for x in one.split(" ")[0].split(",")[:1]] for one in re.findall(r'<polyline points="([^"]*)"', svg)
    ]
    ends = [float(one.split(" ")[-1].split(",")[0]) for one in re.findall(r'<polyline points="([^"]*)"', svg)]
    starts = [one[0] for one in lines]
    assert starts[0] == ends[0]  # rank 0 keeps its own half
    assert starts[1] < ends[1]  # and sends the other half across
    assert starts[3] > ends[3]
    assert starts[2] == ends[2]


@pytest.mark.parametrize(
    ("collective", "before", "after"),
    [("broadcast", [[1] * 4] * 2, [[1] * 4] * 2), ("all-gather", [[1] * 4] * 3, [[1] * 4] * 3)],
)
def test_other_steps_are_refused(collective: str, before: list[list[float]], after: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"reduce-scatter or all-gather|two ranks"):
        sharding.handed_over(collective, before, after)


def test_an_update_is_a_subtraction_on_the_own_half() -> None:
    drawing = sharding.updated_halves([[10, 20, 30, 40]] * 2, [[3, 5], [3, 6]], [[7, 15, 30, 40], [10, 20, 27, 34]])
    assert drawing.words == (
        "rank 0: w₀ 10 − 3 = 7; rank 0: w₁ 20 − 5 = 15; rank 1: w₂ 30 − 3 = 27; rank 1: w₃ 40 − 6 = 34."
    )
    assert drawing.svg().count('stroke-opacity="0.55"') == 4 + 1  # out of date, and the legend
    with pytest.raises(ValueError, match="two ranks with 2"):
        sharding.updated_halves([[1] * 4] * 2, [[1] * 4] * 2, [[1] * 4] * 2)


def test_stages_keep_16_12_10_and_8_numbers() -> None:
    drawing = sharding.kept_by_stage()
    assert re.findall(r"(\d+) numbers", drawing.words) == ["16", "12", "10", "8"]
    cells = re.findall(r">[wgmv][₀-₃]<", drawing.svg())
    assert len(cells) == 2 * (16 + 12 + 10 + 8)
    with pytest.raises(ValueError, match="2 or 4"):
        sharding.kept_by_stage(weights=3)


def test_what_is_sent_is_counted() -> None:
    drawing = sharding.sent_by_stage({"DDP": ["backward", "reduce", "gather gradients"], "three": ["gather"] * 2})
    assert (
        "DDP: backward, reduce, gather gradients; sends 2 times. three: gather, gather; sends 2 times" in drawing.words
    )
    with pytest.raises(ValueError, match="what happens is one of"):
        sharding.sent_by_stage({"DDP": ["sleep"]})


def test_four_copies_of_a_unit_are_sizes() -> None:
    assert sharding.unit_copies(235, 33.6).svg().count(">33.6 MB<") == 4
    with pytest.raises(ValueError, match="positive"):
        sharding.unit_copies(0, 1)


def test_padding_fills_the_last_piece() -> None:
    drawing = sharding.padded_rows([3, 3, 3, 1], 3)
    assert drawing.words.endswith("rank 2 has rows 6 to 8; rank 3 has row 9 and padding for 2.")
    assert drawing.svg().count(">padding<") == 2
    assert "rank 3 has no row and padding for 2" in sharding.padded_rows([2, 2, 1, 0], 2).words
    with pytest.raises(ValueError, match="ranks"):
        sharding.padded_rows([3], 2)


def test_collectives_are_summed_over_the_passes() -> None:
    drawing = sharding.collectives_by_pass({"default": [(5, 0), (4, 5), (5, 0), (4, 5)], "few": [(5, 0), (0, 0)] * 2})
    assert "default: forward 5 gathers 0 reductions, backward 4 gathers 5 reductions" in drawing.words
    svg = drawing.svg()
    assert svg.count(">18<") == svg.count(">10<") - 1 == 1  # few has ten gathers, too
    with pytest.raises(ValueError, match="four passes"):
        sharding.collectives_by_pass({"default": [(5, 0)]})


def test_events_lie_in_their_order() -> None:
    svg = sharding.issued({"backward": [("gather", 1), ("gather", 0), ("run", 1), ("run", 0)]}).svg()
    xs = [float(x) for x, h in re.findall(r'<rect x="([\d.]+)"[^>]*height="([\d.]+)"', svg) if h == "26"]
    assert xs == sorted(xs)
    assert len(xs) == 4
    with pytest.raises(ValueError, match="gather or a run"):
        sharding.issued({"backward": [("sleep", 1)]})


def test_a_rank_reads_the_files_that_overlap_with_its_rows() -> None:
    assert sharding.resharded(1000, 4, 2).words == (
        "rank 0 wants rows 0 to 499, from the files of rank 0, rank 1; "
        "rank 1 wants rows 500 to 999, from the files of rank 2, rank 3."
    )
    assert sharding.resharded(12, 2, 3).words.count("rank 0, rank 1") == 1  # the middle one
    with pytest.raises(ValueError, match="ranks"):
        sharding.resharded(1000, 8, 2)


def test_an_early_optimizer_holds_what_gets_no_gradients() -> None:
    assert sharding.early_optimizer().svg().count("<polygon") == 3


def test_a_flat_tensor_is_cut_across_parameters() -> None:
    assert sharding.flat_and_each({"w": 12, "b": 4}).words == (
        "FSDP1: one flat tensor, cut once: rank 0 has 8 of w and 0 of b, rank 1 has 4 of w and 4 of b; "
        "FSDP2: each parameter cut: rank 0 has 6 of w and 2 of b, rank 1 has 6 of w and 2 of b."
    )
    with pytest.raises(ValueError, match="even"):
        sharding.flat_and_each({"w": 3})
