"""PipelineSchedule: its order against torch.distributed.pipelining, its times against what may not happen."""

from __future__ import annotations

import ast
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock
from xml.etree import ElementTree

import pytest
import torch
import traitlets
from torch.distributed.pipelining import Schedule1F1B, ScheduleGPipe, ScheduleInterleaved1F1B

from torchbook.viz import PipelineSchedule
from torchbook.viz import schedule as of

from ..asking import Ask
from ..samples import Look, Sample, fill
from .launching import torchrun

HARNESS = "parallel"
PRESETS = sorted(of.setup()["presets"])
EMPTY = PipelineSchedule().setting


def settings(count: int, seed: int = 1, most: int = 33) -> list[dict[str, Any]]:
    """Random settings that PyTorch takes."""
    draw = random.Random(seed)
    cases: list[dict[str, Any]] = []
    while len(cases) < count:
        setting = {
            "kind": draw.choice(of.KINDS),
            "stages": draw.choice([2, 3, 4, 5, 8, draw.randrange(2, 17)]),
            "microbatches": draw.randrange(1, most),
            "virtual": draw.randrange(1, 5),
            "backward": draw.choice([1.0, 2.0, 0.5 * draw.randrange(1, 9), draw.uniform(0.25, 4)]),
            "hop": draw.choice([0.0, 0.0, 0.5, draw.uniform(0, 2)]),
        }
        if not of.refusal(setting["kind"], setting["stages"], setting["microbatches"]):
            cases.append(setting)
    return cases


# The order, against PyTorch


def stage(index: int, count: int, rank: int, ranks: int, log: list[tuple[str, int, int]]) -> Any:
    """A stage without a model that notes what a schedule tells it to compute, and sends nothing."""
    mock = MagicMock()
    mock.stage_index, mock.num_stages, mock.group_rank, mock.group_size = index, count, rank, ranks
    mock.is_first, mock.is_last, mock.has_backward = index == 0, index == count - 1, True
    mock.submod = torch.nn.Identity()
    for name in ("get_fwd_recv_ops", "get_fwd_send_ops", "get_bwd_recv_ops", "get_bwd_send_ops"):
        getattr(mock, name).return_value = []
    mock.forward_one_chunk.side_effect = lambda i, *_, **__: log.append(("F", index, i))
    mock.backward_one_chunk.side_effect = lambda i, *_, **__: log.append(("B", index, i))
    return mock


def executed(kind: str, ranks: int, microbatches: int, rank: int) -> list[tuple[str, int, int]]:
    """What PyTorch's schedule with one stage a rank computes, in turn."""
    log: list[tuple[str, int, int]] = []
    of_torch = {"gpipe": ScheduleGPipe, "1f1b": Schedule1F1B}[kind]
    run: Any = of_torch(stage(rank, ranks, rank, ranks, log), microbatches)
    run._initialize_stage = lambda *_, **__: None
    run._step_microbatches([()] * microbatches, [{}] * microbatches)
    return log


def interleaved(ranks: int, microbatches: int, virtual: int) -> Any:
    stages = [stage(local * ranks, ranks * virtual, 0, ranks, []) for local in range(virtual)]
    return ScheduleInterleaved1F1B(stages, microbatches)


LETTERS = {"FORWARD": "F", "FULL_BACKWARD": "B"}


def computed(actions: Any) -> list[tuple[str, int, int]]:
    """Forwards and backwards of a list of PyTorch's actions."""
    return [
        (LETTERS[action.computation_type.name], action.stage_index, action.microbatch_index)
        for action in actions
        if action is not None and action.computation_type.name in LETTERS
    ]


MICROBATCHES = (1, 2, 3, 4, 5, 6, 8, 12, 13, 19, 20)


@pytest.mark.parametrize("kind", ["gpipe", "1f1b"])
def test_order_is_what_pytorch_executes(kind: str) -> None:
    for ranks in range(1, 9):
        for microbatches in MICROBATCHES:
            for rank in range(ranks):
                if not of.refusal(kind, ranks, microbatches):
                    order = of.order(kind, ranks, microbatches, 1, rank)
                    assert order == executed(kind, ranks, microbatches, rank)


@pytest.mark.parametrize("kind", ["gpipe", "1f1b"])
def test_order_is_what_pytorch_lists(kind: str) -> None:
    """But for 1F1B on the last rank, whose list begins with micro-batch 1 in both versions; what runs does not."""
    for ranks, microbatches in [(2, 2), (3, 8), (4, 8), (8, 9)]:
        of_torch: Any = {"gpipe": ScheduleGPipe, "1f1b": Schedule1F1B}[kind]
        listed = of_torch(stage(0, ranks, 0, ranks, []), microbatches).pipeline_order
        for rank in range(ranks - (kind == "1f1b")):
            assert computed(listed[rank]) == of.order(kind, ranks, microbatches, 1, rank)


def test_order_is_pytorchs_interleaved() -> None:
    for ranks in range(2, 8):
        for microbatches in MICROBATCHES:
            for virtual in range(1, 5):
                if of.refusal("interleaved", ranks, microbatches):
                    continue
                run = interleaved(ranks, microbatches, virtual)
                for rank in range(ranks):
                    order = of.order("interleaved", ranks, microbatches, virtual, rank)
                    assert order == computed(run.pipeline_order[rank])
                    assert order == computed(run.pipeline_order_with_comms[rank])


def test_refused_is_what_pytorch_refuses() -> None:
    for ranks in range(2, 17):
        for microbatches in range(1, 33):
            for kind in of.KINDS:
                try:
                    if kind == "interleaved":
                        # the check stands before the order is made; two stages will do
                        if of.refusal(kind, ranks, microbatches) == "" and ranks * microbatches > 60:
                            continue
                        interleaved(ranks, microbatches, 2)
                    else:
                        cls: Any = {"gpipe": ScheduleGPipe, "1f1b": Schedule1F1B}[kind]
                        cls(stage(0, ranks, 0, ranks, []), microbatches)
                    refused = False
                except ValueError:
                    refused = True
                assert refused == bool(of.refusal(kind, ranks, microbatches)), (kind, ranks, microbatches)


# The times


def test_nothing_begins_before_what_it_needs_and_nothing_overlaps() -> None:
    for setting in settings(600, seed=2):
        ops = of.drawn(setting)
        p, v = setting["stages"], of._virtual(setting)
        last = p * v - 1
        at = {(op.kind, op.stage, op.microbatch): op for op in ops}
        assert len(at) == len(ops) == 2 * p * v * setting["microbatches"]
        for op in ops:
            assert op.rank == op.stage % p
            length = (1.0 if op.kind == "F" else setting["backward"]) / v
            assert op.end - op.start == pytest.approx(length)
            needs = [("F", op.stage - 1)] if op.kind == "F" else [("B", op.stage + 1), ("F", op.stage)]
            for kind, stage_ in needs:
                if 0 <= stage_ <= last:
                    before = at[kind, stage_, op.microbatch]
                    sent = 0.0 if before.rank == op.rank else setting["hop"]
                    assert before.end + sent <= op.start + 1e-9
        for rank in range(p):
            own = sorted((op for op in ops if op.rank == rank), key=lambda op: op.start)
            assert all(a.end <= b.start + 1e-12 for a, b in pairwise(own))
            order = [(op.kind, op.stage, op.microbatch) for op in own]
            assert order == of.order(setting["kind"], p, setting["microbatches"], v, rank)


def test_no_operation_could_begin_earlier() -> None:
    for setting in settings(300, seed=3):
        ops = of.drawn(setting)
        p = setting["stages"]
        at = {(op.kind, op.stage, op.microbatch): op for op in ops}
        before: dict[int, float] = {}
        for op in ops:
            needs = [("F", op.stage - 1)] if op.kind == "F" else [("B", op.stage + 1), ("F", op.stage)]
            ready = [before.get(op.rank, 0.0)]
            for kind, stage_ in needs:
                if (kind, stage_, op.microbatch) in at:
                    prior = at[kind, stage_, op.microbatch]
                    ready.append(prior.end + (setting["hop"] if prior.stage % p != op.rank else 0.0))
            assert op.start == pytest.approx(max(ready))
            before[op.rank] = op.end


def test_counted_bubble_is_the_formula() -> None:
    for setting in settings(1200, seed=4):
        if setting["kind"] == "interleaved" and setting["virtual"] > 1 and setting["microbatches"] < setting["stages"]:
            continue
        v = of._virtual(setting)
        ops = of.drawn({**setting, "hop": 0.0})
        rule = of.bubble_formula(setting["stages"], setting["microbatches"], v)
        assert of.bubble(ops) == pytest.approx(rule, abs=1e-9), setting
        ideal = setting["microbatches"] * (1 + setting["backward"])
        assert of.span(ops) / ideal - 1 == pytest.approx(
            (setting["stages"] - 1) / v / setting["microbatches"], abs=1e-9
        )


def test_bubble_is_larger_with_fewer_microbatches_than_ranks_when_interleaved() -> None:
    for stages in range(2, 9):
        for microbatches in range(1, stages):
            ops = of.schedule("interleaved", stages, microbatches, 2)
            assert of.bubble(ops) > of.bubble_formula(stages, microbatches, 2) + 1e-6


def test_activations_held_are_what_is_taught() -> None:
    for setting in settings(600, seed=5):
        p, m, v = setting["stages"], setting["microbatches"], of._virtual(setting)
        each = m // max(1, m // p)
        expected = {
            "gpipe": [m] * p,
            "1f1b": [min(m, p - rank) for rank in range(p)],
            "interleaved": [min((v - 1) * each + 2 * (p - 1 - rank) + 1, v * m) for rank in range(p)],
        }[setting["kind"]]
        assert of.held(of.drawn(setting)) == expected


def test_what_a_rank_keeps_is_what_it_holds_at_each_moment() -> None:
    for setting in settings(80, seed=15, most=13):
        ops = of.drawn(setting)
        for rank in range(setting["stages"]):
            kept = of.keeps(ops, rank)
            assert max(number for _, number in kept) == of.held(ops)[rank]
            assert kept[-1][1] == 0
            for time, number in kept:
                assert of.doing(ops, time)[rank].held == number


def test_what_stands_below_is_for_the_same_batch() -> None:
    for setting in settings(200, seed=16):
        below = of.rival(setting)
        assert below["kind"] != setting["kind"]
        assert {**below, "kind": "", "virtual": 0} == {**setting, "kind": "", "virtual": 0}
        if not of.refusal(below["kind"], below["stages"], below["microbatches"]):
            work = [sum(op.end - op.start for op in of.drawn(one)) for one in (setting, below)]
            assert work[0] == pytest.approx(work[1])
    assert (of.span(of.drawn(EMPTY)), of.span(of.drawn(of.rival(EMPTY)))) == (33, 28.5)
    assert "Below, Interleaved, 2 stages a rank takes 28.5, 4.5 shorter" in PipelineSchedule().words
    assert "Below, 1F1B takes 33, equally long" in PipelineSchedule(preset="gpipe").words
    assert "Below, 1F1B: PyTorch refuses it" in PipelineSchedule(preset="one").words


def test_messages_are_counted() -> None:
    for setting in settings(200, seed=6):
        p, v = setting["stages"], of._virtual(setting)
        assert of.messages(of.drawn(setting)) == 2 * setting["microbatches"] * (p * v - 1)


def test_doing_is_what_the_lanes_show() -> None:
    for setting in settings(60, seed=7, most=13):
        ops = of.drawn(setting)
        for time in of.moments(ops)[:: max(1, len(ops) // 40)]:
            for rank, now in enumerate(of.doing(ops, time)):
                runs = [op for op in ops if op.rank == rank and op.start <= time < op.end]
                assert ([now.op] if now.op else []) == runs
                begun = {
                    (op.stage, op.microbatch) for op in ops if op.rank == rank and op.kind == "F" and op.start <= time
                }
                ended = {
                    (op.stage, op.microbatch) for op in ops if op.rank == rank and op.kind == "B" and op.end <= time
                }
                assert now.held == len(begun - ended)
                if now.op is None and now.following is not None:
                    assert now.waits_for is not None


def test_notes_of_the_presets_are_true() -> None:
    for name, preset in of.setup()["presets"].items():
        setting = EMPTY | preset["set"]
        ops = of.drawn(setting)
        if name == "one":
            assert of.span(ops) == pytest.approx(4 * (1 + 2))
        if name == "gpipe":
            assert of.held(ops) == [8] * 4
            assert of.bubble(ops) == pytest.approx(of.bubble(of.schedule("1f1b", 4, 8)))
        if name == "more":
            assert of.bubble(ops) < 0.1
            assert of.held(ops) == of.held(of.schedule("1f1b", 4, 8))
        if name == "interleaved":
            assert of.messages(ops) == 2 * 8 * 7
            assert of.held(ops)[0] / 2 > 4
        if name == "sending":
            same: Any = {"hop": 0.5}
            assert of.span(ops) == pytest.approx(45)
            assert of.span(of.schedule("1f1b", 4, 8, **same)) == pytest.approx(41)
            assert of.span(of.schedule("interleaved", 4, 8, 2, **same)) == pytest.approx(35.5)
            assert of.span(of.schedule("gpipe", 4, 8, **same)) == pytest.approx(36)
            least = min((of.bubble(of.schedule("interleaved", 4, 8, v)), v) for v in (1, 2, 4))
            assert least[1] == 4


@pytest.mark.parametrize(("arguments", "message"), [
    (("zb",), "no schedule is called 'zb'"),
    (("1f1b", 4, 3), "at least as many micro-batches as stages"),
    (("interleaved", 4, 9, 2), "multiple of the number of rounds"),
    (("gpipe", 4, 8, 2), "one stage per rank"),
    (("gpipe", 0, 8), "at least one stage"),
])  # fmt: skip
def test_impossible_schedules_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        of.schedule(*arguments)


# The page


def test_page_draws_what_python_draws(ask: Ask, examples: int) -> None:
    every = settings(examples, seed=8, most=17)
    for first in range(0, len(every), 500):
        part = every[first : first + 500]
        for setting, page in zip(part, ask("schedule", part), strict=True):
            mine = [[op.rank, op.stage, op.microbatch, op.kind, op.start, op.end] for op in of.drawn(setting)]
            assert page == mine, setting


def test_page_counts_what_python_counts(ask: Ask) -> None:
    every = settings(500, seed=9)
    for setting, page in zip(every, ask("counts", every), strict=True):
        ops = of.drawn(setting)
        assert page[0] == of.span(ops)
        assert page[1] == pytest.approx(of.bubble(ops), abs=1e-12)
        assert page[2:] == [of.held(ops), of.messages(ops), of.moments(ops)]


def test_page_says_what_python_says(ask: Ask) -> None:
    draw = random.Random(10)
    every = [[setting, draw.randrange(60)] for setting in settings(400, seed=11)]
    for case, page in zip(every, ask("plan_words", every), strict=True):
        assert page == of.describe(*case), case


def test_page_refuses_what_python_refuses(ask: Ask) -> None:
    every = [[kind, p, m] for kind in of.KINDS for p in range(2, 17) for m in range(1, 33)]
    for case, page in zip(every, ask("refusal", every), strict=True):
        assert page == of.refusal(*case)
    pairs = [[kind, p] for kind in of.KINDS for p in range(2, 17)]
    for (kind, p), page in zip(pairs, ask("possible", pairs), strict=True):
        assert page == [m for m in range(1, 33) if not of.refusal(kind, p, m)]


@pytest.mark.parametrize(("state", "right"), [
    ({}, True), ({"kind": "gpipe", "microbatches": 1}, True), ({"microbatches": 1}, False), ({"kind": "zb"}, False),
    ({"kind": "interleaved", "virtual": 2, "microbatches": 9}, False), ({"cursor": 3}, True), ({"cursor": -1}, False),
    ({"stages": 1}, False), ({"stages": "4"}, False), ({"other": 1}, False), ([], False), (None, False),
])  # fmt: skip
def test_only_states_that_can_be_shown_are_taken_from_links(ask: Ask, state: Any, right: bool) -> None:
    assert ask("plan_state", [state]) == [right]


# Real ranks


@pytest.mark.parametrize("kind", of.KINDS)
def test_copied_code_trains_as_without_a_pipeline(ask: Ask, tmp_path: Path, kind: str) -> None:
    """The script asserts that its gradients are those of the whole model."""
    setting = {**EMPTY, "kind": kind, "stages": 2, "microbatches": 4, "virtual": 2}
    script = tmp_path / "pipeline.py"
    script.write_text(ask("plan_script", [setting])[0], encoding="utf-8")
    assert "gradients as without the pipeline" in torchrun(script, 2)


def test_copied_code_is_python_for_every_setting(ask: Ask) -> None:
    every = settings(60, seed=12)
    for setting, text in zip(every, ask("plan_script", every), strict=True):
        ast.parse(text)
        assert f"P, V, M = {setting['stages']}, {of._virtual(setting)}, {setting['microbatches']}" in text


# The figure


def test_states_of_the_figure() -> None:
    widget = PipelineSchedule(kind="1f1b", stages=4, microbatches=8)
    assert of.held(widget.ops) == [4, 3, 2, 1]
    widget.cursor = 9
    assert "moment 10 of 31" in widget.words
    widget.kind = "gpipe"
    assert "GPipe" in widget.words
    assert PipelineSchedule(kind="interleaved").virtual == 2
    assert PipelineSchedule(kind="interleaved", virtual=1).virtual == 1
    assert PipelineSchedule("interleaved", 4, 8, 4, backward=1.0).setting["virtual"] == 4


@pytest.mark.parametrize("arguments", [
    {"stages": 1}, {"stages": 17}, {"microbatches": 33}, {"microbatches": 3}, {"kind": "zb"},
    {"kind": "interleaved", "microbatches": 9}, {"virtual": 5}, {"hop": -1.0},
])  # fmt: skip
def test_wrong_arguments_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(traitlets.TraitError):
        PipelineSchedule(**arguments)


def test_what_pytorch_refuses_cannot_be_set_later() -> None:
    widget = PipelineSchedule()
    for name, value in [("microbatches", 3), ("stages", 9)]:
        with pytest.raises(traitlets.TraitError, match="at least as many"):
            setattr(widget, name, value)
    assert widget.setting == EMPTY
    with widget.hold_trait_notifications():
        widget.stages = 9
        widget.microbatches = 9
    assert widget.stages == 9
    with pytest.raises(ValueError, match="no preset is called 'five'"):
        PipelineSchedule(preset="five")


@pytest.mark.parametrize("preset", PRESETS)
def test_picture_is_drawn(preset: str) -> None:
    widget = PipelineSchedule(preset=preset)
    drawing = ElementTree.fromstring(widget.picture)
    assert drawing.get("aria-label") == widget.words
    assert len(drawing.findall(".//{http://www.w3.org/2000/svg}rect")) == len(widget.ops)


def test_torch_is_not_imported_for_the_figure() -> None:
    code = "import sys; import torchbook.viz.schedule, torchbook.viz.ring; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


# The figure among all figures


def sample() -> Sample:
    """How the test of all figures takes this one."""
    return Sample(
        make=PipelineSchedule,
        act=fill("moment", "5"), acted={"cursor": 4},
        other={"stages": 5},
        linked={"kind": "interleaved", "stages": 3, "microbatches": 8, "virtual": 3, "backward": 1.5, "hop": 0.25,
                "cursor": 5},
        broken=("=eyJzdGFnZXMiOjk5fQ", "=eyJtaWNyb2JhdGNoZXMiOjN9"),  # stages 99; 3 micro-batches
        looks=tuple(Look({"preset": name, "cursor": 9}) for name in ("gpipe", "more", "interleaved")),
        plain=({"preset": "interleaved"},),
    )  # fmt: skip
