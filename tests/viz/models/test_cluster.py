"""The simulator of a training step: its rings message by message, and its predictions against ranks that run."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import pytest
import torch

from torchbook.viz import cluster, memory
from torchbook.viz.cluster import Simulation, groups_of, messages, simulate, simulate_mlp, simulate_pipeline, traffic

from .cluster_ranks import Net
from .launching import torchrun

KINDS = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all")
MIB = 2**20
Seen = dict[str, Any]


# Rings


def spread(count: int) -> list[list[int]]:
    draw = random.Random(3)
    return [[draw.randrange(9) for _ in range(draw.randrange(1, 12))] for _ in range(count)]


@pytest.mark.parametrize("kind", KINDS)
def test_traffic_is_the_sum_of_the_messages(kind: str) -> None:
    for sizes in spread(300):
        sent, received, many = ([0] * len(sizes) for _ in range(3))
        for message in messages(kind, sizes):
            sent[message.source] += message.size
            received[message.target] += message.size
            many[message.source] += 1
        assert (sent, received, many) == traffic(kind, sizes)


@pytest.mark.parametrize("kind", ["all_reduce", "reduce_scatter", "all_gather"])
def test_a_ring_leaves_what_the_collective_promises(kind: str) -> None:
    """Whose parts are in a piece, as a set, is carried along with the messages."""
    for ranks in range(1, 9):
        gathers = kind == "all_gather"
        has = [[{r} if not gathers or r == piece else set() for piece in range(ranks)] for r in range(ranks)]
        now: list[tuple[int, int, set[int]]] = []
        round_ = 0
        for message in [*messages(kind, [1] * ranks), None]:
            if message is None or message.round != round_:  # a round's messages leave at the same time
                for target, piece, parts in now:
                    has[target][piece] = has[target][piece] | parts
                now = []
            if message is not None:
                round_ = message.round
                now.append((message.target, message.piece, has[message.source][message.piece]))
        every = set(range(ranks))
        for r in range(ranks):
            if kind == "all_reduce":
                assert has[r] == [every] * ranks
            elif kind == "reduce_scatter":
                assert has[r][r] == every
            else:
                assert has[r] == [{piece} for piece in range(ranks)]


def test_an_unknown_collective_or_strategy_is_named() -> None:
    with pytest.raises(ValueError, match="no collective is called 'gossip'"):
        list(messages("gossip", [1, 2]))
    with pytest.raises(ValueError, match="no strategy is called 'zero1'"):
        simulate("zero1", [[(2,)]], 2)


def test_pieces_are_those_of_torch_chunk() -> None:
    for elements in range(1, 40):
        for ranks in range(1, 12):
            cut = [len(piece) for piece in torch.arange(elements).chunk(ranks)]
            assert cluster.pieces(elements, ranks) == cut + [0] * (ranks - len(cut))


# Groups of parameters


@pytest.mark.parametrize("name", list(memory.setup()["models"]))
def test_shapes_of_a_model_are_all_of_its_parameters(name: str) -> None:
    model = memory.model_of(name)
    groups = groups_of(model)
    assert len(groups) == model.layers + 1
    assert sum(prod(shape) for group in groups for shape in group) == memory.parameters(model).total


def test_groups_of_a_module() -> None:
    net = Net()
    root, *blocks = groups_of(net, [net[1], net[2]])
    assert root == [(30, 10), (30,), (7, 30), (7,)]
    assert [len(group) for group in blocks] == [6, 6]
    assert sum(prod(shape) for shape in [*root, *blocks[0], *blocks[1]]) == sum(p.numel() for p in net.parameters())


# Ranks that run


@pytest.fixture(scope="module", params=[2, 4], ids=["2 ranks", "4 ranks"])
def measured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Seen]:
    """What each rank saw."""
    folder = tmp_path_factory.mktemp(f"ranks{request.param}")
    script = Path(shutil.copy(Path(__file__).with_name("cluster_ranks.py"), folder))
    torchrun(script, request.param)
    return [json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(request.param)]


def predicted(what: str, ranks: int) -> Simulation:
    net = Net()
    sharded = groups_of(net, [net[1], net[2]])
    cap = 0.01 * MIB
    predictions: dict[str, Callable[[], Simulation]] = {
        "ddp": lambda: simulate("ddp", groups_of(net), ranks),
        "small buckets": lambda: simulate("ddp", groups_of(net), ranks, cap=cap, first=cap),
        "fsdp": lambda: simulate("fsdp", sharded, ranks),
        "fsdp bf16": lambda: simulate("fsdp", sharded, ranks, gather=2, reduce=4),
        "zero2": lambda: simulate("zero2", sharded, ranks),
        "two micro-batches": lambda: simulate("fsdp", sharded, ranks, micros=2),
        "mlp": lambda: simulate_mlp(ranks, 15, 8, 24),
        "first mlp": lambda: simulate_mlp(ranks, 15, 8, 24, input_grad=False),
    }
    return predictions[what]()


@pytest.mark.parametrize(
    "what", ["ddp", "small buckets", "fsdp", "fsdp bf16", "zero2", "two micro-batches", "mlp", "first mlp"]
)
def test_prediction_is_what_the_ranks_did(measured: list[Seen], what: str) -> None:
    """Every collective in its order, its elements and bytes; and the state of every rank, to the byte."""
    step = predicted(what, len(measured))
    calls = [[c.kind, c.elements, c.element] for c in step.collectives for _ in range(c.count)]
    for rank, saw in enumerate(measured):
        assert saw[what]["seen"] == calls
        assert saw[what]["calls"] == sum(step.counts.values())
        assert saw[what]["parameters"] == step.parameters[rank]
        assert saw[what]["gradients"] == step.gradients[rank]
        assert saw[what]["optimizer"] == step.optimizer[rank]


def test_pipeline_sends_what_is_predicted(measured: list[Seen]) -> None:
    ranks = len(measured)
    step = simulate_pipeline(ranks, 4, 2 * 6)  # four micro-batches of two rows
    for rank, saw in enumerate(measured):
        sends = saw["pipeline"]["seen"]
        assert sends == [["send", 12, 4]] * step.messages[rank]
        assert sum(n * size for _, n, size in sends) == step.sent[rank]
    assert step.counts == {"send": sum(step.messages)}


# At any scale


def test_a_thousand_ranks() -> None:
    groups = groups_of(memory.model_of("8b"))
    size = 4 * memory.parameters(memory.model_of("8b")).total
    few, many = (simulate("ddp", groups, ranks) for ranks in (8, 1024))
    assert max(many.sent) == pytest.approx(2 * size * 1023 / 1024, rel=1e-3)
    assert max(many.sent) / max(few.sent) == pytest.approx((1023 / 1024) / (7 / 8), rel=1e-3)
    sharded = simulate("fsdp", groups, 1024, gather=2)
    assert sharded.counts == {"all_gather": 65, "reduce_scatter": 33}
    assert sharded.state[0] * 1024 == pytest.approx(sum(many.state) / 1024, rel=0.01)
    assert sum(sharded.sent) == sum(sharded.received)


def test_one_rank_sends_nothing() -> None:
    for strategy in ("ddp", "zero2", "fsdp"):
        assert simulate(strategy, [[(3, 5)], [(2,)]], 1).sent == (0,)
    assert simulate_pipeline(1, 4, 8).counts == {}
    assert simulate_mlp(1, 4, 8, 16).sent == (0,)
