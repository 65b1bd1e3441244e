# test_offset: forgets the storage offset
def place(shape, stride, offset, index):
    for size, i in zip(shape, index, strict=True):
        if not -size <= i < size:
            raise IndexError(i)
    return sum(step * (i % size) for size, step, i in zip(shape, stride, index, strict=True))


def measured_place(t, index):
    return (t[index].data_ptr() - t.untyped_storage().data_ptr()) // t.element_size()
