import random

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class _Machine:
    """A clock that only work moves, and a queue of work that was asked for and not waited for."""

    def __init__(self, waiting=0.0):
        self.now, self.waiting, self.pace = 0.0, waiting, 1.0

    def clock(self):
        return self.now

    def synchronize(self):
        self.now += self.waiting
        self.waiting = 0.0

    def busy(self, *seconds):
        """A function that takes these times, one a call, and then the last one for ever."""
        return _Function(self, seconds, 0.0)

    def asks(self, *seconds):
        """A function that returns after a millisecond and leaves the work in the queue."""
        return _Function(self, seconds, 0.001)


class _Function:
    def __init__(self, machine, seconds, launch):
        self.machine, self.seconds, self.launch, self.calls = machine, seconds, launch, 0

    def __call__(self):
        took = self.seconds[min(self.calls, len(self.seconds) - 1)] * self.machine.pace
        self.calls += 1
        if self.launch:
            self.machine.now += self.launch
            self.machine.waiting += took - self.launch
        else:
            self.machine.now += took


def _near(found, expected):
    return abs(found - expected) <= 1e-6 * expected


def test_quotient(time_ratio):
    machine = _Machine()
    found = time_ratio(machine.busy(6.0), machine.busy(2.0), clock=machine.clock)
    assert _near(found, 3.0), f"f takes 6 s and g takes 2 s: f takes 3 times as long, not {found:.3g} times"


def test_warm_up(time_ratio):
    machine = _Machine()
    found = time_ratio(machine.busy(90.0, 50.0, 6.0), machine.busy(80.0, 2.0), rounds=1, clock=machine.clock)
    assert _near(found, 3.0), "the first calls, which are slow, were measured: call both `warmup` times before"


def test_number_of_calls(time_ratio):
    machine = _Machine()
    f, g = machine.busy(6.0), machine.busy(2.0)
    time_ratio(f, g, rounds=5, warmup=3, clock=machine.clock)
    assert (f.calls, g.calls) == (8, 8), f"each is called warmup + rounds = 8 times, not {f.calls} and {g.calls} times"


def test_median(time_ratio):
    machine = _Machine()
    f, g = machine.busy(6.0, 6.0, 6.0, 500.0, 6.0), machine.busy(2.0)
    found = time_ratio(f, g, rounds=5, warmup=0, clock=machine.clock)
    assert _near(found, 3.0), f"one interrupted call out of five moved the answer to {found:.3g}: take the median"


def test_interleaved(time_ratio):
    machine = _Machine()
    f, g = machine.busy(6.0), machine.busy(2.0)

    def slower_each_time(function):
        def call():
            machine.pace = 1.0 if f.calls + g.calls < 10 else 7.0
            function()

        return call

    found = time_ratio(slower_each_time(f), slower_each_time(g), rounds=10, warmup=0, clock=machine.clock)
    assert _near(found, 3.0), (
        f"half-way the machine became slower, and the answer {found:.3g}: time f and g in turn, in each round"
    )


def test_quotient_of_each_round(time_ratio):
    machine = _Machine()
    f, g = machine.busy(6.0, 60.0, 9.0), machine.busy(2.0, 20.0, 3.5)
    found = time_ratio(f, g, rounds=3, warmup=0, clock=machine.clock)
    assert _near(found, 3.0), "take the quotient in each round, and then the median of the quotients"


def test_waits_for_its_own_work(time_ratio):
    machine = _Machine()
    found = time_ratio(machine.asks(6.0), machine.asks(2.0), clock=machine.clock, synchronize=machine.synchronize)
    assert _near(found, 3.0), (
        "the calls return before their work is done: synchronise before the stopwatch is read at the end"
    )


def test_does_not_wait_for_others(time_ratio):
    machine = _Machine(waiting=100.0)
    f, g = machine.asks(6.0), machine.asks(2.0)
    found = time_ratio(f, g, rounds=1, warmup=0, clock=machine.clock, synchronize=machine.synchronize)
    assert _near(found, 3.0), "work that was under way before is in the time of f: synchronise before the start"


def test_real_clock(time_ratio):
    found = time_ratio(lambda: sum(range(20_000)), lambda: sum(range(200)))
    assert found > 3, "with the real clock, a sum that is a hundred times as long took no three times as long"


def test_shapes(training_step):
    model, _ = training_step("cpu", 4)
    try:
        found = tuple(model(torch.zeros(2, 3, 32, 32)).shape)
    except RuntimeError as error:
        found = str(error)
    assert found == (2, 10), f"the model maps pictures of shape (B, 3, 32, 32) to logits (B, 10), but: {found}"


def test_step_learns(training_step):
    torch.manual_seed(0)
    model, step = training_step(torch.device("cpu"), 8)
    before = [p.detach().clone() for p in model.parameters()]
    step()
    after = list(model.parameters())
    assert any(not p.equal(q) for p, q in zip(before, after, strict=True)), (
        "a step changed no parameter: forward, loss, backward and the optimizer's step all belong to it"
    )


def test_step_clears(training_step):
    torch.manual_seed(0)
    model, step = training_step("cpu", 8)
    sizes = []
    for _ in range(60):
        step()
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        sizes.append(sum(g.abs().sum().item() for g in gradients))
    assert sizes[-1] <= sizes[0], (
        "on one small batch the gradients should shrink, and they grow: are they cleared in each step?"
    )


class _Listener(TorchDispatchMode):
    """Notes which operations run."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.seen.add(function.name().removeprefix("aten::").split(".")[0])
        return function(*args, **kwargs or {})


def test_batch_is_made_before(training_step):
    _, step = training_step("cpu", 8)
    with _Listener() as listener:
        step()
    made = listener.seen & {"randn", "rand", "randint", "normal_", "uniform_", "random_"}
    assert not made, "the step makes its batch or its model anew: that is measured too, so make them before"


def test_step_fetches_no_number(training_step):
    try:
        _, step = training_step("meta", 4)  # a device that has shapes and no numbers
    except (NotImplementedError, RuntimeError, ValueError) as error:
        if isinstance(error, NotImplementedError) and not error.args:
            raise
        return  # made of something that this device has not, a generator of its own, say
    try:
        step()
    except (NotImplementedError, RuntimeError) as error:
        if isinstance(error, NotImplementedError) and not error.args:
            raise
        raise AssertionError(
            f"a step must run without a number that Python knows, and needs one: item, tolist, cpu or numpy? ({error})"
        ) from None


def test_batch_is_of_pictures(training_step):
    model, step = training_step("cpu", 4)
    shapes = []
    model.register_forward_pre_hook(lambda _, args: shapes.append(tuple(args[0].shape)))
    step()
    assert shapes[:1] == [(4, 3, 32, 32)], f"a step trains on batch_size pictures, (4, 3, 32, 32), not on {shapes[:1]}"


def test_hidden_queue(time_ratio, seed):
    draw = random.Random(seed)
    for _ in range(10):
        machine = _Machine(waiting=draw.uniform(10, 100))
        f, g = machine.asks(draw.uniform(1, 9)), machine.asks(draw.uniform(1, 9))
        given = {"rounds": draw.randint(1, 4), "warmup": draw.randint(0, 2)}
        found = time_ratio(f, g, clock=machine.clock, synchronize=machine.synchronize, **given)
        assert _near(found, f.seconds[0] / g.seconds[0]), f"on a queue the quotient is wrong for {given}"


def test_hidden_random(time_ratio, reference, seed):
    draw = random.Random(seed)
    for _ in range(20):
        times = [[draw.uniform(1, 9) for _ in range(12)] for _ in range(2)]
        given = {"rounds": draw.randint(1, 9), "warmup": draw.randint(0, 3)}
        answers = []
        for ratio in (time_ratio, reference.time_ratio):
            machine = _Machine()
            answers.append(ratio(machine.busy(*times[0]), machine.busy(*times[1]), clock=machine.clock, **given))
        assert _near(*answers), f"the median of the rounds' quotients is wrong for {given}"
