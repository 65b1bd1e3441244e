# test_offset: forgets the storage offset
from itertools import product


def indices_at(shape, stride, offset, place):
    everywhere = product(*map(range, shape))
    return [at for at in everywhere if sum(i * s for i, s in zip(at, stride, strict=True)) == place]
