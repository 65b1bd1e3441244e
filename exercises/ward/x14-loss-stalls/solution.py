import torch
from torch import nn
from torch.nn import functional as F


def pretrained(seed: int = 0) -> nn.Module:
    """A network that has been trained before, on something similar."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 8))
    with torch.no_grad():
        for p in model.parameters():
            p.normal_(std=0.5)
    return model


def task(model: nn.Module, count: int = 256) -> tuple[torch.Tensor, torch.Tensor]:
    """What it is to learn now: targets of a network whose weights are a little different."""
    x = torch.randn(count, 16)
    with torch.no_grad():
        weights = {name: p + 0.03 * torch.randn_like(p) for name, p in model.named_parameters()}
        return x, torch.func.functional_call(model, weights, x)


def tune(steps: int = 200, lr: float = 3e-4, seed: int = 0) -> list[float]:
    """Fine-tune with products in bfloat16, which the hardware is fast at; the loss of each step."""
    model = pretrained(seed)
    x, y = task(model)
    ### BEGIN SOLUTION
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.0)
    ### INSTEAD
    # model.to(torch.bfloat16)
    # optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.0)
    ### END SOLUTION
    losses = []
    for _ in range(steps):
        batch = torch.randint(len(x), (64,))
        ### BEGIN SOLUTION
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = model(x[batch])
        ### INSTEAD
        # out = model(x[batch].bfloat16())
        ### END SOLUTION
        loss = F.mse_loss(out.float(), y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def diagnosis() -> str:
    """The disease, by its name in `torchbook.practice.ward.DISEASES`."""
    ### BEGIN SOLUTION
    return "updates-rounded-away"
    ### END SOLUTION


if __name__ == "__main__":
    for steps in (20, 200, 400):
        print(f"{steps:3} steps: loss {sum(tune(steps)[-20:]) / 20:.3f}")
