# test_negative: multiplies a negative index by the stride as it is
def place(shape, stride, offset, index):
    for size, i in zip(shape, index, strict=True):
        if not -size <= i < size:
            raise IndexError(i)
    return offset + sum(step * i for step, i in zip(stride, index, strict=True))


def measured_place(t, index):
    return (t[index].data_ptr() - t.untyped_storage().data_ptr()) // t.element_size()
