# test_contiguous: multiplies every index by the first stride
def place(shape, stride, offset, index):
    for size, i in zip(shape, index, strict=True):
        if not -size <= i < size:
            raise IndexError(i)
    return offset + stride[0] * sum(i % size for size, i in zip(shape, index, strict=True))


def measured_place(t, index):
    return (t[index].data_ptr() - t.untyped_storage().data_ptr()) // t.element_size()
