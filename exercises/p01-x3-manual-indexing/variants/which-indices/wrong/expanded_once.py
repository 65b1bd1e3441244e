# test_expanded: counts an expanded dimension as a single element
from itertools import product


def indices_at(shape, stride, offset, place):
    everywhere = product(*(range(size if step else 1) for size, step in zip(shape, stride, strict=True)))
    return [at for at in everywhere if offset + sum(i * s for i, s in zip(at, stride, strict=True)) == place]
