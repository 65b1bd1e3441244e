"""Recorders of figures, for who only wants to show them: torch is imported when something is recorded, not before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any


def record_dispatch(more: Mapping[str, Callable[..., Any]] | None = None, *,
                    operators: Sequence[str] | None = None) -> dict[str, Any]:  # fmt: skip
    """What the dispatcher of this torch holds, for `DispatchRoute`.

    Args:
        more: further operators, a custom one for instance: `{"mine::double": double}`. The functions are called with as
            many tensors of 3 × 3 numbers as they have parameters, and call that operator.
        operators: names of those to take from the usual list, `dispatching.OPERATORS`; all of it unless given.

    Returns:
        A dict of JSON: the version of torch, keys in order of precedence, the key sets of tensors and of the thread in
        each situation, and for each operator its schema, its table and what its kernels were seen to call.

    Raises:
        ValueError: there is no such operator.

    Example:
        >>> recording = record_dispatch()
        >>> recording["args"]["none"]["cpu"]
        [['AutocastCPU', 'AutogradFunctionality', 'ADInplaceOrView', 'Dense'], ['CPU']]
    """
    from torchbook.viz import dispatching  # it imports torch

    return dispatching.record(more, operators)
