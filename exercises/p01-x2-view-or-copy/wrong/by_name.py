# test_depends_on_strides: judges reshape on the flat tensor alone: whatever keeps the number of elements is a view
from collections.abc import Callable

import torch

Operation = Callable[[torch.Tensor], torch.Tensor]


def verdict(operation: Operation, t: torch.Tensor) -> str:
    """ "same", "view" or "copy": what `operation(t)` is to `t`."""
    result = operation(t)
    if result is t:
        return "same"
    shared = (
        result.untyped_storage().nbytes() == t.untyped_storage().nbytes()
        and not result.is_contiguous()
        or result.untyped_storage().data_ptr() == t.untyped_storage().data_ptr()
        or result.dim() == 1
        and not t.is_contiguous()
    )
    return "view" if shared else "copy"


def silent_copies(operations: dict[str, Operation], tensors: list[torch.Tensor]) -> set[str]:
    """Names of the operations that copy some of the tensors and not others."""
    copies = {name: {verdict(operation, t) == "copy" for t in tensors} for name, operation in operations.items()}
    return {name for name, found in copies.items() if len(found) == 2}
