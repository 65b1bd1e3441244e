import torch


def place(
    shape: tuple[int, ...],
    stride: tuple[int, ...],
    offset: int,
    index: tuple[int, ...],
) -> int:
    """Place in the storage, in elements, of the element at `index`."""
    ### BEGIN SOLUTION
    found = offset
    for size, step, i in zip(shape, stride, index, strict=True):
        if not -size <= i < size:
            raise IndexError(f"index {i} is outside a dimension of size {size}")
        found += step * (i % size)
    return found
    ### END SOLUTION


def measured_place(t: torch.Tensor, index: tuple[int, ...]) -> int:
    """The same place, computed from two addresses."""
    ### BEGIN SOLUTION
    return (t[index].data_ptr() - t.untyped_storage().data_ptr()) // t.element_size()
    ### END SOLUTION
