# test_transpose: calls a step a copy when the strides changed
import torch

Row = tuple[tuple[int, ...], tuple[int, ...], int, bool, bool]


def explore(t: torch.Tensor, steps: list[tuple]) -> list[Row]:
    """Shape, stride, offset, contiguity, and whether the step copied: a row for `t` and one for each step."""
    rows = [(tuple(t.shape), t.stride(), t.storage_offset(), t.is_contiguous(), False)]
    for method, *arguments in steps:
        new = getattr(t, method)(*arguments)
        copied = new.stride() != t.stride()
        rows.append((tuple(new.shape), new.stride(), new.storage_offset(), new.is_contiguous(), copied))
        t = new
    return rows
