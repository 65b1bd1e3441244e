import os
from pathlib import Path

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler


def save(path: Path, model: nn.Module, optimizer: Optimizer, schedule: LRScheduler, epoch: int) -> None:
    """A checkpoint at `path`, or, if writing fails, what was there before."""
    ### BEGIN SOLUTION
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "rng": torch.get_rng_state(),
        "epoch": epoch,
    }
    part = Path(path).with_name(Path(path).name + ".part")
    torch.save(state, part)
    os.replace(part, path)
    ### END SOLUTION


def load(path: Path, model: nn.Module, optimizer: Optimizer, schedule: LRScheduler) -> int:
    """Fills model, optimizer and schedule, sets the random number generator, and returns the epoch."""
    ### BEGIN SOLUTION
    state = torch.load(path, map_location="cpu", weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    schedule.load_state_dict(state["schedule"])
    torch.set_rng_state(state["rng"])
    return state["epoch"]
    ### END SOLUTION
