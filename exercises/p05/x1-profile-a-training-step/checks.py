import random

import torch
from torch import nn
from torch.profiler import record_function


def _event(name, start, end, tid=1, cat="cpu_op", pid=7):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": float(start), "dur": float(end - start)}


def _near(found, expected):
    return abs(found - expected) < 1e-6


def _own(self_times, events, message, **expected):
    found = self_times(events)
    assert set(found) == set(expected), f"the names should be {sorted(expected)}, not {sorted(found)}"
    for name, time in expected.items():
        assert _near(found[name][0], time), f"{name} spends {time} microseconds itself, not {found[name][0]}: {message}"


def test_own_time(self_times):
    events = [_event("linear", 0, 100), _event("t", 5, 15), _event("addmm", 20, 90)]
    _own(self_times, events, "what lies inside is not its own", linear=20, t=10, addmm=70)


def test_grandchildren(self_times):
    events = [_event("linear", 0, 100), _event("addmm", 10, 90), _event("copy_", 20, 60)]
    _own(
        self_times,
        events,
        "only what lies directly inside is subtracted, from the event around it",
        linear=20,
        addmm=40,
        copy_=40,
    )


def test_calls(self_times):
    events = [_event("relu", 0, 10), _event("clamp", 2, 8), _event("relu", 20, 30), _event("clamp", 40, 45)]
    _own(self_times, events, "events of one name are added up, wherever they lie", relu=14, clamp=11)
    assert [self_times(events)[name][1] for name in ("relu", "clamp")] == [2, 2], (
        "the second number of a pair is how many events have that name"
    )


def test_threads(self_times):
    events = [_event("forward", 0, 100), _event("backward", 10, 60, tid=2), _event("mm", 20, 50, tid=2)]
    _own(self_times, events, "at the same time on another thread is not inside", forward=100, backward=20, mm=30)
    events = [_event("forward", 0, 100), _event("load", 10, 60, pid=8)]
    _own(self_times, events, "in another process a thread of the same number is another", forward=100, load=50)


def test_unsorted(self_times):
    events = [_event("copy_", 20, 60), _event("addmm", 20, 90), _event("t", 0, 20), _event("linear", 0, 100)]
    _own(self_times, events, "a trace is in no order, and two may begin together", linear=10, t=20, addmm=30, copy_=40)


def test_neighbours(self_times):
    events = [_event("mul", 0, 10), _event("add", 10, 20), _event("relu", 20, 25)]
    _own(self_times, events, "one begins where the other ends, and none is inside another", mul=10, add=10, relu=5)


def test_top_of_operators(top):
    events = [_event("step", 0, 200, cat="user_annotation")]
    events += [_event("linear", 0, 100), _event("addmm", 10, 90), _event("relu", 120, 150), _event("sum", 160, 180)]
    found = list(top(events))
    assert "step" not in found, "a region of record_function is not an operator"
    assert found == ["addmm", "relu", "linear"] or found == ["addmm", "relu", "sum"], (
        f"{found}: take own times, the largest first; linear is long because of what is inside it"
    )
    assert list(top(events, 1)) == ["addmm"], "top(events, 1) names one"


def test_top_of_kernels(top):
    events = [_event("aten::mm", 0, 90), _event("aten::add", 90, 180), _event("aten::relu", 180, 270)]
    events += [_event("add_kernel", 300, 305, 20, "kernel"), _event("gemm", 305, 385, 20, "kernel")]
    events += [_event("gemm", 290, 350, 21, "kernel"), _event("add_kernel", 400, 409, 20, "kernel")]
    found = list(top(events))
    assert found == ["gemm", "add_kernel"], (
        f"{found}: there are kernels, and the time of an operator is then that of its launch only"
    )
    kernel, operator = _event("gemm", 5, 9, 20, "kernel"), _event("aten::mm", 0, 90)
    for events in ([kernel, operator], [operator, kernel]):
        assert list(top(events)) == ["gemm"], "one kernel is enough, wherever it stands in the list"
    small, large = _event("aten::add", 0, 1), _event("aten::mm", 5, 95)
    for events in ([small, large], [large, small]):
        assert list(top(events)) == ["aten::mm", "aten::add"], "the order of the list says nothing"


def _region(name, start, end, tid=1):
    return _event(name, start, end, tid, "user_annotation")


def test_idle(idle_share):
    events = [_region("data", 0, 100), _event("mul", 10, 20), _event("add", 50, 70)]
    found = idle_share(events, "data")
    assert _near(found, 0.7), f"operators cover 30 of 100 microseconds, so 0.7 is idle, not {found:.3g}"


def test_idle_nested(idle_share):
    events = [_region("data", 0, 100), _event("linear", 10, 60), _event("addmm", 20, 50), _event("sum", 70, 80)]
    found = idle_share(events, "data")
    assert _near(found, 0.4), f"addmm lies inside linear, and its time counts once: 0.4 is idle, not {found:.3g}"


def test_idle_cut(idle_share):
    events = [_region("forward", 100, 200), _event("mm", 50, 130), _event("add", 190, 400), _event("sum", 500, 600)]
    found = idle_share(events, "forward")
    assert _near(found, 0.6), f"of an operator only the part within the region counts: 0.6 is idle, not {found:.3g}"


def test_idle_twice(idle_share):
    events = [_region("data", 0, 100), _event("mul", 0, 80), _region("data", 200, 600), _event("mul", 200, 220)]
    found = idle_share(events, "data")
    assert _near(found, 0.8), f"both occurrences together: 400 of 500 microseconds are idle, not {found:.3g} of them"


def test_idle_threads(idle_share):
    events = [_region("data", 0, 100), _event("mm", 0, 90, tid=2), _event("mul", 0, 10), _region("step", 0, 100)]
    found = idle_share(events, "data")
    assert _near(found, 0.9), f"what runs on another thread leaves this one idle: 0.9, not {found:.3g}"
    events = [_region("data", 0, 100), _event("mm", 0, 90, pid=8), _event("mul", 0, 10)]
    found = idle_share(events, "data")
    assert _near(found, 0.9), f"a thread of another process is another, whatever its number: 0.9, not {found:.3g}"
    events = [_region("data", 0, 100), _event("mm", 0, 80), _region("data", 0, 100, tid=2), _event("mul", 0, 20, tid=2)]
    found = idle_share(events, "data")
    assert _near(found, 0.5), f"a region on two threads: 20 and 80 of 100 microseconds are idle, 0.5, not {found:.3g}"


def _training(width=256, layers=3):
    torch.manual_seed(0)
    parts = [part for _ in range(layers) for part in (nn.Linear(width, width), nn.Tanh())]
    model, x = nn.Sequential(*parts), torch.randn(256, width)
    calls = []

    def step():
        calls.append(1)
        with record_function("python"):
            sum(i * i for i in range(20_000))
        with record_function("forward"):
            loss = model(x).square().mean()
        model.zero_grad()
        loss.backward()

    return step, calls


def test_record_one_step(record):
    step, calls = _training()
    events = record(step, 4)
    assert len(calls) == 5, f"4 calls to warm up and one that is recorded are 5, not {len(calls)}"
    found = sum(event["name"] == "aten::addmm" for event in events)
    assert found == 3, f"one forward of three layers calls aten::addmm 3 times; in the events there are {found}"


def test_record_kinds(record):
    step, _ = _training()
    events = record(step)
    assert {event["ph"] for event in events} == {"X"}, 'only events with "ph" "X" have a duration'
    kinds = {event["cat"] for event in events}
    assert {"cpu_op", "user_annotation"} <= kinds, "operators and regions are both wanted"
    assert kinds <= {"cpu_op", "user_annotation", "kernel"}, f"unasked for: {sorted(kinds)}"


def test_real_step(record, top, idle_share):
    step, _ = _training(512)
    events = record(step)
    largest = set(top(events, 5))
    assert largest & {"aten::addmm", "aten::mm"}, f"wide linear layers, and no product among the largest: {largest}"
    python, forward = idle_share(events, "python"), idle_share(events, "forward")
    assert python > forward, f"pure Python leaves {python:.0%} idle, and matrix products {forward:.0%}?"


def _tree(draw, start, end, depth, tid, events, times):
    """Random events inside each other; their own times and numbers go into `times`."""
    name = draw.choice("abcdefgh")
    events.append(_event(name, start, end, tid))
    own, at = end - start, start
    while depth and at < end - 4:
        left = draw.randint(at, end - 3)
        right = draw.randint(left + 1, end)
        if (left, right) != (start, end) and draw.random() < 0.8:
            _tree(draw, left, right, depth - 1, tid, events, times)
            own -= right - left
        at = right
    time, calls = times.get(name, (0, 0))
    times[name] = time + own, calls + 1


def test_hidden_times(self_times, top, seed):
    draw = random.Random(seed)
    for _ in range(30):
        events, times = [], {}
        for tid in range(draw.randint(1, 3)):
            at = 0
            for _ in range(draw.randint(1, 4)):
                length = draw.randint(5, 200)
                _tree(draw, at, at + length, 4, tid, events, times)
                at += length + draw.choice((0, 0, 11))
        draw.shuffle(events)
        found = self_times(events)
        assert set(found) == set(times), "a name is missing or invented"
        for name, (time, calls) in times.items():
            assert _near(found[name][0], time) and found[name][1] == calls, (
                f"in random events, {name} has {time} microseconds of its own in {calls} events, not {found[name]}"
            )
        order = list(top([*events, _event("all", -5, 9_999, 0, "user_annotation")], 4))
        largest = sorted((time for time, _ in times.values()), reverse=True)[:4]
        assert [times[name][0] if name in times else None for name in order] == largest, (
            "the largest of random events, with a region around them, are others or in another order"
        )


def test_hidden_idle(idle_share, reference, seed):
    draw = random.Random(seed)
    for _ in range(30):
        events = []
        for _ in range(draw.randint(1, 12)):
            start = draw.randint(0, 900)
            events.append(_event("op", start, start + draw.randint(1, 200), draw.randint(1, 2)))
        for place in range(draw.randint(1, 3)):
            events.append(_region("r", 400 * place, 400 * place + draw.randint(50, 350)))
        events.append(_region("other", 0, 1000))
        draw.shuffle(events)
        found, expected = idle_share(events, "r"), reference.idle_share(events, "r")
        assert _near(found, expected), f"in random events {expected:.4f} of the region is idle, not {found:.4f}"
