import random

import torch
from torch.overrides import TorchFunctionMode


def _plain(found):
    assert type(found) is int, f"a place is a plain integer, not {type(found).__name__}"
    return found


def test_contiguous(place):
    assert _plain(place((2, 3, 4), (12, 4, 1), 0, (1, 2, 3))) == 23, (
        "each index is multiplied by its own stride, then all are added"
    )


def test_offset(place):
    assert _plain(place((3,), (1,), 5, (0,))) == 5, (
        "the storage offset is missing: a view need not begin where its storage begins"
    )


def test_transposed(place):
    found = _plain(place((4, 3, 2), (1, 4, 12), 0, (3, 0, 1)))
    assert found == 15, "the place must follow from the given strides, not from strides worked out of the shape"


def test_negative(place):
    assert _plain(place((2, 3), (3, 1), 0, (-1, -3))) == 3, "a negative index counts from the end of its own dimension"


def test_out_of_range(place):
    for index in ((0, 3), (2, 0), (0, -4)):
        try:
            place((2, 3), (3, 1), 0, index)
        except IndexError:
            continue
        raise AssertionError(
            f"index {index} does not exist in shape (2, 3), so IndexError must be raised: memory would not object"
        )


def test_measured_counts_elements(measured_place):
    t = torch.zeros(2, 3, dtype=torch.float64)
    assert _plain(measured_place(t, (1, 1))) == 4, "data_ptr counts bytes; a place counts elements of t's own dtype"


def test_measured_from_the_storage(measured_place):
    t = torch.arange(10)[4:]
    assert _plain(measured_place(t, (0,))) == 4, (
        "t.data_ptr() already includes the offset; subtract the address of the storage"
    )


class _Watch(TorchFunctionMode):
    """Notes what torch is asked for."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.seen.append(function.__name__)
        return function(*args, **kwargs or {})


def test_arithmetic_alone(place):
    with _Watch() as watch:
        found = place((2, 3), (3, 1), 0, (1, 2))
    assert found == 5, "row 1 begins at 3, and its column 2 is at 5"
    assert not watch.seen, f"plain arithmetic is asked for, and torch ran {', '.join(watch.seen[:3])}"


def test_addresses_are_measured(measured_place):
    t, address, asked = torch.arange(12.0).reshape(3, 4)[1:], torch.Tensor.data_ptr, []

    def noted(self):
        asked.append(self.shape)
        return address(self)

    torch.Tensor.data_ptr = noted
    try:
        measured_place(t, (1, 2))
    finally:
        torch.Tensor.data_ptr = address
    assert asked, "the place was worked out from strides: measure it, by the data_ptr() of the element"


def _view(draw, dtype):
    shape = [draw.randint(1, 4) for _ in range(draw.randint(1, 4))]
    t = torch.zeros(shape, dtype=dtype).permute(draw.sample(range(len(shape)), len(shape)))
    for dim in range(t.dim()):
        t = t.narrow(dim, draw.randint(0, t.shape[dim] - 1), 1) if draw.random() < 0.2 else t
        t = t[(slice(None),) * dim + (slice(draw.randint(0, t.shape[dim] - 1), None, draw.randint(1, 2)),)]
    return t.unsqueeze(0).expand(3, *t.shape) if draw.random() < 0.3 else t


def _cases(seed, dtype):
    draw = random.Random(seed)
    for _ in range(60):
        t = _view(draw, dtype)
        yield t, tuple(draw.randint(-size, size - 1) for size in t.shape)


def test_hidden_random_views(place, reference, seed):
    for t, index in _cases(seed, torch.float32):
        given = tuple(t.shape), t.stride(), t.storage_offset(), index
        try:
            found = _plain(place(*given))
        except IndexError:
            raise AssertionError(f"index {index} exists in shape {given[0]}, with strides {given[1]}") from None
        assert found == reference.place(*given), "the place is wrong for a view with steps, narrowing or expansion"


def test_hidden_measured(measured_place, reference, seed):
    for dtype in (torch.uint8, torch.bfloat16, torch.complex128):
        for t, index in _cases(seed + 1, dtype):
            assert _plain(measured_place(t, index)) == reference.measured_place(t, index), (
                "the measured place is wrong for some dtype or view"
            )
