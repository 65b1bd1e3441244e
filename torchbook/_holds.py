"""Hold a sentence of the prose by what the run measured: `` {holds}`faster <compile-speedup>` `` on the page."""

import math
import os
import random
import sys
from collections.abc import Callable, Sized
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from IPython.display import display

from torchbook import notices

MIME = "application/vnd.torchbook.holds+json"  # no notebook shows it; the page finds it by its metadata
KEY = "torchbook_holds"
STRICT, PRESS = "TORCHBOOK_STRICT", "TORCHBOOK_PRESS"
_TRIES = 3  # measurements of a time, before it counts as not so
_LONGEST = 60  # characters of a value, as the page says it
_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": lambda a, b: _equal(a, b),
    "!=": lambda a, b: not _equal(a, b),
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "in": lambda a, b: a in b,
    "is": lambda a, b: a is b,
}
_NEAR = "~"
_OPERATIONS = (*_RELATIONS, _NEAR)
_MEASURES = (FunctionType, MethodType, partial)
_LARGE, _HUGE = 10_000, 1e15  # floats between them are said as whole numbers


def holds(
    name: str,
    value: object,
    relation: str = "==",
    bound: object = True,
    *,
    within: float = 0.0,
    spec: str = "",
    unit: str = "",
    of_data: bool = True,
    agree: float | None = None,
) -> None:
    """Assert `value relation bound`, and record it as the evidence of a sentence on this page.

    Nothing is shown in the notebook. The sentence marks the words that rest on it:
    ``torch.compile is {holds}`faster <compile-speedup>` here``; pointing at them says what was measured.

    Args:
        name: key, unique on the page, which one sentence at least must use.
        value: what was measured. Tensors are compared element by element, and every element must hold. A function
            without arguments measures a time anew: a busy machine may spoil one measurement, so it is asked up to
            three times, and where it still does not hold, the page says so instead of failing, unless the run is
            strict (`torchbook book --strict`, as CI runs it). A claim about values never bends.
        relation: one of == != < <= > >= in is, or ~ for "equal, give or take `within`".
        bound: what the value is compared with.
        within: for ~, how far apart the two may be, in the value's own units.
        spec: format specification of both in the evidence, e.g. ".1%"; four significant digits when left out.
        unit: written behind both, e.g. "×" or " MiB".
        of_data: False for what no data can change: nothing need be said beside it (stand-in data).
        agree: as in `glue`: how far apart the CPU's and the GPU's value may be.

    Raises:
        AssertionError: it does not hold; the message has both values.
        ValueError: no name, an unknown relation, or a value that must agree and is no finite number.
    """
    if not name:
        raise ValueError('holds needs a name, e.g. holds("compile-speedup", eager / compiled, ">", 1.2)')
    if relation not in _OPERATIONS:
        raise ValueError(f"holds({name!r}, ...): unknown relation {relation!r}; it is one of {' '.join(_OPERATIONS)}")
    timed = isinstance(value, _MEASURES) and relation not in ("==", "!=", "in", "is")
    tries = 1
    measured = _measured(value) if timed else value  # type: ignore[arg-type]
    while timed and tries < _TRIES and not _holds(measured, relation, bound, within):
        tries += 1
        measured = _measured(value)  # type: ignore[arg-type]
    held = _holds(measured, relation, bound, within)
    said, against = _sides(measured, relation, bound, spec)
    said, against = said + unit, against + unit + (f" ± {_said(within, relation, spec)}{unit}" if within else "")
    if not held and (not timed or os.environ.get(STRICT)):
        raise AssertionError(f"{name}: {said} {relation} {against} does not hold")
    record: dict[str, Any] = {"name": name, "value": said, "relation": relation, "bound": against, "held": held}
    record |= {"timed": timed, "tries": tries, "notices": list(notices.current()) if of_data else []}
    numbers = [float(number) for number in (_scalar(measured), _scalar(bound)) if _is_number(number)]
    if numbers:
        record["numbers"] = [number for number in numbers if math.isfinite(number)]
    if agree is not None:
        if not numbers or not math.isfinite(numbers[0]):
            raise ValueError(f"holds({name!r}, ..., agree=...) compares numbers, and this is {measured!r}")
        record |= {"agree": agree, "measured": numbers[0]}
    display({MIME: record}, metadata={KEY: record}, raw=True)
    if not held and not os.environ.get(PRESS):
        print(f"{name} did not hold in this run: {said} {relation} {against}")


def _measured(measure: Callable[[], Any]) -> Any:
    """One measurement, after which random numbers go on as if there had been none: how many there are varies."""
    torch: Any = sys.modules.get("torch")
    states = random.getstate(), torch.get_rng_state() if torch else None
    try:
        return measure()
    finally:
        random.setstate(states[0])
        if torch:
            torch.set_rng_state(states[1])


def _holds(value: Any, relation: str, bound: Any, within: float) -> bool:
    result = abs(value - bound) <= within if relation == _NEAR else _RELATIONS[relation](value, bound)
    return bool(result.all()) if hasattr(result, "all") else bool(result)


def _equal(value: Any, bound: Any) -> Any:
    """Equality; of tensors and arrays also of their shapes, which would else be broadcast."""
    if _is_tensor(value) and _is_tensor(bound):
        return tuple(value.shape) == tuple(bound.shape) and (value == bound).all()
    return value == bound


def _is_tensor(value: object) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, type)


def _scalar(value: Any) -> Any:
    """The one element of a tensor of one; anything else as it is."""
    return value.item() if _is_tensor(value) and math.prod(value.shape) == 1 else value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _sides(value: Any, relation: str, bound: Any, spec: str) -> tuple[str, str]:
    """Both sides in the words of the evidence."""
    if relation == "==" and _is_tensor(value) and _is_tensor(bound) and math.prod(value.shape) != 1:
        return f"each of {math.prod(value.shape):,} elements", "the other's"
    return _said(value, relation, spec), _said(bound, relation, spec, of_bound=True)


def _said(value: object, relation: str, spec: str, *, of_bound: bool = False) -> str:
    """A value in the words of the evidence; of a tensor the element that is nearest to failing."""
    value = _scalar(value)
    if _is_tensor(value):
        return _said_of_tensor(value, relation, spec, of_bound=of_bound)
    if spec and not isinstance(value, str | bool | tuple | list) and value is not None:
        return format(value, spec)
    if _is_number(value):
        return _number(value)  # type: ignore[arg-type]
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    if len(text) <= _LONGEST:
        return text
    counted = f"{len(value)} items: " if isinstance(value, Sized) and not isinstance(value, str) else ""
    return f"{counted}{text[: _LONGEST - 1]}…"


def _said_of_tensor(value: Any, relation: str, spec: str, *, of_bound: bool) -> str:
    shape = f"shape {tuple(value.shape)}"
    if relation not in ("<", "<=", ">", ">="):
        return f"a tensor of {shape}"
    least = (relation in (">", ">=")) != of_bound
    element = _said((value.min() if least else value.max()).item(), relation, spec, of_bound=of_bound)
    return f"{element} ({'smallest' if least else 'largest'} of {shape})"


def _number(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if _LARGE <= abs(value) < _HUGE else f"{value:.4g}"
