import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils._python_dispatch import TorchDispatchMode

from torchbook.practice import ward

AGAINST = {
    "gradients-rounded-to-zero": "they are far from it: bfloat16 has the range of float32",
    "vanishing-gradient": "the gradients of both layers are as large as in a run that learns",
    "overflow": "no number is inf or NaN, and the largest is below 100",
    "learning-rate-too-high": "with a smaller learning rate it stalls earlier, with a larger one later",
    "capacity-too-small": "the targets come from a network of the same shape",
    "graph-cut": "every parameter has a gradient",
    "parameters-left-out": "the optimizer has all of them",
    "dead-units": "tanh has a slope everywhere, and every weight has a gradient",
    "gradients-not-cleared": "they are cleared before every backward",
    "wrong-mode": "no layer here has a mode",
}
_PRODUCTS = {"mm", "addmm", "bmm", "baddbmm", "linear"}


class _Products(TorchDispatchMode):
    """Counts matrix products by dtype."""

    def __init__(self):
        super().__init__()
        self.counts = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.overloadpacket.__name__ in _PRODUCTS:
            dtype = next(one.dtype for one in reversed(args) if isinstance(one, torch.Tensor))
            self.counts[dtype] = self.counts.get(dtype, 0) + 1
        return func(*args, **(kwargs or {}))


def _counted(tune, steps):
    with _Products() as products:
        tune(steps=steps)
    return products.counts


def test_diagnosis(diagnosis):
    ward.confirm(
        diagnosis, "ward-x14", "942fc6aac20dce3f", AGAINST, "does it explain healthy gradients and weights that stand?"
    )


def test_learns(diagnosis, tune):
    diagnosis()
    losses = tune(steps=150)
    first, last = sum(losses[:5]) / 5, sum(losses[-20:]) / 20
    assert last < 0.3 * first, f"the loss was {first:.3f} at first and is {last:.3f} after 150 steps: it stalls"


def test_products(diagnosis, tune):
    diagnosis()
    few, many = _counted(tune, 1), _counted(tune, 5)
    steps = {dtype: (many[dtype] - few.get(dtype, 0)) / 4 for dtype in many}
    slow = sum(count for dtype, count in steps.items() if dtype != torch.bfloat16)
    assert slow == 0, f"each step computes {slow:g} matrix products in another dtype than bfloat16"
    fast = steps.get(torch.bfloat16, 0)
    assert fast >= 5, f"each step computes {fast:g} products in bfloat16: two forward and three backward are needed"


def test_hidden_rates(diagnosis, tune, reference, seed):
    diagnosis()
    decays = set()
    hook = register_optimizer_step_pre_hook(
        lambda optimizer, *_: decays.update(group.get("weight_decay", 0.0) for group in optimizer.param_groups)
    )
    try:
        tune(steps=1, seed=seed)
    finally:
        hook.remove()
    assert decays <= {0.0}, f"weights decay by {max(decays):g} now, and the optimizer was to stay: it let none decay"
    for lr in (3e-4, 1e-4):
        found, expected = (sum(one(steps=80, lr=lr, seed=seed)[-20:]) / 20 for one in (tune, reference.tune))
        assert 0.8 * expected < found < 1.25 * expected, (
            f"with the learning rate {lr:g} the loss is {found:.4f} after 80 steps; AdamW whose updates all count, "
            f"with that rate, has {expected:.4f}"
        )
