import random


def test_contiguous(indices_at):
    assert list(indices_at((2, 3), (3, 1), 0, 5)) == [(1, 2)], (
        "place 5 of a contiguous 2 by 3 matrix is row 1, column 2"
    )


def test_offset(indices_at):
    assert list(indices_at((3,), (1,), 5, 5)) == [(0,)], "the storage offset is missing: the view begins at place 5"


def test_all_of_them(indices_at):
    assert list(indices_at((2, 3), (1, 1), 1, 3)) == [(0, 2), (1, 1)], (
        "two elements overlap at this place: find both, in order"
    )


def test_expanded(indices_at):
    assert list(indices_at((3, 1), (0, 1), 0, 0)) == [(0, 0), (1, 0), (2, 0)], (
        "with stride 0 every row is the same memory"
    )


def test_nowhere(indices_at):
    assert list(indices_at((2, 2), (4, 2), 0, 1)) == [], (
        "nothing of this view lies between its steps: the list is empty"
    )


def test_hidden_random_views(indices_at, reference, seed):
    draw = random.Random(seed)
    for _ in range(80):
        shape = tuple(draw.randint(1, 4) for _ in range(draw.randint(1, 3)))
        stride = tuple(draw.randint(0, 4) for _ in shape)
        given = shape, stride, draw.randint(0, 3), draw.randint(0, 12)
        assert list(indices_at(*given)) == reference.indices_at(*given), "wrong for a view with overlaps or gaps"
