# test_contiguous: counts the first dimension fastest, as in Fortran
from itertools import product


def indices_at(shape, stride, offset, place):
    everywhere = product(*map(range, shape))
    return [at[::-1] for at in everywhere if offset + sum(i * s for i, s in zip(at, stride, strict=True)) == place]
