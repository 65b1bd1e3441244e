"""A GPT whose parts can be exchanged for those of Llama: RoPE, RMSNorm, SwiGLU, grouped-query attention.

Shapes: B sequences, T new tokens, S tokens that can be attended to (T and those of the cache), H heads of D channels,
V different tokens. Sources: Radford et al. 2019 (GPT-2), Su et al. 2021 (RoPE), Zhang and Sennrich 2019 (RMSNorm),
Shazeer 2020 (SwiGLU), Ainslie et al. 2023 (grouped-query attention), Touvron et al. 2023 (Llama).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

_GPT2 = {"gpt2": (12, 12, 768), "gpt2-medium": (24, 16, 1024), "gpt2-large": (36, 20, 1280), "gpt2-xl": (48, 25, 1600)}
# layers, heads, kv_heads, width, hidden, vocabulary, context, base of the rotation; as published in each config.json
_LLAMA = {
    "llama-2-7b": (32, 32, 32, 4096, 11008, 32_000, 4096, 1e4),
    "llama-2-13b": (40, 40, 40, 5120, 13824, 32_000, 4096, 1e4),
    "llama-2-70b": (80, 64, 8, 8192, 28672, 32_000, 4096, 1e4),
    "llama-3-8b": (32, 32, 8, 4096, 14336, 128_256, 8192, 5e5),
    "llama-3-70b": (80, 64, 8, 8192, 28672, 128_256, 8192, 5e5),
    "llama-3.1-405b": (126, 128, 8, 16384, 53248, 128_256, 131_072, 5e5),
    "llama-3.2-1b": (16, 32, 8, 2048, 8192, 128_256, 131_072, 5e5),
    "llama-3.2-3b": (28, 24, 8, 3072, 8192, 128_256, 131_072, 5e5),
}
_TIED = ("llama-3.2-1b", "llama-3.2-3b")


@dataclass(frozen=True)
class Config:
    """The sizes and parts of a `GPT`. The defaults are GPT-2's parts at a size that two cores can train.

    Args:
        vocab_size: number of different tokens, V.
        context: most positions a sequence may have.
        layers: number of blocks.
        heads: attention heads of a block; they share `width` equally.
        width: channels of the residual stream.
        kv_heads: heads of keys and values, a divisor of `heads`; None for as many as heads.
        hidden: channels inside the MLP; None for 4 * width ("gelu") or 8/3 * width rounded up to 16 ("swiglu").
        norm: "layer" or "rms".
        mlp: "gelu" (the tanh approximation, as in GPT-2) or "swiglu".
        positions: "learned" or "rotary".
        bias: whether linear layers and layer norms have biases; RMSNorm never has.
        tied: whether the head shares the weight of the token embedding.
        dropout: probability, on the embeddings, the attention's weights and what each branch adds.
        rope_base: base of the rotary angles.
        eps: what the norms add under their square root.

    Raises:
        ValueError: sizes that do not divide, an odd head width with rotary positions, or an unknown part.
    """

    vocab_size: int
    context: int = 128
    layers: int = 4
    heads: int = 4
    width: int = 128
    kv_heads: int | None = None
    hidden: int | None = None
    norm: str = "layer"
    mlp: str = "gelu"
    positions: str = "learned"
    bias: bool = True
    tied: bool = True
    dropout: float = 0.0
    rope_base: float = 10_000.0
    eps: float = 1e-5

    def __post_init__(self) -> None:
        for name, known in (("norm", _NORMS), ("mlp", _MLPS), ("positions", ("learned", "rotary"))):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {getattr(self, name)!r}; it must be one of {', '.join(known)}")
        if self.width % self.heads:
            raise ValueError(f"width {self.width} cannot be shared equally by {self.heads} heads")
        if self.heads % self.key_heads:
            raise ValueError(f"{self.heads} heads cannot share {self.key_heads} heads of keys and values equally")
        if self.positions == "rotary" and self.head_dim % 2:
            raise ValueError(f"a head of {self.head_dim} channels cannot be rotated in pairs")

    @property
    def head_dim(self) -> int:
        """Channels of a head."""
        return self.width // self.heads

    @property
    def key_heads(self) -> int:
        """Heads of keys and values."""
        return self.heads if self.kv_heads is None else self.kv_heads

    @property
    def inner(self) -> int:
        """Channels inside the MLP."""
        if self.hidden is not None:
            return self.hidden
        return 4 * self.width if self.mlp == "gelu" else -(-8 * self.width // 48) * 16

    @classmethod
    def gpt2(cls, name: str = "gpt2") -> Config:
        """The published sizes of GPT-2: "gpt2", "gpt2-medium", "gpt2-large" or "gpt2-xl"; `KeyError` for others."""
        layers, heads, width = _GPT2[name]
        return cls(vocab_size=50_257, context=1024, layers=layers, heads=heads, width=width)

    @classmethod
    def llama(cls, name: str) -> Config:
        """The published sizes of a Llama, for instance "llama-3-8b"; `KeyError` for others.

        The frequencies that Llama 3.1 and 3.2 rescale for their long contexts are not rescaled here.
        """
        layers, heads, kv_heads, width, hidden, vocab_size, context, base = _LLAMA[name]
        return cls(
            vocab_size=vocab_size,
            context=context,
            layers=layers,
            heads=heads,
            width=width,
            kv_heads=kv_heads,
            hidden=hidden,
            norm="rms",
            mlp="swiglu",
            positions="rotary",
            bias=False,
            tied=name in _TIED,
            rope_base=base,
        )


class Cache(Protocol):
    """What `GPT.forward` asks of a cache of keys and values."""

    @property
    def length(self) -> int:
        """Positions that the cache holds before this call."""

    def update(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Keep the new keys and values (B, kv_heads, T, D) of a layer; give back all of them (B, kv_heads, S, D)."""


class RMSNorm(nn.Module):
    """x / sqrt(mean(x²) + eps) · weight over the last dimension, in fp32 as Llama does; (..., C) to (..., C)."""

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        scaled = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return self.weight * scaled.to(x.dtype)


class GELUMLP(nn.Module):
    """down(gelu(up(x))); (B, T, C) to (B, T, C)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.up = nn.Linear(config.width, config.inner, bias=config.bias)
        self.down = nn.Linear(config.inner, config.width, bias=config.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.gelu(self.up(x), approximate="tanh"))


class SwiGLU(nn.Module):
    """down(silu(gate(x)) · up(x)); (B, T, C) to (B, T, C)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.gate = nn.Linear(config.width, config.inner, bias=config.bias)
        self.up = nn.Linear(config.width, config.inner, bias=config.bias)
        self.down = nn.Linear(config.inner, config.width, bias=config.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


_NORMS = ("layer", "rms")
_MLPS: dict[str, type[GELUMLP] | type[SwiGLU]] = {"gelu": GELUMLP, "swiglu": SwiGLU}


def _norm(config: Config) -> nn.Module:
    if config.norm == "rms":
        return RMSNorm(config.width, config.eps)
    return nn.LayerNorm(config.width, config.eps, bias=config.bias)


def rotary_tables(positions: Tensor, head_dim: int, base: float = 10_000.0) -> tuple[Tensor, Tensor]:
    """Cosines and sines of the rotary angles: positions (..., T) to two tensors (..., T, head_dim), fp32.

    Channel i and channel i + head_dim/2 form a pair and turn by position · base^(-2i/head_dim), as in transformers'
    Llama (the paper pairs neighbours; the two differ by a fixed permutation of the channels).
    """
    channel = torch.arange(0, head_dim, 2, device=positions.device, dtype=torch.float32)
    angles = positions[..., None].float() * base ** (-channel / head_dim)  # (..., T, D/2)
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos(), angles.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn the pairs of channels of x (B, H, T, D) by the angles of `rotary_tables` ((T, D) or (B, 1, T, D))."""
    first, second = x.chunk(2, dim=-1)
    return x * cos.to(x.dtype) + torch.cat((-second, first), dim=-1) * sin.to(x.dtype)


class Attention(nn.Module):
    """Causal self-attention with grouped heads of keys and values; (B, T, C) to (B, T, C)."""

    def __init__(self, config: Config, layer: int) -> None:
        super().__init__()
        self.layer, self.heads, self.kv_heads = layer, config.heads, config.key_heads
        self.dropout = config.dropout
        shared = config.key_heads * config.head_dim
        self.query = nn.Linear(config.width, config.width, bias=config.bias)
        self.key = nn.Linear(config.width, shared, bias=config.bias)
        self.value = nn.Linear(config.width, shared, bias=config.bias)
        self.output = nn.Linear(config.width, config.width, bias=config.bias)

    def forward(
        self,
        x: Tensor,
        rotary: tuple[Tensor, Tensor] | None = None,
        mask: Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        """x (B, T, C); rotary: tables of the positions; mask: bool, True where a query may attend to a key."""
        q, k, v = (  # (B, H, T, D), (B, kv_heads, T, D) twice
            each(x).unflatten(-1, (heads, -1)).transpose(1, 2)
            for each, heads in ((self.query, self.heads), (self.key, self.kv_heads), (self.value, self.kv_heads))
        )
        if rotary is not None:
            q, k = rotate(q, *rotary), rotate(k, *rotary)
        if cache is not None:
            k, v = cache.update(self.layer, k, v)
        mixed = F.scaled_dot_product_attention(
            q,
            k,
            v,
            attn_mask=mask,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=mask is None and x.shape[1] > 1,  # a single new token attends to all that is kept
            enable_gqa=self.kv_heads != self.heads,
        )
        return self.output(mixed.transpose(1, 2).flatten(2))


class Block(nn.Module):
    """A pre-norm block: x + attention(norm(x)), then x + mlp(norm(x)); (B, T, C) to (B, T, C)."""

    def __init__(self, config: Config, layer: int) -> None:
        super().__init__()
        self.attention_norm = _norm(config)
        self.attention = Attention(config, layer)
        self.mlp_norm = _norm(config)
        self.mlp: GELUMLP | SwiGLU = _MLPS[config.mlp](config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Tensor,
        rotary: tuple[Tensor, Tensor] | None = None,
        mask: Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        x = x + self.dropout(self.attention(self.attention_norm(x), rotary, mask, cache))
        return x + self.dropout(self.mlp(self.mlp_norm(x)))


class GPT(nn.Module):
    """Token ids (B, T) to logits (B, T, V) of the token that follows each position.

    Weights start as normal with standard deviation 0.02, those of `attention.output` and `mlp.down` divided by
    sqrt(2 · layers); biases start at 0.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.token_embedding = nn.Embedding(config.vocab_size, config.width)
        learned = config.positions == "learned"
        self.position_embedding = nn.Embedding(config.context, config.width) if learned else None
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config, layer) for layer in range(config.layers))
        self.norm = _norm(config)
        self.head = nn.Linear(config.width, config.vocab_size, bias=False)
        if config.tied:
            self.head.weight = self.token_embedding.weight
        self.apply(self._start)

    def _start(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
        if isinstance(module, Block):
            for weight in (module.attention.output.weight, module.mlp.down.weight):
                nn.init.normal_(weight, std=0.02 / math.sqrt(2 * self.config.layers))

    def forward(
        self,
        ids: Tensor,
        *,
        positions: Tensor | None = None,
        mask: Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        """The logits of the token that follows each of the given ones.

        Args:
            ids: (B, T), int64, each below V.
            positions: (B, T) or (T,), int64; by default they count on from the cache's length, or from 0.
            mask: bool, broadcastable to (B, 1, T, S), True where a query may attend to a key; by default each
                token attends to itself and to all before it.
            cache: keeps keys and values between calls; see `Cache`.

        Returns:
            (B, T, V), in the dtype of the weights.

        Raises:
            ValueError: more positions than `config.context` by the default positions.
        """
        past = 0 if cache is None else cache.length
        new = ids.shape[1]
        if positions is None:
            if past + new > self.config.context:
                raise ValueError(f"{past + new} positions, but this model has {self.config.context}")
            positions = torch.arange(past, past + new, device=ids.device)
        if mask is None and past and new > 1:
            keys = torch.arange(past + new, device=ids.device)
            mask = keys <= keys[past:, None]  # (T, S), the lower right corner of the causal triangle
        x = self.token_embedding(ids)
        rotary = None
        if self.position_embedding is not None:
            x = x + self.position_embedding(positions)
        else:
            cos, sin = rotary_tables(positions, self.config.head_dim, self.config.rope_base)
            rotary = (cos, sin) if positions.dim() == 1 else (cos[:, None], sin[:, None])
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x, rotary, mask, cache)
        return self.head(self.norm(x))
