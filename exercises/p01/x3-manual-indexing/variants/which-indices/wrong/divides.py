# test_nowhere: undoes the arithmetic by division and drops the remainder
def indices_at(shape, stride, offset, place):
    rest, at = place - offset, []
    for size, step in zip(shape, stride, strict=True):
        i = min(rest // step, size - 1) if step else 0
        at.append(i)
        rest -= i * step
    return [tuple(at)] if min(at) >= 0 else []
