import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torchgen
import yaml
from torch.utils._python_dispatch import TorchDispatchMode


class Kernel(NamedTuple):
    """A line of the dispatcher's table: where the code was registered, and what sort of kernel it is."""

    file: str
    line: int
    sort: str


@cache
def derivatives() -> list[dict[str, Any]]:
    """The entries of derivatives.yaml, as the installed torch ships it."""
    file = Path(torchgen.__file__).parent / "packaged" / "autograd" / "derivatives.yaml"
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C is ten times faster
    return yaml.load(file.read_text(encoding="utf-8"), loader)


def kernel_of(op: torch._ops.OpOverload, key: str) -> Kernel | None:
    """What the dispatcher calls for `op` at the key of this name; None if there is nothing."""
    ### BEGIN SOLUTION
    row = re.compile(rf"{key}: (fallthrough )?registered at (.+):(\d+) \[(.+)\]")
    for text in torch._C._dispatch_dump_table(op.name()).splitlines():
        if found := row.fullmatch(text):
            return Kernel(found[2], int(found[3]), "fallthrough" if found[1] else found[4])
    return None
    ### END SOLUTION


def route(op: torch._ops.OpOverload, *args: Any) -> list[str]:
    """The names of the keys whose kernels a call `op(*args)`, made here and now, runs, the first one first."""
    ### BEGIN SOLUTION
    keys = torch._C._dispatch_tls_local_include_set()
    for tensor in _tensors(args):
        keys = keys | torch._C._dispatch_keys(tensor)
    keys = keys - torch._C._dispatch_tls_local_exclude_set()
    passed = []
    while (key := keys.highestPriorityTypeId()) != torch._C.DispatchKey.Undefined:
        keys = keys.remove(key)
        name = torch._C._dispatch_key_name(key)
        kernel = kernel_of(op, name)
        if kernel and kernel.sort != "fallthrough":
            passed.append(name)
            if name == "Python" or kernel.sort == "math kernel":
                break
    return passed
    ### END SOLUTION


def trace(function: Callable, *args: Any) -> list[str]:
    """The names of the operators, "aten::mm" and so on, that arrive below autograd while `function(*args)` runs."""
    ### BEGIN SOLUTION
    seen = []

    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func.name())
            return func(*args, **(kwargs or {}))

    with Log():
        function(*args)
    return seen
    ### END SOLUTION


def backward_of(op: torch._ops.OpOverload) -> dict[str, str]:
    """The formula for the gradient of each argument; none where the operator decomposes before autograd."""
    ### BEGIN SOLUTION
    autograd = kernel_of(op, "AutogradCPU")
    if autograd and autograd.sort == "math kernel":
        return {}
    name = op.name().removeprefix("aten::")
    base, dot, overload = name.partition(".")
    functional = base.removesuffix("_") + dot + overload
    entries = {entry["name"].partition("(")[0]: entry for entry in derivatives()}
    entry = entries.get(name) or entries.get(functional) or {}
    entry = entry.get("dispatch", {}).get("Default", entry)
    arguments = {argument.name for argument in op._schema.arguments}
    split = {name.strip(): formula for names, formula in entry.items() for name in names.split(",")}
    return {name: formula for name, formula in split.items() if name in arguments}
    ### END SOLUTION


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    ### BEGIN SOLUTION
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)
    ### END SOLUTION
