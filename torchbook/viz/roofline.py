"""Roofline: bytes and FLOPs of an op against the ceilings of devices, and the formulas as functions.

FLOPs are counted as `torch.utils.flop_counter` does: a multiplication and an addition are two. It counts matrix
products alone; the ops without one are counted here by their arithmetic, where an addition, a comparison, an
exponential or a square root is one each. Of attention only the two matrix products count, as is usual.

Bytes are the least that kernels must move: each kernel reads each input once and writes each output once, whatever the
caches do. `fused=True` is one kernel; `fused=False` is one kernel for each step, which is what eager mode runs.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import traitlets

from torchbook.viz.base import Visualizer, contract, preset_of
from torchbook.viz.units import amount, duration, plain, prefixed, significant

setup = partial(contract, "roofline")

LAUNCH = 5e-6  # seconds; a kernel on a GPU that takes less waits for its launch


@dataclass(frozen=True)
class Cost:
    """What an op computes and moves."""

    flops: float
    bytes: float

    @property
    def intensity(self) -> float:
        """Arithmetic intensity: FLOPs per byte."""
        return self.flops / self.bytes


def matmul(m: int, n: int, k: int, extra: int = 0, *, element: float = 4, fused: bool = True) -> Cost:
    """A matrix (m, k) times a matrix (k, n), and `extra` pointwise ops on the result.

    Fused, the pointwise ops work on the result before it is written; else each reads and writes it.
    """
    moved = m * k + k * n + m * n + (0 if fused else extra * 2 * m * n)
    return Cost(2 * m * n * k + extra * m * n, element * moved)


def decode(batch: int, inputs: int, outputs: int, *, element: float = 4, fused: bool = True) -> Cost:
    """A linear layer without bias on one token of each of `batch` sequences: a matmul of `batch` rows."""
    return matmul(batch, outputs, inputs, element=element)


def pointwise(elements: int, ops: int, *, element: float = 4, fused: bool = True) -> Cost:
    """`ops` operations on each of `elements` numbers, one after the other."""
    return Cost(ops * elements, element * 2 * elements * (1 if fused else ops))


def layer_norm(rows: int, width: int, *, element: float = 4, fused: bool = True) -> Cost:
    """Layer norm with weight and bias over the last dimension.

    For each element: sum, subtract the mean, square, sum, times 1/std, times weight, plus bias; for each row: two
    divisions by the width, plus eps, rsqrt. The sums of a row are `width - 1` additions. Written out, it is
    eight kernels: mean, difference, square, mean, plus eps, rsqrt, product, times weight, plus bias.
    """
    flops = rows * (7 * width - 2 + 4)
    if fused:
        return Cost(flops, element * (2 * rows * width + 2 * width))
    return Cost(flops, element * (12 * rows * width + 8 * rows + 2 * width))


def softmax(rows: int, width: int, *, element: float = 4, fused: bool = True) -> Cost:
    """Softmax over the last dimension: maximum, difference, exponential, sum, quotient.

    Written out, each of them is a kernel.
    """
    flops = rows * (5 * width - 2)
    if fused:
        return Cost(flops, element * 2 * rows * width)
    return Cost(flops, element * (8 * rows * width + 4 * rows))


def attention(
    batch: int,
    heads: int,
    kv_heads: int,
    queries: int,
    keys: int,
    width: int,
    *,
    element: float = 4,
    fused: bool = True,
) -> Cost:
    """Attention of `queries` positions to `keys` positions, without a mask.

    Fused, queries, keys and values are read and the output is written. Written out, the scores are written by the
    first product, read and written by softmax and read by the second.
    """
    flops = 4 * batch * heads * queries * keys * width
    moved = 2 * batch * heads * queries * width + 2 * batch * kv_heads * keys * width
    return Cost(flops, element * (moved + (0 if fused else 4 * batch * heads * queries * keys)))


def conv2d(
    batch: int, channels_in: int, channels_out: int, size: int, kernel: int, stride: int, *, element: float = 4,
    fused: bool = True,
) -> Cost:  # fmt: skip
    """A convolution of square images, `kernel // 2` zeros on each side, without bias."""
    out = (size + 2 * (kernel // 2) - kernel) // stride + 1
    weights = channels_out * channels_in * kernel * kernel
    moved = batch * channels_in * size * size + weights + batch * channels_out * out * out
    return Cost(2 * batch * out * out * weights, element * moved)


def embedding(tokens: int, width: int, *, element: float = 4, fused: bool = True) -> Cost:
    """A look-up: an index of 8 bytes and a row are read, the row is written. Nothing is computed."""
    return Cost(0, tokens * (8 + 2 * width * element))


OPS: dict[str, Callable[..., Cost]] = {
    "matmul": matmul,
    "decode": decode,
    "pointwise": pointwise,
    "layer_norm": layer_norm,
    "softmax": softmax,
    "attention": attention,
    "conv2d": conv2d,
    "embedding": embedding,
}


def ridge(peak: float, bandwidth: float) -> float:
    """The intensity from which on computing, not memory, is the limit: FLOPs per byte."""
    return peak / bandwidth


def attainable(intensity: float, peak: float, bandwidth: float) -> float:
    """FLOPs per second that an op of this intensity can reach at most."""
    return min(peak, intensity * bandwidth)


def least_time(cost: Cost, peak: float, bandwidth: float) -> float:
    """Seconds below which no kernel can stay: computing and moving overlap perfectly."""
    return max(cost.flops / peak, cost.bytes / bandwidth)


@dataclass(frozen=True)
class On:
    """An op on one device."""

    peak: float
    bandwidth: float
    ridge: float
    attainable: float
    time: float
    bound: str  # "compute" or "memory"


def cost(setting: Mapping[str, Any], fused: bool | None = None) -> Cost:
    """FLOPs and bytes of a setting, a mapping with the traits of `Roofline`."""
    element = setup()["dtypes"][setting["dtype"]]["bytes"]
    whole = setting["fused"] if fused is None else fused
    return OPS[setting["op"]](**setting["sizes"], element=element, fused=whole)


def devices(setting: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The devices, and the machine that was measured."""
    every = dict(setup()["devices"])
    if setting["machine"]:
        every["machine"] = {**setting["machine"], "label": setting["machine"]["name"]}
    return every


def peak(device: Mapping[str, Any], op: str, dtype: str) -> float | None:
    """Peak FLOPs per second of a device for an op.

    Tensor cores multiply matrices and nothing else; other ops run at the float32 peak of the ordinary cores.
    """
    return device["flops"].get(dtype if setup()["ops"][op]["matrix"] else "fp32")


def _on(of: Cost, device: Mapping[str, Any], op: str, dtype: str) -> On | None:
    top, wide = peak(device, op, dtype), device["bandwidth"]
    if top is None:
        return None
    turn = ridge(top, wide)
    bound = "compute" if of.intensity >= turn else "memory"
    return On(top, wide, turn, attainable(of.intensity, top, wide), least_time(of, top, wide), bound)


def results(setting: Mapping[str, Any]) -> dict[str, On | None]:
    """The op on each device; None where the device has no figure for the dtype."""
    of = cost(setting)
    return {name: _on(of, device, setting["op"], setting["dtype"]) for name, device in devices(setting).items()}


def rows_at_ridge(inputs: float, outputs: float, element: float, turn: float) -> float:
    """Rows from which on a matmul with a matrix (inputs, outputs) is compute-bound; infinite if no number is enough."""
    below = 2 * inputs * outputs - turn * element * (inputs + outputs)
    return turn * element * inputs * outputs / below if below > 0 else math.inf


def advice(setting: Mapping[str, Any]) -> str:
    """What would make the op faster on the device in view, in a sentence or two."""
    of, op, dtype = cost(setting), setting["op"], setting["dtype"]
    every = devices(setting)
    device = every[setting["device"]]
    now = _on(of, device, op, dtype)
    if now is None:
        return f"There is no figure for {dtype} on {device['label']}."
    sizes, element = setting["sizes"], setup()["dtypes"][dtype]["bytes"]
    sentences = []
    if now.bound == "compute":
        faster = [
            (name, least_time(cost({**setting, "dtype": name}), top, now.bandwidth))
            for name in ("tf32", "bf16", "fp8")
            if setup()["ops"][op]["matrix"] and (top := device["flops"].get(name)) and top > now.peak
        ]
        if faster:
            name, least = faster[0]
            sentences.append(
                f"A dtype with a higher peak helps: {name}, {significant(now.time / least)} times as fast at most."
            )
        else:
            sentences.append("Only fewer operations help.")
        if setup()["ops"][op]["fusable"] and not setting["fused"]:
            sentences.append("Fusing saves bytes that are not the limit.")
    elif setup()["ops"][op]["fusable"] and not setting["fused"] and cost(setting, True).bytes < of.bytes:
        fused = _on(cost(setting, True), device, op, dtype)
        assert fused
        sentences.append(
            f"Fusing into one kernel helps: {amount(cost(setting, True).bytes)} instead of {amount(of.bytes)}, "
            f"{significant(now.time / fused.time)} times as fast at most."
        )
    elif op in ("matmul", "decode"):
        m, k, n = (
            (sizes["m"], sizes["k"], sizes["n"])
            if op == "matmul"
            else (sizes["batch"], sizes["inputs"], sizes["outputs"])
        )
        enough = rows_at_ridge(k, n, element, now.ridge) if op == "decode" or not sizes["extra"] else math.inf
        if m < enough < math.inf:
            sentences.append(
                f"More rows for each reading of the matrix help: the ridge is at {math.ceil(enough)} rows."
            )
        else:
            sentences.append("Larger matrices, or a smaller dtype, help.")
    elif op == "attention":
        sentences.append(
            "Fewer bytes of keys and values help: fewer key and value heads, a smaller dtype; or more queries at once."
        )
    elif op == "conv2d":
        sentences.append("More channels for each pixel, or a smaller dtype, help.")
    else:
        sentences.append("Only fewer bytes help: a smaller dtype, or fusing it into the op before or after it.")
    if now.time < LAUNCH and setting["device"] != "machine":
        sentences.append(
            f"In {duration(now.time)} not even a launch fits: gather many such calls in one, or in a CUDA graph."
        )
    return " ".join(sentences)


def measure_ceilings(
    device: str = "cpu", dtypes: Sequence[str] = ("fp32",), *, megabytes: int = 256, size: int = 1024, repeats: int = 9
) -> dict[str, Any]:
    """Measure this machine's ceilings, as `Roofline` takes them.

    The bandwidth is that of a copy, bytes read plus bytes written; the peak that of a square matrix product. Both are
    medians, after a warm-up. On a GPU take a larger `size`, 8192 for instance.

    Args:
        device: "cpu" or "cuda".
        dtypes: "fp32", "bf16", or on a GPU "tf32", whose matrix products are timed.
        megabytes: size of the tensor that is copied; it must be larger than the caches.
        size: rows and columns of the matrices.
        repeats: timed runs of each.

    Returns:
        {"name": ..., "bandwidth": bytes per second, "flops": {dtype: FLOPs per second}}
    """
    import torch

    gpu = device.startswith("cuda")

    def median(run: Callable[[], object]) -> float:
        seconds = []
        for _ in range(repeats + 2):
            if gpu:
                torch.cuda.synchronize()
            start = time.perf_counter()
            run()
            if gpu:
                torch.cuda.synchronize()
            seconds.append(time.perf_counter() - start)
        return statistics.median(seconds[2:])

    def copied() -> float:
        source = torch.ones(megabytes * 10**6 // 4, device=device)
        target = torch.empty_like(source)
        return 2 * source.nbytes / median(lambda: target.copy_(source))

    def multiplied(kind: torch.dtype) -> float:
        a, b = (torch.randn(size, size, device=device).to(kind) for _ in range(2))
        out = torch.empty_like(a)
        return 2 * size**3 / median(lambda: torch.mm(a, b, out=out))

    flops = {}
    bandwidth, before = copied(), torch.get_float32_matmul_precision()
    try:
        for dtype in dtypes:
            torch.set_float32_matmul_precision("high" if dtype == "tf32" else "highest")
            flops[dtype] = multiplied(torch.bfloat16 if dtype == "bf16" else torch.float32)
    finally:
        torch.set_float32_matmul_precision(before)
    name = torch.cuda.get_device_name() if gpu else "this machine"
    return {"name": name, "bandwidth": bandwidth, "flops": flops}


class Roofline(Visualizer):
    """An op's bytes and FLOPs against the ceilings of an A100, an H100, an H200 and this machine.

    The op's numbers stand with their formulas. On the plain page the same figure works without a kernel.

    Args:
        sizes: the op's sizes by name, as its function takes them; those not given are those of the first preset.
        device: what the advice is for: "a100", "h100", "h200" or "machine".
        machine: what `measure_ceilings` gives: `{"name": ..., "bandwidth": ..., "flops": {"fp32": ...}}`, where a
            number alone is the float32 peak.
        points: measured ops by name, drawn beside the roofs: `{"flops": ..., "bytes": ..., "seconds": ...}` or a tuple
            of the three.

    Raises:
        ValueError: there is no such preset, or a machine or point lacks something.
        traitlets.TraitError: a size is unknown or out of its range.

    Example:
        >>> Roofline(op="decode").results["h100"].bound
        'memory'
    """

    sizes = traitlets.Dict(help="The op's sizes by name.").tag(sync=True)
    device = traitlets.Enum(("a100", "h100", "h200", "machine"), "h100", help="What the advice is for.").tag(sync=True)
    machine = traitlets.Dict(help="Measured ceilings: name, bandwidth, flops by dtype.").tag(sync=True)
    points: traitlets.List[Any] = traitlets.List(help="Measured ops: name, flops, bytes, seconds.").tag(sync=True)

    def __init__(
        self,
        *,
        preset: str | None = None,
        machine: Mapping[str, Any] | None = None,
        points: Mapping[str, Any] | None = None,
        **traits: Any,
    ) -> None:
        initial: dict[str, Any] = {}
        if preset is not None:
            initial = preset_of(setup(), preset)
        if "op" in traits and traits["op"] != initial.get("op"):
            initial.pop("sizes", None)
        sizes = {**initial.pop("sizes", {}), **traits.pop("sizes", {})}
        initial |= traits
        if machine:
            initial["machine"] = _machine(machine)
        elif initial.get("device") == "machine":
            raise ValueError("there are no ceilings of this machine: machine=measure_ceilings()")
        initial["points"] = [_point(name, point) for name, point in (points or {}).items()]
        op = initial.get("op", "matmul")
        super().__init__(**initial, sizes={**(default_sizes(op) if op in OPS else {}), **sizes})
        self.observe(self._refill, "op")

    @property
    def setting(self) -> dict[str, Any]:
        """What is put in."""
        return {**super().setting, "sizes": self.sizes, "device": self.device, "machine": self.machine}

    @property
    def cost(self) -> Cost:
        """FLOPs and bytes."""
        return cost(self.setting)

    @property
    def results(self) -> dict[str, On | None]:
        """The op on each device."""
        return results(self.setting)

    @traitlets.validate("sizes")
    def _check(self, proposal: Any) -> Any:
        fields = setup()["ops"][self.op]["fields"]
        sizes = proposal["value"]
        for name, value in sizes.items():
            if name not in fields:
                raise traitlets.TraitError(f"{self.op} has no size {name!r}; it has {', '.join(fields)}")
            of = fields[name]
            if isinstance(value, bool) or value != int(value) or not of["low"] <= value <= of["high"]:
                raise traitlets.TraitError(
                    f"{name} must be a whole number from {of['low']:g} to {of['high']:g}, not {value!r}"
                )
        return {**default_sizes(self.op), **sizes}

    def _refill(self, change: Any) -> None:
        if set(self.sizes) != set(setup()["ops"][self.op]["fields"]):
            self.sizes = default_sizes(self.op)

    def _follow(self, change: Any = None) -> None:
        if set(self.sizes) == set(setup()["ops"][self.op]["fields"]):
            super()._follow(change)

    def _describe(self) -> str:
        return describe(self.setting, self.points)

    def _draw(self) -> str:
        return _picture(self.setting, self.points, self.words)


def default_sizes(op: str) -> dict[str, int]:
    """The sizes that an op has when none are given."""
    return {name: of["value"] for name, of in setup()["ops"][op]["fields"].items()}


def _machine(ceilings: Mapping[str, Any]) -> dict[str, Any]:
    flops = ceilings.get("flops")
    flops = {"fp32": flops} if isinstance(flops, (int, float)) else dict(flops or {})
    bandwidth = ceilings.get("bandwidth")
    if not bandwidth or not flops or min(bandwidth, *flops.values()) <= 0:
        raise ValueError(
            'a machine has {"flops": ..., "bandwidth": ...}, both above zero; measure_ceilings() gives them'
        )
    return {"name": str(ceilings.get("name", "this machine")), "bandwidth": float(bandwidth),
            "flops": {name: float(value) for name, value in flops.items()}}  # fmt: skip


def _point(name: str, values: Any) -> dict[str, Any]:
    point = values if isinstance(values, Mapping) else dict(zip(("flops", "bytes", "seconds"), values, strict=True))
    try:
        numbers = {key: float(point[key]) for key in ("flops", "bytes", "seconds")}
    except KeyError as e:
        raise ValueError(f"the point {name!r} lacks its {e.args[0]}") from None
    if min(numbers.values()) <= 0:
        raise ValueError(f"the numbers of the point {name!r} must be above zero")
    return {"name": name, **numbers}


def _place(point: Mapping[str, Any], machine: Mapping[str, Any]) -> str:
    reached = point["flops"] / point["seconds"]
    intensity = point["flops"] / point["bytes"]
    text = f"{point['name']} reached {prefixed(reached, 'FLOP')}/s at {significant(intensity)} FLOP per byte"
    top = machine.get("flops", {}).get("fp32")
    if not top:
        return text
    limit = attainable(intensity, top, machine["bandwidth"])
    return f"{text}, {significant(100 * reached / limit)} % of what {machine['name']} allows in float32"


def describe(setting: Mapping[str, Any], points: Sequence[Mapping[str, Any]] = ()) -> str:
    """The op, its place under each roof, and what would help, in sentences."""
    of, every = cost(setting), devices(setting)
    sizes = ", ".join(f"{name} {plain_count(value)}" for name, value in setting["sizes"].items())
    kind = setup()["ops"][setting["op"]]
    how = "" if not kind["fusable"] else ", fused" if setting["fused"] else ", a kernel for each step"
    text = (
        f"{_capital(kind['label'])} ({sizes}) in {setting['dtype']}{how}: {prefixed(of.flops, 'FLOP')}, "
        f"{amount(of.bytes)}, {significant(of.intensity)} FLOP per byte."
    )
    for name, result in results(setting).items():
        label = every[name]["label"]
        if result is None:
            text += f" {_capital(label)}: no figure for {setting['dtype']}."
        else:
            text += (
                f" {_capital(label)}: {result.bound}-bound (ridge at {significant(result.ridge)}), at most "
                f"{prefixed(result.attainable, 'FLOP')}/s, at least {duration(result.time)}."
            )
    text += f" On {every[setting['device']]['label']}: {advice(setting)}"
    if points:
        text += f" Measured: {'; '.join(_place(point, setting['machine']) for point in points)}."
    return text


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _tick(power: int) -> str:
    """A power of ten with its prefix: 10 T."""
    thousands = min(max(power // 3, 0), 5)
    return f"{plain(10.0 ** (power - 3 * thousands))} {' kMGTP'[thousands]}".strip()


def plain_count(x: float) -> str:
    """A size, as people write it."""
    return plain(x) if x < 1e6 else f"{int(x)}"


DASH = {"a100": "9 4", "h100": "", "h200": "2 3", "machine": "12 3 2 3"}


def span(setting: Mapping[str, Any], points: Sequence[Mapping[str, Any]] = ()) -> tuple[float, float, float, float]:
    """The decades that the plot shows: intensity from and to, FLOPs per second from and to, as powers of ten."""
    roofs = [roof for roof in results(setting).values() if roof]
    spots = [(point["flops"] / point["bytes"], point["flops"] / point["seconds"]) for point in points]
    of = cost(setting)
    if of.flops:
        spots += [(of.intensity, roof.attainable) for roof in roofs]
    xs = [math.log10(x) for x, _ in spots] + [math.log10(roof.ridge) for roof in roofs]
    left, right = min(-1.0, math.floor(min(xs) - 0.1)), max(4.0, math.ceil(max(xs) + 0.1))
    ys = [math.log10(y) for _, y in spots] + [math.log10(roof.peak) for roof in roofs]
    low = min([math.floor(y - 0.1) for y in ys] + [math.floor(math.log10(roof.bandwidth)) for roof in roofs])
    return left, right, float(low), float(math.ceil(max(ys) + 0.1))


def _picture(setting: Mapping[str, Any], points: Sequence[Mapping[str, Any]], words: str) -> str:
    """Static drawing: the roofs, the op under each of them, and the measured points."""
    of, every, all_of = cost(setting), devices(setting), results(setting)
    left, right, low, high = span(setting, points)
    wide, tall, x0, y0 = 500.0, 280.0, 52.0, 26.0

    def at(x: float, y: float) -> tuple[float, float]:
        return x0 + (math.log10(x) - left) / (right - left) * wide, y0 + (high - math.log10(y)) / (high - low) * tall

    parts = ['<text x="0" y="14" font-weight="700">FLOP/s over FLOP per byte</text>']
    for power in range(int(left), int(right) + 1):
        x, _ = at(10.0**power, 10.0**low)
        parts.append(f'<path d="M{x:.1f} {y0}V{y0 + tall}" stroke="currentColor" stroke-opacity=".15"/>')
        parts.append(f'<text x="{x:.1f}" y="{y0 + tall + 18}" text-anchor="middle">{plain(10.0**power)}</text>')
    for power in range(int(low), int(high) + 1):
        _, y = at(1, 10.0**power)
        parts.append(f'<path d="M{x0} {y:.1f}H{x0 + wide}" stroke="currentColor" stroke-opacity=".15"/>')
        parts.append(f'<text x="{x0 - 6}" y="{y + 4:.1f}" text-anchor="end">{_tick(power)}</text>')
    key = y0 + tall + 42
    for name, roof in all_of.items():
        if roof is None:
            continue
        start = max(left, low - math.log10(roof.bandwidth))
        corners = [10.0**start, roof.ridge, 10.0**right]
        line = " ".join("{:.1f},{:.1f}".format(*at(x, attainable(x, roof.peak, roof.bandwidth))) for x in corners)
        dash = f' stroke-dasharray="{DASH[name]}"' if DASH[name] else ""
        width = 3 if name == setting["device"] else 1.6
        parts.append(f'<polyline points="{line}" fill="none" stroke="currentColor" stroke-width="{width}"{dash}/>')
        bound = f"{roof.bound}-bound, at least {duration(roof.time)}"
        parts.append(
            f'<path d="M{x0} {key - 4}h34" stroke="currentColor" stroke-width="{width}"{dash}/>'
            f'<text x="{x0 + 44}" y="{key}">{escape(every[name]["label"])}: {bound}</text>'
        )
        key += 20
        if of.flops:
            x, y = at(of.intensity, roof.attainable)
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{5 if name == setting["device"] else 3.5}"/>')
    for point in points:
        x, y = at(point["flops"] / point["bytes"], point["flops"] / point["seconds"])
        parts.append(
            f'<path d="M{x - 5:.1f} {y:.1f}h10M{x:.1f} {y - 5:.1f}v10" stroke="currentColor" stroke-width="2"/>'
            f'<text x="{x + 8:.1f}" y="{y + 14:.1f}">{escape(point["name"])}</text>'
        )
    width = x0 + wide + 24
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:g} {key:g}" '
        f'style="max-width:min(100%,{width:g}px);height:auto" font-family="system-ui,sans-serif" '
        f'font-size="13" fill="currentColor" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )
