import math
import random
from typing import NamedTuple

import torch
from torch import nn
from torch.overrides import TorchFunctionMode


class _Shape(NamedTuple):
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int


_SEVEN = _Shape(32, 4096, 32, 32, 11008, 32_000)
_SEVENTY = _Shape(80, 8192, 64, 8, 28672, 32_000)
_TRAINING = ("full", "lora", "qlora")
_EVERY = (*_TRAINING, "serve16", "serve8", "serve4")


def _same(found, expected, message):
    assert math.isclose(found, expected, rel_tol=1e-9), f"{message}: {expected:,.0f}, not {found:,.0f}"


class _Block(nn.Module):
    """A block built from modules, so that no parameter is counted by hand."""

    def __init__(self, s):
        super().__init__()
        narrow = s.hidden // s.heads * s.kv_heads
        wide = [s.hidden, narrow, narrow, s.hidden]
        self.attention = nn.ModuleList(nn.Linear(s.hidden, n, bias=False) for n in wide)
        self.up = nn.ModuleList(nn.Linear(s.hidden, s.ffn, bias=False) for _ in range(2))
        self.down = nn.Linear(s.ffn, s.hidden, bias=False)
        self.norms = nn.ModuleList(nn.RMSNorm(s.hidden) for _ in range(2))


def _net(s):
    parts = {
        "table": nn.Embedding(s.vocab, s.hidden),
        "blocks": nn.ModuleList(_Block(s) for _ in range(s.layers)),
        "norm": nn.RMSNorm(s.hidden),
        "head": nn.Linear(s.hidden, s.vocab, bias=False),
    }
    return nn.ModuleDict(parts)


def _linear(net):
    return [m for m in net["blocks"].modules() if isinstance(m, nn.Linear)]


def _counted(s):
    """Return both counts, parameter by parameter, for shapes that are too large to be built."""
    narrow = s.hidden // s.heads * s.kv_heads
    inside = [(s.hidden, s.hidden), (narrow, s.hidden), (narrow, s.hidden), (s.hidden, s.hidden)]
    inside += [(s.ffn, s.hidden), (s.ffn, s.hidden), (s.hidden, s.ffn)]
    outside = [(s.hidden,)] * (2 * s.layers + 1) + [(s.vocab, s.hidden)] * 2
    return s.layers * sum(map(math.prod, inside)), sum(map(math.prod, outside))


def test_parameters(parameters):
    found = tuple(parameters(_SEVEN))
    expected = _counted(_SEVEN)
    assert found[0] == expected[0], (
        f"7B has {expected[0]:,} parameters in its blocks' matrices, four of attention and three of the MLP, "
        f"not {found[0]:,}"
    )
    assert found[1] == expected[1], (
        f"7B has {expected[1]:,} other parameters: norms, the table of tokens, and an untied head, not {found[1]:,}"
    )
    assert sum(found) == 6_738_415_616, "Llama 2 7B has 6,738,415,616 parameters"


def test_shared_heads(parameters):
    found, expected = tuple(parameters(_SEVENTY)), _counted(_SEVENTY)
    assert found == expected, (
        "70B has 8 heads of keys and values for 64 query heads, so keys and values are narrower: "
        f"{expected}, not {found}"
    )


class _Watch(TorchFunctionMode):
    """Records the calls of torch functions."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.seen.append(function.__name__)
        return function(*args, **kwargs or {})


def test_nothing_is_built(parameters, state_bytes, token_bytes, gpus_needed):
    with _Watch() as watch:
        parameters(_SEVEN), gpus_needed(_SEVEN, "full", 80e9, 10)
        for method in _EVERY:
            state_bytes(_SEVEN, method), token_bytes(_SEVEN, method, 10)
    assert not watch.seen, f"build no model; torch was called: {', '.join(watch.seen[:3])}"


def test_full_state(state_bytes):
    total = sum(_counted(_SEVEN))
    _same(
        state_bytes(_SEVEN, "full"),
        16 * total,
        "weight and gradient in bf16, master weight and two moments in float32 are 16 bytes for each parameter",
    )


def test_adapters(state_bytes):
    s = _Shape(2, 64, 4, 2, 160, 100)
    plain = 2 * sum(_counted(s))
    each = (2 * (64 + 64) + 2 * (64 + 32) + 3 * (64 + 160)) * 2
    for rank in (1, 8):
        _same(
            state_bytes(s, "lora", rank),
            plain + 16 * rank * each,
            f"rank {rank}: frozen weights of 2 bytes, and 16 bytes for each of {rank * each} parameters in adapters",
        )


def test_four_bits(state_bytes):
    matrices, others = _counted(_SEVENTY)
    expected = matrices * (0.5 + 4 / 64) + 2 * others
    _same(
        state_bytes(_SEVENTY, "serve4"),
        expected,
        "half a byte and a sixteenth for scales in the blocks, two bytes for tables and norms",
    )
    difference = state_bytes(_SEVENTY, "lora") - state_bytes(_SEVENTY, "qlora")
    _same(difference, 2 * matrices - matrices * 9 / 16, "LoRA and QLoRA differ only in the matrices of the blocks, by")


def test_eight_bits(state_bytes):
    s = _Shape(3, 48, 4, 2, 96, 50)
    matrices, others = _counted(s)
    outputs = 3 * (48 + 24 + 24 + 48 + 96 + 96 + 48)
    _same(
        state_bytes(s, "serve8"),
        matrices + 4 * outputs + 2 * others,
        f"a byte for each weight, four for each of {outputs} output rows, two for each of {others} other parameters",
    )


def test_training_tokens(token_bytes):
    for method in _TRAINING:
        _same(
            token_bytes(_SEVEN, method, 1000),
            1000 * (2 * 32 * 4096 + 4 * 32_000 + 4 * 32_000),
            f"{method}: for each token the inputs of 32 blocks in bf16, and two float32 rows of the vocabulary's width",
        )


def test_cache(token_bytes):
    numbers = math.prod((2, 80, 8, 1000, 128))  # k and v, layers, heads, tokens, channels
    _same(
        token_bytes(_SEVENTY, "serve4", 1000),
        2 * numbers,
        "keys and values of 80 layers, 8 heads and 128 channels stay bf16, even if weights have 4 bits",
    )


def test_gpus(gpus_needed):
    expected = {"full": 17, "lora": 3, "qlora": 1, "serve16": 2, "serve8": 1, "serve4": 1}
    for method, number in expected.items():
        found = gpus_needed(_SEVENTY, method, 80e9, 4096)
        assert found == number, f"70B, {method}, with 4096 tokens on cards of 80 GB: {number}, not {found}"
        assert type(found) is int, "a number of GPUs is an integer"
    found = gpus_needed(_SEVENTY, "serve4", 24e9, 4096)
    assert found == 2, f"70B in 4 bits takes more than 24 GB, so it needs 2 such cards, not {found}"


def test_tokens_of_its_own(gpus_needed, state_bytes, token_bytes):
    s = _SEVEN
    tokens = int(0.5 * 80e9 / (token_bytes(s, "full", 1000) / 1000))  # half a card
    expected = math.ceil(state_bytes(s, "full") / (0.9 * 80e9 - token_bytes(s, "full", tokens)))
    found = gpus_needed(s, "full", 80e9, tokens)
    assert found == expected, (
        f"in training, each GPU has its own {tokens} tokens, whose bytes are not divided: {expected} GPUs, not {found}"
    )


def test_rounds_up(gpus_needed, state_bytes, token_bytes):
    whole = state_bytes(_SEVEN, "serve16") + token_bytes(_SEVEN, "serve16", 10)
    for parts in (1, 2, 5):
        exact = gpus_needed(_SEVEN, "serve16", whole / parts * (1 + 1e-6), 10, room=1.0)
        assert exact == parts, f"{parts} GPUs hold it with very little to spare, so {parts} are needed, not {exact}"
        above = gpus_needed(_SEVEN, "serve16", whole / parts * (1 - 1e-6), 10, room=1.0)
        assert above == parts + 1, f"{parts} GPUs are a few bytes too small, so {parts + 1} are needed, not {above}"
    exact = gpus_needed(_SEVEN, "serve16", whole, 10, room=1.0)
    assert exact == 1, f"one GPU holds it to the last byte, so 1 is needed, not {exact}"
    above = gpus_needed(_SEVEN, "serve16", whole - 1, 10, room=1.0)
    assert above == 2, f"one GPU is a single byte too small, so 2 are needed, not {above}"


def test_no_number(gpus_needed, token_bytes):
    tokens = 100_000
    memory = token_bytes(_SEVEN, "qlora", tokens)  # of which nine tenths may be used, or all
    for room in (0.9, 1.0):
        try:
            found = gpus_needed(_SEVEN, "qlora", memory, tokens, room)
        except ValueError:
            continue
        except ZeroDivisionError:
            raise AssertionError("the tokens fill every GPU to the last byte: ValueError, no division by 0") from None
        raise AssertionError(f"the tokens alone fill every GPU, so no number is enough: ValueError, not {found}")


def test_hidden_bytes_of_a_network(state_bytes, token_bytes):
    s = _Shape(2, 32, 4, 2, 48, 40)
    net = _net(s).bfloat16()
    assert sum(_counted(s)) == sum(p.numel() for p in net.parameters())
    masters = [p.detach().float() for p in net.parameters()]
    moments = [torch.zeros_like(master) for master in masters for _ in range(2)]  # what AdamW keeps
    for p in net.parameters():
        p.grad = torch.ones_like(p)
    held = [*net.parameters(), *(p.grad for p in net.parameters()), *masters, *moments]
    _same(
        state_bytes(s, "full"), sum(t.nbytes for t in held), "weights, gradients, masters and moments of a network hold"
    )
    _same(state_bytes(s, "serve16"), sum(p.nbytes for p in net.parameters()), "a network in bf16 takes")
    rows = [m.weight.shape[0] for m in _linear(net)]
    quantised = sum(m.weight.numel() for m in _linear(net)) + 4 * sum(rows)
    plain = sum(p.nbytes for p in net.parameters()) - sum(m.weight.nbytes for m in _linear(net))
    _same(state_bytes(s, "serve8"), quantised + plain, "with matrices of the blocks in int8, it takes")
    logits = torch.randn(7, s.vocab, requires_grad=True)
    inputs = torch.randn(s.layers, 7, s.hidden, dtype=torch.bfloat16)
    saved = inputs.nbytes + logits.nbytes + logits.log_softmax(-1).nbytes
    _same(token_bytes(s, "lora", 7), saved, "seven tokens leave")


def test_hidden_any_shape(parameters, state_bytes, token_bytes, gpus_needed, reference, seed):
    draw = random.Random(seed)
    for _ in range(60):
        shared, group = draw.choice([1, 2, 8]), draw.choice([1, 2, 4])
        heads = shared * group
        s = _Shape(draw.randint(1, 90), heads * draw.choice([32, 64, 128]), heads, shared, 64 * draw.randint(1, 400),
                   draw.randint(100, 200_000))  # fmt: skip
        assert tuple(parameters(s)) == tuple(reference.parameters(s)), f"parameters of {tuple(s)}"
        tokens, memory = draw.randint(1, 100_000), 10 ** draw.uniform(9.5, 11.5)
        room = draw.choice([0.5, 0.9, 1.0])
        for method in _EVERY:
            told = f"{method}, {tuple(s)}"
            rank = draw.choice([4, 16, 64])
            _same(state_bytes(s, method, rank), reference.state_bytes(s, method, rank), f"state, rank {rank}, {told}")
            _same(token_bytes(s, method, tokens), reference.token_bytes(s, method, tokens), f"{tokens} tokens, {told}")
            try:
                wanted = reference.gpus_needed(s, method, memory, tokens, room)
            except ValueError:
                wanted = None
            try:
                found = gpus_needed(s, method, memory, tokens, room)
            except ValueError:
                found = None
            assert found == wanted, (
                f"GPUs of {memory:.3g} bytes, {room} of them used, {tokens} tokens, {told}: {wanted}, not {found}"
            )
