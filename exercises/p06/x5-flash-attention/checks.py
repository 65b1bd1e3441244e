import math
from itertools import pairwise

import torch

from torchbook.kernels import INTERPRETED
from torchbook.kernels.counting import counting

_DEVICE = "cpu" if INTERPRETED else "cuda"


def _random(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(_DEVICE, dtype)


def _operands(queries, keys, width=16, heads=2, batch=1, dtype=torch.float32, seed=0):
    lengths = enumerate((queries, keys, keys))
    return [_random(batch, heads, n, width, dtype=dtype, seed=7 * seed + i) for i, n in lengths]


def _fenced(t):
    """The same numbers between others that are nan, in one storage."""
    flat = torch.full((t.numel() + 4096,), torch.nan, dtype=t.dtype, device=t.device)
    inside = flat[2048 : 2048 + t.numel()].view(t.shape)
    return inside.copy_(t)


def _scores(q, k, causal=False):
    scores = q.double() @ k.double().mT / math.sqrt(q.shape[-1])
    if causal:
        unseen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(unseen, -torch.inf)
    return scores


def _exact(q, k, v, causal=False):
    return torch.softmax(_scores(q, k, causal), -1) @ v.double()


def _called(attention, *operands, **options):
    """What is returned, with nan where nothing was written, and what was counted."""
    before = torch.are_deterministic_algorithms_enabled()
    torch._C._set_deterministic_algorithms(True)  # fills torch.empty
    try:
        with counting() as counted:
            out, lse = attention(*operands, **options)
    except IndexError as error:
        if "outside of every operand" not in str(error):
            raise
        raise AssertionError(f"a mask is missing, or wrong: {error}") from None
    finally:
        torch._C._set_deterministic_algorithms(before)
    q = operands[0]
    assert out.shape == q.shape and out.dtype == q.dtype, (
        f"the result is {out.dtype} of shape {tuple(out.shape)}, and q {q.dtype} of shape {tuple(q.shape)}"
    )
    assert lse.shape == q.shape[:3], f"lse has shape {tuple(lse.shape)}, one number for each query: {(*q.shape[:3],)}"
    return out, lse, counted


def _gap(found, exact):
    gap = ((found.double() - exact).norm() / exact.norm()).item()
    return gap if gap == gap else float("inf")


def test_float32(attention):
    q, k, v = _operands(64, 64, 32)
    out, _, counted = _called(attention, q, k, v)
    gap = _gap(out, _exact(q, k, v))
    assert gap < 1e-2, "the result is not softmax(q kᵀ / √D) v"
    assert gap < 5e-6, f"the relative error is {gap:.1g}, too much for float32: are products rounded to TF32?"
    assert not counted.rounded, "a GPU rounds float32 operands of tl.dot to TF32 unless told otherwise"
    for width in (16, 64, 128):
        q, k, v = _operands(8, 40, width, heads=1)
        gap = _gap(_called(attention, q, k, v)[0], _exact(q, k, v))
        assert gap < 5e-6, f"for D = {width} the relative error is {gap:.1g}"


def test_lse(attention):
    q, k, v = _operands(48, 64)
    _, lse, _ = _called(attention, q, k, v)
    assert lse.dtype == torch.float32, f"lse is float32, whatever q is: not {lse.dtype}"
    right = torch.allclose(lse.double(), _scores(q, k).logsumexp(-1), atol=1e-4)
    assert right, "lse is the natural logarithm of the sum of exp of a query's scores: maximum and sum together"


def test_ragged(attention):
    for queries, keys in ((32, 45), (45, 32), (1, 1), (71, 83)):
        q, k, v = (_fenced(t) for t in _operands(queries, keys))
        out, lse, _ = _called(attention, q, k, v)
        name = f"{queries} queries, {keys} keys"
        nan = out.isnan().any() or lse.isnan().any()
        assert not nan, f"{name}: nan; something behind the last key was used, or not all was written"
        assert _gap(out, _exact(q, k, v)) < 5e-6, f"{name}: wrong; a lane without a key must weigh exp(-inf) = 0"


def test_strides(attention):
    q, k, v = _operands(32, 32)
    for name, operands in {
        "q comes as (B, T, H, D)": (q.transpose(1, 2).contiguous().transpose(1, 2), k, v),
        "k is a transposed view": (q, k.mT.contiguous().mT, v),
        "v comes as (B, T, H, D)": (q, k, v.transpose(1, 2).contiguous().transpose(1, 2)),
        "all heads share keys and values, expanded": (q, k[:, :1].expand_as(k), v[:, :1].expand_as(v)),
    }.items():
        out, _, _ = _called(attention, *operands)
        assert _gap(out, _exact(*operands)) < 5e-6, f"wrong when {name}: which steps does the kernel walk?"


def test_large_scores(attention):
    q, k, v = _operands(32, 64)
    for sign in (1, -1):  # all scores far above 0, all far below
        high = q.abs() * 100 * sign, k.abs(), v
        out, lse, _ = _called(attention, *high)
        finite = out.isfinite().all() and lse.isfinite().all()
        assert finite, "inf or nan for scores far from 0: the maximum is not subtracted, or not before exp"
        assert _gap(out, _exact(*high)) < 1e-3, "wrong for scores far from 0"


def test_rising_scores(attention):
    q, k, v = _operands(32, 256)
    ramp = torch.linspace(0, 1, 256, device=q.device)[None, None, :, None]
    for name, factor in {"rise": ramp, "fall": 1 - ramp}.items():
        operands = q.abs() * 4, k.abs() * factor, v
        out, _, _ = _called(attention, *operands)
        gap = _gap(out, _exact(*operands))
        assert gap < 1e-5, f"wrong when the scores {name} along the keys: what happens to sums of an earlier maximum?"


def test_causal(attention):
    for queries, keys in ((64, 64), (45, 45), (32, 71), (71, 32)):
        q, k, v = (_fenced(t) for t in _operands(queries, keys))
        out, _, _ = _called(attention, q, k, v, causal=True)
        name = f"causal, {queries} queries, {keys} keys"
        assert not out.isnan().any(), f"{name}: nan; query 0 sees key 0, so every query sees one"
        assert _gap(out, _exact(q, k, v, True)) < 5e-6, f"{name}: wrong; query i sees keys 0 to i and no other"


def test_causal_skips(attention, BLOCK):
    if not INTERPRETED:  # products cannot be counted, so time is measured, both in one run
        import triton.testing

        q, k, v = _operands(4096, 4096, 64, 16, 4, torch.float16)
        full, half = (
            triton.testing.do_bench(lambda c=c: attention(q, k, v, causal=c), return_mode="median") for c in (0, 1)
        )
        assert half < 0.8 * full, f"causal attention takes {half / full:.2f} of the time of full attention"
        return
    operands = _operands(8 * BLOCK, 8 * BLOCK, heads=1)
    full, half = (_called(attention, *operands, causal=c)[2].flops for c in (False, True))
    assert full, "no product of tiles (`tl.dot`) was computed"
    assert half <= 0.7 * full, f"causal takes {half / full:.2f} of the products: blocks above the diagonal are skipped"


def test_no_matrix_of_scores(attention):
    q, k, v = _operands(96, 160)
    operands = q, k.mT.contiguous().mT, v
    attention(*operands)
    _, _, counted = _called(attention, *operands)
    assert counted.launches, "no kernel of Triton was launched"
    assert counted.launches == 1, f"{counted.launches} launches, where one suffices"
    large = [f"{name} made {shape}" for name, shape, _ in counted.tensors if len(shape) > 3 and shape != q.shape]
    assert not large, f"{', '.join(large)}: no scores may be in memory, and no copies of operands"
    allowed = q.nbytes + 2 * 96 * 2 * 4
    assert counted.allocated <= allowed, f"{counted.allocated} bytes were allocated for results of {allowed} at most"


def test_tiles_do_not_grow(attention):
    if not INTERPRETED:  # a tile of that many scores fits into no multiprocessor
        q, k, v = _operands(64, 2**17)
        assert _gap(attention(q, k, v)[0], _exact(q, k, v)) < 1e-4, "wrong for 131072 keys"
        return
    few, many = (_called(attention, *_operands(32, keys))[2].largest for keys in (64, 512))
    assert many, "no product of tiles (`tl.dot`) was computed"
    assert many <= few, f"with 8 times the keys a tile has {many} numbers, not {few}: whole rows of scores are held"


def test_counted_traffic(attention, BLOCK):
    queries, keys, width = 3 * BLOCK, 128, 32
    q, k, v = _operands(queries, keys, width)
    _, _, counted = _called(attention, q, k, v)
    assert counted.launches == 1, f"{counted.launches} launches, where one suffices"
    if not INTERPRETED:
        return  # a compiled kernel's loads cannot be counted
    least = q.nbytes + 3 * (k.nbytes + v.nbytes)
    assert counted.loaded <= least, (
        f"{counted.loaded} bytes are loaded; each program loads its queries once and the keys and values once: {least}"
    )
    results = q.nbytes + queries * 2 * 4
    assert counted.stored == results, f"{counted.stored} bytes are stored, and the results have {results}"


def test_half(attention):
    q, k, v = _operands(16, 2048, heads=1, dtype=torch.float16)
    operands = q / 8, k, v.abs()  # many weights that are small, and sums that grow
    out, lse, _ = _called(attention, *operands)
    assert lse.dtype == torch.float32, f"lse is float32, whatever q is: not {lse.dtype}"
    gap = _gap(out, _exact(*operands))
    assert gap < 5e-4, f"the relative error in float16 is {gap:.2g}: in which type is summed?"


def test_refuses(attention):
    q, k, v = _operands(16, 20)
    for name, operands in {
        "k and v have different lengths": (q, k, v[:, :, :10]),
        "k has fewer heads": (q, k[:, :1], v[:, :1]),
        "k and v have two batches, and q one": (q, torch.cat([k, k]), torch.cat([v, v])),
        "v is narrower than k": (q, torch.cat([k, k], -1), v),
        "q is wider than k": (torch.cat([q, q], -1), k, v),
        "D is 24": _operands(16, 16, 24),
        "there is no key": (q, k[:, :, :0], v[:, :, :0]),
    }.items():
        try:
            attention(*operands)
        except ValueError:
            continue
        raise AssertionError(f"{name}: ValueError, before a pointer is taken")


def _part(q, k, v, start, end):
    """Attention over some keys, exactly."""
    scores = _scores(q, k[:, :, start:end])
    return torch.softmax(scores, -1) @ v[:, :, start:end].double(), scores.logsumexp(-1)


def test_merge(merge):
    q, k, v = _operands(8, 40)
    for cut in (20, 1, 39):
        out, lse = merge(*_part(q, k, v, 0, cut), *_part(q, k, v, cut, 40))
        whole = _part(q, k, v, 0, 40)
        assert torch.allclose(lse, whole[1]), f"{cut} and {40 - cut} keys: lse of both is log(exp(lse1) + exp(lse2))"
        assert torch.allclose(out, whole[0]), f"{cut} and {40 - cut} keys: each part weighs exp of its lse"
    first, second = ((out.half(), lse.float()) for out, lse in (_part(q, k, v, 0, 20), _part(q, k, v, 20, 40)))
    out, lse = merge(*first, *second)
    assert (out.dtype, lse.dtype) == (torch.float16, torch.float32), (
        f"parts in float16 are merged in float16, and their lse in float32, as attention returns them: "
        f"{out.dtype} and {lse.dtype}"
    )
    assert _gap(out, whole[0]) < 2e-3, "parts in float16: the merged result is another"


def test_merge_far_apart(merge):
    q, k, v = _operands(8, 40)
    for factor in (100, -100):
        operands = 50 * q.abs(), k.abs() * factor, v
        out, lse = merge(*_part(*operands, 0, 20), *_part(*operands, 20, 40))
        whole = _part(*operands, 0, 40)
        finite = out.isfinite().all() and lse.isfinite().all()
        assert finite, "inf or nan for large lse: exp(lse) itself is never needed, only of a difference"
        assert torch.allclose(out, whole[0]) and torch.allclose(lse, whole[1]), "wrong for lse of thousands"


def test_merge_with_nothing(merge):
    q, k, v = _operands(8, 40)
    out, lse = _part(q, k, v, 0, 40)
    nothing = torch.zeros_like(out), torch.full_like(lse, -torch.inf)
    for name, (merged, both) in {"first": merge(*nothing, out, lse), "second": merge(out, lse, *nothing)}.items():
        same = torch.allclose(merged, out) and torch.allclose(both, lse)
        assert same, f"the {name} part saw no key (lse = -inf), so the result is the other part's"
    merged, both = merge(*nothing, *nothing)
    assert not merged.isnan().any(), "two parts without a key: the result is 0 rather than nan"
    assert (both == -torch.inf).all(), "two parts without a key: lse stays -inf"


def test_hidden_random(attention, reference, seed):
    draw = torch.Generator().manual_seed(seed)
    for case in range(6):
        queries, keys, batch, heads = (int(torch.randint(1, n, (), generator=draw)) for n in (90, 90, 3, 4))
        dtype, causal = (torch.float32, torch.float16)[case % 2], case > 2
        q, k, v = _operands(queries, keys, (16, 32, 64)[case % 3], heads, batch, dtype, seed + case)
        operands = _fenced(q.transpose(1, 2)).transpose(1, 2), _fenced(k.mT).mT, _fenced(v)
        exact = _exact(*operands, causal)
        expected = reference.attention(*operands, causal)
        out, lse, _ = _called(attention, *operands, causal=causal)
        name = f"{dtype}, causal={causal}, sizes that are odd, any strides"
        assert _gap(out, exact) < 4 * _gap(expected[0], exact) + 1e-6, f"a result is wrong: {name}"
        assert torch.allclose(lse, expected[1], atol=1e-3), f"an lse is wrong: {name}"


def test_hidden_ring(attention, merge, seed):
    q, k, v = _operands(40, 90, seed=seed)
    for cuts in ((0, 90), (0, 17, 90), (0, 30, 31, 60, 90)):
        parts = [attention(q, k[:, :, a:b], v[:, :, a:b]) for a, b in pairwise(cuts)]
        out, lse = parts[0]
        for part in parts[1:]:
            out, lse = merge(out, lse, *part)
        assert _gap(out, _exact(q, k, v)) < 1e-5, f"attention over {len(parts)} parts, merged, is not that over all"
        right = torch.allclose(lse.double(), _scores(q, k).logsumexp(-1), atol=1e-4)
        assert right, f"lse over {len(parts)} parts, merged, is not that over all keys"
