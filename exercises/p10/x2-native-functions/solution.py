from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torchgen
import yaml
from torch.utils._python_dispatch import TorchDispatchMode

Functions = dict[str, dict[str, Any]]  # the entries of the file, by name and overload: "add.Tensor"
STRUCTURED = {"CPU", "CUDA", "MPS", "MTIA", "XPU"}  # keys for which torchgen writes structured kernels


def packaged() -> str:
    """The text of native_functions.yaml as the installed torch ships it."""
    folder = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
    return (folder / "native_functions.yaml").read_text(encoding="utf-8")


def read(text: str) -> Functions:
    """The entries of such a text, each under its name with its overload."""
    ### BEGIN SOLUTION
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return {entry["func"].partition("(")[0]: entry for entry in yaml.load(text, loader)}
    ### END SOLUTION


def kernels(functions: Functions, name: str) -> dict[str, str]:
    """Dispatch key: name of the function in C++, with those of a structured delegate, or the default."""
    ### BEGIN SOLUTION
    entry = functions[name]
    base = name.partition(".")[0]
    if "dispatch" not in entry and "structured" not in entry and "structured_delegate" not in entry:
        return {"CompositeImplicitAutograd": base}
    found = {}
    for one in (functions.get(entry.get("structured_delegate"), {}), entry):
        lines = dict(one.get("dispatch", {}))
        if "ufunc_inner_loop" in one:
            stem = one["func"].partition("(")[0].partition(".")[0]
            lines |= {key: f"ufunc_{stem}_{key}" for key in ("CPU", "CUDA")}
        pairs = [(key.strip(), kernel) for keys, kernel in lines.items() for key in keys.split(",")]
        found |= {key: kernel for key, kernel in pairs if one is entry or key in STRUCTURED}
    return found
    ### END SOLUTION


def kind(functions: Functions, name: str) -> str:
    """ "structured", "implicit", "explicit" or "backend", the first that fits."""
    ### BEGIN SOLUTION
    entry, keys = functions[name], kernels(functions, name)
    if entry.get("structured") or "structured_delegate" in entry:
        return "structured"
    if "CompositeImplicitAutograd" in keys:
        return "implicit"
    return "explicit" if any(key.startswith("CompositeExplicitAutograd") for key in keys) else "backend"
    ### END SOLUTION


def doors(functions: Functions, name: str) -> set[str]:
    """Where Python finds it: "torch.add", "torch.Tensor.add", "torch._C._nn.gelu"."""
    ### BEGIN SOLUTION
    entry, base = functions[name], name.partition(".")[0]
    variants = {variant.strip() for variant in entry.get("variants", "function").split(",")}
    module = f"torch._C._{entry['python_module']}" if "python_module" in entry else "torch"
    places = {"function": f"{module}.{base}", "method": f"torch.Tensor.{base}"}
    return {places[variant] for variant in variants}
    ### END SOLUTION


def tagged(functions: Functions, tag: str) -> set[str]:
    """The names of the entries that have this tag."""
    ### BEGIN SOLUTION
    found = set()
    for name, entry in functions.items():
        tags = entry.get("tags", [])
        if tag in ([tags] if isinstance(tags, str) else tags):
            found.add(name)
    return found
    ### END SOLUTION


def decompose(functions: Functions, function: Callable, *args: Any) -> list[tuple[str, str]]:
    """Name and kind of each operator that arrives below autograd; the kind "elsewhere" if it is not in the file."""
    ### BEGIN SOLUTION
    seen = []

    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = func.name().removeprefix("aten::")
            seen.append((name, kind(functions, name)) if name in functions else (func.name(), "elsewhere"))
            return func(*args, **(kwargs or {}))

    with Log():
        function(*args)
    return seen
    ### END SOLUTION


def registered(functions: Functions) -> dict[str, set[str]]:
    """All that the dispatcher knows, divided into "file", "autogen", "aten" and "other"."""
    ### BEGIN SOLUTION
    everything = set(torch._C._dispatch_get_all_op_names())
    file = {f"aten::{name}" for name in functions} & everything
    made = [one.strip() for entry in functions.values() for one in entry.get("autogen", "").split(",")]
    autogen = {f"aten::{name}" for name in made} & everything
    aten = {name for name in everything if name.startswith("aten::")} - file - autogen
    return {"file": file, "autogen": autogen, "aten": aten, "other": everything - file - autogen - aten}
    ### END SOLUTION
