"""MemoryBudget: what training or inference of a transformer holds in a GPU's memory, and the formulas as functions.

All sizes are bytes, 1 GB is 10**9 of them. The formulas count tensors: parameters, gradients, states, what autograd
saves for the backward, logits, cache. The CUDA context, cuBLAS workspaces, fragmentation, and tensors that live only
while one kernel runs are not counted; they come to a few per cent and about one GB.

The block they describe is pre-norm: `x = x + attention(norm(x)); x = x + mlp(norm(x))`, without dropout. A "gpt" block
has LayerNorm, biases, one matrix for queries, keys and values, and an MLP of two matrices with GELU; a "llama" block
has RMSNorm, no biases, rotary positions, and an MLP of three matrices with SwiGLU.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from html import escape
from typing import Any

from torchbook.viz.base import Visualizer, contract, defaults, named
from torchbook.viz.units import amount, count, plain

setup = partial(contract, "memory")

WEIGHT_BYTES = {"fp32": 4, "autocast": 4, "master": 2, "bf16": 2}
ACTIVATION_BYTES = {"fp32": 4, "autocast": 2, "master": 2, "bf16": 2}
STATE_BYTES = {"fp32": 4, "autocast": 4, "master": 4, "bf16": 2}
STATE_8BIT = 1 + 4 / 256  # a byte, and a float32 scale for each 256 of them
QUANT_4BIT = 0.5 + 4 / 64  # half a byte, and a float32 scale for each 64 weights
ADAPTER_BYTES = 4  # adapters, their gradients and states stay float32
ROOM = 0.9  # of a GPU's memory is counted on where GPUs are counted; the rest is for what is not counted


@dataclass(frozen=True)
class Model:
    """The shape of a transformer; `model_of("8b")` is Llama 3 of 8 billion parameters."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int
    positions: int = 0
    family: str = "llama"
    tied: bool = False

    @property
    def kv_width(self) -> float:
        """Elements of one token's keys, or values, in one layer."""
        return self.hidden * self.kv_heads / self.heads


@dataclass(frozen=True)
class Parameters:
    """Numbers of parameters."""

    attention: float  # matrices of one block
    mlp: float
    biases: float  # of one block
    norms: float
    block: float  # all of one block
    matrices: float  # of all blocks: what Muon trains, and what is quantised
    embedding: float
    head: float
    final: float
    total: float


def parameters(model: Model) -> Parameters:
    """Count the parameters of a model."""
    h, f, kv, gpt = model.hidden, model.ffn, model.kv_width, model.family == "gpt"
    attention = h * (h + 2 * kv) + h * h
    mlp = (2 if gpt else 3) * h * f
    biases = h + 2 * kv + h + f + h if gpt else 0
    norms = 4 * h if gpt else 2 * h
    block = attention + mlp + biases + norms
    embedding = model.vocab * h + model.positions * h
    head = 0 if model.tied else model.vocab * h
    final = norms / 2
    total = model.layers * block + embedding + head + final
    matrices = model.layers * (attention + mlp)
    return Parameters(attention, mlp, biases, norms, block, matrices, embedding, head, final, total)


def adapter_parameters(model: Model, rank: int, targets: str = "all") -> float:
    """Parameters of LoRA: `rank` times inputs plus outputs of each matrix beside which it stands.

    Args:
        model: the model whose matrices are adapted.
        rank: inner width of an adapter.
        targets: "attention" (queries, keys, values, output) or "all" (the MLP's matrices too).
    """
    h, f, kv = model.hidden, model.ffn, model.kv_width
    qkv = h + (h + 2 * kv) if model.family == "gpt" else (h + h) + 2 * (h + kv)
    wide: float = qkv + (h + h)
    if targets == "all":
        wide += (2 if model.family == "gpt" else 3) * (h + f)
    return model.layers * rank * wide


def frozen_bytes(model: Model, bits: int, element: float) -> float:
    """Bytes of weights that do not train, where the blocks' matrices may be quantised.

    With 4 bits there is a float32 scale for each 64 weights (NF4 without double quantisation), with 8 bits one for each
    output row (LLM.int8). Embedding, head, biases and norms stay as they are.

    Args:
        model: the shape.
        bits: 16 (nothing is quantised), 8 or 4.
        element: bytes of a weight that is not quantised.
    """
    p = parameters(model)
    if bits == 16:
        return p.total * element
    h, f = model.hidden, model.ffn
    rows = model.layers * (h + 2 * model.kv_width + h + (f + h if model.family == "gpt" else f + f + h))
    quantised = p.matrices * QUANT_4BIT if bits == 4 else p.matrices + 4 * rows
    return quantised + (p.total - p.matrices) * element


def optimizer_bytes(trained: float, matrices: float, optimizer: str = "adamw", element: float = 4) -> float:
    """Bytes of an optimizer's states, without its scalars.

    Args:
        trained: number of parameters that train.
        matrices: how many of them are in matrices of the blocks, which Muon trains with one momentum each.
        optimizer: "sgd", "momentum", "adamw", "adamw8" (a byte for each moment, a float32 scale for each 256) or "muon"
            (AdamW for the rest).
        element: bytes of an element of a state; torch gives a state the dtype of its parameter.

    Raises:
        ValueError: there is no such optimizer.
    """
    if optimizer == "adamw8":
        return 2 * STATE_8BIT * trained
    states = {
        "sgd": 0.0,
        "momentum": 1.0 * trained,
        "adamw": 2.0 * trained,
        "muon": matrices + 2 * (trained - matrices),
    }
    if optimizer not in states:
        raise ValueError(f"no optimizer is called {optimizer!r}; there are {', '.join([*states, 'adamw8'])}")
    return states[optimizer] * element


def autocast_copies(model: Model) -> float:
    """Bytes of the bf16 copies of matrices and biases that autocast makes, and autograd saves, in each step."""
    p = parameters(model)
    return 2 * (p.matrices + model.layers * p.biases + model.vocab * model.hidden)


def stream_bytes(precision: str, mode: str = "train") -> int:
    """Bytes of an element of the residual stream, which autocast leaves in float32 if the weights are."""
    return 4 if precision == "fp32" or (precision == "autocast" and mode == "train") else 2


def norm_bytes(model: Model) -> int:
    """Bytes that one norm saves of one token beside its input: mean and 1/std, or 1/rms, in float32."""
    return 8 if model.family == "gpt" else 4


def block_activations(
    model: Model, batch: int, seq: int, precision: str = "fp32", flash: bool = True, mode: str = "train"
) -> float:
    """Bytes that autograd saves for the backward of one block.

    Of each token: the stream before each norm (2h); queries, attention's output and the two norms' outputs (4h); keys
    and values; in the MLP `f` twice (before and after GELU) or four times (gate, silu(gate), up, their product).
    Under autocast a Llama block saves a bf16 copy of the norm's output for each of its three and two matrices. Fused
    attention saves a float32 per head and token. Written out, it saves `s` probabilities per head and token, and keys
    and values of every head; autocast computes softmax in float32 on a GPU, so 4 bytes and a bf16 copy of 2.

    Args:
        model: the shape.
        batch: sequences.
        seq: tokens in each.
        precision: "fp32", "autocast", "master" or "bf16".
        flash: attention is one fused kernel.
        mode: "train", or "lora", whose frozen weights are bf16 unless the precision is "fp32".
    """
    h, kv, e = model.hidden, model.kv_width, ACTIVATION_BYTES[precision]
    split = model.family == "llama" and precision == "autocast" and mode == "train"
    normed = 3 + 2 if split else 1 + 1
    mlp = (2 if model.family == "gpt" else 4) * model.ffn
    token: float = 2 * h * stream_bytes(precision, mode) + (2 + normed) * h * e + mlp * e + 2 * norm_bytes(model)
    if flash:
        token += 2 * kv * e + 4 * model.heads
    else:
        token += 2 * h * e + model.heads * seq * (6 if precision == "autocast" else e)
    return batch * seq * token


def activations(
    model: Model,
    batch: int,
    seq: int,
    precision: str = "fp32",
    flash: bool = True,
    checkpoint: bool = False,
    mode: str = "train",
) -> float:
    """Bytes saved for the backward of all blocks, the final norm and the embedding, without logits.

    With checkpointing each block keeps its input alone, and one block at a time is computed again: its activations
    come on top. LoRA is counted like full training, which is a little too much: a frozen matrix needs no input.
    """
    tokens, stream = batch * seq, stream_bytes(precision, mode)
    block = block_activations(model, batch, seq, precision, flash, mode)
    start = tokens * model.hidden * stream
    blocks = model.layers * start + (block - start) if checkpoint else model.layers * block
    final = tokens * (model.hidden * (stream + ACTIVATION_BYTES[precision]) + norm_bytes(model) + 8)
    return blocks + final


def logits_bytes(model: Model, batch: int, seq: int, precision: str = "fp32") -> float:
    """Bytes of the logits, and of their log-softmax that cross-entropy saves (float32 under autocast)."""
    e = ACTIVATION_BYTES[precision]
    return batch * seq * model.vocab * (e + (4 if precision == "autocast" else e))


def kv_cache_bytes(model: Model, batch: int, seq: int, element: float = 2) -> float:
    """Bytes of keys and values of all layers and tokens."""
    return 2 * model.layers * model.kv_width * batch * seq * element


@dataclass(frozen=True)
class Results:
    """What follows from a setting: numbers of parameters, then bytes on each GPU."""

    parameters: float
    trained: float
    weights: float
    copies: float
    gradients: float
    optimizer: float
    master: float
    gathered: float
    activations: float
    logits: float
    cache: float
    total: float
    room: float
    fits: bool


PARTS = ("weights", "copies", "gradients", "optimizer", "master", "gathered", "activations", "logits", "cache")


SHAPE = ("layers", "hidden", "heads", "kv_heads", "ffn", "vocab", "positions", "family", "tied")


def results(setting: Mapping[str, Any]) -> Results:
    """All results of a setting, a mapping with the traits of `MemoryBudget`."""
    model = Model(**{name: setting[name] for name in SHAPE})
    batch, seq, precision, mode = (setting[name] for name in ("batch", "seq", "precision", "mode"))
    gpus, zero = setting["gpus"], setting["zero"] if mode != "infer" else 0
    p = parameters(model)
    element = WEIGHT_BYTES[precision]
    rest = 4 if precision == "fp32" else 2  # of weights that do not train
    trained = copies = gradients = states = master = saved = logits = held = gathered = 0.0
    if mode == "train":
        trained, weights = p.total, p.total * element
        gradients = p.total * element
        states = optimizer_bytes(p.total, p.matrices, setting["optimizer"], STATE_BYTES[precision])
        master = 4 * p.total if precision == "master" else 0.0
        copies = autocast_copies(model) if precision == "autocast" else 0.0
    else:
        weights = frozen_bytes(model, setting["bits"], rest)
    if mode == "lora":
        trained = adapter_parameters(model, setting["rank"], setting["targets"])
        weights += ADAPTER_BYTES * trained
        gradients = ADAPTER_BYTES * trained
        states = optimizer_bytes(trained, trained, setting["optimizer"], ADAPTER_BYTES)
        copies = 2 * trained if precision == "autocast" else 0.0
    if mode == "infer":
        held = kv_cache_bytes(model, batch, seq, 1 if setting["kv_bits"] == 8 else rest) / gpus
        logits = 4 * batch * model.vocab
        weights /= gpus
    else:
        flash, checkpoint = setting["flash"], setting["checkpoint"]
        saved = activations(model, batch, seq, precision, flash, checkpoint, mode)
        logits = logits_bytes(model, batch, seq, precision)
    if zero >= 1:
        states, master = states / gpus, master / gpus
    if zero >= 2:
        gradients /= gpus
    if zero >= 3:
        gathered = 2 * (weights + copies) * p.block / p.total * (1 - 1 / gpus)
        weights, copies = weights / gpus, copies / gpus
    total = weights + copies + gradients + states + master + gathered + saved + logits + held
    limit = setting["memory_gb"] * 1e9
    return Results(
        p.total, trained, weights, copies, gradients, states, master, gathered, saved, logits, held, total,
        limit - total, total <= limit,
    )  # fmt: skip


def model_of(name: str) -> Model:
    """A model by its name: "gpt2", "1b", "3b", "7b", "8b", "13b", "70b" or "405b".

    Raises:
        ValueError: there is no such model.
    """
    return Model(**named(setup()["models"], name, "model")["shape"])


def budget(model: str | Model, **choices: Any) -> Results:
    """All results without a figure; what is not given is as in `MemoryBudget`.

    Args:
        model: a shape, or the name of one.
        **choices: traits of `MemoryBudget`: mode, precision, optimizer, batch, seq, gpus, zero, bits and others.

    Raises:
        ValueError: there is no such model or trait.

    Example:
        >>> f"{budget('8b', mode='infer', precision='bf16').weights / 1e9:.1f} GB"
        '16.1 GB'
    """
    fields = defaults(setup())
    for name in choices:
        if name not in fields:
            raise ValueError(f"a budget has no setting {name!r}; it has {', '.join(fields)}")
    shape = model if isinstance(model, Model) else model_of(model)
    return results({**fields, **asdict(shape), **choices})


def gpus_needed(
    model: str | Model, *, memory_gb: float = 80.0, room: float = ROOM, most: int = 65_536, **choices: Any
) -> int | None:
    """The smallest number of GPUs on each of which everything fits; None where no number up to `most` suffices.

    In training the GPUs share weights, gradients and states (ZeRO-3 unless `zero` says otherwise) and each has
    sequences of its own, so what those leave for the backward must fit on one. In inference they share weights and
    cache.

    Args:
        model: a shape, or the name of one.
        memory_gb: memory of a GPU in GB of 10**9 bytes.
        room: part of it that may be filled.
        most: where to stop.
        **choices: other traits of `MemoryBudget`, without `gpus`.

    Raises:
        ValueError: there is no such model or trait, or `gpus` is given.

    Example:
        >>> gpus_needed("70b", mode="infer", precision="bf16", bits=4, memory_gb=24)
        3
    """
    if "gpus" in choices:
        raise ValueError("gpus is what is asked for")
    if choices.get("mode") != "infer":
        choices = {"zero": 3, **choices}

    def fits(gpus: int) -> bool:
        return budget(model, **choices, gpus=gpus).total <= room * memory_gb * 1e9

    for few in (1, 2):
        if fits(few):
            return few
    if not fits(most):
        return None
    low, high = 2, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


@dataclass(frozen=True)
class Change:
    """One change of a setting and the memory that it leads to."""

    name: str
    set: dict[str, Any]
    total: float
    fits: bool


def changes(setting: Mapping[str, Any]) -> list[Change]:
    """Single changes that save memory, those that alter the training least first."""
    mode, gpus = setting["mode"], setting["gpus"]
    options: list[tuple[str, dict[str, Any]]] = []
    if mode != "infer":
        if not setting["flash"]:
            options.append(("fused attention", {"flash": True}))
        if not setting["checkpoint"]:
            options.append(("checkpoint every block", {"checkpoint": True}))
    if setting["batch"] > 1:
        options.append(("half the batch", {"batch": setting["batch"] // 2}))
    if mode == "infer":
        if setting["kv_bits"] == 16:
            options.append(("KV cache in 8 bits", {"kv_bits": 8}))
    else:
        if setting["precision"] == "fp32":
            options.append(("autocast to bf16", {"precision": "autocast"}))
        if setting["optimizer"] == "adamw":
            options.append(("8-bit optimizer states", {"optimizer": "adamw8"}))
        if gpus > 1 and setting["zero"] < 3:
            options.append(("ZeRO-3 over the GPUs", {"zero": 3}))
        if gpus == 1:
            options.append(("8 GPUs with ZeRO-3", {"gpus": 8, "zero": 3}))
        elif setting["zero"] > 0:
            options.append(("twice the GPUs", {"gpus": 2 * gpus}))
        if mode == "train" and setting["precision"] != "bf16":
            options.append(("bf16 alone", {"precision": "bf16"}))
        if mode == "train":
            options.append(("LoRA", {"mode": "lora"}))
            options.append(("LoRA, frozen weights in 4 bits", {"mode": "lora", "bits": 4}))
    if mode != "train" and setting["bits"] > 8:
        options.append(("weights in 8 bits", {"bits": 8}))
    if mode != "train" and setting["bits"] > 4:
        options.append(("weights in 4 bits", {"bits": 4}))
    if mode == "infer":
        options.append(("twice the GPUs", {"gpus": 2 * gpus}))
    if setting["seq"] > 1:
        options.append(("half the sequence", {"seq": setting["seq"] // 2}))
    now = results(setting).total
    tried = [(name, update, results({**setting, **update})) for name, update in options]
    return [Change(name, update, outcome.total, outcome.fits) for name, update, outcome in tried if outcome.total < now]


def first_change(setting: Mapping[str, Any]) -> Change | None:
    """What to change first when it does not fit: the first change that suffices, else the one that saves most."""
    every = changes(setting)
    if results(setting).fits or not every:
        return None
    return next((change for change in every if change.fits), min(every, key=lambda change: change.total))


class MemoryBudget(Visualizer):
    """What a transformer's training or inference holds in a GPU's memory, whether it fits, and what to change first.

    Every part stands with its formula and the numbers put in. On the plain page the same figure works without a kernel.

    Args:
        model: name of a shape: "gpt2", "1b", "3b", "7b", "8b", "13b", "70b" or "405b".

    Raises:
        ValueError: there is no such preset or model.
        traitlets.TraitError: a number is out of its range.

    Example:
        >>> f"{MemoryBudget(model='8b').results.parameters:,.0f}"
        '8,030,261,248'
    """

    def __init__(self, *, model: str | None = None, **traits: Any) -> None:
        shape = {} if model is None else named(setup()["models"], model, "model")["shape"]
        super().__init__(**{**shape, **traits})

    @property
    def results(self) -> Results:
        """What follows from them, in bytes."""
        return results(self.setting)

    @property
    def changes(self) -> list[Change]:
        """Single changes that save memory, those that alter the training least first."""
        return changes(self.setting)

    def _describe(self) -> str:
        return describe(self.setting)

    def _draw(self) -> str:
        return _picture(self.setting, self.words)


LABELS = {
    "weights": "weights",
    "copies": "bf16 copies of autocast",
    "gradients": "gradients",
    "optimizer": "optimizer states",
    "master": "master weights",
    "gathered": "gathered blocks",
    "activations": "activations",
    "logits": "logits",
    "cache": "KV cache",
}
DOES = {"train": "Training all", "lora": "LoRA on", "infer": "Inference with"}


def describe(setting: Mapping[str, Any]) -> str:
    """The setting and its results in sentences."""
    all_of = results(setting)
    trained = f", of adapters {count(math.floor(all_of.trained + 0.5))}," if setting["mode"] == "lora" else ""
    many = f"on each of {setting['gpus']} GPUs" if setting["gpus"] > 1 else "on one GPU"
    model = f"{count(math.floor(all_of.parameters + 0.5))} parameters"
    parts = ", ".join(
        f"{LABELS[name]} {amount(value)}" for name, value in asdict(all_of).items() if name in PARTS and value
    )
    tokens = f"{setting['batch']} × {setting['seq']} tokens"
    text = (
        f"{DOES[setting['mode']]} {model}{trained} with {tokens} {many}: "
        f"{parts}; together {amount(all_of.total)}. That "
    )
    card = f"{plain(setting['memory_gb'])} GB"
    if all_of.fits:
        return f"{text}fits in {card} and leaves {amount(all_of.room)}."
    text += f"does not fit in {card}: {amount(-all_of.room)} too much."
    first = first_change(setting)
    if first is None:
        return text
    if first.fits:
        return f"{text} Change first: {first.name}; then it needs {amount(first.total)} and fits."
    return f"{text} No single change suffices; most is saved by: {first.name}, to {amount(first.total)}."


def _picture(setting: Mapping[str, Any], words: str) -> str:
    """Static drawing: one bar for each part, and their sum against the card."""
    all_of = results(setting)
    limit = setting["memory_gb"] * 1e9
    shown = [(LABELS[name], value) for name, value in asdict(all_of).items() if name in PARTS and value]
    wide, left, step = 330.0, 178.0, 26
    scale = wide / max(all_of.total, limit)
    parts = [f'<text x="0" y="14" font-weight="700">Memory of one GPU: {amount(all_of.total)}</text>']
    y, start = 28, 0.0
    for name, value in shown:
        parts.append(
            f'<text x="{left - 10}" y="{y + 14}" text-anchor="end">{name}</text>'
            f'<rect x="{left + start * scale:.1f}" y="{y}" width="{max(value * scale, 1):.1f}" height="18" '
            f'fill-opacity=".25" stroke="currentColor"/>'
            f'<text x="{left + wide + 12}" y="{y + 14}">{amount(value)}</text>'
        )
        y, start = y + step, start + value
    fill = ".12" if all_of.fits else ".55"
    parts.append(
        f'<text x="{left - 10}" y="{y + 14}" text-anchor="end" font-weight="700">together</text>'
        f'<rect x="{left}" y="{y}" width="{all_of.total * scale:.1f}" height="18" fill-opacity="{fill}" '
        f'stroke="currentColor"/><text x="{left + wide + 12}" y="{y + 14}" font-weight="700">'
        f"{amount(all_of.total)}</text>"
        f'<path d="M{left + limit * scale:.1f} 24V{y + 24}" stroke="currentColor" stroke-width="2" '
        f'stroke-dasharray="5 3"/>'
        f'<text x="{left + limit * scale:.1f}" y="{y + 40}" text-anchor="end">'
        f"{'fits in' if all_of.fits else 'does not fit in'} {plain(setting['memory_gb'])} GB (dashed)</text>"
    )
    width = left + wide + 90
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:g} {y + 48}" '
        f'style="max-width:min(100%,{width:g}px);height:auto" font-family="system-ui,sans-serif" '
        f'font-size="13" fill="currentColor" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )
