import torch

Row = tuple[tuple[int, ...], tuple[int, ...], int, bool, bool]


def explore(t: torch.Tensor, steps: list[tuple]) -> list[Row]:
    """One row for `t` itself, and one for each step."""
    ### BEGIN SOLUTION
    rows = [(tuple(t.shape), t.stride(), t.storage_offset(), t.is_contiguous(), False)]
    for method, *arguments in steps:
        new = getattr(t, method)(*arguments)
        copied = new.untyped_storage().data_ptr() != t.untyped_storage().data_ptr()
        rows.append((tuple(new.shape), new.stride(), new.storage_offset(), new.is_contiguous(), copied))
        t = new
    return rows
    ### END SOLUTION
