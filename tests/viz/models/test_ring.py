"""RingAllReduce: its messages against torch's sums, against formulas, against the page and against real ranks."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import psutil
import pytest
import torch
import traitlets

from torchbook.viz import RingAllReduce
from torchbook.viz import ring as of
from torchbook.viz.scaling import naive_allreduce_time, ring_allreduce_time

from ..asking import Ask
from ..samples import Look, Sample, fill
from .launching import torchrun

HARNESS = "parallel"
PRESETS = sorted(of.setup()["presets"])
EMPTY = {name: field["value"] for name, field in of.setup()["fields"].items()}


def cases(count: int, seed: int = 1) -> list[list[list[int]]]:
    """Random vectors: 2 to 16 ranks, 1 to 48 elements."""
    draw = random.Random(seed)
    vectors = []
    for _ in range(count):
        ranks = draw.choice([2, 3, 4, 4, 5, 6, 7, 8, draw.randrange(2, 17)])
        elements = draw.choice([1, 2, 3, 4, 8, 16, draw.randrange(1, 49)])
        vectors.append([[draw.randrange(-99, 100) for _ in range(elements)] for _ in range(ranks)])
    return vectors


def settings(count: int, seed: int = 2) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    return [
        {
            "ranks": draw.randrange(2, 17),
            "elements": draw.randrange(1, 49),
            "size_mb": draw.choice([0.001, 0.064, 25.0, 100.0, draw.uniform(0.001, 1e5)]),
            "bandwidth_gbs": draw.choice([1.25, 25.0, 450.0, draw.uniform(0.01, 1000)]),
            "latency_us": draw.choice([0.0, 5.0, 10.0, draw.uniform(0, 10000)]),
            "seed": draw.randrange(1000),
        }
        for _ in range(count)
    ]


def flat(messages: Any) -> list[list[Any]]:
    return [[message.step, message.source, message.target, message.chunk, list(message.values)] for message in messages]


# The model


def test_all_ranks_end_with_what_torch_sums(examples: int) -> None:
    for values in cases(examples // 2):
        total = torch.tensor(values).sum(0).tolist()
        last = of.ring_steps(values)[-1]
        assert all(list(row) == total for row in last.vectors)
        assert all(sorted(held) == list(range(len(values))) for row in last.parts for held in row)


def test_chunks_are_those_of_tensor_split() -> None:
    for ranks in range(2, 17):
        for elements in range(1, 49):
            cut = torch.arange(elements).tensor_split(ranks)
            assert of.chunk_sizes(elements, ranks) == [len(chunk) for chunk in cut]


def test_parts_say_whose_numbers_are_summed() -> None:
    """In every state a chunk is the sum of just the ranks that are named."""
    for values in cases(100, seed=3):
        data = torch.tensor(values)
        for state in of.ring_steps(values):
            for rank, vector in enumerate(state.vectors):
                cut = torch.tensor(vector).tensor_split(len(values))
                for chunk, held in enumerate(state.parts[rank]):
                    assert len(set(held)) == len(held)
                    assert torch.equal(cut[chunk], data[list(held)].sum(0).tensor_split(len(values))[chunk])


def test_reduce_scatter_leaves_rank_r_with_chunk_r_plus_one() -> None:
    for values in cases(200, seed=4):
        ranks = len(values)
        steps = of.ring_steps(values)
        assert [state.phase for state in steps] == ["start", *[of.REDUCE] * (ranks - 1), *[of.GATHER] * (ranks - 1)]
        for rank, held in enumerate(steps[ranks - 1].parts):
            assert [len(part) == ranks for part in held] == [chunk == (rank + 1) % ranks for chunk in range(ranks)]


def test_every_rank_sends_and_receives_one_chunk_in_each_step() -> None:
    for values in cases(200, seed=5):
        ranks = len(values)
        for state in of.ring_steps(values)[1:]:
            assert [message.source for message in state.messages] == list(range(ranks))
            assert [message.target for message in state.messages] == [(rank + 1) % ranks for rank in range(ranks)]
            assert sorted(message.chunk for message in state.messages) == list(range(ranks))


def test_counted_elements_are_the_formula() -> None:
    for ranks in range(2, 33):
        for elements in (1, 2, 3, ranks - 1, ranks, 2 * ranks, 5 * ranks + 1, 48):
            sent = of.per_link(of.ring_messages([[0] * elements] * ranks), ranks)
            assert sum(sent) == 2 * (ranks - 1) * elements
            assert sum(sent) / ranks / elements == pytest.approx(of.factor(ranks), rel=1e-12)
            sizes = of.chunk_sizes(elements, ranks)
            assert sent == [2 * elements - sizes[(r + 1) % ranks] - sizes[(r + 2) % ranks] for r in range(ranks)]
            if elements % ranks == 0:
                assert set(sent) == {2 * (ranks - 1) * elements // ranks}


def test_other_ways_sum_too_and_send_as_much_in_all() -> None:
    for values in cases(500, seed=6):
        ranks, elements = len(values), len(values[0])
        total = torch.tensor(values).sum(0).tolist()
        for way in (of.gather_messages, of.tree_messages):
            sent, result = way(values)
            assert [list(vector) for vector in result] == [total] * ranks
            assert of.traffic(sent, ranks).total == 2 * (ranks - 1) * elements
        high = (ranks - 1).bit_length()
        gather, tree = (of.traffic(way(values)[0], ranks) for way in (of.gather_messages, of.tree_messages))
        assert (gather.steps, gather.busiest) == (2 * (ranks - 1), (ranks - 1) * elements)
        assert (tree.steps, tree.busiest) == (2 * high, high * elements)
        ring = of.traffic(of.ring_messages(values), ranks)
        assert ring.steps == 2 * (ranks - 1)
        assert ring.busiest <= 2 * elements


def test_nobody_sends_what_it_does_not_have() -> None:
    """Within a step of gather and tree a rank sends once at most, and no rank both sends and receives."""
    for ranks in range(2, 33):
        for way in (of.gather_messages, of.tree_messages):
            sent, _ = way([[1]] * ranks)
            for step in {message.step for message in sent}:
                busy = [rank for message in sent if message.step == step for rank in (message.source, message.target)]
                assert len(set(busy)) == len(busy)


def test_times_are_those_of_the_scaling_calculator() -> None:
    for setting in settings(300):
        costs = of.costs(setting)
        size, wire, latency = setting["size_mb"] * 1e6, setting["bandwidth_gbs"] * 1e9, setting["latency_us"] * 1e-6
        if setting["elements"] % setting["ranks"] == 0:
            assert costs["ring"].seconds == pytest.approx(ring_allreduce_time(size, setting["ranks"], wire, latency))
        assert costs["gather"].seconds == pytest.approx(naive_allreduce_time(size, setting["ranks"], wire, latency))
        assert costs["ring"].latency == pytest.approx(2 * (setting["ranks"] - 1) * latency)


def test_notes_of_the_presets_are_true() -> None:
    costs = {name: of.costs(EMPTY | preset["set"]) for name, preset in of.setup()["presets"].items()}
    assert of.factor(2) == 1
    assert of.factor(16) == 1.875
    assert costs["small"]["ring"].latency > 0.95 * costs["small"]["ring"].seconds
    assert costs["small"]["tree"].seconds < costs["small"]["ring"].seconds / 2
    assert costs["slow"]["ring"].latency < 0.01 * costs["slow"]["ring"].seconds
    assert costs["slow"]["gather"].seconds / costs["slow"]["ring"].seconds == pytest.approx(8, rel=0.01)
    assert of.chunk_sizes(10, 4) == [3, 3, 2, 2]
    links = of.per_link(of.ring_messages([[0] * 10] * 4), 4)
    assert (min(links), max(links)) == (14, 16)
    assert of.chunk_sizes(3, 5).count(0) == 2


@pytest.mark.parametrize("values", [[], [[1]], [[1, 2], [1]]])
def test_what_is_no_ring_is_refused(values: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="at least two ranks"):
        of.ring_steps(values)


# The page


def test_page_sends_what_python_sends(ask: Ask, examples: int) -> None:
    every = cases(examples, seed=7)
    for first in range(0, len(every), 500):
        part = every[first : first + 500]
        for values, page in zip(part, ask("ring", part), strict=True):
            mine = [
                [state.step, state.phase, flat(state.messages), [list(v) for v in state.vectors],
                 [[list(held) for held in row] for row in state.parts]]
                for state in of.ring_steps(values)
            ]  # fmt: skip
            assert page == mine
        for values, page in zip(part, ask("others", part), strict=True):
            assert page == [flat(of.gather_messages(values)[0]), flat(of.tree_messages(values)[0])]


def test_page_has_the_same_numbers_and_costs(ask: Ask, examples: int) -> None:
    every = settings(examples // 2, seed=8)
    wanted = [[setting["ranks"], setting["elements"], setting["seed"]] for setting in every]
    for case, page in zip(wanted, ask("numbers", wanted), strict=True):
        assert page == of.numbers(*case)
        assert all(1 <= x <= 9 for row in page for x in row)
    for setting, page in zip(every, ask("costs", every), strict=True):
        assert page == {name: dataclasses.asdict(cost) for name, cost in of.costs(setting).items()}


def test_page_says_what_python_says(ask: Ask) -> None:
    draw = random.Random(9)
    every = [
        [setting, of.numbers(setting["ranks"], setting["elements"], setting["seed"]), draw.randrange(32)]
        for setting in settings(800)
    ]
    for case, page in zip(every, ask("ring_words", every), strict=True):
        assert page == of.describe(*case)


@pytest.mark.parametrize(("state", "right"), [
    ({}, True), ({"ranks": 2, "step": 2}, True), ({"ranks": 2, "step": 3}, False), ({"step": -1}, False),
    ({"ranks": 1}, False), ({"ranks": "4"}, False), ({"other": 1}, False), ([], False), (None, False),
    ({"ranks": 2, "elements": 1, "values": [[1], [2]]}, True), ({"values": [[1], [2]]}, False),
    ({"ranks": 2, "elements": 1, "values": [[1.5], [2]]}, False),
])  # fmt: skip
def test_only_states_that_can_be_shown_are_taken_from_links(ask: Ask, state: Any, right: bool) -> None:
    assert ask("ring_state", [state]) == [right]


# Real ranks


@pytest.mark.parametrize(("ranks", "elements"), [(2, 7), (4, 10)])
def test_copied_ring_is_dist_all_reduce(ask: Ask, tmp_path: Path, ranks: int, elements: int) -> None:
    """The script asserts that its sums are dist.all_reduce's and that it sent 2(K-1)n elements."""
    vectors = of.numbers(ranks, elements, 3)
    script = tmp_path / "ring.py"
    script.write_text(ask("ring_script", [vectors])[0], encoding="utf-8")
    output = torchrun(script, ranks)
    last = of.ring_steps(vectors)[-1]
    sent = sum(of.per_link(of.ring_messages(vectors), ranks)) / ranks
    assert output.strip() == f"{list(last.vectors[0])} elements sent per link, on average: {sent}"


def test_no_rank_outlives_a_failure(tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text(
        "import os, sys, time, pathlib\n"
        "rank = os.environ['RANK']\n"
        "pathlib.Path(__file__).with_name(rank).write_text(str(os.getpid()))\n"
        "while not pathlib.Path(__file__).with_name('0').exists(): time.sleep(0.1)\n"
        "sys.exit('one failed') if rank == '1' else time.sleep(600)\n",
        encoding="utf-8",
    )
    with pytest.raises(AssertionError, match=r"fails\.py FAILED"):
        torchrun(script, 2)
    pids = [int((tmp_path / rank).read_text()) for rank in ("0", "1")]
    assert not any(psutil.pid_exists(pid) for pid in pids)


# The figure


def test_states_of_the_figure() -> None:
    widget = RingAllReduce(ranks=4, elements=8)
    assert len(widget.steps) == 7
    widget.step = 3
    assert "Step 3 of 6" in widget.words
    widget.ranks = 2
    assert "Step 2 of 2" in widget.words
    assert RingAllReduce(step=99).step == 6
    custom = RingAllReduce(values=[[1, 2, 3], [10, 20, 30]], step=2)
    assert "All ranks hold the sum 11 22 33." in custom.words
    assert (custom.ranks, custom.elements) == (2, 3)
    custom.elements = 4
    assert custom.values == []
    assert torch.equal(torch.tensor(RingAllReduce(values=torch.eye(3).int().tolist()).vectors), torch.eye(3).int())


@pytest.mark.parametrize("arguments", [{"ranks": 1}, {"ranks": 17}, {"elements": 0}, {"values": [[1, 2], [3]]}])
def test_wrong_arguments_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(traitlets.TraitError):
        RingAllReduce(**arguments)
    with pytest.raises(ValueError, match="no preset is called 'five'"):
        RingAllReduce(preset="five")


@pytest.mark.parametrize("preset", PRESETS)
def test_picture_is_drawn(preset: str) -> None:
    widget = RingAllReduce(preset=preset, step=3)
    drawing = ElementTree.fromstring(widget.picture)
    assert drawing.get("aria-label") == widget.words
    texts = [text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert sum(text is not None and text.startswith("rank ") for text in texts) == widget.ranks


# The figure among all figures


def sample() -> Sample:
    """How the test of all figures takes this one."""
    return Sample(
        make=RingAllReduce,
        act=fill("step", "2"), acted={"step": 2},
        other={"elements": 5},
        linked={"values": [[5, 6, 7, 8]] * 3, "size_mb": 12.5, "step": 2},
        broken=("=eyJyYW5rcyI6OTl9", "=eyJzdGVwIjo5OX0"),  # ranks 99; step 99
        looks=tuple(Look({"preset": name, "step": 3}) for name in ("four", "sixteen", "few")),
        plain=({"preset": "sixteen", "step": 7},),
    )  # fmt: skip
