"""BroadcastExplorer: shapes aligned from the right, what torch makes of each dimension, and the elements that meet."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import product
from typing import TYPE_CHECKING, Any

import traitlets

from torchbook.viz.base import Visualizer, contract, preset_of

if TYPE_CHECKING:
    from torch import Tensor

setup = partial(contract, "broadcast")

Shape = tuple[int, ...]

RANK = 5
MOST = 5  # the largest size
OPS = ("+", "-", "*", "+=", "-=", "*=", "where")
_SIGNS = {"+": "+", "-": "−", "*": "×"}


@dataclass(frozen=True)
class _Column:
    """One dimension of the result: the size of each operand there (None: it has no such dimension)."""

    sizes: dict[str, int | None]

    @property
    def real(self) -> list[int]:
        return list(dict.fromkeys(n for n in self.sizes.values() if n not in (None, 1)))

    @property
    def size(self) -> int | None:
        """That of the result; None where the sizes do not match."""
        return None if len(self.real) > 1 else (self.real or [1])[0]

    def words(self) -> str:
        if self.size is None:
            return f"{' and '.join(map(str, self.real))} do not match"
        return "; ".join([str(self.size), *self._repeats()]) if self._repeats() else f"{self.size}, equal"

    def _repeats(self) -> list[str]:
        repeated = f", repeated {self.size} times" if self.size != 1 else ""
        phrases = {None: f" has none and counts as 1{repeated}", 1: f" has 1{repeated}" if repeated else ""}
        return [name + phrases[n] for name, n in self.sizes.items() if phrases.get(n)]


def columns(shapes: dict[str, Shape]) -> list[_Column]:
    """The dimensions of the result, the shapes aligned from the right."""
    rank = max(map(len, shapes.values()))
    padded = {name: (None,) * (rank - len(shape)) + shape for name, shape in shapes.items()}
    return [_Column({name: sizes[d] for name, sizes in padded.items()}) for d in range(rank)]


@dataclass(frozen=True)
class _Seen:
    """What torch says about the operation."""

    shape: Shape | None
    error: str
    strides: dict[str, Shape]
    fresh: int  # bytes
    operands: dict[str, Tensor]
    result: Tensor | None

    def has(self, at: Sequence[int]) -> bool:
        inside = self.shape is not None and len(at) == len(self.shape)
        return inside and all(0 <= i < n for i, n in zip(at, self.shape or (), strict=True))


def operands(shapes: dict[str, Shape]) -> dict[str, Tensor]:
    """The tensors of the figure: 0, 10, 20, … in a, 0, 1, 2, … in b, True, False, … in c."""
    import torch

    make: dict[str, Callable[[Tensor], Tensor]] = {"a": lambda x: 10 * x, "b": lambda x: x, "c": lambda x: x % 2 == 0}
    return {name: make[name](torch.arange(float(math.prod(shape)))).reshape(shape) for name, shape in shapes.items()}


def _act(op: str) -> Callable[..., Tensor]:
    import torch

    acts: dict[str, Callable[..., Any]] = {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "+=": operator.iadd,
        "-=": operator.isub,
        "*=": operator.imul,
        "where": torch.where,
    }
    return acts[op]


def _run(shapes: dict[str, Shape], op: str) -> _Seen | None:
    """What torch makes of it; None where torch is not installed."""
    try:
        import torch
    except ModuleNotFoundError:
        return None
    tensors = operands(shapes)
    in_place = op.endswith("=")
    arguments = {name: x.clone() if in_place else x for name, x in tensors.items()}
    try:
        result = _act(op)(*arguments.values())
    except RuntimeError as refusal:
        return _Seen(None, str(refusal), {}, 0, tensors, None)
    wide = torch.broadcast_tensors(*tensors.values())
    strides = {name: x.stride() for name, x in zip(tensors, wide, strict=True)}
    return _Seen(tuple(result.shape), "", strides, 0 if in_place else result.nbytes, tensors, result)


class BroadcastExplorer(Visualizer):
    """Two or three shapes aligned from the right, what broadcasting makes of them, and which elements meet.

    The reader changes sizes, adds and removes dimensions, sees each dimension matched, stretched or refused in torch's
    words, and for every element of the result the operand elements that it uses. Stretched operands are shown as what
    they are: views with stride 0. With torch installed, what the widget says in Python is torch's own answer.

    Args:
        a: shape of the first operand, up to 5 dimensions of sizes 0 to 5.
        b: shape of the second operand.
        c: shape of a condition: `torch.where(c, a, b)`.
        op: "+", "-", "*", in place "+=", "-=", "*=", or "where".
        selected: index of the result element that is worked out; one is chosen when not given.

    All traits can be watched with `observe`. `result`, the shape or None, and `error`, what torch says when it refuses,
    follow from the others and are read-only.

    Example:
        >>> BroadcastExplorer((4, 1), (3,)).result
        [4, 3]
    """

    a = traitlets.List(traitlets.Int(), help="Shape of the first operand.").tag(sync=True)
    b = traitlets.List(traitlets.Int(), help="Shape of the second operand.").tag(sync=True)
    c = traitlets.List(traitlets.Int(), help="Shape of the condition, for where.").tag(sync=True)
    op = traitlets.Enum(OPS, "+", help="The operation.").tag(sync=True)
    selected = traitlets.List(
        traitlets.Int(), None, allow_none=True, help="Index of the result element that is worked out."
    ).tag(sync=True)
    result = traitlets.List(
        traitlets.Int(), None, allow_none=True, read_only=True, help="Shape of the result; None when refused."
    ).tag(sync=True)
    error = traitlets.Unicode("", read_only=True, help="What torch says when it refuses.").tag(sync=True)

    def __init__(
        self,
        a: Sequence[int] = (4, 1),
        b: Sequence[int] = (3,),
        *,
        c: Sequence[int] | None = None,
        op: str | None = None,
        preset: str | None = None,
        selected: Sequence[int] | None = None,
        **traits: Any,
    ) -> None:
        if preset is not None:
            ready = preset_of(setup(), preset)
            a, b, c, op = ready["a"], ready["b"], ready.get("c"), ready["op"]
        if c is not None and op not in (None, "where"):
            raise ValueError(f"a condition is for op='where', not for {op!r}")
        op = op or ("+" if c is None else "where")
        super().__init__(a=list(a), b=list(b), c=list(c or ()), op=op, **traits)
        if selected is not None:
            self.selected = list(selected)

    @traitlets.validate("a", "b", "c")
    def _check_shape(self, proposal: Any) -> list[int]:
        shape = list(proposal["value"])
        if len(shape) > RANK or not all(0 <= n <= MOST for n in shape):
            raise ValueError(f"this figure shows up to {RANK} dimensions of sizes 0 to {MOST}, not shape {shape}")
        return shape

    @traitlets.validate("selected")
    def _check_selected(self, proposal: Any) -> list[int] | None:
        at, seen = proposal["value"], self._see()
        if at is not None and seen and not seen.has(at):
            raise IndexError(f"no element {at} in a result of shape {seen.shape}")
        return at

    @property
    def shapes(self) -> dict[str, Shape]:
        """The operands' shapes by name, in the order in which torch looks at them."""
        names = ("c", "a", "b") if self.op == "where" else ("a", "b")
        return {name: tuple(getattr(self, name)) for name in names}

    def _see(self) -> _Seen | None:
        return _run(self.shapes, self.op)

    def _follow(self, change: Any = None) -> None:
        """Lets everything that follows from the operands follow."""
        if seen := self._see():
            with self.hold_trait_notifications():
                self.set_trait("result", None if seen.shape is None else list(seen.shape))
                self.set_trait("error", seen.error)
                if self.selected is None or not seen.has(self.selected):
                    some = seen.shape is not None and math.prod(seen.shape) > 0
                    self.set_trait("selected", [min(1, n - 1) for n in seen.shape or ()] if some else None)
        super()._follow(change)

    def _spoken(self, parts: Sequence[str], op: str) -> str:
        return f"where({', '.join(parts)})" if op == "where" else f" {op} ".join(parts)

    def _describe(self) -> str:
        """As `describe` in the ES module."""
        in_place = self.op.endswith("=")
        sign = _SIGNS.get(self.op[0], self.op)
        line = self._spoken([str(shape) for shape in self.shapes.values()], sign + "=" if in_place else sign)
        all_columns = list(enumerate(columns(self.shapes)))
        dims = [f"Dimension {d}: {column.words()}." for d, column in reversed(all_columns)]
        seen = self._see()
        if seen is None:
            return " ".join([f"{line}.", *dims])
        if seen.shape is None:
            return " ".join([f"{line} is refused: {seen.error}.", *dims])
        memory = "written into a, no new memory" if in_place else f"{seen.fresh} bytes of new memory"
        strides = ", ".join(f"{name} {stride}" for name, stride in seen.strides.items())
        count = math.prod(seen.shape)
        elements = "1 element" if count == 1 else f"{count} elements"
        text = [f"{line} gives shape {seen.shape}: {elements}, {memory}.", *dims]
        text.append(f"Strides as broadcast: {strides}.")
        if self.selected is not None and seen.has(self.selected):
            text.append(self._element(seen, tuple(self.selected), sign))
        return " ".join(text)

    def _element(self, seen: _Seen, at: Shape, sign: str) -> str:
        """The operand elements behind an element of the result, and their values."""
        assert seen.result is not None
        used = {name: _used(x.shape, at) for name, x in seen.operands.items()}
        parts = self._spoken([_brackets(name, index) for name, index in used.items()], sign)
        values = self._spoken([_short(seen.operands[name][index].item()) for name, index in used.items()], sign)
        left = _brackets("a" if self.op.endswith("=") else "result", at)
        return f"{left} = {parts} = {values} = {_short(seen.result[at].item())}."

    def _draw(self) -> str:
        return _Picture(self.shapes, self._see()).svg(self.words)


def _used(shape: Sequence[int], at: Shape) -> Shape:
    return tuple(0 if n == 1 else i for n, i in zip(shape, at[len(at) - len(shape) :], strict=True))


def _brackets(name: str, at: Sequence[int]) -> str:
    return f"{name}[{', '.join(map(str, at))}]" if at else name


def _short(value: float) -> str:
    return str(value) if isinstance(value, bool) else str(int(value))


class _Picture:
    """Static drawing: the shapes aligned from the right; below, up to two dimensions, the operands and the result."""

    BOX, CELL, GAP, LEFT = (56, 30), (34, 26), 26, 64

    def __init__(self, shapes: dict[str, Shape], seen: _Seen | None) -> None:
        self.shapes, self.seen = shapes, seen
        self.parts: list[str] = []
        self.width = 0

    def svg(self, words: str) -> str:
        bottom = self._alignment()
        seen = self.seen
        if seen and seen.shape is not None and len(seen.shape) <= 2 and math.prod(seen.shape):
            bottom = self._grids(seen, bottom + self.GAP)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {self.width + 2} {bottom + 2}" '
            f'style="max-width:min(100%,{self.width + 2}px);height:auto" '
            f'font-family="ui-monospace,Menlo,Consolas,monospace" font-size="12" fill="currentColor" '
            f'aria-label="{escape(words)}">{"".join(self.parts)}</svg>'
        )

    def _text(self, x: float, y: float, text: str, anchor: str = "start", more: str = "") -> None:
        self.parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{more}>{escape(text)}</text>')
        self.width = max(self.width, math.ceil(x + 7.3 * len(text) / (1 if anchor == "start" else 2)))

    def _box(self, x: float, y: float, size: tuple[int, int], text: str, solid: bool, bold: bool = False) -> None:
        width, height = size
        look = 'fill-opacity="0.09"' if solid else 'fill-opacity="0" stroke-dasharray="3 3"'
        self.parts.append(
            f'<rect x="{x + 1:g}" y="{y + 1:g}" width="{width - 2}" height="{height - 2}" rx="4" {look} '
            f'stroke="currentColor" stroke-opacity="{1 if bold else 0.5}" stroke-width="{2 if bold else 1}"/>'
        )
        weight = ' font-weight="700"' if bold else "" if solid else ' fill-opacity="0.75"'
        self._text(x + width / 2, y + height / 2 + 4, text, "middle", weight)
        self.width = max(self.width, math.ceil(x + width))

    def _alignment(self) -> int:
        """A row an operand, a column a dimension; dashed where the operand is stretched."""
        width, height = self.BOX
        all_columns = columns(self.shapes)
        y = 4
        for name in self.shapes:
            self._text(0, y + height / 2 + 4, name, more=' font-weight="700"')
            for d, column in enumerate(all_columns):
                n = column.sizes[name]
                stretched = n in (None, 1) and column.size != 1
                to = f"→{column.size}" if stretched and column.size is not None else ""
                text = f"{'–' if n is None else n}{to}"
                self._box(self.LEFT + d * (width + 4), y, self.BOX, text, n is not None and not stretched)
            y += height + 4
        self._text(0, y + height / 2 + 4, "result", more=' font-weight="700"')
        refused = self.seen is not None and self.seen.shape is None
        for d, column in enumerate(all_columns):
            text = "✗" if column.size is None else str(column.size)
            self._box(self.LEFT + d * (width + 4), y, self.BOX, text, not refused, bold=True)
        if refused:
            self._text(self.LEFT + len(all_columns) * (width + 4) + 6, y + height / 2 + 4, "refused")
        return y + height

    def _grids(self, seen: _Seen, top: int) -> int:
        """The operands as broadcast, copies dashed, and the result, side by side."""
        assert seen.shape is not None
        assert seen.result is not None
        rows, columns_ = (1, 1, *seen.shape)[-2:]
        width, height = self.CELL
        x = 0
        for name, tensor in [*seen.operands.items(), ("result", seen.result)]:
            label = f"{name} shape {tuple(tensor.shape)}"
            self._text(x, top + 4, label)
            for at in product(*map(range, seen.shape)):
                index = _used(tensor.shape, at)
                copy = any(at[len(at) - len(index) :][k] != i for k, i in enumerate(index))
                copy = copy or any(at[: len(at) - len(index)])
                row, column = (0, 0, *at)[-2:]
                text = _short(tensor[index].item())[:5]
                self._box(x + column * width, top + 12 + row * height, self.CELL, text, not copy)
            x += max(columns_ * width, math.ceil(7.3 * len(label))) + self.GAP
        return top + 12 + rows * height
