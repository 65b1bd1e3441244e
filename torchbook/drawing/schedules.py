"""Drawings of who has what when, on several ranks: whole layers under FSDP, turns of a ring, a pipeline's passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
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


def filled(sizes: Mapping[str, float], limit: float, unit: str = " bytes") -> Drawing:
    """How buckets fill: a bar for each gradient that becomes ready, with all that is in the open bucket by then.

    A bucket that has reached the limit is sent, and the next gradient begins a new one; the last is sent in any case.

    Args:
        sizes: names, in the order in which their gradients become ready, to bytes.
        limit: at which a bucket is full, in the same unit.
        unit: after the limit.

    Raises:
        ValueError: there are no gradients, more than a phone shows, or a size or the limit is not positive.
    """
    if not 1 <= len(sizes) <= 8 or min(*sizes.values(), limit) <= 0:
        raise ValueError("1 to 8 gradients can be read on a phone, and sizes and limit are positive")
    rows: dict[str, list[Part]] = {}
    said, held = [], dict[str, float]()
    for number, (name, size) in enumerate(sizes.items(), 1):
        held[name] = size
        total = sum(held.values())
        full, over = total >= limit, number == len(sizes)
        rows[f"after {name}"] = [Part(one, key, "write" if full or over else "read") for key, one in held.items()]
        end = "full, sent" if full else "sent, as it is the last" if over else "waits"
        said.append(f"after {name}: {', '.join(held)}, {total:g}{unit}, {end}")
        held = {} if full else held
    drawing = Drawing("How buckets fill", f"The limit is {limit:g}{unit}. " + "; ".join(said) + ".")
    width, tall = WIDTH - 10, 36.0  # of a row with the gap below it
    longest = max(*(sum(part.length for part in parts) for parts in rows.values()), limit)
    boxes = drawing.lanes(0, 0, rows, w=width, longest=longest, gap=tall - 26)
    left = min(box.x for row in boxes.values() for box in row)
    x, low = left + (width - left) * limit / longest, tall * len(rows)
    for number in range(len(rows) + 1):  # between the bars, where it crosses no text
        drawing.line([(x, tall * number - 10), (x, tall * number)])
    drawing.text(x, low + 10, f"limit: {limit:g}{unit}", "end")
    drawing.legend(0, low + 38, {"read": "in a bucket, waits", "write": "bucket full, is sent"}, w=width)
    return drawing


def messages(
    ready: Sequence[tuple[str, float]], ways: Mapping[str, Sequence[tuple[str, float, float]]], latency: float
) -> Drawing:
    """When the messages of a backward travel, in several ways to group the gradients, on one time axis.

    Args:
        ready: each gradient's name and when it is ready, in order; the computing has no pauses.
        ways: their names, to the messages: what is in one, its start and its end, in milliseconds.
        latency: how much of each message passes before its bytes begin to arrive.

    Raises:
        ValueError: there is nothing to draw, or a message is no longer than the latency.
    """
    if not ready or not ways or not all(ways.values()):
        raise ValueError("there have to be gradients, and every way needs a message")
    if any(end - start <= latency for sent in ways.values() for _, start, end in sent):
        raise ValueError(f"a message takes more than the latency, {latency:g}")
    moments = [0.0, *(moment for _, moment in ready)]
    computed = [Part(b - a, name, "read") for (name, b), a in zip(ready, moments, strict=False)]
    said = [
        f"{name}: " + ", ".join(f"{text} from {start:g} to {end:g} ms" for text, start, end in sent)
        for name, sent in ways.items()
    ]
    drawing = Drawing("When the gradients travel", "; ".join(said) + ".")
    longest = max(end for sent in ways.values() for _, _, end in sent)
    for number, (name, sent) in enumerate(ways.items()):
        lane = []
        for text, start, end in sent:
            lane += [Part(latency, "", "absent", start), Part(end - start - latency, text, "write")]
        y = 86.0 * number
        drawing.text(0, y, f"{name}: {sent[-1][2]:g} ms", bold=True)
        drawing.lanes(0, y + 14, {"computes": computed, "sends": lane}, w=WIDTH - 10, longest=longest, gap=4)
    meanings = {"read": "a layer's gradient", "absent": "latency", "write": "bytes of a message"}
    drawing.legend(0, 86.0 * len(ways) + 2, meanings)
    return drawing


def averaged_step(states: Mapping[str, Sequence[Sequence[float]]]) -> Drawing:
    """A step of training on two ranks, from the top down: what each has, and where the two are averaged.

    Args:
        states: five names, to the numbers of each rank: weights, data, own gradients, their means, new weights.

    Raises:
        ValueError: there are not five states of two ranks, or more than four numbers.
    """
    if len(states) != 5 or any(len(ranks) != 2 or not 1 <= max(map(len, ranks)) <= 4 for ranks in states.values()):
        raise ValueError("a step has five states, each of two ranks with 1 to 4 numbers")
    said = [
        f"{name}: " + ", ".join(f"rank {rank} has {' '.join(f'{n:g}' for n in row)}" for rank, row in enumerate(ranks))
        for name, ranks in states.items()
    ]
    drawing = Drawing("A step on two ranks", "; ".join(said) + ".")
    left, gap, side = 112.0, 24.0, (34.0, 28.0)
    wide = side[0] * max(len(row) for ranks in states.values() for row in ranks)
    columns = [left + wide / 2, left + wide + gap + wide / 2]
    for rank, x in enumerate(columns):
        drawing.text(x, 0, f"rank {rank}", "middle", bold=True)
    for number, ((name, ranks), role) in enumerate(
        zip(states.items(), ("read", "", "write", "write", "kept"), strict=True)
    ):
        y = 16 + 62.0 * number - (28 if number else 0)  # weights and data are one group
        drawing.text(0, y + 13, name)
        for row, x in zip(ranks, columns, strict=True):
            cells = [[f"{n:.3g}" for n in row]]
            drawing.grid(x - wide / 2, y, cells, lambda r, c, role=role: role, cell=side)  # type: ignore[misc]
        for x in columns if number > 1 else ():
            for source in columns if number == 3 else (x,):
                drawing.arrow((source + (x - source) * 0.1, y - 33), (x - (x - source) * 0.1, y - 3), role)
    return drawing


def wrapped() -> Drawing:
    """What DDP does on two ranks when it wraps a model and in every step, and what is left to the loop."""
    drawing = Drawing(
        "What DDP does, and what your loop does",
        "Once, at the wrapping, DDP copies the weights of rank 0 to rank 1. In every step, each rank computes "
        "the loss of its own data and its own gradients; during backward, DDP replaces the gradients on both ranks by "
        "their mean; then each rank's optimizer takes its step, and both have the same weights again.",
    )
    left, wide, gap = 88.0, 118.0, 46.0
    right = left + wide + gap
    for rank, x in enumerate((left, right)):
        drawing.text(x + wide / 2, 0, f"rank {rank}", "middle", bold=True)

    def both(y: float, text: str, role: str) -> list[Box]:
        return [drawing.box(x, y, text, role, w=wide, h=28) for x in (left, right)]

    rows = [both(16, "weights", "write"), both(84, "own data, loss", "read"), both(134, "own gradients", "read")]
    mean = drawing.box(left, 184, "mean of the gradients", "write", w=2 * wide + gap, h=28)
    rows.append(both(234, "optimizer", "read"))
    drawing.arrow(rows[0][0], rows[0][1], "write")
    drawing.text(left + wide + gap / 2, 54, "broadcast", "middle")
    for y, text in ((30, "once:"), (98, "each step:")):
        drawing.text(0, y, text)
    for above, below in pairwise(rows[:3]):
        for one, two in zip(above, below, strict=True):
            drawing.arrow(one, two)
    for one, two in zip(rows[2], rows[3], strict=True):
        x = one.bottom[0]
        drawing.arrow(one.bottom, (x, mean.y))
        drawing.arrow((x, mean.y + mean.h), two.top)
    drawing.legend(0, 284, {"write": "DDP communicates", "read": "each rank for itself"})
    return drawing


def number_lines(rows: Mapping[str, tuple[float, float, Sequence[Sequence[float]]]]) -> Drawing:
    """Numbers of two ranks on some number lines: those of rank 0 above the line, those of rank 1 below it.

    Args:
        rows: names of the lines, to their left end, their right end and the numbers of each rank.

    Raises:
        ValueError: there is no line, not two ranks, or a number beyond the ends.
    """
    if not rows or any(
        len(ranks) != 2 or not all(low <= n <= high for rank in ranks for n in rank)
        for low, high, ranks in rows.values()
    ):
        raise ValueError("every line has the numbers of two ranks, between its ends")
    said = [
        f"{name}: "
        + ", ".join(f"rank {rank} has {' and '.join(f'{n:.3g}' for n in row)}" for rank, row in enumerate(r))
        for name, (_, _, r) in rows.items()
    ]
    drawing = Drawing("Numbers of two ranks", "; ".join(said) + ".")
    wide = WIDTH - 20
    for number, (name, (low, high, ranks)) in enumerate(rows.items()):
        y = 112.0 * number
        drawing.text(0, y, name, bold=True)
        drawing.line([(4, y + 52), (wide, y + 52)])
        for rank, (row, role) in enumerate(zip(ranks, ("read", "write"), strict=True)):
            for n in row:
                x = 4 + (wide - 4) * (n - low) / (high - low)
                drawing.circle(x, y + (43 if rank == 0 else 61), 7, role=role)
                drawing.text(x, y + (25 if rank == 0 else 79), f"{n:.3g}".replace("-", "−"), "middle")
    drawing.legend(0, 112.0 * len(rows), {"read": "rank 0", "write": "rank 1"})
    return drawing


def compared(shares: Sequence[int]) -> Drawing:
    """Which pairs of a batch's examples are on one rank, and which are not: a row and a column for each example.

    Args:
        shares: how many examples each rank has; at most 8 together.

    Raises:
        ValueError: there are more examples than a phone shows, or a rank has none.
    """
    if not shares or min(shares) < 1 or sum(shares) > 8:
        raise ValueError(f"{sum(shares)} examples: each rank has at least one, and a phone shows 8")
    owner = [rank for rank, count in enumerate(shares) for _ in range(count)]
    inside = sum(count**2 for count in shares)
    drawing = Drawing(
        "Which pairs of examples are on one rank",
        f"{len(shares)} ranks have {', '.join(map(str, shares))} examples. Of {len(owner) ** 2} pairs, {inside} are on "
        f"one rank, and {len(owner) ** 2 - inside} are not.",
    )
    left, side = 76.0, 38.0
    for number, rank in enumerate(owner):
        drawing.text(left + side * (number + 0.5) - 1, 26, str(number), "middle")
        drawing.text(left - 10, 36 + side * (number + 0.5) - 1, str(number), "end")
        if number == 0 or rank != owner[number - 1]:
            drawing.text(left + side * (number + shares[rank] / 2) - 1, 4, f"rank {rank}", "middle")
            drawing.text(0, 36 + side * (number + shares[rank] / 2) - 1, f"rank {rank}")
    empty = [[""] * len(owner)] * len(owner)
    drawing.grid(left, 36, empty, lambda r, c: "read" if owner[r] == owner[c] else "absent", cell=(side, side))
    drawing.legend(0, 36 + side * len(owner) + 16, {"read": "compared", "absent": "on different ranks"})
    return drawing
