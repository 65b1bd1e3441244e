import torch
from torch.utils._python_dispatch import TorchDispatchMode

from torchbook.llm import GPT, Config


def _model(seed=0, **parts):
    torch.manual_seed(seed)
    sizes = {"vocab_size": 23, "context": 64, "layers": 3, "heads": 4, "kv_heads": 2, "width": 32}
    net = GPT(Config(**{**sizes, **parts})).eval()
    with torch.no_grad():
        for weight in net.parameters():
            weight.mul_(4)  # logits that differ, or every answer is a tie
    return net


def _rows(config, count, seed=0):
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(2, 1, config.key_heads, count, config.head_dim, generator=draw)


def _without(net, tokens, new):
    for _ in range(new):
        with torch.no_grad():
            tokens = torch.cat((tokens, net(tokens)[:, -1:].argmax(-1)), 1)
    return tokens


def _ran(net, work):
    lengths = []
    handle = net.blocks[0].register_forward_pre_hook(lambda block, given: lengths.append(given[0].shape[1]))
    try:
        return work(), lengths
    finally:
        handle.remove()


def _filled(made, config, parts):
    """Return a cache after writes of the given numbers of positions, and everything that was written."""
    every = _rows(config, sum(parts))
    at = 0
    for part in parts:
        for layer in range(config.layers):
            made.update(layer, *(layer + every[:, :, :, at : at + part]))
        at += part
    return made, every


def test_gives_back_everything(KVCache):
    config = _model().config
    made, every = _filled(KVCache(config, 10), config, (4, 1))
    last = _rows(config, 2, seed=1)
    for layer in range(config.layers):
        keys, values = made.update(layer, *(layer + last))
        assert keys.shape == values.shape == (1, 2, 7, 8), (
            "update returns what has been written so far, not all of the reserved memory"
        )
        expected = layer + torch.cat((every, last), dim=3)
        assert keys.equal(expected[0]) and values.equal(expected[1]), (
            "each layer has its own keys and values, in the order in which they came"
        )


def test_length_is_of_all_layers(KVCache):
    config = _model().config
    made = KVCache(config, 10)
    seen = [made.length]
    for layer in range(config.layers):
        made.update(layer, *_rows(config, 3))
        seen.append(made.length)
    assert seen == [0, 0, 0, 3], f"the length grows by 3 once, after the last layer, but it went {seen}"


def test_memory_is_reserved_once(KVCache):
    config = _model().config
    made = KVCache(config, 10)
    given = [[made.update(layer, *_rows(config, count)) for layer in range(config.layers)] for count in (4, 1, 1)]
    for layer in range(config.layers):
        for what, at in (("keys", 0), ("values", 1)):
            places = {step[layer][at].untyped_storage().data_ptr() for step in given}
            assert len(places) == 1, (
                f"the {what} of layer {layer} came back in new memory: update returns views of the memory reserved in "
                "__init__, not copies"
            )


class _Largest(TorchDispatchMode):
    """Records the largest new storage that an operation makes, in elements."""

    def __init__(self):
        super().__init__()
        self.most = 0

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # saves the seconds that an import of torch's compiler takes

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **kwargs or {})
        known = {t.untyped_storage().data_ptr() for t in args if isinstance(t, torch.Tensor)}
        for t in out if isinstance(out, tuple | list) else [out]:
            if isinstance(t, torch.Tensor) and t.untyped_storage().data_ptr() not in known:
                self.most = max(self.most, t.untyped_storage().nbytes() // t.element_size())
        return out


def test_memory_is_there_from_the_start(KVCache):
    config = _model().config
    made, rows = KVCache(config, 1000), _rows(config, 1)
    with _Largest() as largest:
        for layer in range(config.layers):
            made.update(layer, *rows)
    assert largest.most < 1000, (
        f"the first update made a tensor of {largest.most:,} elements: reserve the memory in __init__"
    )


def test_bytes(KVCache):
    config = _model().config
    expected = 2 * 3 * 2 * 8 * 10 * 4
    assert KVCache(config, 10).nbytes == expected, (
        "two tensors, 3 layers, 2 heads of keys (not the 4 of queries), 8 channels, 10 positions, 4 bytes each"
    )


def test_refuses(KVCache):
    config = _model().config
    made, _ = _filled(KVCache(config, 5), config, (4,))
    for what, work in (
        ("2 more positions with room for 1", lambda: made.update(0, *_rows(config, 2))),
        ("a rewind to 6 of 4 positions", lambda: made.rewind(6)),
        ("a rewind to -1", lambda: made.rewind(-1)),
    ):
        try:
            work()
        except ValueError:
            assert made.length == 4, f"{what} raised ValueError, but changed the cache all the same"
            continue
        except Exception as error:
            raise AssertionError(f"{what} must raise ValueError, not {type(error).__name__}") from None
        raise AssertionError(f"{what} must raise ValueError")
    try:
        made.update(0, *_rows(config, 1))
    except ValueError:
        raise AssertionError("if there is room for 1 position, 1 more must be accepted") from None


def test_rewind(KVCache):
    config = _model().config
    made, every = _filled(KVCache(config, 8), config, (6,))
    made.rewind(2)
    assert made.length == 2, "after rewind(2), two positions are left"
    fresh = _rows(config, 1, seed=2)
    keys, _ = made.update(0, *fresh)
    assert keys.equal(torch.cat((every[0, :, :, :2], fresh[0]), 2)), "new positions come after the two that were kept"


def test_equal_tokens(KVCache, generate):
    for parts in ({}, {"positions": "rotary", "norm": "rms", "mlp": "swiglu", "bias": False}):
        net = _model(**parts)
        tokens = torch.randint(23, (1, 9), generator=torch.Generator().manual_seed(3))
        found = generate(net, tokens, 12, KVCache(net.config, 40))
        assert found.shape == (1, 21), "return the prompt and 12 new tokens"
        assert found.equal(_without(net, tokens, 12)), "the tokens differ from those without a cache"


def test_runs_each_position_once(KVCache, generate):
    net = _model()
    tokens = torch.arange(9)[None]
    _, lengths = _ran(net, lambda: generate(net, tokens, 5, KVCache(net.config, 40)))
    assert lengths == [9, 1, 1, 1, 1], (
        f"run the prompt at once, then one token at a time, and the last token not at all; your runs had {lengths}"
    )


def test_continues(KVCache, generate):
    net = _model()
    made, tokens = KVCache(net.config, 40), torch.arange(9)[None]
    first = generate(net, tokens, 4, made)
    longer = torch.cat((first, torch.tensor([[1, 2]])), 1)
    found, lengths = _ran(net, lambda: generate(net, longer, 2, made))
    assert found.equal(_without(net, longer, 2)), "if the cache holds the beginning of the ids, continue from there"
    assert lengths == [3, 1], f"run only what the cache does not hold: 3 positions, then 1; your runs had {lengths}"


def test_hidden_random(KVCache, generate, seed):
    draw = torch.Generator().manual_seed(seed)
    for case in range(5):
        kv, layers, size = (int(torch.randint(*span, (), generator=draw)) for span in ((0, 3), (1, 4), (2, 12)))
        net = _model(seed + case, layers=layers, kv_heads=2**kv, positions="rotary" if case % 2 else "learned")
        tokens = torch.randint(23, (1, size), generator=draw)
        made = KVCache(net.config, 50)
        expected = _without(net, tokens, 8)
        assert generate(net, tokens, 8, made).equal(expected), (
            "with different sizes, the tokens differ from those without a cache"
        )
        assert generate(net, tokens, 8, made).equal(expected), (
            "on a second request, with a full cache, the answer is different"
        )
        assert generate(net, expected[:, :-1], 1, made).equal(expected), (
            "if the cache is ahead of the ids, it must go back to their last token"
        )


def test_hidden_memory(KVCache):
    config = _model(layers=2, kv_heads=None).config
    made = KVCache(config, 4096)
    assert made.nbytes == 2 * 2 * 4 * 8 * 4096 * 4, "the size is wrong if every query head has its own keys"
    before, _ = made.update(0, *_rows(config, 1))
    made.update(1, *_rows(config, 1))
    made.rewind(0)
    after, _ = made.update(0, *_rows(config, 3))
    assert before.data_ptr() == after.data_ptr(), "going back must not move or copy the reserved memory"
