from collections.abc import Callable

import torch

Operation = Callable[[torch.Tensor], torch.Tensor]


def verdict(operation: Operation, t: torch.Tensor) -> str:
    """ "same", "view" or "copy": what `operation(t)` is to `t`."""
    ### BEGIN SOLUTION
    result = operation(t)
    if result is t:
        return "same"
    shared = result.untyped_storage().data_ptr() == t.untyped_storage().data_ptr()
    return "view" if shared else "copy"
    ### END SOLUTION


def silent_copies(
    operations: dict[str, Operation],
    tensors: list[torch.Tensor],
) -> set[str]:
    """Names of operations that copy some tensors, but not all."""
    ### BEGIN SOLUTION
    copies = {name: {verdict(operation, t) == "copy" for t in tensors} for name, operation in operations.items()}
    return {name for name, found in copies.items() if len(found) == 2}
    ### END SOLUTION
