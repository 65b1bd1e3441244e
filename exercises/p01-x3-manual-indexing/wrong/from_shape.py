# test_transposed: works the strides out of the shape, as if every tensor were contiguous
def place(shape, stride, offset, index):
    found = 0
    for size, i in zip(shape, index, strict=True):
        if not -size <= i < size:
            raise IndexError(i)
        found = found * size + i % size
    return offset + found


def measured_place(t, index):
    return (t[index].data_ptr() - t.untyped_storage().data_ptr()) // t.element_size()
