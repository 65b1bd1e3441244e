import random
import statistics
import time

import torch
from torch.overrides import TorchFunctionMode
from torch.utils.data import DataLoader, Dataset


class _Loader:
    """A loader on a clock that only it moves: `start` seconds for `iter`, then so many for each batch.

    A batch is pictures and labels, and behind them the tuple `more`, which is the same in each.
    """

    def __init__(self, seconds, sizes, start=0.0, more=()):
        self.now, self.seconds, self.sizes, self.start, self.more = 0.0, seconds, sizes, start, more
        self.iterated = self.taken = 0

    def clock(self):
        return self.now

    def __len__(self):
        return len(self.sizes)

    def __iter__(self):
        self.iterated += 1
        return _Iterator(self)


class _Iterator:
    def __init__(self, loader):
        self.loader, self.place = loader, 0
        loader.now += loader.start

    def __iter__(self):
        return self

    def __next__(self):
        if self.place >= len(self.loader.sizes):
            raise StopIteration
        self.loader.now += self.loader.seconds[self.place]
        self.loader.taken += 1
        size = self.loader.sizes[self.place]
        self.place += 1
        return torch.zeros(size, 3), torch.zeros(size), *self.loader.more


def _near(found, expected):
    return abs(found - expected) <= 1e-6 * abs(expected)


def test_rate(samples_per_second):
    loader = _Loader([0.5] * 50, [8] * 50)
    found = samples_per_second(loader, clock=loader.clock)
    assert _near(found, 16), f"8 samples every half second are 16 samples a second, not {found:.4g}"


def test_start_is_not_measured(samples_per_second):
    loader = _Loader([90.0, 20.0, 7.0] + [0.5] * 50, [8] * 53, start=60.0)
    found = samples_per_second(loader, batches=10, warmup=3, clock=loader.clock)
    assert _near(found, 16), (
        f"a slow start and three slow batches were to be the warm-up, and the rate is {found:.3g} instead of 16"
    )


def test_iterates_once(samples_per_second):
    loader = _Loader([0.5] * 50, [8] * 50, start=60.0)
    samples_per_second(loader, batches=10, warmup=3, clock=loader.clock)
    assert loader.iterated == 1, f"the loader was iterated {loader.iterated} times: each time starts all workers anew"
    assert loader.taken == 13, f"3 batches for the warm-up and 10 measured ones are 13, but {loader.taken} were taken"


def test_counts_samples(samples_per_second):
    loader = _Loader([1.0] * 4, [10, 10, 10, 1])
    found = samples_per_second(loader, batches=3, warmup=1, clock=loader.clock)
    assert _near(found, 7), f"batches of 10, 10 and 1 in 3 seconds are 7 samples a second, not {found:.4g}"
    loader = _Loader([1.0] * 4, [10, 10, 10, 1], more=(torch.zeros(3),))
    found = samples_per_second(loader, batches=3, warmup=1, clock=loader.clock)
    assert _near(found, 7), (
        f"a batch has len(batch[0]) samples, whatever stands at the end of the tuple: 7 a second, not {found:.4g}"
    )


def test_short_loader(samples_per_second):
    loader = _Loader([1.0] * 5, [6] * 5)
    found = samples_per_second(loader, batches=20, warmup=2, clock=loader.clock)
    assert _near(found, 6), (
        f"a loader of 5 batches has 3 after the warm-up, which give 6 samples a second, not {found:.4g}"
    )
    loader = _Loader([1.0] * 2, [6] * 2)
    try:
        found = samples_per_second(loader, batches=20, warmup=2, clock=loader.clock)
    except ValueError:
        return
    except (ZeroDivisionError, StopIteration, RuntimeError) as error:
        raise AssertionError(f"nothing comes after the warm-up: ValueError, not {type(error).__name__}") from None
    raise AssertionError(f"the loader ended within the warm-up, and a rate of {found} was returned: raise ValueError")


def test_real_loader(samples_per_second):
    class Slow(Dataset):
        def __len__(self):
            return 40

        def __getitem__(self, i):
            time.sleep(0.002)
            return torch.zeros(3), 0

    found = samples_per_second(DataLoader(Slow(), 4), batches=6, warmup=1)
    assert 5 < found <= 500, f"samples of 2 ms cannot come faster than 500 a second: {found:.4g}"


class _Bench:
    """Gives each number of workers its rate, or of several the next one at each measurement."""

    def __init__(self, rates):
        self.rates, self.calls, self.made = rates, [], 0

    def make(self, workers):
        self.made += 1
        return [workers, "new"]

    def measure(self, loader):
        workers, state = loader
        assert state == "new", "a loader was measured twice: make a new one for each measurement"
        loader[1] = "used"
        self.calls.append(workers)
        rates = self.rates[workers]
        return rates[self.calls.count(workers) - 1] if isinstance(rates, list) else rates


def _best(best_workers, rates, candidates=None, **given):
    bench = _Bench(rates)
    chosen, found = best_workers(bench.make, candidates or list(rates), measure=bench.measure, **given)
    return chosen, dict(found), bench


def test_fewest(best_workers):
    chosen, rates, _ = _best(best_workers, {0: 100.0, 2: 300.0, 4: 580.0, 8: 600.0, 16: 590.0})
    assert rates == {0: 100.0, 2: 300.0, 4: 580.0, 8: 600.0, 16: 590.0}, "the rates, by the number of workers"
    assert chosen == 4, f"4 workers come within 5 % of the best rate: take the fewest, not {chosen}"


def test_needed(best_workers):
    rates = {0: 100.0, 2: 300.0, 4: 580.0, 8: 600.0}
    chosen, _, _ = _best(best_workers, rates, needed=250.0)
    assert chosen == 2, (
        f"the step takes 250 samples a second, and 2 workers bring 300: more are memory for nothing, as {chosen}"
    )
    chosen, _, _ = _best(best_workers, rates, needed=300.0)
    assert chosen == 2, "300 of 300 are enough"
    chosen, _, _ = _best(best_workers, rates, needed=600.0)
    assert chosen == 8, f"8 workers bring the 600 that are needed; {chosen} bring {rates[chosen]:.0f}, which is too few"
    chosen, _, _ = _best(best_workers, rates, needed=5000.0)
    assert chosen == 4, f"if no number suffices, take the fewest within 5 % of the best: 4, not {chosen}"


def test_median(best_workers):
    chosen, rates, _ = _best(best_workers, {0: [100.0] * 3, 1: [210.0, 9000.0, 200.0], 2: [400.0, 400.0, 1.0]})
    assert rates == {0: 100.0, 1: 210.0, 2: 400.0}, f"of three rounds take the median: 100, 210 and 400, not {rates}"
    assert chosen == 2, "one odd measurement decided"


def test_rounds(best_workers):
    _, _, bench = _best(best_workers, {0: 1.0, 1: 2.0, 2: 3.0}, rounds=4)
    assert len(bench.calls) == 12, f"three candidates in four rounds are 12 measurements, not {len(bench.calls)}"
    each = [sorted(bench.calls[k : k + 3]) for k in range(0, 12, 3)]
    assert each == [[0, 1, 2]] * 4, "measure every candidate once in each round, not one candidate after the other"


def test_any_order(best_workers):
    chosen, _, _ = _best(best_workers, {0: 100.0, 4: 590.0, 8: 600.0}, candidates=(8, 0, 4))
    assert chosen == 4, f"candidates may come in any order; the fewest within 5 % are 4, not {chosen}"


def _pictures(n, seed=0, size=28):
    draw = torch.Generator().manual_seed(seed)
    pictures = torch.randint(256, (n, size, size), dtype=torch.uint8, generator=draw)
    return pictures, torch.arange(n)


def _loader(fast_loader, pictures, labels, batch_size, seed=0):
    return fast_loader(pictures, labels, batch_size, torch.Generator().manual_seed(seed))


def test_same_samples(fast_loader):
    pictures, labels = _pictures(40)
    for x, y in _loader(fast_loader, pictures, labels, 16):
        assert x.shape == (len(y), 1, 28, 28), f"pictures are (B, 1, H, W), not {tuple(x.shape)}"
        assert x.dtype == torch.float32 and y.dtype == torch.int64, f"float32 and int64, not {x.dtype} and {y.dtype}"
        expected = (pictures[y].float()[:, None] / 255 - 0.286) / 0.353
        assert torch.allclose(x, expected, atol=1e-5), (
            "picture and label do not belong together, or it is not normalised"
        )


def test_every_sample_once(fast_loader):
    pictures, labels = _pictures(50)
    seen = [i for _, y in _loader(fast_loader, pictures, labels, 16) for i in y.tolist()]
    assert sorted(seen) == list(range(50)), (
        f"an epoch shows each of 50 samples once; there were {len(set(seen))} of them"
    )


def test_last_batch(fast_loader):
    pictures, labels = _pictures(50)
    loader = _loader(fast_loader, pictures, labels, 16)
    sizes = [len(y) for _, y in loader]
    assert sizes == [16, 16, 16, 2], f"50 samples are batches of 16, 16, 16 and 2, not {sizes}"
    assert len(loader) == 4, f"len(loader) is the number of batches, 4, not {len(loader)}"


def test_orders(fast_loader):
    pictures, labels = _pictures(50)
    epochs = []
    for _ in range(2):
        torch.manual_seed(len(epochs))
        loader = _loader(fast_loader, pictures, labels, 16, seed=3)
        epochs.append([[i for _, y in loader for i in y.tolist()] for _ in range(2)])
    first, second = epochs[0]
    assert len(second) == 50, "the loader cannot be iterated a second time"
    assert first != list(range(50)), "the order is that of the data: shuffle"
    assert first != second, "the second epoch has the order of the first"
    assert epochs[0] == epochs[1], "the same generator must give the same orders, whatever the global one does"


class _Listener(TorchFunctionMode):
    """Counts operations, and notes the largest float tensor that one returned."""

    def __init__(self):
        super().__init__()
        self.calls = self.largest = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **kwargs or {})
        self.calls += 1
        for value in result if isinstance(result, tuple | list) else [result]:
            if torch.is_tensor(value) and value.is_floating_point():
                self.largest = max(self.largest, value.numel())
        return result


def test_few_operations(fast_loader):
    pictures, labels = _pictures(640)
    with _Listener() as listener:
        batches = list(_loader(fast_loader, pictures, labels, 64))
    calls = listener.calls / len(batches)
    assert calls < 40, (
        f"{calls:.0f} operations of torch for a batch of 64: whatever is done for each sample costs a call"
    )


def test_stays_small(fast_loader):
    pictures, labels = _pictures(640)
    with _Listener() as listener:
        for _ in _loader(fast_loader, pictures, labels, 64):
            pass
    assert listener.largest <= 64 * 28 * 28, (
        f"a float tensor of {listener.largest // 784} pictures was made, for batches of 64: four times the memory"
    )


class _Naive(Dataset):
    def __init__(self, pictures, labels):
        self.pictures, self.labels = pictures, labels

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, i):
        picture = self.pictures[i].float() / 255
        return ((picture - 0.286) / 0.353)[None], self.labels[i]


def _seconds(loader):
    start = time.perf_counter()
    for _ in loader:
        pass
    return time.perf_counter() - start


def test_ratio(fast_loader):
    pictures, labels = _pictures(1280)
    naive = DataLoader(_Naive(pictures, labels), 128, shuffle=True)
    fast = _loader(fast_loader, pictures, labels, 128)
    _seconds(naive), _seconds(fast)
    ratio = statistics.median(_seconds(naive) / _seconds(fast) for _ in range(7))
    assert ratio > 3, (
        "in one run, by the median of seven rounds, it is not even three times as fast as the naive loader"
    )


def test_hidden_rates(samples_per_second, seed):
    draw = random.Random(seed)
    for _ in range(20):
        n = draw.randint(2, 30)
        seconds, sizes = [draw.uniform(0.1, 9) for _ in range(n)], [draw.randint(1, 9) for _ in range(n)]
        warmup = draw.randint(0, n - 1)
        batches = draw.randint(1, 30)
        loader = _Loader(seconds, sizes, start=draw.uniform(0, 9))
        found = samples_per_second(loader, batches=batches, warmup=warmup, clock=loader.clock)
        part = slice(warmup, warmup + batches)
        assert loader.iterated == 1, "the loader was iterated more than once"
        assert _near(found, sum(sizes[part]) / sum(seconds[part])), (
            f"the rate of {n} batches is wrong for warmup={warmup}, batches={batches}"
        )


def test_hidden_choice(best_workers, reference, seed):
    draw = random.Random(seed)
    for _ in range(40):
        rounds = draw.choice([1, 3, 5])
        candidates = draw.sample(range(20), draw.randint(1, 6))
        rates = {n: [draw.uniform(80, 110) for _ in range(rounds)] for n in candidates}
        needed = draw.choice([None, draw.uniform(70, 120)])
        answers = [
            _best(f, rates, candidates, needed=needed, rounds=rounds) for f in (best_workers, reference.best_workers)
        ]
        assert answers[0][:2] == answers[1][:2], f"another choice than {answers[1][0]} for {rates} and needed={needed}"


def test_hidden_batches(fast_loader, seed):
    draw = random.Random(seed)
    for _ in range(5):
        n, size = draw.randint(1, 60), draw.randint(1, 25)
        pictures, labels = _pictures(n, seed, 5)
        found = list(_loader(fast_loader, pictures, labels + 100, size, seed))
        assert [len(y) for _, y in found] == [min(size, n - k) for k in range(0, n, size)], (
            "the sizes of batches are wrong"
        )
        y = torch.cat([y for _, y in found])
        x = torch.cat([x for x, _ in found])
        assert y.sort().values.equal(labels + 100), "labels are not those that were given"
        assert torch.allclose(x, (pictures[y - 100].float()[:, None] / 255 - 0.286) / 0.353, atol=1e-5), (
            "wrong pictures"
        )
