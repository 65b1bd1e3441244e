import torch


def tables(
    positions: torch.Tensor,
    head_dim: int,
    base: float = 10_000.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return cosines and sines (..., T, D/2), float32, for positions (..., T)."""
    ### BEGIN SOLUTION
    channel = torch.arange(0, head_dim, 2, dtype=torch.float32, device=positions.device)
    angles = positions[..., None].float() * base ** (-channel / head_dim)
    return angles.cos(), angles.sin()
    ### END SOLUTION


def rotate(
    x: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    neighbours: bool = False,
) -> torch.Tensor:
    """Turn the pairs of channels of x (B, H, T, D)."""
    ### BEGIN SOLUTION
    if neighbours:
        first, second = x[..., 0::2], x[..., 1::2]
    else:
        first, second = x.chunk(2, dim=-1)
    turned = (first * cos - second * sin, first * sin + second * cos)
    out = torch.stack(turned, dim=-1).flatten(-2) if neighbours else torch.cat(turned, dim=-1)
    return out.to(x.dtype)
    ### END SOLUTION


def to_halves(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """Convert a weight (H·D, C) or bias (H·D,) from neighbours to halves."""
    ### BEGIN SOLUTION
    return weight.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2)
    ### END SOLUTION


def to_neighbours(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """Convert a weight (H·D, C) or bias (H·D,) from halves to neighbours."""
    ### BEGIN SOLUTION
    return weight.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)
    ### END SOLUTION
