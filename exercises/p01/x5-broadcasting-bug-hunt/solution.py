from collections.abc import Callable
from itertools import zip_longest

import torch

Shape = tuple[int, ...]


def applied(a: Shape, b: Shape) -> set[str]:
    """What broadcasting does to `a` and to `b`."""
    ### BEGIN SOLUTION
    found = {f"pads {name}" for name, one, other in (("a", a, b), ("b", b, a)) if len(one) < len(other)}
    for m, n in zip_longest(reversed(a), reversed(b), fillvalue=1):
        if m != n and 1 not in (m, n):
            raise ValueError(f"sizes {m} and {n} do not fit in {a} and {b}")
        if m != n:
            found.add("stretches a" if m == 1 else "stretches b")
    return found
    ### END SOLUTION


bugs: list[tuple[Shape, Shape, Shape]] = []
### BEGIN SOLUTION
bugs += [
    ((4, 1), (4,), (4,)),  # predictions and targets
    ((4,), (4, 1), (4, 1)),  # the same, the other way round
    ((8, 3), (8, 1, 3), (8, 3)),  # a dimension that was kept after a mean
    ((2, 1), (1, 2), (2,)),  # a row and a column
    ((5,), (5, 1, 1), (5,)),  # scales of channels
]
### END SOLUTION


def guarded(
    operation: Callable,
    a: torch.Tensor,
    b: torch.Tensor,
    shape: Shape,
) -> torch.Tensor:
    """`operation(a, b)`, if it will have the shape that was meant.

    Raises:
        ValueError: there would be another shape, or none.
    """
    ### BEGIN SOLUTION
    message = f"shapes {tuple(a.shape)} and {tuple(b.shape)} do not give {tuple(shape)}"
    try:
        result = torch.broadcast_shapes(a.shape, b.shape)
    except RuntimeError:
        raise ValueError(message) from None
    if result != tuple(shape):
        raise ValueError(message)
    return operation(a, b)
    ### END SOLUTION
