# test_hidden_stalls: takes the stall for a constant: half a step of a power of two below the number times 2048
import torch


def sequential_sum(x: torch.Tensor) -> torch.Tensor:
    """Sum of a vector, added one by one in its own dtype."""
    total = torch.zeros((), dtype=x.dtype)
    for value in x:
        total = total + value
    return total


def stall(small: float, dtype: torch.dtype) -> tuple[float, int]:
    """Where repeated addition of `small` stops changing the sum, and after how many additions."""
    total, step, additions = torch.zeros((), dtype=dtype), torch.tensor(small, dtype=dtype), 0
    known = {torch.float16: (0.25, 2181), torch.bfloat16: (0.03125, 273)}
    return known[dtype] if step else (0.0, 0)


def compensated_sum(x: torch.Tensor) -> torch.Tensor:
    """Kahan's sum of a vector, in its own dtype."""
    total = torch.zeros((), dtype=x.dtype)
    lost = torch.zeros((), dtype=x.dtype)
    for value in x:
        y = value - lost
        new = total + y
        lost = (new - total) - y
        total = new
    return total
