"""Whether code makes its tensors where its arguments are, found out on a machine that has no second device.

    from torchbook.practice.devices import misplaced

    def test_device(attention):
        problem = misplaced(lambda: attention(x, *matrices))
        assert not problem, problem

The meta device would not do as the second one: `mask.to(x.device)` is right, and nothing can be copied out of meta.
So all is computed where it is, and a tensor that is made without `device=` is followed through the functions that take
it, until it meets one that was not, or is handed out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree

_MAY_MIX = {"__getitem__", "__setitem__", "copy_"}  # an index, or what is copied from, may be on another device


def misplaced(call: Callable[[], object]) -> str:
    """Say what would fail on a GPU because it was made without `device=`; nothing if all is where the arguments are.

    Args:
        call: runs the code on arguments that were made before. Exceptions of its own are raised.

    A tensor of no dimensions takes part in everything, as one on the CPU does. What PyTorch's own Python functions
    make inside is not looked at. Explicit devices are believed, a wrong one too.
    """
    mode = _Followed()
    try:
        with mode:
            out = call()
    except _MixedError as error:
        return str(error)
    if any(mode.is_stranger(t) for t in _tensors(out)):
        return "a result was made without `device=`, so it is on the default device, and not where the arguments are"
    return ""


class _MixedError(Exception):
    """Tensors of two devices met."""


class _Followed(TorchFunctionMode):
    """Follows tensors that are on the default device because nobody said where."""

    def __init__(self) -> None:
        super().__init__()
        self._strangers: dict[int, Tensor] = {}  # kept, so that no other tensor gets the number

    def is_stranger(self, t: Tensor) -> bool:
        return id(t) in self._strangers

    def __torch_function__(
        self, func: Any, types: Iterable[type], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        found = self._of_result(name, args, kwargs)
        out = func(*args, **kwargs)
        for t in _tensors(out):
            if found:
                self._strangers[id(t)] = t
            else:
                self._strangers.pop(id(t), None)  # `t.to(device)` is t, where nothing has to be moved
        return out

    def _of_result(self, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        """Whether what a function returns is a stranger."""
        given = _tensors((args, kwargs))
        if kwargs.get("device") is not None or (name == "to" and _names_a_device(args[1:])):
            return False
        if not given:
            return True
        if name in ("to", "type_as"):
            return self.is_stranger(given[-1])  # the tensor whose place it takes
        if name in _MAY_MIX:
            return self.is_stranger(given[0])
        sized = [t for t in given if t.dim()] or given
        strangers = [t for t in sized if self.is_stranger(t)]
        if strangers and len(strangers) < len(sized):
            shapes = ", ".join(str(tuple(t.shape)) for t in strangers)
            raise _MixedError(
                f"`{name.strip('_')}` got a tensor of shape {shapes} that was made without `device=`, and one on the "
                "device of the arguments: on a GPU that fails"
            )
        return bool(strangers)


def _names_a_device(arguments: Iterable[Any]) -> bool:
    return any(isinstance(argument, torch.device | str) for argument in arguments)


def _tensors(tree: object) -> list[Tensor]:
    return [leaf for leaf in _pytree.tree_leaves(tree) if isinstance(leaf, Tensor)]
