import random

import torch
from torch import nn

from torchbook.practice.ranks import Ranks

RANKS = Ranks(world=2)

# The model of the exercise, for this process and for the ranks.
_MODEL = """
class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, vocabulary, width, heads, layers):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))
"""

_COMMON = (
    _MODEL
    + """
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor


def local(t):
    return t.to_local() if isinstance(t, DTensor) else t


def whole(t):
    return t.full_tensor() if isinstance(t, DTensor) else t


def sharded(answer, size):
    torch.manual_seed(0)
    model = Transformer(*size)
    answer.shard(model, init_device_mesh("cpu", (2,)))
    return model


def step(answer, size):
    '''Measures one step of a sharded model, and how far its gradients are from those of the whole batch.'''
    torch.manual_seed(0)
    twin = Transformer(*size)
    x = torch.randint(size[0], (4, 6))
    expected = torch.autograd.grad(loss_of(twin, x), list(twin.parameters()))
    model = sharded(answer, size)
    left = [name for name, p in model.named_parameters() if not isinstance(p, DTensor)]
    peaks = []

    def look(*_):
        blocks = [sum(p.nbytes for p in b.parameters() if not isinstance(p, DTensor)) for b in model.blocks]
        all_of_them = sum(p.nbytes for p in model.parameters() if not isinstance(p, DTensor))
        peaks.append((all_of_them, sum(size > 0 for size in blocks)))

    handles = [block.up.register_forward_pre_hook(look) for block in model.blocks]
    optimizer = torch.optim.AdamW(model.parameters())
    loss_of(model, x[2 * rank : 2 * rank + 2]).backward()
    for handle in handles:
        handle.remove()
    worst = max((whole(p.grad) - e).abs().max().item() for p, e in zip(model.parameters(), expected))
    gradients = sum(local(p.grad).nbytes for p in model.parameters())
    optimizer.step()
    kept = [local(t) for of in optimizer.state.values() for t in of.values() if isinstance(t, torch.Tensor)]
    measured = {
        "parameters": sum(local(p).nbytes for p in model.parameters()),
        "gradients": gradients,
        "state": sum(t.nbytes for t in kept),
    }
    return {
        "left": left,
        "measured": measured,
        "gathered": max(size for size, _ in peaks),
        "blocks": max(count for _, count in peaks),
        "worst": worst,
    }


def loss_of(model, x):
    return nn.functional.cross_entropy(model(x).flatten(0, 1), x.roll(-1, 1).flatten())
"""
)

_SIZE = (11, 10, 2, 3)
_CASES = (
    _COMMON
    + f"""
class As_it_should_be:
    @staticmethod
    def shard(model, mesh):
        for block in model.blocks:
            fully_shard(block, mesh=mesh)
        fully_shard(model, mesh=mesh)


def cases(answer):
    def state():
        torch.manual_seed(0)
        twin, model = Transformer(*{_SIZE}), sharded(As_it_should_be, {_SIZE})
        found = answer.full_state(model)
        if rank:
            return ""
        kinds = {{type(t).__name__ for t in found.values()}} - {{"Tensor"}}
        if kinds:
            return f"rank 0 gets a {{kinds.pop()}} instead of ordinary tensors"
        expected = twin.state_dict()
        if list(found) != list(expected):
            return f"the keys are {{', '.join(found) or 'none'}}"
        for name, t in found.items():
            if t.shape != expected[name].shape:
                return f"{{name}} has the shape {{tuple(t.shape)}}, not {{tuple(expected[name].shape)}}"
            if not t.equal(expected[name]):
                return f"{{name}} has the wrong values"
        return ""

    yield "step", lambda: step(answer, {_SIZE})
    yield "measured", lambda: step(As_it_should_be, {_SIZE})["measured"]
    yield "state", state
"""
)


def _transformer(*size):
    names = {"nn": nn}
    exec(_MODEL, names)
    with torch.device("meta"):
        return names["Transformer"](*size)


def _held(found):
    missing = [key for key in ("parameters", "gradients", "state", "gathered") if key not in found]
    assert not missing, f"the dictionary lacks {', '.join(missing)}"
    return found


def test_everything_is_sharded(shard, source):
    left = RANKS.values(_CASES, source, "step")[0]["left"]
    assert not left, f"every rank still holds the whole of {', '.join(left)}"


def test_one_block_at_a_time(shard, source):
    blocks = RANKS.values(_CASES, source, "step")[0]["blocks"]
    assert blocks == 1, (
        f"in the forward pass, {blocks} of 3 blocks are whole at one time: a unit is gathered as a whole, so make each "
        "block a unit, and let its parameters be freed after its forward pass"
    )


def test_gradients(shard, source):
    worst = max(one["worst"] for one in RANKS.values(_CASES, source, "step"))
    assert worst < 1e-5, (
        f"the gradients of two ranks with half of the batch each differ by {worst:.0e} from those of the whole batch"
    )


def test_memory(memory, source):
    predicted = [_held(memory(_transformer(*_SIZE), 2, rank, True)) for rank in range(2)]
    for rank, one in enumerate(RANKS.values(_CASES, source, "measured")):
        for key, expected in one.items():
            found = predicted[rank][key]
            assert found == expected, f"rank {rank} of 2 holds {expected} bytes of {key}, but you predict {found}"


def test_gathered(memory):
    own, block = 4 * (2 * 11 * 10 + 20), 4 * (12 * 10**2 + 13 * 10)
    for world in (2, 4):
        found = _held(memory(_transformer(*_SIZE), world, 0, True))["gathered"]
        assert found == own + block, (
            f"one block, {block} bytes, and what is outside the blocks, {own}, are whole at one time, not {found}"
        )


def test_memory_under_ddp(memory):
    model = _transformer(*_SIZE)
    size = sum(p.nbytes for p in model.parameters())
    expected = {"parameters": size, "gradients": size, "state": 2 * size + 4 * len(list(model.parameters()))}
    for world in (1, 2, 8):
        found = _held(memory(model, world, world - 1, False))
        for key, value in (expected | {"gathered": 0}).items():
            assert found[key] == value, (
                f"under DDP with {world} ranks, each rank holds {value} bytes of {key}, not {found[key]}"
            )


def test_one_billion(fewest_ranks):
    model = _transformer(32_000, 2048, 16, 20)
    found = fewest_ranks(model, 16_000_000_000, False)
    assert found is None, (
        f"under DDP, 1.1 billion parameters need 18 GB on every rank, so {found} ranks of 16 GB do not help"
    )
    for budget, expected in ((20_000_000_000, 1), (16_000_000_000, 2), (4_000_000_000, 6), (1_000_000_000, 67)):
        found = fewest_ranks(model, budget, True)
        assert found == expected, (
            f"1.1 billion parameters, sharded, need {expected} ranks of {budget // 10**9} GB, not {found}: with more "
            "ranks, shards become smaller, but what is gathered does not"
        )
    found = fewest_ranks(model, 700_000_000, True)
    assert found is None, f"what is gathered takes more than 0.7 GB, with {found} ranks too"


def test_limits(fewest_ranks, memory):
    def held(model, world):
        return sum(_held(memory(model, world, 0, True)).values())

    model = _transformer(4096, 4, 2, 1)
    found = fewest_ranks(model, held(model, 1024), True)
    assert found == 1024, (
        f"a budget that is used to the last byte is enough, and 1024 ranks are allowed: 1024, not {found}"
    )
    model = _transformer(4100, 4, 2, 1)
    found = fewest_ranks(model, held(model, 1025), True)
    assert found is None, f"1025 ranks would be needed, but only numbers up to 1024 count: None, not {found}"


def test_full_state(full_state, source):
    why = RANKS.values(_CASES, source, "state")[0]
    assert not why, f"the full state must be that of a model that was never sharded: {why}"


def test_hidden_memory(memory, reference, seed):
    draw = random.Random(seed)
    for _ in range(6):
        heads = draw.randint(1, 3)
        size = draw.randint(3, 30), heads * draw.randint(2, 9), heads, draw.randint(1, 4)
        model, world, sharded = _transformer(*size), draw.randint(1, 9), draw.random() < 0.8
        model.blocks[-1].extra = nn.Linear(draw.randint(1, 9), 3, device="meta")
        for one in range(world):
            found, expected = memory(model, world, one, sharded), reference.memory(model, world, one, sharded)
            for key, value in expected.items():
                assert found[key] == value, (
                    f"with the sizes {size}, rank {one} of {world} holds {value} bytes of {key}, not {found[key]}"
                )


def test_hidden_sharding(shard, source, seed):
    draw = random.Random(seed)
    heads = draw.randint(1, 3)
    size = draw.randint(5, 30), heads * draw.randint(3, 8), heads, draw.randint(2, 5)
    cases = _COMMON + f"\ndef cases(answer):\n    yield 'step', lambda: step(answer, {size})\n"
    for rank, one in enumerate(RANKS.values(cases, source, "step")):
        assert one["blocks"] == 1, f"with the sizes {size}, {one['blocks']} blocks are whole at one time"
        assert not one["left"], f"with the sizes {size}, rank {rank} holds the whole of {', '.join(one['left'])}"
        assert one["worst"] < 1e-5, f"with the sizes {size}, gradients differ by {one['worst']:.0e}"
