"""Drawings of schedules say who has what when."""

from __future__ import annotations

import re

import pytest

from torchbook.drawing import schedules
from torchbook.viz.schedule import Op, schedule


def test_what_is_whole_is_said_moment_by_moment() -> None:
    drawing = schedules.whole_units([(0, [0, 1]), (1, [1]), (1, [1]), (0, [0])], units=2)
    assert drawing.words == (
        "forward of 0: 0, 1 whole; forward of 1: 1 whole; backward of 1: 1 whole; backward of 0: 0 whole."
    )
    assert [drawing.svg().count(f"var({color},") for color in ("--viz-1", "--viz-3")] == [4 + 1, 1 + 1]


@pytest.mark.parametrize("moments", [[], [(2, [0])], [(0, [0, 3])], [(0, [0])] * 11])
def test_recordings_that_cannot_be_drawn_are_refused(moments: list[tuple[int, list[int]]]) -> None:
    with pytest.raises(ValueError, match="1 to 10 moments"):
        schedules.whole_units(moments, units=2)


@pytest.mark.parametrize(("ranks", "hidden"), [(2, 1), (4, 6), (6, 15)])
def test_each_rank_meets_all_keys_and_the_mask_hides_half(ranks: int, hidden: int) -> None:
    drawing = schedules.ring_turns(ranks)
    pieces = re.findall(r">k(\d) v\1<", drawing.svg())
    assert [sorted(pieces[rank::ranks]) for rank in range(ranks)] == [sorted(map(str, range(ranks)))] * ranks
    assert f"{hidden} of {ranks * ranks} are not needed" in drawing.words


def test_without_a_mask_nothing_is_hidden() -> None:
    assert "stroke-dasharray" not in schedules.ring_turns(4, causal=False).svg()


@pytest.mark.parametrize("ranks", [1, 7])
def test_rings_that_cannot_be_read_are_refused(ranks: int) -> None:
    with pytest.raises(ValueError, match="2 to 6"):
        schedules.ring_turns(ranks)


def test_a_timetable_says_what_each_rank_begins_when() -> None:
    drawing = schedules.timetables({"GPipe": schedule("gpipe", 2, 2)})
    assert drawing.words == (
        "GPipe: rank 0 begins F0 at 0, F1 at 1, B0 at 5, B1 at 7; rank 1 begins F0 at 1, F1 at 2, B0 at 3, B1 at 5. "
        "A rank waits 33% of the time."
    )
    assert [drawing.svg().count(f">{name}<") for name in ("F0", "F1", "B0", "B1")] == [2, 2, 2, 2]


def test_passes_of_interleaved_stages_are_named_by_stage_and_micro_batch() -> None:
    drawing = schedules.timetables({"v = 2": schedule("interleaved", stages=2, microbatches=2, virtual=2)})
    assert "rank 0 begins forward of a0 at 0, forward of a1 at 0.5, forward of c0 at 1, " in drawing.words
    names = [f"{stage}{batch}" for stage in "abcd" for batch in (0, 1)]
    assert [drawing.svg().count(f">{name}<") for name in names] == [2] * 8


def test_a_batch_in_pieces_is_the_same_work() -> None:
    ways = {"one batch": schedule("gpipe", 2, 1), "4": schedule("gpipe", 2, 4, forward=1 / 4, backward=2 / 4)}
    svg = schedules.timetables(ways).svg()
    bars = [float(w) for w, h in re.findall(r'<rect [^>]*width="([\d.]+)" height="([\d.]+)"', svg) if h == "22"]
    whole, pieces = bars[: 2 * 2], bars[2 * 2 :]
    assert len(pieces) == 4 * len(whole)
    assert sum(pieces) == pytest.approx(sum(whole), rel=1e-4)


@pytest.mark.parametrize("ways", [{}, {"none": []}])
def test_no_pass_is_refused(ways: dict[str, list[Op]]) -> None:
    with pytest.raises(ValueError, match="at least one pass"):
        schedules.timetables(ways)


@pytest.mark.parametrize(("ranks", "batches"), [(2, 3), (4, 4), (6, 1)])
def test_in_a_staircase_each_rank_waits_for_the_others(ranks: int, batches: int) -> None:
    drawing = schedules.staircase(ranks, batches)
    svg = drawing.svg()
    assert [svg.count(f">F{number}<") for number in range(batches)] == [ranks] * batches
    assert svg.count("stroke-dasharray") == ranks * (ranks - 1) + 1
    assert f"Together this is {batches + ranks - 1} for each" in drawing.words


@pytest.mark.parametrize(("ranks", "batches"), [(1, 3), (7, 3), (2, 0), (2, 9)])
def test_staircases_that_cannot_be_read_are_refused(ranks: int, batches: int) -> None:
    with pytest.raises(ValueError, match="can be read"):
        schedules.staircase(ranks, batches)


def test_the_rank_with_the_most_work_is_marked() -> None:
    drawing = schedules.loads({"in order": [1, 3], "in turn": [2, 2]})
    assert drawing.words == "in order: rank 0 1, rank 1 3; in turn: rank 0 2, rank 1 2."
    assert [drawing.svg().count(f"var({color},") for color in ("--viz-1", "--viz-2")] == [3 + 1, 1 + 1]


@pytest.mark.parametrize("ways", [{}, {"none": []}, {"idle": [0, 0]}])
def test_no_work_is_refused(ways: dict[str, list[float]]) -> None:
    with pytest.raises(ValueError, match="at least one rank"):
        schedules.loads(ways)


def test_a_restart_goes_on_after_the_last_saved_epoch() -> None:
    drawing = schedules.restarted(before=2, after=3)
    assert "Epochs 0 to 1 run and are saved. Rank 1 is killed" in drawing.words
    assert "go on with epoch 2, until epoch 4" in drawing.words
    assert [drawing.svg().count(f">{epoch}<") for epoch in range(6)] == [2, 2, 2, 2, 2, 0]


@pytest.mark.parametrize(("before", "after", "victim"), [(0, 1, 0), (1, 0, 0), (1, 1, 2)])
def test_a_restart_without_a_before_is_refused(before: int, after: int, victim: int) -> None:
    with pytest.raises(ValueError, match="before and after"):
        schedules.restarted(before, after, victim=victim)


def test_no_sync_sends_once() -> None:
    svg = schedules.accumulated(4).svg()
    assert [svg.count(f"var({color},") for color in ("--viz-1", "--viz-2", "--viz-3")] == [8 + 1, 5 + 1, 2 + 1]


def test_two_ranks_end_together() -> None:
    svg = schedules.straggler(1.5).svg()
    found = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="26"', svg)
    ends = [float(x) + float(width) for x, width in found]
    assert len(ends) == 8
    assert ends[3] == pytest.approx(ends[7])
    assert ends[3] == pytest.approx(max(ends))


def test_neither_one_batch_nor_punctual_ranks_are_drawn() -> None:
    with pytest.raises(ValueError, match="2 to 6"):
        schedules.accumulated(1)
    with pytest.raises(ValueError, match="late"):
        schedules.straggler(0)


def test_a_bucket_is_sent_when_its_last_gradient_is_ready() -> None:
    drawing = schedules.bucketed({"small": [[7, 5, 3], [1, 6, 4], [2, 0]], "large": [[7, 5, 3, 1, 6, 4, 2, 0]]})
    assert drawing.words == (
        "small: layers 7 5 3 are sent after 3 of 8 gradients; small: layers 1 6 4 are sent after 6 of 8 gradients; "
        "small: layers 2 0 are sent after 8 of 8 gradients; "
        "large: layers 7 5 3 1 6 4 2 0 are sent after 8 of 8 gradients."
    )
    found = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="26"', drawing.svg())
    bars = [(float(x), float(y), float(width)) for x, y, width in found]
    small, large = bars[8:11], bars[-1]
    assert small[0][0] == pytest.approx(bars[3][0], abs=0.1)  # begins with the fourth gradient
    assert small[-1][0] + small[-1][2] < large[0] + large[2]  # ends earlier


def test_a_bucket_waits_for_the_one_before_it() -> None:
    svg = schedules.bucketed({"slow": [[1], [0]]}, sending=3).svg()
    bars = [
        (float(x), float(w)) for x, w in re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="26"', svg)
    ]
    assert bars[3][0] == pytest.approx(bars[2][0] + bars[2][1], abs=0.1)


@pytest.mark.parametrize("runs", [{}, {"none": []}, {"empty": [[]]}, {"twice": [[1], [1]]}])
def test_buckets_without_layers_are_refused(runs: dict[str, list[list[int]]]) -> None:
    with pytest.raises(ValueError, match=r"bucket"):
        schedules.bucketed(runs)


def test_a_bucket_is_full_when_it_has_reached_the_limit() -> None:
    drawing = schedules.filled({"3": 4, "2": 8, "1": 10, "0": 4}, limit=10)
    assert drawing.words == (
        "The limit is 10 bytes. after 3: 3, 4 bytes, waits; after 2: 3, 2, 12 bytes, full, sent; "
        "after 1: 1, 10 bytes, full, sent; after 0: 0, 4 bytes, sent, as it is the last."
    )
    bars = [
        float(w) for w, h in re.findall(r'<rect [^>]*width="([\d.]+)" height="([\d.]+)"', drawing.svg()) if h == "26"
    ]
    assert [bar / bars[0] for bar in bars] == pytest.approx([1, 1, 2, 2.5, 1], rel=1e-4)


@pytest.mark.parametrize(
    ("sizes", "limit"), [({}, 1), ({"0": 0}, 1), ({"0": 1}, 0), (dict.fromkeys("012345678", 1), 1)]
)
def test_buckets_that_cannot_be_filled_are_refused(sizes: dict[str, float], limit: float) -> None:
    with pytest.raises(ValueError, match="1 to 8 gradients"):
        schedules.filled(sizes, limit)


def test_messages_lie_where_they_travel() -> None:
    ready = [("1", 10.0), ("0", 20.0)]
    drawing = schedules.messages(
        ready, {"late": [("1 0", 20, 50)], "early": [("1", 10, 30), ("0", 30, 45)]}, latency=10
    )
    assert drawing.words == "late: 1 0 from 20 to 50 ms; early: 1 from 10 to 30 ms, 0 from 30 to 45 ms."
    found = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="26"', drawing.svg())
    bars = [(float(x), float(width)) for x, width in found]
    left, scale = bars[0][0], bars[0][1] / 10
    starts, lengths = [(x - left) / scale for x, _ in bars], [width / scale for _, width in bars]
    assert starts == pytest.approx([0, 10, 20, 30, 0, 10, 10, 20, 30, 40], abs=0.1)
    assert lengths == pytest.approx([10, 10, 10, 20, 10, 10, 10, 10, 10, 5], abs=0.1)


@pytest.mark.parametrize(
    ("ready", "ways"), [([], {"one": [("0", 0, 20)]}), ([("0", 1)], {}), ([("0", 1)], {"none": []})]
)
def test_no_messages_are_refused(
    ready: list[tuple[str, float]], ways: dict[str, list[tuple[str, float, float]]]
) -> None:
    with pytest.raises(ValueError, match="needs a message"):
        schedules.messages(ready, ways, latency=10)


def test_a_message_takes_more_than_its_latency() -> None:
    with pytest.raises(ValueError, match="latency, 10"):
        schedules.messages([("0", 1)], {"one": [("0", 1, 11)]}, latency=10)


def test_two_ranks_exchange_their_gradients_and_nothing_else() -> None:
    states: dict[str, list[list[float]]] = {
        "weights": [[1], [1]],
        "data": [[2], [4]],
        "own": [[2], [4]],
        "mean": [[3], [3]],
        "new": [[0.7], [0.7]],
    }
    drawing = schedules.averaged_step(states)
    assert drawing.words.startswith(
        "weights: rank 0 has 1, rank 1 has 1; data: rank 0 has 2, rank 1 has 4; own: rank 0 has 2, rank 1 has 4; "
    )
    assert drawing.svg().count("<polygon") == 2 + 4 + 2
    assert [drawing.svg().count(f">{text}<") for text in ("3", "0.7")] == [2, 2]


@pytest.mark.parametrize(
    "states",
    [{}, {key: [[1]] * 2 for key in "abcd"}, {key: [[1]] for key in "abcde"}, {key: [[1] * 5] * 2 for key in "abcde"}],
)
def test_steps_of_other_ranks_are_refused(states: dict[str, list[list[float]]]) -> None:
    with pytest.raises(ValueError, match="five states"):
        schedules.averaged_step(states)


def test_ddp_communicates_twice() -> None:
    svg = schedules.wrapped().svg()
    assert [svg.count(f">{text}<") for text in ("broadcast", "mean of the gradients", "optimizer")] == [1, 1, 2]


def test_numbers_lie_on_their_own_line() -> None:
    drawing = schedules.number_lines({"a": (0, 4, [[0, 2], [4]]), "b": (-2, 2, [[-2, 0], [2]])})
    assert drawing.words == "a: rank 0 has 0 and 2, rank 1 has 4; b: rank 0 has -2 and 0, rank 1 has 2."
    places = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', drawing.svg())]
    assert places[:3] == places[3:]
    assert places[1] - places[0] == places[2] - places[1]


@pytest.mark.parametrize("rows", [{}, {"a": (0, 1, [[2], [0]])}, {"a": (0, 1, [[0]])}])
def test_numbers_beyond_their_line_are_refused(rows: dict[str, tuple[float, float, list[list[float]]]]) -> None:
    with pytest.raises(ValueError, match="between its ends"):
        schedules.number_lines(rows)


def test_pairs_of_one_rank_are_compared() -> None:
    drawing = schedules.compared([2, 1])
    assert drawing.words == "2 ranks have 2, 1 examples. Of 9 pairs, 5 are on one rank, and 4 are not."
    assert drawing.svg().count("stroke-dasharray") == 4 + 1


@pytest.mark.parametrize("shares", [[], [2, 0], [8, 1]])
def test_shares_that_cannot_be_compared_are_refused(shares: list[int]) -> None:
    with pytest.raises(ValueError, match="at least one"):
        schedules.compared(shares)
