import torch


def mean_squared_error(predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """(N, 1), (N,) -> (): the mean of the N squared differences."""
    ### BEGIN SOLUTION
    return (predictions.squeeze(1) - targets).square().mean()
    ### END SOLUTION


def standardised(x: torch.Tensor) -> torch.Tensor:
    """(rows, columns) -> the same shape: each column with mean 0 and standard deviation 1."""
    ### BEGIN SOLUTION
    return (x - x.mean(0)) / x.std(0)
    ### END SOLUTION


def channels_first(pictures: torch.Tensor) -> torch.Tensor:
    """(N, H, W, C) -> (N, C, H, W)"""
    ### BEGIN SOLUTION
    return pictures.permute(0, 3, 1, 2)
    ### END SOLUTION
