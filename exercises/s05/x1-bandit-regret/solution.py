import torch


def greedy(mean: torch.Tensor, pulls: torch.Tensor) -> torch.Tensor:
    """The best arm so far in each run; arms that were never pulled come first."""
    ### BEGIN SOLUTION
    return mean.masked_fill(pulls == 0, torch.inf).argmax(1)
    ### END SOLUTION


def epsilon_greedy(mean: torch.Tensor, pulls: torch.Tensor, epsilon: float) -> torch.Tensor:
    """As `greedy`, but each run takes any arm with probability `epsilon`."""
    ### BEGIN SOLUTION
    runs, arms = mean.shape
    explores = torch.rand(runs) < epsilon
    return torch.where(explores, torch.randint(arms, (runs,)), greedy(mean, pulls))
    ### END SOLUTION


def ucb(mean: torch.Tensor, pulls: torch.Tensor, c: float) -> torch.Tensor:
    """The arm with the highest upper confidence bound in each run."""
    ### BEGIN SOLUTION
    t = pulls.sum(1, keepdim=True).clamp(min=1)  # (runs, 1)
    bound = mean + c * (t.log() / pulls.clamp(min=1)).sqrt()
    return bound.masked_fill(pulls == 0, torch.inf).argmax(1)
    ### END SOLUTION


def regret(truth: torch.Tensor, arms: torch.Tensor) -> torch.Tensor:
    """Regret so far after each step, mean of all runs: (steps,) from (runs, arms) and (steps, runs)."""
    ### BEGIN SOLUTION
    pulled = truth.gather(1, arms.T)  # (runs, steps)
    return (truth.max(1, keepdim=True).values - pulled).mean(0).cumsum(0)
    ### END SOLUTION
