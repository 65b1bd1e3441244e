import contextlib
import inspect
import io
import random

import numpy as np
import torch

from torchbook.practice.ranks import Ranks

RANKS = Ranks(world=1, variables={"PYTHONHASHSEED": "12345"})

_DATA = """
import hashlib


def data(seed=0, rows=40, width=4000, names=8):
    draw = torch.Generator().manual_seed(seed)
    numbers = torch.arange(rows) % names
    x = torch.randn(rows, width, generator=draw) + 0.5 * torch.randn(names, width, generator=draw)[numbers]
    return x, [f"label {chr(97 + 7 * int(n) % 26)}" for n in numbers]


def bits(run):
    digest = hashlib.sha256()
    for t in run.net.state_dict().values():
        digest.update(bytes(t.detach().contiguous().reshape(-1).view(torch.uint8).tolist()))
    return digest.hexdigest()
"""
_CASES = (
    _DATA
    + """
def cases(answer):
    def train():
        run = answer.Exact(*data(), 3)
        run.advance(4)
        return bits(run)

    yield "train", train, 0
"""
)
_names = {"torch": torch}
exec(_DATA, _names)
data, bits = _names["data"], _names["bits"]


def _state():
    found = random.getstate(), tuple(np.random.get_state()[1]), tuple(torch.get_rng_state().tolist())
    return (*found, torch.get_num_threads(), torch.are_deterministic_algorithms_enabled())


def _stir():
    """Another state of all generators."""
    random.random(), np.random.random(), torch.rand(3)


_VECTORS = torch.randn(8, 100_000, generator=torch.Generator().manual_seed(0))


def _sums():
    return torch.stack([v.sum() for v in _VECTORS])


def _audited(audit, program, why, **expected):
    usual = dict.fromkeys(("random", "numpy", "torch", "threads", "other"), False)
    found = audit(program)
    missing = [name for name in usual if name not in found]
    assert not missing, f"the dictionary lacks {', '.join(missing)}"
    for name, value in (usual | expected).items():
        given = None if found[name] is None else bool(found[name])
        assert given == value, f"{why}: {name!r} should be {value}, not {given}"


def test_audit(audit):
    x = torch.linspace(0, 1, 5)
    _audited(audit, lambda: x * 2, "a product of constants depends on nothing")
    _audited(audit, lambda: x + random.random(), "the program uses Python's generator", random=True)
    _audited(
        audit, lambda: x + torch.from_numpy(np.random.normal(size=5)), "the program uses numpy's generator", numpy=True
    )
    _audited(audit, lambda: x + torch.randn(5), "the program uses torch's generator", torch=True)
    _audited(audit, _sums, "eight sums over 100,000 numbers, each cut into one part per thread", threads=True)
    _audited(
        audit,
        lambda: torch.stack([torch.rand(()), torch.tensor(random.random())]),
        "the program uses two generators",
        random=True,
        torch=True,
    )


def test_audit_of_a_training(audit):
    w = torch.linspace(0, 1, 5, requires_grad=True)
    _audited(audit, lambda: w * 2, "a product of weights depends on nothing")

    def step():
        assert torch.is_grad_enabled(), "the program trains, so it must not be called where gradients are not recorded"
        return w - torch.autograd.grad((w * torch.rand(5)).sum(), w)[0]

    _audited(audit, step, "a step along a random gradient", torch=True)


def test_audit_of_one_number(audit):
    for threads in (2, 3, 4):
        program = lambda threads=threads: torch.tensor(torch.get_num_threads() == threads)  # noqa: E731
        _audited(audit, program, f"the program asks whether there are {threads} threads", threads=True)


def test_audit_of_a_coin(audit):
    for bit in range(1, 9):
        coin = lambda bit=bit: torch.tensor(int(random.random() * 2**bit) % 2)  # noqa: E731
        _audited(audit, coin, "one coin is tossed, and two seeds may give the same side", random=True)
    coin = lambda: torch.tensor(np.random.randint(2))  # noqa: E731
    _audited(audit, coin, "numpy tosses a coin", numpy=True)
    _audited(audit, lambda: torch.randint(2, ()), "torch tosses a coin", torch=True)
    zeros = lambda: torch.zeros(3) * (1 if random.random() < 0.5 else -1)  # noqa: E731
    _audited(audit, zeros, "a coin decides between 0 and -0, which differ in one bit", random=True)


def test_audit_other(audit):
    calls = iter(range(10**6))
    unknown = dict.fromkeys(("random", "numpy", "torch", "threads"), None)
    _audited(audit, lambda: torch.tensor(next(calls)), "the program counts its calls", other=True, **unknown)
    _audited(
        audit,
        lambda: torch.tensor(next(calls) % 2),
        "every second call gives a different result",
        other=True,
        **unknown,
    )
    generator = torch.Generator()
    _audited(
        audit, lambda: torch.rand(3, generator=generator), "the program has its own generator", other=True, **unknown
    )
    nan = torch.tensor([1.0, float("nan")])
    _audited(audit, lambda: nan.clone(), "a NaN is not equal to itself, but has the same bits each time")


def test_audit_puts_back(audit):
    for draw in (random.random, np.random.random, lambda: torch.rand(1)):
        draw()  # so that no seed that is set anew gives the same state
    before = _state()
    audit(lambda: torch.rand(3) + random.random() + np.random.random())
    assert _state() == before, "after the audit, a generator or the number of threads is not what it was before"

    def fails():
        raise FloatingPointError

    with contextlib.suppress(FloatingPointError):  # it goes on, or the audit has an answer: nothing was said of it
        audit(fails)
    assert _state() == before, (
        "after the audit of a program that raises, a generator or the number of threads is not what it was before"
    )


def test_augment(augment):
    row = torch.linspace(-1, 1, 3000)
    first = augment(row, 1, 2, 3)
    _stir()
    augment(row, 1, 2, 4)
    assert first.equal(augment(row, 1, 2, 3)), (
        "the same three numbers must give the same noise, whatever was drawn before"
    )
    noise = first - row
    assert noise.shape == row.shape, "every element gets its own noise"
    assert abs(noise.mean()) < 0.01, f"the noise has the mean {noise.mean():.3f}, not 0"
    assert 0.09 < noise.std() < 0.11, f"the noise has the standard deviation {noise.std():.3f}, not 0.1"
    before = _state()
    augment(row, 1, 2, 3)
    assert _state() == before, "`augment` draws from a global generator, or seeds it"


def test_augment_triples(augment):
    row, seen = torch.zeros(4), {}
    for triple in ((s, e, i) for s in (0, 1, 2, 10) for e in (0, 1, 2, 10, 21) for i in (0, 1, 2, 10, 1000)):
        noise = tuple(augment(row, *triple).tolist())
        assert noise not in seen, f"{triple} and {seen[noise]} have the same noise"
        seen[noise] = triple


def _run(exact, steps=(4,), seed=3, stir=False):
    run = exact(*data(), seed)
    for count in steps:
        if stir:
            _stir()
        run.advance(count)
    return bits(run)


def test_learns(Exact):
    x, labels = data()
    run = Exact(x, labels, 0)
    run.advance(20)
    assert sorted(run.classes) == sorted(set(labels)), "`classes` must have a number for each label"
    run.net.eval()
    with torch.no_grad():
        found = run.net(x).argmax(1).tolist()
    right = sum(run.classes[name] == number for name, number in zip(labels, found, strict=True))
    assert right > 30, f"after 20 steps, only {right} of 40 rows get the right label; more than 30 must"


def test_trains_as_careless(augment, Exact):
    x, labels = data()
    run, rows, triples, inputs = Exact(x, labels, 3), [], [], []
    parameters = list(run.net.parameters())
    weights, momenta = ([f(p.detach()) for p in parameters] for f in (torch.clone, torch.zeros_like))
    gradients = [[] for _ in parameters]

    def noted(row, seed, epoch, index):
        rows.append(int((x - row).abs().sum(1).argmin()))
        triples.append((int(seed), int(epoch), int(index)))
        return augment(row, seed, epoch, index)

    handles = [run.net.register_forward_pre_hook(lambda _, args: inputs.append(args[0].detach().clone()))]
    for p, found in zip(parameters, gradients, strict=True):
        handles.append(p.register_hook(lambda g, found=found: found.append(g.clone())))
    names = inspect.unwrap(augment).__globals__
    names["augment"] = noted
    try:
        run.advance(6)  # two epochs of 40 rows
    finally:
        names["augment"] = augment
        for handle in handles:
            handle.remove()
    first, second = rows[:40], rows[40:]
    assert sorted(first) == sorted(second) == list(range(40)), (
        "an epoch is 3 steps through all 40 rows, each with noise from `augment`; in two epochs there was noise for "
        f"{len(rows)} rows, with {len(set(first))} different ones among the first 40"
    )
    assert first != second, "the second epoch has the rows in the same order as the first"
    assert len(set(triples)) == 80, "in two epochs, the same three numbers are used twice, and give the same noise"
    sizes = [len(t) for t in inputs]
    assert sizes == [16, 16, 8] * 2, f"a step has 16 rows, and the last step of an epoch has the rest; found {sizes}"
    for t in inputs:
        size = t.square().mean().sqrt().item()
        assert abs(size - 1) < 1e-3, f"a batch is divided by its root mean square, which is then 1, not {size:.3f}"
    for step in range(6):
        for w, v, found in zip(weights, momenta, gradients, strict=True):
            v.mul_(0.9).add_(found[step])
            w.sub_(0.05 * v)
    gap = max((p - w).abs().max().item() for p, w in zip(parameters, weights, strict=True))
    assert gap < 1e-5, f"with these gradients, SGD (rate 0.05, momentum 0.9) gives weights that differ by {gap:.1g}"


def test_repeats(Exact):
    usual = _run(Exact)
    assert _run(Exact, (1, 2, 1), stir=True) == usual, "the bits depend on what is drawn elsewhere"
    assert _run(Exact, seed=4) != usual, "two seeds give the same bits"
    one, two = (Exact(*data(), 3) for _ in range(2))
    for _ in range(4):
        one.advance(1)
        two.advance(1)
    assert bits(one) == bits(two) == usual, "two trainings that take turns disturb each other"


def test_threads(Exact):
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 4):
            torch.set_num_threads(threads)
            found.append(tuple(_run(Exact, (16,), seed) for seed in (3, 4, 5)))  # the roundings of a few may agree
    finally:
        torch.set_num_threads(before)
    assert len(set(found)) == 1, "with 1, 2 and 4 threads the bits differ, because sums are cut into different parts"


def test_good_guest(Exact):
    x, labels = data()
    before = _state()
    run = Exact(x, labels, 0)
    run.advance(1)
    other = Exact(x, labels, 1)
    other.load_state_dict(run.state_dict())
    other.advance(1)
    names = (
        "Python's generator",
        "numpy's generator",
        "torch's generator",
        "the number of threads",
        "a setting of torch",
    )
    changed = [name for name, a, b in zip(names, before, _state(), strict=True) if a != b]
    assert not changed, f"not the same as before the calls: {', '.join(changed)}"


def test_another_process(Exact, source):
    here = _run(Exact)
    (there,) = RANKS.values(_CASES, source, "train")
    assert here == there, (
        "a process with a different PYTHONHASHSEED gets different bits: in what order do you number labels?"
    )


def _saved(state):
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file)


def test_resumes(Exact):
    whole = _run(Exact, (6,))
    for steps in (3, 2, 4):  # three steps are an epoch of 40 rows
        run = Exact(*data(), 3)
        run.advance(steps)
        state = _saved(run.state_dict())
        again = Exact(*data(), 99)
        again.advance(1)
        again.load_state_dict(state)
        assert bits(again) == bits(run), "immediately after loading, the weights are not those of the state"
        again.advance(6 - steps)
        assert bits(again) == whole, (
            f"resumed after {steps} steps, the training ends with different bits than in one go"
        )


def test_state_is_a_snapshot(Exact):
    run = Exact(*data(), 3)
    run.advance(2)
    state = run.state_dict()
    run.advance(4)
    ends = []
    for _ in range(2):
        again = Exact(*data(), 5)
        again.load_state_dict(state)
        again.advance(4)
        ends.append(bits(again))
    assert ends[0] == bits(run), "the state changed while training went on"
    assert ends[1] == ends[0], "a run that was resumed from the state changed it"


def test_hidden_audit(audit, seed):
    draw = random.Random(seed)
    for _ in range(4):
        parts = {name: draw.random() < 0.5 for name in ("random", "numpy", "torch", "threads")}

        def program(parts=parts):
            values = [random.random() if parts["random"] else 0.5, np.random.random() if parts["numpy"] else 0.5]
            values.append(torch.rand(()).item() if parts["torch"] else 0.5)
            return torch.cat([torch.tensor(values), _sums() if parts["threads"] else torch.zeros(8)])

        _audited(
            audit, program, f"a program that depends on {', '.join(n for n in parts if parts[n]) or 'nothing'}", **parts
        )


def test_hidden_exact(Exact, seed):
    draw = random.Random(seed)
    x, labels = data(seed + 1, rows=draw.randint(33, 60), width=2500, names=draw.randint(3, 6))
    runs = [Exact(x, labels, seed) for _ in range(3)]
    steps = [draw.randint(1, 3) for _ in range(3)]
    for count in steps:
        runs[0].advance(count)
        _stir()
        state = _saved(runs[1].state_dict())
        runs[1] = Exact(x, labels, 1000 + count)
        runs[1].load_state_dict(state)
        runs[1].advance(count)
    runs[2].advance(sum(steps))
    assert bits(runs[0]) == bits(runs[2]), (
        f"advancing by {steps} and by {sum(steps)} steps in one go gives different bits"
    )
    assert bits(runs[1]) == bits(runs[2]), f"advancing by {steps}, resumed before each, gives different bits"
