import torch


def sequential_sum(x: torch.Tensor) -> torch.Tensor:
    """Sum of a vector, added one by one in its own dtype."""
    ### BEGIN SOLUTION
    total = torch.zeros((), dtype=x.dtype)
    for value in x:
        total = total + value
    return total
    ### END SOLUTION


def stall(small: float, dtype: torch.dtype) -> tuple[float, int]:
    """The sum where it stalls, and the number of additions."""
    ### BEGIN SOLUTION
    total, step, additions = torch.zeros((), dtype=dtype), torch.tensor(small, dtype=dtype), 0
    while total + step != total:
        total, additions = total + step, additions + 1
    return total.item(), additions
    ### END SOLUTION


def compensated_sum(x: torch.Tensor) -> torch.Tensor:
    """Kahan's sum of a vector, in its own dtype."""
    ### BEGIN SOLUTION
    total = torch.zeros((), dtype=x.dtype)
    lost = torch.zeros((), dtype=x.dtype)
    for value in x:
        y = value - lost
        new = total + y
        lost = (new - total) - y
        total = new
    return total
    ### END SOLUTION
