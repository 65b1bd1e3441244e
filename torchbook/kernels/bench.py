"""Check every kernel and, on a GPU, measure it against the library: `python -m torchbook.kernels.bench`.

Checked is against float64, on odd sizes and turned operands, with both ways of reading. Measured is in one run with the
library, as the median of at least 20 runs with a cold cache (`triton.testing.do_bench`). Without a CUDA device the
checks run in Triton's interpreter and nothing is measured.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import triton
from torch.nn import functional as F  # noqa: N812

from torchbook import kernels
from torchbook.kernels._common import has_tma
from torchbook.runtime import device_name, seed_everything

RUNS = 20
# Allowed ‖out − reference‖ / ‖reference‖, where the reference is computed in float64.
TOLERANCE = {torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 1e-2}
Compute = Callable[[], torch.Tensor]


@dataclass(frozen=True)
class Checked:
    """One kernel on one set of operands: its error, and how much was allowed."""

    name: str
    error: float
    allowed: float

    @property
    def right(self) -> bool:
        """Within the tolerance; a nan never is."""
        return self.error <= self.allowed


@dataclass(frozen=True)
class Measured:
    """One kernel against the library in one run. `speed` is the library's time over the kernel's."""

    name: str
    milliseconds: float
    library: float
    runs: int
    rate: str
    difference: float
    target: float | None

    @property
    def speed(self) -> float:
        """Above 1 the kernel is faster than the library."""
        return self.library / self.milliseconds

    @property
    def reached(self) -> bool:
        """The target, if there is one."""
        return self.target is None or self.speed >= self.target


def error(out: torch.Tensor, reference: torch.Tensor) -> float:
    """‖out − reference‖ / ‖reference‖ in float64."""
    return float((out.double() - reference.double()).norm() / reference.double().norm())


def turned(tensor: torch.Tensor) -> torch.Tensor:
    """The same values, with the last two dimensions the other way round in memory."""
    return tensor.mT.contiguous().mT


def exact_mlp(x: torch.Tensor, w1: torch.Tensor, b1: torch.Tensor, w2: torch.Tensor, b2: torch.Tensor) -> torch.Tensor:
    """What the MLP kernels compute, by the library."""
    return F.gelu(x @ w1 + b1) @ w2 + b2


def in_float64(function: Callable[..., torch.Tensor], *operands: torch.Tensor, **options: bool) -> Compute:
    """The function of the operands, in double precision."""
    return lambda: function(*(operand.double() for operand in operands), **options)


Check = tuple[str, torch.dtype, Compute, Compute]  # name, type, kernel, reference
Race = tuple[str, Compute, Compute, str, float, float | None]  # name, kernel, library, unit, work in it, target


def checks(device: torch.device, scale: int) -> Iterator[Check]:
    """Kernels on odd sizes and turned operands, with their references; `scale` 1 is for the interpreter."""

    def random(*shape: int, kind: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, device=device).to(kind)

    x, y = random(37 * scale, 53 * scale), random(37 * scale, 53 * scale)
    plus = in_float64(torch.add, x, y)
    yield "add", x.dtype, partial(kernels.add, x, y), plus
    yield "add, one turned", x.dtype, partial(kernels.add, x, turned(y)), plus
    for kind in TOLERANCE:
        z = random(13 * scale, 77 * scale, kind=kind)
        for how, rows in (("", z), (", turned", z.T)):
            yield (
                f"softmax{how}",
                kind,
                partial(kernels.softmax, rows),
                in_float64(partial(torch.softmax, dim=-1), rows),
            )
        yield from _matmul_checks(random, kind, scale)
        yield from _mlp_checks(random, kind, scale)
        yield from _attention_checks(random, kind, scale)


def _matmul_checks(random: Any, kind: torch.dtype, scale: int) -> Iterator[Check]:
    for m, k, n in ((45 * scale, 37 * scale + 1, 51 * scale), (40 * scale, 72 * scale, 104 * scale)):
        a, b, bias = random(m, k, kind=kind), random(k, n, kind=kind), random(n)
        reference = in_float64(lambda a, b, bias: F.gelu(a @ b + bias), a, b, bias)
        ways = (False, True) if k % 8 == 0 and kind != torch.float32 else (False,)
        for how, left, right in (("", a, b), (", a turned", turned(a), b), (", b turned", a, turned(b))):
            for by in ways:
                name = f"matmul {m}x{k}x{n}{how}{', descriptors' * by}"
                kernel = partial(kernels.matmul, left, right, bias, activation="gelu", descriptors=by)
                yield name, kind, kernel, reference


def _mlp_checks(random: Any, kind: torch.dtype, scale: int) -> Iterator[Check]:
    width, hidden = 40, 100 * scale
    x = random(50 * scale, width, kind=kind)
    w1, b1 = random(hidden, width, kind=kind) / 8, random(hidden, kind=kind)
    w2, b2 = random(24, hidden, kind=kind) / 8, random(24, kind=kind)
    operands = (x, w1.T, b1, w2.T, b2)  # weights as nn.Linear keeps them: turned
    reference = in_float64(exact_mlp, *operands)
    yield "mlp in two", kind, partial(kernels.mlp_two_kernels, *operands), reference
    yield "mlp in one", kind, partial(kernels.mlp_one_kernel, *operands), reference


def _attention_checks(random: Any, kind: torch.dtype, scale: int) -> Iterator[Check]:
    for queries, keys in ((64 * scale, 64 * scale), (45 * scale, 71 * scale), (71 * scale, 45 * scale)):
        q = random(2, queries, 3, 32, kind=kind).transpose(1, 2)  # (B, T, H, D) in memory, as a projection leaves it
        k, v = random(2, 3, keys, 32, kind=kind), random(2, 3, keys, 32, kind=kind)
        for causal in (False, True):
            reference = in_float64(F.scaled_dot_product_attention, q, k, v, is_causal=causal)
            for by in (False,) if kind == torch.float32 else (False, True):
                name = f"attention {queries}x{keys}{', causal' * causal}{', descriptors' * by}"
                yield name, kind, partial(kernels.attention, q, k, v, causal=causal, descriptors=by), reference


def check(device: torch.device, only: str = "") -> Iterator[Checked]:
    """Run every check whose name begins with `only`."""
    on_gpu = device.type == "cuda"
    for name, kind, kernel, reference in checks(device, 8 if on_gpu else 1):
        if not name.startswith(only):
            continue
        if on_gpu and "descriptors" in name and not has_tma(device):
            continue
        yield Checked(f"{name}, {str(kind)[6:]}", error(kernel(), reference()), TOLERANCE[kind])


def races(device: torch.device) -> Iterator[Race]:
    """What is measured, on random operands."""

    def random(*shape: int, kind: torch.dtype = torch.bfloat16) -> torch.Tensor:
        return torch.randn(shape, device=device).to(kind)

    x, y = random(2**26, kind=torch.float32), random(2**26, kind=torch.float32)
    yield "add 2**26, float32", partial(kernels.add, x, y), partial(torch.add, x, y), "TB/s", 3 * x.nbytes, None
    for kind in (torch.float32, torch.bfloat16):
        z = random(16384, 4096, kind=kind)
        name = f"softmax 16384x4096, {str(kind)[6:]}"
        yield name, partial(kernels.softmax, z), partial(torch.softmax, z, -1), "TB/s", 2 * z.nbytes, 1.0
    a, b = random(4096, 4096), random(4096, 4096)
    for how, right in (("", b), (", b turned", turned(b))):
        for name, by, target in (("matmul 4096³", None, 0.85), ("matmul 4096³ by pointers", False, None)):
            kernel = partial(kernels.matmul, a, right, descriptors=by)
            yield f"{name}{how}, bfloat16", kernel, partial(torch.matmul, a, right), "TFLOP/s", 2 * 4096**3, target
    for batch, length in ((4, 4096), (1, 16384)):
        q, k, v = (random(batch, 16, length, 128) for _ in range(3))
        for causal in (False, True):
            work = 4 * batch * 16 * length**2 * 128 / (2 if causal else 1)
            library = partial(F.scaled_dot_product_attention, q, k, v, is_causal=causal)
            for name, by, target in (("attention", None, 0.6), ("attention by pointers", False, None)):
                full = f"{name} {batch}x16x{length}x128{', causal' * causal}, bfloat16"
                kernel = partial(kernels.attention, q, k, v, causal=causal, descriptors=by)
                yield full, kernel, library, "TFLOP/s", work, target
    for rows, width, hidden in ((2**17, 128, 512), (8192, 1024, 4096)):
        inputs = random(rows, width)
        w1, b1 = random(hidden, width) / width**0.5, random(hidden)
        w2, b2 = random(width, hidden) / hidden**0.5, random(width)
        operands = (inputs, w1.T, b1, w2.T, b2)
        size, work = f"{rows}x{width}x{hidden}, bfloat16", 4 * rows * width * hidden
        library = partial(_linear_mlp, inputs, w1, b1, w2, b2)
        yield f"mlp in two {size}", partial(kernels.mlp_two_kernels, *operands), library, "TFLOP/s", work, None
        if width <= 256:
            yield f"mlp in one {size}", partial(kernels.mlp_one_kernel, *operands), library, "TFLOP/s", work, None


def _linear_mlp(
    x: torch.Tensor, w1: torch.Tensor, b1: torch.Tensor, w2: torch.Tensor, b2: torch.Tensor
) -> torch.Tensor:
    return F.linear(F.gelu(F.linear(x, w1, b1)), w2, b2)


def milliseconds(compute: Compute) -> list[float]:
    """At least RUNS times of one call, on the device's clock, each with a cold cache."""
    rep = 100
    while len(times := triton.testing.do_bench(compute, warmup=50, rep=rep, return_mode="all")) < RUNS:
        rep *= 4
    return list(times)


def measure(device: torch.device, only: str = "") -> Iterator[Measured]:
    """Race every kernel whose name begins with `only` against the library."""
    for name, kernel, library, unit, work, target in races(device):
        if name.startswith(only):
            with _without_fills():
                apart = error(kernel(), library())  # also compiles and tunes
                mine, theirs = milliseconds(kernel), milliseconds(library)
            median = statistics.median(mine)
            rate = f"{work / median / 1e9:.3g} {unit}"
            yield Measured(name, median, statistics.median(theirs), len(mine), rate, apart, target)


@contextlib.contextmanager
def _without_fills() -> Iterator[None]:
    """Deterministic algorithms off: with them the library fills its outputs first, in the time measured."""
    enabled = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(False)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(enabled, warn_only=warn_only)


def main() -> int:
    """Check, measure where there is a GPU, print; 1 if a kernel is wrong (with --strict: or misses its target)."""
    parser = argparse.ArgumentParser(
        prog="python -m torchbook.kernels.bench", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("only", nargs="?", default="", help="kernels whose name begins so")
    parser.add_argument("--strict", action="store_true", help="fail also when a target is missed")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args()
    seed_everything(0)  # deterministic algorithms also fill new tensors with nan: what is not written shows
    on_gpu = torch.cuda.is_available() and not kernels.INTERPRETED
    device = torch.device("cuda", torch.cuda.current_device()) if on_gpu else torch.device("cpu")
    how = "compiled" if on_gpu else "in Triton's interpreter, small sizes"
    print(f"{device_name(device)}, torch {torch.__version__}, triton {triton.__version__}: {how}")
    checked = list(check(device, options.only))
    for result in checked:
        print(
            f"{'right' if result.right else 'WRONG'}  {result.error:.1e} (allowed {result.allowed:.0e})  {result.name}"
        )
    measured: list[Measured] = []
    if on_gpu:
        print(f"{'':53}kernel   library  speed  (medians of >= {RUNS} runs; speed = library's time / kernel's)")
        for race in measure(device, options.only):
            measured.append(race)
            verdict = "" if race.target is None else f"target {race.target}: {'reached' if race.reached else 'MISSED'}"
            times = f"{race.milliseconds:6.3f} ms {race.library:6.3f} ms {race.speed:5.2f}x"
            print(f"{race.name:52} {times}  {race.rate:>12}  {verdict}", flush=True)
    else:
        print("Nothing was measured: there is no CUDA device, and the interpreter's times mean nothing.")
    if options.json:
        results = {"device": device_name(device), "torch": torch.__version__, "triton": triton.__version__}
        rows = {"checked": [asdict(row) for row in checked], "measured": [asdict(row) for row in measured]}
        options.json.write_text(json.dumps(results | rows, indent=1))
    wrong = [row.name for row in checked if not row.right] + [row.name for row in measured if not row.difference < 0.02]
    missed = [row.name for row in measured if not row.reached]
    print(f"{len(checked) - sum(not row.right for row in checked)} of {len(checked)} checks right", end="")
    print(f", {len(missed)} targets missed" if on_gpu else "")
    return int(bool(wrong or (options.strict and missed)))


if __name__ == "__main__":
    sys.exit(main())
