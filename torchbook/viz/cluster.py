"""A simulator of one training step on many ranks: every collective, every message of a ring, the state of every rank.

Nothing is sent and nothing is computed: from the shapes of the parameters alone it says which collectives DDP,
`fully_shard`, a tensor-parallel MLP and a pipeline call in one step, how many elements each one carries, which messages
a ring algorithm sends for it, and how many bytes of parameters, gradients and optimizer states stay on each rank. The
tests hold it to what gloo does on two and four ranks; it takes any number of ranks.

What a collective carries is what torch hands to the backend. How a backend carries it is its own choice: NCCL uses
rings where bandwidth counts and trees where latency does. The messages here are those of the ring.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from torchbook.viz.memory import Model, optimizer_bytes

MIB = 2**20
RINGS = ("all_reduce", "reduce_scatter", "all_gather")
Shape = tuple[int, ...]
Groups = list[list[Shape]]


@dataclass(frozen=True)
class Message:
    """Bytes that one rank sends to another in one round of a collective."""

    round: int
    source: int
    target: int
    piece: int
    size: int


@dataclass(frozen=True)
class Collective:
    """A call of a collective: what torch hands to the backend, and how often in one step.

    `elements` are those of the whole tensor: the input of an all-reduce or a reduce-scatter, the output of an
    all-gather, what one rank sends in a send.
    """

    kind: str
    elements: int
    element: int
    ranks: int
    count: int = 1

    @property
    def bytes(self) -> int:
        """Bytes of the whole tensor, of one call."""
        return self.elements * self.element


@dataclass(frozen=True)
class Simulation:
    """One step: its collectives in order, then bytes for each rank."""

    ranks: int
    collectives: tuple[Collective, ...]
    sent: tuple[int, ...]
    received: tuple[int, ...]
    messages: tuple[int, ...]
    parameters: tuple[int, ...]
    gradients: tuple[int, ...]
    optimizer: tuple[int, ...]

    @property
    def state(self) -> tuple[int, ...]:
        """Bytes of parameters, gradients and optimizer states that each rank holds between steps."""
        return tuple(map(sum, zip(self.parameters, self.gradients, self.optimizer, strict=True)))

    @property
    def counts(self) -> dict[str, int]:
        """How often each kind of collective is called in one step."""
        return {kind: sum(c.count for c in self.collectives if c.kind == kind) for kind in self._kinds()}

    @property
    def payload(self) -> dict[str, int]:
        """Bytes of the tensors that each kind of collective is given in one step."""
        return {kind: sum(c.count * c.bytes for c in self.collectives if c.kind == kind) for kind in self._kinds()}

    def _kinds(self) -> list[str]:
        return list(dict.fromkeys(c.kind for c in self.collectives))


def pieces(elements: int, ranks: int) -> list[int]:
    """Elements of each rank's piece, as `torch.chunk` cuts: all alike but the last ones, which may be empty."""
    size = -(-elements // ranks)
    return [max(0, min(size, elements - rank * size)) for rank in range(ranks)]


def messages(kind: str, sizes: Sequence[int]) -> Iterator[Message]:
    """Every message of a collective, round by round.

    Args:
        kind: "reduce_scatter", "all_gather", "all_reduce" (the first, then the second), all on a ring, or "all_to_all"
            (round k: to the rank k places on).
        sizes: bytes of the pieces, one piece for each rank; rank r ends a reduce-scatter with the sum of piece r, and
            starts an all-gather with piece r. In an all-to-all every rank sends piece j to rank j.

    Raises:
        ValueError: there is no such collective.
    """
    ranks = len(sizes)
    if kind not in (*RINGS, "all_to_all"):
        raise ValueError(f"no collective is called {kind!r}; there are {', '.join(RINGS)} and all_to_all")
    start = 0
    if kind in ("reduce_scatter", "all_reduce"):
        for turn in range(ranks - 1):
            for rank in range(ranks):
                piece = (rank - 1 - turn) % ranks
                yield Message(turn, rank, (rank + 1) % ranks, piece, sizes[piece])
        start = ranks - 1
    if kind in ("all_gather", "all_reduce"):
        for turn in range(ranks - 1):
            for rank in range(ranks):
                piece = (rank - turn) % ranks
                yield Message(start + turn, rank, (rank + 1) % ranks, piece, sizes[piece])
    if kind == "all_to_all":
        for turn in range(1, ranks):
            for rank in range(ranks):
                target = (rank + turn) % ranks
                yield Message(turn - 1, rank, target, target, sizes[target])


def traffic(kind: str, sizes: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Bytes sent, bytes received and messages sent by each rank: the sums of `messages`, without making them.

    On a ring a rank sends each piece but one in a reduce-scatter (its own) and in an all-gather (its neighbour's).
    """
    ranks, whole = len(sizes), sum(sizes)
    if kind == "all_to_all":
        sent = [whole - sizes[rank] for rank in range(ranks)]
        return sent, [(ranks - 1) * sizes[rank] for rank in range(ranks)], [ranks - 1] * ranks
    sent, received, many = [0] * ranks, [0] * ranks, [0] * ranks
    for phase in ("reduce_scatter", "all_gather") if kind == "all_reduce" else (kind,):
        own = 0 if phase == "reduce_scatter" else 1
        for rank in range(ranks):
            sent[rank] += whole - sizes[(rank + own) % ranks]
            received[rank] += whole - sizes[(rank - 1 + own) % ranks]
            many[rank] += ranks - 1
    return sent, received, many


def groups_of(of: Any, units: Iterable[Any] = ()) -> Groups:
    """Shapes of the parameters, in the groups that `fully_shard` gathers together: the root's first.

    Args:
        of: a `Model` (each block is a unit), or a torch module.
        units: the submodules to which `fully_shard` was applied before the root.

    Example:
        >>> from torchbook.viz.memory import model_of
        >>> len(groups_of(model_of("8b")))
        33
    """
    if isinstance(of, Model):
        return _shapes(of)
    units = list(units)
    inside = [list(unit.parameters()) for unit in units]
    taken = {id(p) for group in inside for p in group}
    root = [p for p in of.parameters() if id(p) not in taken]
    return [[tuple(p.shape) for p in group] for group in [root, *inside] if group or group is root]


def _shapes(model: Model) -> Groups:
    h, f, kv = model.hidden, model.ffn, round(model.kv_width)
    norm: list[Shape] = [(h,), (h,)] if model.family == "gpt" else [(h,)]
    if model.family == "gpt":
        wide = h + 2 * kv
        block: list[Shape] = [*norm, (wide, h), (wide,), (h, h), (h,), *norm, (f, h), (f,), (h, f), (h,)]
    else:
        block = [*norm, (h, h), (kv, h), (kv, h), (h, h), *norm, (f, h), (f, h), (h, f)]
    root: list[Shape] = [(model.vocab, h), *([(model.positions, h)] if model.positions else [])]
    root += [] if model.tied else [(model.vocab, h)]
    return [root + norm, *([block] * model.layers)]


def shard_elements(shape: Shape, ranks: int) -> list[int]:
    """Elements of each rank's shard of a parameter: `fully_shard` cuts the first dimension, as `torch.chunk` does."""
    return [rows * prod(shape[1:]) for rows in pieces(shape[0] if shape else 1, ranks)]


def padded_elements(shape: Shape, ranks: int) -> int:
    """Elements of a parameter in an all-gather or reduce-scatter: every rank's shard is as large as the largest."""
    return ranks * max(shard_elements(shape, ranks))


def ddp_buckets(groups: Groups, element: int = 4, cap: float = 25 * MIB, first: float = MIB) -> list[int]:
    """Elements of DDP's buckets after the first step, in the order in which they leave.

    Gradients arrive in the reverse order of the parameters; a bucket is closed by the one that fills it. In the first
    step, in which DDP learns the order, all gradients are in one bucket.

    Args:
        groups: shapes of the parameters in the order of `module.parameters()`; the groups do not matter.
        element: bytes of an element.
        cap: bytes of a bucket; `bucket_cap_mb` times 2**20.
        first: bytes of the first bucket; DDP takes `cap` where `bucket_cap_mb` is given.
    """
    buckets, now, limit = [], 0, first
    for shape in reversed([shape for group in groups for shape in group]):
        now += prod(shape)
        if now * element >= limit:
            buckets.append(now)
            now, limit = 0, cap
    return [*buckets, now] if now else buckets


def simulate(
    strategy: str,
    groups: Groups,
    ranks: int,
    *,
    element: int = 4,
    gather: int | None = None,
    reduce: int | None = None,
    optimizer: str = "adamw",
    micros: int = 1,
    cap: float = 25 * MIB,
    first: float = MIB,
) -> Simulation:
    """One training step of a model whose parameters have these shapes.

    Args:
        strategy: "ddp" (from its third step on, without buffers; in the second it also broadcasts the buckets' order),
            "zero2" (`fully_shard` on every unit with `reshard_after_forward=False`) or "fsdp" (`fully_shard` on every
            unit).
        groups: shapes of the parameters, from `groups_of`.
        ranks: number of ranks.
        element: bytes of an element of parameter, gradient and optimizer state; 4 is float32.
        gather: bytes of an element in an all-gather, if `MixedPrecisionPolicy(param_dtype=…)` sets another.
        reduce: bytes of an element in a reduce-scatter, if its `reduce_dtype` sets another.
        optimizer: "sgd", "momentum" or "adamw".
        micros: micro-batches of the step. DDP accumulates under `no_sync()` and reduces once; `fully_shard`, as it is,
            gathers and reduces for each.
        cap, first: of DDP's buckets, in bytes.

    Raises:
        ValueError: there is no such strategy.

    Example:
        >>> step = simulate("fsdp", [[(30, 10)], [(70, 30), (70,)]], 4)
        >>> step.counts
        {'all_gather': 3, 'reduce_scatter': 2}
    """
    whole = [[prod(shape) for shape in group] for group in groups]
    calls: list[Collective] = []
    if strategy == "ddp":
        local = [sum(map(sum, whole))] * ranks
        calls = [Collective("all_reduce", n, element, ranks) for n in ddp_buckets(groups, element, cap, first)]
    elif strategy in ("zero2", "fsdp"):
        shards = [shard_elements(shape, ranks) for group in groups for shape in group]
        local = [sum(per_rank[rank] for per_rank in shards) for rank in range(ranks)]
        padded = [sum(padded_elements(shape, ranks) for shape in group) for group in groups]
        padded = [n for n in padded if n]
        units = padded[1:] if groups[0] else padded
        sends, back = gather or element, reduce or element
        forward = [Collective("all_gather", n, sends, ranks) for n in padded]
        again = [Collective("all_gather", n, sends, ranks) for n in reversed(units)] if strategy == "fsdp" else []
        shed = [Collective("reduce_scatter", n, back, ranks) for n in reversed(padded)]
        calls = (forward + again + shed) * micros
    else:
        raise ValueError(f"no strategy is called {strategy!r}; there are ddp, zero2 and fsdp")
    states = [int(optimizer_bytes(n, 0, optimizer, element)) for n in local]
    held = [n * element for n in local]
    return _step(ranks, calls, held, held, states)


def simulate_mlp(
    ranks: int, tokens: int, hidden: int, ffn: int, *, element: int = 4, bias: bool = True, input_grad: bool = True
) -> Simulation:
    """Forward and backward of a tensor-parallel MLP: the first matrix split by columns, the second by rows.

    The forward sums the partial outputs in one all-reduce; the backward sums the partial gradients of the input in
    another, if something before the MLP needs them. No optimizer state is counted.

    Args:
        ranks: ranks that share the MLP.
        tokens: rows of the input, batch times sequence.
        hidden: width of input and output.
        ffn: inner width.
        element: bytes of an element.
        bias: the matrices have biases; the second one's is whole on every rank.
        input_grad: the input needs a gradient.
    """
    calls = [Collective("all_reduce", tokens * hidden, element, ranks)] * (1 + input_grad)
    inner = pieces(ffn, ranks)
    held = [element * (2 * hidden * n + (n + hidden) * bias) for n in inner]
    return _step(ranks, calls, held, held, [0] * ranks)


def simulate_pipeline(stages: int, micros: int, elements: int, *, element: int = 4) -> Simulation:
    """The sends of one step of a pipeline with one stage on each rank; the parameters are not counted.

    Args:
        stages: number of stages and ranks.
        micros: micro-batches.
        elements: elements of one micro-batch's activations between two stages.
        element: bytes of each.
    """
    size = elements * element
    onward = [micros * size * (rank < stages - 1) for rank in range(stages)]
    back = [micros * size * (rank > 0) for rank in range(stages)]
    sent = [a + b for a, b in zip(onward, back, strict=True)]
    many = [micros * ((rank < stages - 1) + (rank > 0)) for rank in range(stages)]
    calls = (Collective("send", elements, element, 2, 2 * micros * (stages - 1)),) if stages > 1 else ()
    none = (0,) * stages
    return Simulation(stages, calls, tuple(sent), tuple(sent), tuple(many), none, none, none)


def _step(
    ranks: int, calls: Sequence[Collective], held: list[int], gradients: list[int], states: list[int]
) -> Simulation:
    sent, received, many = [0] * ranks, [0] * ranks, [0] * ranks
    kept: list[Collective] = []
    times: dict[Collective, int] = {}
    for call in calls:
        times[call] = times.get(call, 0) + call.count
        if kept and kept[-1] == call:
            kept[-1] = Collective(call.kind, call.elements, call.element, call.ranks, kept[-1].count + call.count)
        else:
            kept.append(call)
    for call, count in times.items():
        sizes = [n * call.element for n in pieces(call.elements, ranks)]
        for total, amounts in zip((sent, received, many), traffic(call.kind, sizes), strict=True):
            for rank in range(ranks):
                total[rank] += count * amounts[rank]
    return Simulation(
        ranks, tuple(kept), tuple(sent), tuple(received), tuple(many), tuple(held), tuple(gradients), tuple(states)
    )
