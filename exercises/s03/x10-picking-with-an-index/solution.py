import torch


def right_scores(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """(B, C), (B,) -> (B,): the score of the right class in each row."""
    ### BEGIN SOLUTION
    return scores[torch.arange(len(labels)), labels]
    ### END SOLUTION


def left_half(images: torch.Tensor) -> torch.Tensor:
    """(..., H, W) -> (..., H, W // 2)"""
    ### BEGIN SOLUTION
    return images[..., : images.shape[-1] // 2]
    ### END SOLUTION


def capped(t: torch.Tensor, limit: float) -> torch.Tensor:
    """A copy of `t` in which nothing is above `limit`."""
    ### BEGIN SOLUTION
    result = t.clone()
    result[t > limit] = limit
    return result
    ### END SOLUTION


def best_rows(t: torch.Tensor, k: int) -> torch.Tensor:
    """(rows, columns) -> (k, columns): the rows with the largest sums, the largest first."""
    ### BEGIN SOLUTION
    return t[t.sum(1).argsort(descending=True)[:k]]
    ### END SOLUTION
