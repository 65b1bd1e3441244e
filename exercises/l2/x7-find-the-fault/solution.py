import torch
from torch import nn
from torch.nn import functional as F

FAULTS = (
    "a mask has the opposite meaning",
    "a norm is left out",
    "a norm comes after the sum",
    "a weight is transposed but must not be",
    "a weight is not transposed but must be",
    "heads hold pieces of several tokens",
    "scores are not scaled",
    "sequences of the batch are mixed",
)
PLACES = (
    "Attention.split",
    "Attention.forward",
    "MLP.forward",
    "Block.forward",
    "GPT.forward",
    "from_gpt2",
)


def faults() -> dict[str, str]:
    """Return a dictionary: each faulty entry of PLACES, with its entry of FAULTS."""
    ### BEGIN SOLUTION
    return {
        "Attention.split": "heads hold pieces of several tokens",
        "Attention.forward": "a mask has the opposite meaning",
        "GPT.forward": "a norm is left out",
        "from_gpt2": "a weight is not transposed but must be",
    }
    ### END SOLUTION


class Attention(nn.Module):
    """(B, T, C) to (B, T, C)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def split(self, t: torch.Tensor) -> torch.Tensor:
        """(B, T, C) to (B, H, T, D)."""
        ### BEGIN SOLUTION
        return t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        ### INSTEAD
        # return t.view(len(t), self.heads, t.shape[1], -1)
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q = self.split(self.query(x))
        k = self.split(self.key(x))
        v = self.split(self.value(x))
        square = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device)
        ### BEGIN SOLUTION
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=square.tril())
        ### INSTEAD
        # mixed = F.scaled_dot_product_attention(
        #     q, k, v, attn_mask=square.triu(1)
        # )
        ### END SOLUTION
        return self.output(mixed.transpose(1, 2).flatten(2))


class MLP(nn.Module):
    """(B, T, C) to (B, T, C)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(F.gelu(self.up(x), approximate="tanh"))


class Block(nn.Module):
    """(B, T, C) to (B, T, C)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp_norm = nn.LayerNorm(width)
        self.mlp = MLP(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.attention_norm(x))
        return x + self.mlp(self.mlp_norm(x))


class GPT(nn.Module):
    """Map ids (B, T) to logits (B, T, V)."""

    def __init__(
        self,
        vocab_size: int,
        context: int,
        layers: int,
        heads: int,
        width: int,
    ) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, width)
        self.position_embedding = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab_size, bias=False)
        self.head.weight = self.token_embedding.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        positions = torch.arange(ids.shape[1], device=ids.device)
        x = self.token_embedding(ids) + self.position_embedding(positions)
        for block in self.blocks:
            x = block(x)
        ### BEGIN SOLUTION
        return self.head(self.norm(x))
        ### INSTEAD
        # return self.head(x)
        ### END SOLUTION


NAMES = {
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


def from_gpt2(theirs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Turn the state_dict of a GPT-2 into one for GPT."""
    ours = {}
    for name, t in theirs.items():
        ### BEGIN SOLUTION
        if t.dim() == 2 and ".h." in name:
            t = t.mT
        ### INSTEAD
        # if t.dim() == 2 and ".h." in name and t.shape[0] != t.shape[1]:
        #     t = t.mT
        ### END SOLUTION
        for old, new in NAMES.items():
            name = name.replace(old, new)
        if "attn.c_attn" in name:
            parts = ("query", "key", "value")
            for part, piece in zip(parts, t.chunk(3), strict=True):
                ours[name.replace("attn.c_attn", f"attention.{part}")] = piece
        else:
            ours[name] = t
    return ours
