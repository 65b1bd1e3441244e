# test_measured_from_the_storage: measures from the first element of the view, whose address has the offset in it
def place(shape, stride, offset, index):
    found = offset
    for size, step, i in zip(shape, stride, index, strict=True):
        if not -size <= i < size:
            raise IndexError(i)
        found += step * (i % size)
    return found


def measured_place(t, index):
    return (t[index].data_ptr() - t.data_ptr()) // t.element_size()
