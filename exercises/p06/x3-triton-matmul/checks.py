import random
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import torch

from torchbook.kernels import INTERPRETED  # isort: skip  # before triton
from torchbook.kernels.counting import counting  # isort: skip
from triton.runtime import interpreter

_DEVICE = "cpu" if INTERPRETED else "cuda"
_ALLOWED = {torch.float32: 1e-5, torch.float16: 6e-4, torch.bfloat16: 8e-3}


def _random(*shape, dtype=torch.float32):
    return torch.randn(shape).to(_DEVICE, dtype)


def _layouts(rows, columns, dtype=torch.float32):
    """One shape in several orders of memory, with nan around it in that memory."""

    def filled(view):
        return view.copy_(_random(rows, columns, dtype=dtype))

    def memory(*shape):
        return torch.full(shape, torch.nan, dtype=dtype, device=_DEVICE)

    yield "contiguous", filled(memory(rows + 2, columns)[1:-1])
    yield "transposed", filled(memory(columns + 2, rows)[1:-1].T)
    yield "every second column of a wider one", filled(memory(rows, 2 * columns)[:, ::2])
    yield "a block of a larger one", filled(memory(rows + 5, columns + 7)[2:-3, 3:-4])
    yield "one row, expanded", _random(1, columns, dtype=dtype).expand(rows, columns)


def _called(matmul, a, b):
    """The result, with nan where nothing was written, and what was counted."""
    before = torch.are_deterministic_algorithms_enabled()
    torch._C._set_deterministic_algorithms(True)  # fills torch.empty
    try:
        with counting() as counted, np.errstate(all="ignore"):
            out = matmul(a, b)
    except IndexError as error:
        if "outside of every operand" not in str(error):
            raise
        raise AssertionError(f"a mask or a stride is missing, or wrong: {error}") from None
    finally:
        torch._C._set_deterministic_algorithms(before)
    shape = a.shape[0], b.shape[1]
    assert tuple(out.shape) == shape, f"the result has shape {tuple(out.shape)}, not {shape}"
    assert out.dtype == a.dtype, f"the result is {out.dtype}, the operands are {a.dtype}"
    return out, counted


def _error(matmul, a, b):
    """Norm of the difference to the product in float64, over the norm of that."""
    exact = a.double() @ b.double()
    out, _ = _called(matmul, a, b)
    if not exact.numel():
        return 0.0
    gap = ((out.double() - exact).norm() / exact.norm().clamp(min=1e-9)).item()
    return gap if gap == gap else float("inf")


@contextmanager
def _stores():
    """For each program in the order in which they run: addresses of all that it stores."""
    store, found = interpreter.InterpreterBuilder.create_masked_store, {}

    def noted(self, pointers, value, mask, *more, **named):
        kept = np.broadcast_to(pointers.data, mask.data.shape)[mask.data.astype(bool)]
        found.setdefault(tuple(self.grid_idx), []).append(kept.astype(np.int64))
        return store(self, pointers, value, mask, *more, **named)

    with patch.object(interpreter.InterpreterBuilder, "create_masked_store", noted):
        yield found


def test_every_tile_once(tile_of):
    for rows, columns, group in ((4, 6, 2), (8, 8, 8), (7, 5, 3), (3, 9, 8), (1, 4, 2), (5, 1, 2)):
        order = [tuple(map(int, tile_of(p, rows, columns, group))) for p in range(rows * columns)]
        every = {(row, column) for row in range(rows) for column in range(columns)}
        assert set(order) == every, (
            f"{rows} x {columns} tiles in groups of {group}: {len(every - set(order))} are never computed; "
            "the last group may have fewer rows"
        )


def test_order(tile_of):
    found = [tuple(map(int, tile_of(p, 5, 3, 2))) for p in range(15)]
    first = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]
    assert found[:6] == first, f"the first group of 2 rows is taken column by column: {first}, not {found[:6]}"
    assert found[6:8] == [(2, 0), (3, 0)], f"then comes the next group, from its first column: not {found[6:8]}"
    assert found[12:] == [(4, 0), (4, 1), (4, 2)], f"the last group has one row left: not {found[12:]}"


def test_strips(tile_of):
    tiles = {tile_of(p, 32, 32, 8) for p in range(132)}
    strips = len({row for row, _ in tiles}) + len({column for _, column in tiles})
    assert strips <= 26, f"132 programs at once need {strips} strips of tiles; in groups of 8 rows these are 25"


def test_square(matmul):
    a, b = _random(64, 64), _random(64, 64)
    gap = _error(matmul, a, b)
    assert gap < 1e-5, f"the product of two 64 x 64 matrices is off by {gap:.2g} of its norm"
    _, counted = _called(matmul, a, b)
    assert not counted.rounded, (
        f"{counted.rounded} calls of tl.dot let a GPU round float32 operands to tf32, and none may: tl.dot does so "
        "unless it is told otherwise"
    )


def test_ragged(matmul):
    for m, k, n in ((45, 64, 51), (1, 64, 1), (33, 32, 130)):
        gap = _error(matmul, _random(m, k), _random(k, n))
        assert gap < 1e-5, f"({m}, {k}) @ ({k}, {n}) is off by {gap:.2g}: the last tiles reach over the edge"


def test_ragged_inside(matmul):
    for k in (1, 33, 57, 100):
        gap = _error(matmul, _random(40, k), _random(k, 36))
        assert gap < 1e-5, f"off by {gap:.2g} for {k} inner elements: what lies beyond them must count as 0"


def test_layouts(matmul):
    for name, a in _layouts(45, 37):
        gap = _error(matmul, a, _random(37, 40))
        assert gap < 1e-5, f"off by {gap:.2g} for a left operand that is {name}"
    for name, b in _layouts(37, 45):
        gap = _error(matmul, _random(40, 37), b)
        assert gap < 1e-5, f"off by {gap:.2g} for a right operand that is {name}"


def test_types(matmul):
    for dtype, allowed in _ALLOWED.items():
        a, b = (1 + _random(20, 1500)).to(dtype), (1 + _random(1500, 20)).to(dtype)
        gap = _error(matmul, a, b)
        assert gap < allowed, (
            f"{dtype}: off by {gap:.2g}, and {allowed:.2g} is allowed; the sum over 1500 products is kept in float32, "
            "and rounded once"
        )


def test_nothing_to_sum(matmul):
    for m, k, n in ((5, 0, 7), (0, 4, 7), (5, 4, 0)):
        out, _ = _called(matmul, _random(m, k), _random(k, n))
        assert not out.count_nonzero(), f"({m}, {k}) @ ({k}, {n}) is a sum of nothing: zeros, and of the right shape"


def test_refuses(matmul):
    for a, b in (((4, 5), (4, 5)), ((4, 5), (6, 4)), ((4, 5), (5,)), ((2, 4, 5), (5, 3))):
        try:
            matmul(_random(*a), _random(*b))
        except ValueError:
            continue
        raise AssertionError(f"{a} @ {b} is no product of two matrices, and no ValueError says so")
    try:
        matmul(_random(4, 4), _random(4, 4, dtype=torch.float16))
    except ValueError:
        return
    raise AssertionError("float32 @ float16: the types must be the same, and no ValueError says so")


def test_traffic(matmul):
    m = n = k = 128
    a, b = _random(m, k), _random(k, n)
    for name, right in (("contiguous", b), ("transposed", b.T.contiguous().T)):
        if not INTERPRETED:
            matmul(a, right)  # compiles, and tunes
        out, counted = _called(matmul, a, right)
        assert counted.launches == 1, f"one kernel is launched once, not {counted.launches} times"
        extra = counted.allocated / out.nbytes
        assert extra < 1.01, f"{extra:.1f} times the result's bytes are allocated for a {name} operand; 1 is needed"
        if INTERPRETED:
            share = counted.loaded / (2 * m * n * k * a.element_size())
            assert share <= 1 / 16, (
                f"{share:.3g} of the bytes are loaded that one output at a time would load; a tile of 16 x 16 outputs "
                "loads a sixteenth, 32 x 32 half of that"
            )
            assert counted.stored == out.nbytes, f"{counted.stored / out.nbytes:.2f} times the result is written"
            assert counted.flops >= 2 * m * n * k, "the products are not computed by tl.dot"


def test_grouped(matmul):
    if not INTERPRETED:
        _as_fast(matmul)
        return
    height, width = (len(one) for one in _tiles(matmul, 256, 256)[0])
    assert height < 256 and width < 256, "the whole product is one tile; at most 128 x 128 outputs are for a program"
    tiles = _tiles(matmul, 16 * height, 16 * width)
    assert len(tiles) == 256, f"{len(tiles)} programs for 16 x 16 tiles; one tile is for one program"
    for program, (rows, columns) in enumerate(tiles):
        group, inside = divmod(program, 8 * 16)
        expected = 8 * group + inside % 8, inside // 8
        found = min(rows) // height, min(columns) // width
        assert found == expected, (
            f"of 16 x 16 tiles program {program} computes that of row {found[0]} and column {found[1]}; in groups of 8 "
            f"rows it is that of row {expected[0]} and column {expected[1]}: the kernel takes the order of tile_of"
        )


def _tiles(matmul, m, n):
    """Rows and columns that each program stores, in the order in which programs run."""
    with _stores() as found:
        out = matmul(_random(m, 16), _random(16, n))
    offsets = [(np.concatenate(one) - out.data_ptr()) // out.element_size() for one in found.values()]
    return [(set(one // n), set(one % n)) for one in offsets if one.size]


def _as_fast(matmul):
    """On a GPU: at least half of the library's speed, as medians of one run."""
    from triton.testing import do_bench

    a, b = _random(4096, 4096, dtype=torch.bfloat16), _random(4096, 4096, dtype=torch.bfloat16)
    matmul(a, b)
    library = do_bench(lambda: a @ b, return_mode="median")
    speed = library / do_bench(lambda: matmul(a, b), return_mode="median")
    assert speed > 0.5, f"4096 x 4096 in bfloat16 has {speed:.2f} of the speed of cuBLAS; half is the least"


def test_hidden_tiles(tile_of, seed):
    draw = random.Random(seed)
    for _ in range(20):
        rows, columns, group = draw.randint(1, 20), draw.randint(1, 20), draw.randint(1, 10)
        expected = [
            (row, column)
            for first in range(0, rows, group)
            for column in range(columns)
            for row in range(first, min(first + group, rows))
        ]
        found = [tuple(map(int, tile_of(p, rows, columns, group))) for p in range(rows * columns)]
        assert found == expected, f"another order is asked for {rows} x {columns} tiles in groups of {group}"


def test_hidden_random(matmul, seed):
    draw = random.Random(seed)
    for _ in range(5):
        m, k, n = (draw.randint(1, 80) for _ in range(3))
        dtype = draw.choice(list(_ALLOWED))
        a_name, a = draw.choice(list(_layouts(m, k, dtype)))
        b_name, b = draw.choice(list(_layouts(k, n, dtype)))
        before = a.clone(), b.clone()
        gap = _error(matmul, a, b)
        assert gap < 2 * _ALLOWED[dtype], (
            f"off by {gap:.2g}: ({m}, {k}) @ ({k}, {n}) in {dtype}; the left one {a_name}, the right one {b_name}"
        )
        assert a.equal(before[0]) and b.equal(before[1]), "an operand was changed"
