# test_measured_counts_elements: returns a distance in bytes
def place(shape, stride, offset, index):
    found = offset
    for size, step, i in zip(shape, stride, index, strict=True):
        if not -size <= i < size:
            raise IndexError(i)
        found += step * (i % size)
    return found


def measured_place(t, index):
    return t[index].data_ptr() - t.untyped_storage().data_ptr()
