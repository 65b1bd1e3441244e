"""Values that are materially other than a given one, to see whether an assertion notices.

Nothing here draws random numbers or changes the value itself.
"""

from __future__ import annotations

import copy
import math
import numbers
import sys
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import suppress
from pathlib import PurePath
from typing import Any

# Kinds that only turn a sign: a bound that nothing else breaks is wide.
SIGN = "sign"
_STEPS: dict[str, Callable[[Any], Any]] = {
    "+1": lambda value: value + 1,
    "-1": lambda value: value - 1,
    "×1.5": lambda value: value * 1.5,
    "÷1.5": lambda value: value / 1.5,
    SIGN: lambda value: -value,
}


def others(value: Any) -> Iterator[tuple[str, Any]]:
    """Values that differ from one, each with its kind of difference; copies, of which the first is the plainest."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        with torch.no_grad():
            yield from _of_tensor(torch, value.detach())
    elif numpy is not None and isinstance(value, numpy.ndarray):
        yield from _of_array(numpy, value)
    elif isinstance(value, bool) or (numpy is not None and isinstance(value, numpy.bool_)):
        yield "not", not value
    elif isinstance(value, numbers.Number):
        yield from _of_number(value)
    elif torch is not None and isinstance(value, torch.dtype):
        yield "other", torch.float16 if value == torch.float64 else torch.float64
    elif isinstance(value, str | bytes):
        other = "~" if isinstance(value, str) else b"~"
        yield from (("longer", value + other), ("begins otherwise", other + value), ("empty", value[:0]))  # type: ignore[operator]
    elif isinstance(value, PurePath):
        yield "other", value / "~"
    elif isinstance(value, list | tuple | Mapping | Set):
        yield from _of_container(value)
    else:
        yield "replaced", object()


def _of_number(value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, complex) and not math.isfinite(value):
        yield "finite", 0.0
        return
    for kind, step in _STEPS.items():
        with suppress(TypeError, OverflowError, ValueError):
            other = step(value)
            if other != value:
                yield kind, other


def _of_tensor(torch: Any, value: Any) -> Iterator[tuple[str, Any]]:
    if value.is_sparse or value.layout != torch.strided or value.is_quantized or value.is_nested:
        yield "replaced", object()
    elif value.dtype == torch.bool:
        if value.numel():
            yield "one element", _one_element(value.clone(), torch.logical_not)
        yield "not", ~value
    elif value.ndim == 0:
        if not bool(value.isfinite()):
            yield "finite", torch.zeros_like(value)
            return
        for kind, step in _STEPS.items():
            with suppress(TypeError, RuntimeError):
                other = step(value)
                if bool(other != value):
                    yield kind, other
    else:
        if value.numel():
            yield "one element", _one_element(value.clone(), _other_element)
            yield "all scaled", value * 1.5
            yield "all shifted", value + 1
        else:
            yield "longer", value.new_zeros((1, *value.shape[1:]))


def _of_array(numpy: Any, value: Any) -> Iterator[tuple[str, Any]]:
    if value.size and value.dtype.kind in "biufc":
        if value.dtype.kind == "b":
            yield "not", ~value
            return
        yield "one element", _one_element(value.copy(), _other_element)
        yield "all scaled", value * 1.5
        yield "all shifted", value + 1
    else:
        yield "longer", numpy.concatenate([numpy.ravel(value), numpy.zeros(1, dtype=value.dtype)])


def _one_element(values: Any, change: Callable[[Any], Any]) -> Any:
    """Change the last element of a tensor or an array in place."""
    place = (-1,) * values.ndim
    values[place] = change(values[place])
    return values


def _other_element(element: Any) -> Any:
    return element + 1 if abs(element) < math.inf else 0  # neither nan nor infinite


def _of_container(value: Any) -> Iterator[tuple[str, Any]]:
    if not value:
        rebuilt = tuple if isinstance(value, tuple) else type(value)  # a torch.Size holds numbers alone
        with suppress(TypeError):
            yield "longer", {"~": None} if isinstance(value, Mapping) else rebuilt(["~"])
        return
    if isinstance(value, Mapping):
        last = list(value)[-1]
        yield "last dropped", {key: item for key, item in value.items() if key != last}
        for kind, other in _first(value[last]):
            yield f"last {kind}", {**value, last: other}
        yield "empty", {}
    elif isinstance(value, Set):
        kept = sorted(value, key=repr)
        yield "last dropped", set(kept[:-1])
        yield "one more", {*kept, "~"}
        yield "empty", set()
    else:
        items = list(value)
        rebuilt = tuple if isinstance(value, tuple) else list
        yield "last dropped", rebuilt(items[:-1])
        for kind, other in _first(items[-1]):
            yield f"last {kind}", rebuilt([*items[:-1], other])
        if len(items) > 1:
            yield "turned round", rebuilt(items[::-1])
        yield "empty", rebuilt([])


def _first(item: Any) -> Iterator[tuple[str, Any]]:
    for kind, other in others(item):
        yield kind, other
        return


def moved(value: Any) -> list[tuple[str, Any]]:
    """What a name may be set to instead of its value, for the rest of its cell to run with; empty for other types."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if isinstance(value, bool):
        return [("not", not value)]
    if isinstance(value, int):
        return [("+1", value + 1), ("-1", value - 1)]
    if isinstance(value, float):
        return [("×1.5", value * 1.5), ("+1", value + 1)]
    if isinstance(value, str):
        return [("last dropped", value[:-1]), ("longer", value + "~")] if value else []
    if isinstance(value, list | tuple | dict | set):
        kinds = ("last ", "turned round")
        return [(kind, _like(value, other)) for kind, other in _of_container(value) if value and kind.startswith(kinds)]
    if torch is not None and isinstance(value, torch.Tensor):
        return _moved_tensor(torch, value)
    if numpy is not None and isinstance(value, numpy.ndarray | numpy.number):
        return [(kind, other) for kind, other in others(value) if kind in ("all scaled", "×1.5", "one element", "+1")]
    return []


def _moved_tensor(torch: Any, value: Any) -> list[tuple[str, Any]]:
    """Tensors in the same graph, or leaves that require gradients as the value does."""
    if value.layout != torch.strided or not value.numel():
        return []
    found = []
    for kind, other in others(value):
        if other.dtype != value.dtype:
            other = (value.detach() + 1).to(value.dtype)
        if value.requires_grad and value.is_leaf:
            parameter = isinstance(value, torch.nn.Parameter)
            other = torch.nn.Parameter(other) if parameter else other.requires_grad_()
        elif value.requires_grad:
            with torch.enable_grad():
                other = value + (other - value.detach())
        found.append((kind, other))
    return found[:3]


def _like(value: Any, other: Any) -> Any:
    """A container of the type of another, where that can be made of it."""
    if isinstance(other, tuple) and hasattr(value, "_fields"):
        return type(value)(*other) if len(other) == len(value) else other
    changed = copy.copy(value)
    if isinstance(value, list):
        changed[:] = other
        return changed
    if isinstance(value, dict | set):
        changed.clear()
        changed.update(other)
        return changed
    return other
