import torch
from torch.nn import functional as F

from torchbook.kernels import INTERPRETED
from torchbook.kernels.counting import counting

_DEVICE = "cpu" if INTERPRETED else "cuda"


def _operands(rows, width, hidden, out_width, dtype=torch.float32, seed=0):
    draw = torch.Generator().manual_seed(seed)
    shapes = (rows, width), (width, hidden), (hidden,), (hidden, out_width), (out_width,)
    scales = 1, 2 * width**-0.5, 1, hidden**-0.5, 1
    made = [scale * torch.randn(shape, generator=draw) for shape, scale in zip(shapes, scales, strict=True)]
    return [t.to(_DEVICE, dtype) for t in made]


def _turned(t):
    return t.T.contiguous().T


def _fenced(t):
    """The same numbers between others that are nan, in one storage."""
    flat = torch.full((t.numel() + 512,), torch.nan, dtype=t.dtype, device=t.device)
    inside = flat[256 : 256 + t.numel()].view(t.shape)
    return inside.copy_(t)


def _exact(x, w1, b1, w2, b2, approximate="none"):
    x, w1, b1, w2, b2 = (t.double() for t in (x, w1, b1, w2, b2))
    return F.gelu(x @ w1 + b1, approximate=approximate) @ w2 + b2


def _called(mlp, operands):
    """The result, with nan where nothing was written, and what was counted."""
    before = torch.are_deterministic_algorithms_enabled()
    torch._C._set_deterministic_algorithms(True)  # fills torch.empty
    try:
        with counting() as counted:
            out = mlp(*operands)
    except IndexError as error:
        if "outside of every operand" not in str(error):
            raise
        raise AssertionError(f"a mask is missing, or wrong: {error}") from None
    finally:
        torch._C._set_deterministic_algorithms(before)
    rows, width = operands[0].shape[0], operands[-1].shape[0]
    assert tuple(out.shape) == (rows, width), f"the result has shape {tuple(out.shape)}, not {(rows, width)}"
    assert out.dtype == operands[0].dtype, f"the result is {out.dtype}, the input {operands[0].dtype}"
    return out, counted


def _gap(out, exact):
    if not exact.numel():
        return 0.0
    gap = ((out.double() - exact).norm() / exact.norm()).item()
    return gap if gap == gap else float("inf")


def test_float32(mlp):
    operands = _operands(32, 64, 128, 32)
    out, counted = _called(mlp, operands)
    gap = _gap(out, _exact(*operands))
    assert gap < 1e-2, "the result is not gelu(x @ w1 + b1) @ w2 + b2; is each bias added, once?"
    assert gap < 5e-6, f"the relative error is {gap:.1g}: which GELU is it, and are products rounded to TF32?"
    assert not counted.rounded, "a GPU rounds float32 operands of tl.dot to TF32 unless told otherwise"


def test_gelu(mlp):
    operands = _operands(16, 16, 64, 16)
    out, _ = _called(mlp, operands)
    gap, other = _gap(out, _exact(*operands)), _gap(out, _exact(*operands, approximate="tanh"))
    assert gap < other or other > 1e-5, "this is the GELU with tanh, an approximation; F.gelu has erf"


def test_ragged(mlp):
    for sizes in ((16, 16, 45, 16), (37, 16, 32, 16), (16, 24, 32, 16), (16, 16, 32, 10), (35, 19, 71, 33)):
        operands = [_fenced(t) for t in _operands(*sizes)]
        out, _ = _called(mlp, operands)
        name = "rows, width, hidden, out width = " + ", ".join(map(str, sizes))
        assert not out.isnan().any(), f"{name}: nan, so something behind an operand's end was used, or not all written"
        assert _gap(out, _exact(*operands)) < 5e-6, f"{name}: wrong; what do lanes behind an end contribute?"


def test_any_number_of_rows(mlp):
    for rows in (0, 1, 15, 65):
        operands = _operands(rows, 16, 32, 16)
        out, _ = _called(mlp, operands)
        assert not out.isnan().any(), f"{rows} rows: some were never written; the grid is rounded up"
        assert _gap(out, _exact(*operands)) < 5e-6, f"{rows} rows: wrong"


def test_turned_weights(mlp):
    x, w1, b1, w2, b2 = _operands(32, 32, 64, 16)
    wide = torch.cat([x, x], dim=1)[:, ::2]  # every other column
    for name, operands in {
        "w1 is a transposed view": (x, _turned(w1), b1, w2, b2),
        "w2 is a transposed view": (x, w1, b1, _turned(w2), b2),
        "x is a transposed view": (_turned(x), w1, b1, w2, b2),
        "x is every other column of a matrix": (wide, w1, b1, w2, b2),
        "b1 is every other element of a vector": (x, w1, b1.repeat_interleave(2)[::2], w2, b2),
        "b2 is one number, expanded": (x, w1, b1, w2, b2[:1].expand(16)),
    }.items():
        out, _ = _called(mlp, operands)
        assert _gap(out, _exact(*operands)) < 5e-6, f"wrong when {name}: which steps does the kernel walk?"


def test_half(mlp):
    x, w1, b1, w2, b2 = _operands(16, 32, 2048, 16, torch.float16)
    operands = x, w1, b1, w2.abs(), b2  # sums that grow
    gap = _gap(_called(mlp, operands)[0], _exact(*operands))
    assert gap < 5e-4, f"the relative error in float16 is {gap:.2g}: in which type is summed?"


def test_one_launch(mlp):
    _, counted = _called(mlp, _operands(40, 32, 64, 16))
    assert counted.launches, "no kernel of Triton was launched"
    assert counted.launches == 1, f"{counted.launches} launches: the hidden values went through memory between them"


def test_allocates_only_the_result(mlp):
    x, w1, b1, w2, b2 = _operands(40, 32, 64, 16)
    operands = x, _turned(w1), b1, _turned(w2), b2
    mlp(*operands)
    _, counted = _called(mlp, operands)
    made = [(name, shape) for name, shape, _ in counted.tensors]
    large = [f"{name} made {shape}" for name, shape in made if shape != (40, 16)]
    assert not large, f"{', '.join(large)}: only the result may be made, no hidden values and no copies of weights"
    assert counted.allocated <= 40 * 16 * 4, f"{counted.allocated} bytes were allocated for a result of {40 * 16 * 4}"


def test_refuses(mlp):
    def refused(*operands):
        try:
            mlp(*operands)
        except ValueError:
            return True
        return False

    _called(mlp, _operands(3, 256, 16, 256))
    for width, out_width in ((257, 16), (16, 257)):
        operands = _operands(3, width, 16, out_width)
        assert refused(*operands), f"{width} columns in and {out_width} out do not fit into a program: ValueError"
    x, w1, b1, w2, b2 = _operands(3, 16, 32, 16)
    for name, operands in {
        "x has too few columns": (x[:, :8], w1, b1, w2, b2),
        "w2 has too few rows": (x, w1, b1, w2[:16], b2),
        "b1 is too short": (x, w1, b1[:8], w2, b2),
        "b2 is too short": (x, w1, b1, w2, b2[:8]),
    }.items():
        assert refused(*operands), f"{name}, and a kernel would read what lies behind it: ValueError"


def _moved(rows, width, hidden, out_width, block, size):
    weights = width * hidden + hidden + hidden * out_width + out_width
    ends = rows * width + rows * out_width
    programs = (rows + block - 1) // block
    return size * (ends + programs * weights), size * (ends + 4 * rows * hidden + weights)


def test_traffic(traffic):
    for case in ((64, 32, 128, 16, 16, 4), (65, 32, 128, 16, 16, 4), (1000, 256, 1024, 256, 64, 2), (1, 1, 1, 1, 1, 1)):
        found = traffic(*case)
        fused, unfused = _moved(*case)
        assert found["unfused"] == unfused, (
            f"unfused, {case}: {unfused} bytes, not {found['unfused']}; hidden values are written and read twice each"
        )
        assert found["fused"] == fused, (
            f"fused, {case}: {fused} bytes, not {found['fused']}; every program reads all the weights"
        )


def test_least_block(least_block):
    for width, hidden, out_width in ((256, 1024, 256), (1, 1, 1), (14, 64, 16), (16, 64, 16), (1024, 4096, 1024)):
        found = least_block(width, hidden, out_width)
        assert found & (found - 1) == 0, f"{found} is not a power of two"
        weights, kept = hidden * (width + out_width + 1) + out_width, 4 * hidden  # per program, and per row
        sizes = f"width, hidden, out width = {width}, {hidden}, {out_width}"
        assert weights < kept * found, (
            f"{sizes}: with {found} rows a program the fused kernel does not move fewer bytes"
        )
        assert found == 1 or weights >= kept * found / 2, f"{sizes}: half of {found} rows a program is enough"


def test_counted_traffic(mlp, traffic, BLOCK):
    sizes = 4 * BLOCK, 32, 64, 128
    operands = _operands(*sizes)
    _, counted = _called(mlp, operands)
    assert counted.launches == 1, f"{counted.launches} launches instead of one"
    said = traffic(*sizes, BLOCK, 4)["fused"]
    assert said == _moved(*sizes, BLOCK, 4)[0], f"`traffic` says {said} bytes for the fused kernel"
    if not INTERPRETED:
        return  # a compiled kernel's loads cannot be counted
    products = 2 * sizes[0] * sizes[2] * (sizes[1] + sizes[3])
    assert counted.flops <= products, (
        f"{counted.flops / products:.2g} times the products that it takes: is the hidden layer computed again?"
    )
    moved = counted.loaded + counted.stored
    assert moved <= said, f"{moved / said:.2g} times the bytes of `traffic`: what is loaded again in every step?"
    assert moved == said, f"the kernel moved {moved} bytes, and `traffic` says {said} for {BLOCK} rows a program"


def test_hidden_random(mlp, reference, seed):
    draw = torch.Generator().manual_seed(seed)
    for case in range(6):
        rows, width, hidden, out_width = (int(torch.randint(1, 70, (), generator=draw)) for _ in range(4))
        dtype = (torch.float32, torch.float16)[case % 2]
        operands = [_fenced(t) for t in _operands(rows, width, hidden, out_width, dtype, seed + case)]
        if case > 2:
            operands = [_turned(t) if t.ndim == 2 else t for t in operands]
        expected, exact = reference.mlp(*operands), _exact(*operands)
        gap, allowed = _gap(_called(mlp, operands)[0], exact), 4 * _gap(expected, exact) + 1e-6
        assert gap < allowed, f"a result is wrong for sizes that are odd, type {dtype}, weights of nn.Linear or not"


def test_hidden_traffic(traffic, least_block, reference, seed):
    draw = torch.Generator().manual_seed(seed)
    for _ in range(20):
        rows, width, hidden, out_width = (int(n) for n in torch.randint(1, 3000, (4,), generator=draw))
        for block in (16, 100):
            case = rows, width, hidden, out_width, block, 2
            assert traffic(*case) == reference.traffic(*case), "the bytes are wrong for other sizes"
        sizes = width, hidden, out_width
        assert least_block(*sizes) == reference.least_block(*sizes), "the least block is wrong for other sizes"
