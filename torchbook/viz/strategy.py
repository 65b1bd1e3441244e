"""StrategyTool: which kind of parallel training a model needs on a cluster, with the numbers that decide.

Bytes, seconds and bytes per second; 1 GB is 10**9 bytes, a bandwidth is that of one direction. Memory is counted by the
formulas of `torchbook.viz.memory`, rings by those of `torchbook.viz.scaling`. They are estimates for choosing:

- Memory counts tensors. A tenth of each GPU is left for the CUDA context, workspaces and fragmentation.
- Every collective is a ring, bound by its slowest link. In a group that spans nodes, every member in a node uses a
  network card of its own, and every round waits once for the latency between nodes; an all-reduce has only as many
  rounds as NCCL's trees, twice the logarithm of its ranks. Contention and stragglers cost nothing here.
- Computing runs at one assumed rate, whatever the shapes. Attention is causal and fused.
- DDP's all-reduce hides behind the backward of the last micro-batch; gathers and reductions of `fully_shard` hide
  behind the forward and backward of theirs, and in a pipeline, which gathers and reduces once in a step, behind the
  first forward and the last backward. What tensor, context and pipeline parallelism send hides behind nothing.
- Pipelines run interleaved 1F1B with up to four model chunks on a GPU; the blocks are dealt out as evenly as possible,
  and the fullest stage counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from html import escape
from math import ceil
from typing import Any

import traitlets

from torchbook.viz import memory
from torchbook.viz.base import Visualizer, contract, defaults, named
from torchbook.viz.cluster import MIB, Simulation, groups_of, simulate
from torchbook.viz.memory import ACTIVATION_BYTES, ROOM, SHAPE, STATE_BYTES, Model
from torchbook.viz.scaling import hidden_time, ring_allreduce_time
from torchbook.viz.units import amount, count, counted, duration, plain, significant

__all__ = [
    "Estimate", "Layout", "Memory", "Plan", "Simulation", "Step", "StrategyTool", "Transfer", "candidates",
    "communication", "compute_flops", "estimate", "groups_of", "memory_per_gpu", "plan", "setting", "simulate",
]  # fmt: skip


MANY = 128  # GPUs from which on it is asked whether data parallelism keeps them busy
EXPOSED = 0.1  # of a step: more of it waiting for the network is too much
CHUNKS = 4  # of the model on each GPU of a pipeline
WHOLE = {"fp32": 4, "mixed": 4, "bf16": 2}  # bytes of a parameter, its gradient, as they stay
GATHERED = {"fp32": 4, "mixed": 2, "bf16": 2}  # bytes of a gathered parameter
UNSHARDED = {"fp32": "fp32", "mixed": "autocast", "bf16": "bf16"}  # names in torchbook.viz.memory
SHARDED = {"fp32": "fp32", "mixed": "master", "bf16": "bf16"}  # a policy casts inputs too, autocast does not
STRATEGIES = {
    "single": "one GPU",
    "ddp": "DDP",
    "zero2": "sharded optimizer and gradients (ZeRO-2)",
    "fsdp": "fully sharded (FSDP, ZeRO-3)",
    "hsdp": "sharded in a node, replicated over nodes (HSDP)",
    "cp": "context parallel × FSDP",
    "tp": "tensor parallel × FSDP",
    "3d": "3D: tensor × pipeline × data",
}


@cache
def setup() -> dict[str, Any]:
    """Fields, choices, cards and presets, which the page reads too; shape and sequence are those of MemoryBudget."""
    data, shared = dict(contract("strategy")), memory.setup()
    data["fields"] = {**{name: shared["fields"][name] for name in data["shared"]}, **data["fields"]}
    data["choices"] = {**{name: shared["choices"][name] for name in data["picks"]}, **data["choices"]}
    data["models"] = {name: shared["models"][name] for name in data["models"]}
    return data


@dataclass(frozen=True)
class Layout:
    """How many ways each dimension splits the work; their product is the number of GPUs.

    Neighbouring ranks are tensor parallel, then come context, shards, replicas and, farthest apart, pipeline stages.
    """

    replicate: int = 1
    shard: int = 1
    cp: int = 1
    tp: int = 1
    pp: int = 1
    reshard: bool = True

    @property
    def world(self) -> int:
        """GPUs."""
        return self.replicate * self.shard * self.cp * self.tp * self.pp

    @property
    def data(self) -> int:
        """Ways in which the sequences of a step are dealt out."""
        return self.replicate * self.shard

    @property
    def fsdp(self) -> int:
        """Ways in which parameters, gradients and states are cut: context-parallel ranks share them too."""
        return self.shard * self.cp


@dataclass(frozen=True)
class Share:
    """Numbers of parameters on one GPU before sharding: its part of its stage."""

    blocks: int
    block: float
    matrices: float
    root: float
    head: float
    total: float


@dataclass(frozen=True)
class Memory:
    """Bytes on one GPU."""

    parameters: float
    gradients: float
    optimizer: float
    gathered: float
    activations: float
    logits: float
    total: float
    fits: bool


@dataclass(frozen=True)
class Transfer:
    """What one GPU sends in one step for one purpose.

    `calls` is how often a collective is called, `size` the bytes of all its tensors together (as in a simulation's
    `counts` and `payload`), `sent` what one GPU sends for them. `hides` says behind what it can hide: the "forward",
    the "backward", the "first" micro-batch's forward, the "last" one's backward, or "never".
    """

    kind: str
    dim: str
    ranks: int
    what: str
    calls: int
    size: float
    sent: float
    bandwidth: float
    latency: float
    seconds: float
    hides: str


@dataclass(frozen=True)
class Estimate:
    """What a layout needs and how long a step takes."""

    name: str
    layout: Layout
    memory: Memory
    transfers: tuple[Transfer, ...]
    micros: int
    sequences: int
    wide: bool
    compute: float
    bubble: float
    sent: float
    communication: float
    hidden: float
    exposed: float
    step: float
    tokens_per_second: float
    fits: bool


@dataclass(frozen=True)
class Step:
    """A question of the decision tree, the two numbers that answer it, and the answer."""

    key: str
    question: str
    left: float
    right: float
    yes: bool
    compare: str
    told: str


@dataclass(frozen=True)
class Plan:
    """The walk through the tree, where it ends, and all that could be done instead."""

    strategy: str
    steps: tuple[Step, ...]
    candidates: dict[str, Estimate]
    fastest: str

    @property
    def chosen(self) -> Estimate | None:
        """What the tree ends at; None where nothing fits."""
        return self.candidates.get(self.strategy)


def setting(model: str | Model = "8b", **choices: Any) -> dict[str, Any]:
    """A complete setting; what is not given is as in `StrategyTool`.

    Args:
        model: a shape, or the name of one.
        **choices: traits of `StrategyTool`: seq, batch, global_batch, precision, nodes, gpus_per_node and others.

    Raises:
        ValueError: there is no such model or trait.
    """
    fields = defaults(setup())
    for name in choices:
        if name not in fields:
            raise ValueError(f"there is no setting {name!r}; there are {', '.join(fields)}")
    shape = model if isinstance(model, Model) else memory.model_of(model)
    return {**fields, **asdict(shape), **choices}


def shape_of(config: Mapping[str, Any]) -> Model:
    """The shape of the model in a setting."""
    return Model(**{name: config[name] for name in SHAPE})


def share(model: Model, layout: Layout, last: bool) -> Share:
    """Parameters of one GPU's part of the first or last stage, before sharding.

    Tensor parallelism splits matrices, the biases of column-wise ones, embedding and head; norms and other biases stay
    whole. A pipeline gives the embedding to the first stage, head and final norm to the last.
    """
    p, h = memory.parameters(model), model.hidden
    blocks = ceil(model.layers / layout.pp)
    whole = min(p.biases, 2 * h)  # biases of the row-wise matrices
    block = (p.attention + p.mlp + p.biases - whole) / layout.tp + whole + p.norms
    matrices = blocks * (p.attention + p.mlp) / layout.tp
    embedding = model.vocab * h / layout.tp + model.positions * h
    head = model.vocab * h / layout.tp
    if layout.pp == 1:
        root = embedding + (0 if model.tied else head) + p.final
    else:
        root = head + p.final if last else embedding
    return Share(blocks, block, matrices, root, head, blocks * block + root)


def micro_batches(config: Mapping[str, Any], layout: Layout) -> int:
    """Micro-batches of each replica in one step."""
    return max(1, ceil(config["global_batch"] / (layout.data * config["batch"])))


def chunks(config: Mapping[str, Any], layout: Layout) -> int:
    """Model chunks that a pipeline puts on each GPU, so that it fills faster."""
    return min(CHUNKS, ceil(config["layers"] / layout.pp)) if layout.pp > 1 else 1


def _stage_memory(config: Mapping[str, Any], layout: Layout, last: bool) -> Memory:
    model, precision, sharded = shape_of(config), config["precision"], layout.fsdp > 1
    part = share(model, layout, last)
    batch, seq, tp = config["batch"], config["seq"] / layout.cp, layout.tp
    name = SHARDED[precision] if sharded else UNSHARDED[precision]
    w, g, e = WHOLE[precision], GATHERED[precision], ACTIVATION_BYTES[name]
    held = w * part.total / layout.fsdp
    states = memory.optimizer_bytes(part.total, part.matrices, config["optimizer"], STATE_BYTES[name]) / layout.fsdp
    if not sharded:
        gathered = memory.autocast_copies(model) / (tp * layout.pp) if precision == "mixed" else 0.0
    elif layout.pp > 1:
        gathered = (g + w) * part.total
    elif layout.reshard:
        gathered = g * (2 * part.root + 3 * part.block)
    else:
        gathered = g * (part.total + part.root + part.block)
    flash = config["flash"] or layout.cp > 1
    tokens = batch * seq
    block = memory.block_activations(model, batch, seq, name, flash) / tp
    block += tokens * 2 * model.hidden * e * (1 - 1 / tp)
    start = tokens * model.hidden * memory.stream_bytes(name) / tp
    flying = 1.0 if last else min(micro_batches(config, layout), layout.pp + (layout.pp - 1) / chunks(config, layout))
    many = flying * part.blocks
    saved = many * start + (block - start) if config["checkpoint"] else many * block
    logits = 0.0
    if last:
        saved += memory.activations(replace(model, layers=0), batch, seq, name) / tp
        logits = memory.logits_bytes(model, batch, seq, name) / tp
    total = held + held + states + gathered + saved + logits
    return Memory(held, held, states, gathered, saved, logits, total, total <= ROOM * config["memory_gb"] * 1e9)


def memory_per_gpu(config: Mapping[str, Any], layout: Layout) -> Memory:
    """Bytes on the fullest GPU, by part.

    - parameters, gradients: of this GPU's part, divided by the ranks that shard it;
    - optimizer: its states, likewise;
    - gathered: what is whole for a while. `fully_shard` keeps the root's group (embedding, head, final norm) gathered,
      two blocks (one computes, the next is on its way), and the gradients of the root and of one block until they are
      reduced; with `reshard_after_forward=False` all blocks. A pipeline keeps its stage's parameters and the sums of
      their gradients whole until the last micro-batch. Without sharding: the bf16 copies of autocast;
    - activations, logits: of one micro-batch, or of as many as are in flight in a pipeline.

    Args:
        config: a setting, from `setting` or `StrategyTool.setting`.
        layout: the degrees of parallelism.
    """
    last = _stage_memory(config, layout, True)
    if layout.pp == 1:
        return last
    first = _stage_memory(config, layout, False)
    return last if last.total >= first.total else first


def compute_flops(config: Mapping[str, Any]) -> float:
    """FLOPs of forward and backward for one token: 6 for each matrix element, and causal attention.

    With checkpointed blocks their forward runs twice.
    """
    model = shape_of(config)
    p = memory.parameters(model)
    blocks = 2 * p.matrices + 2 * model.layers * model.hidden * config["seq"]
    return 3 * (blocks + 2 * model.vocab * model.hidden) + (blocks if config["checkpoint"] else 0)


def link(config: Mapping[str, Any], ranks: int, stride: int) -> tuple[float, float]:
    """Bytes per second, and seconds of latency of a round, of a ring through `ranks` GPUs that are `stride` apart.

    Inside a node it is the node's link. Over nodes, each of the group's members in a node has a network card.
    """
    node, inside = config["gpus_per_node"], config["intra_gb"] * 1e9
    if ranks * stride <= node:
        return inside, 0.0
    members = max(1, min(ranks, node // stride))
    return min(inside, members * config["inter_gb"] * 1e9), config["latency_us"] * 1e-6


def communication(config: Mapping[str, Any], layout: Layout) -> tuple[Transfer, ...]:
    """What the GPU of the fullest stage sends in one step, for each purpose.

    A ring over n ranks sends 2(n − 1)/n of the tensor for an all-reduce, (n − 1)/n for an all-gather or a
    reduce-scatter. With sequence parallelism tensor parallelism replaces each all-reduce by the other two: as many
    bytes.

    Args:
        config: a setting.
        layout: the degrees of parallelism.
    """
    model, precision = shape_of(config), config["precision"]
    ends = [share(model, layout, last) for last in (True, False)]
    part = ends[0] if ends[0].total >= ends[1].total else ends[1]
    micros, tp, cp, fsdp = micro_batches(config, layout), layout.tp, layout.cp, layout.fsdp
    w, g = WHOLE[precision], GATHERED[precision]
    transfers: list[Transfer] = []

    def ring(kind: str, dim: str, ranks: int, stride: int, what: str, calls: int, size: float, hides: str) -> None:
        if ranks == 1:
            return
        reduced = kind == "all-reduce"
        half = 1.0 if reduced else 0.5
        speed, latency = link(config, ranks, stride)
        rounds = 2 * (ranks - 1).bit_length() if reduced else ranks - 1
        sent = half * ring_allreduce_time(size, ranks, 1.0)
        seconds = half * ring_allreduce_time(size, ranks, speed) + calls * rounds * latency
        transfers.append(Transfer(kind, dim, ranks, what, calls, size, sent, speed, latency, seconds, hides))

    def send(dim: str, ranks: int, stride: int, what: str, calls: int, each: float) -> None:
        speed, latency = link(config, ranks, stride)
        size = calls * each
        seconds = size / speed + calls * latency
        transfers.append(Transfer("send", dim, ranks, what, calls, size, size, speed, latency, seconds, "never"))

    whole = w * part.total
    if fsdp > 1 and layout.pp > 1:
        ring("all-gather", "shard", fsdp, tp, "parameters of the stage", part.blocks + 1, g * part.total, "first")
        ring("reduce-scatter", "shard", fsdp, tp, "gradients", part.blocks + 1, whole, "last")
    elif fsdp > 1:
        groups, blocks = micros * (part.blocks + 1), micros * part.blocks
        ring("all-gather", "shard", fsdp, tp, "parameters, forward", groups, micros * g * part.total, "forward")
        if layout.reshard:
            again = micros * g * (part.total - part.root)
            ring("all-gather", "shard", fsdp, tp, "blocks again, backward", blocks, again, "backward")
        ring("reduce-scatter", "shard", fsdp, tp, "gradients", groups, micros * whole, "backward")
        shards = micros * whole / fsdp
        ring("all-reduce", "replicate", layout.replicate, tp * fsdp, "gradient shards", groups, shards, "backward")
    else:
        buckets = ceil(whole / (25 * MIB))
        ring("all-reduce", "replicate", layout.replicate, tp, "gradients", buckets, whole, "last")
    e = GATHERED[precision]
    piece = config["batch"] * config["seq"] / cp * model.hidden * e  # of the stream, on its way
    passes = 3 if config["checkpoint"] else 2
    edges = 2 if layout.pp == 1 else 1  # the embedding's output, the gradient of the head's input
    calls = micros * (2 * passes * part.blocks + edges)
    ring("all-reduce", "tp", tp, 1, "activations", calls, calls * piece, "never")
    if cp > 1:
        each = 2 * model.kv_width * e * config["batch"] * config["seq"] / cp / tp
        send("cp", cp, tp, "keys and values", micros * part.blocks * (passes + 1) * (cp - 1), each)
    if layout.pp > 1:
        calls = micros * (2 if layout.pp > 2 or chunks(config, layout) > 1 else 1) * chunks(config, layout)
        send("pp", layout.pp, layout.world // layout.pp, "activations, their gradients", calls, piece / tp)
    return tuple(transfers)


def estimate(config: Mapping[str, Any], layout: Layout, name: str = "") -> Estimate:
    """Memory, communication and time of one layout.

    Args:
        config: a setting.
        layout: the degrees of parallelism.
        name: what to call it.
    """
    held, transfers, micros = (
        memory_per_gpu(config, layout),
        communication(config, layout),
        micro_batches(config, layout),
    )
    sequences = layout.data * config["batch"] * micros
    tokens = sequences * config["seq"]
    rate = layout.world * config["tflops"] * 1e12 * config["utilisation"] / 100
    compute = tokens * compute_flops(config) / rate
    fullest = ceil(config["layers"] / layout.pp) * layout.pp / config["layers"]
    bubble = compute * (fullest * (1 + (layout.pp - 1) / (micros * chunks(config, layout))) - 1)
    backward = 3 / 4 if config["checkpoint"] else 2 / 3
    forward, per_micro = 1 - backward, compute / micros
    behind = {"forward": (compute, forward), "backward": (compute, backward), "first": (per_micro, forward),
              "last": (per_micro, backward)}  # fmt: skip
    hidden = exposed = 0.0
    for hides in ("forward", "backward", "first", "last", "never"):
        seconds = sum(t.seconds for t in transfers if t.hides == hides)
        some = hidden_time(seconds, behind[hides][0], 1, behind[hides][1]) if hides in behind else 0.0
        hidden, exposed = hidden + some, exposed + (seconds - some)
    step = compute + bubble + exposed
    wide = layout.data * config["batch"] > config["global_batch"]
    return Estimate(
        name, layout, held, transfers, micros, sequences, wide, compute, bubble, sum(t.sent for t in transfers),
        hidden + exposed, hidden, exposed, step, tokens / step, held.fits,
    )  # fmt: skip


def _divisors(n: int) -> list[int]:
    return [d for d in range(2, n + 1) if n % d == 0]


def tensor_degrees(config: Mapping[str, Any]) -> list[int]:
    """Degrees of tensor parallelism: inside a node, and whole heads for every GPU."""
    heads = config["heads"], config["kv_heads"]
    return [d for d in _divisors(config["gpus_per_node"]) if d <= 64 and not heads[0] % d and not heads[1] % d]


def context_degrees(config: Mapping[str, Any]) -> list[int]:
    """Degrees of context parallelism: powers of two that cut sequence and cluster evenly."""
    world = config["gpus_per_node"] * config["nodes"]
    return [d for d in (2, 4, 8, 16, 32, 64, 128, 256) if not world % d and not config["seq"] % (2 * d)]


def _split(world: int, dim: str, degree: int) -> Layout:
    rest = world // degree
    return Layout(shard=rest, cp=degree) if dim == "cp" else Layout(shard=rest, tp=degree)


def _layouts_3d(config: Mapping[str, Any], cp: int) -> Iterator[Layout]:
    world = config["gpus_per_node"] * config["nodes"]
    for tp in tensor_degrees(config):
        for pp in (2, 4, 8, 16, 32, 64):
            if world % (cp * tp * pp) or pp > config["layers"]:
                continue
            data = world // (cp * tp * pp)
            yield Layout(shard=data, cp=cp, tp=tp, pp=pp, reshard=False)


def _better(a: Estimate, b: Estimate | None) -> bool:
    """Is a better than b: it fits, it is not too wide, it is faster; of those that do not fit, the smaller."""
    if b is None or a.fits != b.fits:
        return b is None or a.fits
    if not a.fits:
        return a.memory.total < b.memory.total
    if a.wide != b.wide:
        return b.wide
    return a.tokens_per_second > b.tokens_per_second


def candidates(config: Mapping[str, Any]) -> dict[str, Estimate]:
    """Every strategy that the cluster allows: the smallest degree that fits, in 3D the fastest degrees.

    3D splits the sequence too only if nothing else fits. Replicas should not be more than the sequences of a step.
    """
    world, node = config["gpus_per_node"] * config["nodes"], config["gpus_per_node"]
    estimates = {"single": estimate(config, Layout(), "single")}
    if world == 1:
        return estimates
    layouts = {
        "ddp": Layout(replicate=world),
        "zero2": Layout(shard=world, reshard=False),
        "fsdp": Layout(shard=world),
    }
    if config["nodes"] > 1 and node > 1:
        layouts["hsdp"] = Layout(replicate=config["nodes"], shard=node)
    for name, layout in layouts.items():
        estimates[name] = estimate(config, layout, name)
    for name, degrees in (("cp", context_degrees(config)), ("tp", tensor_degrees(config))):
        best: Estimate | None = None
        for degree in degrees:
            candidate = estimate(config, _split(world, name, degree), name)
            if best is None or not best.fits or (candidate.fits and best.wide and not candidate.wide):
                best = candidate
        if best:
            estimates[name] = best
    best = None
    for cp in [1, *context_degrees(config)]:
        for layout in _layouts_3d(config, cp):
            candidate = estimate(config, layout, "3d")
            if _better(candidate, best):
                best = candidate
        if best and best.fits and not best.wide:
            break
    if best:
        estimates["3d"] = best
    return estimates


def plan(config: Mapping[str, Any]) -> Plan:
    """Walk the decision tree, one question after the other, each answered by two numbers.

    Args:
        config: a setting, from `setting` or `StrategyTool.setting`.

    Example:
        >>> plan(setting("8b", gpus_per_node=8)).strategy
        'zero2'
    """
    every = candidates(config)
    steps: list[Step] = []
    strategy = _walk(config, every, steps)
    fastest: Estimate | None = None
    for candidate in every.values():
        if candidate.fits and _better(candidate, fastest):
            fastest = candidate
    return Plan(strategy, tuple(steps), every, fastest.name if fastest else "none")


def _walk(config: Mapping[str, Any], every: dict[str, Estimate], steps: list[Step]) -> str:
    world = config["gpus_per_node"] * config["nodes"]
    limit = ROOM * config["memory_gb"] * 1e9

    def ask(key: str, question: str, left: float, right: float, yes: bool, compare: str, explanation: str) -> bool:
        steps.append(Step(key, question, left, right, yes, compare, explanation))
        return yes

    def fits(key: str, question: str, candidate: Estimate, explanation: str) -> bool:
        size = candidate.memory.total
        compare = f"{amount(size)} {'≤' if candidate.fits else '>'} {amount(limit)}"
        return ask(key, question, size, limit, candidate.fits, compare, explanation)

    def split(name: str, question: str) -> bool:
        candidate = every.get(name)
        if candidate is None:
            explanation = "Heads, sequence or blocks cannot be cut evenly over these GPUs."
            return ask(name, question, 0.0, limit, False, "none", explanation)
        return fits(name, question, candidate, f"{describe_layout(candidate.layout)}; {_sums(candidate.memory)}.")

    against = f"{plain(100 * ROOM)} % of {plain(config['memory_gb'])} GB are counted on."
    alone = every["single" if world == 1 else "ddp"]
    details = f"{_sums(alone.memory)}; {against} The data set does not count: a batch is on the GPU, the data are not."
    if fits("fits", "Does it all fit on one GPU?", alone, details):
        return alone.name
    if world == 1:
        return "none"
    current = every["zero2"]
    question = f"With gradients and optimizer states sharded over {world} GPUs?"
    if fits(
        "barely", question, current, f"{_sums(current.memory)}; the parameters are whole from forward to backward."
    ):
        return "zero2"
    single, current = every["single"].memory, every["fsdp"]
    state = single.parameters + single.gradients + single.optimizer
    details = f"{_sums(current.memory)}; the whole state, {amount(state)}, would fill {ceil(state / limit)} GPUs."
    if fits("shard", "With the parameters sharded too?", current, details):
        now = "fsdp"
    else:
        held = memory_per_gpu({**config, "batch": 1}, Layout(shard=world))
        saved = held.activations + held.logits
        long = saved > limit
        details = "Activations and logits of a single sequence, with nothing else on the GPU."
        compare = f"{amount(saved)} {'>' if long else '≤'} {amount(limit)}"
        ask("sequence", "Is one sequence too long for a GPU?", saved, limit, long, compare, details)
        wide = ("tp", "With every layer split over GPUs of a node?")
        parts = ("cp", "With the sequence split over GPUs?")
        tried = (parts, wide) if long else (wide, parts)
        stages = ("3d", "With layers split and pipeline stages?")
        now = next((name for name, question in (*tried, stages) if split(name, question)), "none")
        if now in ("none", "3d"):
            return now
    spread = world >= MANY and config["nodes"] > 1
    details = f"{counted(config['nodes'], 'node')}; with fewer than {MANY} GPUs nothing more is asked."
    compare = f"{world} {'≥' if world >= MANY else '<'} {MANY}"
    if not ask("many", "Hundreds of GPUs over nodes?", world, MANY, spread, compare, details):
        return now
    current, other = every[now], every.get("3d")
    part = current.exposed / current.step
    details = f"{current.layout.data * config['batch']} sequences at once, {config['global_batch']} wanted in a step; "
    details += f"{duration(current.exposed)} of {duration(current.step)} is waiting for the network."
    compare = f"{significant(100 * part)} % waiting{', too many replicas' * current.wide}"
    slow = current.wide or part > EXPOSED
    if not ask("busy", "Are there too many replicas, or do they wait?", part, EXPOSED, slow, compare, details):
        return now
    if other is None:
        return now
    yes = other.fits and _better(other, current)
    rates = other.tokens_per_second, current.tokens_per_second
    compare = f"{speed(rates[0])}, not {speed(rates[1])}"
    details = f"{describe_layout(other.layout)}; {_sums(other.memory)}."
    return "3d" if ask("3d", "Is it better with pipeline stages?", *rates, yes, compare, details) else now


def _sums(held: Memory) -> str:
    state = held.parameters + held.gradients + held.optimizer
    return (
        f"{amount(state)} of state, {amount(held.gathered)} gathered or cast, {amount(held.activations)} of "
        f"activations, {amount(held.logits)} of logits"
    )


def speed(tokens_per_second: float) -> str:
    """Tokens per second, with three digits."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if tokens_per_second >= size:
            return f"{significant(tokens_per_second / size)} {unit} tokens/s"
    return f"{significant(tokens_per_second)} tokens/s"


NAMES = {"pp": "pipeline", "replicate": "replicas", "shard": "shards", "cp": "context", "tp": "tensor"}


def describe_layout(layout: Layout) -> str:
    """The degrees that are more than one, outermost first."""
    degrees = {"pp": layout.pp, "replicate": layout.replicate, "shard": layout.shard, "cp": layout.cp, "tp": layout.tp}
    return " × ".join(f"{n} {NAMES[name]}" for name, n in degrees.items() if n > 1) or "one GPU"


class StrategyTool(Visualizer):
    """A cluster's GPUs, what each keeps under every way to split the work, and the decision tree that chooses one.

    For the chosen strategy and for each other one: memory of a GPU by part, bytes that it sends for each collective and
    to whom, time of computing and of waiting for the network. On the plain page the same figure works without a kernel.

    Args:
        model: name of a shape: "gpt2", "1b", "3b", "7b", "8b", "13b", "70b" or "405b".
        card: name of a GPU that sets memory, link and peak: "h200", "h100", "a100" or "rtx4090".
        show: name of the candidate whose parts are shown; empty for the one that the tree ends at.

    Raises:
        ValueError: there is no such preset, model or card.
        traitlets.TraitError: a number is out of its range.

    Example:
        >>> StrategyTool(preset="70b").plan.strategy
        'fsdp'
    """

    contract = setup()
    show = traitlets.Enum(("", *STRATEGIES), "", help="The candidate that is shown in detail.").tag(sync=True)

    def __init__(self, *, model: str | None = None, card: str | None = None, **traits: Any) -> None:
        shape = {} if model is None else named(setup()["models"], model, "model")["shape"]
        of = {} if card is None else named(setup()["cards"], card, "card")["set"]
        super().__init__(**{**shape, **of, **traits})

    @property
    def plan(self) -> Plan:
        """The walk through the tree and every candidate."""
        return plan(self.setting)

    def _describe(self) -> str:
        return describe(self.setting, self.show)

    def _draw(self) -> str:
        return _picture(self.setting, self.words, self.show)


def describe(config: Mapping[str, Any], show: str = "") -> str:
    """The setting, the walk and its end in sentences."""
    all_of = plan(config)
    world = config["gpus_per_node"] * config["nodes"]
    many = f"{world} GPUs in {counted(config['nodes'], 'node')}" if world > 1 else "one GPU"
    size = count(round(memory.parameters(shape_of(config)).total))
    text = f"{size} parameters on {many}. "
    text += " ".join(f"{s.question} {'Yes' if s.yes else 'No'}, {s.compare}." for s in all_of.steps)
    chosen = all_of.chosen
    if chosen is None:
        text += " The tree ends with nothing that fits."
    else:
        text += f" The tree ends at {STRATEGIES[chosen.name]}: {_describe_estimate(chosen)}."
    if all_of.fastest not in ("none", all_of.strategy):
        text += f" By these estimates {STRATEGIES[all_of.fastest]} is faster."
    shown = all_of.candidates.get(show)
    if shown is not None and show != all_of.strategy:
        text += f" Shown instead is {STRATEGIES[show]}: {_describe_estimate(shown)}."
    return text


def _describe_estimate(candidate: Estimate) -> str:
    return (
        f"{describe_layout(candidate.layout)}, {amount(candidate.memory.total)} on each GPU, which "
        f"{'fits' if candidate.fits else 'does not fit'}; {amount(candidate.sent)} sent by each GPU in a step of "
        f"{duration(candidate.step)}, {duration(candidate.exposed)} of it waiting; {speed(candidate.tokens_per_second)}"
    )


@dataclass(frozen=True)
class Part:
    """What a rank keeps of the model, in fractions of its width and depth, and which part of a step's tokens it has."""

    x: float
    width: float
    y: float
    height: float
    start: float
    tokens: float
    piece: int
    pieces: int


def part_of(rank: int, layout: Layout) -> Part:
    """The part of a rank: stages lie one below the other, slices beside each other, and a slice's shards in it.

    Ranks of the same `piece`, of `pieces`, keep the same.
    """
    place, rest = {}, rank
    for dim in ("tp", "cp", "shard", "replicate", "pp"):
        rest, place[dim] = divmod(rest, getattr(layout, dim))
    inside = place["shard"] * layout.cp + place["cp"]
    start = place["replicate"] * layout.shard + place["shard"] + place["cp"] / layout.cp
    return Part(
        (place["tp"] + inside / layout.fsdp) / layout.tp, 1 / (layout.tp * layout.fsdp), place["pp"] / layout.pp,
        1 / layout.pp, start / layout.data, 1 / (layout.data * layout.cp),
        (place["pp"] * layout.tp + place["tp"]) * layout.fsdp + inside, layout.pp * layout.tp * layout.fsdp,
    )  # fmt: skip


DRAWN = 8, 8  # nodes, and GPUs of each
COLOURS = {
    "parameters": "#2f6fb5", "gradients": "#c96a1f", "optimizer": "#7a52b3", "gathered": "#a9c9ec",
    "activations": "#2f8a57", "logits": "#a9d9bd",
}  # fmt: skip


def _picture(config: Mapping[str, Any], words: str, show: str = "") -> str:
    """Static drawing: nodes with what each GPU keeps and sees, and one GPU's memory against the limit."""
    all_of = plan(config)
    one = all_of.candidates.get(show) or all_of.chosen or [*all_of.candidates.values()][-1]
    node, limit = config["gpus_per_node"], ROOM * config["memory_gb"] * 1e9
    nodes, each = min(config["nodes"], DRAWN[0]), min(node, DRAWN[1])
    rows = min(4, nodes, each) if nodes > 1 else 1  # of nodes; of one node, GPUs stand in two rows
    down = 1 if nodes > 1 else min(2, each)
    columns = ceil(nodes / rows) * ceil(each / down)
    wide, high = 400 / columns, 200 / (rows * down)
    parts: list[str] = []

    def rect(x: float, y: float, width: float, height: float, more: str) -> str:
        return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 2):.1f}" height="{max(height, 2):.1f}" {more}/>'

    def text(x: float, y: float, label: str, more: str = "") -> None:
        parts.append(f'<text x="{x:g}" y="{y:g}"{more}>{escape(label)}</text>')

    for at in range(nodes):
        for i in range(each):
            rank = at * config["nodes"] // nodes * node + i
            across = ceil(each / down)
            x = (at // rows * across + i % across) * wide
            y = 20 + (at % rows * down + i // across) * high
            width, deep = wide - 6, high - 13
            cell = rect(x, y, wide - 4, high - 4, 'fill="none" stroke="currentColor" stroke-opacity=".5"')
            if rank < one.layout.world:
                part = part_of(rank, one.layout)
                hue = 175 + 145 * (part.piece / (part.pieces - 1) if part.pieces > 1 else 0.3)
                cell += rect(x + 1 + part.x * width, y + 1 + part.y * deep, part.width * width, part.height * deep,
                             f'fill="hsl({hue:.0f} 50% 45%)"')  # fmt: skip
                cell += rect(x + 1 + part.start * width, y + deep + 3, part.tokens * width, 4, 'fill="currentColor"')
            parts.append(f"<g>{cell}</g>")
    scale, foot, left = 150 / limit, 216.0, 430.0
    bottom, edge, held = foot, foot - limit * scale, asdict(one.memory)
    for name, colour in COLOURS.items():
        size = min(held[name] * scale, bottom - 26)
        if size > 0:
            parts.append(rect(left, bottom - size, 46, size, f'fill="{colour}"'))
            if size >= 15 and abs(bottom - size / 2 - edge) > 14:
                text(left + 56, bottom - size / 2 + 4, f"{name} {amount(held[name])}")
            bottom -= size
    if not one.fits:
        parts.append(rect(left, bottom, 46, edge - bottom, 'fill="#c62f3b" fill-opacity=".7" stroke="#c62f3b"'))
    parts.append(f'<path d="M{left - 4} {edge}H{left + 52}" stroke="currentColor" stroke-width="2"/>')
    text(left + 56, edge + 4, f"limit {amount(limit)}", ' font-weight="700" paint-order="stroke"')
    world = config["nodes"] * node
    text(0, 12, f"{nodes * each} of {world} GPUs" if nodes * each < world else counted(world, "GPU"))
    text(left, 12, f"{amount(one.memory.total)}{'' if one.fits else ', too much'}", ' font-weight="700"')
    title = STRATEGIES[one.name] if one.fits or one.name == show else "nothing fits"
    text(0, 240, f"{title}: {describe_layout(one.layout)}" if one.layout.world > 1 else title, ' font-weight="700"')
    text(0, 258, "Filled: what a GPU keeps of the model. Below: its part of the tokens.")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 620 266" '
        f'style="max-width:min(100%,620px);height:auto" font-family="system-ui,sans-serif" '
        f'font-size="13" fill="currentColor" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )
