"""Roofline: FLOPs against torch's counter, bytes against what kernels are given, and the page against Python."""

from __future__ import annotations

import dataclasses
import math
import random
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
import traitlets
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from torchbook.viz import Roofline, roofline
from torchbook.viz.roofline import measure_ceilings
from torchbook.viz.units import prefixed

from ..asking import Ask
from ..samples import Look, Sample, both, choose, fill, opening

HARNESS = "roofline"
SVG = "{http://www.w3.org/2000/svg}"
SETUP = roofline.setup()
PRESETS = sorted(SETUP["presets"])
MACHINE = {"name": "this machine", "bandwidth": 29e9, "flops": {"fp32": 441e9, "bf16": 120e9}}


def settings(count: int) -> list[dict[str, Any]]:
    """Random settings, their sizes spread over what the fields allow."""
    draw = random.Random(5)
    cases = []
    for _ in range(count):
        op = draw.choice(list(roofline.OPS))
        sizes = {}
        for name, of in SETUP["ops"][op]["fields"].items():
            value = round(math.exp(draw.uniform(math.log(max(of["low"], 1)), math.log(of["high"]))))
            sizes[name] = of["low"] if draw.random() < 0.1 else min(max(value, of["low"]), of["high"])
        machine = MACHINE if draw.random() < 0.5 else {}
        device = draw.choice(["a100", "h100", "h200", *["machine"] * bool(machine)])
        dtype = draw.choice(list(SETUP["dtypes"]))
        cases.append({"op": op, "sizes": sizes, "dtype": dtype, "fused": draw.random() < 0.5, "device": device,
                      "machine": machine})  # fmt: skip
    return cases


def measured(count: int) -> list[dict[str, Any]]:
    draw = random.Random(count)
    return [{"name": f"op {i}", "flops": 10 ** draw.uniform(3, 15), "bytes": 10 ** draw.uniform(3, 12),
             "seconds": 10 ** draw.uniform(-6, 2)} for i in range(count)]  # fmt: skip


def near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-12)


# FLOPs, against torch's counter


def counted(run: Callable[[], object]) -> int:
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


def meta(*size: int) -> torch.Tensor:
    return torch.empty(*size, device="meta")


@pytest.mark.parametrize("seed", range(30))
def test_flops_of_matrix_products_are_those_of_torch(seed: int) -> None:
    draw = random.Random(seed)
    m, n, k = (draw.randint(1, 300) for _ in range(3))
    assert roofline.matmul(m, n, k).flops == counted(lambda: meta(m, k) @ meta(k, n))
    assert roofline.decode(m, k, n).flops == counted(lambda: functional.linear(meta(m, 1, k), meta(n, k)))
    size, kernel, stride = draw.randint(8, 40), draw.choice([1, 2, 3, 5, 7]), draw.randint(1, 4)
    image, weights = meta(m % 5 + 1, n % 9 + 1, size, size), meta(k % 7 + 1, n % 9 + 1, kernel, kernel)
    predicted = roofline.conv2d(m % 5 + 1, n % 9 + 1, k % 7 + 1, size, kernel, stride)
    assert predicted.flops == counted(lambda: functional.conv2d(image, weights, stride=stride, padding=kernel // 2))


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize(("queries", "keys"), [(64, 64), (1, 200), (30, 77)])
def test_flops_of_attention_are_those_of_torch(queries: int, keys: int, fused: bool) -> None:
    q, k = (torch.empty(2, 6, n, 16, device="meta", dtype=torch.bfloat16) for n in (queries, keys))
    predicted = roofline.attention(2, 6, 6, queries, keys, 16, fused=fused).flops
    if fused:
        assert predicted == counted(lambda: torch.ops.aten._scaled_dot_product_flash_attention(q, k, k))
    else:
        assert predicted == counted(lambda: (q @ k.mT).softmax(-1) @ k)


class Counting:
    """A number that counts the operations that are done on it."""

    done = 0

    def __init__(self, value: float) -> None:
        self.value = value

    def _do(self, value: float) -> Counting:
        Counting.done += 1
        return Counting(value)

    def __add__(self, other: Counting) -> Counting:
        return self._do(self.value + other.value)

    def __sub__(self, other: Counting) -> Counting:
        return self._do(self.value - other.value)

    def __mul__(self, other: Counting) -> Counting:
        return self._do(self.value * other.value)

    def __truediv__(self, other: Counting) -> Counting:
        return self._do(self.value / other.value)

    def __gt__(self, other: Counting) -> bool:
        Counting.done += 1
        return self.value > other.value

    def exp(self) -> Counting:
        return self._do(math.exp(self.value))

    def sqrt(self) -> Counting:
        return self._do(math.sqrt(self.value))


def summed(numbers: list[Counting]) -> Counting:
    total = numbers[0]
    for x in numbers[1:]:
        total = total + x
    return total


@pytest.mark.parametrize("width", [1, 2, 7, 40])
def test_flops_of_rows_are_counted_one_by_one(width: int) -> None:
    row = [[Counting(random.Random(r * width + i).gauss(0, 1)) for i in range(width)] for r in range(3)]
    Counting.done = 0
    for x in row:
        top = x[0]
        for other in x[1:]:
            top = other if other > top else top
        powers = [(number - top).exp() for number in x]
        total = summed(powers)
        shares = [number / total for number in powers]
        assert sum(number.value for number in shares) == pytest.approx(1)
    assert Counting.done == roofline.softmax(3, width).flops

    weight, bias, eps, many = ([Counting(1.5)] * width, [Counting(0.5)] * width, Counting(1e-5), Counting(float(width)))
    Counting.done = 0
    for x in row:
        mean = summed(x) / many
        off = [number - mean for number in x]
        std = (summed([number * number for number in off]) / many + eps).sqrt()
        inverse = 1 / std.value  # rsqrt is one operation, the root above
        [number * Counting(inverse) * w + b for number, w, b in zip(off, weight, bias, strict=True)]
    assert Counting.done == roofline.layer_norm(3, width).flops


# Bytes, against what each kernel is given and gives


class Traffic(TorchDispatchMode):
    """Bytes of all tensors that ops read and write, each op by itself; views move nothing."""

    moved = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if not func.is_view and "unsafe_view" not in str(func) and "detach" not in str(func):
            tensors = [t for t in tree_leaves((args, kwargs, out)) if isinstance(t, torch.Tensor)]
            self.moved += sum(t.numel() * t.element_size() for t in tensors)
        return out


def traffic(run: Callable[[], object]) -> int:
    with Traffic() as seen:
        run()
    return seen.moved


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("seed", range(8))
def test_bytes_are_those_of_the_kernels(seed: int, dtype: torch.dtype) -> None:
    draw = random.Random(seed)
    torch.manual_seed(seed)
    m, n, k, ops = *(draw.randint(2, 90) for _ in range(3)), draw.randint(1, 6)
    e = torch.empty(0, dtype=dtype).element_size()

    def new(*size: int) -> torch.Tensor:
        return torch.randn(*size, dtype=dtype)

    a, b, w, bias = new(m, k), new(k, n), new(k), new(k)
    assert roofline.matmul(m, n, k, element=e).bytes == traffic(lambda: a @ b)
    assert roofline.decode(m, k, n, element=e).bytes == traffic(lambda: a @ b)

    def chain() -> torch.Tensor:
        x = a @ b
        for _ in range(ops):
            x = x.relu()
        return x

    assert roofline.matmul(m, n, k, ops, element=e, fused=False).bytes == traffic(chain)
    assert roofline.pointwise(m * k, ops, element=e, fused=False).bytes == traffic(chain_of(a, ops))
    assert roofline.pointwise(m * k, ops, element=e).bytes == traffic(chain_of(a, 1))
    assert roofline.softmax(m, k, element=e).bytes == traffic(lambda: torch.softmax(a, -1))

    def written_out() -> torch.Tensor:
        y = (a - a.amax(-1, keepdim=True)).exp()
        return y / y.sum(-1, keepdim=True)

    assert torch.allclose(written_out(), a.softmax(-1), atol=0.02)
    assert roofline.softmax(m, k, element=e, fused=False).bytes == traffic(written_out)

    def norm() -> torch.Tensor:
        off = a - a.mean(-1, keepdim=True)
        return off * (off.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * w + bias

    assert torch.allclose(norm(), functional.layer_norm(a, (k,), w, bias), rtol=0.05, atol=0.05)
    assert roofline.layer_norm(m, k, element=e, fused=False).bytes == traffic(norm)
    _, mean, rstd = torch.native_layer_norm(a, (k,), w, bias, 1e-5)
    fused = traffic(lambda: torch.native_layer_norm(a, (k,), w, bias, 1e-5)) - mean.nbytes - rstd.nbytes
    assert roofline.layer_norm(m, k, element=e).bytes == fused


def chain_of(x: torch.Tensor, ops: int) -> Callable[[], torch.Tensor]:
    def run() -> torch.Tensor:
        y = x
        for _ in range(ops):
            y = y.relu()
        return y

    return run


def test_bytes_of_attention_convolution_and_embedding() -> None:
    q, k, v = torch.randn(6, 40, 16), torch.randn(6, 70, 16), torch.randn(6, 70, 16)
    predicted = roofline.attention(2, 3, 3, 40, 70, 16, fused=False)
    assert predicted.bytes == traffic(lambda: torch.bmm(torch.bmm(q, k.mT).softmax(-1), v))
    predicted = roofline.attention(2, 3, 3, 40, 70, 16)
    assert predicted.bytes == sum(t.nbytes for t in (q, k, v, q))
    grouped = roofline.attention(2, 6, 3, 40, 70, 16)
    assert grouped.bytes - predicted.bytes == 2 * q.nbytes
    image, weights = torch.randn(2, 3, 20, 20), torch.randn(5, 3, 3, 3)
    out = functional.conv2d(image, weights, stride=2, padding=1)
    assert roofline.conv2d(2, 3, 5, 20, 3, 2).bytes == image.nbytes + weights.nbytes + out.nbytes
    rows = torch.randn(50, 8)
    ids = torch.arange(50)
    assert roofline.embedding(50, 8).bytes == traffic(lambda: functional.embedding(ids, rows))


# The roof


def test_time_is_that_of_the_roof() -> None:
    for setting in settings(500):
        of = roofline.cost(setting)
        for on in roofline.results(setting).values():
            if on is None:
                continue
            assert near(on.attainable, min(on.peak, on.bandwidth * of.intensity))
            assert on.bound == ("compute" if of.flops / on.peak >= of.bytes / on.bandwidth else "memory") or near(
                of.intensity, on.ridge
            )
            if of.flops:
                assert math.isclose(on.time, of.flops / on.attainable, rel_tol=1e-9)


def test_rows_at_the_ridge() -> None:
    draw = random.Random(2)
    for _ in range(500):
        inputs, outputs, element = draw.randint(1, 20000), draw.randint(1, 20000), draw.choice([1, 2, 4])
        turn = draw.uniform(1, 600)
        rows = roofline.rows_at_ridge(inputs, outputs, element, turn)
        if rows < math.inf:
            over, under = math.ceil(rows), max(1, math.floor(rows) - 1)
            assert roofline.decode(over + 1, inputs, outputs, element=element).intensity >= turn
            assert under == 1 or roofline.decode(under, inputs, outputs, element=element).intensity < turn
        else:
            assert roofline.decode(10**9, inputs, outputs, element=element).intensity < turn


def test_fusing_never_costs_bytes() -> None:
    for setting in settings(500):
        fused, apart = roofline.cost(setting, True), roofline.cost(setting, False)
        assert fused.bytes <= apart.bytes
        assert fused.flops == apart.flops


def test_peaks_are_dense_and_their_source_is_named() -> None:
    a100, h100, h200 = (SETUP["devices"][name] for name in ("a100", "h100", "h200"))
    assert a100["flops"] == {"fp32": 19.5e12, "tf32": 156e12, "bf16": 312e12}
    assert h200["flops"] == h100["flops"]
    published = {"tf32": 989.4, "bf16": 1978.9, "fp8": 3957.8}  # the data sheet's, with sparsity
    for dtype, sparse in published.items():
        assert h100["flops"][dtype] * 2 == pytest.approx(sparse * 1e12, rel=1e-3)
    assert (a100["bandwidth"], h100["bandwidth"], h200["bandwidth"]) == (2.039e12, 3.35e12, 4.8e12)
    assert all(of["source"] for of in SETUP["devices"].values())


def test_ops_without_a_product_run_at_the_peak_of_ordinary_cores() -> None:
    shown = Roofline(op="softmax", dtype="bf16").results["h100"]
    assert shown
    assert shown.peak == 66.9e12
    assert Roofline(op="matmul", dtype="fp8").results["a100"] is None


def test_notes_of_the_presets_are_true() -> None:
    of = {name: Roofline(preset=name) for name in PRESETS}

    def on(name: str, device: str = "h100") -> roofline.On:
        result = of[name].results[device]
        assert result
        return result

    assert all(on("matmul", d).bound == on("flash", d).bound == "compute" for d in ("a100", "h100", "h200"))
    assert on("small-matmul").bound == "memory"
    assert of["decode"].cost.intensity == pytest.approx(1, rel=1e-3)
    assert 1 < on("decode-batch").time / on("decode").time < 2
    assert of["decode-batch"].sizes["batch"] == 512
    assert of["chain"].cost.bytes == 8 * of["chain-fused"].cost.bytes
    assert of["chain"].cost.flops == of["chain-fused"].cost.flops
    assert on("chain-fused").bound == on("softmax").bound == "memory"
    assert of["softmax"].cost.flops / (4096 * 4096) == pytest.approx(5, rel=1e-3)
    apart, whole = of["written-out"].cost.bytes, of["flash"].cost.bytes
    assert (apart - whole) / 4 == pytest.approx(4.3e9, rel=0.01)
    assert whole == pytest.approx(0.54e9, rel=0.01)
    assert (of["cache"].sizes["heads"] // of["cache"].sizes["kv_heads"], of["cache"].sizes["keys"]) == (4, 8192)
    assert [on("conv", d).bound for d in ("a100", "h100")] == ["compute", "memory"]


def test_ceilings_of_this_machine() -> None:
    ceilings = measure_ceilings(dtypes=("fp32", "bf16"), megabytes=8, size=64, repeats=3)
    assert ceilings["name"] == "this machine"
    assert ceilings["bandwidth"] > 1e7
    assert set(ceilings["flops"]) == {"fp32", "bf16"}
    assert min(ceilings["flops"].values()) > 1e6
    w = Roofline(machine=ceilings, device="machine", dtype="fp32")
    assert w.results["machine"]
    assert torch.get_float32_matmul_precision() == "highest"


# The page's arithmetic


def test_page_computes_what_python_computes(ask: Ask, examples: int) -> None:
    every = settings(examples)
    for setting, (of, other, page) in zip(every, ask("results", every), strict=True):
        for answer, python in ((of, roofline.cost(setting)), (other, roofline.cost(setting, not setting["fused"]))):
            assert all(near(answer[name], getattr(python, name)) for name in ("flops", "bytes", "intensity")), setting
        results = roofline.results(setting)
        assert list(page) == list(results)
        for name, on in results.items():
            if on is None:
                assert page[name] is None
                continue
            for key, value in dataclasses.asdict(on).items():
                assert page[name][key] == value if key == "bound" else near(page[name][key], value), (key, setting)


def test_page_says_what_python_says(ask: Ask, examples: int) -> None:
    every = [(setting, measured(i % 3)) for i, setting in enumerate(settings(examples))]
    every += [(Roofline(preset=name).setting, []) for name in PRESETS]
    for (setting, points), page in zip(every, ask("words", every), strict=True):
        assert page == roofline.describe(setting, points)


def test_page_shows_the_same_decades(ask: Ask, examples: int) -> None:
    every = [(setting, measured(i % 3)) for i, setting in enumerate(settings(examples // 4))]
    for (setting, points), page in zip(every, ask("span", every), strict=True):
        assert tuple(page) == roofline.span(setting, points)


def test_the_dot_finds_the_size_of_an_intensity(ask: Ask, examples: int) -> None:
    draw = random.Random(7)
    every = [(setting, 10 ** draw.uniform(-1, 5)) for setting in settings(examples // 4)]
    slid = dict.fromkeys(roofline.OPS, 0)
    for (setting, intensity), (name, size) in zip(every, ask("slide", every), strict=True):
        if name is None:
            continue

        def at(value: int, setting: dict[str, Any] = setting, name: str = name) -> float:
            changed = {**setting, "sizes": {**setting["sizes"], name: value}}
            return roofline.cost(changed, setting["fused"]).intensity

        field = SETUP["ops"][setting["op"]]["fields"][name]
        assert field["low"] <= size <= field["high"]
        assert at(size) <= intensity or size == field["low"]
        assert size == field["high"] or at(size + 1) > intensity
        slid[setting["op"]] += 1
    assert all(slid[op] for op in ("matmul", "decode", "pointwise", "attention", "conv2d"))
    assert not any(slid[op] for op in ("layer_norm", "softmax", "embedding"))


def test_numbers_are_written_alike(ask: Ask) -> None:
    draw = random.Random(1)
    numbers = [0.0, 1.0, 999.5, 1e3, *(10 ** draw.uniform(0, 30) for _ in range(2000))]
    assert ask("operations", numbers) == [prefixed(x, "FLOP") for x in numbers]
    assert ask("tick", list(range(-4, 22))) == [roofline._tick(n) for n in range(-4, 22)]
    assert [roofline._tick(n) for n in (0, 3, 10, 14, 15, 17)] == ["1", "1 k", "10 G", "100 T", "1 P", "100 P"]


def test_presets_are_those_of_python(ask: Ask) -> None:
    every = [Roofline(preset=name).setting for name in PRESETS]
    for start, setting in zip(ask("start", PRESETS), every, strict=True):
        assert start == {name: setting[name] for name in start}
    assert ask("preset", every) == PRESETS
    assert ask("preset", [Roofline(op="softmax", sizes={"rows": 3}).setting]) == [None]


def test_ranges_are_the_same_on_the_page_and_in_python(ask: Ask) -> None:
    for op, of in SETUP["ops"].items():
        for name, field in of["fields"].items():
            values = [field["low"], field["high"], field["low"] - 1, field["high"] + 1]
            asked = ask("problem", [[op, name, value] for value in values])
            for value, problem in zip(values, asked, strict=True):
                try:
                    Roofline(op=op, sizes={name: value})
                    assert problem == ""
                except traitlets.TraitError:
                    assert problem.startswith("a whole number")


def test_states_from_links(ask: Ask) -> None:
    good = {"op": "softmax", "sizes": {"rows": 3, "width": 4}, "dtype": "fp32", "fused": True, "device": "a100"}
    bad: list[Any] = [None, 3, {}, {**good, "op": "gelu"}, {**good, "dtype": "fp4"}, {**good, "fused": 1},
                      {**good, "sizes": {"rows": 3}}, {**good, "sizes": {"rows": 0, "width": 4}}, {**good, "x": 1},
                      {**good, "sizes": {"rows": 3, "width": 4, "z": 1}}, {**good, "device": "machine"},
                      {**good, "sizes": None}, {**good, "op": "toString"}]  # fmt: skip
    assert ask("is", [[good, {}], *([state, {}] for state in bad), [bad[10], MACHINE]]) == [True, *[False] * 13, True]


def test_copied_code_prints_the_same_numbers(ask: Ask, capsys: pytest.CaptureFixture[str], examples: int) -> None:
    every = settings(examples // 8) + [Roofline(preset=name).setting for name in PRESETS]
    for setting, code in zip(every, ask("script", every), strict=True):
        exec(compile(code, "copied", "exec"), {})
        lines = capsys.readouterr().out.splitlines()
        of = roofline.cost(setting)
        for line, value in zip(lines[:3], (of.flops, of.bytes, of.intensity), strict=True):
            assert math.isclose(float(line.split()[1]), value, rel_tol=1e-12), setting
        labels = {name: device["label"] for name, device in roofline.devices(setting).items()}
        wanted = {labels[name]: on for name, on in roofline.results(setting).items() if on}
        printed = {name: (float(least), bound) for name, least, bound in (line.split("|") for line in lines[3:])}
        assert set(printed) == set(wanted)
        for name, on in wanted.items():
            assert near(printed[name][0], on.time)
            assert printed[name][1] == on.bound


def test_formulas_with_numbers_give_the_value_beside_them(ask: Ask) -> None:
    units = {"TFLOP/s": 1e12, "GFLOP/s": 1e9, "PFLOP/s": 1e15, "MFLOP/s": 1e6, "kFLOP/s": 1e3, "FLOP/s": 1,
             "PFLOP": 1e15, "TFLOP": 1e12, "GFLOP": 1e9, "MFLOP": 1e6, "kFLOP": 1e3, "FLOP": 1, "TB/s": 1e12,
             "GB/s": 1e9, "TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3, "B": 1, "ms": 1e-3, "µs": 1e-6,
             "s": 1}  # fmt: skip

    def number(text: str) -> float:
        plain = text
        for unit in sorted(units, key=len, reverse=True):
            plain = re.sub(rf"([\d.]+)\s{re.escape(unit)}(?![\w/*])", rf"(\1*{units[unit]!r})", plain)
            plain = re.sub(rf"\)\s{re.escape(unit)}(?![\w/*])", f")*{units[unit]!r}", plain)
        return float(eval(plain.replace("×", "*").replace("÷", "/").replace("−", "-"), {}))

    shown = [Roofline(preset=name, machine=MACHINE).setting for name in PRESETS]
    for op in roofline.OPS:
        shown += [Roofline(op=op, fused=fused, dtype="fp32", machine=MACHINE).setting for fused in (True, False)]
    shown.append(Roofline(sizes={"extra": 3}, fused=False).setting)
    for setting, rows in zip(shown, ask("values", shown), strict=True):
        for name, value, formula in rows:
            if formula:
                assert math.isclose(number(value), number(formula), rel_tol=0.011), (name, value, formula, setting)


# The widget


def test_arguments_change_a_preset() -> None:
    w = Roofline(preset="decode", sizes={"batch": 7}, dtype="fp8", link="x")
    assert (w.sizes["batch"], w.sizes["inputs"], w.dtype) == (7, 4096, "fp8")
    assert Roofline(preset="written_out").fused is False
    assert Roofline(preset="decode", op="softmax").sizes == roofline.default_sizes("softmax")


def test_another_op_has_its_own_sizes() -> None:
    w = Roofline()
    w.op = "softmax"
    assert w.sizes == roofline.default_sizes("softmax")
    assert w.words.startswith("Softmax")
    w.sizes = {"rows": 3}
    assert w.sizes == {"rows": 3, "width": 4096}
    w.set_state({"op": "pointwise", "sizes": {"elements": 10, "ops": 2}})
    assert w.cost == roofline.pointwise(10, 2, element=2)


def test_machine_and_points_are_taken_as_they_come() -> None:
    points = {"softmax": (5e9, 8e9, 0.5), "matmul": {"flops": 2e9, "bytes": 12e6, "seconds": 0.01}}
    w = Roofline(machine={"flops": 441e9, "bandwidth": 29e9}, points=points, dtype="fp32")
    assert w.machine == {"name": "this machine", "bandwidth": 29e9, "flops": {"fp32": 441e9}}
    assert "Measured: softmax reached 10.0 GFLOP/s at 0.625 FLOP per byte, 55.2 % of what this machine" in w.words
    assert "This machine: compute-bound" in w.words


def test_mistakes_are_named_and_change_nothing() -> None:
    w = Roofline()
    with pytest.raises(traitlets.TraitError, match="m must be a whole number from 1 to 1e\\+06, not 0"):
        w.sizes = {"m": 0}
    with pytest.raises(traitlets.TraitError, match="matmul has no size 'rows'; it has m, n, k, extra"):
        w.sizes = {"rows": 3}
    with pytest.raises(ValueError, match="no preset is called 'gelu'"):
        Roofline(preset="gelu")
    with pytest.raises(ValueError, match="measure_ceilings"):
        Roofline(device="machine")
    with pytest.raises(ValueError, match="above zero"):
        Roofline(machine={"flops": 1e9})
    with pytest.raises(ValueError, match="the point 'x' lacks its seconds"):
        Roofline(points={"x": {"flops": 1, "bytes": 1}})
    with pytest.raises(traitlets.TraitError):
        Roofline(op="gelu")
    assert w.sizes["m"] == 4096


def test_words_and_picture_follow() -> None:
    w = Roofline(machine=MACHINE, points={"<b>": (1e9, 1e9, 0.1)})
    svg = ElementTree.fromstring(w.picture)
    assert svg.get("aria-label") == w.words
    assert len(svg.findall(f"{SVG}polyline")) == len(svg.findall(f"{SVG}circle")) == 4
    w.dtype = "fp8"
    assert "A100: no figure for fp8" in w.words
    assert len(ElementTree.fromstring(w.picture).findall(f"{SVG}polyline")) == 2
    w.op, w.dtype = "embedding", "fp32"
    assert not ElementTree.fromstring(w.picture).findall(f"{SVG}circle")


# The figure among all figures


def roofline_of_a_machine(**traits: Any) -> Roofline:
    """Measured ceilings and kernels."""
    points = {"eager softmax": (83.9e6, 134e6, 9e-3), "matmul": (2.1e9, 12.6e6, 6e-3)}
    return Roofline(machine={"bandwidth": 29e9, "flops": 441e9}, points=points, **traits)


def sample() -> Sample:
    """How the test of all figures takes this one."""
    spoiled = both(fill("queries", "0"), opening)
    return Sample(
        make=Roofline,
        act=choose("op", "softmax"), acted={"op": "softmax"},
        other={"op": "layer_norm"},
        linked={"op": "attention", "sizes": {"queries": 5}, "dtype": "fp8", "device": "h200", "fused": False},
        broken=("=eyJvcCI6IngifQ", "=e30", ":toString"),  # an op that is not
        looks=(Look({"preset": "written-out"}, spoiled, roofline_of_a_machine), Look({}, make=roofline_of_a_machine)),
        plain=({"dtype": "fp32"},),
    )  # fmt: skip
