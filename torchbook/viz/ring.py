"""RingAllReduce: how ranks in a ring sum their vectors, message by message, and what each link carries.

A vector is cut into as many chunks as there are ranks. In K−1 steps of reduce-scatter every rank sends one chunk to its
right neighbour, which adds it to its own; then rank r holds the finished chunk r+1. In K−1 steps of all-gather the
finished chunks go around once. What is said of bytes is counted from these messages. Chunks are those of
`torch.tensor_split`: the first are one element longer where K does not divide the elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import accumulate, pairwise
from typing import Any

import traitlets

from torchbook.viz.base import Visualizer, contract
from torchbook.viz.units import amount, counted, duration, plain, several

setup = partial(contract, "ring")

REDUCE, GATHER = "reduce-scatter", "all-gather"
WHOLE = -1  # the chunk of a message that holds the whole vector


@dataclass(frozen=True)
class Message:
    """What one rank sends another in a step.

    Attributes:
        step: number of the step, from 1.
        source, target: the ranks.
        chunk: number of the chunk; -1 is the whole vector.
        values: the numbers that travel.
    """

    step: int
    source: int
    target: int
    chunk: int
    values: tuple[Any, ...]


@dataclass(frozen=True)
class RingStep:
    """The ranks after a step.

    Attributes:
        step: how many steps are done.
        phase: "start", "reduce-scatter" or "all-gather".
        messages: what was sent in this step, all at the same time.
        vectors: what each rank holds now.
        parts: for each rank and chunk, the ranks whose numbers are summed in it, in the order of the sum.
    """

    step: int
    phase: str
    messages: tuple[Message, ...]
    vectors: tuple[tuple[Any, ...], ...]
    parts: tuple[tuple[tuple[int, ...], ...], ...]


@dataclass(frozen=True)
class Traffic:
    """What a way to all-reduce costs, counted from its messages.

    Attributes:
        steps: steps that follow one another.
        total: elements in all messages.
        busiest: elements that pass the busiest rank's link in its busier direction.
        longest: sum over the steps of the elements of the longest message.
    """

    steps: int
    total: int
    busiest: int
    longest: int

    def seconds(self, bytes_per_element: float, bandwidth: float, latency: float) -> float:
        """Seconds: in every step one latency, and the longest message over one link of `bandwidth` bytes a second."""
        return self.steps * latency + self.longest * bytes_per_element / bandwidth


# The ring


def chunk_sizes(elements: int, ranks: int) -> list[int]:
    """Sizes of the chunks, as `torch.tensor_split` cuts them."""
    return [elements // ranks + (chunk < elements % ranks) for chunk in range(ranks)]


def numbers(ranks: int, elements: int, seed: int = 0) -> list[list[int]]:
    """Small whole numbers, 1 to 9, for each rank; the same as on the page."""

    def number(rank: int, i: int) -> int:
        x = (seed * 7919 + rank * 1047 + i * 131 + 17) % 65536
        for _ in range(3):
            x = (x * 75 + 74) % 65537
        return 1 + x % 9

    return [[number(rank, i) for i in range(elements)] for rank in range(ranks)]


def ring_steps(values: Sequence[Sequence[Any]]) -> list[RingStep]:
    """A ring all-reduce, sum, of one vector for each rank.

    Args:
        values: the vectors, at least two, all of the same length.

    Returns:
        The start and 2(K-1) steps; the last one's vectors are all the sum.

    Raises:
        ValueError: there are fewer than two vectors, or their lengths differ.

    Example:
        >>> steps = ring_steps([[1, 2], [10, 20]])
        >>> [step.vectors for step in steps]
        [((1, 2), (10, 20)), ((1, 22), (11, 20)), ((11, 22), (11, 22))]
    """
    ranks = len(values)
    if ranks < 2 or len({len(vector) for vector in values}) != 1:
        raise ValueError("a ring needs at least two ranks with vectors of one length")
    ends = list(accumulate(chunk_sizes(len(values[0]), ranks), initial=0))
    vectors = [list(vector) for vector in values]
    parts: list[list[tuple[int, ...]]] = [[(rank,)] * ranks for rank in range(ranks)]
    done = [_after(0, "start", (), vectors, parts)]
    for step in range(2 * (ranks - 1)):
        reducing = step < ranks - 1
        messages = []
        for rank in range(ranks):  # all send what they held before this step
            chunk = (rank - step) % ranks  # after K-1 steps that is the chunk which rank has finished
            sent = tuple(vectors[rank][ends[chunk] : ends[chunk + 1]])
            messages.append((Message(step + 1, rank, (rank + 1) % ranks, chunk, sent), parts[rank][chunk]))
        for message, held in messages:
            chunk, target = message.chunk, message.target
            own = vectors[target][ends[chunk] : ends[chunk + 1]]
            sums = [mine + theirs for mine, theirs in zip(own, message.values, strict=True)]
            vectors[target][ends[chunk] : ends[chunk + 1]] = sums if reducing else message.values
            parts[target][chunk] = held + parts[target][chunk] if reducing else held
        sent_now = tuple(message for message, _ in messages)
        done.append(_after(step + 1, REDUCE if reducing else GATHER, sent_now, vectors, parts))
    return done


def _after(step: int, phase: str, messages: tuple[Message, ...], vectors: Any, parts: Any) -> RingStep:
    held = tuple(tuple(row) for row in parts)
    return RingStep(step, phase, messages, tuple(tuple(vector) for vector in vectors), held)


# Other ways


def gather_messages(values: Sequence[Sequence[Any]]) -> tuple[list[Message], list[Any]]:
    """Everything to rank 0, one vector after another over its one link, and the sum back to each; and what results."""
    total = list(values[0])
    messages: list[Message] = []
    for rank in range(1, len(values)):
        messages.append(Message(len(messages) + 1, rank, 0, WHOLE, tuple(values[rank])))
        total = [a + b for a, b in zip(total, values[rank], strict=True)]
    for rank in range(1, len(values)):
        messages.append(Message(len(messages) + 1, 0, rank, WHOLE, tuple(total)))
    return messages, [total] * len(values)


def tree_messages(values: Sequence[Sequence[Any]]) -> tuple[list[Message], list[Any]]:
    """A binomial tree to rank 0 and back: in each step the ranks that still count send, or have, the whole vector."""
    ranks = len(values)
    held = [list(vector) for vector in values]
    messages: list[Message] = []
    step, far = 0, 1
    while far < ranks:
        step += 1
        for target in range(0, ranks - far, 2 * far):
            messages.append(Message(step, target + far, target, WHOLE, tuple(held[target + far])))
            held[target] = [a + b for a, b in zip(held[target], held[target + far], strict=True)]
        far *= 2
    while far > 1:
        far //= 2
        step += 1
        for source in range(0, ranks - far, 2 * far):
            messages.append(Message(step, source, source + far, WHOLE, tuple(held[source])))
            held[source + far] = list(held[source])
    return messages, held


def ring_messages(values: Sequence[Sequence[Any]]) -> list[Message]:
    """All messages of the ring."""
    return [message for step in ring_steps(values) for message in step.messages]


def per_link(messages: Iterable[Message], ranks: int) -> list[int]:
    """Elements that each rank has sent to its right neighbour, counted."""
    sent = [0] * ranks
    for message in messages:
        sent[message.source] += len(message.values)
    return sent


def traffic(messages: Sequence[Message], ranks: int) -> Traffic:
    """What these messages cost, counted."""
    sent, received = [0] * ranks, [0] * ranks
    longest: dict[int, int] = {}
    for message in messages:
        size = len(message.values)
        sent[message.source] += size
        received[message.target] += size
        longest[message.step] = max(longest.get(message.step, 0), size)
    return Traffic(len(longest), sum(sent), max(sent + received), sum(longest.values()))


def factor(ranks: int) -> float:
    """2(K-1)/K: vectors that pass each link in a ring all-reduce."""
    return 2 * (ranks - 1) / ranks


@dataclass(frozen=True)
class Cost:
    """One way to all-reduce in the units of a setting.

    Attributes:
        steps: steps that follow one another.
        busiest: bytes through the busiest link, in one direction.
        total: bytes in all messages.
        latency, bandwidth: seconds that the latencies, and the bytes, take.
        seconds: both together.
    """

    steps: int
    busiest: float
    total: float
    latency: float
    bandwidth: float
    seconds: float


def costs(setting: Mapping[str, Any]) -> dict[str, Cost]:
    """Ring, gather and tree at a setting, a mapping with the traits of `RingAllReduce`."""
    ranks, elements = setting["ranks"], setting["elements"]
    empty = [[0] * elements for _ in range(ranks)]
    ways = {"ring": ring_messages(empty), "gather": gather_messages(empty)[0], "tree": tree_messages(empty)[0]}
    each = setting["size_mb"] * 1e6 / elements
    by_way = {}
    for name, messages in ways.items():
        counted = traffic(messages, ranks)
        latency = counted.steps * (setting["latency_us"] * 1e-6)
        bandwidth = counted.longest * each / (setting["bandwidth_gbs"] * 1e9)
        by_way[name] = Cost(
            counted.steps, counted.busiest * each, counted.total * each, latency, bandwidth, latency + bandwidth
        )
    return by_way


# The figure


class RingAllReduce(Visualizer):
    """A ring all-reduce, step by step: who sends which chunk, whose numbers each chunk holds, what each link carried.

    Args:
        step: how many steps are done, 0 to 2(ranks - 1).
        values: the vectors, one for each rank, whole numbers; else small numbers of a seed. They set `ranks` and
            `elements`.

    Attributes:
        steps: the whole run, `ring_steps` of the vectors.
        costs: bytes and seconds of ring, gather and tree.

    Raises:
        ValueError: there is no such preset.
        traitlets.TraitError: a number is out of its range, or vectors differ in length.

    Example:
        >>> RingAllReduce(ranks=4, elements=8, step=6).steps[6].phase
        'all-gather'
    """

    values: Any = traitlets.List(help="The vectors, if not those of the seed.").tag(sync=True)
    step = traitlets.Int(0, help="Steps that are done.").tag(sync=True)

    def __init__(self, ranks: int | None = None, elements: int | None = None, **traits: Any):
        given: dict[str, Any] = {
            name: value for name, value in (("ranks", ranks), ("elements", elements)) if value is not None
        }
        vectors = [[int(x) for x in vector] for vector in traits.pop("values", ())]
        if vectors:
            given = {"values": vectors, "ranks": len(vectors), "elements": len(vectors[0])}
        super().__init__(**given, **traits)

    @property
    def vectors(self) -> list[list[int]]:
        """What the ranks start with."""
        return self.values or numbers(self.ranks, self.elements, self.seed)

    @property
    def steps(self) -> list[RingStep]:
        return ring_steps(self.vectors)

    @property
    def costs(self) -> dict[str, Cost]:
        return costs(self.setting)

    @traitlets.validate("step")
    def _check_step(self, proposal: Any) -> Any:
        return min(max(0, proposal["value"]), 2 * (self.ranks - 1))

    @traitlets.validate("values")
    def _check_values(self, proposal: Any) -> Any:
        if proposal["value"] and {len(vector) for vector in proposal["value"]} != {self.elements}:
            raise traitlets.TraitError(f"values must be {self.ranks} vectors of {self.elements} numbers")
        return proposal["value"]

    def _follow(self, change: Any = None) -> None:
        if self.values and (len(self.values) != self.ranks or len(self.values[0]) != self.elements):
            self.values = []
        super()._follow(change)

    def _describe(self) -> str:
        return describe(self.setting, self.vectors, self.step)

    def _draw(self) -> str:
        return _picture(self.vectors, min(self.step, 2 * (self.ranks - 1)), self.words)


def _chunks(vectors: Sequence[Sequence[Any]]) -> str:
    ranks, elements = len(vectors), len(vectors[0])
    sizes = chunk_sizes(elements, ranks)
    if len(set(sizes)) == 1:
        return f"{ranks} chunks of {sizes[0]}"
    most = elements % ranks
    return f"{counted(most, 'chunk')} of {sizes[0]} and {ranks - most} of {sizes[-1]}"


def describe(setting: Mapping[str, Any], vectors: Sequence[Sequence[int]], step: int) -> str:
    """The state after so many steps, in sentences."""
    ranks, elements = len(vectors), len(vectors[0])
    steps = ring_steps(vectors)
    last = len(steps) - 1
    now = steps[min(step, last)]
    if now.step == 0:
        progress = "Nothing is sent yet: every chunk holds only its own rank's numbers."
    else:
        sent = several(
            [f"rank {message.source} sends chunk {message.chunk} to rank {message.target}" for message in now.messages]
        )
        held = len(now.parts[now.messages[0].target][now.messages[0].chunk])
        progress = f"Step {now.step} of {last}, {now.phase}: {sent}. " + (
            f"The receiver adds it to its own; that chunk then holds the numbers of {held} of {ranks} ranks."
            if now.phase == REDUCE
            else "The receiver puts the finished chunk in the place of its own."
        )
        if now.step == last:
            progress += f" All ranks hold the sum {' '.join(str(x) for x in now.vectors[0])}."
    so_far = per_link([message for each in steps[: now.step + 1] for message in each.messages], ranks)
    all_of = per_link(ring_messages(vectors), ranks)
    few, most = min(so_far), max(so_far)
    carried = f"{most}" if few == most else f"{few} to {most}"
    cost = costs(setting)
    ring, naive, tree = cost["ring"], cost["gather"], cost["tree"]
    return (
        f"Ring all-reduce, {ranks} ranks, {counted(elements, 'element')} each in {_chunks(vectors)}. "
        f"{progress} Each link has carried {carried} elements so far; at the end all links together {sum(all_of)}, on "
        f"average {plain(sum(all_of) / ranks)} each, {plain(sum(all_of) / ranks / elements)} times a vector: "
        f"2(K−1)/K = {plain(factor(ranks))}. For {amount(setting['size_mb'] * 1e6)} at "
        f"{amount(setting['bandwidth_gbs'] * 1e9)} a second and {duration(setting['latency_us'] * 1e-6)} a message the "
        f"ring takes {duration(ring.seconds)}, {duration(ring.bandwidth)} for the bytes and {duration(ring.latency)} "
        f"for {ring.steps} latencies; gathering at one rank and sending back {duration(naive.seconds)}, with "
        f"{amount(naive.busiest)} through the busiest link in place of {amount(ring.busiest)}; a tree "
        f"{duration(tree.seconds)}."
    )


def who(parts: Sequence[int], ranks: int) -> str:
    """Whose numbers a chunk holds, short: "0+1", "14…2" around the ring, or "all"."""
    if len(parts) == ranks:
        return "all"
    if len(parts) == 1 or (ranks <= 8 and len(parts) <= 3):
        return "+".join(str(rank) for rank in parts)
    return f"{parts[0]}…{parts[-1]}"


def _picture(vectors: Sequence[Sequence[int]], step: int, words: str) -> str:
    """Static drawing: ranks as rows, chunks as columns, with whose numbers each holds."""
    now = ring_steps(vectors)[step]
    ranks = len(vectors)
    sizes = chunk_sizes(len(vectors[0]), ranks)
    ends = list(accumulate(sizes, initial=0))
    longest = max(len(" ".join(str(x) for x in vector[a:b])) for vector in now.vectors for a, b in pairwise(ends))
    wide = max(44 if ranks > 6 else 54, 12 + 7 * min(longest, 14))
    left, high, top = 58, 34, 22
    received = {(message.target, message.chunk) for message in now.messages}
    name = "chunk " if ranks <= 6 and wide > 50 else ""
    parts = [
        f'<text x="{left + chunk * wide + wide / 2:g}" y="14" text-anchor="middle">{name}{chunk}</text>'
        for chunk in range(ranks)
    ]
    for rank in range(ranks):
        y = top + rank * high
        parts.append(f'<text x="{left - 8}" y="{y + 20}" text-anchor="end">rank {rank}</text>')
        for chunk in range(ranks):
            x = left + chunk * wide
            held = now.parts[rank][chunk]
            thick = 2.4 if (rank, chunk) in received else 0.8
            parts.append(
                f'<rect x="{x + 1.5}" y="{y + 1.5}" width="{wide - 3}" height="{high - 3}" rx="3" '
                f'fill-opacity="{0.3 * (len(held) - 1) / (ranks - 1):.2f}" stroke="currentColor" '
                f'stroke-width="{thick}"/>'
            )
            text = " ".join(str(x) for x in now.vectors[rank][ends[chunk] : ends[chunk + 1]]) or "–"
            shown = text if len(text) <= 14 else f"{text[:12]}…"
            parts.append(f'<text x="{x + wide / 2:g}" y="{y + 14}" text-anchor="middle" font-size="12">{shown}</text>')
            parts.append(
                f'<text x="{x + wide / 2:g}" y="{y + 27}" text-anchor="middle" font-size="10">{who(held, ranks)}</text>'
            )
    width, height = left + ranks * wide + 4, top + ranks * high + 4
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" '
        f'style="max-width:min(100%,{width}px);height:auto" font-family="system-ui,sans-serif" '
        f'font-size="12" fill="currentColor" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )
