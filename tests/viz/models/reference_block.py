"""The transformer that torchbook/viz/memory.py describes, small enough for a CPU, and what autograd saves of it.

Nothing here is clever: matrices are `nn.Linear`, attention is torch's fused kernel or written out, and RMSNorm saves
its input and 1/rms, as torch's fused kernel on a GPU does (torch's RMSNorm on a CPU is several ops, which save more).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from torchbook.viz.memory import Model


class FusedRMSNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        wide = x.float()
        rstd = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        ctx.save_for_backward(x, rstd, weight)
        return (wide * rstd * weight).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        x, rstd, weight = ctx.saved_tensors
        normed = x.float() * rstd
        by = grad.float() * weight
        along = (by * normed).mean(-1, keepdim=True)
        into = rstd * (by - normed * along)
        return into.to(x.dtype), (grad * normed).sum(dim=tuple(range(grad.ndim - 1))).to(weight.dtype)


class RMSNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return FusedRMSNorm.apply(x, self.weight)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions; cos and sin are constants, so the product saves them and not x."""
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


class Block(nn.Module):
    def __init__(self, model: Model, flash: bool) -> None:
        super().__init__()
        self.model, self.flash = model, flash
        h, f, kv = model.hidden, model.ffn, int(model.kv_width)
        if model.family == "gpt":
            self.norm1: nn.Module = nn.LayerNorm(h)
            self.norm2: nn.Module = nn.LayerNorm(h)
            self.qkv, self.proj = nn.Linear(h, h + 2 * kv), nn.Linear(h, h)
            self.up, self.down = nn.Linear(h, f), nn.Linear(f, h)
        else:
            self.norm1, self.norm2 = RMSNorm(h), RMSNorm(h)
            self.q, self.k, self.v, self.proj = (nn.Linear(h, wide, bias=False) for wide in (h, kv, kv, h))
            self.gate, self.up, self.down = (nn.Linear(*s, bias=False) for s in ((h, f), (h, f), (f, h)))

    def attention(self, x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
        m = self.model
        b, s, h = x.shape
        d = h // m.heads
        kv = m.kv_heads * d
        q, k, v = self.qkv(x).split((h, kv, kv), -1) if m.family == "gpt" else (self.q(x), self.k(x), self.v(x))
        q, k, v = (t.view(b, s, -1, d).transpose(1, 2) for t in (q, k, v))
        if m.family == "llama":
            cos, sin = (t.to(q.dtype) for t in turn)
            q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if self.flash:
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=m.kv_heads != m.heads)
        else:
            if m.kv_heads < m.heads:
                k, v = (t.repeat_interleave(m.heads // m.kv_heads, 1) for t in (k, v))
            future = torch.ones(s, s, dtype=torch.bool).triu(1)
            scores = (q @ k.mT / math.sqrt(d)).masked_fill(future, -math.inf)
            wide = torch.float32 if torch.is_autocast_enabled("cpu") else None  # as autocast does on a GPU
            y = scores.softmax(-1, dtype=wide).to(v.dtype) @ v
        return self.proj(y.transpose(1, 2).reshape(b, s, h))

    def mlp(self, x: Tensor) -> Tensor:
        if self.model.family == "gpt":
            return self.down(functional.gelu(self.up(x)))
        return self.down(functional.silu(self.gate(x)) * self.up(x))

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
        x = x + self.attention(self.norm1(x), turn)
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self, model: Model, flash: bool = True, checkpointed: bool = False) -> None:
        super().__init__()
        self.model, self.checkpointed = model, checkpointed
        self.tokens = nn.Embedding(model.vocab, model.hidden)
        self.places = nn.Embedding(model.positions, model.hidden) if model.positions else None
        self.blocks = nn.ModuleList(Block(model, flash) for _ in range(model.layers))
        self.norm = nn.LayerNorm(model.hidden) if model.family == "gpt" else RMSNorm(model.hidden)
        self.head = nn.Linear(model.hidden, model.vocab, bias=False)
        if model.tied:
            self.head.weight = self.tokens.weight

    def turn(self, seq: int) -> tuple[Tensor, Tensor]:
        d = self.model.hidden // self.model.heads
        angles = torch.arange(seq)[:, None] * torch.logspace(0, -4, d // 2).repeat(2)
        return angles.cos(), angles.sin()

    def hidden(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids)
        if self.places is not None:
            x = x + self.places(torch.arange(ids.shape[1]))
        turn = self.turn(ids.shape[1])
        for block in self.blocks:
            x = checkpoint(block, x, turn, use_reentrant=False) if self.checkpointed else block(x, turn)
        return self.norm(x)

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.hidden(ids))


def saved_bytes(run: Callable[[], object], without: Callable[[Tensor], bool] = lambda t: False) -> tuple[int, object]:
    """Bytes of all storages that autograd saves while `run` runs, each storage once, and what `run` returned.

    `without` says which tensors do not count, parameters for instance.
    """
    storages: dict[int, int] = {}

    def pack(t: Tensor) -> Tensor:
        if not without(t):
            storages[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        result = run()
    return sum(storages.values()), result
