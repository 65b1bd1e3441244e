import math

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from torchbook.practice.devices import misplaced


def _draw(seed=0):
    return torch.Generator().manual_seed(seed)


def _case(batch=2, heads=4, groups=2, new=5, keys=5, width=4, seed=0):
    """Queries (B, H, T, D), keys and values (B, G, S, D), float64."""
    draw, sizes = _draw(seed), [(heads, new), (groups, keys), (groups, keys)]
    return [torch.randn(batch, *size, width, generator=draw, dtype=torch.float64) for size in sizes]


def _right(q, k, v):
    """With repeated keys and values."""
    shared, (new, keys) = q.shape[1] // k.shape[1], (q.shape[2], k.shape[2])
    k, v = (t.repeat_interleave(shared, dim=1) for t in (k, v))
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    hidden = torch.ones(new, keys, dtype=torch.bool).triu(keys - new + 1)
    return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v


def _near(found, expected, within=1e-6):
    return found.shape == expected.shape and torch.allclose(found, expected.to(found.dtype), rtol=0, atol=within)


def _tried(call):
    """What a call gives, or nothing if PyTorch refuses it."""
    try:
        return call()
    except NotImplementedError:
        raise
    except RuntimeError:
        return None


def test_as_many_keys_as_queries(grouped_attention):
    case = _case(groups=4)
    found = grouped_attention(*case)
    assert tuple(found.shape) == (2, 4, 5, 4), f"the output has the shape of q, not {tuple(found.shape)}"
    assert _near(found, _right(*case)), "with as many key heads as query heads, this is ordinary causal attention"


def test_neighbours_share(grouped_attention):
    q, k, v = _case(heads=4, groups=2)
    found = grouped_attention(q, k, v)
    assert found.shape == q.shape, f"the output has the shape of q, not {tuple(found.shape)}"
    for head, group in enumerate((0, 0, 1, 1)):
        alone = _right(q[:, [head]], k[:, [group]], v[:, [group]])
        assert _near(found[:, [head]], alone), (
            f"with four query heads and two key heads, query head {head} uses key head {group}"
        )


def test_one_head_of_keys(grouped_attention):
    q, k, v = _case(heads=6, groups=1)
    assert _near(grouped_attention(q, k, v), _right(q, k, v)), "with one key head, all query heads use it"


def test_causal(grouped_attention):
    q, k, v = _case()
    before = grouped_attention(q, k, v)
    for changed in (k, v):
        changed[:, :, 3] += 1
    moved = (grouped_attention(q, k, v) - before).abs().amax(dim=(0, 1, 3))
    assert moved[:3].max() == 0, "token 3 was changed, and outputs before it moved: the future is visible"
    assert moved[3:].min() > 1e-6, "token 3 was changed, but its own output or a later one did not move"


def test_with_a_cache(grouped_attention):
    q, k, v = _case(new=5, keys=5)
    whole, last = grouped_attention(q, k, v), _tried(lambda: grouped_attention(q[:, :, 3:], k, v))
    assert last is not None, "it fails with T queries and S keys, where T is less than S: the mask is (T, S)"
    assert _near(last, whole[:, :, 3:]), (
        "without the queries before them, the last two queries have different outputs: they are tokens S - 2 and S - 1"
    )


def test_single_query(grouped_attention):
    q, k, v = _case(new=1, keys=6)
    found = _tried(lambda: grouped_attention(q, k, v))
    assert found is not None and _near(found, _right(q, k, v)), "a single query is the newest token and sees all keys"


def test_large_scores(grouped_attention):
    q, k, v = (t.float() for t in _case())
    found = grouped_attention(1000 * q, k, v)
    assert found.isfinite().all(), "large scores overflowed: exp of 1000 is infinite"
    q, k = -1e5 * torch.ones(1, 2, 3, 1), 1e5 * torch.ones(1, 1, 3, 1)  # every score is -1e10
    v = torch.tensor([1.0, 2.0, 3.0]).reshape(1, 1, 3, 1)
    found = grouped_attention(q, k, v)[0, 0, 0].item()
    assert found == 1, "the future has a weight if scores are far below 0: hide them with -inf"


class _Allocated(TorchDispatchMode):
    """Records the largest storage, in elements, that belongs to none of the known tensors."""

    def __init__(self, *known):
        super().__init__()
        self.known, self.most, self.by = {t.untyped_storage().data_ptr() for t in known}, 0, ""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # saves the seconds that an import of torch's compiler takes

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for t in out if isinstance(out, tuple | list) else [out]:
            if isinstance(t, torch.Tensor) and t.untyped_storage().data_ptr() not in self.known:
                size = t.untyped_storage().nbytes() // t.element_size()
                if size > self.most:
                    self.most, self.by = size, func.overloadpacket.__name__
        return out


def _largest(grouped_attention, q, k, v):
    with torch.no_grad(), _Allocated(q, k, v) as seen:
        found = grouped_attention(q, k, v)
    assert _near(found, _right(q, k, v)), "with few queries, many keys, and wide heads, the output is wrong"
    return seen


def test_memory(grouped_attention):
    q, k, v = (t.clone() for t in _case(heads=8, groups=2, new=3, keys=40, width=32))
    seen = _largest(grouped_attention, q, k, v)
    assert seen.most <= k.numel(), (
        f"`{seen.by}` made a tensor of {seen.most:,} elements, but the keys have {k.numel():,}: they were repeated"
    )


def test_memory_of_any_layout(grouped_attention):
    q, k, v = (
        t.transpose(1, 2).contiguous().transpose(1, 2) for t in _case(heads=8, groups=2, new=3, keys=40, width=32)
    )
    seen = _largest(grouped_attention, q, k, v)
    assert seen.most <= k.numel(), (
        f"with heads stored behind the tokens, `{seen.by}` made a tensor of {seen.most:,} elements: keys were copied"
    )


def test_dtypes(grouped_attention):
    case = _case(new=3)
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        found = _tried(lambda dtype=dtype: grouped_attention(*(t.to(dtype) for t in case)))
        assert found is not None, f"it fails in {dtype}: is there a number that this dtype cannot hold?"
        assert found.dtype == dtype, f"the output has the dtype of q, {dtype}"
        assert _near(found.double(), _right(*case), 1e-5 if dtype == torch.float32 else 0.05), f"{dtype} is far off"


def test_device(grouped_attention):
    case = _case()
    problem = misplaced(lambda: grouped_attention(*case))
    assert not problem, problem


def test_arguments_are_left(grouped_attention, grouped_weight):
    case, weight = _case(), _case()[0].flatten(0, 2)[:24]
    grouped_attention(*case)
    before = weight.clone()
    grouped_weight(weight, 6, 3)
    assert all(a.equal(b) for a, b in zip(case, _case(), strict=True)), "q, k or v was changed in place"
    assert weight.equal(before), "the caller's weight was changed in place"


def test_views(grouped_attention):
    case = _case()
    odd = [torch.stack((t, t), dim=-1)[..., 0].transpose(1, 2).contiguous().transpose(1, 2) for t in case]
    found = _tried(lambda: grouped_attention(*odd))
    assert found is not None, "arguments may be views of any strides"
    assert _near(found, _right(*case)), "the same numbers with different strides gave a different output"


def test_gradients(grouped_attention):
    case = [t.requires_grad_() for t in _case(new=3)]
    found = grouped_attention(*case)
    assert found.requires_grad, "the output has no grad_fn"
    slopes = torch.autograd.grad(found.sin().sum(), case, allow_unused=True)
    expected = torch.autograd.grad(_right(*case).sin().sum(), case)
    for name, a, b in zip("qkv", slopes, expected, strict=True):
        assert a is not None and _near(a, b), f"the gradient of {name} is wrong"


class _Calls(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.add(getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))


def test_written_by_hand(grouped_attention):
    case = [t.float() for t in _case()]
    with _Calls() as calls:
        grouped_attention(*case)
    ready = sorted(name for name in calls.names if "attention" in name)
    assert not ready, f"PyTorch's own attention was called ({', '.join(ready)}): write it yourself"


def test_grouped_weight(grouped_weight):
    weight = torch.tensor([0.0, 1.0, 10.0, 11.0, 100.0, 101.0, 200.0, 201.0])[:, None] * torch.ones(3)
    found = grouped_weight(weight, 4, 2)
    assert tuple(found.shape) == (4, 3), f"two heads of two rows remain, (4, 3), not {tuple(found.shape)}"
    assert found[:, 0].tolist() == [5, 6, 150, 151], (
        "heads 0 and 1 have rows 0, 1 and 10, 11: their mean is 5, 6; heads 2 and 3 become 150, 151"
    )


def test_grouped_bias(grouped_weight):
    bias = torch.tensor([0.0, 1.0, 10.0, 11.0]).to(torch.bfloat16)
    found = _tried(lambda: grouped_weight(bias, 2, 1))
    assert found is not None and found.tolist() == [5, 6], "a bias, (H·D,), is averaged like the rows of a weight"
    assert found.dtype == torch.bfloat16, "the result has the dtype of the bias"


def test_alike_heads_stay(grouped_weight):
    head = torch.arange(8.0).reshape(2, 4)
    assert grouped_weight(head.repeat(6, 1), 6, 2).equal(head.repeat(2, 1)), (
        "the mean of identical heads is the head itself"
    )
    weight = torch.arange(24.0).reshape(6, 4)
    assert grouped_weight(weight, 3, 3).equal(weight), "with as many heads as before, nothing changes"


def test_hidden_any_groups(grouped_attention, grouped_weight, reference, seed):
    sizes = _draw(seed + 3)
    for case in range(12):
        batch, groups, shared, new, width = torch.randint(1, 5, (5,), generator=sizes).tolist()
        keys = new + case % 3
        q, k, v = _case(batch, groups * shared, groups, new, keys, width, seed + case)
        found = _tried(lambda q=q, k=k, v=v: grouped_attention(q, k, v))
        shape = f"q {tuple(q.shape)}, k {tuple(k.shape)}"
        assert found is not None and _near(found, reference.grouped_attention(q, k, v)), f"wrong output for {shape}"
        weight = _case(1, 1, 1, groups * shared * width, 1, 3, seed + case)[0][0, 0]
        averaged = _tried(lambda w=weight, g=groups, r=shared: grouped_weight(w, g * r, g))
        right = reference.grouped_weight(weight, groups * shared, groups)
        assert averaged is not None and _near(averaged, right), (
            f"grouped_weight is wrong for H = {groups * shared}, G = {groups}, D = {width}"
        )
