# test_out_of_range: never looks at the sizes, so an index that does not exist gets a place in other data
def place(shape, stride, offset, index):
    return offset + sum(step * (i % size) for size, step, i in zip(shape, stride, index, strict=True))


def measured_place(t, index):
    return (t[index].data_ptr() - t.untyped_storage().data_ptr()) // t.element_size()
