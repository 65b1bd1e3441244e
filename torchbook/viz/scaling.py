"""ScalingCalculator: the arithmetic of data-parallel training, and the formulas as functions.

The functions take and give SI units: seconds, bytes, bytes per second. A bandwidth is that of one direction of a link.
They describe a ring of equal links and nothing else: no contention, no stragglers, no protocol overhead.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

from torchbook.viz.base import Visualizer, contract, named
from torchbook.viz.units import amount, count, counted, duration, plain, significant

setup = partial(contract, "scaling")

BACKWARD_SHARE = 2 / 3  # of the compute time: a backward costs about twice its forward
ADAMW_BYTES = 16  # per parameter: weight 4, gradient 4, two moments 8, all float32
MOST = 64  # GPUs on the curve


def global_batch(batch: int, gpus: int) -> int:
    """Samples that one optimizer step sees: `gpus` times the batch of one GPU."""
    return batch * gpus


def scaled_lr(lr: float, gpus: int, rule: str = "linear") -> float:
    """The learning rate for `gpus` times the batch, by a rule of thumb.

    Args:
        lr: learning rate that suits the batch of one GPU.
        gpus: number of GPUs.
        rule: "linear" (times K), "sqrt" (times the square root of K) or "none".

    Raises:
        ValueError: there is no such rule.
    """
    if rule == "linear":
        return lr * gpus
    if rule == "sqrt":
        return lr * math.sqrt(gpus)
    if rule == "none":
        return lr
    raise ValueError(f"no rule is called {rule!r}; there are linear, sqrt and none")


def gradient_bytes(parameters: float, bytes_per_element: float = 4) -> float:
    """Bytes of all gradients, which is what an all-reduce must sum."""
    return parameters * bytes_per_element


def copy_time(size: float, bandwidth: float, latency: float = 0.0) -> float:
    """Seconds to send `size` bytes once, one way, over one link of `bandwidth` bytes per second."""
    return size / bandwidth + latency


def ring_allreduce_time(size: float, gpus: int, bandwidth: float, latency: float = 0.0) -> float:
    """Seconds of a ring all-reduce of `size` bytes.

    In 2(K-1) rounds each GPU sends one K-th of the bytes to its neighbour, all at the same time: K-1 rounds sum the
    pieces, K-1 hand the sums around.

    Args:
        size: bytes on each GPU.
        gpus: number of GPUs, K; one GPU needs no time.
        bandwidth: bytes per second of one link in one direction.
        latency: seconds before a message's first byte arrives, once a round.
    """
    return 2 * (gpus - 1) / gpus * size / bandwidth + 2 * (gpus - 1) * latency


def naive_allreduce_time(size: float, gpus: int, bandwidth: float, latency: float = 0.0) -> float:
    """Seconds when all GPUs send all bytes to one, over its one link, and it sends the sums back to each."""
    return 2 * (gpus - 1) * copy_time(size, bandwidth, latency)


def hidden_time(communication: float, compute: float, overlap: float, backward: float = BACKWARD_SHARE) -> float:
    """Seconds of `communication` that pass while the backward still computes.

    Args:
        communication: seconds of the all-reduce.
        compute: seconds of forward and backward of one step.
        overlap: fraction of the backward, 0 to 1, during which gradients can already travel.
        backward: share of the backward in `compute`.
    """
    return min(communication, overlap * backward * compute)


def step_time(compute: float, communication: float, hidden: float = 0.0) -> float:
    """Seconds of one step: the computing, and what of the communication nothing hides."""
    return compute + (communication - hidden)


def speedup(gpus: int, compute: float, step: float) -> float:
    """Samples per second relative to one GPU, which needs `compute` seconds for its batch and waits for nobody."""
    return gpus * compute / step


def efficiency(gpus: int, compute: float, step: float) -> float:
    """The speed-up as a fraction of the number of GPUs."""
    return speedup(gpus, compute, step) / gpus


def adamw_bytes(parameters: float) -> float:
    """Bytes of weights, gradients and AdamW's moments in float32; without activations, buffers and DDP's buckets."""
    return parameters * ADAMW_BYTES


def training_flops(parameters: float, tokens: float, frozen: bool = False) -> float:
    """FLOPs of training by the rule of thumb: 6 for each parameter and token.

    2 are the forward's, 2 carry the gradient to the layer before, 2 compute the weights' gradients. Attention's scores
    are not counted.

    Args:
        parameters: number of parameters.
        tokens: number of tokens.
        frozen: the weights do not train, as with LoRA, so that their gradients' 2 are saved.
    """
    return (4 if frozen else 6) * parameters * tokens


def gpu_hours(flops: float, peak: float, utilisation: float) -> float:
    """Hours of one GPU, or of many together, for so many FLOPs.

    Args:
        flops: the work.
        peak: FLOPs per second of a GPU at this precision, dense.
        utilisation: fraction of the peak that is reached over the whole run, 0 to 1.
    """
    return flops / (peak * utilisation) / 3600


@dataclass(frozen=True)
class Results:
    """What follows from a setting, in SI units."""

    global_batch: int
    lr: float
    gradients: float
    copy: float
    ring: float
    naive: float
    hidden: float
    exposed: float
    step: float
    speedup: float
    efficiency: float
    throughput: float
    memory: float
    fits: bool


def results(setting: Mapping[str, Any]) -> Results:
    """All results of a setting, a mapping with the traits of `ScalingCalculator` and their units."""
    gpus, compute = setting["gpus"], setting["compute_ms"] * 1e-3
    size = gradient_bytes(setting["parameters"], setting["bytes_per_element"])
    link = setting["bandwidth_gb"] * 1e9, setting["latency_us"] * 1e-6
    ring = ring_allreduce_time(size, gpus, *link)
    hidden = hidden_time(ring, compute, setting["overlap"] / 100)
    step = step_time(compute, ring, hidden)
    memory = adamw_bytes(setting["parameters"])
    return Results(
        global_batch=global_batch(setting["batch"], gpus),
        lr=scaled_lr(setting["lr"], gpus, setting["rule"]),
        gradients=size,
        copy=copy_time(size, *link),
        ring=ring,
        naive=naive_allreduce_time(size, gpus, *link),
        hidden=hidden,
        exposed=ring - hidden,
        step=step,
        speedup=speedup(gpus, compute, step),
        efficiency=efficiency(gpus, compute, step),
        throughput=global_batch(setting["batch"], gpus) / step,
        memory=memory,
        fits=memory <= setting["memory_gb"] * 1e9,
    )


def curve(setting: Mapping[str, Any]) -> list[float]:
    """The speed-up with 1 to 64 GPUs, all else as it is."""
    return [results({**setting, "gpus": gpus}).speedup for gpus in range(1, MOST + 1)]


class ScalingCalculator(Visualizer):
    """What data-parallel training on K GPUs costs and gains: batch, learning rate, all-reduce, speed-up, memory.

    Every result stands with its formula and the numbers put in. On the plain page the same figure works without a
    kernel.

    Args:
        interconnect: name of a link that sets the bandwidth: "nvlink-a100", "nvlink-h100", "pcie4" or "ethernet-100g".

    Raises:
        ValueError: there is no such preset or link.
        traitlets.TraitError: a number is out of its range.

    Example:
        >>> round(ScalingCalculator().results.speedup, 2)
        3.68
    """

    def __init__(self, *, interconnect: str | None = None, **traits: Any) -> None:
        if interconnect is not None:
            traits = {"bandwidth_gb": named(setup()["links"], interconnect, "link")["each"], **traits}
        super().__init__(**traits)

    @property
    def results(self) -> Results:
        """What follows from them, in seconds and bytes."""
        return results(self.setting)

    def _describe(self) -> str:
        return describe(self.setting)

    def _draw(self) -> str:
        return _picture(self.setting, self.words)


def describe(setting: Mapping[str, Any]) -> str:
    """The setting and its results in sentences."""
    all_of = results(setting)
    many = f"{counted(setting['gpus'], 'GPU')}"
    shown = f"{duration(all_of.hidden)} of it hidden behind the backward, {duration(all_of.exposed)} exposed"
    fits = "fit" if all_of.fits else "do not fit"
    return (
        f"{count(setting['parameters'])} parameters on {many}: global batch {all_of.global_batch}, "
        f"learning rate {plain(all_of.lr)}. {amount(all_of.gradients)} of gradients; a ring all-reduce takes "
        f"{duration(all_of.ring)}, {shown}. A step takes {duration(all_of.step)}: {significant(all_of.speedup)} times "
        f"as fast as one GPU, {significant(100 * all_of.efficiency)} % efficiency. Weights, gradients and AdamW's "
        f"moments need {amount(all_of.memory)} on each GPU and {fits} in {plain(setting['memory_gb'])} GB; "
        f"activations come on top."
    )


def _picture(setting: Mapping[str, Any], words: str) -> str:
    """Static drawing: the step as a bar, and the speed-up over the number of GPUs."""
    all_of = results(setting)
    wide, high, left, top = 460.0, 190.0, 44.0, 92.0
    scale = wide / max(all_of.step, all_of.ring)
    compute = setting["compute_ms"] * 1e-3

    def bar(x: float, y: int, w: float, opacity: str, more: str = "") -> str:
        return (
            f'<rect x="{left + x:.1f}" y="{y}" width="{max(w, 0.5):.1f}" height="18" fill-opacity="{opacity}" '
            f'stroke="currentColor"{more}/>'
        )

    start = (compute - all_of.hidden) * scale
    parts = [
        f'<text x="0" y="14" font-weight="700">One step: {duration(all_of.step)}</text>',
        bar(0, 22, compute * scale, ".12"),
        f'<text x="{left + 6}" y="36">compute {duration(compute)}</text>',
        bar(start, 44, all_of.hidden * scale, ".05", ' stroke-dasharray="4 3"') if all_of.hidden else "",
        bar(compute * scale, 44, all_of.exposed * scale, ".5") if all_of.exposed else "",
        f'<text x="{left}" y="80">all-reduce {duration(all_of.ring)}: {duration(all_of.hidden)} hidden (dashed), '
        f"{duration(all_of.exposed)} exposed (filled)</text>",
    ]
    points = curve(setting)

    def at(gpus: float, value: float) -> str:
        return f"{left + (gpus - 1) / (MOST - 1) * wide:.1f},{top + 20 + high - value / MOST * high:.1f}"

    line = " ".join(at(i + 1, value) for i, value in enumerate(points))
    parts += [
        f'<text x="0" y="{top + 12}" font-weight="700">Speed-up, 1 to {MOST} GPUs (dashed: ideal)</text>',
        f'<path d="M{at(1, 1)} {at(MOST, MOST)}" stroke="currentColor" stroke-dasharray="4 4" fill="none"/>',
        f'<polyline points="{line}" stroke="currentColor" stroke-width="2.5" fill="none"/>',
        f'<path d="M{at(1, 0)} {at(MOST, 0)}" stroke="currentColor" stroke-opacity=".5"/>',
    ]
    for gpus in (1, 16, 32, 48, 64):
        x, y = at(gpus, 0).split(",")
        parts.append(f'<text x="{x}" y="{float(y) + 18:.1f}" text-anchor="middle">{gpus}</text>')
        parts.append(
            f'<text x="{left - 8}" y="{float(at(1, gpus).split(",")[1]) + 4:.1f}" text-anchor="end">{gpus}</text>'
        )
    if setting["gpus"] <= MOST:
        x, y = at(setting["gpus"], all_of.speedup).split(",")
        parts.append(f'<circle cx="{x}" cy="{y}" r="5"/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {wide + left + 20:g} {top + high + 46:g}" '
        f'style="max-width:min(100%,{wide + left + 20:g}px);height:auto" font-family="system-ui,sans-serif" '
        f'font-size="13" fill="currentColor" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )
