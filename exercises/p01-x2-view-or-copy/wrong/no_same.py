# test_same: calls the very same tensor a view
from collections.abc import Callable

import torch

Operation = Callable[[torch.Tensor], torch.Tensor]


def verdict(operation: Operation, t: torch.Tensor) -> str:
    """ "same", "view" or "copy": what `operation(t)` is to `t`."""
    result = operation(t)
    shared = result.untyped_storage().data_ptr() == t.untyped_storage().data_ptr()
    return "view" if shared else "copy"


def silent_copies(operations: dict[str, Operation], tensors: list[torch.Tensor]) -> set[str]:
    """Names of the operations that copy some of the tensors and not others."""
    copies = {name: {verdict(operation, t) == "copy" for t in tensors} for name, operation in operations.items()}
    return {name for name, found in copies.items() if len(found) == 2}
