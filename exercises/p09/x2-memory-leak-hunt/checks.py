import contextlib
import gc
import itertools
import random
from collections import deque

import torch
from torch import nn
from torch.nn import functional as F


@contextlib.contextmanager
def _fresh():
    """Hides what is there already from the collector for a while, because going through it takes a second."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _series(alive, step, steps):
    return [(int(number), int(size)) for number, size in alive(step, steps)]


def test_counts_storages(alive):
    with _fresh():
        kept, weights = [], torch.ones(4)

        def step():
            x = torch.ones(10)
            kept.append([x, x.view(2, 5), x[:3]])
            weights.mul_(2).sub_(1)
            return x * 2

        found = _series(alive, step, 3)
        assert found != [(3, 120), (6, 240), (9, 360)], "three views of one storage count as one storage"
        assert found == [(1, 40), (2, 80), (3, 120)], (
            f"each call leaves one storage of 40 bytes; its result is let go, and `weights` was there before: {found}"
        )


def test_bytes(alive):
    with _fresh():
        kept = []
        found = _series(alive, lambda: kept.append(torch.ones(10, dtype=torch.float64)), 2)
        assert found == [(1, 80), (2, 160)], f"ten numbers in float64 are 80 bytes: {found}"


def test_held_by_a_graph(alive):
    with _fresh():
        w, total = torch.ones(100, requires_grad=True), [0.0]

        def step():
            total[0] = total[0] + (w * 2).exp().sum()

        found = _series(alive, step, 4)
        sizes = [after - before for (_, before), (_, after) in itertools.pairwise(found)]
        assert min(sizes) >= 400, (
            "each call leaves a graph that saves 100 numbers, or 400 bytes, which no Python variable leads to; "
            f"the growth that was found: {sizes}"
        )


def test_cycles(alive):
    with _fresh():

        def step():
            node = {"x": torch.ones(5)}
            node["self"] = node

        enabled = gc.isenabled()
        gc.disable()
        try:
            found = _series(alive, step, 3)
        finally:
            if enabled:
                gc.enable()
        assert found == [(0, 0)] * 3, (
            f"a cycle that waits for the collector is not a leak: nothing should be left, but you found {found}"
        )


def test_judge(judge):
    tooth = [(2 + i % 5, 100 * (2 + i % 5)) for i in range(40)]
    cases = {
        "every step leaves a storage": ([(i, 40 * i) for i in range(1, 21)], "leak"),
        "every tenth step leaves one": ([(3 + i // 10, 40 * (3 + i // 10)) for i in range(40)], "leak"),
        "a leak under a saw tooth": ([(n + i // 5, size) for i, (n, size) in enumerate(tooth)], "leak"),
        "a cache grows to 8 entries, and then stays full": (
            [(min(i, 8), 9 * min(i, 8)) for i in range(1, 41)],
            "cache",
        ),
        "a saw tooth whose floor stays the same": (tooth, "lengths"),
        "something was filled, and is partly let go again": ([(1, 40)] * 5 + [(5, 40)] * 10 + [(3, 40)] * 5, "steady"),
        "fewer storages than at first": ([(9, 40)] * 5 + [(2, 40)] * 5 + [(5, 40)] * 10, "steady"),
        "most in the second quarter": ([(n, 40) for n in (1, 5, 3, 4) for _ in range(5)], "steady"),
        "two storages that become longer": ([(2, 40 * i) for i in range(1, 21)], "lengths"),
        "everything is the same after the first step": ([(3, 70)] + [(2, 40)] * 11, "steady"),
    }
    for what, (series, expected) in cases.items():
        found = judge(series)
        assert found == expected, f"{what}: the verdict is {expected!r}, not {found!r}"


def _held(holder, step, expected, why):
    gc.collect()
    found = holder(step, 12)
    assert found == expected, f"{why}: the answer is {expected!r}, not {found!r}"


def test_holders(holder):
    with _fresh():
        history, table, recent, counter = [], {}, deque(), iter(range(1000))
        keep = []
        _held(holder, lambda: history.append(torch.ones(3)), "list", "a list gets a tensor in each step")
        _held(
            holder,
            lambda: table.update({next(counter): torch.ones(3)}),
            "dict",
            "a dictionary gets an entry in each step",
        )
        _held(
            holder, lambda: recent.append(torch.ones(3)), "deque", "a deque without a limit gets a tensor in each step"
        )
        _held(holder, lambda: keep.__setitem__(slice(None), [torch.ones(3)]), None, "one tensor, replaced in each step")


def test_half_as_many(holder):
    with _fresh():
        for every, expected in ((2, "list"), (3, None)):
            history, calls = [], iter(range(1000))

            def step(history=history, calls=calls, every=every):
                if next(calls) % every == 0:
                    history.append(torch.ones(3))

            _held(holder, step, expected, f"of 12 steps, {12 // every} leave a tensor in a list")
    with _fresh():
        old, calls = [torch.ones(3) for _ in range(20)], iter(range(1000))

        def fifth(old=old, calls=calls):
            if next(calls) in (0, 2, 4, 6, 8):
                old.append(torch.ones(3))

        _held(holder, fifth, None, "20 tensors were in the list before, and 12 steps add 5 more")
        pairs = []
        _held(holder, lambda: pairs.append((torch.ones(3), 1)), None, "the list holds pairs, but no tensor directly")


def test_graph_holds(holder):
    with _fresh():
        w, total = torch.ones(3, requires_grad=True), [torch.zeros(())]

        def step():
            total[0] = total[0] + (w * 2).sum()

        _held(holder, step, "graph", "there is one tensor, and its graph becomes longer")
        for _ in range(2000):
            step()
        _held(holder, step, "graph", "a graph of 6000 nodes")
        for every, expected in ((1, "graph"), (2, None)):
            kept, calls = [w.sum()], iter(range(1000))

            def one_node(kept=kept, calls=calls, every=every):
                if next(calls) % every == 0:
                    kept[0] = kept[0] + 1

            _held(holder, one_node, expected, f"in 12 steps a graph gets {12 // every} nodes")
        _held(holder, lambda: (w * 2).sum().backward(), None, "each graph is let go")

        def cycle():
            node = {"loss": (w * 2).sum()}
            node["self"] = node

        enabled = gc.isenabled()
        gc.disable()
        try:
            _held(holder, cycle, None, "graphs in cycles only wait for the collector")
        finally:
            if enabled:
                gc.enable()


class _Leaky:
    """The trainer of the exercise, with the numbers that it is to compute."""

    def __init__(self, model, lr):
        self.model, self.lr, self.losses = model, lr, []

    def loss(self, x, y):
        return F.mse_loss(self.model((x * torch.linspace(0.5, 1.5, x.shape[1])).mean(1, keepdim=True)), y)

    def step(self, x, y):
        loss = self.loss(x, y)
        gradients = torch.autograd.grad(loss, list(self.model.parameters()))
        with torch.no_grad():
            for p, gradient in zip(self.model.parameters(), gradients, strict=True):
                p -= self.lr * gradient
        self.losses.append(loss.item())
        return loss.item()


def _batch(length, seed=0):
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(4, length, generator=draw), torch.randn(4, 1, generator=draw)


def _pair(trainer, lr=0.1):
    made = []
    for which in (_Leaky, trainer):
        torch.manual_seed(0)
        made.append(which(nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1)), lr))
    return made


def _near(found, expected):
    return abs(found - expected) < 1e-5 * (1 + abs(expected))


def test_same_numbers(Trainer):
    right, mine = _pair(Trainer)
    for number in range(6):
        expected, found = (one.step(*_batch(3 + number % 2, number)) for one in (right, mine))
        assert isinstance(found, float), (
            f"a step returns a Python float, not a {type(found).__name__}: a tensor keeps its graph"
        )
        assert _near(found, expected), f"step {number} has the loss {expected:.5f}, not {found:.5f}"
    assert len(mine.history) == 6, f"`history` has one number for each of 6 steps, not {len(mine.history)}"
    assert {type(value) for value in mine.history} == {float}, "`history` must hold Python floats"
    assert all(map(_near, mine.history, right.losses)), "the losses in `history` are not those that the steps returned"
    found, expected = mine.mean(), sum(right.losses) / 6
    assert isinstance(found, float), "`mean()` returns a Python float"
    assert _near(found, expected), f"the mean of the losses is {expected:.5f}, not {found:.5f}"


def test_norms(Trainer):
    right, mine = _pair(Trainer)
    batches = [_batch(3), _batch(4, 1)]
    with torch.no_grad():
        expected = sum(right.loss(*one).item() for one in batches) / 2
        norms = [
            right.model((x * torch.linspace(0.5, 1.5, x.shape[1])).mean(1, keepdim=True)).norm().item()
            for x, _ in batches
        ]
    for _ in range(2):
        found = mine.evaluate(iter(batches))
        assert isinstance(found, float), "an evaluation returns a Python float"
        assert _near(found, expected), f"the mean over two batches is {expected:.5f}, not {found:.5f}"
    assert len(mine.norms) == 4, f"two evaluations of two batches give 4 norms, not {len(mine.norms)}"
    assert all(map(_near, mine.norms, norms * 2)), "`norms` must have the norm of the model's output on each batch"
    mine.step(*_batch(3))
    assert len(mine.norms) == 4, "a step adds a norm: a hook of the evaluation is still there"


def _tensors():
    gc.collect()
    return sum(issubclass(type(one), torch.Tensor) for one in gc.get_objects())


def test_trainer_is_flat(Trainer):
    with _fresh():
        _, mine = _pair(Trainer)
        batches = [_batch(length) for length in (3, 4, 5)]

        def all_of_it():
            for one in batches:
                mine.step(*one)
            mine.evaluate(batches)

        all_of_it()
        before = _tensors()
        for _ in range(5):
            all_of_it()
        grown = _tensors() - before
        assert grown <= 0, f"after 15 more steps and 5 more evaluations, {grown} more tensors are alive"
        kept = [value for value in vars(mine).values() if isinstance(value, torch.Tensor) and value.grad_fn]
        assert not kept, "the trainer keeps a tensor with a graph, and so everything that the graph has saved"


def test_no_hook_stays(Trainer):
    _, mine = _pair(Trainer)
    own = mine.model.register_forward_hook(lambda *_: None)
    mine.evaluate([_batch(3)])
    try:
        mine.evaluate([_batch(3), (torch.ones(4, 3), "no target")])
    except Exception:
        pass  # as it should be
    else:
        raise AssertionError("if an evaluation fails, its error must reach the caller")
    left = len(mine.model._forward_hooks)
    own.remove()
    assert left == 1, f"the model had one hook before, and has {left} after two evaluations, one of which failed"
    assert mine.model(torch.ones(1, 1)).requires_grad, "after a failed evaluation, gradients are still switched off"


def test_tables_are_kept(Trainer):
    _, mine = _pair(Trainer)
    first = mine.table(5)
    for length in (3, 5, 4, 3):
        mine.step(*_batch(length))
    assert mine.table(5) is first, "the table for a length is made only once: a cache that fills up is not a leak"
    assert first.tolist() == torch.linspace(0.5, 1.5, 5).tolist(), "the table for a length has the wrong numbers"


def _block(size, *sites, state="active_allocated", requested=None):
    frames = [{"filename": "CUDACachingAllocator.cpp", "line": 0, "name": "c10::cuda::malloc"}]
    for site in sites:
        file, line = site.rsplit(":", 1)
        frames.append({"filename": file, "line": int(line), "name": "f"})
    requested = size - 24 if requested is None else requested
    return {"address": 0x7F0000000000, "size": size, "requested_size": requested, "state": state, "frames": frames}


def _snapshot(*segments):
    made = []
    for blocks in segments:
        total = sum(block["size"] for block in blocks)
        held = sum(block["size"] for block in blocks if block["state"] == "active_allocated")
        kind = "large" if total > 2**20 else "small"
        sizes = {"total_size": total, "allocated_size": held, "active_size": held}
        made.append(
            {"device": 0, "address": 0x7F0000000000, "stream": 0, "segment_type": kind, **sizes, "blocks": list(blocks)}
        )
    return {"segments": made, "device_traces": [[]], "allocator_settings": {}}


_LINEAR = "/usr/lib/python3.11/site-packages/torch/nn/modules/linear.py:134"


def test_sites(sites):
    first = [_block(1024, _LINEAR, "train.py:17", "train.py:40"), _block(512, "train.py:9", state="inactive")]
    second = [_block(2048, "train.py:17"), _block(4096, "train.py:9"), _block(512, state="active_pending_free")]
    third = [_block(512), {"address": 0, "size": 1536, "requested_size": 1500, "state": "active_allocated"}]
    found = dict(sites(_snapshot(first, second, third)))
    assert "train.py:40" not in found, "the innermost frame comes first: take the first one in the user's own code"
    expected = {"train.py:17": 3072, "train.py:9": 4096, "unknown": 2048}
    assert found == expected, f"the live bytes over all segments are {expected}, not {found}"
    block = _block(512)
    block["frames"] = [{"filename": "train.py", "line": 3, "name": "f"}]
    found = dict(sites(_snapshot([block])))
    assert found == {"train.py:3": 512}, f"the innermost frame may be in Python already: train.py:3, not {found}"


def test_suspect(suspect):
    model = [_block(2**20, _LINEAR, "model.py:5")]
    before = _snapshot(model, [_block(512, "train.py:17"), _block(8192, "data.py:3")])
    after = _snapshot(model, [_block(512, "train.py:17")] * 9, [_block(1024, "train.py:30"), _block(512, "data.py:3")])
    found = suspect(before, after)
    assert found != "model.py:5", "the model has the most bytes, but they do not grow"
    assert found == "train.py:17", f"line 17 holds 8 blocks more than before: 'train.py:17', not {found!r}"
    found = suspect(after, after)
    assert found is None, f"nothing has grown, so the answer is None, not {found!r}"
    assert suspect(_snapshot([]), _snapshot([])) is None, "two empty snapshots: nothing has grown"
    found = suspect(_snapshot([]), _snapshot([_block(512, "train.py:8")]))
    assert found == "train.py:8", (
        f"the first snapshot is empty, so the only site has grown: 'train.py:8', not {found!r}"
    )


def test_hidden_memory(alive, judge, reference, seed):
    with _fresh():
        draw = random.Random(seed)
        for limit in (4, 10**6, 10**6, 5):
            kept, period = [], draw.randint(1, 4)
            calls, length = iter(range(10**6)), draw.randint(1, 50)

            def step(kept=kept, period=period, limit=limit, calls=calls, length=length):
                if next(calls) % period == 0 and len(kept) < limit:
                    kept.append(torch.zeros(length).add(1)[:1])

            found = _series(alive, step, 24)
            expected = [(min(1 + i // period, limit), 4 * length * min(1 + i // period, limit)) for i in range(24)]
            assert found == expected, (
                f"every {period}th step leaves a storage of {length} numbers, at most {limit}; you found {found[-1]}"
            )
            verdict = judge(found), reference.judge(expected)
            assert verdict[0] == verdict[1], f"the verdict on {found} is {verdict[1]!r}, not {verdict[0]!r}"


def test_hidden_snapshot(sites, suspect, seed):
    draw = random.Random(seed)
    for _ in range(20):
        expected, names = [{}, {}], [f"step{number}.py:{number + 1}" for number in range(4)]
        snapshots = []
        for sums in expected:
            blocks = []
            for _ in range(draw.randint(3, 12)):
                name, size = draw.choice(names), 512 * draw.randint(1, 40)
                state = draw.choice(["active_allocated"] * 3 + ["inactive"])
                inside = [_LINEAR] * draw.randint(0, 2)
                blocks.append(_block(size, *inside, name, "main.py:1", state=state))
                if state != "inactive":
                    sums[name] = sums.get(name, 0) + size
            snapshots.append(_snapshot(blocks[:3], blocks[3:]))
            found = dict(sites(snapshots[-1]))
            assert found == sums, f"the live bytes by site are {sums}, not {found}"
        growth = {name: expected[1].get(name, 0) - expected[0].get(name, 0) for name in names}
        found, most = suspect(*snapshots), max(growth.values())
        right = found is None if most <= 0 else growth.get(found) == most
        assert right, f"the growth by site is {growth}, but your answer is {found!r}"
