import random
import time

import torch
from torch import nn


class _Time:
    """A clock that moves only when told to; all times are multiples of an eighth, so sums are exact."""

    def __init__(self, now=100.0):
        self.now = now
        self.slept = []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        assert seconds > 0, f"sleep({seconds}): there was nothing to wait for"
        self.slept.append(seconds)
        self.now += seconds


def test_nearest_rank(percentile):
    hundred = list(range(1, 101))
    for p in (1, 50, 95, 99, 100):
        found = percentile(hundred, p)
        assert found == p, f"of the numbers from 1 to 100, the {p}th percentile by nearest rank is {p}, not {found}"
    found = percentile([1.0, 2.0, 3.0, 4.0], 50)
    assert found == 2.0, f"p50 of 1, 2, 3, 4 is 2, because half of them are at most 2: a measured value, not {found}"
    found = percentile(list(range(1, 11)), 99)
    assert found == 10, f"with ten values, p99 is the largest, 10, not {found}"


def test_exact_rank(percentile):
    for p in (7, 14, 28, 55):
        found = percentile(list(range(1, 101)), p)
        assert found == p, (
            f"of the numbers from 1 to 100, p{p} is {p}, not {found}: as floats, {p / 100} * 100 is {p / 100 * 100}"
        )


def test_any_order(percentile):
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    found = percentile(values, 80)
    assert found == 4.0, f"p80 of 5, 1, 4, 2, 3 is 4, not {found}: order does not matter"
    assert values == [5.0, 1.0, 4.0, 2.0, 3.0], "the caller's list was sorted, so its laps lost their order in time"


class _Run:
    """Calls of prescribed length, by the size of the batch and the number of the call."""

    def __init__(self, seconds, making=0.0):
        self.time, self.seconds, self.making = _Time(), seconds, making
        self.calls, self.made = {}, []

    def make(self, size):
        self.time.now += self.making
        self.made.append(size)
        return torch.zeros(size, 2)

    def __call__(self, x):
        call = self.calls.get(len(x), 0)
        self.calls[len(x)] = call + 1
        self.time.now += self.seconds(len(x), call)

    def profiled(self, profile, sizes, warmup, repeats):
        return profile(self, self.make, sizes, self.time, warmup, repeats)


def test_warm_up(profile):
    run = _Run(lambda size, call: 64.0 if call < 3 else 0.125 * size)
    table = run.profiled(profile, (1, 8, 32), 3, 10)
    assert run.calls == dict.fromkeys((1, 8, 32), 13), (
        f"each size is called 3 times to warm up and then 10 times; calls by size: {run.calls}"
    )
    for size in (1, 8, 32):
        assert table[size]["p99"] == 0.125 * size, (
            f"the p99 of batch {size} is {table[size]['p99']}: its first calls take 64 s, but belong to the warm-up"
        )


def test_times_the_call_alone(profile):
    run = _Run(lambda size, call: 0.5, making=8.0)
    table = run.profiled(profile, (4,), 1, 5)
    assert run.made == [4], f"one input for each size, made before the first call: {run.made}"
    assert table[4]["p50"] == 0.5, f"a call takes 0.5 s, not {table[4]['p50']}: something else was timed too"


def test_percentiles(profile):
    run = _Run(lambda size, call: 0.125 * (1 + call * 37 % 100))  # each of 1 to 100, mixed
    found = run.profiled(profile, (2,), 0, 100)[2]
    for p in (50, 95, 99):
        assert found[f"p{p}"] == 0.125 * p, (
            f"the laps are 1/8 s, 2/8 s, … 100/8 s: p{p} of the whole batch is {p / 8} s, not {found[f'p{p}']}"
        )


def test_rate(profile):
    run = _Run(lambda size, call: 0.5 if call % 2 else 1.5)
    found = run.profiled(profile, (8,), 0, 4)[8]["rate"]
    assert abs(found - 8.0) < 1e-9, f"4 calls of 8 samples in 4 s are 8 samples per second, not {found:g}"


def test_corrected(corrected):
    laps = [4.0, 35.0, 10.0, 20.0]
    found = sorted(corrected(laps, 10.0))
    assert laps == [4.0, 35.0, 10.0, 20.0], "the caller's list was changed"
    assert found == [4.0, 10.0, 10.0, 15.0, 20.0, 25.0, 35.0], (
        f"35 hides requests of 25 and 15, 20 hides one of 10, and 10 hides none; found {found}"
    )


def _server(clock, stalled=0.0, at=0):
    """A server that answers in 1/8 s; the call number `at` takes `stalled` more."""
    calls = []

    def run():
        clock.now += 0.125 + (stalled if len(calls) == at else 0)
        calls.append(clock.now)

    return run


def test_waits_for_the_plan(scheduled):
    clock = _Time()
    found = list(scheduled(_server(clock), 1.0, 4, clock, clock.sleep))
    assert found == [0.125] * 4, f"each request is sent when planned and answered in 0.125 s, not {found}"
    assert clock.now == 103.125, f"four requests, one a second, end after 3.125 s, not {clock.now - 100} s"


def test_counts_from_the_plan(scheduled):
    clock = _Time()
    found = list(scheduled(_server(clock, 2.5), 1.0, 5, clock, clock.sleep))
    assert found == [2.625, 1.75, 0.875, 0.125, 0.125], (
        "the first request stalls for 2.5 s, and the next two were planned meanwhile and have waited since then: "
        f"2.625, 1.75, 0.875, 0.125, 0.125, not {found}"
    )


def test_stall(percentile, corrected, scheduled):
    clock = _Time()
    run = _server(clock, 64.0, at=100)
    planned = percentile(list(scheduled(run, 1.0, 640, clock, clock.sleep)), 99)
    closed = [0.125] * 100 + [64.125] + [0.125] * 475  # one at a time: 64 requests were never sent
    blind, repaired = percentile(closed, 99), percentile(list(corrected(closed, 1.0)), 99)
    assert blind == 0.125, (
        f"if requests are sent one at a time, p99 does not see a stall of 64 s: it is 0.125, not {blind}"
    )
    assert 50 < planned < 64.2, f"on a schedule, p99 sees the stall of 64 s in 640 s, but here it is {planned}"
    assert abs(repaired - planned) < 4, f"the repaired p99 is {repaired}, but on a schedule it is {planned}"


def test_batch_pays(profile):
    torch.manual_seed(0)
    model = nn.Sequential(*[layer for _ in range(6) for layer in (nn.Linear(16, 16), nn.ReLU())]).eval()
    rows = set()

    def run(x):
        rows.add(len(x))
        return model(x)

    with torch.inference_mode():
        table = profile(run, lambda size: torch.randn(size, 16), (1, 8, 32), time.perf_counter, 5, 60)
    assert rows == {1, 8, 32}, f"run was called with {sorted(rows)} rows: is each batch, 1, 8 and 32, run as a whole?"
    ratio = table[32]["p50"] / 32 / table[1]["p50"]
    assert ratio < 0.5, (
        f"a sample in a batch of 32 takes {ratio:.2f} times as long as one alone. Twelve small operations cost hardly "
        "more for 32 rows than for one: was the call alone timed, and its median taken?"
    )


def test_hidden_percentiles(percentile, seed):
    draw = random.Random(seed)
    for n in (1, 2, 3, 10, 100, 700):
        values = [draw.randint(0, 999) for _ in range(n)]
        for p in (1, 7, 14, 28, 50, 55, 56, 57, 95, 99, 100):
            expected = min(v for v in values if 100 * sum(w <= v for w in values) >= p * n)
            found = percentile(list(values), p)
            assert found == expected, f"p{p} of {n} values by nearest rank is {expected}, not {found}"


def _planned(scheduled, interval, times):
    """Return the latencies of a server whose answers take these times."""
    clock, left = _Time(), iter(times)

    def run():
        clock.now += next(left)

    return list(scheduled(run, interval, len(times), clock, clock.sleep))


def test_hidden_laps(corrected, scheduled, reference, seed):
    draw = random.Random(seed)
    for _ in range(10):
        interval, times = draw.randint(1, 8) / 8, [draw.choice([1, 1, 1, 30, 80]) / 8 for _ in range(30)]
        found, expected = sorted(corrected(list(times), interval)), sorted(reference.corrected(times, interval))
        assert found == expected, (
            f"for an interval of {interval}, there are {len(expected)} laps, not {len(found)}, or their values differ"
        )
        both = [_planned(function, interval, times) for function in (scheduled, reference.scheduled)]
        assert both[0] == both[1], f"latencies on a schedule of {interval} s are wrong: {both[0][:6]}…"
