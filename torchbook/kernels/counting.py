"""What a call does: kernels launched, tensors made, and, in Triton's interpreter, bytes moved and products computed.

The interpreter loads and stores element by element of a mask, so what a kernel asks of memory can be counted there, on
any machine; caches are not in it. It also finds what a GPU mostly hides: addresses outside of every operand, and what
becomes of lanes that a mask leaves out. Without `other` a load gives them no value, the interpreter 0, and here they
are nan. And it refuses a number of warps that a compiler refuses, of which the interpreter makes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from triton.runtime import interpreter
from triton.runtime.jit import JITFunction

from torchbook.kernels._start import INTERPRETED

Span = tuple[int, int]
_NAN: dict[str, np.generic] = {
    "fp16": np.float16(np.nan),
    "fp32": np.float32(np.nan),
    "fp64": np.float64(np.nan),
    "bf16": np.uint16(0x7FC0),  # the interpreter keeps a bfloat16 as its bits
}


@dataclass
class Counted:
    """What was counted. Bytes, FLOPs and tiles stay 0 where kernels are compiled.

    `largest` is the number of elements of the largest tile that a product (`tl.dot`) made, `rounded` the number of
    products of float32 whose operands a GPU may round to TF32. `tensors` are those that operators of torch made with a
    storage of their own: operator, shape, bytes.
    """

    launches: int = 0
    loaded: int = 0
    stored: int = 0
    flops: int = 0
    largest: int = 0
    rounded: int = 0
    tensors: list[tuple[str, tuple[int, ...], int]] = field(default_factory=list)

    @property
    def allocated(self) -> int:
        """Bytes of all tensors that were made."""
        return sum(size for _, _, size in self.tensors)


class OutsideError(BaseException):
    """An access outside of all operands. No `Exception`: Triton would wrap it and lose its type."""


@contextmanager
def counting() -> Iterator[Counted]:
    """Count what happens in the block.

    Raises:
        IndexError: an interpreted kernel read or wrote outside of its operands; the access is not carried out.
        AssertionError: an interpreted kernel was to have a number of warps that is no power of 2.
    """
    counted = Counted()
    with _Made(counted):
        if not INTERPRETED:
            with patch.object(JITFunction, "run", _launching(counted, JITFunction.run)):
                yield counted
            return
        builder, executor, spans = interpreter.InterpreterBuilder, interpreter.GridExecutor, list[Span]()
        load, store, dot = builder.create_masked_load, builder.create_masked_store, builder.create_dot
        prepare, call = executor._init_args_hst, executor.__call__

        def prepared(self: Any, *arguments: Any) -> Any:
            made = prepare(self, *arguments)
            spans[:] = [_span(tensor) for tensor in _operands(made)]
            return made

        def called(self: Any, *arguments: Any, **more: Any) -> Any:
            counted.launches += 1
            warps = more.get("num_warps", 1)
            if warps < 1 or warps & (warps - 1):
                raise AssertionError(f"num_warps must be a power of 2, and is {warps}")  # as a compiler does
            try:
                return call(self, *arguments, **more)
            except OutsideError as error:
                raise IndexError(str(error)) from None

        def loaded(self: Any, pointers: Any, mask: Any, other: Any, *more: Any, **named: Any) -> Any:
            counted.loaded += _checked(self, "reads", pointers, mask, spans)
            return load(self, pointers, mask, _nothing(pointers) if other is None else other, *more, **named)

        def stored(self: Any, pointers: Any, value: Any, mask: Any, *more: Any, **named: Any) -> Any:
            counted.stored += _checked(self, "writes", pointers, mask, spans)
            return store(self, pointers, value, mask, *more, **named)

        def multiplied(self: Any, a: Any, b: Any, acc: Any, precision: Any, *more: Any, **named: Any) -> Any:
            product = dot(self, a, b, acc, precision, *more, **named)
            counted.rounded += a.get_element_ty().name == "fp32" and precision.name == "TF32"
            counted.flops += 2 * a.data.size * b.data.shape[-1]
            counted.largest = max(counted.largest, product.data.size)
            return product

        with (
            patch.object(builder, "create_masked_load", loaded),
            patch.object(builder, "create_masked_store", stored),
            patch.object(builder, "create_dot", multiplied),
            patch.object(executor, "_init_args_hst", prepared),
            patch.object(executor, "__call__", called),
        ):
            yield counted


class _Made(TorchDispatchMode):
    """Notes the tensors that operators make, by the storages that no operand has."""

    def __init__(self, counted: Counted) -> None:
        super().__init__()
        self._counted = counted

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if func is torch.ops.aten.set_.source_Storage_storage_offset:  # the interpreter's own view of an operand
            return made
        known = {_address(operand) for operand in tree_leaves((args, kwargs)) if isinstance(operand, torch.Tensor)}
        for leaf in tree_leaves(made):
            if isinstance(leaf, torch.Tensor) and _address(leaf) not in known and leaf.untyped_storage().nbytes():
                name = func.overloadpacket.__name__
                self._counted.tensors.append((name, tuple(leaf.shape), leaf.untyped_storage().nbytes()))
        return made


def _address(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


def _launching(counted: Counted, run: Callable[..., Any]) -> Callable[..., Any]:
    def launched(self: Any, *arguments: Any, **more: Any) -> Any:
        counted.launches += 1
        return run(self, *arguments, **more)

    return launched


def _operands(made: Any) -> Iterator[torch.Tensor]:
    """The tensors among arguments, those that a descriptor holds included."""
    positional, named = made
    for argument in (*positional, *named.values()):
        tensor = getattr(argument, "base", argument)
        if isinstance(tensor, torch.Tensor):
            yield tensor


def _span(tensor: torch.Tensor) -> Span:
    """First address of a tensor, and the first one behind it."""
    start = tensor.data_ptr()
    if not tensor.numel():
        return start, start
    last = sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True))
    return start, start + (last + 1) * tensor.element_size()


def _nothing(pointers: Any) -> Any:
    """What a load gives to lanes of which nothing is known: nan; None, for the interpreter's 0, of integers."""
    element = pointers.get_element_ty()
    unknown = _NAN.get(element.name)
    if unknown is None:
        return None
    return interpreter.TensorHandle(np.full_like(pointers.data, unknown, dtype=unknown.dtype), element)


def _checked(builder: Any, does: str, pointers: Any, mask: Any, spans: list[Span]) -> int:
    """Bytes of the elements that the mask lets through, all of which must be in an operand."""
    addresses = np.broadcast_to(pointers.data, mask.data.shape)[mask.data.astype(bool)].astype(np.int64)
    size = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
    inside = np.zeros(addresses.shape, dtype=bool)
    for start, end in spans:
        inside |= (addresses >= start) & (addresses + size <= end)
    if not inside.all():
        program = tuple(int(i) for i in builder.grid_idx)
        raise OutsideError(f"program {program} {does} {int((~inside).sum())} elements outside of every operand")
    return int(addresses.size) * size
