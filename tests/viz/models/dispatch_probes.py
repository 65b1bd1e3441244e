"""Puts a probe before every kernel of some operators, runs them in many situations, and says what was visited.

A probe notes its key, the key set that it was given, and the thread's; then it calls the kernel that was there. It must
be alone in its process: it registers kernels for aten. One JSON line in: {op: ..., args: ..., ...}, or a list of them;
one JSON line out for each.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from torchbook.viz import dispatching, record_dispatch

C: Any = torch._C
LOG: list[tuple[int, str, str, int, int, int]] = []
KEPT: list[Any] = []
NUMBERS: dict[Any, torch.Tensor] = {number: torch.tensor(number) for number in (0, 1, 2, 3, 6, 0.5, 1e-5, 2.0)}
depth = 0


def kernel(name: str, key: str) -> Callable[..., Any]:
    """What is registered now; a kernel in Python is taken from where Python keeps it."""
    computed = C._dispatch_get_computed_kernel_for_dispatch_key(name, key)
    namespace, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    op = getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")
    if key == "Meta" and C.DispatchKey.Meta in op.py_kernels:
        function = op.py_kernels[C.DispatchKey.Meta]
        return lambda keys, *args, **kwargs: function(*args, **kwargs)
    return lambda keys, *args, **kwargs: computed.call_boxed(keys, *args, **kwargs)


def named(key: str) -> bool:
    """Can Python name this key? It cannot name those of backends without tensors of that kind."""
    try:
        C._dispatch_key_parse(key)
    except RuntimeError:
        return False
    return key != "Undefined"


def probe(name: str, slots: list[str]) -> None:
    """Register probes under all of these keys that hold a kernel that is not skipped."""
    namespace, _, rest = name.partition("::")
    overload = rest.partition(".")[2]
    library = torch.library.Library(namespace, "IMPL")
    KEPT.append(library)
    table = dispatching.table(name)
    kernels = {}
    for key in slots:
        if key in table and not table[key][2] and named(key):
            kernels[key] = kernel(name, key)
    schema = C._get_schema(name.split(".")[0], overload)
    tensors = [place for place, argument in enumerate(schema.arguments) if str(argument.type) == "Tensor"]
    for key, before in kernels.items():

        def visited(keys: Any, *args: Any, key: str = key, before: Callable[..., Any] = before, **kwargs: Any) -> Any:
            global depth
            include, exclude = C._dispatch_tls_local_include_set(), C._dispatch_tls_local_exclude_set()
            LOG.append((depth, name, key, *(key_set.raw_repr() for key_set in (keys, include, exclude))))
            depth += 1
            # Python is given a number for a tensor that was made of one.
            args = tuple(NUMBERS.get(arg, arg) if place in tensors and not isinstance(arg, torch.Tensor) else arg
                         for place, arg in enumerate(args))  # fmt: skip
            try:
                return before(keys, *args, **kwargs)
            finally:
                depth -= 1

        library.m.impl(rest, key, visited, True)


def begin() -> None:
    """Forget what was visited."""
    global depth
    LOG.clear()
    depth = 0


def ran(setting: dict[str, Any]) -> dict[str, Any]:
    """What was visited, and the error if there was one."""
    begin()
    error = ""
    operator = dispatching.OPERATORS[setting["op"]]
    try:
        dispatching.perform(setting, operator, ready=begin)
    except Exception as problem:
        error = f"{type(problem).__name__}: {problem}"[:300]
    return {"visits": [*LOG], "error": error}


@cache
def recorded() -> dict[str, Any]:
    """A recording with an operator that Python registered, made once in a process."""

    @torch.library.custom_op("torchbook::halve", mutates_args=())
    def halve(x: torch.Tensor) -> torch.Tensor:
        return x / 2

    halve.register_autograd(lambda ctx, grad: grad / 2)
    return record_dispatch({"torchbook::halve": lambda x: halve(x)})


def main() -> None:
    warnings.simplefilter("ignore")
    C._functorch._set_vmap_fallback_warning_enabled(False)
    torch._logging.set_logs(all=50)
    for line in sys.stdin:
        asked = json.loads(line)
        if "probe" in asked:
            for name in asked["probe"]:
                probe(name, asked["slots"])
            print(json.dumps(len(KEPT)), flush=True)
            continue
        print(json.dumps([ran(setting) for setting in asked["run"]]), flush=True)


if __name__ == "__main__":
    main()
