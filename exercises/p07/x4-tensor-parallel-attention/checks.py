import random

from torchbook.practice.ranks import Ranks

RANKS = Ranks(world=2)

_COMMON = """
import gc, weakref

from torch.distributed.tensor.debug import CommDebugMode


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))


def far(a, b):
    if a is None or a.shape != b.shape:
        return f"it has the shape {None if a is None else tuple(a.shape)}, not {tuple(b.shape)}"
    worst = (a - b).abs().max().item()
    return f"the largest difference is {worst:.1g}" if not worst < 1e-5 else ""


def compared(answer, width, heads, batch, length, bias, dtype=torch.float32):
    '''Compares a forward and a backward pass with those of the full layer, and counts what was sent.'''
    torch.manual_seed(width + heads)
    full = Attention(width, heads).to(dtype)
    if not bias:
        nn.init.zeros_(full.out.bias)
    x, towards = (torch.randn(batch, length, width, dtype=dtype) for _ in range(2))
    wanted_x = x.clone().requires_grad_()
    wanted = full(wanted_x)
    (wanted * towards).sum().backward()
    gradients = {name: p.grad for name, p in full.named_parameters()}
    full.zero_grad()

    mine = answer.ParallelAttention(full)
    x.requires_grad_()
    with CommDebugMode() as forward:
        found = mine(x)
    found_loss = (found * towards).sum()
    with CommDebugMode() as backward:
        found_loss.backward()

    n, r = dist.get_world_size(), dist.get_rank()
    own = slice(r * heads // n, (r + 1) * heads // n)
    columns = slice(r * width // n, (r + 1) * width // n)
    expected = {
        "qkv.weight": gradients["qkv.weight"].unflatten(0, (3, heads, -1))[:, own].flatten(0, 2),
        "qkv.bias": gradients["qkv.bias"].unflatten(0, (3, heads, -1))[:, own].flatten(),
        "out.weight": gradients["out.weight"][:, columns],
        "out.bias": gradients["out.bias"],
    }
    held = dict(mine.named_parameters())
    far_weights = {name: far(held[name].grad, g) for name, g in expected.items() if name in held}
    return {
        "output": far(found, wanted),
        "input": far(x.grad, wanted_x.grad),
        "weights": [f"{name}: {why}" for name, why in far_weights.items() if why],
        "held": {name: list(p.shape) for name, p in held.items()},
        "wanted": {name: list(g.shape) for name, g in expected.items()},
        "bytes": sum({p.untyped_storage().data_ptr(): p.untyped_storage().nbytes() for p in held.values()}.values()),
        "wanted_bytes": sum(4 * g.numel() for g in expected.values()),
        "sent": [
            {str(name).rpartition(".")[2].rstrip("_"): count for name, count in mode.get_comm_counts().items() if count}
            for mode in (forward, backward)
        ],
    }
"""

_CASES = (
    _COMMON
    + """
def cases(answer):
    def refused():
        full = Attention(12, 3)
        try:
            answer.ParallelAttention(full)
        except NotImplementedError:
            raise
        except Exception as error:
            return type(error).__name__
        return "nothing"

    def kept():
        full = Attention(12, 4)
        mine, weights = answer.ParallelAttention(full), [weakref.ref(full.qkv.weight), weakref.ref(full.out.weight)]
        del full
        gc.collect()
        return any(weight() is not None for weight in weights)

    yield "layer", lambda: compared(answer, 12, 4, 2, 5, bias=False)
    yield "bias", lambda: compared(answer, 12, 4, 2, 5, bias=True)
    yield "double", lambda: compared(answer, 12, 4, 2, 5, bias=True, dtype=torch.float64)
    yield "kept", kept
    yield "refused", refused
"""
)


def _layer(source):
    return enumerate(RANKS.values(_CASES, source, "layer"))


def test_output(ParallelAttention, source):
    for rank, one in _layer(source):
        assert not one["output"], (
            f"rank {rank} does not return the output of the full layer, even without a bias: {one['output']}; which "
            "rows of qkv.weight are the queries, keys and values of its heads?"
        )


def test_bias_once(ParallelAttention, source):
    plain = [one["output"] for _, one in _layer(source)]
    for rank, one in enumerate(RANKS.values(_CASES, source, "bias")):
        where = "only if `out` has a bias" if not plain[rank] else "if `out` has a bias, too"
        assert not one["output"], (
            f"{where}, rank {rank} does not return the output of the full layer: {one['output']}; add the bias "
            "once, not on each rank before the sum"
        )


def test_share(ParallelAttention, source):
    for rank, one in _layer(source):
        extra = [name for name in one["held"] if name not in one["wanted"]]
        assert not extra, f"rank {rank} keeps more than its part: {', '.join(extra)}"
        for name, shape in one["wanted"].items():
            found = one["held"].get(name)
            assert found == shape, f"on each of two ranks {name} has the shape {shape}, not {found}"
        assert one["bytes"] == one["wanted_bytes"], (
            f"the parameters of a rank are {one['wanted_bytes']} bytes, and their storages {one['bytes']}: a slice "
            "keeps the storage of the full weight alive"
        )
    for rank, kept in enumerate(RANKS.values(_CASES, source, "kept")):
        assert not kept, (
            f"rank {rank} keeps the full layer in addition to its part: its weights stay in memory after `del full`"
        )


def test_dtype(ParallelAttention, source):
    try:
        ranks = RANKS.values(_CASES, source, "double")
    except AssertionError as error:
        raise AssertionError(f"for a layer in float64, the parts must be in float64 too: {error}") from None
    for rank, one in enumerate(ranks):
        wrong = [one["output"], one["input"], *one["weights"]]
        assert not any(wrong), (
            f"for a layer in float64, rank {rank} computes something different: {next(filter(None, wrong))}"
        )


def test_one_all_reduce(ParallelAttention, source):
    for _, one in _layer(source):
        for when, sent in zip(("forward", "backward"), one["sent"], strict=True):
            reductions = sum(count for name, count in sent.items() if name in ("allreduce", "all_reduce"))
            listed = ", ".join(f"{count} {name}" for name, count in sent.items()) or "none"
            assert reductions == sum(sent.values()) == 1, (
                f"a {when} pass makes one collective call, an all-reduce, but yours makes: {listed}"
            )


def test_input_gradient(ParallelAttention, source):
    for rank, one in _layer(source):
        assert not one["input"], (
            f"on rank {rank}, the gradient of x is not that of the full layer: {one['input']}; each rank knows the "
            "part of its own heads only, until the parts are added up in the backward pass"
        )


def test_weight_gradients(ParallelAttention, source):
    for rank, one in _layer(source):
        assert not one["weights"], (
            f"on rank {rank}, gradients are not those of the full layer: {'; '.join(one['weights'])}. The ranks "
            "compute the same loss, so a gradient that is also summed after the layer counts once for each rank"
        )


def test_heads(ParallelAttention, source):
    for rank, found in enumerate(RANKS.values(_CASES, source, "refused")):
        assert found == "ValueError", (
            f"3 heads cannot be divided among 2 ranks, although the width of 12 can: raise a ValueError, not {found}, "
            f"on rank {rank}"
        )


def test_hidden_sizes(ParallelAttention, source, seed):
    draw = random.Random(seed)
    cases = _COMMON + "\ndef cases(answer):\n"
    sizes = []
    for number in range(4):
        world = 1 if number == 3 else 2
        heads = draw.choice([1, 3]) if world == 1 else 2 * draw.randint(1, 3)
        sizes.append((heads * draw.randint(2, 6), heads, draw.randint(1, 3), draw.randint(1, 7)))
        arguments = ", ".join(map(str, sizes[-1]))
        cases += f"    yield '{number}', lambda: compared(answer, {arguments}, bias=True), {world}\n"
    for number, size in enumerate(sizes):
        for one in RANKS.values(cases, source, str(number)):
            width, heads, *_ = size
            what = f"with {heads} heads and width {width}{', on a single rank' if number == 3 else ''}"
            assert not one["output"], f"{what}, the output is wrong: {one['output']}"
            assert not one["input"], f"{what}, the gradient of x is wrong: {one['input']}"
            assert not one["weights"], f"{what}, gradients are wrong: {'; '.join(one['weights'])}"
