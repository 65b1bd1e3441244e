import math

import torch
from torch import nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard
from torch.nn import functional as F


class Block(nn.Module):
    """A transformer block that maps (B, T, D) to (B, T, D)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = self.qkv(self.norm1(x)).unflatten(-1, (3, self.heads, -1))
        q, k, v = heads.permute(2, 0, 3, 1, 4)  # each (B, H, T, D / H)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    """Maps tokens (B, T) to logits (B, T, vocabulary)."""

    def __init__(self, vocabulary: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def shard(model: nn.Module, mesh: DeviceMesh) -> None:
    """Apply `fully_shard` to a model with `blocks`, in place."""
    ### BEGIN SOLUTION
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    ### END SOLUTION


def memory(model: nn.Module, world: int, rank: int, sharded: bool) -> dict[str, int]:
    """Return the bytes that a rank holds, under FSDP (sharded) or under DDP."""
    ### BEGIN SOLUTION
    held = gathered = 0
    parameters = list(model.parameters())
    for p in parameters:
        rows = p.shape[0]
        most = math.ceil(rows / world) if sharded else rows
        mine = min(most, rows - rank * most) if sharded else rows
        held += max(mine, 0) * (p.nbytes // rows)
    if sharded:
        blocks = [sum(p.nbytes for p in block.parameters()) for block in model.blocks]
        gathered = sum(p.nbytes for p in parameters) - sum(blocks) + max(blocks)
    return {
        "parameters": held,
        "gradients": held,
        "state": 2 * held + 4 * len(parameters),
        "gathered": gathered,
    }
    ### END SOLUTION


def fewest_ranks(model: nn.Module, budget: int, sharded: bool) -> int | None:
    """Return the smallest number of ranks with which rank 0 holds at most `budget` bytes."""
    ### BEGIN SOLUTION
    for world in range(1, 1025):
        if sum(memory(model, world, 0, sharded).values()) <= budget:
            return world
    return None
    ### END SOLUTION


def full_state(model: nn.Module) -> dict[str, torch.Tensor]:
    """Return the state of the whole model on rank 0."""
    ### BEGIN SOLUTION
    return get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    ### END SOLUTION
