import random

import torch
from torch import nn
from torch.optim.lr_scheduler import ExponentialLR, LambdaLR, StepLR
from torch.overrides import TorchFunctionMode


def _close(found, expected):
    return len(found) == len(expected) and all(
        abs(a - b) <= 1e-6 * abs(b) for a, b in zip(found, expected, strict=True)
    )


class _Optimizer(torch.optim.SGD):
    """Notes the rate of each update."""

    def __init__(self, params, lr):
        super().__init__(params, lr=lr)
        self.events = []

    def step(self, closure=None):
        self.events.append(self.param_groups[0]["lr"])
        return super().step(closure)


class _Scheduler(StepLR):
    """Notes its steps among the optimizer's updates."""

    def step(self, epoch=None):
        self.optimizer.events.append("scheduler")
        super().step()


def _events(train_with_schedule, epochs=4, batches=3):
    """What the function returned, and the updates (their rates) and scheduler steps in order."""
    model = nn.Linear(2, 3)
    optimizer = _Optimizer(model.parameters(), lr=1.0)
    scheduler = _Scheduler(optimizer, step_size=2, gamma=0.5)
    optimizer.events.clear()  # a scheduler steps once while it is made
    data = [(torch.randn(5, 2), torch.randint(3, (5,))) for _ in range(batches)]
    return train_with_schedule(model, data, optimizer, scheduler, epochs), optimizer.events


def test_holds_for_step_size_epochs(step_lr):
    rates = step_lr(0.3, 6, 5, 0.1)
    assert _close(rates[:5], [0.3] * 5), "the initial rate holds for `step_size` epochs, here 5"
    assert _close(rates, [0.3] * 5 + [0.03]), f"six epochs with step_size=5: five at 0.3, one at 0.03, not {rates}"


def test_drops_again(step_lr):
    rates = step_lr(1.0, 7, 2, 0.1)
    assert _close(rates, [1.0, 1.0, 0.1, 0.1, 0.01, 0.01, 0.001]), f"a drop after every two epochs, not {rates}"


class _Watch(TorchFunctionMode):
    """Notes what torch is asked for."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.seen.append(function.__name__)
        return function(*args, **kwargs or {})


def test_rates_without_torch(step_lr):
    made, init = [], torch.optim.lr_scheduler.LRScheduler.__init__

    def noted(self, *args, **kwargs):
        made.append(type(self).__name__)
        init(self, *args, **kwargs)

    torch.optim.lr_scheduler.LRScheduler.__init__ = noted
    try:
        with _Watch() as watch:
            step_lr(0.3, 6, 5, 0.1)
    finally:
        torch.optim.lr_scheduler.LRScheduler.__init__ = init
    assert not made and not watch.seen, (
        f"the rates are to be worked out without torch, which did {', '.join((made + watch.seen)[:3])}"
    )


def test_once_an_epoch(train_with_schedule):
    _, events = _events(train_with_schedule)
    count = events.count("scheduler")
    assert count == 4, f"4 epochs of 3 batches: the scheduler moved {count} times, not once an epoch"


def test_optimizer_first(train_with_schedule):
    _, events = _events(train_with_schedule)
    kinds = ["scheduler" if event == "scheduler" else "update" for event in events]
    assert kinds[:4] == ["update"] * 3 + ["scheduler"], (
        f"an epoch is three updates and then a scheduler's step, not {', '.join(kinds[:4])}"
    )


def test_rates_used(train_with_schedule):
    rates, events = _events(train_with_schedule)
    used = [event for event in events if event != "scheduler"][::3]
    assert _close(rates, used), f"the updates used {used}, the function says {rates}"


def test_clear_gain(is_better):
    assert is_better([0.90, 0.91, 0.92], [0.80, 0.81, 0.82]), "a gain of 0.10 where seeds scatter by 0.01 is a gain"


def test_noise(is_better):
    assert not is_better([0.88, 0.90, 0.89], [0.87, 0.90, 0.885]), (
        "the means differ by 0.005, and seeds alone scatter by more"
    )


def test_worse(is_better):
    assert not is_better([0.80, 0.81, 0.82], [0.90, 0.91, 0.92]), "a clear loss is not a gain: mind the sign"


def test_all_seeds_count(is_better):
    assert is_better([0.88, 0.88, 0.88], [0.80, 0.80, 0.885]), (
        "one lucky seed, or the whole range of the seeds, does not decide: compare means with a standard deviation"
    )


def test_sample_deviation(is_better):
    assert not is_better([0.91, 0.91], [0.80, 0.90]), (
        "two values that differ by 0.10 have the sample standard deviation 0.071: divide by n - 1"
    )


def test_larger_scatter(is_better):
    assert not is_better([0.80, 1.00], [0.80, 0.82]), "both groups of runs scatter: take the larger standard deviation"


def test_equal_is_not_better(is_better):
    assert not is_better([0.5, 0.5], [0.5, 0.5]), "no gain exceeds no scatter: `exceeds` leaves equality out"


def test_hidden_rates(step_lr, reference, seed):
    draw = random.Random(seed)
    for _ in range(50):
        given = draw.uniform(1e-4, 1.0), draw.randint(1, 30), draw.randint(1, 8), draw.choice([0.1, 0.3, 0.5, 0.9])
        assert _close(step_lr(*given), reference.step_lr(*given)), (
            "the rates for initial {:.3g}, epochs {}, step_size {}, gamma {} are wrong".format(*given)
        )


def _trained(function, schedule, seed):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    batches = [(torch.randn(6, 4), torch.randint(3, (6,))) for _ in range(4)]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
    rates = function(model, batches, optimizer, schedule(optimizer), 6)
    return rates, nn.utils.parameters_to_vector(model.parameters())


def test_hidden_same_weights(train_with_schedule, reference, seed):
    for schedule in (
        lambda optimizer: StepLR(optimizer, 2, 0.1),
        lambda optimizer: ExponentialLR(optimizer, 0.8),
        lambda optimizer: LambdaLR(optimizer, lambda epoch: min(1.0, (epoch + 1) / 4)),
    ):
        rates, weights = _trained(train_with_schedule, schedule, seed)
        right_rates, right_weights = _trained(reference.train_with_schedule, schedule, seed)
        assert _close(rates, right_rates), f"the rates with another scheduler are {right_rates}, not {rates}"
        assert torch.allclose(weights, right_weights, atol=1e-6), (
            "the weights are not those of six epochs: one update a batch, from this batch's gradients alone"
        )


def test_hidden_is_better(is_better, reference, seed):
    draw = random.Random(seed)
    for _ in range(300):
        first, second = ([draw.gauss(mean, 0.01) for _ in range(draw.randint(2, 6))] for mean in (0.9, 0.89))
        assert bool(is_better(first, second)) == reference.is_better(first, second), (
            f"wrong for {[round(s, 4) for s in first]} and {[round(s, 4) for s in second]}"
        )
