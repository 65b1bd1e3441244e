"""Drawings of who has what when, on several ranks: whole layers under FSDP, turns of a ring, a pipeline's passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from torchbook.drawing.canvas import WIDTH, Box, Drawing, Part


class Pass(Protocol):
    """A forward ("F") or backward ("B") pass of a micro-batch on a rank, such as `torchbook.viz.schedule` returns."""

    @property
    def rank(self) -> int: ...
    @property
    def stage(self) -> int: ...
    @property
    def microbatch(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def start(self) -> float: ...
    @property
    def end(self) -> float: ...


def whole_units(moments: Sequence[tuple[int, Sequence[int]]], units: int) -> Drawing:
    """Which units of a sharded model are whole while each of them computes, from a recording.

    Args:
        moments: in order, the unit that computes and all that are whole then.
        units: their number; the second half of the moments is the backward.

    Raises:
        ValueError: a unit is unknown, or there are more moments than a phone shows.
    """
    if any(not 0 <= one < units for now, held in moments for one in (now, *held)) or not 1 <= len(moments) <= 10:
        raise ValueError(f"units are 0 to {units - 1}, and 1 to 10 moments can be read on a phone")
    forward = len(moments) // 2
    said = [
        f"{'forward' if number < forward else 'backward'} of {now}: {', '.join(map(str, held)) or 'none'} whole"
        for number, (now, held) in enumerate(moments)
    ]
    drawing = Drawing("Which layers are whole when", "; ".join(said) + ".")
    left, side = 64.0, min(38.0, (WIDTH - 84) / len(moments))

    def role(unit: int, moment: int) -> str:
        now, held = moments[moment]
        return "read" if unit == now else "kept" if unit in held else "absent"

    drawing.text(left, 0, "forward →")
    drawing.text(left + side * forward, 0, "backward →")
    for unit in range(units):
        drawing.text(0, 14 + 30 * unit + 14, f"block {unit}")
    drawing.grid(left, 14, [[""] * len(moments)] * units, role, cell=(side, 30))
    drawing.legend(
        0,
        14 + 30 * units + 14,
        {"read": "whole, computes", "kept": "whole, waits", "absent": "a shard only"},
    )
    return drawing


def ring_turns(ranks: int, causal: bool = True) -> Drawing:
    """Whose keys each rank has in each turn of ring attention, and which of them a causal mask makes useless.

    Args:
        ranks: as many as turns, 2 to 6.
        causal: whether a token reads only what came before it.

    Raises:
        ValueError: there are fewer or more.
    """
    if not 2 <= ranks <= 6:
        raise ValueError(f"{ranks} ranks: 2 to 6 can be read on a phone")
    piece = [[(rank - turn) % ranks for rank in range(ranks)] for turn in range(ranks)]
    idle = [(turn, rank) for turn in range(ranks) for rank in range(ranks) if causal and piece[turn][rank] > rank]
    rows = [
        f"turn {turn}: " + ", ".join(f"rank {r} has {p}" for r, p in enumerate(row)) for turn, row in enumerate(piece)
    ]
    drawing = Drawing(
        f"Keys going round {ranks} ranks",
        "; ".join(rows)
        + (f". Under the causal mask {len(idle)} of {ranks * ranks} are not needed." if causal else "."),
    )
    left, side = 64.0, min(74.0, (WIDTH - 70) / ranks)
    for rank in range(ranks):
        drawing.text(left + side * (rank + 0.5), 0, f"rank {rank}", "middle")
    for turn in range(ranks):
        drawing.text(0, 14 + 54 * turn + 14, f"turn {turn}")

    def role(turn: int, rank: int) -> str:
        return "absent" if (turn, rank) in idle else "kept" if turn == 0 else "read"

    above: list[Box] = []
    for turn, row in enumerate(piece):

        def look(_: int, rank: int, turn: int = turn) -> str:
            return role(turn, rank)

        texts = [f"k{p} v{p}" for p in row]
        below = drawing.grid(left, 14 + 54 * turn, [texts], look, cell=(side, 30))[0]
        for box, target in zip(above, below[1:], strict=False):
            drawing.arrow((box.x + box.w / 2 + 10, box.y + box.h), (target.x + target.w / 2 - 10, target.y))
        above = below
    meanings = {"kept": "its own", "read": "from its left neighbour"}
    drawing.legend(0, 54 * ranks + 6, meanings | ({"absent": "hidden by the mask"} if causal else {}))
    return drawing


def timetables(ways: Mapping[str, Sequence[Pass]]) -> Drawing:
    """Which pass each rank of a pipeline computes when, in several ways, below each other on one time axis.

    A pass is named by its kind and micro-batch, F0. Where ranks have several stages, it is named by stage and
    micro-batch, a0, and the colour says its kind.

    Args:
        ways: their names, to what `torchbook.viz.schedule.schedule` gives for them.

    Raises:
        ValueError: there is nothing to draw.
    """
    if not ways or not all(ways.values()):
        raise ValueError("every timetable needs at least one pass")
    ends = {name: max(op.end for op in ops) for name, ops in ways.items()}
    idle = {name: 1 - sum(op.end - op.start for op in ops) / (_ranks(ops) * ends[name]) for name, ops in ways.items()}
    said = [f"{name}: {_in_words(ops)}. A rank waits {idle[name]:.0%} of the time." for name, ops in ways.items()]
    drawing = Drawing("Who computes what when", " ".join(said))
    longest, y = max(ends.values()), 0.0
    for name, ops in ways.items():
        ranks, interleaved = _ranks(ops), _interleaved(ops)
        rows = {
            f"rank {rank}": [
                Part(op.end - op.start, _named(op, interleaved), "read" if op.kind == "F" else "write", op.start)
                for op in ops
                if op.rank == rank
            ]
            for rank in range(ranks)
        }
        drawing.text(0, y, f"{name}: ranks wait {idle[name]:.0%} of the time", bold=True)
        drawing.lanes(0, y + 14, rows, w=WIDTH - 10, h=22, gap=4, longest=longest)
        y += 14 + 26 * ranks + 18
    drawing.legend(0, y, {"read": "forward (F)", "write": "backward (B)"})
    return drawing


def _ranks(ops: Sequence[Pass]) -> int:
    return max(op.rank for op in ops) + 1


def _interleaved(ops: Sequence[Pass]) -> bool:
    return any(op.stage != op.rank for op in ops)


def _named(op: Pass, interleaved: bool) -> str:
    return f"{chr(ord('a') + op.stage)}{op.microbatch}" if interleaved else f"{op.kind}{op.microbatch}"


def _in_words(ops: Sequence[Pass]) -> str:
    way = {"F": "forward of ", "B": "backward of "} if _interleaved(ops) else {"F": "", "B": ""}
    rows = [
        [f"{way[op.kind]}{_named(op, _interleaved(ops))} at {op.start:g}" for op in ops if op.rank == rank]
        for rank in range(_ranks(ops))
    ]
    return "; ".join(f"rank {rank} begins {', '.join(row)}" for rank, row in enumerate(rows))


def staircase(ranks: int, batches: int) -> Drawing:
    """The forward passes of a pipeline as a staircase: how long a rank computes, and how long it waits.

    Args:
        ranks: stages, one each, 2 to 6.
        batches: micro-batches, 1 to 8.

    Raises:
        ValueError: there are fewer or more.
    """
    if not 2 <= ranks <= 6 or not 1 <= batches <= 8:
        raise ValueError(f"{ranks} ranks and {batches} micro-batches: 2 to 6 and 1 to 8 can be read on a phone")
    drawing = Drawing(
        f"{batches} micro-batches through {ranks} stages",
        f"Rank 0 computes {batches} forward passes and then waits {ranks - 1}; each further rank begins one later. "
        f"The last waits {ranks - 1} and then computes {batches}. Together this is {batches + ranks - 1} for each.",
    )
    left, side = 64.0, min(44.0, (WIDTH - 70) / (batches + ranks - 1))

    def inside(rank: int, time: int) -> bool:
        return rank <= time < rank + batches

    times = range(batches + ranks - 1)
    texts = [[f"F{time - rank}" if inside(rank, time) else "" for time in times] for rank in range(ranks)]
    for rank in range(ranks):
        drawing.text(0, 28 * rank + 13, f"rank {rank}")
    boxes = drawing.grid(left, 0, texts, lambda r, t: "read" if inside(r, t) else "absent", cell=(side, 28))
    last, below = boxes[-1], 28.0 * ranks + 4
    steps = "step" if ranks == 2 else "steps"
    drawing.brace((last[0].x, below), (last[ranks - 2].x + side - 2, below), f"{ranks - 1} {steps}")
    drawing.brace((last[ranks - 1].x, below), (last[-1].x + side - 2, below), f"{batches} steps")
    drawing.legend(0, below + 48, {"read": "computes", "absent": "waits"})
    return drawing


def loads(ways: Mapping[str, Sequence[float]]) -> Drawing:
    """How much each rank has to do, in several ways to divide the work: bars, with the longest of each way marked.

    Args:
        ways: their names, to the work of each rank.

    Raises:
        ValueError: there is no work.
    """
    if not ways or not all(ways.values()) or max(map(max, ways.values())) <= 0:
        raise ValueError("every way needs the work of at least one rank")
    said = [f"{name}: " + ", ".join(f"rank {r} {n:g}" for r, n in enumerate(work)) for name, work in ways.items()]
    drawing = Drawing("How much each rank has to do", "; ".join(said) + ".")
    longest, y = max(map(max, ways.values())), 0.0
    for name, work in ways.items():
        rows = {
            f"rank {r}": [Part(n, f"{n:g}", "write" if n == max(work) > min(work) else "read")]
            for r, n in enumerate(work)
        }
        drawing.text(0, y, name, bold=True)
        drawing.lanes(0, y + 14, rows, w=WIDTH - 10, h=22, gap=4, longest=longest)
        y += 14 + 26 * len(work) + 16
    drawing.legend(0, y, {"read": "work of a rank", "write": "the most: all others wait for it"})
    return drawing


def restarted(before: int, after: int, ranks: int = 2, victim: int = 1) -> Drawing:
    """A run whose rank is killed once: epochs before, the end of all ranks, epochs after the restart.

    Args:
        before: epochs that were saved when the rank died.
        after: epochs that the new processes add.
        ranks: of each of the two rounds.
        victim: which of them is killed.

    Raises:
        ValueError: there is nothing before or after, or no such rank.
    """
    if min(before, after) < 1 or not 0 <= victim < ranks:
        raise ValueError("epochs before and after, and the rank that is killed, have to be there")
    drawing = Drawing(
        "A rank dies, and all are started again",
        f"Epochs 0 to {before - 1} run and are saved. Rank {victim} is killed, the other ranks are ended. "
        f"New processes load the checkpoint and go on with epoch {before}, until epoch {before + after - 1}.",
    )
    gap = 0.5

    def epochs(numbers: range, start: float) -> list[Part]:
        return [Part(1, str(n), "kept" if n < before else "read", start + i) for i, n in enumerate(numbers)]

    rows = {
        f"rank {rank}": [
            *epochs(range(before), 0),
            Part(gap / 2, role="refused" if rank == victim else "absent", start=before),
            *epochs(range(before, before + after), before + gap),
        ]
        for rank in range(ranks)
    }
    drawing.text(0, 0, "epochs:")
    drawing.lanes(0, 14, rows, w=WIDTH - 10)
    meanings = {"kept": "saved", "refused": "killed", "absent": "ended by torchrun", "read": "new processes"}
    drawing.legend(0, 14 + 32 * ranks + 10, meanings)
    return drawing


def accumulated(parts: int = 4) -> Drawing:
    """Backwards of small batches and what is sent between them, with plain DDP and with `no_sync`.

    Args:
        parts: small batches to one step of the optimizer, 2 to 6.

    Raises:
        ValueError: there are fewer or more.
    """
    if not 2 <= parts <= 6:
        raise ValueError(f"{parts} small batches: 2 to 6 can be read on a phone")
    drawing = Drawing(
        f"{parts} backwards and one step",
        f"Plain DDP: each of {parts} backwards is followed by an all-reduce, then the step. With no_sync: {parts} "
        f"backwards, one all-reduce, then the step.",
    )
    backward, send, step = Part(1, role="read"), Part(0.6, role="write"), Part(0.4, role="kept")
    rows = {"plain": [*[backward, send] * parts, step], "no_sync": [*[backward] * parts, send, step]}
    drawing.lanes(0, 0, rows, w=WIDTH - 10)
    drawing.legend(0, 78, {"read": "backward", "write": "all-reduce", "kept": "step"})
    return drawing


def straggler(late: float = 2) -> Drawing:
    """A step of DDP on two ranks, one of which starts late: the other waits for its part of the gradient.

    Args:
        late: how late, where a forward takes 1 and a backward 2.

    Raises:
        ValueError: it is not late.
    """
    if late <= 0:
        raise ValueError("the second rank has to be late")
    drawing = Drawing(
        "A step beside a slow rank",
        "Rank 0 computes its forward and its backward and then waits. Rank 1 starts late. Both end together, with the "
        "all-reduce.",
    )
    send = Part(0.5, role="write", start=3 + late)
    rows = {
        "rank 0": [Part(1, "forward", "read"), Part(2, "backward", "read"), Part(late, "waits", "absent"), send],
        "rank 1": [Part(late, "late", ""), Part(1, "forward", "read"), Part(2, "backward", "read"), send],
    }
    drawing.lanes(0, 0, rows, w=WIDTH - 10)
    drawing.legend(0, 78, {"read": "computes", "absent": "waits in backward", "write": "all-reduce"})
    return drawing


def bucketed(runs: Mapping[str, Sequence[Sequence[int]]], sending: float = 0.6) -> Drawing:
    """When DDP sends the buckets of a backward: a lane that computes, and below it a lane that sends, for each run.

    Computing a layer's gradient takes 1. A bucket is sent when its last gradient is ready, and after those before it.

    Args:
        runs: names, to the buckets in their order, each with its layers in the order in which gradients become ready.
        sending: how long the gradient of one layer takes.

    Raises:
        ValueError: there is no run, an empty bucket, or a layer twice.
    """
    layers = {name: [layer for bucket in buckets for layer in bucket] for name, buckets in runs.items()}
    if not runs or not all(buckets and all(buckets) for buckets in runs.values()):
        raise ValueError("every run needs buckets, and every bucket a layer")
    if any(len(set(one)) != len(one) for one in layers.values()):
        raise ValueError("a layer is in one bucket")
    lanes: dict[str, dict[str, list[Part]]] = {}
    said = []
    for name, buckets in runs.items():
        sent: list[Part] = []
        ready, free = 0, 0.0
        for bucket in buckets:
            ready += len(bucket)
            start = max(float(ready), free)
            free = start + sending * len(bucket)
            sent.append(Part(sending * len(bucket), " ".join(map(str, bucket)), "write", start))
            said.append(f"{name}: layers {sent[-1].text} are sent after {ready} of {len(layers[name])} gradients")
        lanes[name] = {"backward": [Part(1, str(layer), "read") for layer in layers[name]], "sending": sent}
    drawing = Drawing("When DDP sends its buckets", "; ".join(said) + ".")
    longest = max(part.start + part.length for rows in lanes.values() for part in rows["sending"] if part.start)
    for number, (name, rows) in enumerate(lanes.items()):
        drawing.text(0, 86.0 * number, name, bold=True)
        drawing.lanes(0, 86.0 * number + 14, rows, w=WIDTH - 10, longest=longest, gap=4)
    drawing.legend(0, 86.0 * len(lanes) + 2, {"read": "computes a layer's gradient", "write": "sends a bucket"})
    return drawing
