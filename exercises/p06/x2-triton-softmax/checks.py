import random

import numpy as np
import torch
from torch.nn import functional as F

from torchbook.kernels import INTERPRETED
from torchbook.kernels.counting import counting

_DEVICE = "cpu" if INTERPRETED else "cuda"
_ALLOWED = {torch.float32: 1e-5, torch.float16: 6e-4, torch.bfloat16: 8e-3}


def _random(*shape, dtype=torch.float32):
    return torch.randn(shape).to(_DEVICE, dtype)


def _layouts(rows=6, columns=6, dtype=torch.float32):
    """One shape in several orders of memory, with nan around it in that memory."""
    for name, turn in (("contiguous", False), ("transposed", True)):
        values = _random(rows, columns, dtype=dtype)
        memory = torch.full((values.numel() + 64,), torch.nan, dtype=dtype, device=_DEVICE)
        inside = memory[32:-32].view(columns, rows).T if turn else memory[32:-32].view(rows, columns)
        yield name, inside.copy_(values)
    wide = torch.full((rows, 2 * columns), torch.nan, dtype=dtype, device=_DEVICE)
    wide[:, ::2] = _random(rows, columns, dtype=dtype)
    yield "every second column", wide[:, ::2]
    wide = torch.full((2 * rows, columns + 3), torch.nan, dtype=dtype, device=_DEVICE)
    wide[::2, :columns] = _random(rows, columns, dtype=dtype)
    yield "every second row of a wider one", wide[::2, :columns]
    yield "one row, expanded", _random(1, columns, dtype=dtype).expand(rows, columns)


def _called(function, *operands):
    """The result, with nan where nothing was written, and what was counted."""
    before = torch.are_deterministic_algorithms_enabled()
    torch._C._set_deterministic_algorithms(True)  # fills torch.empty
    try:
        with counting() as counted, np.errstate(all="ignore"):
            out = function(*operands)
    except IndexError as error:
        if "outside of every operand" not in str(error):
            raise
        raise AssertionError(f"a mask or a stride is missing, or wrong: {error}") from None
    finally:
        torch._C._set_deterministic_algorithms(before)
    rows, columns = operands[0].shape
    assert tuple(out.shape) == (rows, columns), f"the result has shape {tuple(out.shape)}, not {(rows, columns)}"
    assert out.dtype == operands[0].dtype, f"the result is {out.dtype}, the operand {operands[0].dtype}"
    return out, counted


def _gap(out, exact):
    """Norm of the difference over the norm of what is right."""
    if not exact.numel():
        return 0.0
    gap = ((out.double() - exact).norm() / exact.norm()).item()
    return gap if gap == gap else float("inf")


def _error(softmax, x):
    return _gap(_called(softmax, x)[0], F.softmax(x.double(), dim=-1))


def _exact_backward(out, upstream):
    out, upstream = out.double(), upstream.double()
    return out * (upstream - (out * upstream).sum(-1, keepdim=True))


def test_width_4096(softmax):
    gap = _error(softmax, _random(4, 4096))
    assert gap < 1e-5, f"4 rows of 4096 differ from F.softmax by {gap:.2g} of its norm"


def test_widths(softmax):
    for rows, columns in ((1, 1), (3, 1), (1, 5), (5, 57), (2, 1025), (1, 40_000), (0, 7)):
        gap = _error(softmax, _random(rows, columns))
        assert gap < 1e-5, f"wrong by {gap:.2g} for {rows} rows of {columns}: one block must hold any row"


def test_no_elements(softmax, softmax_backward):
    for rows, columns in ((0, 7), (3, 0)):
        x = _random(rows, columns)
        for function, operands in ((softmax, (x,)), (softmax_backward, (x, x))):
            try:
                _called(function, *operands)
            except (AssertionError, NotImplementedError):
                raise
            except Exception as error:
                raise AssertionError(
                    f"for a shape of {(rows, columns)} an empty matrix of that shape is expected, without a launch; "
                    f"instead came {type(error).__name__}: {error}"
                ) from None


def test_large_scores(softmax):
    gap = _error(softmax, 1000 + _random(4, 50))
    assert gap < 1e-5, "scores of about 1000 overflow: the largest of a row is to be subtracted before exp"


def test_padding(softmax):
    x = _random(4, 57) - 100
    out, _ = _called(softmax, x)
    total = out.sum(-1).min().item()
    assert 0.999 < total < 1.001, (
        f"a row of 57 scores of about -100 sums to {total:.3g}, not to 1: the lanes beyond it, up to 64, take part"
    )


def test_infinite_scores(softmax):
    x = _random(4, 1600)
    x[:, :1100] = -torch.inf
    out, _ = _called(softmax, x)
    assert not out.isnan().any(), "scores of -inf, as a causal mask leaves them, give nan instead of 0"
    assert _gap(out, F.softmax(x.double(), dim=-1)) < 1e-5, (
        "scores of -inf have a share of 0, the others share the rest"
    )


def test_layouts(softmax):
    for name, x in _layouts(6, 9):
        gap = _error(softmax, x)
        assert gap < 1e-5, f"wrong by {gap:.2g} for an operand that is {name}: addresses come from its strides"


def test_types(softmax):
    for dtype, allowed in _ALLOWED.items():
        gap = _error(softmax, 2 * _random(4, 4096, dtype=dtype))
        assert gap < allowed, (
            f"{dtype}: the error is {gap:.2g} and {allowed:.2g} is allowed; convert to float32 after loading, "
            "and back before storing"
        )


def test_refuses(softmax):
    for x in (_random(6), _random(2, 3, 4)):
        try:
            softmax(x)
        except ValueError:
            continue
        raise AssertionError(f"shape {tuple(x.shape)} is no matrix, and no ValueError says so")


def test_traffic(softmax):
    x = _random(16, 1000)
    for name, rows in (("contiguous", x), ("transposed", x.T.contiguous().T)):
        if not INTERPRETED:
            softmax(rows)  # compiles, and tunes
        _, counted = _called(softmax, rows)
        assert counted.launches == 1, f"one kernel is launched once, not {counted.launches} times"
        extra = counted.allocated / x.nbytes
        assert extra < 1.01, (
            f"tensors of {extra:.2f} times the result's bytes are made for a {name} operand; 1 is needed"
        )
        if INTERPRETED:
            ratio = counted.loaded / x.nbytes
            assert ratio == 1, f"a {name} operand is read {ratio:.2f} times; a row that stays in a block is read once"
            assert counted.stored == x.nbytes, f"{counted.stored / x.nbytes:.2f} times the result is written"
    if not INTERPRETED:
        _as_fast(softmax)


def _as_fast(softmax):
    """On a GPU: not much slower than the library, as medians of one run."""
    from triton.testing import do_bench

    x = _random(8192, 4096)
    softmax(x)
    library = do_bench(lambda: torch.softmax(x, -1), return_mode="median")
    speed = library / do_bench(lambda: softmax(x), return_mode="median")
    assert speed > 0.5, f"at 8192 rows of 4096 it has {speed:.2f} of the speed of torch.softmax; half is the least"


def test_backward(softmax_backward):
    out, upstream = F.softmax(_random(5, 57), dim=-1), _random(5, 57)
    found, _ = _called(softmax_backward, out, upstream)
    gap = _gap(found, _exact_backward(out, upstream))
    assert gap < 1e-5, f"the gradient differs by {gap:.2g} of its norm; each share depends on all scores of its row"


def test_backward_layouts(softmax_backward):
    shares = [(name, F.softmax(x, dim=-1)) for name, x in _layouts(6, 9)][:1]
    shares += [("transposed", shares[0][1].T.contiguous().T)]
    scalar = torch.full((), 3.0, device=_DEVICE).expand(6, 9)
    column = _random(6, 1).expand(6, 9)
    ups = [*_layouts(6, 9), ("one number, expanded, as sum() sends it", scalar), ("one column, expanded", column)]
    for a, out in shares:
        for b, upstream in ups:
            found, _ = _called(softmax_backward, out, upstream)
            gap = (found.double() - _exact_backward(out, upstream)).abs().max().item()
            assert gap < 1e-5, f"off by {gap:.2g}: the result of softmax is {a}, the upstream gradient {b}"


def test_backward_traffic(softmax_backward):
    out, upstream = F.softmax(_random(16, 1000), dim=-1), _random(16, 1000)
    if not INTERPRETED:
        softmax_backward(out, upstream)  # compiles, and tunes
    _, counted = _called(softmax_backward, out, upstream)
    assert counted.launches == 1, f"one kernel is launched once, not {counted.launches} times"
    if INTERPRETED:
        ratio = (counted.loaded + counted.stored) / out.nbytes
        assert ratio == 3, f"the bytes of {ratio:.2f} matrices are moved; two are read and one is written, once each"


def test_backward_types(softmax_backward):
    for dtype, allowed in _ALLOWED.items():
        out = F.softmax(_random(4, 1000), dim=-1).to(dtype)
        upstream = (8 + _random(4, 1000)).to(dtype)
        found, _ = _called(softmax_backward, out, upstream)
        gap = _gap(found, _exact_backward(out, upstream))
        assert gap < 4 * allowed, f"{dtype}: the error is {gap:.2g}; multiply, sum and subtract in float32"


def test_gradient(differentiable_softmax):
    x, weights = _random(5, 33), _random(5, 33)
    mine, theirs = x.clone().requires_grad_(), x.double().requires_grad_()
    out = differentiable_softmax(mine)
    assert out.requires_grad, "the result is not part of the graph"
    (out * weights + out**2).sum().backward()
    share = F.softmax(theirs, dim=-1)
    (share * weights + share**2).sum().backward()
    assert _gap(mine.grad, theirs.grad) < 2e-5, "backward does not give the gradient of F.softmax"


def test_saves_the_result(differentiable_softmax):
    saved = {}

    def pack(t):
        saved[t.untyped_storage().data_ptr()] = t
        return t

    x = _random(8, 100).requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        out = differentiable_softmax(x)
    found = sum(t.untyped_storage().nbytes() for t in saved.values()) / out.nbytes
    assert found == 1, f"{found:.1f} matrices are kept for backward; the result alone is enough, and is there anyway"


def test_second_derivative(differentiable_softmax):
    x = _random(3, 7).requires_grad_()
    weights = _random(3, 7)

    def second(f, x):
        loss = (f(x) * weights.to(x.dtype)).sum() + (x**3).sum()
        (first,) = torch.autograd.grad(loss, x, create_graph=True)
        return torch.autograd.grad((first * weights.to(x.dtype)).sum(), x)[0]  # of the plain sum it is 0

    expected = second(lambda x: F.softmax(x, dim=-1) ** 2, x.detach().double().requires_grad_())
    try:
        found = second(lambda x: differentiable_softmax(x) ** 2, x)
    except NotImplementedError:
        raise
    except RuntimeError as error:
        raise AssertionError(f"a second derivative raises: {error}") from None
    gap = _gap(found, expected)
    assert gap < 1e-4, (
        f"a second derivative is off by {gap:.2g}, without a word: what a kernel computes is no part of the graph"
    )


def test_hidden_forward(softmax, seed):
    draw = random.Random(seed)
    for _ in range(4):
        rows, columns, dtype = draw.randint(1, 6), draw.randint(1, 150), draw.choice(list(_ALLOWED))
        for name, x in _layouts(rows, columns, dtype):
            shifted = x + draw.choice([0.0, -40.0, 40.0]) if draw.random() < 0.5 else x
            before = shifted.clone()
            gap = _error(softmax, shifted)
            allowed = 2 * _ALLOWED[dtype]
            assert gap < allowed, f"wrong by {gap:.2g} for {rows} rows of {columns}, {name}, {dtype}"
            assert shifted.equal(before), "the operand was changed"


def test_hidden_backward(softmax_backward, differentiable_softmax, seed):
    draw = random.Random(seed)
    for _ in range(4):
        rows, columns = draw.randint(1, 6), draw.randint(1, 150)
        out = F.softmax(_random(rows, columns), dim=-1)
        for name, upstream in _layouts(rows, columns):
            found, _ = _called(softmax_backward, out, upstream)
            gap = (found.double() - _exact_backward(out, upstream)).abs().max().item()
            assert gap < 1e-5, f"off by {gap:.2g} for {rows} rows of {columns}, upstream {name}"
        for name, x in _layouts(rows, columns):
            mine, theirs = x.detach().requires_grad_(), x.detach().double().requires_grad_()
            differentiable_softmax(mine)[:, 0].sum().backward()
            F.softmax(theirs, dim=-1)[:, 0].sum().backward()
            gap = (mine.grad.double() - theirs.grad).abs().max().item()
            assert gap < 1e-5, f"the gradient of an operand that is {name} is off by {gap:.2g}"
