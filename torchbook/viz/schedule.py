"""PipelineSchedule: who computes what and when in pipeline-parallel training, and how long the ranks wait.

The order of operations on a rank is that of torch.distributed.pipelining: ScheduleGPipe, Schedule1F1B and
ScheduleInterleaved1F1B. When each begins is a model: as soon as its rank is free and what it needs has arrived; all
stages take the same time, and sending occupies no rank. Times are in forwards of one micro-batch through all stages of
one rank.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import accumulate
from typing import Any

import traitlets

from torchbook.viz.base import Visualizer, contract, preset_of
from torchbook.viz.units import plain, several, significant

setup = partial(contract, "schedule")

KINDS = ("gpipe", "1f1b", "interleaved")


@dataclass(frozen=True)
class Op:
    """The forward or the backward of one micro-batch through one stage.

    Attributes:
        rank: where it runs.
        stage: number of the stage; stages of a rank are `rank`, `rank + p`, `rank + 2p`, ...
        microbatch: number of the micro-batch.
        kind: "F" or "B".
        start, end: when it runs.
    """

    rank: int
    stage: int
    microbatch: int
    kind: str
    start: float
    end: float


# The order


def refusal(kind: str, stages: int, microbatches: int) -> str:
    """Why PyTorch refuses this number of micro-batches; empty when it does not."""
    if kind == "1f1b" and microbatches < stages:
        return f"1F1B needs at least as many micro-batches as stages: {microbatches} is below {stages}"
    rounds = max(1, microbatches // stages)
    if kind == "interleaved" and microbatches % rounds:
        return (
            f"interleaved 1F1B needs a multiple of the number of rounds, max(1, m // p) = {rounds}: "
            f"{microbatches} is none"
        )
    return ""


def order(kind: str, stages: int, microbatches: int, virtual: int, rank: int) -> list[tuple[str, int, int]]:
    """What a rank does in turn: ("F" or "B", stage, micro-batch).

    Args:
        kind: "gpipe", "1f1b" or "interleaved".
        stages: number of ranks, p.
        microbatches: number of micro-batches, m.
        virtual: stages on each rank, v; 1 unless interleaved.
        rank: which rank.
    """
    p, m, v = stages, microbatches, virtual
    if kind == "gpipe":
        return [("F", rank, i) for i in range(m)] + [("B", rank, i) for i in range(m)]
    if kind == "1f1b":
        each, warm = m, min(m, p - 1 - rank)
    else:
        each = m // max(1, m // p)  # micro-batches that a stage takes before the rank turns to its next stage
        warm = min((v - 1) * each + 2 * (p - 1 - rank), v * m)
    forwards, backwards = [0] * v, [0] * v
    ops = []

    def add(letter: str, local: int, counts: list[int]) -> None:
        ops.append((letter, local * p + rank, counts[local]))
        counts[local] += 1

    for k in range(v * m + warm):
        if k < v * m:
            add("F", k // each % v, forwards)
        if k >= warm:
            add("B", v - 1 - (k - warm) // each % v, backwards)
    return ops


def schedule(
    kind: str = "1f1b",
    stages: int = 4,
    microbatches: int = 8,
    virtual: int = 1,
    forward: float = 1.0,
    backward: float = 2.0,
    hop: float = 0.0,
) -> list[Op]:
    """A pipeline schedule with its times.

    Args:
        kind: "gpipe", "1f1b" or "interleaved".
        stages: number of ranks, p. With `virtual` stages each, the model is cut in p·v stages.
        microbatches: number of micro-batches, m.
        virtual: stages on each rank, v; 1 unless interleaved.
        forward: time of one micro-batch's forward through all stages of one rank.
        backward: the same for its backward.
        hop: time from the end of an operation until what it sent is on another rank.

    Returns:
        The operations, in the order of their starts; those that start together by rank.

    Raises:
        ValueError: there is no such kind, or PyTorch refuses these numbers.

    Example:
        >>> ops = schedule("gpipe", stages=2, microbatches=2, backward=1.0)
        >>> [f"{op.kind}{op.microbatch}" for op in ops if op.rank == 1], ops[-1].end
        (['F0', 'F1', 'B0', 'B1'], 6.0)
    """
    if kind not in KINDS:
        raise ValueError(f"no schedule is called {kind!r}; there are {', '.join(KINDS)}")
    if kind != "interleaved" and virtual != 1:
        raise ValueError(f"{kind} has one stage per rank, not {virtual}; only interleaved has more")
    if min(stages, microbatches, virtual) < 1:
        raise ValueError("there must be at least one stage and one micro-batch")
    if refused := refusal(kind, stages, microbatches):
        raise ValueError(refused)
    p, v = stages, virtual
    last = p * v - 1
    orders = [order(kind, p, microbatches, v, rank) for rank in range(p)]
    ends: dict[tuple[str, int, int], float] = {}  # in units of 1/v, so that whole times add up without rounding
    free, at = [0.0] * p, [0] * p
    placed: list[Op] = []
    while len(placed) < 2 * p * v * microbatches:
        before = len(placed)
        for rank in range(p):
            while at[rank] < len(orders[rank]):
                letter, stage, i = orders[rank][at[rank]]
                if letter == "F":
                    needs = [("F", stage - 1, i)] if stage else []
                else:
                    needs = [("F", stage, i)] + ([("B", stage + 1, i)] if stage < last else [])
                if any(need not in ends for need in needs):
                    break
                start = free[rank]
                for need in needs:
                    start = max(start, ends[need] + (hop * v if need[1] % p != rank else 0.0))
                end = start + (forward if letter == "F" else backward)
                free[rank] = ends[letter, stage, i] = end
                at[rank] += 1
                placed.append(Op(rank, stage, i, letter, start / v, end / v))
        if len(placed) == before:
            raise RuntimeError("every rank waits for another")
    return sorted(placed, key=lambda op: (op.start, op.rank))


# What is counted


def span(ops: Sequence[Op]) -> float:
    """When the last operation ends."""
    return max(op.end for op in ops)


def bubble(ops: Sequence[Op]) -> float:
    """The fraction of all ranks' time in which they wait, counted from the operations.

    Example:
        >>> round(bubble(schedule("1f1b", stages=4, microbatches=8)), 4)
        0.2727
    """
    ranks = len({op.rank for op in ops})
    return 1 - sum(op.end - op.start for op in ops) / (ranks * span(ops))


def bubble_formula(stages: int, microbatches: int, virtual: int = 1) -> float:
    """(p-1)/(v·m+p-1), for all three kinds where sending takes no time; interleaved with m >= p."""
    return (stages - 1) / (virtual * microbatches + stages - 1)


def held(ops: Sequence[Op]) -> list[int]:
    """For each rank the most activations that it holds at once, counted: one for each micro-batch and stage.

    They are held from the start of the forward to the end of the backward. With v stages on a rank each is 1/v of what
    the rank's layers keep of one micro-batch.
    """
    ranks = max(op.rank for op in ops) + 1
    now, most = [0] * ranks, [0] * ranks
    for op in sorted(ops, key=lambda operation: operation.start):
        if op.kind == "F":
            now[op.rank] += 1
            most[op.rank] = max(most[op.rank], now[op.rank])
        else:
            now[op.rank] -= 1
    return most


def messages(ops: Sequence[Op]) -> int:
    """How many times something is sent from one rank to another."""
    where = {op.stage: op.rank for op in ops}
    last = max(where)
    forwards = sum(op.kind == "F" and op.stage < last and where[op.stage + 1] != op.rank for op in ops)
    return forwards + sum(op.kind == "B" and op.stage > 0 and where[op.stage - 1] != op.rank for op in ops)


def moments(ops: Sequence[Op]) -> list[float]:
    """The times at which something begins or ends, without the last."""
    return sorted({op.start for op in ops} | {op.end for op in ops})[:-1]


@dataclass(frozen=True)
class Doing:
    """What a rank does at a moment.

    Attributes:
        op: what runs; None while it waits.
        following: what it will do next; None after its last operation.
        waits_for: the letter and stage of what the next one still needs, if it does not run yet.
        held: activations that it holds.
    """

    op: Op | None
    following: Op | None
    waits_for: tuple[str, int] | None
    held: int


def doing(ops: Sequence[Op], time: float) -> list[Doing]:
    """What each rank does at a time."""
    ranks = max(op.rank for op in ops) + 1
    last = max(op.stage for op in ops)
    states = []
    for rank in range(ranks):
        own = sorted((op for op in ops if op.rank == rank), key=lambda op: op.start)
        begun = bisect_right([op.start for op in own], time)
        runs = own[begun - 1] if begun and own[begun - 1].end > time else None
        following = own[begun] if begun < len(own) else None
        needs = None
        if runs is None and following is not None:
            needs = ("F", following.stage - 1) if following.kind == "F" else ("B", following.stage + 1)
            if not 0 <= needs[1] <= last:
                needs = None
        inside = sum(op.kind == "F" for op in own[:begun]) - sum(op.kind == "B" and op.end <= time for op in own)
        states.append(Doing(runs, following, needs, inside))
    return states


def keeps(ops: Sequence[Op], rank: int) -> list[tuple[float, int]]:
    """How many activations a rank holds, and from when on."""
    steps = sorted((op.start, 1) if op.kind == "F" else (op.end, -1) for op in ops if op.rank == rank)
    return list(dict(zip([time for time, _ in steps], accumulate(by for _, by in steps), strict=True)).items())


# The figure


class PipelineSchedule(Visualizer):
    """A pipeline schedule as lanes over time: a lane for each rank, forwards and backwards with their micro-batches.

    Args:
        cursor: number of the moment at which the ranks are looked at.

    Attributes:
        ops: the schedule, as `schedule` returns it.

    Raises:
        ValueError: there is no such preset.
        traitlets.TraitError: a number is out of its range, or PyTorch refuses this number of micro-batches.

    Example:
        >>> held(PipelineSchedule(kind="1f1b", stages=4, microbatches=8).ops)
        [4, 3, 2, 1]
    """

    cursor = traitlets.Int(0, help="The moment that is looked at.").tag(sync=True)
    whole = traitlets.Bool(True, help="Fit the whole schedule into the width.").tag(sync=True)

    def __init__(self, kind: str | None = None, stages: int | None = None, microbatches: int | None = None,
                 virtual: int | None = None, *, preset: str | None = None, **traits: Any) -> None:  # fmt: skip
        given = {"kind": kind, "stages": stages, "microbatches": microbatches, "virtual": virtual}
        given = {name: value for name, value in given.items() if value is not None}
        ready = {} if preset is None else preset_of(setup(), preset)
        if kind == "interleaved" and {**ready, **given}.get("virtual", 1) == 1:
            given.setdefault("virtual", 2)
        super().__init__(**{**ready, **given, **traits})

    @property
    def ops(self) -> list[Op]:
        return drawn(self.setting)

    @traitlets.validate("kind", "stages", "microbatches")
    def _possible(self, proposal: Any) -> Any:
        now = {**self.setting, proposal["trait"].name: proposal["value"]}
        if refused := refusal(now["kind"], now["stages"], now["microbatches"]):
            raise traitlets.TraitError(refused)
        return proposal["value"]

    @traitlets.validate("cursor")
    def _check_cursor(self, proposal: Any) -> Any:
        return max(0, proposal["value"])

    def _describe(self) -> str:
        return describe(self.setting, self.cursor)

    def _draw(self) -> str:
        return _picture(self.setting, self.words)


def drawn(setting: Mapping[str, Any]) -> list[Op]:
    """The schedule of a setting, a mapping with the traits of `PipelineSchedule`."""
    return schedule(
        setting["kind"],
        setting["stages"],
        setting["microbatches"],
        _virtual(setting),
        1.0,
        setting["backward"],
        setting["hop"],
    )


def _virtual(setting: Mapping[str, Any]) -> int:
    return int(setting["virtual"]) if setting["kind"] == "interleaved" else 1


def rival(setting: Mapping[str, Any]) -> dict[str, Any]:
    """The setting that stands below a setting, to be compared."""
    if setting["kind"] == "1f1b":
        return {**setting, "kind": "interleaved", "virtual": max(2, setting["virtual"])}
    return {**setting, "kind": "1f1b"}


def gain(by: float) -> str:
    """How much longer one takes than another, in words."""
    if abs(by) < 1e-9:
        return "equally long"
    return f"{plain(float(f'{abs(by):.6g}'))} {'shorter' if by < 0 else 'longer'}"


def _label(setting: Mapping[str, Any]) -> str:
    interleaved = setting["kind"] == "interleaved"
    return (
        f"Interleaved, {setting['virtual']} stages a rank"
        if interleaved
        else str(setup()["kinds"][setting["kind"]]["label"])
    )


def _compare(setting: Mapping[str, Any], whole: float) -> str:
    """The schedule below in words."""
    below = rival(setting)
    if refused := refusal(below["kind"], below["stages"], below["microbatches"]):
        return f"Below, {_label(below)}: PyTorch refuses it, {refused}."
    ops, v = drawn(below), _virtual(below)
    peak = held(ops)[0]
    return (
        f"Below, {_label(below)} takes {plain(float(f'{span(ops):.6g}'))}, {gain(span(ops) - whole)}; its bubble is "
        f"{percent(bubble(ops))}, and rank 0 holds up to {plain(peak / v)} micro-batch{'es' * (peak != v)}."
    )


def percent(part: float) -> str:
    """A fraction in per cent, three digits; counted nothings of floating point are nothing."""
    return f"{significant(100 * part)} %" if part > 1e-9 else "0 %"


def name_of(op: Op, ranks: int, virtual: int) -> str:
    """An operation in words: "forward 3", or "forward 3 of stage 5"."""
    name = f"{'forward' if op.kind == 'F' else 'backward'} {op.microbatch}"
    return f"{name} of stage {op.stage}" if virtual > 1 else name


def tell(state: Doing, rank: int, ranks: int, virtual: int) -> str:
    """What a rank does, in words."""
    if state.op:
        what = name_of(state.op, ranks, virtual)
    elif state.following is None:
        what = "is done"
    else:
        source = "" if state.waits_for is None else f" for rank {state.waits_for[1] % ranks}"
        what = f"waits{source}, then {name_of(state.following, ranks, virtual)}"
    return f"rank {rank}: {what}, holds {state.held}"


def describe(setting: Mapping[str, Any], cursor: int) -> str:
    """The schedule, and what the ranks do at a moment, in sentences."""
    p, m, v = setting["stages"], setting["microbatches"], _virtual(setting)
    ops = drawn(setting)
    all_of = moments(ops)
    at = min(cursor, len(all_of) - 1)
    whole = span(ops)
    share, rule = bubble(ops), bubble_formula(p, m, v)
    formula = "(p−1)/(v·m+p−1)" if v > 1 else "(p−1)/(m+p−1)"
    match = "as" if abs(share - rule) < 1e-9 else "while"
    peaks = held(ops)
    many = f"{m} micro-batch{'es' * (m != 1)}"
    parts = f", {v} stages on each" if v > 1 else ""
    sending = f", sending {plain(setting['hop'])}" if setting["hop"] else ""
    of = f" stages' parts, {plain(peaks[0] / v)} whole micro-batches on rank 0" if v > 1 else " micro-batches"
    states = "; ".join(tell(state, rank, p, v) for rank, state in enumerate(doing(ops, all_of[at])))
    return (
        f"{setup()['kinds'][setting['kind']]['label']}, {p} ranks{parts}, {many}. A forward takes 1, a backward "
        f"{plain(setting['backward'])}{sending}; the whole takes {plain(whole)}, of which each rank works "
        f"{plain(m * (1 + setting['backward']))}. The bubble is {percent(share)} of the time, {match} {formula} = "
        f"{p - 1}/{v * m + p - 1} says{'' if match == 'as' else ' ' + percent(rule)}. Activations held at most, by "
        f"rank: {several([str(peak) for peak in peaks])}{of}. {messages(ops)} messages between ranks. "
        f"{_compare(setting, whole)} At time {plain(all_of[at])}, moment {at + 1} of {len(all_of)}: {states}."
    )


def _picture(setting: Mapping[str, Any], words: str) -> str:
    """Static drawing: the two schedules, one above the other on one time axis; of the lower one the boxes alone."""
    below = rival(setting)
    refused = refusal(below["kind"], below["stages"], below["microbatches"])
    pair = [(setting, drawn(setting)), (below, [] if refused else drawn(below))]
    left, high, gap = 56.0, 22, 6
    shortest = min(op.end - op.start for op in pair[0][1])
    longest = max(span(ops) for _, ops in pair if ops)
    wide = min(1000.0, max(620.0, 15 / shortest * longest))  # so that the shortest has room for its name
    scale = wide / longest
    most = max(held(ops)[0] / _virtual(of) for of, ops in pair if ops)
    deep = setting["stages"] * (high + gap)
    parts = []
    for number, (of, ops) in enumerate(pair):
        top = number * (deep + 62) + 18
        takes = f"{_label(of)}: {plain(float(f'{span(ops):.6g}'))}" if ops else f"{_label(of)}: PyTorch refuses this m"
        parts.append(f'<text x="{left}" y="{top - 6}" font-weight="650">{takes}</text>')
        for rank in range(of["stages"]):
            y = top + rank * (high + gap)
            parts.append(f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">rank {rank}</text>')
            parts.append(f'<path d="M{left} {y + high + 3}h{wide:g}" stroke="currentColor" stroke-opacity=".2"/>')
        if not ops:
            continue
        parts += (
            _boxes(of, ops, left, scale, top, high, gap) if number == 0 else _outlines(ops, left, scale, top, high, gap)
        )
        floor, peak, v = top + deep + 26, held(ops)[0], _virtual(of)
        steps = "".join(f"H{left + at * scale:.1f}V{floor - 24 * n / v / most:.1f}" for at, n in keeps(ops, 0))
        parts.append(f'<path d="M{left} {floor}{steps}Z" fill-opacity=".1" stroke="currentColor" stroke-width=".7"/>')
        middle = left + span(ops) * scale / 2
        kept = f"rank 0 keeps up to {plain(peak / v)}"
        parts.append(f'<text x="{middle:.1f}" y="{floor - 4}" text-anchor="middle">{kept}</text>')
        if number == 1:
            by = span(ops) - span(pair[0][1])
            ends = sorted((left + span(one) * scale for _, one in pair))
            parts.append(
                f'<path d="M{ends[0]:.1f} {top - 6}v6m0 -3H{ends[1]:.1f}m0 -3v6" fill="none" stroke="currentColor"/>'
            )
            parts.append(f'<text x="{ends[1]:.1f}" y="{top - 8}" text-anchor="end">{gain(by)}</text>')
    bottom = 2 * (deep + 62)
    parts.append(f'<text x="{left}" y="{bottom}">0</text>')
    parts.append(f'<text x="{left + wide}" y="{bottom}" text-anchor="end">{plain(longest)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 -1 {left + wide + 4:g} {bottom + 7}" '
        f'style="max-width:min(100%,{left + wide + 4:g}px);height:auto" font-family="system-ui,sans-serif" '
        f'font-size="12" fill="currentColor" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )


def _outlines(ops: Sequence[Op], left: float, scale: float, top: float, high: int, gap: int) -> list[str]:
    """The boxes of a schedule without their names: one path for all forwards, one for all backwards."""
    shades = {"F": ".06", "B": ".26"}
    paths = []
    for kind, shade in shades.items():
        boxes = "".join(
            f"M{left + op.start * scale:.1f} {top + op.rank * (high + gap):g}h{(op.end - op.start) * scale:.1f}v{high}"
            f"h{-(op.end - op.start) * scale:.1f}z"
            for op in ops
            if op.kind == kind
        )
        paths.append(f'<path d="{boxes}" fill-opacity="{shade}" stroke="currentColor" stroke-width=".7"/>')
    return paths


def _boxes(setting: Mapping[str, Any], ops: Sequence[Op], left: float, scale: float, top: float, high: int,
           gap: int) -> list[str]:  # fmt: skip
    """The boxes of a schedule, with the names that fit."""
    v, parts = _virtual(setting), []
    for op in ops:
        x, w, y = left + op.start * scale, (op.end - op.start) * scale, top + op.rank * (high + gap)
        opacity = 0.06 if op.kind == "F" else 0.26
        parts.append(
            f'<rect x="{x:.1f}" y="{y}" width="{w:.1f}" height="{high}" fill-opacity="{opacity}" '
            f'stroke="currentColor" stroke-width=".7"/>'
        )
        if op.kind == "B":
            parts.append(f'<path d="M{x:.1f} {y + high - 2}h{w:.1f}" stroke="currentColor" stroke-width="2.4"/>')
        letter = chr(97 + op.stage // setting["stages"]) if v > 1 else ""
        label = next(
            (
                text
                for text in (f"{op.kind}{op.microbatch}{letter}", f"{op.microbatch}{letter}", f"{op.microbatch}")
                if 6.2 * len(text) + 2 < w
            ),
            "",
        )
        if label:
            parts.append(f'<text x="{x + w / 2:.1f}" y="{y + 14}" text-anchor="middle" font-size="10.5">{label}</text>')
    return parts
