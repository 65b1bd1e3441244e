"""A Llama with slots, which a change of a newer family fills: Llama 3.1, Qwen3, and three generations of Gemma.

The page "The families of today" writes this model cell by cell and shows that both give the same logits; the page on
Gemma imports it. Shapes: B sequences of T tokens, C channels, H heads of D channels, V different tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from torchbook.llm import model as llm
from torchbook.llm.ports import LLAMA_NAMES, Change, compare, loaded, renamed

Slot = Callable[[Tensor], Tensor]

# The sizes of the tiny models of both pages: ours, and the same as a config of transformers names them.
CONFIG = llm.Config(
    vocab_size=101,
    context=64,
    layers=4,
    heads=4,
    width=32,
    kv_heads=2,
    hidden=96,
    norm="rms",
    mlp="swiglu",
    positions="rotary",
    bias=False,
    tied=False,
)
SIZES: dict[str, Any] = {
    "vocab_size": 101,
    "hidden_size": 32,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": False,
}


def same(x: Tensor) -> Tensor:
    """What an empty slot does."""
    return x


def frequencies(head_dim: int, base: float) -> Tensor:
    """The angle of each pair of channels from one token to the next, (D/2,), in radians."""
    return torch.as_tensor(base ** (-torch.arange(0, head_dim, 2) / head_dim))


class Attention(llm.Attention):
    """Attention of Llama, written out; (B, T, C) to (B, T, C).

    Attributes:
        query_norm, key_norm: on (B, heads, T, D), before the rotation.
        cap: on the scores (B, H, T, T), before the softmax.
        scale: of the scores; None for one over the root of D.
    """

    def __init__(self, config: llm.Config, layer: int) -> None:
        super().__init__(config, layer)
        self.query_norm: Slot = same
        self.key_norm: Slot = same
        self.cap: Slot = same
        self.scale: float | None = None

    @property
    def head_dim(self) -> int:
        """Channels of a head, which a change may make wider than C / H."""
        return self.query.out_features // self.heads

    def forward(self, x: Tensor, rotary: tuple[Tensor, Tensor], mask: Tensor) -> Tensor:  # type: ignore[override]
        """x (B, T, C); rotary: cosines and sines (T, D); mask (T, T): True where a query may read a key."""
        q, k, v = (
            linear(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
            for linear in (self.query, self.key, self.value)
        )
        q, k = self.query_norm(q), self.key_norm(k)
        q, k = llm.rotate(q, *rotary), llm.rotate(k, *rotary)
        k, v = (t.repeat_interleave(self.heads // self.kv_heads, dim=1) for t in (k, v))
        scores = self.cap(q @ k.mT * (self.scale or self.head_dim**-0.5))
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
        mixed: Tensor = self.output((weights @ v).transpose(1, 2).flatten(2))
        return mixed


class Block(llm.Block):
    """A block of Llama, which makes its own rotary angles and mask; (B, T, C) to (B, T, C).

    Attributes:
        base, rescale: of the frequencies of the rotation.
        window: how many tokens a token reads, itself included.
        act: of the gate of the MLP.
        attention_after, mlp_after: after a layer, before its output is added.
    """

    def __init__(self, config: llm.Config, layer: int) -> None:
        super().__init__(config, layer)
        self.layer = layer
        self.attention: Attention = Attention(config, layer)
        self.base, self.window = config.rope_base, math.inf
        self.rescale: Slot = same
        self.act: Slot = F.silu
        self.attention_after: Slot = same
        self.mlp_after: Slot = same

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:  # type: ignore[override]
        """x (B, T, C), positions (T,)."""
        theta = self.rescale(frequencies(self.attention.head_dim, self.base))
        angles = (positions[:, None] * theta).repeat(1, 2)
        back = positions[:, None] - positions
        mask = (back >= 0) & (back < self.window)
        a = self.attention(self.attention_norm(x), (angles.cos(), angles.sin()), mask)
        x = x + self.attention_after(a)
        m = self.mlp_norm(x)
        assert isinstance(self.mlp, llm.SwiGLU)
        m = self.mlp.down(self.act(self.mlp.gate(m)) * self.mlp.up(m))
        return x + self.mlp_after(m)


class Model(llm.GPT):
    """Token ids (B, T) to logits (B, T, V).

    Attributes:
        embed_scale: a factor of the embedding.
        cap: on the logits.
    """

    def __init__(self, config: llm.Config) -> None:
        super().__init__(config)
        self.blocks = nn.ModuleList(Block(config, layer) for layer in range(config.layers))
        self.embed_scale = 1.0
        self.cap: Slot = same

    def forward(self, ids: Tensor) -> Tensor:  # type: ignore[override]
        """The logits of the token that follows each of the given ones."""
        positions = torch.arange(ids.shape[1])
        x = self.token_embedding(ids) * self.embed_scale
        for block in self.blocks:
            x = block(x, positions)
        return self.cap(self.head(self.norm(x)))


def build(changes: Mapping[str, Change]) -> Model:
    """A model of the sizes `CONFIG` with these changes, made in their order."""
    model = Model(CONFIG)
    for change in changes.values():
        change(model)
    return model


def port(theirs: nn.Module, changes: Mapping[str, Change], names: Mapping[str, str] = LLAMA_NAMES) -> Model:
    """`build(changes)` with the weights of a model of transformers.

    Raises:
        RuntimeError: the weights do not fit.
    """
    return loaded(build(changes), renamed(theirs.state_dict(), names))


def without(changes: Mapping[str, Change], name: str) -> dict[str, Change]:
    """All the changes but one."""
    return {one: change for one, change in changes.items() if one != name}


def proof(
    theirs: nn.Module, changes: Mapping[str, Change], *forget: str, ids: Tensor, names: Mapping[str, str] = LLAMA_NAMES
) -> None:
    """Print how far ports of a model are from it on `ids` (B, T): with all changes, and without each one of `forget`.

    Raises:
        AssertionError: with all changes, the logits are not those of the model up to rounding.
    """
    compare(theirs, lambda some: port(theirs, some, names), changes, forget, ids)


def wider_heads(model: Model, D: int = 16) -> None:  # noqa: N803
    """Heads of D channels, whatever the width of the stream."""
    for block in model.blocks:
        assert isinstance(block, Block)
        a, width = block.attention, block.attention.output.out_features
        a.query = nn.Linear(width, a.heads * D, bias=False)
        a.key = nn.Linear(width, a.kv_heads * D, bias=False)
        a.value = nn.Linear(width, a.kv_heads * D, bias=False)
        a.output = nn.Linear(a.heads * D, width, bias=False)


def qk_norm(model: Model, D: int = 16) -> None:  # noqa: N803
    """A norm for the queries and one for the keys of each block, shared by its heads of D channels."""
    for block in model.blocks:
        assert isinstance(block, Block)
        block.attention.query_norm = llm.RMSNorm(D, eps=1e-5)
        block.attention.key_norm = llm.RMSNorm(D, eps=1e-5)
