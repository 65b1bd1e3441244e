import torch
from torch import nn
from torch.autograd import grad


def _blocks(n, width=8, dropout=0.0, seed=0):
    torch.manual_seed(seed)
    return [nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Dropout(dropout)) for _ in range(n)]


def _plain(blocks, x):
    for block in blocks:
        x = block(x)
    return x


def test_counts_bytes(saved_bytes):
    x = torch.ones(100, requires_grad=True)
    assert saved_bytes(lambda: (x * 2).exp()) == 400, "exp keeps its result: 100 float32 numbers are 400 bytes"


def test_counts_once(saved_bytes):
    x = torch.ones(100, requires_grad=True)

    def forward():
        y = x.exp()
        return y * y + y.view(10, 10).t().reshape(100) * y

    found = saved_bytes(forward)
    assert found <= 800, (
        "y is saved by several nodes, also through a view; its storage counts once (and one copy of it)"
    )
    assert found == 800, "y, and the copy that the transpose made, are kept"


def test_parameters_are_free(saved_bytes):
    w = nn.Parameter(torch.ones(10, 10))
    found = saved_bytes(lambda: torch.ones(5, 10, requires_grad=True) @ w.t() * torch.ones(5, 10))
    assert found == 200, "parameters, also as a transpose of one, are there anyway and do not count"


def test_same_gradients(in_segments):
    blocks, x = _blocks(5), torch.randn(4, 8)
    weights = [p for block in blocks for p in block.parameters()]
    expected = grad(_plain(blocks, x).sum(), weights)
    out = in_segments(blocks, x, 2)
    assert out.shape == (4, 8), "all blocks are applied, one after another"
    assert out.equal(_plain(blocks, x)), "the result must be that of an ordinary run"
    try:
        found = grad(out.sum(), weights)
    except RuntimeError:
        raise AssertionError("no gradient reaches the parameters: which implementation of checkpoint is it?") from None
    assert all(a.equal(b) for a, b in zip(found, expected, strict=True)), (
        "the gradients must be those of an ordinary run"
    )


def test_dropout(in_segments):
    blocks, x = _blocks(4, dropout=0.5), torch.randn(4, 8)
    weights = [p for block in blocks for p in block.parameters()]
    torch.manual_seed(1)
    expected = grad(_plain(blocks, x).sum(), weights)
    torch.manual_seed(1)
    found = grad(in_segments(blocks, x, 2).sum(), weights)
    right = all(a.equal(b) for a, b in zip(found, expected, strict=True))
    assert right, "the second forward must drop the same elements: keep the state of the generator"


def test_saves_less(in_segments):
    blocks, x = _blocks(8, 64), torch.randn(32, 64)
    inside = sum(size for size, _ in _kept(lambda: in_segments(blocks, x, 4)).values())
    assert inside <= 4 * 32 * 64 * 4, "only the input of each segment is kept: 4 tensors of shape (32, 64)"


def _kept(forward):
    storages = {}

    def pack(t):
        if not isinstance(t if t._base is None else t._base, nn.Parameter):
            storages[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes(), t
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        forward()
    return storages


def test_uneven(in_segments):
    lengths = []

    class Counted(nn.Module):
        def forward(self, x):
            lengths.append(x.shape[0])
            return x

    blocks, x = [Counted() for _ in range(7)], torch.ones(2, 8, requires_grad=True)
    in_segments(blocks, x, 3)
    assert len(lengths) == 7, "7 blocks in 3 segments: none may be lost, none may run twice in the forward"


def test_lengths_differ_by_one(in_segments):
    for n, segments in ((8, 3), (7, 4), (11, 5)):
        blocks, order = _blocks(n), []
        handles = [b.register_forward_pre_hook(lambda *_, i=i, to=order: to.append(i)) for i, b in enumerate(blocks)]
        out = in_segments(blocks, torch.randn(2, 8), segments)
        order.clear()
        out.sum().backward()  # each segment runs again, from its first block to its last
        for handle in handles:
            handle.remove()
        starts = [k for k, i in enumerate(order) if k == 0 or i != order[k - 1] + 1]
        lengths = [end - start for start, end in zip(starts, [*starts[1:], len(order)], strict=True)][::-1]
        assert len(lengths) == segments and max(lengths) - min(lengths) <= 1, (
            f"{n} blocks in {segments} segments: lengths differ by one at most, and these are {lengths}"
        )


def test_forwards(forwards):
    blocks, x = _blocks(6), torch.randn(2, 8)
    assert list(forwards(blocks, x, 3)) == [2] * 6, (
        "with checkpoints every block runs in the forward and again in backward"
    )


def test_forwards_leaves_no_hooks(forwards):
    blocks, x = _blocks(2), torch.randn(2, 8)
    first, second = list(forwards(blocks, x, 1)), list(forwards(blocks, x, 1))
    assert first == second == [2, 2], "the counters of an earlier call are still attached"
    left = [i for i, b in enumerate(blocks) if b._forward_pre_hooks or b._forward_hooks or b._backward_hooks]
    assert not left, f"hooks are still attached to the blocks {left}: remove every one of them before you return"


def test_hidden_random(saved_bytes, in_segments, forwards, reference, seed):
    draw = torch.Generator().manual_seed(seed)
    for case in range(6):
        n, width = 3 + 2 * case, 4 + int(torch.randint(20, (), generator=draw))
        blocks, x = _blocks(n, width, seed=seed + case), torch.randn(3, width, generator=draw)
        for segments in (1, 2, n - 1, n):
            expected = reference.saved_bytes(lambda b=blocks, x=x, s=segments: reference.in_segments(b, x, s))
            found = saved_bytes(lambda b=blocks, x=x, s=segments: in_segments(b, x, s))
            assert found == expected, "another number of bytes is kept, for other blocks and segments"
            assert in_segments(blocks, x, segments).equal(_plain(blocks, x)), "a result differs from an ordinary run"
        assert list(forwards(blocks, x, 2)) == reference.forwards(blocks, x, 2), "the number of forwards is wrong"
