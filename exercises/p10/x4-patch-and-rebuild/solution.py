import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def watching(op: torch._ops.OpOverload, key: str, log: list[str]) -> Iterator[None]:
    """In the block, each call of `op`'s kernel at `key` adds a line to `log`; the results stay what they are."""
    ### BEGIN SOLUTION
    original = torch.library.get_kernel(op, key)

    def kernel(keys: torch._C.DispatchKeySet, *args: Any, **kwargs: Any) -> Any:
        log.append(" ".join([op.name(), *(str(tuple(arg.shape)) for arg in args if isinstance(arg, torch.Tensor))]))
        # A number where the schema says Tensor was wrapped into one, and unwrapped again on the way to Python.
        wanted = [isinstance(argument.type, torch._C.TensorType) for argument in op._schema.arguments]
        numbers = (bool, int, float, complex)
        args = tuple(torch.tensor(a) if w and isinstance(a, numbers) else a for a, w in zip(args, wanted, strict=False))
        return original.call_boxed(keys, *args, **kwargs)

    with torch.library._scoped_library("aten", "IMPL") as library:
        library.impl(op, kernel, key, with_keyset=True, allow_override=True)
        yield
    ### END SOLUTION


def statement(message: str, cuda: bool = False) -> str:
    """The statement in C++ that prints the message; in a CUDA kernel, one thread of all does."""
    ### BEGIN SOLUTION
    text = message.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    if cuda:
        return f'if (blockIdx.x == 0 && threadIdx.x == 0) printf("{text}\\n");'
    return f'std::printf("{text}\\n");'
    ### END SOLUTION


def patched(source: str, anchor: str, line: str) -> str:
    """The source with `line` after the only line that contains `anchor`, and with <cstdio>."""
    ### BEGIN SOLUTION
    lines = source.splitlines(keepends=True)
    places = [i for i, text in enumerate(lines) if anchor in text]
    if len(places) != 1:
        raise ValueError(f"{anchor!r} is in {len(places)} lines, and must be in one")
    below = next(text for text in lines[places[0] + 1 :] if text.strip())
    indent = below[: len(below) - len(below.lstrip())]
    lines.insert(places[0] + 1, f"{indent}{line}\n")
    includes = [i for i, text in enumerate(lines) if text.startswith("#include")]
    if not any("<cstdio>" in lines[i] for i in includes):
        lines.insert(includes[-1] + 1 if includes else 0, "#include <cstdio>\n")
    return "".join(lines)
    ### END SOLUTION


def patch(path: str, before: str, after: str) -> str:
    """A unified diff that `git apply` takes, from one text of the file to the other; empty if they are the same."""
    ### BEGIN SOLUTION
    rows = difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{path}", f"b/{path}")
    return "".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)
    ### END SOLUTION
