"""StrideExplorer: a tensor's logical elements above the memory they lie in, and the operations that change the view."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import product
from typing import TYPE_CHECKING, Any

import traitlets

from torchbook.viz.base import Visualizer, contract, preset_of
from torchbook.viz.units import counted

if TYPE_CHECKING:
    from torch import Tensor

setup = partial(contract, "stride")

Index = tuple[int, ...]
Op = dict[str, Any]  # {"name": "transpose", "args": {"dim0": 0, "dim1": 1}}

LIMIT = 512  # elements that can be drawn
RANK = 4
DTYPES = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8")


def _write(x: Tensor, index: Sequence[int], value: float) -> Tensor:
    x[tuple(index)] = value
    return x


def _slice(
    x: Tensor, dim: int = 0, start: int | None = None, stop: int | None = None, step: int | None = None
) -> Tensor:
    return x[(slice(None),) * (dim % x.dim()) + (slice(start, stop, step),)]


def _contiguous(x: Tensor, memory_format: str = "contiguous_format") -> Tensor:
    import torch

    return x.contiguous(memory_format=getattr(torch, memory_format))


def _channels_last(x: Tensor) -> Tensor:
    import torch

    return x.to(memory_format=torch.channels_last)


# What each operation is in torch. The parameters are those that the ES module knows.
_TORCH: dict[str, Callable[..., Tensor]] = {
    "transpose": lambda x, dim0=0, dim1=1: x.transpose(dim0, dim1),
    "t": lambda x: x.t(),
    "mT": lambda x: x.mT,
    "permute": lambda x, dims=(): x.permute(tuple(dims)),
    "view": lambda x, shape=(): x.view(tuple(shape)),
    "reshape": lambda x, shape=(): x.reshape(tuple(shape)),
    "flatten": lambda x, start_dim=0, end_dim=-1: x.flatten(start_dim, end_dim),
    "narrow": lambda x, dim=0, start=0, length=1: x.narrow(dim, start, length),
    "slice": _slice,
    "select": lambda x, dim=0, index=0: x.select(dim, index),
    "index": lambda x, index=0: x[index],
    "expand": lambda x, shape=(): x.expand(tuple(shape)),
    "unsqueeze": lambda x, dim=0: x.unsqueeze(dim),
    "squeeze": lambda x, dim=None: x.squeeze() if dim is None else x.squeeze(dim),
    "unfold": lambda x, dim=0, size=1, step=1: x.unfold(dim, size, step),
    "diagonal": lambda x, offset=0, dim1=0, dim2=1: x.diagonal(offset, dim1, dim2),
    "as_strided": lambda x, size=(), stride=(), storage_offset=0: x.as_strided(size, stride, storage_offset),
    "contiguous": _contiguous,
    "channels_last": _channels_last,
    "flip": lambda x, dims=(): x.flip(tuple(dims)),
    "write": _write,
}
_LISTS = {"dims", "shape"}  # a lone parameter of this name also takes its numbers one by one, as torch does


def operation(spec: Op | Sequence[Any] | str) -> Op:
    """An operation with its arguments by name, from `("transpose", 0, 1)`, `"t"` or `{"name": …, "args": …}`.

    Raises:
        ValueError: no operation has that name.
        TypeError: the arguments do not fit.
    """
    if isinstance(spec, dict):
        name, arguments = spec["name"], spec.get("args", {})
    else:
        name, *arguments = [spec] if isinstance(spec, str) else list(spec)
    if name not in _TORCH:
        raise ValueError(f"no operation is called {name!r}; there are {', '.join(_TORCH)}")
    signature = inspect.signature(_TORCH[name])
    wanted = list(signature.parameters)[1:]
    if not isinstance(arguments, dict):
        numbers = len(wanted) == 1 and wanted[0] in _LISTS and all(isinstance(a, int) for a in arguments)
        bound = signature.bind(None, *([arguments] if numbers else arguments))
    else:
        bound = signature.bind(None, **arguments)
    bound.apply_defaults()
    named = {key: list(v) if isinstance(v, (list, tuple)) else v for key, v in list(bound.arguments.items())[1:]}
    return {"name": name, "args": named}


@dataclass(frozen=True)
class _Seen:
    """What torch says about the last tensor of a program."""

    size: Index
    stride: Index
    offset: int
    contiguous: bool
    shares: bool
    storage: list[float]
    bytes: int
    storage_bytes: int
    error: str

    def place(self, at: Sequence[int]) -> int:
        return self.offset + sum(i * step for i, step in zip(at, self.stride, strict=True))

    def has(self, at: Sequence[int]) -> bool:
        return len(at) == len(self.size) and all(0 <= i < n for i, n in zip(at, self.size, strict=True))


def _run(shape: Sequence[int], dtype: str, ops: Iterable[Op], attempt: Op | None) -> _Seen | None:
    """What torch makes of a program.

    Returns:
        None where torch is not installed.

    Raises:
        Whatever torch raises for an operation that it refuses; ValueError for a tensor too large to draw.
    """
    try:
        import torch
    except ModuleNotFoundError:
        return None
    x = first = torch.arange(math.prod(shape), dtype=getattr(torch, dtype)).reshape(tuple(shape))
    for op in ops:
        x = _drawable(_TORCH[op["name"]](x, **op["args"]))
    error = ""
    if attempt:
        try:
            _drawable(_TORCH[attempt["name"]](x, **attempt["args"]))
        except (IndexError, RuntimeError, ValueError) as refusal:
            error = str(refusal)
    memory = x.untyped_storage()
    whole = torch.empty(0, dtype=x.dtype).set_(memory)
    return _Seen(
        size=tuple(x.shape),
        stride=x.stride(),
        offset=int(x.storage_offset()),
        contiguous=x.is_contiguous(),
        shares=memory.data_ptr() == first.untyped_storage().data_ptr(),
        storage=whole.tolist(),
        bytes=x.nbytes,
        storage_bytes=memory.nbytes(),
        error=error,
    )


def _drawable(x: Tensor) -> Tensor:
    elements = max(x.numel(), x.untyped_storage().nbytes() // x.element_size())
    if x.dim() > RANK:
        raise ValueError(f"This figure draws up to {RANK} dimensions; here there would be {x.dim()}.")
    if elements > LIMIT:
        raise ValueError(f"This figure draws up to {LIMIT} elements; here there would be {elements}.")
    return x


class StrideExplorer(Visualizer):
    """A tensor as PyTorch keeps it: logical elements, shape, stride and offset above the flat storage.

    The reader applies real operations, sees what each does to shape, stride and offset, which of them copy, and what
    torch refuses. On the plain page the same figure works without a kernel. With torch installed, every program is run
    by torch itself: what torch raises is raised here too.

    Args:
        shape: of the first tensor, `torch.arange(…).reshape(shape)`; up to 4 dimensions and 512 elements.
        ops: operations applied to it, as `("transpose", 0, 1)`, `"t"` or `{"name": "t", "args": {}}`. Besides methods
            of tensors there are "slice" (dim, start, stop, step), "index", "channels_last" and "write" (index, value).
        dtype: name of the element type, e.g. "float32".
        attempt: an operation that torch refuses, shown with torch's message.
        selected: index of the element whose place in memory is worked out; one is chosen when not given.

    All traits can be watched with `observe`. `ops`, `selected`, `shape`, `dtype` and `attempt` may also be set; `size`,
    `stride`, `offset`, `contiguous`, `shares` and `error` follow from them and are read-only.
    """

    shape = traitlets.List(traitlets.Int(min=0), help="Shape of the first tensor.").tag(sync=True)
    dtype = traitlets.Enum(DTYPES, "float32", help="Element type.").tag(sync=True)
    ops: traitlets.List[Any] = traitlets.List(help="Operations applied so far.").tag(sync=True)
    attempt = traitlets.Any(None, help="The operation that was tried last and refused, or None.").tag(sync=True)
    selected = traitlets.List(
        traitlets.Int(), None, allow_none=True, help="Index of the element whose place in memory is worked out."
    ).tag(sync=True)
    size = traitlets.List(traitlets.Int(), read_only=True, help="Shape of the last tensor.").tag(sync=True)
    stride = traitlets.List(traitlets.Int(), read_only=True, help="Its stride, in elements.").tag(sync=True)
    offset = traitlets.Int(0, read_only=True, help="Its storage offset, in elements.").tag(sync=True)
    contiguous = traitlets.Bool(True, read_only=True, help="Is it contiguous?").tag(sync=True)
    shares = traitlets.Bool(True, read_only=True, help="Does it use the first tensor's storage?").tag(sync=True)
    error = traitlets.Unicode("", read_only=True, help="What torch said to the attempt.").tag(sync=True)

    _known = traitlets.Dict()

    def __init__(
        self,
        shape: Sequence[int] = (2, 3),
        ops: Iterable[Op | Sequence[Any] | str] = (),
        dtype: str = "float32",
        *,
        attempt: Op | Sequence[Any] | str | None = None,
        preset: str | None = None,
        selected: Sequence[int] | None = None,
        **traits: Any,
    ) -> None:
        if preset is not None:
            ready = preset_of(setup(), preset)
            shape, ops, attempt = ready["shape"], ready["ops"], ready.get("attempt")
        super().__init__(shape=list(shape), ops=list(ops), dtype=dtype, attempt=attempt, **traits)
        if attempt is not None and not self.error:
            raise ValueError(f"torch does not refuse {attempt!r} here; put it in `ops`")
        if selected is not None:
            self.selected = list(selected)

    def _see(self) -> _Seen | None:
        """What torch makes of the program; None where torch is not installed."""
        key = json.dumps([self.shape, self.dtype, [operation(op) for op in self.ops], self.attempt])
        if key not in self._known:
            self._known = {key: _run(*json.loads(key))}
        return self._known[key]

    @traitlets.validate("shape")
    def _check_shape(self, proposal: Any) -> list[int]:
        shape = list(proposal["value"])
        if len(shape) > RANK or math.prod(shape) > LIMIT:
            raise ValueError(f"this figure draws up to {RANK} dimensions and {LIMIT} elements, not shape {shape}")
        _run(shape, self.dtype, map(operation, self.ops), None)
        return shape

    @traitlets.validate("ops")
    def _check_ops(self, proposal: Any) -> list[Op]:
        ops = [operation(op) for op in proposal["value"]]
        _run(self.shape, self.dtype, ops, None)
        return ops

    @traitlets.validate("attempt")
    def _check_attempt(self, proposal: Any) -> Op | None:
        return None if proposal["value"] is None else operation(proposal["value"])

    @traitlets.validate("selected")
    def _check_selected(self, proposal: Any) -> list[int] | None:
        at, seen = proposal["value"], self._see()
        if at is not None and seen and not seen.has(at):
            raise IndexError(f"no element {at} in a tensor of shape {seen.size}")
        return at

    def _follow(self, change: Any = None) -> None:
        """Lets everything that follows from the program follow."""
        if seen := self._see():
            with self.hold_trait_notifications():
                for name in ("size", "stride"):
                    self.set_trait(name, list(getattr(seen, name)))
                for name in ("offset", "contiguous", "shares", "error"):
                    self.set_trait(name, getattr(seen, name))
                if self.attempt is not None and not seen.error:
                    self.attempt = None
                if self.selected is None or not seen.has(self.selected):
                    self.set_trait("selected", [min(1, n - 1) for n in seen.size] if math.prod(seen.size) else None)
        super()._follow(change)

    def _origin(self) -> str:
        data = f"torch.arange({math.prod(self.shape)}, dtype=torch.{self.dtype})"
        return data if len(self.shape) == 1 else f"{data}.reshape({', '.join(map(str, self.shape)) or '()'})"

    def _describe(self) -> str:
        seen = self._see()
        names = [op["name"] for op in self.ops]
        if seen is None:
            return f"{self._origin()}{''.join(f', then {name}' for name in names)}."
        steps = f"After {counted(len(names), 'step')}, the last {names[-1]}" if names else self._origin()
        memory = "sharing the first tensor's storage of" if seen.shares else "with a storage of its own,"
        text = (
            f"{steps}: shape {seen.size}, stride {seen.stride}, storage_offset {seen.offset}, "
            f"{'' if seen.contiguous else 'not '}contiguous, "
            f"{memory} {len(seen.storage)} elements ({seen.storage_bytes} bytes); "
            f"the elements shown are {seen.bytes} bytes."
        )
        if self.selected is not None and seen.has(self.selected):
            terms = [str(seen.offset), *(f"{i}×{step}" for i, step in zip(self.selected, seen.stride, strict=True))]
            place = seen.place(self.selected)
            text += f" Element {self.selected} is storage[{' + '.join(terms)}]"
            text += f" = storage[{place}] = {_short(seen.storage[place])}."
        if seen.error:
            text += f" Refused: {self.attempt['name']}. {seen.error}"
        return text

    def _draw(self) -> str:
        seen = self._see() or _plain(self.shape, self.dtype)
        return _Picture(seen, self.selected).svg(self.words)


def _plain(shape: Sequence[int], dtype: str) -> _Seen:
    """The first tensor, where torch is not there to say so."""
    stride = tuple(math.prod(max(n, 1) for n in shape[d + 1 :]) for d in range(len(shape)))
    values = [float(i) for i in range(math.prod(shape))]
    return _Seen(tuple(shape), stride, 0, True, True, values, 0, 0, "")


def _short(value: float) -> str:
    """A whole number below 1e21 with all digits, another with four significant ones, as the ES module writes them."""
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e21):
        return str(int(value))
    return f"{value:.4g}"


class _Picture:
    """Static drawing: the logical elements in nested panels, and below them the storage in cache lines."""

    CELL, GAP, TEXT = (34, 26), 22, 18

    def __init__(self, seen: _Seen, selected: Sequence[int] | None) -> None:
        self.seen = seen
        self.parts: list[str] = []
        self.width = 0
        self.place = seen.place(selected) if selected is not None and seen.has(selected) else None

    def svg(self, words: str) -> str:
        bottom = self._logical(self.TEXT)
        bottom = self._storage(bottom + self.GAP + self.TEXT)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {self.width + 2} {bottom + 2}" '
            f'style="max-width:min(100%,{self.width + 2}px);height:auto" '
            f'font-family="ui-monospace,Menlo,Consolas,monospace" font-size="12" fill="currentColor" '
            f'aria-label="{escape(words)}">{"".join(self.parts)}</svg>'
        )

    def _text(self, x: float, y: float, text: str, anchor: str = "start", more: str = "") -> None:
        self.parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{more}>{escape(text)}</text>')
        if anchor == "start":
            self.width = max(self.width, math.ceil(x + 7.3 * len(text)))

    def _cell(self, x: float, y: float, place: int, reached: bool = True) -> None:
        width, height = self.CELL
        here = place == self.place
        look = 'fill-opacity="0.09"' if reached else 'fill-opacity="0" stroke-dasharray="3 3"'
        self.parts.append(
            f'<rect x="{x + 1:g}" y="{y + 1:g}" width="{width - 2}" height="{height - 2}" rx="3" {look} '
            f'stroke="currentColor" stroke-opacity="{1 if here else 0.45}" stroke-width="{2.5 if here else 1}"/>'
        )
        bold = ' font-weight="700"' if here else ""
        self._text(x + width / 2, y + height / 2 + 4, _short(self.seen.storage[place]), "middle", bold)
        self.width = max(self.width, math.ceil(x + width))

    def _logical(self, top: int) -> int:
        """Panels of the last two dimensions; the dimension before them runs to the right, the first one down."""
        seen, (width, height) = self.seen, self.CELL
        self._text(0, top - 5, f"shape {seen.size}  stride {seen.stride}  storage_offset {seen.offset}")
        outer, inner = seen.size[:-2], seen.size[-2:]
        rows, columns = (1, 1, *inner)[-2:]
        label = self.TEXT if outer else 0
        bottom = top
        for before in product(*map(range, outer)):
            across = before[-1] if before else 0
            down = before[0] if len(before) == 2 else 0
            x = across * (columns * width + 14)
            y = top + down * (rows * height + label + 10)
            if outer:
                self._text(x, y + 13, f"[{', '.join(map(str, before))}, :, :]")
            for at in product(*map(range, inner)):
                row, column = (0, 0, *at)[-2:]
                self._cell(x + column * width, y + label + row * height, seen.place((*before, *at)))
            bottom = max(bottom, y + label + rows * height)
        return bottom

    def _storage(self, top: int) -> int:
        seen, (width, height) = self.seen, self.CELL
        self._text(0, top - 5, "storage")
        reached = {seen.place(at) for at in product(*map(range, seen.size))}
        row = 16
        for place in range(len(seen.storage)):
            x, y = place % row * width, top + place // row * (height + 16)
            self._cell(x, y, place, place in reached)
            self._text(x + width / 2, y + height + 11, str(place), "middle", ' font-size="10" fill-opacity="0.75"')
        return top + max(1, math.ceil(len(seen.storage) / row)) * (height + 16)
