"""The stride model of the page against torch: the same shapes, strides, storage, values and error texts.

Chains of operations on random tensors run in torch and, in one node process, in `model.js`: at the deep depth more than
10,000 different ones.
"""

from __future__ import annotations

import math
import random
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import HealthCheck, given, seed, settings

from ..asking import SOURCES, Harness, Harnesses, mutant

DEEP = 11_000
SEED = 3
LARGEST = 600  # elements of a tensor; a step beyond it ends its chain
WILD = 115  # of 256 steps get arguments without a look at the tensor; some of these are allowed all the same
SOURCE = "stride/model.js"
SLOW = [HealthCheck.too_slow]
DTYPES = ["float32", "float32", "float32", "float64", "int64", "int32", "int16", "uint8", "int8", "float16", "bfloat16"]

Args = dict[str, Any]


# --- torch ---------------------------------------------------------------------------------------------------------


def _slice(x: torch.Tensor, dim: int, start: int | None, stop: int | None, step: int | None) -> torch.Tensor:
    part = slice(start, stop, step)
    if dim == 0:
        return x[part]
    every = slice(None)
    return x[(every,) * dim + (part,)] if dim > 0 else x[(..., part, *[every] * (-dim - 1))]


def _contiguous(x: torch.Tensor, memory_format: str) -> torch.Tensor:
    return x.contiguous(memory_format=getattr(torch, memory_format))


TORCH: dict[str, Callable[..., torch.Tensor]] = {
    "transpose": lambda x, dim0, dim1: torch.transpose(x, dim0, dim1),
    "t": torch.t,
    "mT": lambda x: x.mT,
    "permute": lambda x, dims: torch.permute(x, tuple(dims)),
    "view": lambda x, shape: x.view(tuple(shape)),
    "reshape": lambda x, shape: torch.reshape(x, tuple(shape)),
    "flatten": lambda x, start_dim, end_dim: torch.flatten(x, start_dim=start_dim, end_dim=end_dim),
    "narrow": lambda x, dim, start, length: torch.narrow(x, dim, start, length),
    "slice": _slice,
    "select": lambda x, dim, index: torch.select(x, dim, index),
    "index": lambda x, index: x[index],
    "expand": lambda x, shape: x.expand(tuple(shape)),
    "unsqueeze": torch.unsqueeze,
    "squeeze": lambda x, dim: torch.squeeze(x) if dim is None else torch.squeeze(x, dim),
    "unfold": lambda x, dim, size, step: x.unfold(dimension=dim, size=size, step=step),
    "diagonal": lambda x, offset, dim1, dim2: torch.diagonal(x, offset=offset, dim1=dim1, dim2=dim2),
    "as_strided": torch.as_strided,
    "contiguous": _contiguous,
    "channels_last": lambda x: x.to(memory_format=torch.channels_last),
    "flip": lambda x, dims: torch.flip(x, tuple(dims)),
}
NAMES = list(TORCH)
DRAWN = [*NAMES, "transpose", "permute", "view", "view", "reshape", "reshape"]


# --- random chains -------------------------------------------------------------------------------------------------


class Bytes:
    """Small numbers out of a byte string; after its end, zeros, so that fewer bytes are a simpler chain."""

    def __init__(self, data: bytes) -> None:
        self._data = iter(data)

    def below(self, n: int) -> int:
        return next(self._data, 0) % max(n, 1)

    def between(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)

    def one(self, items: list[Any]) -> Any:
        return items[self.below(len(items))]

    def some(self, most: int, low: int, high: int) -> list[int]:
        return [self.between(low, high) for _ in range(self.below(most + 1))]


def _dim(take: Bytes, rank: int) -> int:
    return take.between(-max(rank, 1), max(rank, 1) - 1)


def _new_shape(take: Bytes, shape: list[int]) -> list[int]:
    """A shape with as many elements: dimensions merged, split, or of size 1 added or dropped; perhaps with a -1."""
    new = list(shape)
    for _ in range(take.between(1, 3)):
        d = take.below(len(new))
        kind = take.below(4)
        if kind == 0 and d + 1 < len(new):
            new[d : d + 2] = [new[d] * new[d + 1]]
        elif kind == 1 and new and new[d] > 1:
            factor = next(f for f in range(2, new[d] + 1) if new[d] % f == 0)
            new[d : d + 1] = [new[d] // factor, factor] if take.below(2) else [factor, new[d] // factor]
        elif kind == 2 and 1 in new:
            new.remove(1)
        elif kind == 3:
            new.insert(d, 1)
    if take.below(2) == 1:
        new = [math.prod(new)]
    if new and take.below(3) == 0:
        new[take.below(len(new))] = -1
    return new


def _strided(take: Bytes, x: torch.Tensor) -> Args:
    """Sizes and strides that fit into the storage."""
    room = x.untyped_storage().nbytes() // x.element_size()
    size = take.some(4, 0, 3)
    stride = [take.below(6) for _ in size]
    while 0 not in size and sum((n - 1) * s for n, s in zip(size, stride, strict=True)) >= max(room, 1):
        stride = [s // 2 for s in stride]
    span = sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if 0 not in size else 0
    return {"size": size, "stride": stride, "storage_offset": take.below(room - span)}


def fitting_name(name: str, rank: int) -> str:
    """The operation, or one like it where the rank rules it out."""
    match name:
        case "t" if rank > 2:
            return "transpose"
        case "mT" | "diagonal" if rank < 2:
            return "unfold"
        case "select" | "index" | "narrow" | "slice" if rank == 0:
            return "unsqueeze"
        case "channels_last" if rank != 4:
            return "permute"
    return name


def fitting(name: str, x: torch.Tensor, take: Bytes) -> Args:
    """Arguments that are mostly allowed for this tensor."""
    shape, rank = list(x.shape), x.dim()
    dim = _dim(take, rank)
    size = shape[dim] if rank else 1
    match name:
        case "transpose":
            return {"dim0": dim, "dim1": _dim(take, rank)}
        case "permute":
            dims = list(range(rank))
            return {"dims": [d - rank * take.below(2) for d in (dims.pop(take.below(len(dims))) for _ in shape)]}
        case "view" | "reshape":
            return {"shape": _new_shape(take, shape)}
        case "flatten":
            first = take.below(rank)
            return {"start_dim": first, "end_dim": take.between(first, max(rank - 1, first)) if take.below(3) else -1}
        case "narrow":
            start = take.between(-size, size)
            length = take.below(-start + 1 if start < 0 else size - start + 1)
            return {"dim": dim, "start": start, "length": length}
        case "slice":
            ends = [take.one([None, *range(-6, 7)]) for _ in range(2)]
            return {"dim": dim, "start": ends[0], "stop": ends[1], "step": take.one([None, 1, 2, 3])}
        case "select":
            return {"dim": dim, "index": take.between(-size, size - 1)}
        case "index":
            return {"index": take.between(-shape[0], shape[0] - 1) if rank else 0}
        case "expand":
            new = [take.one([-1, 1, 0, 2, 3]) if n == 1 else take.one([-1, n]) for n in shape]
            return {"shape": take.some(2, 1, 3) + new}
        case "unsqueeze":
            return {"dim": take.between(-rank - 1, rank)}
        case "squeeze":
            return {"dim": take.one([None, dim])}
        case "unfold":
            return {"dim": dim, "size": take.below(size + 1), "step": take.between(1, 3)}
        case "diagonal":
            other = (dim + take.between(1, max(rank - 1, 1))) % max(rank, 1)
            return {"offset": take.between(-2, 2), "dim1": dim, "dim2": other}
        case "as_strided":
            return _strided(take, x)
        case "contiguous":
            return {"memory_format": take.one(["contiguous_format", *["channels_last"] * (rank == 4)])}
        case "flip":
            return {"dims": [d - rank * take.below(2) for d in range(rank) if take.below(2)]}
    return {}


def wild(name: str, x: torch.Tensor, take: Bytes) -> Args:
    """Arguments of the right types, and nothing more."""
    several = {"permute": "dims", "view": "shape", "reshape": "shape", "expand": "shape", "flip": "dims"}
    single = {
        "transpose": ("dim0", "dim1"),
        "flatten": ("start_dim", "end_dim"),
        "narrow": ("dim", "start", "length"),
        "slice": ("dim", "start", "stop", "step"),
        "select": ("dim", "index"),
        "index": ("index",),
        "unsqueeze": ("dim",),
        "squeeze": ("dim",),
        "unfold": ("dim", "size", "step"),
        "diagonal": ("offset", "dim1", "dim2"),
    }
    if name in several:
        low, high = (-5, 5) if name in ("permute", "flip") else (-2, 6)
        length = x.dim() if take.below(2) else take.below(6)
        return {several[name]: [take.between(low, high) for _ in range(length)]}
    if name in single:
        # The letters of "dim" are what `_dim` would draw, so that the later checks are reached too.
        near = take.below(3)
        draw = {arg: take.between(-6, 6) for arg in single[name]}
        return {arg: _dim(take, x.dim()) if near and "dim" in arg else value for arg, value in draw.items()}
    if name == "as_strided":
        size = take.some(4, -1 if take.below(4) == 0 else 0, 4)
        stride = [take.between(-1 if take.below(6) == 0 else 0, 7) for _ in size]
        if take.below(8) == 0:
            stride.append(1)
        return {"size": size, "stride": stride, "storage_offset": take.between(-1, 12)}
    if name == "contiguous":
        return {"memory_format": take.one(["contiguous_format", "channels_last"])}
    return {}


@dataclass
class Chain:
    """A chain as it went in torch: what is sent to the model, and what must come back."""

    create: Args
    start: torch.Tensor
    steps: list[Args] = field(default_factory=list)
    expected: list[Args] = field(default_factory=list)
    before: list[torch.Tensor] = field(default_factory=list)
    end: torch.Tensor = field(default_factory=lambda: torch.empty(0))


def listed(x: torch.Tensor) -> list[float | None]:
    """The elements as JSON has them: it knows no infinity."""
    return [None if math.isinf(value) else value for value in x.flatten().tolist()]


def seen(x: torch.Tensor) -> Args:
    """Everything the model says of a state, from torch."""
    room = x.untyped_storage().nbytes() // x.element_size()
    places = torch.arange(max(room, 1)).as_strided(x.shape, x.stride(), x.storage_offset()).flatten().tolist()
    shared: dict[str, list[int]] = {}
    for flat, place in enumerate(places):
        shared.setdefault(str(place), []).append(flat)
    return {
        "shape": list(x.shape),
        "stride": list(x.stride()),
        "offset": x.storage_offset(),
        "contiguous": x.is_contiguous(),
        "channelsLast": x.is_contiguous(memory_format=torch.channels_last),
        "values": listed(x),
        "aliases": shared,
        "bytes": x.nbytes,
        "storageBytes": x.untyped_storage().nbytes(),
    }


def storage_of(x: torch.Tensor) -> int:
    return int(x.untyped_storage()._cdata)


def first_tensor(head: bytes) -> tuple[Args, torch.Tensor]:
    take = Bytes(head)
    rank = take.one([2, 0, 1, 2, 3, 3, 4, 4, 4])  # hypothesis draws many zeros
    dtype = take.one(DTYPES)
    shape = [take.one([2, 3, 1, 2, 3, 4, 5, 0]) if d else take.one([2, 3, 1, 4, 5, 0]) for d in range(rank)]
    if math.prod(shape) > 100 and dtype in ("uint8", "int8", "bfloat16"):
        dtype = "float32"
    made = {"shape": shape, "dtype": dtype}
    return made, torch.arange(math.prod(shape), dtype=getattr(torch, dtype)).reshape(shape)


def outcome(call: Callable[..., torch.Tensor], *of: Any, **named: Any) -> torch.Tensor | Args:
    """The tensor, or what torch raised."""
    try:
        return call(*of, **named)
    except (RuntimeError, IndexError, ValueError) as error:
        return {"error": str(error), "type": type(error).__name__}


def written_value(take: Bytes, number: int) -> float:
    """A small whole number, one at the ends of an integer type or beyond, or one that is not whole."""
    if take.below(2):
        return number + 1
    edge = take.one([0, *(2**bits for bits in (7, 8, 15, 16, 31, 32, 52))]) * take.one([1, -1])
    near = edge + take.between(-2, 2)
    return near + take.one([0, 0, 0, 0.5, -0.25, 1e22])


def written(x: torch.Tensor, at: tuple[int, ...], value: float) -> Args:
    """What `x[at] = value` does in torch, or what torch says to it."""
    shared = seen(x)["aliases"]
    flat = sum(i * math.prod(x.shape[d + 1 :]) for d, i in enumerate(at))
    try:
        x[at] = value
    except (RuntimeError, ValueError) as error:
        return {"refused": {"error": str(error), "type": type(error).__name__}, "written": listed(x)}
    changed = next(readers for readers in shared.values() if flat in readers)
    return {"refused": None, "changed": changed, "written": listed(x)}


def run_chain(head: bytes, blocks: list[bytes]) -> Chain:
    """Builds the operations one by one, as the tensor becomes what torch makes of it."""
    create, x = first_tensor(head)
    chain = Chain(create, x.clone(memory_format=torch.preserve_format))
    x = chain.start.clone(memory_format=torch.preserve_format)
    for number, block in enumerate(blocks):
        take = Bytes(block)
        name = DRAWN[take.below(len(DRAWN))]
        reckless = take.below(256) >= 256 - WILD
        if not reckless:
            name = fitting_name(name, x.dim())
        args = (wild if reckless else fitting)(name, x, take)
        result = outcome(TORCH[name], x, **args)
        if isinstance(result, torch.Tensor) and min(result.shape, default=0) >= 0 and result.numel() > LARGEST:
            break
        step: Args = {"name": name, "args": args, "write": None}
        chain.steps.append(step)
        chain.before.append(x)
        if isinstance(result, dict):
            chain.expected.append(result)
        elif min(result.shape, default=0) < 0:
            chain.expected.append({"type": "unsupported"})
        else:
            copied = storage_of(result) != storage_of(x)
            expected = {"copied": copied, "newStorage": copied, "same": result is x, "seen": seen(result)}
            x = result
            if x.numel():
                at = [take.below(size) for size in x.shape]
                value = written_value(take, number)
                step["write"] = {"at": at, "value": value}
                expected |= written(x, tuple(at), value)
            chain.expected.append(expected)
    chain.end = x
    return chain


# --- the model -----------------------------------------------------------------------------------------------------


class Model:
    """The page's model, asked of chains and of functions."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness

    def ask(self, function: str, *of: Any) -> Any:
        return self._harness({"ask": function, "of": of})

    def run(self, chain: Chain) -> Args:
        answer: Args = self._harness({"create": chain.create, "steps": chain.steps})
        return answer


@pytest.fixture(scope="module")
def model(harnesses: Harnesses) -> Model:
    return Model(harnesses["stride"])


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Tensor.mT is deprecated on 0-D")
        yield


def disagreement(chain: Chain, answer: Args) -> str:
    """The first thing that the model says otherwise than torch, in words; empty where they agree."""
    history = [f"{chain.create}"]
    if answer["start"] != seen(chain.start):
        return f"{history} starts as {answer['start']}, torch as {seen(chain.start)}"
    for step, got, want in zip(chain.steps, answer["results"], chain.expected, strict=True):
        history.append(got["code"])
        for key, value in want.items():
            if got.get(key) != value:
                return f"{' · '.join(history)} {step}: {key} is {got.get(key)!r}, in torch {value!r}"
        if "error" in got and "type" in want and want["type"] == got["type"]:
            continue
        if "error" in got:
            return f"{' · '.join(history)}: refused with {got['error']!r}, torch does it"
    return ""


def chains() -> st.SearchStrategy[tuple[bytes, list[bytes]]]:
    return st.tuples(
        st.binary(min_size=6, max_size=6), st.lists(st.binary(min_size=14, max_size=14), min_size=1, max_size=8)
    )


def many(part: int, **strategies: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A property over the examples, or one in `part` of them; they are the same ones every time."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def at_depth(model: Model, examples: int) -> None:
            @seed(SEED)
            @settings(max_examples=max(examples // part, 1), deadline=None, database=None, suppress_health_check=SLOW)
            @given(**strategies)
            def holds(**drawn: Any) -> None:
                test(model, **drawn)

            holds()

        at_depth.__name__ = test.__name__
        return at_depth

    return decorate


# --- the properties ------------------------------------------------------------------------------------------------


@many(1, drawn=chains())
def test_chains_of_operations_are_as_in_torch(model: Model, drawn: tuple[bytes, list[bytes]]) -> None:
    chain = run_chain(*drawn)
    assert disagreement(chain, model.run(chain)) == ""


@many(10, drawn=chains())
def test_the_printed_code_is_what_was_done(model: Model, drawn: tuple[bytes, list[bytes]]) -> None:
    chain = run_chain(*drawn)
    answer = model.run(chain)
    for x, got, want in zip(chain.before, answer["results"], chain.expected, strict=True):
        result = outcome(eval, got["code"], {"torch": torch, "x": x})
        if isinstance(result, dict):
            assert result == want
        elif want.get("type") == "unsupported":
            assert min(result.shape) < 0
        else:
            same = {"shape": list(result.shape), "stride": list(result.stride()), "offset": result.storage_offset()}
            assert same == {key: want["seen"][key] for key in same}
            assert (storage_of(result) != storage_of(x)) == want["copied"]


@many(10, drawn=chains())
def test_the_history_as_a_script_ends_in_the_same_tensor(model: Model, drawn: tuple[bytes, list[bytes]]) -> None:
    chain = run_chain(*drawn)
    scope: Args = {"torch": torch}
    exec(model.run(chain)["script"], scope)
    assert seen(scope["x"]) == seen(chain.end)


@many(10, drawn=chains())
def test_dimensions_called_unmergeable_are(model: Model, drawn: tuple[bytes, list[bytes]]) -> None:
    chain = run_chain(*drawn)
    for x, got in zip(chain.before, model.run(chain)["results"], strict=True):
        if "unmergeable" not in got:
            continue
        assert got["unmergeable"], got["code"]
        for first, last in got["unmergeable"]:
            merged = [*x.shape[:first], math.prod(x.shape[first : last + 1]), *x.shape[last + 1 :]]
            assert math.prod(x.shape[first + 1 : last]) == 1
            with pytest.raises(RuntimeError, match="view size is not compatible"):
                x.view(merged)


@many(20, drawn=chains())
def test_sliders_of_as_strided_end_where_the_storage_ends(model: Model, drawn: tuple[bytes, list[bytes]]) -> None:
    x = run_chain(*drawn).end
    room = x.untyped_storage().nbytes() // x.element_size()
    now = {"shape": list(x.shape), "stride": list(x.stride()), "offset": x.storage_offset(), "storage": [0] * room}
    knobs: list[tuple[Any, str | None]] = [
        ("offset", None),
        *((d, what) for d in range(x.dim()) for what in ("size", "stride")),
    ]

    def allowed(dim: Any, what: str | None, value: int) -> bool:
        size, stride, offset = list(x.shape), list(x.stride()), x.storage_offset()
        if what is None:
            offset = value
        else:
            (size if what == "size" else stride)[dim] = value
        return isinstance(outcome(x.as_strided, size, stride, offset), torch.Tensor)

    for dim, what in knobs:
        low, high = model.ask("legalRange", now, dim, *([what] if what else []))
        value = x.storage_offset() if what is None else (x.shape if what == "size" else x.stride())[dim]
        assert low == 0
        assert low <= value <= high
        assert all(allowed(dim, what, v) for v in (low, high // 2, high))
        assert high >= room or not allowed(dim, what, high + 1)


@many(20, drawn=chains(), line=st.sampled_from([8, 32, 64]), kept=st.integers(1, 4))
def test_cache_lines_are_counted(model: Model, drawn: tuple[bytes, list[bytes]], line: int, kept: int) -> None:
    x = run_chain(*drawn).end
    room = x.untyped_storage().nbytes() // x.element_size()
    now = {
        "shape": list(x.shape),
        "stride": list(x.stride()),
        "offset": x.storage_offset(),
        "itemsize": x.element_size(),
    }
    ids = torch.arange(max(room, 1)).as_strided(x.shape, x.stride(), x.storage_offset())
    for order, walk in (("row", ids), ("column", ids.permute(*reversed(range(x.dim()))) if x.dim() else ids)):
        got = model.ask("cacheLines", now, order, line, kept)
        visited = walk.reshape(-1).tolist()
        lines = [place * x.element_size() // line for place in visited]
        recent: list[int] = []
        loads = 0
        for here in lines:
            loads += here not in recent
            recent = [here, *(other for other in recent if other != here)][:kept]
        assert (got["order"], got["lines"], got["touched"], got["distinct"]) == (visited, lines, loads, len(set(lines)))


FRACTIONS = [0.1, 1 / 3, 2.5, 100.7, 3.0009765625, 1.001953125, 65519.0, 65520.0, 1e-5, 6e-8, 123456.789, 2.0**-130]
POWERS = [sign * (2.0**power + step) for power in (7, 8, 15, 16, 31, 32) for sign in (1, -1) for step in (-1, 0, 1)]
BORDERS = [
    *map(int, POWERS),
    *(edge + part for edge in POWERS for part in (0.5, -0.5)),
    *(value for whole in (-257, -256, -255, -1, 0) for value in (whole, whole + 0.5)),
    *(sign * 2**power for power in (53, 62, 63, 64) for sign in (1, -1)),
    *(3.4028234663852886e38, -3.4028234663852886e38, 3.4028235677973366e38, -1e39, 1e300, 1e21, -1e21, -0.0),
]


@pytest.mark.parametrize("dtype", sorted(set(DTYPES)))
@pytest.mark.parametrize("number", [*FRACTIONS, *BORDERS], ids=repr)
def test_a_written_number_is_stored_or_refused_as_in_torch(model: Model, dtype: str, number: float) -> None:
    state = model.ask("create", {"shape": [1], "dtype": dtype})
    answer = model.ask("write", state, [0], number)
    x = torch.zeros(1, dtype=getattr(torch, dtype))
    refusal = outcome(exec, answer["code"], {"x": x})
    if isinstance(refusal, dict):
        assert {key: answer[key] for key in refusal} == refusal
    else:
        [stored], [wanted] = answer["state"]["storage"], listed(x.double())
        # Node writes doubles with as few digits as will do.
        assert stored == wanted or (stored is not None and float(stored) == wanted)
        assert number == -0.0 or float(eval(answer["code"].split(" = ")[1])) == number


@many(20, drawn=chains())
def test_suggested_arguments_are_allowed_where_any_are(model: Model, drawn: tuple[bytes, list[bytes]]) -> None:
    chain = run_chain(*drawn)
    state, x = model.ask("create", chain.create), chain.start
    for step, want in zip(chain.steps, chain.expected, strict=True):
        if "seen" in want:
            state = model.ask("apply", state, step)["state"]
            x = TORCH[step["name"]](x, **step["args"])
    impossible = {
        "t": x.dim() > 2,
        "mT": x.dim() == 1,
        "diagonal": x.dim() < 2,
        "channels_last": x.dim() != 4,
        "narrow": x.dim() == 0,
        "slice": x.dim() == 0,
        "select": max(x.shape, default=0) == 0,
        "index": x.dim() == 0 or x.shape[0] == 0,
    }
    for name in NAMES:
        result = outcome(TORCH[name], x, **model.ask("suggest", state, name))
        assert isinstance(result, dict) == impossible.get(name, False), (name, result)


def random_chains(count: int) -> Iterator[Chain]:
    draw = random.Random(SEED)
    for _ in range(count):
        yield run_chain(draw.randbytes(6), [draw.randbytes(14) for _ in range(draw.randint(1, 8))])


def test_the_chains_do_and_refuse_every_operation() -> None:
    done: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for chain in random_chains(2000):
        for step, want in zip(chain.steps, chain.expected, strict=True):
            (refused if "type" in want else done)[step["name"]] += 1
    assert min(done[name] for name in NAMES) > 50
    assert {name for name in NAMES if refused[name] < 20} == set()
    assert 0.2 < refused.total() / (done.total() + refused.total()) < 0.4


MUTANTS = {
    "unsqueeze forgets the size": ("shape[d] * stride[d] : 1", "stride[d] : 1"),
    "contiguity asks for size 1": ("if (shape[d] === 1) continue;", ""),
    "diagonal takes one stride": ("stride[a] + stride[b]]", "stride[a]]"),
    "reshape never views": ("if (stride) return viewed(state, wanted, stride);", ""),
    "a merged chunk ignores its base": ("newStride[view] = viewNumel * base;", "newStride[view] = viewNumel;"),
    "flip forgets the layout": (
        "copiedTo(state, shape, preservedStride(state)",
        "copiedTo(state, shape, contiguousStride(shape)",
    ),
    "a window keeps the step": ("step * stride[d]), stride[d]]", "step * stride[d]), step * stride[d]]"),
    "a word of a message": ("must match the existing size", "must equal the existing size"),
    "an int8 holds 128": ("value < 2 ** (8 * size - 1)", "value <= 2 ** (8 * size - 1)"),
    "a uint8 holds no negative int": ("(int ? -255 : 0)", "0"),
    "writes do not alias": ("changed: aliases(state).get(place)", "changed: [at]"),
    ".to asks is_contiguous": ("looksChannelsLast(state) ? itself", 'isContiguous(state, "channels_last") ? itself'),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_changed_rule_is_noticed(tmp_path: Path, name: str) -> None:
    with mutant("stride", tmp_path, SOURCE, *MUTANTS[name]) as running:
        assert any(disagreement(chain, Model(running).run(chain)) for chain in random_chains(2000))


def test_torchs_texts_are_those_of_the_version_named() -> None:
    named = re.search(r"texts are those of torch (\d+\.\d+)", (SOURCES / SOURCE).read_text(encoding="utf-8"))
    assert named
    assert torch.__version__.startswith(named[1] + ".")
