"""The book's GPT against transformers' GPT-2 and Llama with the same weights: logits, gradients, masks, caches."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

logging.getLogger("torch.utils._pytree").setLevel(logging.ERROR)  # importing transformers imports torchao, which warns

from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM  # noqa: E402

from torchbook.llm import GPT, Config, RMSNorm, rotary_tables, rotate  # noqa: E402

Make = Callable[[Config], tuple[nn.Module, GPT]]

V, CONTEXT = 61, 24
GPT2 = Config(vocab_size=V, context=CONTEXT, layers=3, heads=4, width=32)
LLAMA = replace(GPT2, kv_heads=2, norm="rms", mlp="swiglu", positions="rotary", bias=False, tied=False)
GPT2S = {
    "as published": GPT2,
    "one head": replace(GPT2, heads=1),
    "narrow MLP": replace(GPT2, hidden=48),
    "other epsilon": replace(GPT2, eps=1e-3),
    "head of its own": replace(GPT2, tied=False),
}
LLAMAS = {
    "two heads share": LLAMA,
    "all heads share": replace(LLAMA, kv_heads=1),
    "nobody shares": replace(LLAMA, kv_heads=None),
    "tied": replace(LLAMA, tied=True),
    "other base": replace(LLAMA, rope_base=500_000.0),
    "biases": replace(LLAMA, bias=True),
}


def from_gpt2(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Weights of `GPT2LMHeadModel` under the names of `GPT`; Conv1D stores (in, out), Linear (out, in)."""
    names = {
        "transformer.wte": "token_embedding",
        "transformer.wpe": "position_embedding",
        "transformer.ln_f": "norm",
        "transformer.h": "blocks",
        "lm_head": "head",
        "ln_1": "attention_norm",
        "ln_2": "mlp_norm",
        "attn.c_proj": "attention.output",
        "mlp.c_fc": "mlp.up",
        "mlp.c_proj": "mlp.down",
    }
    ours = {}
    for name, tensor in theirs.items():
        new = _renamed(name, names)
        turned = tensor.T if ".h." in name and tensor.dim() == 2 else tensor
        if "attn.c_attn" in new:
            for part, piece in zip(("query", "key", "value"), turned.chunk(3), strict=True):
                ours[new.replace("attn.c_attn", f"attention.{part}")] = piece
        else:
            ours[new] = turned
    return ours


def from_llama(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Weights of `LlamaForCausalLM` under the names of `GPT`."""
    names = {
        "model.embed_tokens": "token_embedding",
        "model.layers": "blocks",
        "model.norm": "norm",
        "lm_head": "head",
        "input_layernorm": "attention_norm",
        "post_attention_layernorm": "mlp_norm",
        "self_attn.q_proj": "attention.query",
        "self_attn.k_proj": "attention.key",
        "self_attn.v_proj": "attention.value",
        "self_attn.o_proj": "attention.output",
        "_proj": "",
    }
    return {_renamed(name, names): tensor for name, tensor in theirs.items()}


def _renamed(name: str, names: dict[str, str]) -> str:
    for old, new in names.items():
        name = name.replace(old, new)
    return name


def loud(model: nn.Module, seed: int = 0) -> nn.Module:
    """Weights large enough that every part changes the logits, norms and biases too."""
    torch.manual_seed(seed)
    for p in model.parameters():
        nn.init.normal_(p, mean=1.0 if p.dim() == 1 else 0.0, std=0.2)
    return model.eval()


def gpt2(config: Config) -> tuple[nn.Module, GPT]:
    """Theirs and ours, with the same weights."""
    theirs = loud(
        GPT2LMHeadModel(
            GPT2Config(
                vocab_size=config.vocab_size,
                n_positions=config.context,
                n_layer=config.layers,
                n_head=config.heads,
                n_embd=config.width,
                n_inner=config.hidden,
                layer_norm_epsilon=config.eps,
                tie_word_embeddings=config.tied,
            )
        )
    )
    return theirs, _ours(config, from_gpt2(theirs.state_dict()))


def llama(config: Config) -> tuple[nn.Module, GPT]:
    """Theirs and ours, with the same weights."""
    theirs = loud(
        LlamaForCausalLM(
            LlamaConfig(
                vocab_size=config.vocab_size,
                hidden_size=config.width,
                intermediate_size=config.inner,
                num_hidden_layers=config.layers,
                num_attention_heads=config.heads,
                num_key_value_heads=config.key_heads,
                max_position_embeddings=config.context,
                rms_norm_eps=config.eps,
                tie_word_embeddings=config.tied,
                attention_bias=config.bias,
                mlp_bias=config.bias,
                rope_parameters={"rope_type": "default", "rope_theta": config.rope_base},
            )
        )
    )
    return theirs, _ours(config, from_llama(theirs.state_dict()))


def _ours(config: Config, weights: dict[str, Tensor]) -> GPT:
    ours = GPT(config).eval()
    ours.load_state_dict(weights)  # strict: no name is missing, none is left over
    return ours


PAIRS = [(f"gpt2, {name}", gpt2, config) for name, config in GPT2S.items()]
PAIRS += [(f"llama, {name}", llama, config) for name, config in LLAMAS.items()]
EVERY = pytest.mark.parametrize(("make", "config"), [pair[1:] for pair in PAIRS], ids=[pair[0] for pair in PAIRS])
BOTH = pytest.mark.parametrize(("make", "config"), [(gpt2, GPT2), (llama, LLAMA)], ids=["gpt2", "llama"])


def some_ids(batch: int = 3, length: int = 17, seed: int = 1) -> Tensor:
    return torch.randint(V, (batch, length), generator=torch.Generator().manual_seed(seed))


def assert_equal(actual: Tensor, wanted: Tensor) -> None:
    assert wanted.std() > 0.1  # nothing is proved by logits that are all alike
    torch.testing.assert_close(actual, wanted, rtol=1e-4, atol=1e-4)


@dataclass
class ListCache:
    """The simplest cache there is: a list of keys and values a layer, joined at each call."""

    layers: int
    kept: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)

    @property
    def length(self) -> int:
        """Of the last layer, since earlier ones have grown when it asks."""
        return self.kept[self.layers - 1][0].shape[2] if self.layers - 1 in self.kept else 0

    def update(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        if layer in self.kept:
            old_k, old_v = self.kept[layer]
            k, v = torch.cat((old_k, k), dim=2), torch.cat((old_v, v), dim=2)
        self.kept[layer] = k, v
        return k, v


@EVERY
@torch.no_grad()
def test_logits_are_theirs(make: Make, config: Config) -> None:
    theirs, ours = make(config)
    ids = some_ids()
    assert_equal(ours(ids), theirs(ids).logits)


@EVERY
def test_as_many_parameters(make: Make, config: Config) -> None:
    theirs, ours = make(config)
    assert sum(p.numel() for p in ours.parameters()) == sum(p.numel() for p in theirs.parameters())


@BOTH
@torch.no_grad()
def test_one_token_and_the_whole_context(make: Make, config: Config) -> None:
    theirs, ours = make(config)
    for length in (1, CONTEXT):
        ids = some_ids(2, length)
        assert_equal(ours(ids), theirs(ids).logits)


@BOTH
def test_gradients_are_theirs(make: Make, config: Config) -> None:
    theirs, ours = make(config)
    ids = some_ids()
    for logits in (ours(ids), theirs(ids).logits):
        F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()).backward()
    slopes = {name: p.grad for name, p in theirs.named_parameters()}
    mapped = (from_gpt2 if make is gpt2 else from_llama)(slopes)
    for name, p in ours.named_parameters():
        torch.testing.assert_close(p.grad, mapped[name], rtol=1e-3, atol=1e-5)


@BOTH
@torch.no_grad()
def test_padding_on_the_left(make: Make, config: Config) -> None:
    theirs, ours = make(config)
    ids, padded = some_ids(3, 12), torch.tensor([0, 3, 7])
    real = torch.arange(12) >= padded[:, None]  # (B, T)
    positions = (real.long().cumsum(-1) - 1).clamp(min=0)
    causal = torch.ones(12, 12, dtype=torch.bool).tril()
    mask = (causal & real[:, None, :])[:, None] | torch.eye(12, dtype=torch.bool)
    logits = ours(ids, positions=positions, mask=mask)
    wanted = theirs(ids, attention_mask=real.long(), position_ids=positions).logits
    assert_equal(logits[real], wanted[real])
    for row, skip in enumerate(padded.tolist()):  # and what is padded is as if it were alone
        assert_equal(logits[row, skip:], ours(ids[row : row + 1, skip:])[0])


@BOTH
@torch.no_grad()
def test_packed_sequences_do_not_see_each_other(make: Make, config: Config) -> None:
    _, ours = make(config)
    first, second = some_ids(1, 5), some_ids(1, 8, seed=2)
    segment = torch.tensor([0] * 5 + [1] * 8)
    mask = (segment[:, None] == segment) & torch.ones(13, 13, dtype=torch.bool).tril()
    positions = torch.cat((torch.arange(5), torch.arange(8)))
    packed = ours(torch.cat((first, second), dim=1), positions=positions, mask=mask)
    assert_equal(packed, torch.cat((ours(first), ours(second)), dim=1))


@BOTH
@pytest.mark.parametrize("pieces", [(1,) * 16, (9, 1, 1, 5), (4, 4, 8), (16,)], ids=str)
@torch.no_grad()
def test_a_cache_changes_nothing(make: Make, config: Config, pieces: tuple[int, ...]) -> None:
    theirs, ours = make(config)
    ids = some_ids(2, 16)
    cache, parts = ListCache(config.layers), []
    for piece in ids.split(pieces, dim=1):
        parts.append(ours(piece, cache=cache))
    assert cache.length == 16
    assert cache.kept[0][0].shape == (2, config.key_heads, 16, config.head_dim)
    assert_equal(torch.cat(parts, dim=1), ours(ids))
    assert_equal(torch.cat(parts, dim=1), theirs(ids).logits)


@BOTH
@torch.no_grad()
def test_a_cache_with_padding(make: Make, config: Config) -> None:
    theirs, ours = make(config)
    ids, real = some_ids(2, 10), torch.ones(2, 10, dtype=torch.bool)
    real[1, :4] = False
    positions = (real.long().cumsum(-1) - 1).clamp(min=0)
    visible = torch.ones(10, 10, dtype=torch.bool).tril() & real[:, None, None, :] | torch.eye(10, dtype=torch.bool)
    cache, parts = ListCache(config.layers), []
    for start, stop in ((0, 6), (6, 7), (7, 10)):
        rows = slice(start, stop)
        now = visible[:, :, rows, :stop]
        parts.append(ours(ids[:, rows], positions=positions[:, rows], mask=now, cache=cache))
    wanted = theirs(ids, attention_mask=real.long(), position_ids=positions).logits
    assert_equal(torch.cat(parts, dim=1)[real], wanted[real])


@torch.no_grad()
def test_what_parity_would_not_forgive() -> None:
    """Each change of a part is seen in the logits, or the comparisons above would prove little."""
    for make, config, changes in (
        (gpt2, GPT2, ({"eps": 1e-3}, {"heads": 2})),
        (llama, LLAMA, ({"eps": 1e-3}, {"rope_base": 500.0}, {"heads": 8, "kv_heads": 4})),
    ):
        theirs, ours = make(config)
        ids = some_ids()
        for change in changes:
            other = _ours(replace(config, **change), ours.state_dict())
            assert not torch.allclose(other(ids), theirs(ids).logits, rtol=1e-4, atol=1e-4), change


def test_bias_of_layer_norm_follows_the_config() -> None:
    names = dict(GPT(replace(GPT2, bias=False)).named_parameters())
    assert not [name for name in names if name.endswith("bias")]


def test_norm_and_rotation_alone() -> None:
    x = torch.randn(2, 3, 5, 8, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(RMSNorm(8, 1e-5)(x), nn.RMSNorm(8, eps=1e-5)(x))
    tables = rotary_tables(torch.arange(5), 8)
    turned = rotate(x, *tables)
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))
    assert turned[:, :, 0].equal(x[:, :, 0])  # position 0 is not turned


@BOTH
@torch.no_grad()
def test_a_token_moves_nothing_before_it_and_nobody_else(make: Make, config: Config) -> None:
    _, ours = make(config)
    ids = some_ids(3, 9)
    before = ours(ids)
    for t in range(9):
        changed = ids.clone()
        changed[1, t] = (changed[1, t] + 1) % V
        moved = (ours(changed) - before).abs().amax(-1)  # (B, T)
        assert moved[[0, 2]].max() < 1e-5
        assert moved[1, :t].max() < 1e-5 if t else True
        assert moved[1, t] > 1e-3


@BOTH
@torch.no_grad()
def test_the_first_loss_is_that_of_no_knowledge(make: Make, config: Config) -> None:
    torch.manual_seed(0)
    ids = some_ids(8, 20)
    logits = GPT(config)(ids)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    assert abs(loss.item() - math.log(V)) < 0.1


@pytest.mark.parametrize(
    ("config", "parameters"),
    [
        (Config.gpt2("gpt2"), 124_439_808),
        (Config.gpt2("gpt2-medium"), 354_823_168),
        (Config.gpt2("gpt2-large"), 774_030_080),
        (Config.gpt2("gpt2-xl"), 1_557_611_200),
        (Config.llama("llama-2-7b"), 6_738_415_616),
        (Config.llama("llama-3-8b"), 8_030_261_248),
        (Config.llama("llama-3.2-1b"), 1_235_814_400),
    ],
    ids=["gpt2", "medium", "large", "xl", "llama 2 7b", "llama 3 8b", "llama 3.2 1b"],
)
def test_published_sizes(config: Config, parameters: int) -> None:
    with torch.device("meta"):
        model = GPT(config)
    assert sum(p.numel() for p in model.parameters()) == parameters
