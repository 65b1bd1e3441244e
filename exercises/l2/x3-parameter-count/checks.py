import torch
from torch.overrides import TorchFunctionMode

from torchbook import llm


def _built(config):
    return sum(p.numel() for p in llm.GPT(config).parameters())


def test_one_block(gpt):
    found = gpt(2, 768, 100, 10) - gpt(1, 768, 100, 10)
    assert found == 7_087_872, f"one more block of width 768 adds 7,087,872 parameters, not {found:,}"


def test_gpt2(gpt):
    found = gpt(12, 768, 50257, 1024)
    assert found != 163_037_184, "the head is tied: it shares the token embedding's matrix and adds nothing"
    assert found == 124_439_808, f"GPT-2 has 124,439,808 parameters, not {found:,}"


def test_gpt3(gpt):
    found = gpt(96, 12288, 50257, 2048)
    assert found == 174_604_259_328 or abs(found - 174.6e9) > 1e9, (
        "the blocks are right, but what surrounds them is not"
    )
    assert abs(found - 174.6e9) < 0.1e9, f"GPT-3 has 174.6 billion parameters, not {found / 1e9:.1f}"


def test_head_of_its_own(gpt):
    found = gpt(1, 8, 100, 10, tied=False) - gpt(1, 8, 100, 10)
    assert found == 800, "an untied head is one more matrix of vocabulary times width, without a bias"


def test_llama2(llama):
    found = llama(32, 4096, 32, 32, 11008, 32000)
    assert found == 6_738_415_616, f"Llama 2 7B has 6,738,415,616 parameters, not {found:,}; SwiGLU has three matrices"


def test_llama3(llama):
    found = llama(32, 4096, 32, 8, 14336, 128256)
    assert found == 8_030_261_248, "Llama 3 8B has 8,030,261,248: 32 heads of queries, but 8 of keys and values"


def test_llama_tied(llama):
    found = llama(16, 2048, 32, 8, 8192, 128256, tied=True)
    assert found == 1_235_814_400, "Llama 3.2 1B is tied: one matrix of vocabulary times width, not two"


def test_blocks_for(blocks_for):
    assert blocks_for(85_054_464, 768) == 12, "twelve blocks of width 768 have 85.05 million parameters"
    assert blocks_for(56_000_000, 768) == 8, "56 million parameters are closest to eight blocks of width 768, not seven"
    assert blocks_for(1_000, 768) == 1, "the answer is at least one block"
    assert blocks_for(872_000, 8) == 1_000, (
        "a thousand blocks of width 8 have 872,000 parameters: each block must be counted exactly"
    )
    assert blocks_for(8_720, 8) == 10, (
        "ten blocks of width 8 have 8,720 parameters: biases and norms count too, 13 * width"
    )


def test_whole_numbers(gpt, llama, blocks_for):
    for name, found in (
        ("gpt", gpt(2, 8, 5, 3)),
        ("llama", llama(2, 8, 4, 2, 6, 5)),
        ("blocks_for", blocks_for(8_720, 8)),
    ):
        assert type(found) is int, f"{name} returned a {type(found).__name__}; a count is an int, so divide with //"


class _Watch(TorchFunctionMode):
    """Records the calls of torch functions."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.seen.append(function.__name__)
        return function(*args, **kwargs or {})


def test_arithmetic_alone(gpt, llama, blocks_for):
    with _Watch() as watch:
        gpt(2, 8, 5, 3), llama(2, 8, 4, 2, 6, 5), blocks_for(8_720, 8)
    assert not watch.seen, f"use arithmetic alone; torch was called: {', '.join(watch.seen[:3])}"


def test_hidden_gpt_sizes(gpt, seed):
    sizes_from = torch.Generator().manual_seed(seed + 31)
    for _ in range(4):
        layers, quarters, vocab, context = torch.randint(1, 9, (4,), generator=sizes_from).tolist()
        for shares in (True, False):
            config = llm.Config(vocab, context, layers, 4, 4 * quarters, tied=shares)
            counted = gpt(layers, 4 * quarters, vocab, context, tied=shares)
            assert counted == _built(config), f"counted {counted:,} for {config}, but that is not what is built"


def test_hidden_llama_sizes(llama, seed):
    sizes_from = torch.Generator().manual_seed(seed + 31)
    modern = {"norm": "rms", "mlp": "swiglu", "positions": "rotary", "bias": False}
    for groups in (1, 2, 4):
        layers, pairs, vocab, hidden = torch.randint(1, 9, (4,), generator=sizes_from).tolist()
        for shares in (True, False):
            sizes = {"layers": layers, "width": 8 * pairs, "heads": 4, "kv_heads": groups, "hidden": hidden}
            config = llm.Config(vocab_size=vocab, tied=shares, **sizes, **modern)
            counted = llama(**sizes, vocab_size=vocab, tied=shares)
            assert counted == _built(config), f"counted {counted:,} for {config}, but that is not what is built"
