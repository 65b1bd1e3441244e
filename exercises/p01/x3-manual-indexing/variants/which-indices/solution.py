from itertools import product


def indices_at(
    shape: tuple[int, ...],
    stride: tuple[int, ...],
    offset: int,
    place: int,
) -> list[tuple[int, ...]]:
    """Indices of all elements that lie at `place`, in increasing order."""
    ### BEGIN SOLUTION
    everywhere = product(*map(range, shape))
    return [at for at in everywhere if offset + sum(i * s for i, s in zip(at, stride, strict=True)) == place]
    ### END SOLUTION
