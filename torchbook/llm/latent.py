"""The parts of multi-head latent attention (DeepSeek-V2, 2024) around what the page on experts writes itself."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from torchbook.llm.model import RMSNorm, rotate


@dataclass(frozen=True)
class LatentSizes:
    """The sizes of a layer of latent attention; the defaults are those of `torchbook.llm.ports.tiny`.

    Args:
        width: channels of the residual stream.
        heads: attention heads.
        latent: channels of the vector that keys and values are made from, which a cache keeps.
        query_latent: channels of the vector that queries are made from.
        plain: channels of a head's key that come from the latent vector and are not turned.
        turned: channels of the key that are turned by the position, and that all heads share.
        value: channels of a head's value.
        interleaved: whether neighbouring channels are turned as a pair, as in DeepSeek-V3.
    """

    width: int = 32
    heads: int = 4
    latent: int = 12
    query_latent: int = 20
    plain: int = 16
    turned: int = 8
    value: int = 16
    interleaved: bool = True


class Latent(nn.Module):
    """The matrices and norms of latent attention, without its `forward`."""

    def __init__(self, sizes: LatentSizes) -> None:
        super().__init__()
        s = self.sizes = sizes
        self.query_down = nn.Linear(s.width, s.query_latent, bias=False)
        self.query_norm = RMSNorm(s.query_latent, 1e-6)
        self.query_up = nn.Linear(s.query_latent, s.heads * (s.plain + s.turned), bias=False)
        self.down = nn.Linear(s.width, s.latent + s.turned, bias=False)
        self.norm = RMSNorm(s.latent, 1e-6)
        self.up = nn.Linear(s.latent, s.heads * (s.plain + s.value), bias=False)
        self.output = nn.Linear(s.heads * s.value, s.width, bias=False)

    def turn(self, x: Tensor, rotary: tuple[Tensor, Tensor]) -> Tensor:
        """Turn x (B, H, T, turned) by the tables of `rotary_tables`; pairs as `sizes.interleaved` says.

        Interleaved pairs leave with their first channels in front and their second ones behind, in queries and keys
        alike, so that no score changes.
        """
        if self.sizes.interleaved:
            x = torch.cat((x[..., ::2], x[..., 1::2]), dim=-1)
        return rotate(x, *rotary)
