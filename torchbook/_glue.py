"""Hand a number of the run to the prose: `{glue:text}` on the page, plain text in the notebook."""

import math
from typing import Any

from IPython.display import display

from torchbook import notices

_PREFIX = "application/papermill.record/"


def glue(name: str, value: object, spec: str = "", *, of_data: bool = True, agree: float | None = None) -> None:
    """Record `value` under `name` for the prose of this page.

    The text is formatted here, once, so that page and notebook cannot differ. When something must be said beside
    every result of this kernel (stand-in data), it is said beside this one too.

    Args:
        name: key, unique on the page; the prose writes ``{glue:text}`name` ``.
        value: any value; tensors of one element are unwrapped.
        spec: format specification, as in `format(value, spec)`, e.g. ".1%".
        of_data: False for what no data can change (a parameter count, a setting): nothing need be said beside it.
        agree: how far apart the CPU's and the GPU's value may be, for a number that both must give; `torchbook record
            --check` compares them.

    Raises:
        ValueError: `name` is empty, `spec` does not fit the value, or a value that must agree is no finite number.
    """
    if not name:
        raise ValueError("glue needs a name, e.g. glue('test_accuracy', 0.91, '.3f')")
    scalar = value.item() if hasattr(value, "item") else value
    text = format(scalar, spec)
    for notice in notices.current() if of_data else ():
        text += f" ({notice})"
    record: dict[str, Any] = {"name": name, "mime_prefix": _PREFIX, "text": text}
    if agree is not None:
        record |= {"value": _number(name, scalar), "agree": agree}
    # The page finds the value by its metadata and reads it as a Python literal: a bare "5,000" would be a tuple there.
    # A notebook shows nothing for this mime type.
    display({f"{_PREFIX}text/plain": repr(text)}, metadata={"scrapbook": record}, raw=True)


def _number(name: str, value: object) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"glue({name!r}, ..., agree=...) compares numbers, and this is {value!r}")
    return float(value)
