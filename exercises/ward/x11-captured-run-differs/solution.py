import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional as F


class WarmUp:
    """A factor that rises from 0 to 1 in so many steps."""

    def __init__(self, length: int) -> None:
        self.length, self.done = length, 0

    def step(self) -> None:
        self.done += 1

    @property
    def factor(self) -> float:
        return min(1.0, self.done / self.length)


def train(captured: bool, steps: int = 200, seed: int = 0) -> list[tuple[float, float]]:
    """The error and the divergence of a linear variational autoencoder, step by step."""
    torch.manual_seed(seed)
    mixing = 0.7 * torch.randn(3, 12)
    shapes = (12, 6), (6,), (3, 12), (12,)
    weights = [(0.2 * torch.randn(shape)).requires_grad_() for shape in shapes]
    warm_up = WarmUp(50)

    def gradients(weights: list[torch.Tensor], batch: list[torch.Tensor]) -> list[torch.Tensor]:
        w, b, v, c = weights
        ### BEGIN SOLUTION
        x, noise, factor = batch
        ### INSTEAD
        # x, noise = batch
        ### END SOLUTION
        mean, log_var = (x @ w + b).chunk(2, 1)  # (B, 3) each
        decoded = (mean + noise * (0.5 * log_var).exp()) @ v + c
        error = F.mse_loss(decoded, x, reduction="sum") / len(x)
        divergence = 0.5 * (mean.square() + log_var.exp() - 1 - log_var).sum() / len(x)
        ### BEGIN SOLUTION
        loss = error + factor * divergence
        ### INSTEAD
        # loss = error + warm_up.factor * divergence
        ### END SOLUTION
        return [error.detach(), divergence.detach(), *torch.autograd.grad(loss, weights)]

    compute, history = gradients, []
    for step in range(steps):
        x = torch.randn(64, 3) @ mixing + 0.5 * torch.randn(64, 12)
        ### BEGIN SOLUTION
        batch = [x, torch.randn(64, 3), torch.tensor(warm_up.factor)]
        ### INSTEAD
        # batch = [x, torch.randn(64, 3)]
        ### END SOLUTION
        if captured and step == 0:
            compute = make_fx(gradients)(weights, batch)  # from now on the recorded operations run
        error, divergence, *found = compute(weights, batch)
        with torch.no_grad():
            for weight, gradient in zip(weights, found, strict=True):
                weight -= 0.004 * gradient
        warm_up.step()
        history.append((error.item(), divergence.item()))
    return history


def diagnosis() -> str:
    """The disease, by its name in `torchbook.practice.ward.DISEASES`."""
    ### BEGIN SOLUTION
    return "constant-baked-in"
    ### END SOLUTION


if __name__ == "__main__":
    eager, captured = train(captured=False), train(captured=True)
    for step in (0, 1, 10, 50, 199):
        (error, divergence), (other, another) = eager[step], captured[step]
        print(f"step {step:3}: eager {error:5.2f} {divergence:5.2f}, captured {other:5.2f} {another:5.2f}")
