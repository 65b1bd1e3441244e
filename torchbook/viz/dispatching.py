"""What the dispatcher of the installed torch holds for a dozen operators, as plain data for `DispatchRoute`.

Nothing here is computed on torch's behalf: tables are parsed from `torch._C._dispatch_dump_table`, key sets are those
of real tensors and of the running thread, and what an operator calls comes from a profile of one call. All of these are
private functions of torch, which may change with any release.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from torchbook.viz.dispatch import DEFAULT, route, setup

_C: Any = torch._C
_ATEN: Any = torch.ops.aten
BACKENDS = ("CPU", "CUDA", "Meta")  # of the tables that are kept
_LINE = re.compile(r"(\w+): (fallthrough )?(?:registered at )?(.*) \[([^\]]+)\]$")


@dataclass(frozen=True)
class Operator:
    """How to call an operator: with so many tensors of 3 × 3 numbers, the last of them indices where `index` is set."""

    call: Callable[..., Any]
    tensors: int = 1
    index: bool = False


def _loss(x: torch.Tensor, target: torch.Tensor) -> Any:
    return _ATEN.cross_entropy_loss.default(x, target)


OPERATORS: dict[str, Operator] = {
    "aten::add.Tensor": Operator(_ATEN.add.Tensor, 2),
    "aten::add_.Tensor": Operator(_ATEN.add_.Tensor, 2),
    "aten::mul.Tensor": Operator(_ATEN.mul.Tensor, 2),
    "aten::mm": Operator(_ATEN.mm.default, 2),
    "aten::matmul": Operator(_ATEN.matmul.default, 2),
    "aten::linear": Operator(_ATEN.linear.default, 2),
    "aten::relu": Operator(_ATEN.relu.default),
    "aten::sum": Operator(_ATEN.sum.default),
    "aten::softmax.int": Operator(lambda x: _ATEN.softmax.int(x, -1)),
    "aten::_softmax": Operator(lambda x: _ATEN._softmax.default(x, -1, False)),
    "aten::layer_norm": Operator(lambda x: _ATEN.layer_norm.default(x, [3])),
    "aten::native_layer_norm": Operator(lambda x: _ATEN.native_layer_norm.default(x, [3], None, None, 1e-5)),
    "aten::dropout": Operator(lambda x: _ATEN.dropout.default(x, 0.5, True)),
    "aten::embedding": Operator(_ATEN.embedding.default, 2, index=True),
    "aten::cross_entropy_loss": Operator(_loss, 2, index=True),
    "aten::view": Operator(lambda x: _ATEN.view.default(x, [9])),
    "aten::reshape": Operator(lambda x: _ATEN.reshape.default(x, [9])),
    "aten::to.dtype": Operator(lambda x: _ATEN.to.dtype(x, torch.float64)),
    "aten::_to_copy": Operator(lambda x: _ATEN._to_copy.default(x, dtype=torch.float64)),
}


def record(more: Mapping[str, Callable[..., Any]] | None, operators: Sequence[str] | None) -> dict[str, Any]:
    """See `torchbook.viz.record_dispatch`."""
    chosen = {name: _known(name) for name in (OPERATORS if operators is None else operators)}
    chosen |= {name: Operator(call, len(signature(call).parameters)) for name, call in (more or {}).items()}
    for name in chosen:
        if not _C._dispatch_has_kernel(name):
            raise ValueError(f"no operator is called {name!r} in this torch")
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # else the profiler tells stderr that there is no GPU
    with warnings.catch_warnings(), _as_at_start():
        warnings.simplefilter("ignore")
        return _Recorder(chosen).recording


def _known(name: str) -> Operator:
    if name not in OPERATORS:
        raise ValueError(f"{name!r} is not in the list; there are {', '.join(OPERATORS)}; give others as `more`")
    return OPERATORS[name]


@contextmanager
def _as_at_start() -> Iterator[None]:
    with torch.enable_grad(), torch.random.fork_rng(devices=[]):
        yield


class _Recorder:
    def __init__(self, chosen: Mapping[str, Operator]) -> None:
        self.keys, self.backends = key_names()
        self.entries: dict[tuple[str, str, bool], int] = {}
        self.recording: dict[str, Any] = {
            "torch": torch.__version__.split("+")[0],
            "cuda": torch.version.cuda,
            "keys": self.keys,
            "backends": self.backends,
            "entries": [],
            "ops": {},
            **self._situations(),
        }
        self.slots = _slots(self.keys)
        self.recording["slots"] = self.slots
        for name, operator in chosen.items():
            self._add(name, {"listed": True, "index": operator.index})
        for name, operator in chosen.items():
            self._watch(name, operator)

    # Key sets

    def _set(self, keyset: Any) -> list[list[str]]:
        return names_in(keyset, self.keys, self.backends)

    def _thread(self) -> tuple[set[str], set[str]]:
        include, exclude = _C._dispatch_tls_local_include_set(), _C._dispatch_tls_local_exclude_set()
        return set(self._set(include)[0]), set(self._set(exclude)[0])

    def _situations(self) -> dict[str, Any]:
        """Key sets of tensors, of the thread, and what each situation adds to and takes from them."""
        base = self._thread()
        kinds = setup()["choices"]["args"]["of"]
        transforms = ("vmap", "grad", "functionalize")
        ways = ("none", *transforms, *(f"{name} inference" for name in transforms))
        args: dict[str, dict[str, Any]] = {name: {} for name in ways}
        changes: dict[str, Any] = {}

        def change(context: Any) -> list[list[str]]:
            with context:
                return self._change(base)

        changes["no_grad"] = change(torch.no_grad())
        changes["inference"] = change(torch.inference_mode())
        changes["autocast"] = change(torch.autocast("cpu"))
        changes["dispatch"] = change(Calls())
        changes["fake"] = changes["dispatch"]  # FakeTensorMode is such a mode; to make one would import torch._dynamo
        for kind in kinds:
            if kind == "cuda":
                continue
            args["none"][kind] = self._set(_C._dispatch_keys(tensor(kind)))
            for name in ways[1:]:
                transform, _, inference = name.partition(" ")

                def inside(x: Any, name: str = name, transform: str = transform, kind: str = kind) -> Any:
                    if name == transform:
                        changes[name] = self._change(base)
                    args[name][kind] = self._set(_C._dispatch_keys(x))
                    return x

                with suppress(RuntimeError, NotImplementedError):  # not every kind can be transformed
                    x = tensor(kind, batch=transform == "vmap")
                    with torch.inference_mode(bool(inference)):
                        transformed(transform, inside, [x])
        for by_kind in args.values():  # without a GPU: what holds for the CPU
            names, _ = by_kind["cpu"]
            by_kind["cuda"] = [[self._cuda(key) for key in names], ["CUDA"] * len(by_kind["cpu"][1])]
        fake = set(args["none"]["subclass"][0]) - set(args["none"]["cpu"][0])  # a fake tensor is a subclass
        return {
            "args": args,
            "thread": [self._sorted(part) for part in base],
            "changes": changes,
            "fake": self._sorted(fake),
        }

    def _cuda(self, key: str) -> str:
        return "AutocastCUDA" if key == "AutocastCPU" else key

    def _sorted(self, names: set[str]) -> list[str]:
        return [name for name in self.keys if name in names]

    def _change(self, base: tuple[set[str], set[str]]) -> list[list[str]]:
        """Added to and taken from what the thread includes, then the same for what it excludes."""
        now = self._thread()
        return [self._sorted(part) for was, is_ in zip(base, now, strict=True) for part in (is_ - was, was - is_)]

    # Tables

    def _add(self, name: str, more: dict[str, Any]) -> None:
        if name in self.recording["ops"]:
            return
        kernels = table(name)
        row = [self._entry(kernels[slot]) if slot in kernels else -1 for slot in self.slots]
        schema = _C._get_schema(name.split(".")[0], name.partition(".")[2])
        text = str(schema)
        self.recording["ops"][name] = {
            "schema": text,
            "tensors": any("Tensor" in str(argument.type) for argument in schema.arguments),
            "mutates": any(
                argument.alias_info is not None and argument.alias_info.is_write for argument in schema.arguments
            ),
            "registered": len(kernels),
            "table": row,
            "callees": {},
            **more,
        }

    def _entry(self, kernel: tuple[str, str, bool]) -> int:
        if kernel not in self.entries:
            self.entries[kernel] = len(self.entries)
            self.recording["entries"].append([kernel[0], kernel[1], int(kernel[2])])
        return self.entries[kernel]

    # What is called

    def _watch(self, name: str, operator: Operator) -> None:
        """Run the operator in some situations and keep what the kernels called, by the kernel at which a route ends."""
        watched = [{}, {"requires": "yes"}]
        if name in OPERATORS:  # others may have no rule of their own for batches, of which torch warns on stderr
            watched += [{"autocast": "on"}, {"transform": "vmap"}, {"transform": "functionalize"}, {"args": "sparse"},
                        {"args": "csr"}]  # fmt: skip
        for change in watched:
            setting = {**DEFAULT, "op": name, **change}
            calls, roots = profiled(partial(perform, setting, operator))
            top = next((call for call in calls if call.name == name), None)
            if top is None and name not in OPERATORS:  # the profiler does not see operators that Python registered
                top = Call(name, 0, 0, roots)
            if top is None:
                continue
            ends: list[Any] = []
            for stop in route(self.recording, setting):
                ends[stop.call :] = [stop]
            self._keep(top, ends, name)

    def _keep(self, node: Call | None, ends: list[Any], name: str) -> None:
        callees = self.recording["ops"][name]["callees"]
        for number, stop in enumerate(ends):
            if node is None or stop.entry < 0:
                return
            same = [child for child in node.children if child.name == name]
            onward = same[0] if number + 1 < len(ends) and same else None
            if stop.key not in callees and (onward or number + 1 == len(ends)):
                # Functionalization tries a mutation on meta tensors first; that is no part of the way.
                names = [child.name for child in node.children if child is not onward]
                names = [callee for callee in names if callee != name or stop.action != "mutation"]
                callees[stop.key] = [callee for callee in names if _C._dispatch_has_kernel(callee)]
                for callee in callees[stop.key]:
                    self._add(callee, {"listed": False, "index": False})
            node = onward


# Names and tables


def key_names() -> tuple[list[str], list[str]]:
    """The functionality keys from the highest to the lowest, and the backends in the same way.

    A key set has a bit for each backend, the lowest first, and above them one for each functionality.
    """
    many = _C._dispatch_num_backends()

    def name_of(bits: int) -> str:
        return str(_C.DispatchKeySet.from_raw_repr(bits)).removeprefix("DispatchKeySet(").removesuffix(")")

    backends = [name_of(1 << many | 1 << place) for place in range(many)]
    prefixes = {prefix: name for name, prefix in setup()["prefix"].items()}
    keys = []
    for bit in range(many, 64):
        try:
            name, other = name_of(1 << bit | 1), name_of(1 << bit | 2)
        except RuntimeError:  # beyond the last key
            break
        if not name:
            break
        keys.append(name if name == other else prefixes[name.removesuffix("CPU")])
    return keys[::-1], backends[::-1]


def names_in(keyset: Any, keys: Sequence[str], backends: Sequence[str]) -> list[list[str]]:
    """The functionality keys and the backends of a key set, the highest first."""
    raw = keyset.raw_repr()
    every = [*keys, *backends]
    names = [name for place, name in enumerate(every) if raw >> (len(every) - 1 - place) & 1]
    return [[name for name in names if name in keys], [name for name in names if name in backends]]


def _slots(keys: Sequence[str]) -> list[str]:
    """Keys of a table: a functionality, or one of those that each backend has for itself."""
    prefix = setup()["prefix"]
    slots = [prefix[key] + backend for key in keys if key in prefix for backend in BACKENDS]
    return [*slots, *(key for key in keys if key not in prefix), "Undefined"]


def place(text: str) -> str:
    """A place of registration, relative to the repository or to the installed packages.

    Example:
        >>> place("/__w/pytorch/pytorch/build/aten/src/ATen/RegisterCPU_0.cpp:1309")
        'build/aten/src/ATen/RegisterCPU_0.cpp:1309'
    """
    if "ipykernel" in text or "ipython-input" in text or "<stdin>" in text:
        return "this notebook"
    for pattern in (r"^.*/site-packages/", r"^.*?/pytorch/(?=(?:build/)?(?:aten|torch|c10|caffe2|third_party)/)"):
        if re.match(pattern, text):
            return re.sub(pattern, "", text)
    return text.rsplit("/", 1)[-1]


def table(name: str) -> dict[str, tuple[str, str, bool]]:
    """An operator's computed table: for each key where its kernel was registered, of what kind, and if it is skipped.

    Args:
        name: as the dispatcher has it, "aten::add.Tensor".
    """
    kernels = {}
    for line in _C._dispatch_dump_table(name).splitlines():
        if parts := _LINE.match(line):
            key, through, where, kind = parts.groups()
            kernels[key] = (place(where), kind, bool(through))
    return kernels


# Situations


class Calls(TorchDispatchMode):
    """A mode that calls what it is given."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class Wrapped(torch.Tensor):
    """A tensor around a tensor; operators are called on what is inside."""

    inside: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor, device: Any = None) -> Wrapped:
        made = torch.Tensor._make_wrapper_subclass(
            cls, inner.shape, dtype=inner.dtype, device=device or inner.device, strides=inner.stride()
        )
        made.inside = inner
        return made

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        args, kwargs = tree_map(lambda leaf: leaf.inside if isinstance(leaf, Wrapped) else leaf, (args, kwargs or {}))
        return tree_map(lambda leaf: Wrapped(leaf) if isinstance(leaf, torch.Tensor) else leaf, func(*args, **kwargs))


def tensor(kind: str, *, index: bool = False, batch: bool = False) -> Any:
    """A tensor of 3 × 3 numbers of a kind, or of three indices; with `batch`, two of them in one.

    Args:
        kind: one of the figure's arguments, "cpu" for instance.
        index: whole numbers, which have no lazy bits and are dense.
        batch: with a dimension of two in front.
    """
    shape = ((2,) if batch else ()) + ((3,) if index else (3, 3))
    device = kind if kind in ("cuda", "meta") else "cpu"
    with torch.inference_mode(kind == "inference"):
        if index:
            made = torch.zeros(shape, dtype=torch.int64, device=device)
        else:
            made = torch.full(shape, 0.5, device=device, dtype=torch.complex64 if kind == "conj" else torch.float32)
    if kind == "subclass":
        return Wrapped(made)
    if index:
        return made
    lazy: dict[str, Callable[[Any], Any]] = {
        "sparse": torch.Tensor.to_sparse, "csr": torch.Tensor.to_sparse_csr, "conj": torch.conj, "neg": torch._neg_view,
    }  # fmt: skip
    return lazy[kind](made) if kind in lazy else made


def transformed(name: str, f: Callable[..., Any], tensors: Sequence[Any]) -> Any:
    """Call `f` inside a transform of torch.func; under vmap the tensors have a dimension of two in front."""
    if name == "vmap":
        return torch.func.vmap(f, randomness="different")(*tensors)
    if name == "grad":
        return torch.func.vjp(f, *tensors)
    if name == "functionalize":
        return torch.func.functionalize(f)(*tensors)
    return f(*tensors)


def perform(setting: Mapping[str, Any], operator: Operator, ready: Callable[[], Any] = lambda: None) -> Any:
    """Call an operator in a situation of the figure, for real.

    Args:
        setting: the traits of `DispatchRoute`.
        operator: how it is called.
        ready: is called when the tensors are there.
    """

    def called(*inputs: Any) -> Any:
        ready()
        return operator.call(*inputs, *indices)

    batch = setting["transform"] == "vmap"
    with ExitStack() as stack:
        if setting["mode"] == "fake":
            from torch._subclasses.fake_tensor import FakeTensorMode

            stack.enter_context(FakeTensorMode(allow_non_fake_inputs=True))
        numbers = operator.tensors - operator.index
        tensors = [tensor(setting["args"], batch=batch) for _ in range(numbers)]
        indices = [tensor(setting["args"], index=True) for _ in range(operator.index)]
        for operand in tensors:
            if setting["requires"] == "yes" and not operand.is_inference() and setting["args"] not in ("csr",):
                operand.requires_grad_()
        if setting["grad"] == "no_grad":
            stack.enter_context(torch.no_grad())
        elif setting["grad"] == "inference":
            stack.enter_context(torch.inference_mode())
        if setting["autocast"] == "on" and setting["args"] != "meta":
            stack.enter_context(torch.autocast("cuda" if setting["args"] == "cuda" else "cpu"))
        if setting["mode"] == "dispatch":
            stack.enter_context(Calls())
        return transformed(setting["transform"], called, tensors)


# Calls


@dataclass
class Call:
    """A call through the dispatcher, and those that were made in it. Redispatches are part of their call."""

    name: str
    start: int
    end: int
    children: list[Call]


def profiled(run: Callable[[], Any]) -> tuple[list[Call], list[Call]]:
    """The calls of operators that the profiler saw, each with those in it; then those that are in no other."""
    config = _C._profiler._ExperimentalConfig(capture_overload_names=True)
    # That of torch.profiler would import torch._inductor, which takes seconds.
    with torch.autograd.profiler.profile(experimental_config=config) as prof, suppress(Exception):
        run()  # where it fails, what was called before is what is wanted
    roots: list[Call] = []
    open_: list[Call] = []
    events = prof.kineto_results.events() if prof.kineto_results else []
    for event in sorted(events, key=lambda recorded: (recorded.start_ns(), -recorded.duration_ns())):
        if "::" not in event.name():
            continue
        name = event.name() + (f".{event.overload_name()}" if event.overload_name() else "")
        call = Call(name, event.start_ns(), event.start_ns() + event.duration_ns(), [])
        while open_ and call.start >= open_[-1].end:
            open_.pop()
        (open_[-1].children if open_ else roots).append(call)
        open_.append(call)
    every, waiting = [], [*roots]
    while waiting:
        call = waiting.pop(0)
        every.append(call)
        waiting += call.children
    return every, roots


__all__ = ["OPERATORS", "Call", "Operator", "names_in", "perform", "place", "record", "table", "tensor"]
