# test_hidden_measured: reckons the place from strides instead of measuring it, and forgets negative indices
def place(shape, stride, offset, index):
    found = offset
    for size, step, i in zip(shape, stride, index, strict=True):
        if not -size <= i < size:
            raise IndexError(i)
        found += step * (i % size)
    return found


def measured_place(t, index):
    return t.storage_offset() + sum(step * i for step, i in zip(t.stride(), index, strict=True))
